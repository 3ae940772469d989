"""Typed events: what a method writes into a trace, a reader gets back, from memory and from a file."""

from __future__ import annotations

import pytest

from workbench.methods.dotrag import events as dotrag
from workbench.methods.events import TraceEvent
from workbench.methods.iterative import events as iterative
from workbench.trace import Trace

RANKING = (("p1", 0.9), ("p2", 0.5))
EXAMPLES = [
    dotrag.Selection(({"span": "Orsby", "description": "", "type": None},), ("lakes",), 1, (("low", "Orsby"),), ()),
    dotrag.DotEvent(0, "Orsby", "low", "t_max", 2),
    dotrag.AnchorsEvent(True, ("Orsby",), {"Orsby": "town"}, (("Orsby", 0.9),)),
    dotrag.Rules("a lake", ("names a river",), ("names a lake",), ("lake",), "river at Orsby", failure="no JSON"),
    dotrag.Region((1, 3), 4, 3, {"year": 2}, False, True),
    dotrag.IterationEvent(1, (("initial", "river at Orsby"),), ("rivers",)),
    dotrag.Candidates({"Aldra": "river"}, 2, {"Aldra": 0}, (("Aldra", 0.8),)),
    dotrag.DrawnPaths({"0.1.1": {"nodes": ["Orsby"], "relations": [], "similarity": 0.5}}, ("0.1.2",), ("Mira",)),
    dotrag.Verdicts({"0.1.1": {"label": "partial"}}, {"0.1.1": "Orsby."}, ("0.1.2",), {"0.1.1": 0.25}),
    dotrag.KeptPaths(("0.1.1",), {"0.1.2": "unjudged"}),
    dotrag.Aggregation(({"id": "0.1.1"},), False, RANKING),
    iterative.RoundEvent(2),
    iterative.ThoughtEvent(1, {"fast": "Aldra?"}, (("fast", "Aldra?"),), False, True, 1, failure="no answer"),
    iterative.Search("fast", "Aldra?", "ppr", RANKING, 2, "no fact was kept"),
    iterative.PoolEvent(2, "ppr", True, {5: ("p1",)}, {"p1": "Aldra?"}, RANKING),
    iterative.Chain("Orsby lies on the Aldra.", ("It lies there.",), ("Aldra",)),
    iterative.Verification(("p1", "p2"), ("p2",), 1),
    iterative.Promotion((("p2", 2, 1),)),
    iterative.Cut(0.7, 0.2, 0.9, "keep", ("p2",), ("p1",), 2, RANKING),
]  # fmt: skip


def written(event: TraceEvent) -> Trace:
    trace = Trace()
    with type(event).open(trace, **{name: getattr(event, name) for name in event.inputs}) as write:
        assert write(event) is event
    return trace


@pytest.mark.parametrize("event", EXAMPLES, ids=lambda event: f"{type(event).__module__.split('.')[-2]}-{event.step}")
def test_what_is_written_is_read_back(event, tmp_path):
    trace = Trace.open(written(event).save(tmp_path / "trace.jsonl"))
    assert type(event).read(trace[0]) == event
    assert trace[0].step == event.step.format(**trace[0].inputs) and trace[0].kind == event.kind
    assert None not in trace[0].outputs.values(), "what is None is left out"


def test_every_event_has_an_example():
    kinds = {kind for module in (dotrag, iterative) for kind in vars(module).values()
             if isinstance(kind, type) and issubclass(kind, TraceEvent) and kind is not TraceEvent}  # fmt: skip
    assert kinds == {type(event) for event in EXAMPLES}


def test_what_does_not_fit_is_named():
    trace = Trace()
    with trace.span("CHAIN", "region") as span:
        span.set(hops=[1, "two"], nodes=3, edges=2)
    with pytest.raises(ValueError, match=r"hops\.1: .*integer"):
        dotrag.Region.read(trace[0])


def test_an_event_that_broke_before_it_was_written_is_none():
    trace = Trace()
    with pytest.raises(RuntimeError), dotrag.Region.open(trace):
        raise RuntimeError("out of memory")
    assert dotrag.Region.find(trace) is None and iterative.Cut.find(trace) is None
    with pytest.raises(TypeError, match="colour"), dotrag.KeptPaths.open(Trace()) as write:
        write(kept=(), colour="blue")
    assert trace[0].failure == "RuntimeError: out of memory"
