"""Names of communities: replies are read entry by entry, and the rules say what the graph says."""

from __future__ import annotations

import json

import pytest

from workbench.llm.call import Reply
from workbench.llm.parse import Unreadable, parse
from workbench.rules import rule_for
from workbench.steps.name_communities import STEP, WORDS, Community, Input, Named, Output, matched, plain

FACT = ("River Aldra", "flows_into", "Lake Mira")
LAKES = Community(7, "Lake Mira", ("Lake Mira", "River Aldra", "Weir"), 5, "water", "flows_into", (FACT,))
STATIONS = Community(9, "Kestrel FM", ("Kestrel FM",), 2)
BOTH = Input((LAKES, STATIONS))


def read(text: str) -> Output:
    return parse(STEP, Reply(text, "stop"))[0]


def entry(id, name="a name", summary="a summary") -> dict:
    return {"id": id, "name": name, "summary": summary}


def test_a_model_sees_ids_centres_members_and_sizes_and_nothing_else():
    shown = json.loads(STEP.prompt(BOTH)[-1]["content"])
    assert shown == [
        {"id": 7, "center": "Lake Mira", "members": ["Lake Mira", "River Aldra", "Weir"], "size": 5},
        {"id": 9, "center": "Kestrel FM", "members": ["Kestrel FM"], "size": 2},
    ]


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps({"communities": [entry(9), entry(7)]}),
        json.dumps([entry(7), entry(9)]),  # the bare list of the released prompt
        f"Here you are:\n```json\n{json.dumps([entry('7'), entry(9)])}\n```",
    ],
)
def test_whole_replies(reply):
    assert matched(BOTH, read(reply)) == [Named(**entry(7)), Named(**entry(9))]


@pytest.mark.parametrize(
    "broken",
    [{"id": 7}, entry(7, name="***"), entry(7, summary=" "), entry("seven"), entry(7, name=None), "7", None, 7],
)
def test_a_malformed_or_missing_entry_is_the_failure_of_its_community_alone(broken):
    assert matched(BOTH, read(json.dumps([broken, entry(9)]))) == [None, Named(**entry(9))]
    assert matched(BOTH, read(json.dumps([entry(9), entry(8)]))) == [None, Named(**entry(9))]


@pytest.mark.parametrize(
    "reply", ["", "no", "[]", '{"communities": []}', json.dumps([{"id": 7}]), '{"communities": 3}']
)
def test_a_reply_without_a_good_entry_cannot_be_read(reply):
    with pytest.raises(Unreadable):
        read(reply)


def test_the_first_entry_of_an_id_counts():
    assert matched(BOTH, read(json.dumps([entry(7, "one"), entry(7, "two")])))[0].name == "one"


def test_names_are_plain_and_summaries_short():
    found = read(json.dumps([entry(7, '"<b>Lake-land</b>"!', "word " * 150)])).communities[0]
    assert found.name == "b Lake-land b" and len(found.summary.split()) == WORDS
    assert plain("Šárka's हिन्दी – x_1 -") == "Šárkas हिन्दी x 1"


def test_the_rules_name_the_centre_the_type_and_the_relation():
    lakes, stations = rule_for(STEP)([BOTH])[0].communities
    assert lakes.id == 7 and lakes.name == "Lake Mira - water - flows into"
    assert lakes.summary == (
        "5 members, most of type water. Lake Mira is at the centre, with River Aldra, Weir and 2 more. "
        "River Aldra flows_into Lake Mira."
    )
    assert stations.name == "Kestrel FM"
    assert stations.summary == "2 members. Kestrel FM is at the centre, with 1 more."
