"""Reports by rule: extracts that say what they are; points of reports that bear on a question."""

from __future__ import annotations

from workbench.rules import summarising as reporting
from workbench.steps import reporting as steps

RELATIONSHIPS = (("orsby", "aldra", "orsby lies on aldra"), ("orsby", "nora", "nora founded orsby!"))


def report(entities, relationships, reports, share):
    value = steps.Community("", tuple(entities), tuple(relationships), tuple(reports), share)
    return reporting.community_report(value)


def finding(summary, explanation):
    return steps.Finding(summary=summary, explanation=explanation)


def test_an_extract_names_the_best_connected_and_tells_each_fact_once():
    made = report((("orsby", ""), ("aldra", ""), ("nora", "")), RELATIONSHIPS, (), 0.25)
    assert made.title == "orsby, aldra, nora"
    assert made.summary == "orsby lies on aldra. nora founded orsby!"
    assert made.rating == 2.5 and made.rating_explanation.startswith("rules:")
    assert made.findings == []


def test_more_than_a_summary_holds_becomes_findings():
    many = [("hub", f"leaf{at}", f"hub likes leaf{at}") for at in range(12)]
    made = report((), many, (), 1.0)
    told = made.summary + " ".join(one.explanation for one in made.findings)
    assert made.findings[0] == finding("hub", " ".join(f"hub likes leaf{at}." for at in range(5, 10)))
    assert all(told.count(f"leaf{at}.") <= 1 for at in range(12))


def test_reports_on_parts_stand_for_them():
    made = report((), (), (("The harbour", "It is old."),), 0.0)
    assert made.title == "The harbour" and made.summary == "It includes The harbour."
    assert made.findings == [finding("The harbour", "It is old.")]
    assert report((("orsby", "a town"),), (), (), 0.0).summary == "orsby: a town."
    assert report((), (), (), 0.0).title == "a community without entities"


def test_points_are_the_sentences_that_share_words_best_first():
    reports = [("aldra", "the aldra rises on mount kell. fog is rare."), ("fog", "## mount kell\nnothing rises here.")]
    assert reporting.points("Where does the Aldra rise?", reports) == [("the aldra rises on mount kell.", 50.0)]
    assert reporting.points("?", reports) == reporting.points("Where?", []) == []


def test_a_heading_counts_as_said_in_what_follows():
    text = "orsby lies far off.\n\n## nora whitlock\nborn in orsby."
    assert reporting.points("Where was Nora Whitlock of Orsby?", [("", text)])[0] == ("born in orsby.", 100.0)
