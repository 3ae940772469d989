"""What replies of the agent's Steps are read as: sub-questions in many shapes, the two markers of a reflection."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.llm.call import Reply
from workbench.llm.parse import Unreadable, parse
from workbench.steps import reflect, sub_questions
from workbench.steps.reflect import reading

ASKED = ["Who founded Kestrel FM?", "Where was she born?"]


def read(payload) -> sub_questions.Output:
    text = payload if isinstance(payload, str) else json.dumps(payload)
    return parse(sub_questions.STEP, Reply(text))[0]


@pytest.mark.parametrize(
    "reply",
    [
        {"sub_questions": ASKED, "involved_types": {}},
        {"sub_questions": ASKED, "involved_types": None},
        {"sub_questions": [{"sub-question": one} for one in ASKED]},
        {"sub_questions": [{"question": ASKED[0], "id": 1}, ASKED[1], ASKED[1], "", {"id": 3}, None, 7]},
        {"sub_questions": f"1. {ASKED[0]}\n2) {ASKED[1]}\n"},
        ASKED,
        [{"Sub Question": one} for one in ASKED],
        f"Here they are:\n```json\n{json.dumps(ASKED)}\n```",
        '{"sub_questions": ["Who founded Kestrel FM?", "Where was she born?"], "involved_types": {"entity_types": [',
    ],
)
def test_sub_questions_in_any_of_these_shapes(reply):
    found = read(reply)
    assert found.sub_questions == ASKED and found.involved_types == sub_questions.InvolvedTypes()


NONE = ({"sub_questions": []}, [], {"sub_questions": [{"id": 1}]}, {"steps": ASKED}, "none", "5")


@pytest.mark.parametrize("reply", NONE)
def test_without_a_sub_question_there_is_no_reading(reply):
    with pytest.raises(Unreadable):
        read(reply)


def test_types_under_the_names_that_models_use():
    types = {"Nodes": ["person", "person", 3], "relations": "born in, founded by", "attributes": None, "other": 1}
    found = read({"sub_questions": ASKED, "involved_types": types}).involved_types
    assert found.model_dump() == {"entity_types": ["person"], "relations": ["born in", "founded by"], "attributes": []}
    assert read({"sub_questions": ASKED, "involved_types": ["person"]}).involved_types.entity_types == ["person"]


def test_the_prompt_shows_the_schema_and_the_limit():
    *_, asked = sub_questions.STEP.prompt(sub_questions.Input("Who?", ("person",), ("born in",), ("date",), 3))
    assert json.loads(asked["content"]) == {
        "question": "Who?", "at most": 3, "entity types": ["person"], "relations": ["born in"], "attributes": ["date"],
    }  # fmt: skip


def test_markers():
    assert reading("Enough. So the answer is: Oslo") == (True, "Oslo", "", True)
    assert reading("The new query is: **Where was Nora born?**\nMore.") == (False, "", "Where was Nora born?", True)
    assert reading("SO THE ANSWER IS:\n Oslo.\nIndeed.").answer == "Oslo."
    assert reading("The new query is: x. So the answer is: Oslo").done, "the answer's marker comes first"
    assert reading("Look for Nora.\nThen stop.") == (False, "", "Look for Nora.", False)
    assert reading("The new query is:").query == ""


def test_markers_as_the_released_code_reads_them():
    assert reading("So the answer is: Oslo\nIndeed.", released=True).answer == "Oslo\nIndeed."
    assert reading("The new query is: one\ntwo ", released=True).query == "one\ntwo"
    assert not reading("so the answer is: Oslo", released=True).done
    assert reading("the new query is: one", released=True) == (False, "", "the new query is: one", False)


@given(st.text(max_size=200), st.booleans())
def test_any_reply_is_read(text, released):
    found = reading(text, released=released)
    assert found.done or not found.answer
    assert released or "\n" not in found.query + found.answer


def test_a_reflection_that_says_nothing_is_unreadable():
    for reply in ("", " \n", '"" ', "***"):
        with pytest.raises(Unreadable):
            parse(reflect.STEP, Reply(reply))


def test_the_released_prompt_does_not_show_what_was_searched():
    shown = reflect.STEP.prompt(reflect.Input("q", "p", "facts", (), ("t1", "t2"), ("s1",), 3))[-1]["content"]
    assert "Searched for so far: s1" in shown and "t1 | t2" in shown and "Step: 3" in shown
    bare = reflect.STEP.prompt(reflect.Input("q", "p", "facts", ()))[-1]["content"]
    assert "Searched" not in bare and "Thoughts so far: none" in bare
