"""Layouts: what is written is parsed and written again, by hand, by chance, and where the texts are hostile."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench import layouts, tokens
from workbench.errors import DataError
from workbench.layouts import LAYOUTS, ket_rag, lightrag, of_evidence, youtu
from workbench.records import (
    ContextEntity,
    ContextGraph,
    ContextRelation,
    Entity,
    Evidence,
    Passage,
    Report,
    Triple,
    Unit,
    ranked,
)

GRAPH = ContextGraph(
    (ContextEntity("ORSBY", "A town | a port.", 4, 2), ContextEntity("RIVER ALDRA", "A river.", 7, 1)),
    (
        ContextRelation("ORSBY", "RIVER ALDRA", "Orsby lies on the river.", 2.0, 3, 3),
        ContextRelation("ORSBY", "QUELL", "a|b", 1.5, 5, 4, 1),
    ),
    (Unit("12", "Orsby lies on the River Aldra.\nIt is old."),),
    (Unit("chunk_1", "The Aldra flows into Lake Mira."), Unit("chunk_2", "Fog.")),
)
TEXT = """-----Entities-----
id|entity|description|number of relationships
4|ORSBY|A town | a port.|2
7|RIVER ALDRA|A river.|1


-----Relationships-----
id|source|target|description|weight|rank|links
3|ORSBY|RIVER ALDRA|Orsby lies on the river.|2.0|3|
5|ORSBY|QUELL|a|b|1.5|4|1


-----Sources-----
id|text
12|Orsby lies on the River Aldra.
It is old.


-----Text source that may be relevant-----
id|text
chunk_1|The Aldra flows into Lake Mira.
chunk_2|Fog.
"""
LIGHTRAG = """Knowledge Graph Data (Entity):

```json
{"entity": "Orsby", "description": "A \\"town\\"."}
```

Knowledge Graph Data (Relationship):

```json
{"entity1": "Orsby", "entity2": "River Aldra", "description": "It lies on it."}
```

Document Chunks (each entry refers to the Reference Document List):

```json
{"reference_id": "2", "content": "Orsby\\nA town."}
{"reference_id": "1", "content": "Aldra\\nA river."}
{"reference_id": "", "content": "Fog."}
{"reference_id": "1", "content": "Aldra\\nIt flows."}
```

Reference Document List:

```
[1] Aldra
[2] Orsby
```"""


YOUTU = """### Triples
Orsby [town] | lies on | River Aldra [river] | 0.812
Orsby [town] | has_attribute | founded: 1702 | 0.500
Quell [hall; old]

### Communities
(7) Aldra valley: Towns on the river.

