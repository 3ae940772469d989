"""How a reply is read: the levels, what they must not do, and that nothing else than `Unreadable` comes out."""

from __future__ import annotations

import json

import pytest
from chat_server import completion
from small_steps import BOOK, NAMES, SAID, Book, Names, Said

from workbench.llm.call import Reply
from workbench.llm.parse import LEVELS, Unreadable, parse
from workbench.steps import (
    dual_thoughts,
    entity_relations,
    graph_records,
    named_entities,
    reflect,
    select_regions,
)

GOOD = '{"names": ["Ada", "Bo"]}'
ADA = Names(names=["Ada", "Bo"])

READ = [
    (NAMES, GOOD, "strict", ADA),
    (NAMES, f"\n  {GOOD}\n", "strict", ADA),
    (NAMES, '["Ada", "Bo"]', "strict", ADA),
    (NAMES, '{"names": ["Ada"], "names": ["Ada", "Bo"]}', "strict", ADA),
    (NAMES, '{"names": ["Ada", "Bo"], "note": 1}', "strict", ADA),
    (NAMES, f"```json\n{GOOD}\n```", "fenced", ADA),
    (NAMES, f"```\n{GOOD}```", "fenced", ADA),
    (NAMES, '```json\n["Ada", "Bo"]\n```', "fenced", ADA),
    (NAMES, f"Here you are:\n{GOOD}\nAnything else?", "fenced", ADA),
    (NAMES, 'The names are ["Ada", "Bo"].', "fenced", ADA),
    (NAMES, f'As [1] and ["Cy"] say: {GOOD}', "fenced", ADA),
    (NAMES, f"I thought {{hard}} [sic]. {GOOD}", "fenced", ADA),
    (NAMES, '{"names": ["Ada", "Bo"', "repaired", ADA),
    (NAMES, '["Ada", "Bo', "repaired", ADA),
    (NAMES, "{'names': ['Ada', 'Bo',]}", "repaired", ADA),
    (NAMES, '```json\n{"names": ["Ada", "Bo"', "repaired", ADA),
    (NAMES, '{"other": ["no"], "names": ["Ada", "Bo"', "repaired", ADA),
    (BOOK, '{"title": "Emma", "pages": 3', "repaired", Book(title="Emma", pages=3)),
    (SAID, "Answer: Ada", "text", Said(said="Ada")),
]


@pytest.mark.parametrize(("step", "text", "level", "value"), READ)
def test_each_level_reads_what_it_is_for(step, text, level, value):
    assert parse(step, Reply(text)) == (value, level)


CUT = [
    (NAMES, '["Ada", "Bo"', "cut", ADA),
    (NAMES, 'Here: {"names": ["Ada", "Bo"]} and', "cut", ADA),
    (SAID, "Answer: Ada", "cut", Said(said="Ada")),
    (NAMES, '{"names": ["Ada", "Bo"]}', "strict", ADA),  # nothing can be missing
]


@pytest.mark.parametrize(("step", "text", "level", "value"), CUT)
def test_what_is_read_of_a_reply_that_was_cut_is_called_so(step, text, level, value):
    """A list that ends early reads as well as a whole one."""
    assert parse(step, Reply(text, "length")) == (value, level)


@pytest.mark.parametrize("level", LEVELS)
def test_the_level_is_counted_in_the_result(level, serve, ask):
    """A table of how answers were read tells a good model from a lucky one."""
    step, text, _, value = next(case for case in [*READ, *CUT] if case[2] == level)
    chat = ask(serve(lambda asked: completion(text, finish="length" if level == "cut" else "stop")))
    (result,) = chat.run(step, ["x"])
    assert (result.parse, result.value, result.failure, result.text) == (level, value, None, text)
    assert (chat.meter.total.repaired, chat.meter.total.cut) == (level == "repaired", level == "cut")


