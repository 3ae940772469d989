"""The skeleton: the graph of the pieces against a plain loop, the core and its chunks by hand, what an engine says of
them merged, and builds that are stopped or changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import networkx as nx
import numpy as np
import pytest
from extracting import Extractor
from hypothesis import given
from hypothesis import strategies as st
from tiny import TinyEncoder, tiny_dataset

from workbench import tokens
from workbench.data import Dataset
from workbench.index import Index, journal
from workbench.index.keywords import sentences, stop_words
from workbench.index.skeleton import building
from workbench.records import ContextEntity, ContextRelation, Passage
from workbench.rules import rule_for
from workbench.steps import summarising
from workbench.steps.graph_records import END, FIELD, RECORD, EntityRecord, Output, RelationRecord

DATA = replace(tiny_dataset(), extractions=None)


def entity(*fields) -> str:
    return "(" + FIELD.join(("entity", *fields)) + ")"


def relation(*fields) -> str:
    return "(" + FIELD.join(("relationship", *map(str, fields))) + ")"


def said(*records: str) -> str:
    return f"\n{RECORD}\n".join(records) + END


def _reply(value) -> str:
    """Each line of a chunk is a place near Meridian."""
    lines = [line for line in value.text.splitlines() if line.strip()]
    return said(*(record for n, line in enumerate(lines) for record in (
        entity(line[:20], "geo", f"Line {n}."), relation(line[:20], "Meridian", f"So says {line}", 2),
        entity("Meridian", "geo", f"It has {line}"),
    )))  # fmt: skip


Model = partial(Extractor, _reply)  # what it says of a chunk, unless it is told to say something else


def build(folder, engine=None, data=DATA, cut=None, **chosen) -> Index:
    return Index.build(
        data, engine, folder, encoder=TinyEncoder(), layers=["skeleton"], progress=False,
        settings={"skeleton": chosen, "pieces": cut or {}},
    )  # fmt: skip


def corpus(*texts: str, titles: Sequence[str] = ()) -> Dataset:
    titles = titles or [""] * len(texts)
    return Dataset("made", tuple(Passage(f"p{n}", title, text) for n, (title, text) in enumerate(zip(titles, texts))))


# -- the graph of the pieces ------------------------------------------------------------------------------------------


def naive(texts: Sequence[str], vectors: np.ndarray, k: int) -> set[tuple[int, int]]:
    """Every pair compared with every other, as the source does."""
    bags = [
        {word.lower() for part in split for word in part if word.isalpha()} - stop_words() for split in sentences(texts)
    ]
    edges = set()
    for one in range(len(texts)):
        others = [other for other in range(len(texts)) if other != one]
        shared = {other: len(bags[one] & bags[other]) for other in others}
        cosine = {other: round(float(vectors[one] @ vectors[other]), 5) for other in others}
        nearest = [other for other in sorted(others, key=lambda o: -shared[o])[:k] if shared[other]]
        edges |= {(one, other) for other in nearest + sorted(others, key=lambda o: -cosine[o])[:k]}
    return {(min(pair), max(pair)) for pair in edges}


WORDS = ["fog", "Fog", "boat", "lake", "the", "mill", "x1", "Orsby", "river", "2"]
texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


@given(st.lists(texts, min_size=1, max_size=9), st.integers(1, 3))
def test_the_graph_is_that_of_a_plain_loop(pieces, k):
    vectors = TinyEncoder().encode(pieces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "CELLS", 2 * len(pieces))  # several blocks
        patch.setattr(building, "DIGITS", 5)  # the loop adds up in another order
        graph = building.graph(pieces, vectors, k)
    found = {(int(a), int(b)) for a, b in zip(*graph.nonzero())}
    assert {(a, b) for a, b in found if a < b} == naive(pieces, vectors, k)
    assert all((b, a) in found and a != b for a, b in found) and set(graph.data) <= {1.0}


# -- the core ---------------------------------------------------------------------------------------------------------


def test_pagerank_chooses_the_central_pieces_and_the_earlier_of_equals():
    star = nx.star_graph(4)  # 0 in the middle
    star.add_edge(5, 6)
    graph = nx.to_scipy_sparse_array(star, nodelist=range(7), dtype=float)
    ranks = nx.pagerank(star, 0.85, max_iter=1000, tol=1e-12)
    assert ranks[0] > ranks[5] > ranks[1]
    assert building.by_pagerank(graph, 3, 0.85) == [0, 5, 6] and building.by_pagerank(graph, 5, 0.85) == [0, 1, 2, 5, 6]
    assert building.by_pagerank(graph, 0, 0.85) == [] and building.by_pagerank(graph, 7, 0.85) == list(range(7))


def test_the_share_is_rounded_down_and_all_is_the_whole_stream(tmp_path):
    cut = {"chunk_tokens": 8, "chunk_overlap": 2, "piece_tokens": 3}
    for beta, selection, expected in ((1, "pagerank", 1), (1, "uniform", 1), (0.8, "pagerank", 0.8), (0, "uniform", 0)):
        index = build(tmp_path / f"{beta}{selection}", beta=beta, selection=selection, merge_tokens=7, cut=cut)
        pieces, layer = index.pieces, index.skeleton
        assert len(layer.core) == int(expected * len(pieces.pieces)) and sorted(layer.core) == layer.core.tolist()
        stream = "".join(pieces.pieces[row].text for row in layer.core)
        assert "".join(chunk.text for chunk in layer.chunks) == stream
        assert "".join(unit.text for unit in layer.units) == stream
        assert all(tokens.count(chunk.text) <= 8 for chunk in layer.chunks)  # a border costs a token at most
    assert not layer.entities and not layer.relations and layer.entity_units.shape == (0, 0)


def test_pieces_are_merged_greedily():
    sizes = [100, 60, 50, 40, 300, 90]
    assert building.merged([0, 1, 2, 3, 4, 5], sizes, 150) == [(0,), (1, 2, 3), (4,), (5,)]
    assert building.merged([0, 2, 5], sizes, 150) == [(0, 2), (5,)] and building.merged([], sizes, 150) == []
    assert building.merged([0, 1], sizes, 0) == [(0,), (1,)]


# -- merging ----------------------------------------------------------------------------------------------------------


def test_the_graph_is_undirected_and_its_names_upper_case():
    nodes, edges = building.merge([
        (0, Output(
            entities=[EntityRecord(name="Orsby", type="geo", description="A town."),
                      EntityRecord(name=" ash &amp;\x00 sons", type="", description="")],
            relationships=[RelationRecord(source="Orsby", target="Nora", description="She founded it.", strength=3)],
        )),
        (2, Output(
            entities=[EntityRecord(name="NORA", type="person", description="A founder."),
                      EntityRecord(name="orsby", type="event", description="A town."),
                      EntityRecord(name="\x00", type="geo", description="Nothing.")],
            relationships=[RelationRecord(source="nora", target="orsby", description="Born there.", strength=2),
                           RelationRecord(source="Quell", target="QUELL", description="Itself.", strength=2),
                           RelationRecord(source="Ash & Sons", target="Nora", description="", strength=1)],
        )),
    ])  # fmt: skip
    assert [(n.name, n.type, list(n.descriptions), list(n.chunks)) for n in nodes] == [
        ("ORSBY", "GEO", ["A town."], [0, 2]), ("ASH & SONS", "", [], [0, 2]),
        ("NORA", "PERSON", ["A founder."], [0, 2]),
    ]  # fmt: skip
    assert [(e.source, e.target, e.weight, list(e.descriptions), list(e.chunks)) for e in edges] == [
        ("ORSBY", "NORA", 5, ["She founded it.", "Born there."], [0, 2]), ("ASH & SONS", "NORA", 1, [], [2]),
    ]  # fmt: skip


def test_two_chunks_worked_out_by_hand(tmp_path):
    says = {
        "fog": said(entity("Orsby", "geo", "A town."), entity("Nora", "person", "Its founder."),
                    relation("Orsby", "Nora", "She founded it.", 3), relation("Nora", "Tarn", "She left it.", "x")),
        "rain": said(entity("ORSBY", "event", "A fair."), entity("Nora", "person", "Its founder."),
                     relation("nora", "orsby", "She founded it.", 4)),
    }  # fmt: skip
    model = Model(says=says)
    data = corpus("fog over Orsby and Nora", "rain here", "rain on Nora in Orsby")
    index = build(tmp_path, model, data, beta=1, merge_tokens=7, unit_tokens=4)
    layer = index.skeleton
    assert [one.text for one in model.asked] == ["fog over Orsby and Nora", "rain here", "rain on Nora in Orsby"]
    assert layer.entities == [
        ContextEntity("ORSBY", "2 of ORSBY", 0, 1), ContextEntity("NORA", "Its founder.", 1, 2),
        ContextEntity("TARN", "", 2, 1),
    ]  # fmt: skip
    assert layer.types == ["GEO", "PERSON", ""] and layer.row == {"ORSBY": 0, "NORA": 1, "TARN": 2}
    assert layer.relations == [
        # the second chunk says so too, but its passage names neither end
        ContextRelation("ORSBY", "NORA", "She founded it.", 11.0, 0, 3, None, ("p0", "p2")),
        ContextRelation("NORA", "TARN", "She left it.", 1.0, 1, 3, None, ("p0",)),
    ]
    assert [value.fragments for value in model.fused] == [("A fair.", "A town.")]
    said_of_orsby = TinyEncoder().encode(["ORSBY:2 of ORSBY"])[0]
    assert np.allclose(layer.entity_vectors[0], said_of_orsby)
    assert [unit.id for unit in layer.units] == ["0_0", "0_1", "1_0", "2_0", "2_1"]
    assert layer.entity_units.toarray().tolist() == [[1] * 5, [1] * 5, [1, 1, 0, 0, 0]]
    assert layer.relation_units.toarray().tolist() == [[1] * 5, [1, 1, 0, 0, 0]]
    counts = {"failures": 0, "extracted": 3, "fused": 1, "core": 3, "chunks": 3, "entities": 3, "relations": 2}
    assert counts.items() <= layer.metadata.items()
    assert Index.open(tmp_path).skeleton.relations == layer.relations


def test_long_descriptions_are_fused_in_batches_that_take_up_what_came_of_the_last(monkeypatch, tmp_path):
    monkeypatch.setattr(building, "WINDOW", 3)
    model = Model()
    fused = journal.StepJournal(tmp_path, "fused.jsonl", model, summarising.FUSE, None)
    things = [("X", "entity", ("a", "b", "c", "d", "e")), ("Y", "entity", ())]
    described = building.descriptions(fused, [summarising.Fragments(*thing) for thing in things])
    assert described == ["2 of X", ""]
    batches = [value.fragments for value in model.fused]
    assert batches[:2] == [("a", "b", "c"), ("3 of X", "d")] and batches[-1] == ("2 of X", "e")


def test_the_rules_put_descriptions_together_within_500_tokens():
    value = summarising.Fragments("X", "entity", tuple(f"It has {n} mills on the river." for n in range(200)), 500)
    (output,) = rule_for(summarising.FUSE)([value])
    assert 480 < tokens.count(output.description) <= 500
    assert "At most 375 words" in summarising.FUSE.prompt(value)[0]["content"]


def test_a_relation_is_stated_where_its_ends_are_named(tmp_path):
    data = corpus("Orsby met Nora in the fog over the lake.", "Nora slept.", "Fog and rain.", titles=["", "Orsby", ""])
    index = build(tmp_path, data=data, beta=1, merge_tokens=6, cut={"piece_tokens": 6})
    held = [(row,) for row in range(len(index.pieces.pieces))]
    stating = building.Stating(held, index.pieces, data.passages)
    assert index.pieces.passage.tolist() == [0, 0, 1, 1, 2]  # the second piece of the first passage names neither end

    def stated(source, target):
        return stating(building.Edge(source, target, chunks=dict.fromkeys(range(len(held)))))

    assert stated("ORSBY", "NORA") == ("p0", "p1")  # of the second, one stands in the title
    assert stated("RAIN", "NORA") == ("p0", "p1", "p2")  # each names one
    assert stated("SLEEP", "AN") == ("p0", "p1", "p2")  # none names any: parts of words do not count


# -- what cannot be fused ---------------------------------------------------------------------------------------------


def test_a_description_that_cannot_be_fused_keeps_its_fragments(tmp_path):
    says = {"fog": said(entity("X", "geo", "One.")), "rain": said(entity("X", "geo", "Another."))}
    data, chosen = corpus("fog", "rain"), {"beta": 1, "merge_tokens": 1}
    layer = build(tmp_path, Model(says=says, fails_on=["X"]), data, **chosen).skeleton
    assert layer.entities[0].description == "Another.\nOne." and layer.metadata["failures"] == 1
    assert build(tmp_path, Model(says=says), data, **chosen).skeleton.entities[0].description == "2 of X"
