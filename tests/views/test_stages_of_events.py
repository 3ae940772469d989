"""The stages of a method without a view of its own, read off its trace: what each step found, and its best scores."""

from __future__ import annotations

import pytest
from told import index_of, tagged

from workbench.methods import e2graphrag, linearrag
from workbench.records import Question
from workbench.trace import Trace
from workbench.views.render import html_of
from workbench.views.stepped import stages_of
from workbench.views.widget import StageStepper

ASKED = [Question("1", "What of A and B?", ())]
STEPS = {
    "linearrag[profile=paper,delta=0.1]": ["link entities", "bridge 1", "bridge 2", "score passages", "walk"],
    "e2graphrag": ["names", "pairs", "order by names"],
    "g_retriever": ["prizes", "collect prizes", "passages of the subgraph"],
}


@pytest.fixture
def index(tmp_path, monkeypatch):
    tagged(monkeypatch, linearrag, e2graphrag)
    facts = {"p": [("a", "is", "b")], "q": [("b", "is", "c")]}
    texts = {"p": "A B.", "q": "B C."}
    layers = ["trigraph", "summaries", "facts"]
    return index_of(tmp_path, {"A B": 0.8, "B C": 0.6}, layers, {"summaries": {"reduction": "pca"}}, facts, **texts)


@pytest.mark.parametrize("spec", STEPS)
def test_each_step_of_the_method_is_a_stage(index, spec):
    steps = StageStepper(index, stages_of, ASKED, kind=spec)
    assert [stage.name for stage in steps.stages] == STEPS[spec]
    assert all("<table>" in html_of(stage.part) for stage in steps.stages)
    steps.stage(0)
    assert STEPS[spec][0] in repr(steps)


def test_a_stage_tells_what_was_found(index):
    steps = StageStepper(index, stages_of, ASKED, kind="linearrag[profile=paper,delta=0.1]")
    part = html_of(steps.stage("bridge 1").part)
    assert "A B" in part and ">c<" in part.replace(" ", "") and "0.6" in part


def test_what_it_tells_is_escaped():
    trace = Trace()
    with trace.span("CHAIN", "whole"), trace.span("CHAIN", "one") as span:
        span.set(names=["<script>"], pairs=[["a", 2]])
        span.score([("<i>", 1.5)])
    (stage,) = stages_of(trace, {})
    part = html_of(stage.part)
    assert "<script>" not in part and "<i>" not in part and "a, 2" in part and "1.5" in part
