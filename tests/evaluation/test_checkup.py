"""The check-up: numbers by hand on the tiny index, each warning from a small index that differs from a sound one."""

from __future__ import annotations

import math
import re

import pytest
from small import index_of
from tiny import TinyEncoder, TinyEngine

import workbench as wb
from workbench.data import Dataset, Extraction
from workbench.index import Index
from workbench.operators.checkup import checkup, published
from workbench.records import Passage

CLOSE = 5 / 35**0.5  # cosine of `a b c d` and `b c d`


@pytest.fixture
def tiny_checkup(tiny_index):
    return wb.checkup(tiny_index)


def test_the_numbers_of_the_tiny_index(tiny_checkup):
    strength = 14 + 12 + 8 + 6 + 2 * (3 + 2 * CLOSE) + 3 + 3 + 2 * (1 + 2 * CLOSE)
    assert tiny_checkup.measured == pytest.approx(
        {
            "passages": 8,
            "phrases": 10,
            "facts": 10,
            "synonyms": 4,  # two pairs, each found from both sides
            "relation pairs": 7,
            "synonym pairs": 2,
            "context pairs": 18,
            "synonym share of edges": 2 / 27,
            "median degree of a phrase": 3,  # 2 2 2 2 3 3 3 4 6 7
            "highest degree of a phrase": 7,
            "strength on the top 1 % of phrases": 14 / strength,  # orsby alone
            "passages without a fact": 1 / 8,
            "phrases in one passage only": 6 / 10,  # all but the lake, Nora, Orsby and the river
            "phrases joined to no other by a fact": 0,
            "phrases that are pronouns": 0,
            "phrases of more than 12 words": 0,
        }
    )
    assert tiny_checkup.isolated == ("p8",)
    hub = tiny_checkup.hubs[0]
    assert (hub.phrase, hub.strength, hub.degree, hub.passages) == ("orsby", 14, 7, 4)
    assert hub.share == pytest.approx(14 / strength)
    assert [hub.phrase for hub in tiny_checkup.hubs[:4]] == ["orsby", "river aldra", "lake mira", "nora whitlock"]


def test_beside_published_graphs(tiny_checkup):
    frame = tiny_checkup.beside_published()
    ours = frame.iloc[0]
    assert (ours["graph"], ours["source"], ours["facts_per_passage"]) == ("tiny", "this index", 10 / 8)
    assert (ours["phrases_per_passage"], ours["synonyms_per_phrase"]) == (10 / 8, 4 / 10)
    assert len(frame) == 1 + len(published())
    released = frame[frame["graph"].str.contains("Llama")].iloc[0]
    assert released["facts_per_passage"] == pytest.approx(140_830 / 11_656)
    assert frame["facts_per_passage"].map(math.isnan).sum() == 1  # the paper does not say it of GPT-4o-mini


def test_published_counts_are_those_of_the_paper(shared):
    said = (shared / "spec" / "hipporag2_catrag.md").read_text().partition("## A4.")[2].partition("## A5.")[0]
    numbers = {int(number.replace(",", "")) for number in re.findall(r"\d{1,3}(?:,\d{3})+", said)}
    paper = published()[published()["source"].str.contains("arXiv 2502.14802")]
    counts = [int(value) for value in paper.iloc[:, 2:].to_numpy().ravel() if not math.isnan(value)]
    assert len(counts) == 6
    assert set(counts) <= numbers


# -- warnings -------------------------------------------------------------------------------------------------------

N = 40


def name(i: int, of: int = N) -> str:
    return f"north{i % of} south{i % of}"


def sound(passages: int = N, offsets=(1, 7, 13, 17), of: int = N) -> dict[str, list[tuple[str, str, str]]]:
    """A ring with chords: every name is as strong as any other."""
    return {
        f"passage {i}": [(name(i, of), "is near", name(i + offset, of)) for offset in offsets] for i in range(passages)
    }


def renamed(new: dict[int, str]) -> dict[str, list[tuple[str, str, str]]]:
    names = {name(i): text for i, text in new.items()}
    return {
        passage: [(names.get(subject, subject), relation, names.get(obj, obj)) for subject, relation, obj in triples]
        for passage, triples in sound().items()
    }


def halves() -> dict[str, list[tuple[str, str, str]]]:
    return {
        f"passage {i}": [(name(i), "is near", name(i // 20 * 20 + (i + offset) % 20)) for offset in (1, 3, 5, 7)]
        for i in range(N)
    }


ALIKE = {
    f"passage {i}": [(f"the old town {i}", "is near", f"the old town {(i + j) % 160}") for j in (1, 7, 13)]
    for i in range(160)
}
# Chinese letters are sorted behind all others, and of equal hubs the first ones are listed.
KING = {**renamed({0: "王"}), "one more": [("王", "is near", name(20))]}
CLAUSES = {i: " ".join(f"word{i}and{j}" for j in range(13)) for i in range(6)}
UNSOUND = [
    ("nothing in facts", {"a": [], "b": []}, {}),
    ("7% of the passages state no fact", {**sound(), "x": [], "y": [], "z": []}, {}),
    ("2.0 facts a passage", sound(offsets=(1, 7)), {}),
    ("% of the edges are synonyms", ALIKE, {"threshold": 0.5, "cap": 1000}),
    ("'everywhere' alone has", {p: [*t, (t[0][0], "is", "everywhere")] for p, t in sound().items()}, {}),
    ("'ab' among the hubs", renamed({0: "ab"}), {}),
    ("'王' among the hubs", KING, {}),
    ("holds 50% of the nodes, in 2 parts", halves(), {}),
    ("Pronouns are nodes", renamed({0: "They"}), {}),
    ("15% of the phrases have more than 12 words", renamed(CLAUSES), {}),
]


def test_of_a_sound_index_nothing_is_said(tmp_path):
    found = checkup(index_of(tmp_path, sound()))
    assert found.warnings == ()
    assert found.isolated == ()
    assert "nothing looks wrong" in repr(found)


@pytest.mark.parametrize(("said", "stated", "synonyms"), UNSOUND, ids=[said for said, *_ in UNSOUND])
def test_each_fault_is_said_and_nothing_else(tmp_path, said, stated, synonyms):
    (warning,) = checkup(index_of(tmp_path, stated, **synonyms)).warnings
    assert said in warning


def test_what_could_not_be_extracted_is_said(tmp_path):
    passages = tuple(Passage(title, title, "") for title in [*sound(), "unread"])
    extractions = tuple(Extraction(title, (), tuple(triples), "by hand") for title, triples in sound().items())
    engine = TinyEngine(fails_on=["unread"])
    index = Index.build(
        Dataset("small", passages, (), extractions), engine, tmp_path, encoder=TinyEncoder(), progress=False
    )
    (warning,) = checkup(index).warnings
    assert warning.startswith(f"extractions: 1 of {len(passages)} passages failed")
    assert checkup(index).isolated == ("unread",)


def test_the_bundled_corpus_has_none_of_the_serious_faults(meridian_index):
    warnings = " ".join(checkup(meridian_index).warnings)
    for fault in ("nothing in", "extractions:", "synonyms; facts", "among the hubs", "connected part", "Pronouns"):
        assert fault not in warnings


def test_an_index_of_one_bare_passage_is_looked_at_too(tmp_path):
    found = checkup(index_of(tmp_path, {"a": []}))
    assert found.measured["phrases"] == 0 and found.measured["passages without a fact"] == 1
    assert (found.hubs, found.isolated) == ((), ("a",))
    assert found.components[-1] == ("all edges, with passages", 1, 1.0)
    assert not any(math.isnan(value) for value in found.measured.values())
