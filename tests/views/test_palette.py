"""One colour for a type, in every picture of an index; colours that colour-blind readers tell apart."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from dot_traces import dot_trace
from matplotlib.colors import to_hex
from sight import XYZ, contrast, linear
from steered import ASKED, QUESTION, SPEC, Rater, hub_index

import workbench as wb
from workbench.data import Dataset
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.index import Index
from workbench.llm.engine import RulesEngine
from workbench.methods.catrag.steering import staged
from workbench.methods.dotrag.dots import dots
from workbench.methods.gfm_rag.passing import LinkedEntities, PassedLayer, Passing, RankedEntities
from workbench.operators.knowledge_tree import KnowledgeTree
from workbench.operators.neighbourhood import neighbourhood
from workbench.operators.types import types_of
from workbench.operators.walk_distribution import walk_subgraph
from workbench.records import Binding, Match, Pattern, Proof, Triple
from workbench.views.dots import dot_drawing
from workbench.views.drawing import drawing_data
from workbench.views.figures import drawing_figure
from workbench.views.node_details import NODES, graph_drawing
from workbench.views.palette import GREY, ORANGE, THEMES, TYPE_SHAPES, TYPES, VERMILION, type_marks
from workbench.views.passing import passing_drawing
from workbench.views.proofs import proof_drawing
from workbench.views.steering import steered_drawing
from workbench.views.tree_map import entity_map

# How much of each linear colour a reader sees (Machado, Oliveira and Fernandes 2009, severity 1).
SIGHT = {
    "usual": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def lab(colour: str, sight) -> np.ndarray:
    seen = XYZ @ np.clip(np.array(sight) @ linear(colour), 0, 1) / np.array([0.95047, 1, 1.08883])
    f = np.where(seen > 0.008856, np.cbrt(seen), 7.787 * seen + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("sight", SIGHT)
def test_colours_stay_apart_for_every_reader(sight):
    """2.3 is a just noticeable difference (CIE 1976)."""
    for one, other in combinations((*TYPES, ORANGE, VERMILION), 2):
        assert np.linalg.norm(lab(one, SIGHT[sight]) - lab(other, SIGHT[sight])) > 15, (one, other)
    for colour in TYPES:
        assert np.linalg.norm(lab(colour, SIGHT[sight]) - lab(GREY, SIGHT[sight])) > 10, colour


@pytest.mark.parametrize("theme", THEMES)
def test_every_mark_or_its_rim_stands_out_from_the_paper(theme):
    for colour in TYPES:
        assert max(contrast(colour, THEMES[theme].paper), contrast("#888888", THEMES[theme].paper)) > 3


def test_the_most_frequent_types_have_colours_of_their_own_and_the_rest_is_grey():
    names = [f"type {at}" for at in range(30)]
    marks = type_marks(names)
    assert len({marks[name][0] for name in names[: len(TYPES)]}) == len(TYPES)
    assert {marks[name][0] for name in names[len(TYPES) :]} == {GREY}
    assert {shape for _, shape in marks.values()} == set(TYPE_SHAPES) and "square" not in TYPE_SHAPES
    assert type_marks([]) == {} and not {ORANGE, VERMILION, GREY} & set(TYPES)


def test_a_type_keeps_its_colour_when_rarer_ones_come():
    names = ["person", "place", "ship", "\ud800"]
    assert {name: type_marks([*names, "lake", "law"])[name] for name in names} == type_marks(names)
    assert type_marks(["ship", "ship", "person"]).keys() == {"ship", "person"}


# -- all pictures of one index -----------------------------------------------------------------------------------------

# Names of the graph of `steered`, and some of the trace of `dot_traces`.
KINDS = {
    **{f"Show {at}": "programme" for at in range(8)}, "Glass Harbour": "programme", "Ilse": "person",
    "Ilse Varn": "person", "Kestrel": "station", "Tarn": "place", "Quell": "place", "Orsby": "place",
}  # fmt: skip


@pytest.fixture(scope="module")
def typed(tmp_path_factory) -> Index:
    """The graph of `steered`, with the types that both typed layers know."""
    base = hub_index(tmp_path_factory.mktemp("hub"))
    ids = [passage.id for passage in base.passages.passages]
    entities = tuple(EntityProfile(name, kind, name, (ids[0],)) for name, kind in KINDS.items())
    relations = tuple(RelationProfile("Kestrel", f"Show {at}", "", (), 1.0, (ids[0],), "broadcasts") for at in range(8))
    relations += (RelationProfile("Ilse", "Kestrel", "", (), 1.0, (ids[0],), "founded"),)
    profiles = Profiles(entities, relations)
    data = Dataset("hub", tuple(base.passages.passages), (), tuple(base.extractions.records), profiles=profiles)
    layers = ["facts", "synonyms", "typed", "schema_graph", "tree", "entity_summaries"]
    folder = tmp_path_factory.mktemp("typed")
    return Index.build(data, RulesEngine(), folder, encoder=base.encoder, layers=layers, progress=False)


def colours(drawing) -> dict[str, set[str]]:
    """Type → the colours of its nodes."""
    found: dict[str, set[str]] = {}
    for node in drawing.nodes:
        if node.type:
            found.setdefault(node.type, set()).add(node.style.colour)
    return found


def pictures(index: Index) -> dict[str, dict[str, set[str]]]:
    """Type → its colours, in each kind of picture that shows entities."""
    types = types_of(index)
    walk = staged(wb.method(SPEC, index, Rater(), k_edge=8), QUESTION, ASKED.support)
    match = Match(Pattern("Ilse", "founded", "?x"), Triple("Ilse", "founded", "Kestrel"), 1.0)
    proof = Proof(bindings=(Binding((), (match,), 1.0),))
    facts = [Triple("Kestrel", "broadcasts", "Show 1")]
    passing = Passing(
        "Q?", "gfm_rag", LinkedEntities(named=("ilse",), linked=(("ilse", "ilse", 1.0),), starts=(("ilse", 1.0),)),
        (PassedLayer(layer=0, reached=3, entities=(("ilse", 1.0), ("kestrel", 0.5), ("show 1", 0.2))),),
        RankedEntities(checkpoint="c", of=3, entities=(("kestrel", 1.0),)), None, (),
    )  # fmt: skip
    tree = KnowledgeTree(index)
    shown = entity_map(tree, tree.entity(tree.graph.row["Kestrel"]))
    return {
        "explorer": colours(graph_drawing(neighbourhood(index, "tarn", hops=3))),
        "walk": colours(graph_drawing(walk_subgraph(walk.parts[-1].walk))),
        "steering": colours(steered_drawing(walk, 3)),
        "DOT": colours(dot_drawing(dots(dot_trace()), types=types)),
        "proof": colours(proof_drawing(proof, facts, types=types)),
        "messages": colours(passing_drawing(passing, 0, types)),
        "tree": {style.name: {style.colour} for style in shown.node_styles[:-2]},
    }


def test_a_type_has_one_colour_in_every_picture_of_an_index(typed):
    marks = type_marks(types_of(typed).order)
    assert types_of(typed).order == ("programme", "place", "person", "station")
    assert len({colour for colour, _ in marks.values()}) == 4
    found = pictures(typed)
    for name, shown in found.items():
        of_index = {kind: seen for kind, seen in shown.items() if kind in marks}  # a trace may tell of others
        assert of_index, f"{name} shows no type of the index"
        assert of_index == {kind: {marks[kind][0]} for kind in of_index}, name
    assert {kind for shown in found.values() for kind in shown} >= set(marks)


def test_a_figure_has_the_colours_of_the_page(typed):
    drawing = graph_drawing(neighbourhood(typed, "kestrel", hops=2))
    data = drawing_data(drawing)
    sent = {node["id"]: data["looks"][node["s"]][0] for node in data["nodes"]}
    assert {node.id: node.style.colour for node in drawing.nodes} == sent
    axes = drawing_figure(drawing).figure.axes[0]
    printed = {to_hex(colour).upper() for points in axes.collections for colour in points.get_facecolors()}
    assert {colour.upper() for colour in sent.values()} <= printed
    legend = [entry["name"] for entry in drawing_data(drawing)["legend"]]
    assert {"programme", "place", "person", "station"} <= set(legend)


def test_without_types_roles_have_their_own_colours(tmp_path):
    drawing = graph_drawing(neighbourhood(hub_index(tmp_path), "kestrel"))
    colours = {style.colour for style in drawing.node_styles}
    assert drawing.types == () and colours == {NODES["phrase"].colour, ORANGE, GREY}, "grey: what is folded"
    assert not any(node.type for node in drawing.nodes)
