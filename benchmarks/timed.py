"""What a question or a build takes beside the Steps that it asks."""

import time

import workbench as wb


class TimedEngine:
    """An engine that counts the seconds inside it."""

    workers = 1

    def __init__(self, engine):
        self.name, self.meter, self._engine, self.seconds = engine.name, engine.meter, engine, 0.0

    def run(self, step, inputs, *, trace=None):
        started = time.perf_counter()
        try:
            return self._engine.run(step, inputs, trace=trace)
        finally:
            self.seconds += time.perf_counter() - started


def own_milliseconds(spec: str, index: wb.Index, questions, repeats: int) -> list[float]:
    """Of each question, beside Steps and encoder (a first pass fills the cache of its vectors)."""
    engine = TimedEngine(wb.engine("rules"))
    method = wb.method(spec, index, engine)
    for one in questions:
        method.retrieve(one.question, k=5, trace="off")
    times = []
    for one in list(questions) * repeats:
        inside, started = engine.seconds, time.perf_counter()
        method.retrieve(one.question, k=5, trace="off")
        times.append(1000 * (time.perf_counter() - started - (engine.seconds - inside)))
    return times
