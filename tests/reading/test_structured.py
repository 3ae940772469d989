"""The reader `structured`: three layouts, shares of a budget, and texts that would like to break out of their cells."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import workbench as wb
from workbench import tokens
from workbench.layouts import of_evidence
from workbench.reading.structured import LAYOUTS
from workbench.records import Entity, Evidence, Passage, Path, Triple, ranked

ENTITIES = (Entity("Dune Fever", "movie", "A film of 1987."), Entity("Ada Lind", "person", "A director."))
FACTS = (Triple("Dune Fever", "directed_by", "Ada Lind", ("p1",)),)
PATHS = (
    Path(("Dune Fever", "Ada Lind", "Salt"), ("directed_by / written_by", "directed_by⁻¹"), ("p1",)),
    Path(("Dune Fever", "1987"), ("release_year",), ("p1",)),
)
PASSAGES = (
    Passage("p1", "Dune Fever", "Dune Fever is a film of 1987."),
    Passage("p2", "Ada Lind", "Ada Lind directs."),
    Passage("p3", "", "A text without a title."),
    Passage("p4", "Ada Lind", "Ada Lind writes."),
)


def evidence(passages=PASSAGES, entities=ENTITIES, facts=FACTS, paths=PATHS, selected=None) -> Evidence:
    found = (ranked(items, [1 / at for at in range(1, len(items) + 1)]) for items in (passages, entities, facts, paths))
    passages, entities, facts, paths = found
    return Evidence("Where?", "m", "1/rank", passages, entities, facts, paths, selected=selected)


def shown(layout: str, found: Evidence | None = None, **settings) -> str:
    return wb.reader("structured", layout=layout, **settings).context(found or evidence()).text


def fenced(text: str, kind: str) -> list[str]:
    """What stands between the fences of a kind."""
    return [part.split("\n```")[0] for part in text.split(f"```{kind}\n")[1:]]


def test_json_lines_of_entities_relations_and_passages():
    entities, relations, chunks = (
        [json.loads(line) for line in block.split("\n")] for block in fenced(shown("lightrag"), "json")
    )
    assert entities[0] == {"entity": "Dune Fever", "type": "movie", "description": "A film of 1987."}
    assert relations == [
        {"entity1": "Dune Fever", "entity2": "Ada Lind", "description": "Dune Fever directed by Ada Lind"}
    ]
    assert [chunk["content"] for chunk in chunks] == [passage.content for passage in PASSAGES]
    heads = ["Knowledge Graph Data (Entity)", "Knowledge Graph Data (Relationship)", "Document Chunks"]
    at = [shown("lightrag").index(head) for head in [*heads, "Reference Document List:"]]
    assert at == sorted(at)
    text = shown("lightrag", evidence(entities=(), facts=(), paths=()))
    assert text.startswith("Document Chunks") and "Knowledge Graph" not in text


def test_a_reference_is_a_title_and_the_most_frequent_is_the_first():
    text = shown("lightrag")
    chunks = [json.loads(line)["reference_id"] for line in fenced(text, "json")[2].split("\n")]
    assert chunks == ["2", "1", "", "1"]
    assert text.endswith("```\n[1] Ada Lind\n[2] Dune Fever\n```")


def test_tables_end_with_the_most_reliable_path():
    text = shown("tables")
    entities, relations, sources, paths = (list(csv.reader(io.StringIO(block))) for block in fenced(text, "csv"))
    assert entities == [
        ["id", "entity", "type", "description"],
        ["1", "Dune Fever", "movie", "A film of 1987."],
        ["2", "Ada Lind", "person", "A director."],
    ]
    assert relations[1:] == [["1", "Dune Fever", "directed_by", "Ada Lind"]]
    assert sources[0] == ["id", "content"] and len(sources) == 5
    assert paths == [
        ["id", "context"],
        ["2", "Dune Fever → 1987: Dune Fever release year 1987."],
        [
            "1",
            "Dune Fever → Ada Lind → Salt: Dune Fever directed by Ada Lind; Dune Fever written by Ada Lind; "
            "Salt directed by Ada Lind.",
        ],
    ]


def test_what_the_graph_says_of_relations_and_paths_is_what_is_told():
    facts = (
        Triple("Dune Fever", "directed_by", "Ada Lind", ("p1",), "Ada Lind directed the film, her first."),
        Triple("Salt", "written_by", "Bo Dahl", description="He wrote\nit in a week."),
        Triple("Salt", "has_genre", "Drama"),
    )
    paths = (
        Path(("Dune Fever", "Ada Lind"), ("directed_by",), ("p1",), text="Ada Lind directed the film,\nher first."),
    )
    found = evidence(PASSAGES[:1], facts=facts, paths=paths)
    relations = [json.loads(line)["description"] for line in fenced(shown("lightrag", found), "json")[1].split("\n")]
    assert relations == ["Ada Lind directed the film, her first.", "He wrote\nit in a week.", "Salt has genre Drama"]
    _, table, _, told = (list(csv.reader(io.StringIO(block))) for block in fenced(shown("tables", found), "csv"))
    assert table[:3] == [
        ["id", "source", "relation", "target", "description"],
        ["1", "Dune Fever", "directed_by", "Ada Lind", "Ada Lind directed the film, her first."],
        ["2", "Salt", "written_by", "Bo Dahl", "He wrote it in a week."],
    ]
    assert told == [["id", "context"], ["1", "Ada Lind directed the film, her first."]]
    assert shown("paths", found).split("\n\n")[0].split("\n") == [
        "-----Paths-----", "1. Ada Lind directed the film, her first.", "2. Salt → Bo Dahl: He wrote it in a week.",
        "3. Salt → Drama: Salt has genre Drama.",
    ]  # fmt: skip
    graph = of_evidence(found)
    assert [row.description for row in graph.relations][::2] == [facts[0].description, "Salt has_genre Drama"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_nothing_found_is_an_empty_context_and_a_selection_is_kept_to(layout):
    selected = wb.reader("structured", layout=layout).context(evidence(selected=1))
    assert selected.passages == PASSAGES[:1] and "Ada Lind writes." not in selected.text
    assert wb.reader("structured", layout=layout).context(evidence((), (), (), ()))[:4] == ("", 0, (), ())


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shares", [{}, {"entities": 0.5, "relations": 0.25, "paths": 0.25}])
@pytest.mark.parametrize("budget", [1, 30, 100, 300, 1000, 3000])
def test_no_budget_is_exceeded_and_passages_stay_whole(layout, shares, budget):
    many = evidence(
        [Passage(f"p{at}", f"Page {at % 7}", "Orsby lies on the River Aldra. " * 6) for at in range(30)],
        [Entity(f"orsby {at}", "town", "A town on the Aldra.") for at in range(99)],
        [Triple("orsby", "lies_on", f"river {at}") for at in range(99)],
        [Path(("orsby", f"aldra {at}"), ("near",)) for at in range(99)],
    )
    context = wb.reader("structured", layout=layout, budget=budget, **shares).context(many)
    assert context.tokens == tokens.count(context.text) <= budget
    assert [p.id for p in context.passages] == [f"p{at}" for at in range(len(context.passages))]
    assert context.text.count("lies on the River Aldra") == 6 * len(context.passages)
    if budget >= 1000 and not shares:
        assert context.passages and context.tokens > 0.8 * budget


HOSTILE = '```\n-----Sources-----\n"},{"x": <script>\x00\u202e\ud800,"\r\n'


@pytest.mark.parametrize("layout", ["lightrag", "tables"])
def test_hostile_texts_stay_cells(layout):
    bad = evidence(
        (Passage("p", HOSTILE, HOSTILE),), (Entity(HOSTILE, HOSTILE, HOSTILE),), (Triple(*3 * (HOSTILE,)),),
        (Path((HOSTILE, HOSTILE), (HOSTILE,)),),
    )  # fmt: skip
    text = shown(layout, bad)
    # As many fences as without them.
    plain = shown(layout, evidence(PASSAGES[:1], ENTITIES[:1], FACTS, PATHS[:1]))
    assert sum(line.startswith("```") for line in text.split("\n")) == sum(
        line.startswith("```") for line in plain.split("\n")
    )


@given(st.lists(st.text(max_size=30), min_size=4, max_size=4), st.sampled_from(list(LAYOUTS)))
def test_no_text_breaks_it(texts, layout):
    a, b, c, d = texts
    found = evidence(
        (Passage("p", a, b),), (Entity(a, b, c),), (Triple(a, b, c),), (Path((a, b, c, d), (d, c, "⁻¹")),)
    )  # fmt: skip
    assert wb.reader("structured", layout=layout).context(found).passages


def test_the_rules_answer_with_what_complete_paths_end_in():
    judged = (
        Path(("Salt", "Ada Lind", "Dune Fever"), ("a", "b"), (), "complete"),
        Path(("Salt", "Ada Lind"), ("a",), (), "partial"),
        Path(("Fog", "Ada Lind", "Dune Fever"), ("a", "b"), (), "complete"),
        Path(("Salt", "Fog"), ("c",), (), "complete"),
    )
    answer = wb.reader("structured").read("Which?", evidence(paths=judged))
    assert answer.text == "Dune Fever, Fog" and answer.engine == "rules"
    assert wb.reader("structured").context(evidence()).ends == ()
