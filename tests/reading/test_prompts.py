"""The prompts that are contracts: what they say, in which order, and how the rules reply to them."""

from __future__ import annotations

import pytest

from workbench.llm import fingerprints
from workbench.llm.step import Result
from workbench.measures.answers import set_em
from workbench.reading.prompts import PROMPTS, step_of
from workbench.rules import rule_for
from workbench.steps import catalogue
from workbench.steps.answer import Input
from workbench.steps.final_answer import CLASSIFY
from workbench.steps.final_answer import RoutedQuestion as Question
from workbench.steps.final_answer import read_kind as read

PASSAGES = (
    ("Kestrel FM", "Kestrel FM is a community radio station founded by Nora Whitlock in 1984."),
    ("Nora Whitlock", "Nora Whitlock is a broadcaster who was born in Alderby, Norway."),
)
QUESTION = "Where was the founder of Kestrel FM born?"
SEVERAL = "If several things are asked for, name them all, separated by semicolons."  # as the measures of sets read it


def given(passages=PASSAGES, question=QUESTION, ends=()):
    return Input(question, "\n\n".join("\n".join(one) for one in passages), passages, ends)


def messages(prompt: str) -> list[dict]:
    return PROMPTS[prompt].step.prompt(PROMPTS[prompt].input_of(given()))


def ruled(prompt: str, asked: Input) -> str:
    (said,) = rule_for(PROMPTS[prompt].step)([PROMPTS[prompt].input_of(asked)])
    return said.reply


BLOCKS = f"CONTEXT:\n{given().context}\n\nQUESTION:\n{QUESTION}"


@pytest.mark.parametrize("prompt", ["sparql", "sparql-thesis", "cot"])
def test_prompts_are_one_message_instructions_context_question_but_the_baseline(prompt):
    (user,) = messages(prompt)
    told = user["content"].split("CONTEXT:")[0]
    assert user["role"] == "user" and user["content"].endswith(f"\n\n{BLOCKS}") and "FINAL ANSWER: I don't know" in told
    limits = ("four patterns", "ordinary English", "URIs", "filters", "nested queries")  # of the thesis
    assert prompt == "cot" or all(limit in told for limit in limits)
    assert ("SELECT ?answer" in told) == (prompt == "sparql")  # with an example, or without
    assert (SEVERAL not in told and "FINAL ANSWER: <the answer>. Where" in told) == (prompt == "sparql-thesis")
    system, user = messages("brief")
    assert user["content"] == BLOCKS and system["content"].endswith("reply exactly: I don't know")
    limits = {name: PROMPTS[name].step.max_tokens for name in ("brief", "sparql", "cot")}
    assert limits == {"brief": 160, "sparql": 512, "cot": 512} and CLASSIFY.max_tokens == 32  # 5 are too few for some


def test_the_rules_reply_as_is_asked_of_a_model():
    assert ruled("brief", given()) == "Alderby" and ruled("brief", given(())) == "I don't know"
    steps = ruled("cot", given()).split("\n")
    assert steps[0].startswith("1. Kestrel FM founder: Nora Whitlock (“Kestrel FM is")
    assert steps[1].startswith("2. ") and "Alderby" in steps[1] and steps[2] == "FINAL ANSWER: Alderby"
    query = ruled("sparql", given())
    assert query.startswith("SELECT ?answer WHERE {") and query.endswith("\nFINAL ANSWER: Alderby")


def test_a_query_has_no_answer_where_a_pattern_has_no_binding():
    """Nobody is told to have founded it; read as one, the question's words find a town all the same."""
    alone = given((("Kestrel FM", "Kestrel FM is a radio station. Its first voice was born in Alderby."),))
    assert ruled("cot", alone).split("\n")[0].endswith("not in the context")
    assert ruled("cot", alone).endswith("FINAL ANSWER: Alderby")
    assert ruled("sparql", alone).endswith("FINAL ANSWER: I don't know")


@pytest.mark.parametrize("prompt", ["brief", "sparql", "sparql-thesis", "cot"])
def test_complete_paths_are_the_answer_of_the_rules(prompt):
    assert ruled(prompt, given(ends=("Oslo", "Rom"))).removeprefix("FINAL ANSWER: ") == "Oslo, Rom"


@pytest.mark.parametrize(
    ("reply", "kind", "invalid"),
    [
        ("bridge", "bridge", False),
        (' "Comparison". ', "comparison", False),
        ("INFERENCE.", "inference", False),
        ("This question is", "bridge", True),
        ("comparison question", "comparison", False),
        ('It is a **"comparison"**.', "comparison", False),
        ('{"label": "inference"}', "inference", False),
        ("not a bridge but an inference", "inference", False),
        ("bridge, comparison, or inference", "bridge", True),  # the instruction, repeated
        ("The term for the institution", "bridge", True),
        ("compositional", "bridge", True),
        ("", "bridge", True),
    ],
)
def test_a_label_is_one_of_three_or_the_default(reply, kind, invalid):
    assert (read(reply).kind, read(reply).invalid) == (kind, invalid)


@pytest.mark.parametrize(
    ("question", "kind", "invalid"),
    [
        (QUESTION, "bridge", False),
        ("Who founded Kestrel FM?", "bridge", False),
        ("Who was born first, Nora Whitlock or Tom Reed?", "comparison", False),
        ("Who is the maternal grandfather of Nora Whitlock?", "inference", False),
        ("", "bridge", True),
    ],
)
def test_the_rules_classify(question, kind, invalid):
    (said,) = rule_for(CLASSIFY)([Question(question)])
    assert (said.kind, said.invalid) == (kind, invalid)


@pytest.mark.parametrize("name", sorted(catalogue()))
def test_no_prompt_of_ours_has_the_sentences_of_a_source(name):
    """As far as sources print theirs: of none more than a few words in a row."""
    verdicts = fingerprints.judged(catalogue()[name].prompt.text, fingerprints.printed_prompts())
    found = {id: verdict.share for id, verdict in verdicts.items()}
    assert {id: share for id, share in found.items() if share > 0.1} == {}


@pytest.mark.parametrize("prompt", ["thought", "brief", "sparql", "cot", "knowledge"])
@pytest.mark.parametrize("mode", ["reject", "open"])
def test_short_answers_name_all_of_several_things(prompt, mode):
    """In one way, which the measures of sets read; the printed template of the source stays as it is."""
    asked = step_of(prompt, mode).prompt(PROMPTS[prompt].input_of(given()))
    assert sum(message["content"].count(SEVERAL) for message in asked) == 1
    reply = {"thought": "Thought: both.\nAnswer: Duel; Jaws", "brief": "Duel; Jaws", "knowledge": "Answer: Duel; Jaws"}
    said = reply.get(prompt, "1. Two films.\n**FINAL ANSWER:** Duel; Jaws.")
    result = Result(PROMPTS[prompt].step.read(said), parse="strict")
    assert set_em(PROMPTS[prompt].extract(result, "strict").text, ["Jaws", "Duel"]) == 1
