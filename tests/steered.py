"""A small graph with a hub for CatRAG, and an engine whose ratings are known."""

from __future__ import annotations

from pathlib import Path

from small import index_of

from workbench.index import Index
from workbench.llm.engine import RulesEngine, note
from workbench.llm.step import Result
from workbench.records import Question
from workbench.steps import fact_filter, named_entities, rate_neighbours

QUESTION = "ilse founded kestrel"
ASKED = Question("s1", QUESTION, ("tarn",), "bridge", 2, ("born", "founder 0"))
SPEC = "catrag[filter=identity,tolerance=1e-14]"
SCORES = {"ilse": 10, "kestrel": 7, "tarn": 9, "show 0": 5, "show 1": 0}


def hub_index(folder: Path) -> Index:
    """A station of which ten passages tell, with its founder and eight programmes."""
    programmes = {f"programme {at}": [("kestrel", "broadcasts", f"show {at}")] for at in range(8)}
    founder = {f"founder {at}": [("ilse", "founded", "kestrel")] for at in range(2)}
    return index_of(folder, {**founder, "born": [("ilse", "born in", "tarn")], **programmes})


class Rater(RulesEngine):
    """Names `entities`, keeps `facts` of the candidates, rates by name, by default with 4; None leaves one out of the
    reply. `asked` are the pairs of seed and neighbour, `steps` the Steps that it was asked."""

    def __init__(self, scores=SCORES, entities=("Tarn",), facts=5, failure=""):
        super().__init__()
        self.scores, self.entities, self.facts, self.failure = dict(scores), list(entities), facts, failure
        self.asked: list[tuple[str, str]] = []
        self.steps: list[str] = []

    def run(self, step, inputs, *, trace=None):
        self.steps += [step.name] * len(inputs)
        if step.name == "summarise_entity":
            return super().run(step, inputs, trace=trace)
        results = [Result(None, self.failure) if self.failure else self._result(step, value) for value in inputs]
        note(trace, self.name, step, results)
        return results

    def _result(self, step, value) -> Result:
        return Result(getattr(self, f"_{step.name}")(value))

    def _fact_filter(self, value) -> fact_filter.Output:
        return fact_filter.Output(facts=[list(fact) for fact in value.facts[: self.facts]])

    def _question_entities(self, value) -> named_entities.Output:
        return named_entities.Output(named_entities=self.entities)

    def _rate_neighbours(self, value) -> rate_neighbours.Output:
        self.asked += [(value.entity, one.name) for one in value.neighbours]
        scores = [(number, one.name, self.scores.get(one.name, 4)) for number, one in enumerate(value.neighbours, 1)]
        return rate_neighbours.Output(ratings=[
            rate_neighbours.Rating(number=number, name=name, score=score, reason=f"of {name}" if score > 3 else "")
            for number, name, score in scores if score is not None
        ])  # fmt: skip
