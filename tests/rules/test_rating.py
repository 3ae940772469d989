"""Ratings by rules: what tells, what leads on, what is beside the point."""

from __future__ import annotations

from workbench.rules.choosing import rate_neighbours
from workbench.rules.summarising import summarise_entity
from workbench.steps import summarising
from workbench.steps.rate_neighbours import Input, Neighbour

QUESTION = "In which province was the founder of the Korrel observatory born?"


def rated(question: str, entity: str, *neighbours: tuple[str, str, str]) -> list[tuple[int, str]]:
    """(score, reason) of neighbours, given as relation, name and context."""
    shown = tuple(Neighbour(name, ((entity, relation, name),), context) for relation, name, context in neighbours)
    return [(one.score, one.reason) for one in rate_neighbours(Input(question, (), entity, shown)).ratings]


def test_a_fact_that_tells_what_is_asked_is_a_step_on_the_way():
    (founder, lens, year, street, town) = rated(
        QUESTION,
        "korrel observatory",
        ("was established by", "Ada Lind", "Ada Lind was born in Vell. Vell is a province."),
        ("has", "a brass lens", "a brass lens is old."),
        ("was opened in", "1871", ""),
        ("stands in", "Mill Street", "Mill Street was the birthplace of a poet."),
        ("stands near the", "observatory", ""),
    )
    assert founder == (8, "tells of born, founder, province")
    assert lens == (4, "tells nothing that is asked")
    assert year == (2, "an amount or a date, which is not asked for")
    assert street == (5, "leads to born")
    assert town[0] == 4
    asked = rated("When was the Korrel observatory opened?", "korrel observatory", ("cost", "1871", ""))
    assert asked == [(4, "tells nothing that is asked")], "a date counts where one is asked for"
    (back,) = rated("Who founded Korrel, a town on the Tarn?", "ada lind", ("founded", "korrel", ""))
    assert back == (4, "the question names it")


def test_a_summary_states_the_facts_that_fit():
    facts = tuple(("vell", "has", f"village number {at}") for at in range(99))
    summary = summarise_entity(summarising.EntityInput("vell", facts, 30)).summary
    assert summary.startswith("vell has village number 0. vell has village number 1.") and len(summary) < 200
