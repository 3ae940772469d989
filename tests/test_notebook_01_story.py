"""Notebook 01 without a browser: what it writes, what its page shows, and what its lesson checks."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import workbench as wb
from workbench.evaluation.endings import endings, example_of
from workbench.lessons import build_graph as lesson
from workbench.lessons.sentences import decided


def test_on_the_bundled_corpus(notebook):
    ran = notebook("01")
    assert ran.pictures() == {"01_ranking", "01_walk"}
    assert ran.tables() == {"01_checkup", "01_facts", "01_ranking", "01_retrieval", "01_walk"}
    assert ran.verdict["holds"] and len(ran.verdict["checks"]) == 7
    facts = ran.verdict["facts"]
    assert facts["hipporag2 all_gold@5"] > facts["dense all_gold@5"]
    says = " ".join(output["text"] for output in ran.outputs if output.get("name") == "stdout")
    assert "on rank 5, which is better; the reading ends in Stavering, which is right" in says
    assert "with facts: curated, by hand" in says and "with facts: rules" in says
    made = ran.page()
    assert "replies written by hand" in made and "no fact joins the ferry to the book" in made
    assert "Explorer of" not in made and "<iframe" in made  # a page has no kernel, so it shows the graph itself
    assert not re.search(r"<(script|link|img|iframe)\b[^>]*\b(src|href)=.https?:", made)


@pytest.fixture(scope="module")
def asked(tiny_built):
    """A question, its answer and both rankings."""
    rules, question = wb.engine("rules"), tiny_built[0].questions[0]
    ranked = [wb.method(spec, tiny_built[1], rules).retrieve(question.question) for spec in ("hipporag2", "dense")]
    return question, wb.reader("direct", rules).read(question.question, ranked[0]), *ranked


@pytest.fixture(scope="module")
def tiny_built(tmp_path_factory):
    from tiny import TinyEncoder, tiny_dataset

    data = tiny_dataset()
    folder = tmp_path_factory.mktemp("lesson") / "tiny"
    return data, wb.Index.build(data, None, folder, encoder=TinyEncoder(), progress=False)


def test_chroma_is_filled_filtered_and_held_against_exact_search(tiny_built):
    data, built = tiny_built
    nearest = lesson.facts_in_chroma(built, data.questions[0].question)
    vector = built.encode_query(data.questions[0].question, "facts")
    by_hand = sorted(zip(-(built.facts.fact_vectors @ vector), built.facts.facts))
    subject = by_hand[0][1][0]
    expected = [fact for _, fact in by_hand if fact[0] == subject][:5]
    assert [tuple(row) for row in nearest[["subject", "relation", "object"]].itertuples(index=False)] == expected
    assert nearest.cosine[0] == round(-float(by_hand[0][0]), 3)
    (relation, *_) = {fact[1] for fact in built.facts.facts}
    assert set(lesson.facts_in_chroma(built, "?", where={"relation": relation}).relation) == {relation}
    assert lesson.chroma_agreement(built, data.questions, k=3).mean == 1


def test_a_check_that_can_fail_fails(tiny_built, asked):
    _, built = tiny_built
    _, _, evidence, _ = asked
    checkup = wb.checkup(built)
    assert lesson.verdict("t", built, evidence, checkup).holds
    upside_down = replace(evidence, passages=evidence.passages[::-1])
    failed = [check.name for check in lesson.verdict("t", built, upside_down, checkup).checks if not check.holds]
    assert failed == ["scores fall along the ranking"]


@pytest.mark.parametrize(
    ("low", "high", "says"),
    [(0.01, 0.2, "The graph helped."), (-0.2, -0.01, "The graph did harm."), (-0.1, 0.1, "do not decide"),
     (float("nan"), float("nan"), "too few questions")],
)  # fmt: skip
def test_help_is_what_the_interval_says(low, high, says):
    assert says in lesson._GRAPH[decided({"low": low, "high": high})]


def test_a_configuration_that_ends_otherwise_is_found(meridian_curated):
    runner = wb.engine("worked")
    example = example_of(runner, "ferry")
    assert example_of(runner, example.question) is example and example_of(wb.engine("rules"), "ferry") is None
    example = replace(example, asks=example.asks[:1])
    found = endings(example, meridian_curated, runner)
    assert found.otherwise == () and "no fact joins the ferry to the book" in found._repr_html_()
    other = replace(found, example=replace(example, asks=(replace(example.asks[0], answer="Orsby"),)))
    assert len(other.otherwise) == 1
    assert "not Orsby, as was written" in repr(other) and "replies written by hand" in repr(other)
    checked = lesson.verdict("t", meridian_curated, wb.method("dense", meridian_curated).retrieve("Who?"),
                             wb.checkup(meridian_curated), fails=other)  # fmt: skip
    assert [check.name for check in checked.checks if not check.holds][-1] == "worked configurations that end otherwise"
