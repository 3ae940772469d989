"""What `test_views` asks of the records holds for everything else that shows itself."""

from __future__ import annotations

import re
from html import unescape

import numpy as np
import pytest
from hypothesis import given
from test_dot_views import things as dots_and_their_parts
from test_steering_views import told_of
from test_views import HOSTILE, UNSHOWABLE, Checked, hostile
from tiny import TinyEncoder

import workbench as wb
from workbench.data import Dataset, Extraction
from workbench.data.origin import Origin, SourceFile
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.data.registry import Catalogue, Known
from workbench.data.sources.entry import Entry
from workbench.evaluation.estimate import Cost, Estimate, exactly
from workbench.operators.checkup import Checkup, Components, Hub
from workbench.operators.neighbourhood import Edge, Node, Subgraph
from workbench.operators.node_details import NodeDetails
from workbench.records import Entity, Passage, Triple, ranked
from workbench.views import html

CONTROL = "\x1b[2J\x00\x07\r\x9b31m\u202e\u2028\ud800"
COUNTS = ("passages", "phrases", "facts", "synonyms")


def subgraph_of(text: str, n: int = 3) -> Subgraph:
    """A star around a passage, with an edge of each kind."""
    nodes = tuple(Node(row, "phrase" if row else "passage", text, text, min(row, 1), 3, row / 10) for row in range(n))
    kinds = ("relation", "synonym", "context")
    edges = tuple(Edge(0, at, kinds[at % 3], 1.0, text, (0,)) for at in range(1, n))
    return Subgraph(text, nodes, edges, 7)


def things(text: str) -> list:
    """One of each, with the text in every field that takes one."""
    triple, passage = Triple(text, text, text, (text,)), Passage(text, text, text)
    entity, relation = (
        EntityProfile(text, text, text, (text,)),
        RelationProfile(text, text, text, (text,), 0.5, (text,)),
    )
    known = Known(text, text, 1, None, None, text, text, text, ("short",))  # short names are our own
    return [
        NodeDetails(text, "phrase", 3, (triple,), ranked([Entity(text)], [0.9]), (passage,), (1, 1, 1)),
        Checkup(
            text, dict.fromkeys(COUNTS, 1), (Hub(text, 1.0, 0.5, 2, 3),), (Components(text, 1, 0.5),), (text,), (text,)
        ),
        Subgraph(text, (), ()),
        Origin(text, {text: text}, (SourceFile(text, "0" * 64, text),), ((text, text),), (text,)),
        SourceFile(text, "0" * 64, text),
        Catalogue((known,)),
        known,
        Entry(text, text, (), print, text, text, text, note=text),
        Estimate(text, text, (Cost(text, text, exactly(1), seconds=None),), (text,), (text,)),
        Estimate(text, "rules", ()),
        entity,
        relation,
        Profiles((entity,), (relation,)),
        told_of(text),
        *dots_and_their_parts(text),
    ]  # fmt: skip


@given(hostile)
def test_no_text_is_acted_upon(text):
    for thing in things(text):
        shown = thing._repr_html_()
        Checked(shown)
        assert not UNSHOWABLE.search(shown)


def test_a_terminal_gets_no_control_characters():
    assert not [thing for thing in things(CONTROL) if UNSHOWABLE.search(repr(thing))]


@pytest.mark.parametrize("letter", ["a", "<", "\n", "東"])
def test_a_text_of_100_kb_stays_small(letter):
    for thing in things(letter * 100_000):
        shown = thing._repr_html_()
        Checked(shown)
        most = 60_000 if "Dots" in type(thing).__name__ else 30_000  # four iterations
        assert len(unescape(shown)) < most and len(repr(thing)) < 10_000, type(thing)


# -- what an index gives --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hostile_index(tmp_path_factory):
    """Every hostile text as title, text and id of a passage, and between words of a name."""
    texts = [text.replace("\ud800", "?") for text in HOSTILE]
    passages = tuple(Passage(f"{at} {text}", text, text) for at, text in enumerate(texts))
    extractions = tuple(
        Extraction(passage.id, (), ((f"one {text}", text, f"{text} {at}"), (f"{text} {at}", text, "one")), "by hand")
        for at, (passage, text) in enumerate(zip(passages, texts))
    )
    data = Dataset("hostile", passages, (), extractions)
    return wb.Index.build(
        data, None, tmp_path_factory.mktemp("hostile"), encoder=TinyEncoder(),
        settings={"facts": {"normalise": "ascii"}}, progress=False,
    )  # fmt: skip


def test_details_check_ups_and_walks_of_a_hostile_index_act_upon_nothing(hostile_index):
    shown = [wb.node_details(hostile_index, row) for row in range(hostile_index.graph.nodes)]
    shown += [wb.checkup(hostile_index), Profiles()]
    for text in HOSTILE:
        for spec in ("hipporag2[filter=identity]", "hipporag2"):
            shown.append(wb.method(spec, hostile_index).walk_distribution(text))
    for thing in shown:
        Checked(thing._repr_html_())
        assert not UNSHOWABLE.search(repr(thing) + thing._repr_html_())


def test_a_spread_without_a_walk_says_why(tiny_index):
    walk = wb.method("hipporag2[filter=identity]", tiny_index).walk_distribution("Where is Orsby?")
    assert "seed weight" in html(walk) and "super hubs (" in repr(walk)
    none = type(walk)(tiny_index, "<b>", "<i>", [], [], np.zeros(8), None, "the <reason>")
    assert "no walk: the &lt;reason&gt;" in html(none)
    assert "no walk: the <reason>" in repr(none)
    Checked(html(none))


def test_details_say_what_is_left_out(tiny_index):
    details = wb.node_details(tiny_index, "orsby", limit=1)
    shown = " ".join(Checked(html(details)).shown)
    for words in ("7 neighbours", "4 passages, the first 1", "4 facts, the first 1", "Nora Whitlock — ", "born in"):
        assert words in shown
    assert "synonyms" not in shown  # it has none
    assert repr(details).startswith("Orsby phrase 7 neighbours\n  4 passages, the first 1\n")


def test_a_check_up_shows_counts_shares_and_warnings(tiny_index):
    found = wb.checkup(tiny_index)
    shown = " ".join(Checked(html(found)).shown)
    for words in ("3 to look at", "tiny", "85,288", "23.04%", "orsby", "p8 …", "12.5%"):
        assert words in shown
    assert re.search(r"median degree of a phrase +3\n", repr(found))
