"""An executed query as tables and as a picture: what it was matched with, where it broke, what stands beside it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from test_figures import _missing_letters  # noqa: F401
from test_views import Checked

from workbench.records import Binding, Match, Pattern, Proof, Triple, ranked
from workbench.views import html, text
from workbench.views.drawing import Drawing, drawing_data
from workbench.views.proofs import AROUND, COLUMN, MATCHED, OTHER, PARTIAL, UNPROVEN, proof_drawing

PATTERNS = (
    Pattern("Skarne ferry", "named after", "?novel"),
    Pattern("?novel", "written by", "?author"),
    Pattern("?author", "born in", "?town"),
)
NAMED = Match(PATTERNS[0], Triple("skarne ferry", "named for", "Salt", ("m1",)), 1.0, True)
WROTE = Match(PATTERNS[1], Triple("Mette Oran", "wrote", "Salt", ("m2", "m3")), 0.7, False, True)
BORN = Match(PATTERNS[2], Triple("Mette Oran", "born in", "Haldvik", ("m4",)), 0.9)
VALUES = (("?novel", "Salt"), ("?author", "Mette Oran"), ("?town", "Haldvik"))
WHOLE = Proof(
    'SELECT ?town WHERE { "Skarne ferry" named_after ?novel . }', PATTERNS, "?town", "",
    (Binding(VALUES, (NAMED, WROTE, BORN), 0.7),), (), None, ranked(["Haldvik"], [0.7]), "Haldvik", "verified",
)  # fmt: skip
BROKEN = replace(WHOLE, bindings=(), partial=(NAMED, WROTE), broken=3, answers=(), mark="unsupported")
ELSEWHERE = Triple("Orsby", "lies on", "Aldra")


def roles(drawn: Drawing) -> dict[str, tuple[str, str]]:
    return {node.name: (node.style.name, node.label.partition("\n")[2]) for node in drawn.nodes}


def edges(drawn: Drawing) -> list[tuple[str, str, str, str]]:
    """The relation is written on what is matched, and stands in the tooltip of all."""
    made = []
    for edge in drawn.edges:
        ends = [drawn.nodes[end].name for end in (edge.source, edge.target)]
        relation = edge.label or edge.tooltip.split(" — ")[1]
        assert relation in edge.tooltip and (edge.label == "") == (edge.style == OTHER)
        made.append((ends[0], relation, ends[1], edge.style))
    return made


def test_each_hop_says_pattern_fact_score_kind_and_passages():
    rows = [Checked(f"<table>{row}</table>").shown for row in re.findall(r"<tr>.*?</tr>", html(WHOLE))]
    said = [" ".join(" ".join(row).split()) for row in rows]
    assert said == [
        "hop pattern fact score how passages",
        "1 Skarne ferry named after ?novel skarne ferry — named for — Salt 1.0000 exact m1",
        "2 ?novel written by ?author Mette Oran — wrote — Salt 0.7000 alike, turned round m2, m3",
        "3 ?author born in ?town Mette Oran — born in — Haldvik 0.9000 alike m4",
    ]


def test_it_says_the_mark_the_query_and_the_values():
    shown = " ".join(Checked(html(WHOLE)).shown)
    for part in ("✓ verified", "Haldvik", "SELECT ?town WHERE", "?town"):
        assert part in shown
    assert "✓ verified answer: Haldvik" in text(WHOLE) and "?town = Haldvik 0.70" in text(WHOLE)
    assert "class='bad'>✗ contradicted" in html(replace(WHOLE, mark="contradicted"))


def test_where_it_breaks_is_said():
    shown = " ".join(" ".join(Checked(html(BROKEN)).shown).split())
    assert "no fact matches pattern 3: ?author born in ?town" in shown
    assert "has no value" in shown and "skarne ferry — named for — Salt" in shown
    assert "no fact matches pattern 3" in text(BROKEN)


def test_a_query_that_cannot_be_executed_says_why():
    flawed = Proof("SELEKT", flaw="the reply holds no query")
    assert "nothing to execute: the reply holds no query" in html(flawed) and "SELEKT" in html(flawed)
    assert text(flawed) == "nothing to execute: the reply holds no query\n  the query"


# -- the picture -------------------------------------------------------------------------------------------------------


def test_the_match_stands_in_a_row_in_the_order_of_the_query():
    drawn = proof_drawing(WHOLE)
    assert roles(drawn) == {
        "skarne ferry": ("named in the query", ""),
        "Salt": ("bound to a variable", "?novel"),
        "Mette Oran": ("bound to a variable", "?author"),
        "Haldvik": ("bound to a variable", "?town"),
    }
    assert [node.x / COLUMN for node in drawn.nodes] == [0, 1, 2, 3]
    assert edges(drawn) == [
        ("skarne ferry", "named for", "Salt", MATCHED),
        ("Mette Oran", "wrote", "Salt", MATCHED),
        ("Mette Oran", "born in", "Haldvik", MATCHED),
    ]


def test_parts_that_do_not_hang_together_stand_in_rows_of_their_own():
    first = Match(Pattern("Ada", "born", "?x"), Triple("Ada", "born", "1901"), 1.0, True)
    second = Match(Pattern("Bo", "born", "?y"), Triple("1888", "birth year of", "Bo"), 0.6, False, True)
    tied = Match(Pattern("?x", "before", "?y"), Triple("1888", "before", "1901"), 0.6, False, True)
    nodes = proof_drawing(Proof(bindings=(Binding((), (first, second), 0.6),))).nodes
    assert [(node.name, node.x / COLUMN) for node in nodes] == [("Ada", 0), ("1901", 1), ("Bo", 0), ("1888", 1)]
    assert len({node.y for node in nodes}) == 2
    joined = proof_drawing(Proof(bindings=(Binding((), (first, second, tied), 0.6),))).nodes
    assert [node.x / COLUMN for node in joined] == [0, 1, 2, 3]


def test_other_facts_about_the_same_things_stand_beside():
    more = [Triple("Salt", "set in", "Orsby"), Triple("Mette Oran", "lives in", "skarne ferry"), ELSEWHERE]
    drawn = proof_drawing(WHOLE, [*(match.fact for match in (NAMED, WROTE, BORN)), *more])
    assert edges(drawn)[3:] == [
        ("Salt", "set in", "Orsby", OTHER),
        ("Mette Oran", "lives in", "skarne ferry", OTHER),
    ]
    assert roles(drawn)["Orsby"] == ("not matched", "") and "Aldra" not in roles(drawn) and drawn.left_out == 0


def test_what_has_no_room_is_counted():
    many = [Triple("Salt", "has", f"page {at}") for at in range(AROUND + 3)]
    drawn = proof_drawing(WHOLE, many)
    assert len(drawn.nodes) == 4 + AROUND and drawn.left_out == 3
    assert "3 more had no room" in text(drawn)
    in_lines = proof_drawing(replace(WHOLE, query="SELECT ?x\nWHERE {\n  ?x ?y ?z .\n}"))
    assert text(in_lines).startswith("Drawing of 'SELECT ?x WHERE { ?x ?y ?z . }'")
    assert len({(node.x, node.y) for node in drawn.nodes}) == len(drawn.nodes)


def test_as_far_as_it_goes():
    assert [status for *_, status in edges(proof_drawing(BROKEN))] == [PARTIAL, PARTIAL]
    nothing = proof_drawing(replace(BROKEN, partial=(), broken=1), [ELSEWHERE])
    assert nothing.nodes == () and "no pattern of the query was matched" in html(nothing)


@pytest.mark.parametrize("mark", ["contradicted", "unsupported", ""])
def test_only_a_match_that_verifies_the_answer_is_green(mark):
    assert {style for *_, style in edges(proof_drawing(replace(WHOLE, mark=mark)))} == {UNPROVEN}
    assert {style for *_, style in edges(proof_drawing(WHOLE))} == {MATCHED}
    assert MATCHED.colour != UNPROVEN.colour and "not verified" in UNPROVEN.name


def test_the_match_of_the_answer_is_drawn_and_not_a_better_one():
    """The query binds two towns; the answer is the second."""
    other = replace(BORN, fact=Triple("Mette Oran", "lived in", "Orsby"), score=0.6)
    second = Binding((*VALUES[:2], ("?town", "Orsby")), (NAMED, WROTE, other), 0.6)
    proof = replace(WHOLE, bindings=(*WHOLE.bindings, second))
    for answer, drawn in (("Orsby", "Orsby"), ("Haldvik", "Haldvik"), ("Quell", "Haldvik"), ("", "Haldvik")):
        assert proof_drawing(replace(proof, answer=answer)).nodes[-1].name == drawn


def test_a_click_is_told_by_position():
    data = drawing_data(proof_drawing(WHOLE))
    assert [node["id"] for node in data["nodes"]] == [0, 1, 2, 3]
    assert data["nodes"][1]["label"] == "Salt\n?novel" and data["edges"][0]["arrows"] == "to"
