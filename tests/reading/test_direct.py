import pytest

import workbench as wb
from workbench import tokens
from workbench.errors import SettingError
from workbench.llm import Result
from workbench.llm.meter import Meter
from workbench.reading import render


class Told:
    name, workers = "told", 1

    def __init__(self, **said):
        self.said, self.meter = said, Meter()

    def run(self, step, inputs, *, trace=None):
        self.asked = inputs
        if "failure" in self.said:
            return [Result(None, self.said["failure"])]
        return [Result(step.read(self.said["text"]), parse="text")]


@pytest.fixture
def evidence(tiny_index):
    return wb.method("dense", tiny_index).retrieve("Which lake does the River Aldra flow into?", k=8)


def test_reads_the_best_k_passages(evidence):
    engine = Told(text="Thought: it says so.\nAnswer: Lake Mira")
    answer = wb.reader("direct[k=2]", engine).read(evidence.question, evidence)
    assert (answer.text, answer.thought, answer.abstained, answer.failure) == ("Lake Mira", "it says so.", False, None)
    assert answer.passages == tuple(p.id for p, _ in evidence.passages[:2])
    (asked,) = engine.asked
    assert asked.context == "\n\n".join(p.content for p, _ in evidence.passages[:2])


def test_abstaining_is_an_answer_and_a_failure_is_not(evidence):
    assert wb.reader("direct", Told(text="Answer: unknown")).read("?", evidence).abstained
    failed = wb.reader("direct", Told(failure="HTTP 400")).read("?", evidence)
    assert (failed.failure, failed.abstained, failed.text) == ("HTTP 400", False, "")


def test_reading_goes_on_in_the_trace_of_the_evidence(evidence):
    answer = wb.reader("direct").read(evidence.question, evidence)
    assert [event.step for event in answer.trace if event.parent is None] == ["dense", "direct"]


@pytest.mark.parametrize("budget", [1, 20, 40, 10_000])
def test_the_context_keeps_to_its_budget(evidence, budget):
    context = render(evidence, budget=budget)
    assert context.tokens == tokens.count(context.text) <= budget
    assert context.text == "\n\n".join(p.content for p in context.passages)


def test_no_passages_no_context(evidence):
    assert render(evidence, k=0).text == ""


def test_unknown_readers_and_senseless_settings_are_refused():
    with pytest.raises(SettingError, match="direct"):
        wb.reader("sparkle")
    with pytest.raises(SettingError, match="k="):
        wb.reader("direct[k=0]")
