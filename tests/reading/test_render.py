"""What the rule bodies read of a context: titles and texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench import tokens
from workbench.reading.render import Context, render
from workbench.records import ContextGraph, Evidence, Passage, Unit, ranked


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


CONTENTS = st.text(st.sampled_from("ab .,\n\t’3–́湖 "), max_size=12)


@given(st.lists(st.tuples(CONTENTS, CONTENTS), max_size=6), st.integers(0, 60))
def test_as_many_whole_passages_as_fit_by_the_tokens_of_the_whole_text(contents, budget):
    passages = [Passage(str(at), title, text) for at, (title, text) in enumerate(contents)]
    context = render(Evidence("?", "m", "1/rank", ranked(passages, [1.0] * len(passages))), budget=budget)
    texts = [""]
    for passage in passages:
        texts.append(f"{texts[-1]}\n\n{passage.content}" if texts[-1] else passage.content)
    fitting = next((at for at, text in enumerate(texts) if tokens.count(text) > budget), len(texts)) - 1
    assert (context.text, context.tokens) == (texts[fitting], tokens.count(texts[fitting]))
    assert context.passages == tuple(passages[:fitting])
