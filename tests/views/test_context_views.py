"""A context beside what was kept of it: hops, seeds and answers are marked, what was dropped is struck through."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from test_views import HOSTILE, Checked, hostile

from workbench.records import Compressed, ContextEntity, ContextGraph, ContextRelation, Unit
from workbench.views import contexts, html, text
from workbench.views.contexts import SHOWN, Marks
from workbench.views.render import html_of

MIRA, TOMAS, ORSBY, PRIZE = (
    ContextEntity(name, description)
    for name, description in (
        ("MIRA HOLT", "a writer"),
        ("TOMAS HOLT", "her brother"),
        ("ORSBY", "a town on the Aldra"),
        ("SALT PRIZE", "a prize"),
    )
)
SIBLING, BORN = (
    ContextRelation("MIRA HOLT", "TOMAS HOLT", "Mira Holt is the sister of Tomas Holt"),
    ContextRelation("TOMAS HOLT", "ORSBY", "Tomas Holt was born in Orsby"),
)
NEAR, FAR = (
    Unit("chunk_1", "Tomas Holt was born in Orsby in 1901.", "Tomas Holt", ("m1",)),
    Unit("chunk_2", "The Salt Prize is given each year.", "Salt Prize", ("m2",)),
)
WHOLE = ContextGraph((MIRA, TOMAS, ORSBY, PRIZE), (SIBLING, BORN), (), (NEAR, FAR))
SHORT = Compressed(
    "Where was the brother of Mira Holt born?",
    "graph-walk[budget=60]",
    60,
    WHOLE,
    ContextGraph((MIRA, TOMAS, ORSBY), (SIBLING, BORN), (), (NEAR,)),
    "=== Step 0 (from question) ===\n  MIRA HOLT: a writer\n\n  [chunk_1] Tomas Holt was born in Orsby in 1901.",
    48,
    110,
    ("MIRA HOLT",),
    (("MIRA HOLT", 0), ("TOMAS HOLT", 1), ("ORSBY", 2)),
    (
        ("=== Step 0 (from question) ===", 0, ("MIRA HOLT",)),
        ("=== Step 1 (hop 1) ===", 1, ("TOMAS HOLT", "chunk_1")),
        ("=== Step 2 (hop 2) ===", 2, ("ORSBY",)),
    ),
)


def compressed_html(*args, **settings) -> str:
    return html_of(contexts.compressed_part(*args, **settings))


def sides(one: Compressed, gold=()) -> tuple[str, str]:
    """The HTML of the full context and of the compressed one."""
    _, left, right = compressed_html(one, gold).split("<div class='side'>")
    return left, right


def test_what_was_dropped_is_struck_through_and_nothing_else():
    left, right = sides(SHORT)
    struck = re.findall(r"<div class='gone'>(.*?)</div>", left)
    assert len(struck) == 2
    assert "SALT PRIZE" in struck[0] and "chunk_2" in struck[1]
    assert "gone" not in right and "SALT PRIZE" not in right


def test_both_texts_keep_their_lines():
    before = "Orsby\nIt lies on the Aldra. It is old.\n\nMira Holt\nShe writes."
    shown = html_of(contexts.texts_part(before, before.replace(" It is old.", ""), Marks()))
    left, right = re.findall("<pre>(.*?)</pre>", shown, re.S)
    assert left == before.replace("It is old.", "<span class='gone'>It is old.</span>")
    assert right == before.replace(" It is old.", "")


def test_the_length_of_the_text_stands_beside_that_of_the_tables():
    said = compressed_html(SHORT, uncompressed=90)
    assert said.count("90 (as tables 110)") == 2 and "110) → 48 tokens, budget 60" in said
    for same in (compressed_html(SHORT), compressed_html(SHORT, uncompressed=110)):
        assert "110 → 48 tokens, budget 60" in same and "as tables" not in same


def test_a_name_has_its_hop_wherever_it_stands():
    left, right = sides(SHORT)
    for side in (left, right):
        assert "<span class='hop h0'>0</span> <b>MIRA HOLT</b>" in side
        assert "<span class='hop h2'>2</span> <b>ORSBY</b>" in side
        assert "<span class='named h1'>Tomas Holt</span> was born in <span class='named h2'>Orsby</span>" in side
    assert "the brother of <span class='named h0'>Mira Holt</span> born?" in compressed_html(SHORT)


def test_the_right_side_goes_by_the_headings_of_the_text():
    _, right = sides(SHORT)
    headings = re.findall(r"<b>(Step[^<]*)</b>", right)
    assert headings == ["Step 0 (from question)", "Step 1 (hop 1)", "Step 2 (hop 2)"]
    first, second = right.split("Step 1 (hop 1)")
    assert "Mira Holt is the sister" in first and "Tomas Holt was born in Orsby" in second


def test_it_says_how_much_was_cut():
    shown = " ".join(Checked(html(SHORT)).shown)
    assert "110 → 48 tokens, budget 60" in shown
    assert "3 of 4 entities; 2 of 2 relationships; 1 of 2 chunks" in shown
    assert "110 → 48 tokens" in text(SHORT) and "3 of 4 entities" in text(SHORT)


def test_a_unit_that_is_there_in_part_says_which_sentences_are_left_out():
    long = replace(NEAR, text="Tomas Holt was born in Orsby in 1901. He sailed.\nHe came back.")
    text_ = SHORT.text.replace("in 1901.", "in 1901. … He came back.")
    _, right = sides(replace(SHORT, graph=replace(SHORT.graph, chunks=(long,)), text=text_))
    assert "in part" in right and re.findall(r"class='gone'>(.*?)</span>", right) == ["He sailed."]


def test_a_unit_may_have_the_id_of_a_name():
    """The name first, where a line is kept for it; then the text."""
    twin = replace(NEAR, id="MIRA HOLT")
    both = ("=== Step 0 (from question) ===", 0, ("MIRA HOLT", "MIRA HOLT"))
    _, right = sides(replace(SHORT, graph=replace(SHORT.graph, chunks=(twin,)), kept=(both,)))
    assert "<b>MIRA HOLT</b> a writer" in right and "<p><span class='named h1'>Tomas Holt</span> was born" in right


def test_a_name_without_a_description_stays_with_its_relationship():
    bare = replace(ORSBY, description="")
    one = replace(SHORT, before=replace(WHOLE, entities=(MIRA, bare)), graph=replace(WHOLE, entities=(), chunks=()))
    left, _ = sides(one)
    assert re.findall(r"class='gone'>.*?<b>(.*?)</b>", left) == ["MIRA HOLT"] and "1 of 2 entities" in html(one)


def test_gold_answers_are_marked_before_and_after():
    left, right = sides(SHORT, ("Orsby",))
    assert "<span class='gold'>Orsby</span>" in left and "<span class='gold'>Orsby</span>" in right
    assert "gold" not in sides(SHORT)[1]


def test_a_context_that_was_left_as_it_was_says_why():
    same = replace(SHORT, graph=WHOLE, kept=(), hops=(), seeds=(), fallback="no entity is named in the question")
    left, right = sides(same)
    assert "no entity is named in the question" in compressed_html(same)
    assert "gone" not in left and "SALT PRIZE" in right


def test_long_tables_fold_and_the_longest_are_cut():
    many = ContextGraph(chunks=tuple(Unit(str(at), f"text {at}") for at in range(500)))
    shown = html_of(contexts.graph_part(many))
    assert f"{200 - SHOWN + 1} more" in shown and "300 more" in shown
    assert "text 199" in shown and "text 200" not in shown


def test_names_are_found_as_words_only():
    marks = Marks([("US", 0), ("a", 1), ("The US Open", 2)])
    assert html_of(marks("just the us, a US open")) == (
        "just the <span class='named h0'>us</span>, a <span class='named h0'>US</span> open"
    )
    assert html_of(marks("The US Open")) == "<span class='named h2'>The US Open</span>"


@pytest.mark.parametrize("name", ["(", "[a", "a|b", "\\", "*", "İİ", "$x$"])
def test_a_name_is_no_pattern(name):
    Checked(html(replace(SHORT, hops=((name, 0),), question=f"who is {name}?")))


@given(hostile)
def test_no_name_is_acted_upon_where_it_is_marked(name):
    hops = ((name, 0), *((part, 1) for part in HOSTILE))
    marked = replace(SHORT, hops=hops, question=f"{name} and {name}", text=name)
    Checked(f"<div>{compressed_html(marked, (name,))}</div>")
