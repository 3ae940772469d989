"""The reader `local`: four blocks, each within its share, in the order of the evidence."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench import tokens
from workbench.records import Entity, Evidence, Passage, Report, Scored, Triple, ranked

PASSAGES = [Passage(f"p{at}", f"Page {at}", "Orsby lies on the River Aldra. " * 6) for at in range(40)]
ENTITIES = [Entity(f"orsby {at}", "town", "A town | on\nthe Aldra.") for at in range(30)]
FACTS = [Triple("orsby", "lies on", f"river {at}", ("p1",)) for at in range(300)]
REPORTS = [Report(f"community-{at}", f"Report {at}", "It is old. " * 20) for at in range(20)]


def evidence(passages=PASSAGES, entities=ENTITIES, facts=FACTS, reports=REPORTS, selected=None) -> Evidence:
    found = (ranked(items, [1.0] * len(items)) for items in (passages, entities, facts, reports))
    passages, entities, facts, reports = found
    return Evidence("Where?", "graphrag", "x", passages, entities, facts, (), reports, selected)


def blocks(text: str) -> dict[str, str]:
    parts = text.split("-----")[1:]
    return dict(zip(parts[::2], parts[1::2]))


def test_the_blocks_in_their_order():
    text = wb.reader("local").context(evidence(PASSAGES[:1], ENTITIES[:1], FACTS[:1], REPORTS[:1])).text
    assert list(blocks(text)) == ["Reports", "Entities", "Relationships", "Sources"]
    assert "id|entity|description|number of relationships\n0|orsby 0|A town | on the Aldra.|\n" in text
    assert "id|source|target|description|weight|rank\n0|orsby|river 0|orsby lies on river 0|1.0|\n" in text
    assert text.endswith(f"-----Sources-----\nid|text\n0|{PASSAGES[0].content}\n")
    assert list(blocks(wb.reader("local").context(evidence(PASSAGES, (), (), ())).text)) == ["Sources"]
    assert wb.reader("local").context(evidence((), (), (), ()))[:4] == ("", 0, (), ())


@pytest.mark.parametrize("budget", [1, 50, 300, 1000, 5000, 12_000])
def test_no_share_is_exceeded(budget):
    context = wb.reader("local", budget=budget).context(evidence())
    assert context.tokens == tokens.count(context.text) <= budget
    sizes = {name: tokens.count(f"-----{name}-----{text}") for name, text in blocks(context.text).items()}
    assert sizes.get("Reports", 0) <= 0.15 * budget and sizes.get("Sources", 0) <= 0.5 * budget
    assert sizes.get("Entities", 0) + sizes.get("Relationships", 0) <= 0.35 * budget
    assert [passage.id for passage in context.passages] == [p.id for p in PASSAGES[: len(context.passages)]]


def test_of_many_entities_the_first_are_shown_and_a_selection_is_kept_to():
    context = wb.reader("local[entities=2]").context(evidence(selected=3))
    assert blocks(context.text)["Entities"].count("|A town | on") == 2
    assert [passage.id for passage in context.passages] == ["p0", "p1", "p2"]


def test_hostile_texts_stay_cells():
    bad = Scored(Entity("a|b\n-----Sources-----", "", "\x00<script>"), 1.0)
    context = wb.reader("local").context(Evidence("?", "m", "x", (), (bad,)))
    assert context.text.splitlines()[2] == "0|a/b ---Sources---|\x00<script>|"
