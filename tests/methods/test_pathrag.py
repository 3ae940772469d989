"""PathRAG: its two sides, the paths between entities, their order, by hand on a small film graph."""

from __future__ import annotations

import pytest
from films import Saying, film_index

import workbench as wb
from workbench import tokens

QUESTION = "which films of the director of Dune Fever are dramas, and who wrote them"
COSINES = {
    **{f"text of p{at}": 0.1 * at for at in range(1, 8)},
    "Salt directed_by Ada Lind": 0.9,
    "Rust has_genre Drama": 0.8,
    "directed_by": 0.1, "written_by": 0.1, "has_genre": 0.1, "remake_of": 1.0,
    "about Dune Fever": 0.9,
    "about Bo Dahl": 0.5,
    "about Salt": 0.3,
    "about Rust": 0.1,
}  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return film_index(tmp_path_factory.mktemp("films"), COSINES)


def found(index, high=("h",), low=("l",), k=20, **settings):
    return wb.method("pathrag", index, Saying(high, low), **settings).retrieve(QUESTION, k=k)


def test_paths_between_the_entities_found_best_first(index):
    """Found: Dune Fever, Bo Dahl, Salt. Bo Dahl leads to Dune Fever over Salt alone (1), which has two ways on (0.8 / 2
    = 0.4 each, more than 0.3), each of one successor (0.4 · 0.8 = 0.32)."""
    evidence = found(index)
    assert [(path.nodes, round(score, 4)) for path, score in evidence.paths] == [
        (("Bo Dahl", "Salt"), 1.0),
        (("Bo Dahl", "Salt", "Ada Lind", "Dune Fever"), round((1 + 0.4 + 0.32) / 3, 4)),
        (("Bo Dahl", "Salt", "Drama", "Dune Fever"), round((1 + 0.4 + 0.32) / 3, 4)),
        (("Dune Fever", "Ada Lind", "Salt"), 0.45),
        (("Dune Fever", "Drama", "Salt"), 0.45),
    ]
    assert evidence.paths[1].item.relations == ("written_by⁻¹", "directed_by", "directed_by⁻¹ / written_by⁻¹")
    assert evidence.paths[0].item.passages == ("p2", "p6")
    for settings, bounded in (({}, 0), ({"limit": 1}, 4)):
        (event,) = found(index, **settings).trace.find("paths")
        assert event.outputs["simple_paths"] == [2, 4, 4] and event.outputs["bounded_pairs"] == bounded
    apart = found(index, top_k=2, hops=2)  # Dune Fever and Bo Dahl, three edges apart, are still shown
    assert apart.paths == () and apart.nodes[:2] == ["Dune Fever", "Bo Dahl"]


def test_the_paper_s_form_scores_them_by_resources(index):
    """Bo Dahl 1, Salt 0.8: 1.8. Dune Fever 1, Ada Lind and Drama 0.4 each, Salt 0.64: (1 + 0.4 + 0.64) / 2."""
    paths = {path.nodes: score for path, score in found(index, profile="paper").paths}
    assert paths["Bo Dahl", "Salt"] == pytest.approx(1.8)
    assert paths["Dune Fever", "Drama", "Salt"] == pytest.approx(1.02)


def test_the_best_path_stands_last_before_the_question(index):
    """In the code's words, with the descriptions of the entities; edges that no path has are in the table."""
    context = wb.reader("structured[layout=tables]").context(found(index)).text
    best = "Bo Dahl is a person (about Bo Dahl). Between Bo Dahl and Salt there is an edge (written_by). Salt is a"
    assert context.rstrip("`\n").endswith(f"1,{best} movie (about Salt).")
    assert context.index("5,Dune Fever is") < context.index(f"3,{best}") < context.index(f"1,{best}")
    assert "id,source,relation,target,description\n1,Salt,directed_by,Ada Lind,Salt directed_by Ada Lind\n" in context


def test_the_context_holds_both_levels(index):
    evidence = found(index)
    # Entities: those found, those of the paths, those of the high level. Relations: of the high level, by rank.
    assert evidence.nodes == ["Dune Fever", "Bo Dahl", "Salt", "Ada Lind", "Drama", "Rust"]
    assert [fact.members for fact, _ in evidence.facts] == [
        ("Salt", "directed_by", "Ada Lind"), ("Rust", "has_genre", "Drama"),
    ]  # fmt: skip
    # Passages: of the high level by relation, then of the entities found.
    assert [name for name, _ in evidence.ranking] == ["p2", "p5", "p3", "p7", "p1", "p6"]
    assert evidence.scale == "1/rank" and evidence.fallback is None


def test_paths_are_cut_by_their_words_best_first(index):
    method = wb.method("pathrag", index, Saying(("h",), ("l",)))
    row = index.typed.row
    told = method.text((row["Dune Fever"], row["Ada Lind"], row["Salt"]))
    assert told == (
        "Dune Fever is a movie (about Dune Fever). Between Dune Fever and Ada Lind there is an edge (directed_by, "
        "written_by). Ada Lind is a person (about Ada Lind). Ada Lind is a person (about Ada Lind). Between Ada Lind "
        "and Salt there is an edge (directed_by). Salt is a movie (about Salt)."
    )
    first = tokens.count(method.text((row["Bo Dahl"], row["Salt"])))
    evidence = found(index, local_tokens=first)
    assert [path.nodes for path, _ in evidence.paths] == [("Bo Dahl", "Salt")]
    (event,) = evidence.trace.find("paths")
    assert event.outputs["kept"] == 5 and event.outputs["told"] == 1


def test_both_levels_need_keywords(index):
    for high, low, missing in (((), ("l",), "high"), (("h",), (), "low")):
        evidence = found(index, high, low)
        assert (evidence.passages, evidence.entities, evidence.paths) == ((), (), ())
        assert evidence.fallback == f"nothing is retrieved: the question has no {missing}-level keywords"
    assert "no JSON" in wb.method("pathrag", index, Saying(failure="no JSON")).retrieve(QUESTION).fallback


def test_a_high_level_that_finds_nothing_is_an_empty_block(index, tmp_path):
    evidence = found(index, least=0.3, high=("h",), top_k=3)
    assert evidence.facts
    alone = wb.method(
        "pathrag", film_index(tmp_path, {"about Salt": 0.9, "about Bo": 0.9}),
        Saying(("h",), ("l",)),
    ).retrieve(QUESTION)  # fmt: skip
    assert alone.facts == () and alone.fallback is None
    assert [path.nodes for path, _ in alone.paths] == [("Bo Dahl", "Salt")]
    assert [name for name, _ in alone.ranking] == ["p6", "p2"]
