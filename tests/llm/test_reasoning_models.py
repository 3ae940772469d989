"""Reasoning is cut off a reply, whatever the family of the model marks it with, and the answer is never cut."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stopwatch import spent

from workbench.llm.payloads import Split, of_message, split

DRAFT, ANSWER = 'First {"names": ["Oslo"]}, or Bergen?', '{"names": ["Bergen"]}'
HARMONY = "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final{}<|message|>{}<|return|>"
WHOLE = {
    "think": f"<think>\n{DRAFT}\n</think>\n\n{ANSWER}",
    "thinking": f"<thinking>{DRAFT}</thinking>{ANSWER}",
    "reasoning": f"<reasoning>{DRAFT}</reasoning>{ANSWER}",
    "thought": f"<thought>{DRAFT}</thought>{ANSWER}",
    "seed": f"<seed:think>{DRAFT}</seed:think>{ANSWER}",
    "capitals": f"<THINK>{DRAFT}</THINK>{ANSWER}",
    "magistral": f"[THINK]{DRAFT}[/THINK]{ANSWER}",
    "only closing": f"{DRAFT}\n</think>\n{ANSWER}",
    "harmony": HARMONY.format(DRAFT, "", ANSWER),
    "harmony with a format": HARMONY.format(DRAFT, " <|constrain|>json", ANSWER),
    "harmony begun": f"{DRAFT}<|end|><|start|>assistant<|channel|>final<|message|>{ANSWER}",
    "after": f"{ANSWER}\n<think>{DRAFT}</think>",
    "after, not closed": f"{ANSWER}\n<think>{DRAFT}",
}


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE.keys())
def test_each_family_is_cut_off(text):
    assert split(text) == Split(DRAFT, ANSWER)


@pytest.mark.parametrize(
    "text",
    [f"<think>{DRAFT}", f"[THINK]{DRAFT}", f"<|channel|>analysis<|message|>{DRAFT}", f"<think>{DRAFT}</think>"],
)
def test_what_was_cut_in_its_reasoning_has_no_answer(text):
    assert split(text) == Split(DRAFT, "")


def test_several_blocks_are_cut_and_the_rest_stays_in_order():
    assert split("<think>a</think>One.<think>b</think>Two.") == Split("a\nb", "One.\nTwo.")


def test_reasoning_that_mentions_its_own_marks_ends_at_the_last():
    assert split(f"<think>I open <think> and end with </think> later.</think>{ANSWER}").content == ANSWER


@pytest.mark.parametrize("before", ["", "<think>x</think>", "x</think>"])
def test_a_mark_inside_an_answer_is_part_of_it(before):
    answer = json.dumps({"text": "The tag </think> closes, <think> opens; [THINK] and <|channel|>final<|message|>."})
    assert split(before + answer).content == answer


@given(st.text(), st.text())
def test_a_reply_without_marks_stays_as_it_is(text, thought):
    if not any(mark in text for mark in ("<", "[")):
        assert split(text) == Split("", text)
        assert split(f"<think>{thought.replace('<', '')}</think>{text}").content == text.strip()


@given(st.recursive(st.none() | st.text() | st.integers(), st.lists) | st.dictionaries(st.text(), st.text()))
def test_the_answer_is_never_a_draft(value):
    answer = json.dumps(value)
    for opened, closed in (("<think>", "</think>"), ("[THINK]", "[/THINK]"), ("", "</thinking>")):
        assert split(f"{opened}Draft: {DRAFT} {closed}\n{answer}").content.strip() in (answer, answer.strip())


@pytest.mark.parametrize(
    "hostile",
    ["<think>", "</think>", "<think></think>", "</think>{", '{"a":"</think>', "[THINK]", "</think>[[", "<|channel|>a"],
)
def test_a_hostile_reply_takes_no_time(hostile):
    with spent() as taken:
        split(hostile * (200_000 // len(hostile)))
        split("<|channel|>" + hostile.replace("<", "") * (200_000 // len(hostile)))
        split(hostile * (2_000_000 // len(hostile)))  # servers may send more than any Step reads
    assert taken.seconds < 5


@pytest.mark.parametrize(
    "message",
    [
        {"content": ANSWER, "reasoning_content": DRAFT},
        {"content": ANSWER, "reasoning": DRAFT},
        {"content": ANSWER, "reasoning": DRAFT, "reasoning_content": DRAFT},
        {"content": ANSWER, "thinking": DRAFT, "reasoning": None},
        {"content": f"<think>{DRAFT}</think>{ANSWER}", "reasoning_content": None},
        {"content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": DRAFT}]}, {"type": "text", "text": ANSWER}
        ]},
    ],
)  # fmt: skip
def test_a_message_has_its_reasoning_in_a_field_or_in_its_content(message):
    assert of_message(SimpleNamespace(**message)) == Split(DRAFT, ANSWER)


def test_a_message_that_was_cut_in_its_reasoning_has_no_content():
    assert of_message(SimpleNamespace(content=None, reasoning_content=DRAFT)) == Split(DRAFT, "")


@pytest.mark.parametrize("content", [3, {"a": 1}, [1], [{"type": "image"}], [{"type": "text"}]])
def test_any_other_content_is_refused(content):
    with pytest.raises(ValueError, match="its content is a"):
        of_message(SimpleNamespace(content=content))
