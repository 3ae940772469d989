"""What the rule bodies read of a context: titles and texts."""

import pytest

from workbench.reading.render import Context
from workbench.records import ContextGraph, Passage, Unit


@pytest.mark.parametrize(
    ("unit", "read"),
    [
        (Unit("1", "Orsby\nA town on the Aldra."), ("Orsby", "A town on the Aldra.")),
        (Unit("1", "of the town.\nIt has a mole."), ("", "of the town.\nIt has a mole.")),
        (Unit("1", "It has\na mole.", "Orsby"), ("Orsby", "It has\na mole.")),
        (Unit("1", "It has a mole"), ("", "It has a mole")),
        (Unit("1", f"{'a long line ' * 20}\nA mole."), ("", f"{'a long line ' * 20}\nA mole.")),
        (Unit("1", "\nA mole."), ("", "\nA mole.")),
        (Unit("1", ""), ("", "")),
    ],
)
def test_a_unit_whose_text_begins_with_its_title(unit, read):
    assert Context("", 0, (), graph=ContextGraph(chunks=(unit,))).texts == (read,)


def test_chunks_are_read_before_sources_and_passages_where_there_are_no_tables():
    graph = ContextGraph(sources=(Unit("s", "x"),), chunks=(Unit("c", "y"),))
    assert Context("", 0, (), graph=graph).texts == (("", "y"), ("", "x"))
    assert Context("", 0, (Passage("p", "Orsby", "A town."),)).texts == (("Orsby", "A town."),)
