import pytest
from scripted import Scripted

import workbench as wb
from workbench import tokens
from workbench.reading import render


@pytest.fixture
def evidence(tiny_index):
    return wb.method("dense", tiny_index).retrieve("Which lake does the River Aldra flow into?", k=8)


def test_reads_the_best_k_passages(evidence):
    engine = Scripted(answer="Thought: it says so.\nAnswer: Lake Mira")
    answer = wb.reader("direct[k=2]", engine).read(evidence.question, evidence)
    assert (answer.text, answer.thought, answer.abstained, answer.failure) == ("Lake Mira", "it says so.", False, None)
    assert answer.passages == tuple(p.id for p, _ in evidence.passages[:2])
    (asked,) = engine.inputs("answer")
    assert asked.context == "\n\n".join(p.content for p, _ in evidence.passages[:2])
    assert [event.step for event in answer.trace if event.parent is None] == ["dense", "direct[k=2]"]


def test_abstaining_is_an_answer_and_a_failure_is_not(evidence):
    assert wb.reader("direct", Scripted(answer="Answer: unknown")).read("?", evidence).abstained
    failed = wb.reader("direct", Scripted(answer="!HTTP 400")).read("?", evidence)
    assert (failed.failure, failed.abstained, failed.text) == ("HTTP 400", False, "")


@pytest.mark.parametrize("budget", [1, 20, 40, 10_000])
def test_the_context_keeps_to_its_budget(evidence, budget):
    context = render(evidence, budget=budget)
    assert context.tokens == tokens.count(context.text) <= budget
    assert context.text == "\n\n".join(p.content for p in context.passages)