@pytest.mark.parametrize(
    ("step", "text", "said"),
    [
        (NAMES, "", "empty"),
        (NAMES, " \n", "empty"),
        (NAMES, "I cannot do that.", "no JSON"),
        (NAMES, "I cannot [do that].", "no JSON"),
        (NAMES, "null", "NoneType"),
        (NAMES, '"names"', "str"),
        (NAMES, '{"nomes": []}', "names"),
        (NAMES, '{"names": [["Ada"]]}', "names.0"),
        (BOOK, '["Emma", 3]', "list"),
        (BOOK, '{"title": "Emma", "pages": NaN}', "pages"),
        (NAMES, json.dumps({"names": ["x" * 200_000]}), "200,0"),
        (NAMES, "[\\" * 1_000, "no JSON"),
        (NAMES, "[" * 600 + "]" * 600, "nested too deep"),
        (SAID, "Ada", "Answer:"),
        (SAID, "Answer: " + "x" * 200_000, "200,0"),
    ],
)
def test_what_cannot_be_read_says_why(step, text, said):
    with pytest.raises(Unreadable, match=said):
        parse(step, Reply(text))


@pytest.mark.parametrize("text", ["", "{"])
def test_a_failure_says_that_the_reply_was_cut(text):
    """It tells a too small `max_tokens` from a model that cannot do it."""
    with pytest.raises(Unreadable, match="cut for length"):
        parse(NAMES, Reply(text, finish="length"))


@pytest.mark.parametrize("good", [GOOD, f"```json\n{GOOD}\n```", f"Sure! {GOOD}"])
def test_a_cut_reply_is_read_in_part_or_not_at_all(good):
    """Whatever is read of a cut list is a beginning of it: nothing is invented (the last name may be cut itself)."""
    for end in range(len(good)):
        try:
            names = parse(NAMES, Reply(good[:end], finish="length"))[0].names
        except Unreadable:
            continue
        assert len(names) <= 2 and all(map(str.startswith, ["Ada", "Bo"], names))


def test_a_nest_is_read_alike_however_deep_the_caller_is():
    """What Python reads before its stack ends depends on where it begins, and a replay begins elsewhere."""

    def below(frames: int, text: str) -> str:
        if frames:
            return below(frames - 1, text)
        try:
            return repr(parse(NAMES, Reply(text)))
        except Unreadable as error:
            return str(error)

    for depth in (90, 300, 600, 990):
        nested = '{"a":' * depth + "1" + "}" * depth + f" {GOOD}"
        assert below(0, nested) == below(400, nested)


def test_a_number_of_nothing_is_no_number():
    many = 10**400
    with pytest.raises(Unreadable, match="no number of a thing"):
        parse(dual_thoughts.VERIFY, Reply(f'{{"documents": [{many}]}}'))
    with pytest.raises(Unreadable, match="no number of a thing"):
        parse(select_regions.STEP, Reply(f'{{"anchors": [], "topics": [], "routing": {many}}}'))


def test_half_a_character_becomes_storable():
    """An emoji cut by a token limit is a lone surrogate, which no UTF-8 file can hold."""
    assert parse(NAMES, Reply('["Ada \\ud83d"]'))[0].names == ["Ada \ufffd"]
    assert parse(NAMES, Reply(json.dumps({"names": '["Ada \\ud83d"]'})))[0].names == ["Ada \ufffd"]
    assert parse(reflect.STEP, Reply('{"reply": "Ada \\ud83d was born"}'))[0].reply == "Ada \ufffd was born"


def test_nan_is_not_strict_json_and_stays_the_word_it_was():
    assert parse(NAMES, Reply('{"names": ["Ada", NaN]}')) == (Names(names=["Ada", "NaN"]), "repaired")


@pytest.mark.parametrize(
    "frame", ["{}", '{{"names": [{}]}}', "[{}]", "```python\n{}\n```", '{{"names": {}', "Answer: {}"]
)
def test_nothing_is_ever_evaluated(frame, tmp_path):
    """Replies are data: the released HippoRAG 2 passes them to `eval`."""
    marker = tmp_path / "run"
    code = f"__import__('os').system('touch {marker}')"
    for step in (NAMES, BOOK, SAID, named_entities.STEP):
        try:
            parse(step, Reply(frame.format(code)))
        except Unreadable:
            continue
    assert not marker.exists()


@pytest.mark.parametrize("step", [entity_relations, graph_records])
def test_the_end_mark_alone_is_no_copy_of_the_prompt(step):
    """The reply of a model that finds nothing more, when it is asked for what it missed."""
    asked = step.STEP.prompt(step.Input("Orsby", "Orsby is a town.", found=("Orsby",)))
    value, level = parse(step.STEP, Reply(step.END), asked)
    assert (value.entities, value.complete, level) == ([], True, "text")
