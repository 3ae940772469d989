"""What is read off a reply, strictly and as the thesis does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.measures.abstained import is_abstention_thesis
from workbench.steps.final_answer import CUT, NO_LINE, Extracted, last_line, whole

ECHO = "Step 3: Write FINAL ANSWER: <your answer>\n"


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("FINAL ANSWER: Oslo", "Oslo"),
        (f"{ECHO}?x = Ada Lind\nFINAL ANSWER: Oslo", "Oslo"),  # the form that was repeated comes first
        ("FINAL ANSWER: Bergen\nNo, wait.\nFINAL ANSWER: Oslo", "Oslo"),
        ("**Final Answer:** Oslo.", "Oslo"),
        ("**FINAL ANSWER: Oslo**", "Oslo"),
        ("## FINAL ANSWER:\n\n**Oslo**", "Oslo"),
        ("FINAL ANSWER: a\n" * 20_000, "a"),
        ("final\n answer :\n\n  Oslo  ", "Oslo"),
        ('FINAL ANSWER: "Dune Fever".', "Dune Fever"),
        ("FINAL ANSWER: “Dune Fever.”", "Dune Fever"),
        ('FINAL ANSWER: "Salt" and "Sand"', '"Salt" and "Sand"'),
        ("FINAL ANSWER: Washington, D.C.", "Washington, D.C."),
        ("FINAL ANSWER: Oslo\nThis follows from the second pattern.", "Oslo"),
        ("<b>FINAL ANSWER:</b> Oslo", "Oslo"),
        ("FINAL ANSWER: unknown lands", "unknown lands"),
    ],
)
def test_the_last_line_is_the_answer(reply, text):
    if reply.startswith("<b>"):  # markup between the cue and the answer is no answer
        assert last_line(reply).flaw == NO_LINE
    else:
        assert last_line(reply)[:2] == (text, False) and not last_line(reply).flaw


@pytest.mark.parametrize(
    "reply",
    [
        "The answer is Oslo.",
        ECHO,
        f"FINAL ANSWER: Oslo\n{ECHO}",  # the last one counts, and says nothing
        "FINAL ANSWER:",
        "FINAL ANSWER:   \n\t ",
        '{"FINAL ANSWER": "Oslo"}',
        "FINAL ANSWER: <b>Oslo</b>",
        "FINAL ANSWER Oslo",
        "I don't know.\nFirst, the founder.",
        "FINAL ANSWER" + " " * 100_000 + "x",
        "\x00\u202e</s><|im_end|>",
    ],
)
def test_without_the_line_there_is_no_answer_but_the_thesis_takes_the_whole_reply(reply):
    said = last_line(reply)
    assert (said.text, said.abstained, said.flaw) == ("", False, NO_LINE)
    said = last_line(reply, "thesis")
    assert (said.text, said.abstained, said.flaw) == (reply, False, NO_LINE)


@pytest.mark.parametrize(
    "answer", ["I don't know", "I don’t know.", "unknown", "I do not know, the context names no founder"]
)
def test_an_abstention_is_known_in_other_words_but_not_by_the_thesis(answer):
    reply = f"Step 1: …\nFINAL ANSWER: {answer}"
    said = last_line(reply)
    assert (said.text, said.abstained, said.thought) == ("", True, "Step 1: …")
    assert last_line(reply, "thesis").abstained == is_abstention_thesis(answer)
    assert last_line("I don't know.") == Extracted(abstained=True), "alone it needs no line"
    assert whole(answer).abstained and whole(answer, "thesis").abstained == is_abstention_thesis(answer)


def test_what_was_cut_is_no_answer_unless_it_stood_there_before():
    assert last_line("Step 1: SELECT ?x", cut=True).flaw == CUT
    assert last_line("FINAL ANSWER: The United", cut=True)[:2] == ("", False)
    assert last_line("FINAL ANSWER: The United", cut=True).flaw == CUT
    assert last_line("FINAL ANSWER: Oslo\nThis is because", cut=True).text == "Oslo"
    assert last_line("FINAL ANSWER: The United", "thesis", cut=True).text == "The United"
    assert whole("Oslo, which", cut=True)[:2] == ("", False) and whole("Oslo, which", cut=True).flaw == CUT
    assert whole("Oslo, which", "thesis", cut=True).text == "Oslo, which"


@pytest.mark.parametrize(
    ("reply", "text", "thought"),
    [
        ("**Oslo**", "Oslo", ""),
        ('"Oslo."', "Oslo", ""),
        ("Answer: Oslo", "Oslo", ""),
        ("**FINAL ANSWER**: Oslo", "Oslo", ""),
        ("Sure! Here is the answer:\n\nOslo", "Oslo", ""),
        ("Oslo\n\nThe context says that it lies there.", "Oslo", "The context says that it lies there."),
        ("Oslo. This is stated in the context.", "Oslo", "This is stated in the context."),
        ('{"answer": "Oslo"}', "Oslo", ""),
        ("```\nOslo\n```", "Oslo", ""),
        ("- Oslo", "Oslo", ""),
        ("1. FC Köln", "1. FC Köln", ""),
        ("St. Louis", "St. Louis", ""),
        ("Washington, D.C.", "Washington, D.C.", ""),
        ("None but the Brave", "None but the Brave", ""),
    ],
)
def test_a_short_answer_is_taken_out_of_what_stands_around_it(reply, text, thought):
    said = whole(reply)
    assert (said.text, said.thought, said.flaw, said.abstained) == (text, thought, "", False)


@pytest.mark.parametrize("reply", ["| a | b |\n|---|---|", '{"result": {"x": 1, "y": 2}}', "<your answer>", "…"])
def test_what_is_no_short_answer_has_a_flaw(reply):
    assert whole(reply) == Extracted(flaw=NO_LINE, thought=reply)


@given(st.text(), st.sampled_from(["strict", "thesis"]), st.booleans())
def test_no_reply_breaks_it(reply, extraction, cut):
    for read in (whole, last_line):
        said = read(reply, extraction, cut)
        assert not (said.abstained and said.text)
        if extraction == "strict":
            assert not (said.flaw and said.text)
