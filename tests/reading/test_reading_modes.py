"""The modes `reject` and `open` of every reader and every prompt."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.errors import SettingError
from workbench.evaluation.identity import of_reader
from workbench.reading.prompts import PROMPTS, step_of
from workbench.rules import rule_for
from workbench.steps import reporting
from workbench.steps.answer import Input
from workbench.steps.final_answer import UNKNOWN

PASSAGES = (("Kestrel FM", "Kestrel FM is a radio station. Its first voice was born in Alderby."),)
QUESTION = "Where was the founder of Kestrel FM born?"
REFUSALS = ("answer: unknown", UNKNOWN.casefold(), "alone", "using only", "nothing else that you know", "leave it open")


def given(mode="reject", passages=PASSAGES):
    return Input(QUESTION, "\n\n".join("\n".join(one) for one in passages), passages, mode=mode)


def text(prompt: str, mode: str) -> str:
    messages = step_of(prompt, mode).prompt(PROMPTS[prompt].input_of(given(mode)))
    return "\n".join(message["content"] for message in messages)


def ruled(prompt: str, asked: Input) -> str:
    (said,) = rule_for(PROMPTS[prompt].step)([PROMPTS[prompt].input_of(asked)])
    return said.answer if prompt == "thought" else said.reply.rpartition("FINAL ANSWER: ")[2]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_the_pair_differs_in_the_clauses_of_the_mode_alone(prompt):
    closed, wide = text(prompt, "reject"), text(prompt, "open")
    assert "own knowledge" in wide and "own knowledge" not in closed
    assert any(refusal in closed.casefold() for refusal in REFUSALS)
    assert not any(refusal in wide.casefold() for refusal in REFUSALS)
    apart = set(closed.split()) ^ set(wide.split())
    assert len(apart) <= 20 and given().context in wide and QUESTION in wide
    asked = reporting.ReduceInput(QUESTION, "", ())  # the last call over reports has the pair too
    closed, wide = reporting.REDUCE.prompt(asked), reporting.REDUCE.opened.prompt(asked)
    assert closed[1:] == wide[1:] and "add nothing" in closed[0]["content"]
    assert "your own knowledge" in wide[0]["content"]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_reject_is_the_step_itself(prompt):
    assert step_of(prompt, "reject") is PROMPTS[prompt].step
    step, other = PROMPTS[prompt].step, step_of(prompt, "open")
    assert other.prompt_hash != step.prompt_hash
    told = [of_reader(wb.reader(f"direct[mode={mode},prompt={prompt}]")).description for mode in ("reject", "open")]
    assert [one["prompts"] for one in told] == [
        {step.name: f"{step.name} v{step.version} {one.prompt_hash}"} for one in (step, other)
    ]


def test_the_rules_give_their_best_candidate_where_they_would_refuse():
    assert ruled("sparql", given()) == UNKNOWN and ruled("sparql", given("open")) == "Alderby"
    for prompt in ("brief", "sparql", "cot", "knowledge"):
        assert ruled(prompt, given("open", ())) == UNKNOWN  # nothing to give: they know nothing of their own


def test_the_prompt_of_the_paper_has_three_slots_and_reads_its_own_label():
    asked = text("knowledge", "reject")
    assert asked.index("Question: ") < asked.index("Extracted knowledge:\n") < asked.index("Answer:")
    assert asked.endswith("\n\nAnswer:") and asked.count("Question:") == 1
    step = PROMPTS["knowledge"].step
    assert step.read("**Answer:** Alderby").reply == "Alderby" and step.read("Alderby").reply == "Alderby"


def test_every_reader_has_the_mode_and_refuses_another(meridian_index):
    from workbench.reading import READERS

    for name in READERS:
        assert READERS[name].Settings().mode == "reject", name
    with pytest.raises(SettingError, match="mode"):
        wb.reader("direct[mode=closed]")


def test_an_executed_query_falls_back_on_a_prompt(meridian_index):
    question = "Which dragon guards the harbour of Skarne?"
    evidence = wb.method("dense", meridian_index).retrieve(question, k=5)
    closed = wb.reader("sparql-exec", index=meridian_index)
    wide = wb.reader("sparql-exec[mode=open]", index=meridian_index)
    assert "knowledge_answer" in wide.steps and "knowledge_answer" not in closed.steps
    assert closed.read(question, evidence).abstained
    answer = wide.read(question, evidence)
    assert answer.reading.prompt == "knowledge" and answer.reading.retried


@pytest.mark.slow
def test_both_modes_are_evaluated_by_answerable_and_not(meridian_index, tmp_path):
    data = wb.load("meridian")
    questions = [*data.questions[:12], *[q for q in data.questions if not q.answers][:5]]
    readers = [wb.reader(f"direct[mode={mode}]") for mode in ("reject", "open")]
    grid = wb.grid(questions, [wb.method("dense", meridian_index)], readers, out=tmp_path / "grid")
    table = grid.table()
    assert {reader for reader, _ in table.index} == {"direct", "direct[mode=open]"}
    closed, wide = (table.loc[(reader, "dense")] for reader in ("direct", "direct[mode=open]"))
    assert closed["abstained:unanswerable"] > wide["abstained:unanswerable"]
    assert closed["abstained:answerable"] >= wide["abstained:answerable"]