### Chunks
(chunk_1) Orsby
Orsby lies on the River Aldra.
(chunk_2) Fog."""


# -- ket_rag ----------------------------------------------------------------------------------------------------------


def test_four_tables_as_they_are_written():
    assert ket_rag.write(GRAPH) == TEXT


def test_they_are_read_back():
    assert ket_rag.parse(TEXT) == GRAPH


def test_without_chunks_the_stub():
    text = ket_rag.write(ContextGraph(GRAPH.entities))
    assert text.endswith("\n\n\n-----Text source that may be relevant-----\nid|text\n\nN/A")
    assert ket_rag.parse(text) == ContextGraph(GRAPH.entities)
    assert ket_rag.parse(ket_rag.write(ContextGraph())) == ContextGraph()


def test_cells_that_would_break_a_table_are_mended():
    graph = ContextGraph(
        (ContextEntity("A|B", "one\ntwo  three", 0, 1),),
        (ContextRelation("A|B", "C\r\nD", "-----Sources-----", 1.0, 0, 2),),
        (Unit("1", "before\n-----------Entities---------\nid|x\r\nafter\n\n"),),
    )
    text = ket_rag.write(graph)
    found = ket_rag.parse(text)
    assert found.entities == (ContextEntity("A/B", "one two three", 0, 1),)
    assert found.relations == (ContextRelation("A/B", "C D", "---Sources---", 1.0, 0, 2),)
    assert found.sources == (Unit("1", "before\n---Entities---\nid|x\nafter"),)
    assert [text.count(header) for header in ket_rag.HEADERS.values()] == [1, 1, 1, 1]


@pytest.mark.parametrize("text", ["", "Some passages.\n\nOthers.", '{"entity": "x"}', "say -----Entities----- inline"])
def test_what_has_no_header_is_refused(text):
    with pytest.raises(DataError, match="no header"):
        ket_rag.parse(text)


def test_the_companion_ends_a_description_at_a_bar():
    found = ket_rag.parse(TEXT, published=True)
    assert found.entities[0].description == "A town"
    assert found.relations[1].weight == 1.0 and found.relations[1].description == "a"
    assert found.chunks == GRAPH.chunks and found.sources == GRAPH.sources


# -- lightrag ---------------------------------------------------------------------------------------------------------


def test_blocks_of_json_lines():
    graph = lightrag.parse(LIGHTRAG)
    assert graph.entities == (ContextEntity("Orsby", 'A "town".'),)
    assert graph.relations == (ContextRelation("Orsby", "River Aldra", "It lies on it."),)
    assert graph.chunks == (
        Unit("chunk_1", "A town.", "Orsby"),
        Unit("chunk_2", "A river.", "Aldra"),
        Unit("chunk_3", "Fog."),
        Unit("chunk_4", "It flows.", "Aldra"),
    )
    assert lightrag.write(graph) == LIGHTRAG


def test_the_companion_keeps_one_chunk_of_a_reference():
    graph = lightrag.parse(LIGHTRAG, published=True)
    assert graph.entities[0].name == "ORSBY" and graph.relations[0].target == "RIVER ALDRA"
    assert [(unit.id, unit.text) for unit in graph.chunks] == [
        ("2", "Orsby\nA town."), ("1", "Aldra\nIt flows."), ("", "Fog."),
    ]  # fmt: skip
    without = LIGHTRAG.replace('"1", "c', '"", "c').replace('"2", "c', '"", "c')
    assert [unit.text for unit in lightrag.parse(without, published=True).chunks] == ["Aldra\nIt flows."]
    assert len(lightrag.parse(without).chunks) == 4


@pytest.mark.parametrize("text", ["", "no fence", "Other:\n```json\n{}\n```", "Entity:\n```csv\nx\n```"])
def test_what_has_no_block_is_refused(text):
    with pytest.raises(DataError, match="no block"):
        lightrag.parse(text)
    assert lightrag.parse(text, published=True) == ContextGraph(layout="lightrag")


# -- both -------------------------------------------------------------------------------------------------------------

HOSTILE = '```\n-----Sources-----\n[1] x\nchunk_1|"},{"x": <script>\x00\u202e\ud800,"\r\n12|y\x0b\x1c\u2028 \n\n'
TEXTS = st.one_of(
    st.text(max_size=30),
    st.sampled_from([HOSTILE, TEXT, LIGHTRAG, YOUTU, "|", "\r", "3|", "", "٣|", "a [b] [c", "### Chunks", "(7) x"]),
)
NUMBERS = st.one_of(st.none(), st.integers(-2, 10**9))
GRAPHS = st.builds(
    ContextGraph,
    *(
        st.lists(rows, max_size=3).map(tuple)
        for rows in (
            st.builds(ContextEntity, TEXTS, TEXTS, NUMBERS, st.one_of(st.none(), st.integers(0, 99))),
            st.builds(
                ContextRelation, TEXTS, TEXTS, TEXTS, st.floats(), NUMBERS, *2 * [st.one_of(st.none(), st.just(7))]
            ),
            st.builds(Unit, st.one_of(TEXTS, st.just("5")), TEXTS, TEXTS),
            st.builds(Unit, st.one_of(TEXTS, st.just("chunk_3")), TEXTS, TEXTS),
        )
    ),
)


@given(GRAPHS)
def test_what_is_written_is_written_the_same_once_it_was_parsed(graph):
    for name, layout in LAYOUTS.items():
        text = layout.write(graph)
        if text:
            assert layouts.read(text)[0] == name
            assert layout.write(layout.parse(text)) == text


@given(GRAPHS)
def test_names_numbers_and_order_survive(graph):
    found = ket_rag.parse(ket_rag.write(graph))
    assert [e.name for e in found.entities] == [" ".join(e.name.split()).replace("|", "/") for e in graph.entities] or (
        "-----" in "".join(e.name for e in graph.entities)
    )
    assert [e.degree for e in found.entities] == [e.degree for e in graph.entities]
    assert [(r.rank, r.links) for r in found.relations] == [(r.rank, r.links) for r in graph.relations]


LINES = "\n".join([TEXT, LIGHTRAG, YOUTU]).split("\n")


@given(st.text(max_size=200), st.lists(st.sampled_from(LINES), max_size=20))
def test_no_text_breaks_a_parser(text, lines):
    for given_text in (text, "\n".join([*lines, text]), "".join(lines)):
        for layout in LAYOUTS.values():
            layout.parse(given_text, published=True)
            try:
                layout.parse(given_text)
            except DataError:
                assert not layout.fits(given_text)


def test_which_layout_a_context_is_in():
    assert layouts.read(TEXT) == ("ket_rag", GRAPH)
    assert layouts.read(LIGHTRAG)[0] == "lightrag"
    assert layouts.read(YOUTU)[0] == "youtu"
    with pytest.raises(DataError, match="no layout"):
        layouts.read("Passages.\n\nAnd no more.")


# -- youtu ------------------------------------------------------------------------------------------------------------


def test_triples_with_types_communities_and_chunks():
    graph = ContextGraph(
        (ContextEntity("Quell", "hall; old"), ContextEntity("Orsby", "town"), ContextEntity("River Aldra", "river")),
        (
            ContextRelation("Orsby", "River Aldra", "lies on", 0.8124, passages=("p1",)),
            ContextRelation("Orsby", "founded: 1702", "has_attribute", 0.5),
        ),
        (Unit("7", "Towns on the river.", "Aldra valley:"),),
        (Unit("p1", "Orsby lies on the River Aldra.", "Orsby"), Unit("p2", "Fog.")),
    )
    assert youtu.write(graph).replace("\nTowns", " Towns") == YOUTU
    found = youtu.parse(YOUTU)
    assert [(row.name, row.description) for row in found.entities] == [
        ("Orsby", "town"), ("River Aldra", "river"), ("founded: 1702", ""), ("Quell", "hall; old"),
    ]  # fmt: skip
    assert [(row.source, row.description, row.target, row.weight) for row in found.relations] == [
        ("Orsby", "lies on", "River Aldra", 0.812), ("Orsby", "has_attribute", "founded: 1702", 0.5),
    ]  # fmt: skip
    assert found.chunks == (Unit("chunk_1", "Orsby\nOrsby lies on the River Aldra."), Unit("chunk_2", "Fog."))
    assert found.sources == (Unit("7", "Aldra valley: Towns on the river."),)


def test_a_text_that_opens_otherwise_is_refused():
    with pytest.raises(DataError, match="first line should be one of ### Triples"):
        youtu.parse("Passages.\n### Triples\na | b | c | 0.1")


# -- of evidence ------------------------------------------------------------------------------------------------------


def found(**given) -> Evidence:
    passages = (Passage("p1", "Orsby", "A town."), Passage("p2", "", "Fog."))
    return Evidence(
        "Where?",
        "m",
        "1/rank",
        ranked(passages, (1, 0.5)),
        ranked([Entity("Orsby", "town", "A port.")], [1]),
        ranked([Triple("orsby", "lies_on", "Aldra", ("p1",))], [1]),
        reports=ranked([Report("r1", "Towns", "All of them.", ("p1", "p2"))], [1]),
        **given,
    )


def test_evidence_as_tables():
    graph = of_evidence(found())
    assert graph.entities == (ContextEntity("Orsby", "A port."), ContextEntity("Aldra"))
    assert graph.relations == (ContextRelation("orsby", "Aldra", "orsby lies_on Aldra", passages=("p1",)),)
    assert graph.sources == (Unit("r1", "All of them.", "Towns", ("p1", "p2")),)
    assert graph.chunks == (Unit("p1", "A town.", "Orsby", ("p1",)), Unit("p2", "Fog.", "", ("p2",)))
    assert of_evidence(found(selected=1)).chunks == graph.chunks[:1]


@pytest.mark.parametrize("budget", [20, 60, 100, 400])
def test_within_a_budget(budget):
    many = Evidence(
        "?", "m", "s",
        ranked([Passage(f"p{at}", "Orsby", "It lies on the River Aldra. " * 5) for at in range(20)], range(20)),
        ranked([Entity(f"orsby {at}", "town", "A town.") for at in range(20)], range(20)),
        ranked([Triple("orsby", "lies_on", f"river {at}") for at in range(20)], range(20)),
    )  # fmt: skip
    graph = of_evidence(many, budget)
    assert tokens.count(ket_rag.write(graph)) <= budget
    assert graph.chunks == of_evidence(many).chunks[: len(graph.chunks)]
    if budget == 400:
        assert graph.entities and graph.relations and graph.chunks
