"""What both formats of records promise, GraphRAG's and LightRAG's: the end mark, replies that are cut, broken or
hostile, and further rounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stopwatch import spent

from workbench.llm.call import Reply
from workbench.llm.parse import Unreadable, parse
from workbench.llm.step import Result
from workbench.steps import entity_relations, graph_records

# the module; records of Orsby and Aldra; what stands between records
GRAPHRAG = graph_records, '("entity"<|>Orsby<|>geo<|>A town)', '("entity"<|>Aldra<|>geo<|>A river)', "##"
LIGHTRAG = (
    entity_relations, "entity<|#|>Orsby<|#|>Location<|#|>A town.", "entity<|#|>Aldra<|#|>Location<|#|>A river.", "\n",
)  # fmt: skip
END = entity_relations.END
each_format = pytest.mark.parametrize(("step", "orsby", "aldra", "sign"), [GRAPHRAG, LIGHTRAG], ids=["graph", "light"])


class Replies:
    """A model that answers from a list, one list per call."""

    name = "openai:replies"

    def __init__(self, step, *calls):
        self.step, self.calls, self.asked = step, list(calls), []

    def run(self, step, inputs, *, trace=None):
        self.asked.append(list(inputs))
        return [Result(self.step.read(text)) if text else Result(None, failure="no") for text in self.calls.pop(0)]


def names(output) -> list[str]:
    return [entity.name for entity in output.entities]


@each_format
@pytest.mark.parametrize("end", ["<|COMPLETE|>", "<|complete|>", "<| Complete |>"])
def test_what_stands_after_the_end_does_not_count(step, orsby, aldra, sign, end):
    output = step.read(f"{orsby}{sign}{end}\n{aldra}\nI hope that this helps ## really.")
    assert names(output) == ["Orsby"] and output.complete and output.skipped == 0


def test_the_end_of_lightrag_may_be_damaged():
    assert entity_relations.read(LIGHTRAG[1] + "\n|COMPLETE|").complete


@each_format
def test_a_reply_that_was_cut_says_so_and_keeps_its_finished_records(step, orsby, aldra, sign):
    """Half a name would be an entity that there is not."""
    value, level = parse(step.STEP, Reply(f"{orsby}{sign}{aldra[: aldra.index('Aldra') + 3]}", finish="length"))
    assert level == "cut" and not value.complete and value.skipped == 1 and names(value) == ["Orsby"]


@each_format
@pytest.mark.parametrize(
    "text",
    ["I cannot do that.", "junk<|COMPLETE|>", "entity", "##", "\x00", '("claim"<|>x)' + END, "claim<|#|>x" + END],
)
def test_a_reply_without_a_record_is_unreadable(step, orsby, aldra, sign, text):
    with pytest.raises(Unreadable, match="no record"):
        parse(step.STEP, Reply(text))
    assert names(step.read(END)) == []  # the end alone says that there is none


PARTS = [
    "<|>", "<|#|>", "##", END, "(", ")", '"', "'", "entity", "relation", "relationship", "a", "b", "\n", "\r", "\x00",
    "\u2028", "1", "<|", "|>", "#", "東",
]  # fmt: skip


@each_format
@given(text=st.lists(st.sampled_from(PARTS), max_size=40).map("".join))
def test_no_text_breaks_the_parser(step, orsby, aldra, sign, text):
    try:
        output = step.read(text)
    except ValueError:
        return
    for entity in output.entities:
        assert entity.name and "\n" not in entity.name and step.FIELD not in entity.name
    if step is entity_relations:
        assert all(entity.type and entity.description for entity in output.entities)
        assert all(step.clean_name(entity.name) == entity.name for entity in output.entities)
        assert all(relation.source != relation.target for relation in output.relations)
    else:
        assert all(relation.source and relation.target and relation.strength > 0 for relation in output.relationships)


HOSTILE = [
    "|" * 200_000, "<" * 200_000, "#" * 200_000, "<|#|>" * 40_000, "entity " * 28_000, '"' * 200_000, "( " * 100_000,
    "(" * 100_000, "<a" * 100_000, "relation<|#|>" * 15_000, "|  " * 66_000, "##" * 10_000,
    "entity<|#|>a<|#|>" + '"' * 199_000 + "<|#|>b",
]  # fmt: skip


@each_format
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_reply_takes_no_time_to_speak_of(step, orsby, aldra, sign, text):
    with spent() as taken:
        output = step.read(f"{text}{sign}{orsby}{sign}{END}")
    assert "Orsby" in names(output) and taken.seconds < 2


@each_format
def test_what_was_missed_is_asked_for_and_joined(step, orsby, aldra, sign):
    model = Replies(step, [orsby + END, ""], [f"{orsby}{sign}{aldra}{sign}{END}"])
    first, second = step.extract(model, [step.Input("a", "text"), step.Input("b", "text")])
    assert names(first.value) == ["Orsby", "Aldra"] and second.failure == "no" and second.value is None
    assert [[value.found for value in call] for call in model.asked] == [[(), ()], [("Orsby",)]]
    assert "Orsby" in step.STEP.prompt(model.asked[1][0])[-1]["content"]


@each_format
def test_rounds_that_fail_take_nothing_away_and_none_may_be_asked_for(step, orsby, aldra, sign):
    value = step.Input("a", "text")
    assert names(step.extract(Replies(step, [orsby + END], [""]), [value])[0].value) == ["Orsby"]
    model = Replies(step, [orsby + END], [aldra + END], [END])
    assert names(step.extract(model, [value], rounds=2)[0].value) == ["Orsby", "Aldra"]
    assert model.asked[2][0].found == ("Orsby", "Aldra")
    model = Replies(step, [orsby + END])
    assert step.extract(model, [value], rounds=0)[0].value.complete and len(model.asked) == 1
    assert step.extract(Replies(step, []), []) == []
