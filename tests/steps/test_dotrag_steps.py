"""What the Steps of DotRAG accept of an answer, and what they show."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from invented_schemas import FILMS

from workbench.llm.call import Reply
from workbench.llm.parse import Unreadable, parse
from workbench.rules import rule_for
from workbench.steps import dot_rules, judge_paths, select_regions, textualising
from workbench.steps.select_regions import Anchor

QUESTION = "Who wrote the films that Ada Lind directed?"
REGIONS = select_regions.Input(QUESTION, "Films.", *FILMS, (("Ada Lind", "person"),))
DOT = dot_rules.Input(QUESTION, "Ada Lind", (("Ada Lind", "person", "She directs."),), "Films.", *FILMS, 3)
RULES = dot_rules.Output(
    query_constraints="who wrote them", intermediate_rules=["a"], terminal_rules=["b"], allowed_types=["film"],
    initial_query="films of Ada Lind",
)  # fmt: skip
PATH = judge_paths.PathShown("0.1.0", "Ada Lind → Salt: She made it.", ("Ada Lind", "Salt"), (), (), 0.25)


def verdicts(*said):
    return parse(judge_paths.STEP, Reply(json.dumps({"verdicts": said})))[0].verdicts


GOOD = {"id": "1", "label": "partial", "confidence": 0.5, "justification": "a", "next_question": "b"}


# -- select_regions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("anchors", "topics", "routing", "expected"),
    [
        ([("Ada Lind", "person")], ["films"], 1, ([("Ada Lind", "person")], ["films"], 1)),
        ([("ADA LIND", "person")], ["films"], 1, ([("ADA LIND", "person")], ["films"], 1)),
        ([("Ａda Lind", "person")], ["films"], 1, ([("Ａda Lind", "person")], ["films"], 1)),  # a wide letter
        ([("Bo Carr", "person")], ["films"], 1, ([], ["films"], 0)),  # not in the question
        ([("", "person")], [], 1, ([], [QUESTION], 0)),
        ([("Ada Lind", "star")], ["films"], 1, ([("Ada Lind", None)], ["films"], 1)),
        ([("Who", None), ("Ada", None), ("Lind", None), ("films", None)], ["x"], 1,
         ([("Who", None), ("Ada", None), ("Lind", None)], ["x"], 1)),
        ([("Ada Lind", "person")], [" "], 0, ([("Ada Lind", "person")], [QUESTION], 0)),
        ([("Ada Lind", "person")], ["films"], 7, ([("Ada Lind", "person")], ["films"], 0)),
    ],
)  # fmt: skip
def test_regions_are_spans_of_the_question_with_types_of_the_schema(anchors, topics, routing, expected):
    said = select_regions.Output(
        anchors=[Anchor(span=span, description="", type=type_) for span, type_ in anchors],
        topics=topics,
        routing=routing,
    )
    found = select_regions.checked(REGIONS, said)
    assert ([(anchor.span, anchor.type) for anchor in found.anchors], found.topics, found.routing) == expected


@pytest.mark.parametrize("missing", ["anchors", "topics", "routing"])
def test_a_selection_has_all_its_fields(missing):
    said = {"anchors": [], "topics": [], "routing": 0}
    del said[missing]
    with pytest.raises(Unreadable, match=missing):
        parse(select_regions.STEP, Reply(json.dumps(said)))


# -- dot_rules --------------------------------------------------------------------------------------------------------


def test_rules_keep_types_of_the_schema_in_its_order_and_spelling():
    said = RULES.model_copy(update={"allowed_types": ["YEAR", " film ", "star"]})
    assert dot_rules.checked(DOT, said).allowed_types == ["film", "year"]


def test_what_is_left_out_is_general():
    found = dot_rules.failed(DOT)
    assert found.allowed_types == [name for name, _, _ in FILMS[0]]
    assert found.query_constraints == found.initial_query == QUESTION
    assert len(found.intermediate_rules) == len(found.terminal_rules) == 1


def test_blank_rules_are_none():
    said = RULES.model_copy(update={"intermediate_rules": ["", " "], "terminal_rules": ["c", ""]})
    found = dot_rules.checked(DOT, said)
    assert found.intermediate_rules == dot_rules.failed(DOT).intermediate_rules and found.terminal_rules == ["c"]


# -- judge_paths ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "kept"), [(1.5, 1.0), (-3, 0.0), ("0.25", 0.25), (1, 1.0)])
def test_a_confidence_is_brought_between_0_and_1(given, kept):
    assert verdicts(GOOD | {"confidence": given})[0].confidence == kept


@pytest.mark.parametrize(("label", "kept"), [("partial", "b"), ("complete", ""), (" Irrelevant ", "")])
def test_only_a_partial_path_leads_on(label, kept):
    assert verdicts(GOOD | {"label": label})[0].next_question == kept


@pytest.mark.parametrize(
    "bad",
    [
        GOOD | {"label": "maybe"}, GOOD | {"confidence": "high"}, GOOD | {"confidence": float("1e999")},
        GOOD | {"id": None}, {"id": "1"}, "complete", None, [], 7,
    ],
)  # fmt: skip
def test_what_is_no_verdict_costs_the_others_nothing(bad):
    assert [said.id for said in verdicts(bad, GOOD | {"id": 2})] == ["2"]


@pytest.mark.parametrize("text", ['{"verdicts": "complete"}', '{"verdicts": null}', "{}", "complete"])
def test_what_is_no_list_of_verdicts_fails(text):
    with pytest.raises(Unreadable):
        parse(judge_paths.STEP, Reply(text))


# -- prompts ----------------------------------------------------------------------------------------------------------


def test_prompts_show_what_the_contract_says_and_no_more():
    regions = json.loads(select_regions.STEP.prompt(REGIONS)[-1]["content"])
    assert regions["types"][0] == {"name": "film", "definition": FILMS[0][0][1], "entities": 900}
    assert regions["names of the graph"] == [["Ada Lind", "person"]] and "relations" not in regions
    dot = json.loads(dot_rules.STEP.prompt(DOT)[-1]["content"])
    assert dot["relations"][0] == "film -[directed_by]-> person: The person is its director."
    assert (dot["concept"], dot["longest path"]) == ("Ada Lind", 3)
    value = judge_paths.Input(QUESTION, RULES, ("films of Ada Lind",), (PATH,))
    judged = json.loads(judge_paths.STEP.prompt(value)[-1]["content"])
    assert judged["paths"] == [{"id": "0.1.0", "passage": PATH.passage}]
    assert (judged["rules of the end"], judged["searches before"]) == (["b"], ["films of Ada Lind"])
    other = judge_paths.Search(QUESTION, "who wrote them", ("a", "b"), ("c",), 2)
    shown = json.loads(judge_paths.FALLBACK.prompt(other)[-1]["content"])
    assert (shown["searches before"], shown["kept"], shown["searches left"]) == (["a", "b"], ["c"], 2)


@pytest.mark.parametrize(("step", "value"), [
    (select_regions.STEP, REGIONS), (dot_rules.STEP, DOT),
    (judge_paths.STEP, judge_paths.Input(QUESTION, RULES, (), (PATH,))),
    (judge_paths.FALLBACK, judge_paths.Search(QUESTION, "", (), (), 1)),
])  # fmt: skip
def test_every_prompt_says_that_what_it_shows_is_data(step, value):
    said = step.prompt(value)[0]["content"]
    assert "data" in said and ("instruction" in said or "no word in them" in said)


# -- the rules together -----------------------------------------------------------------------------------------------


def test_the_rule_bodies_answer_each_other():
    """The judge reads the walk that the rules wrote, asks for its next hop, and the fallback for all of it."""
    (regions,) = rule_for(select_regions.STEP)([REGIONS])
    assert [anchor.span for anchor in regions.anchors] == ["Ada Lind"]
    (rules,) = rule_for(dot_rules.STEP)([DOT])
    assert rules.terminal_rules == ["person <-[directed by]- film -[written by]-> person"]
    assert rules.allowed_types == ["film", "person"]
    back, on = (("directed_by", False),), (("written_by", True),)
    paths = (
        judge_paths.PathShown("a", "", ("Ada Lind", "Salt"), ("person", "film"), (back,), 0.0),
        judge_paths.PathShown("b", "", ("Ada Lind", "Salt", "Bo"), ("person", "film", "person"), (back, on), 0.0),
        judge_paths.PathShown("c", "", ("Ada Lind", "Salt"), ("person", "film"), ((("written_by", False),),), 0.0),
    )
    (judged,) = rule_for(judge_paths.STEP)([judge_paths.Input(QUESTION, rules, (rules.initial_query,), paths)])
    assert [(said.id, said.label) for said in judged.verdicts] == [
        ("a", "partial"), ("b", "complete"), ("c", "irrelevant")]  # fmt: skip
    assert judged.verdicts[0].next_question == "person (written by) of Salt"
    asked = judge_paths.Search(QUESTION, rules.query_constraints, (rules.initial_query,), (), 2)
    assert rule_for(judge_paths.FALLBACK)([asked])[0].query == "person (written by) of film directed by Ada Lind"


def test_an_article_by_figure_5_names_the_supporting_entities_beside_the_relations():
    """Role, then topic, supporting entities, relations; what is missing is asked for as in the other one."""
    triples = (("Salt Line", "directed_by", "Ilse Varn"), ("Salt Line", "has_genre", "Drama"))
    value = textualising.Topic("Salt Line", "movie", triples)
    system, *_, asked = textualising.ARTICLE_PAPER.prompt(value)
    assert "encyclopedia that fans of films keep" in system["content"] and "300 to 500 words" in system["content"]
    lines = asked["content"].splitlines()
    assert [line.partition(":")[0] for line in lines] == ["Topic", "Kind", "Supporting entities", "Relations"]
    assert lines[2] == 'Supporting entities: ["Ilse Varn", "Drama"]'
    again = replace(value, earlier="<Salt Line> is a film.", missing=("Drama",))
    for step in (textualising.ARTICLE, textualising.ARTICLE_PAPER):
        said = step.prompt(again)[-1]["content"]
        assert said.endswith('written exactly so: ["Drama"]. Give the whole article again, with them.')
    assert rule_for(textualising.ARTICLE_PAPER)([value]) == rule_for(textualising.ARTICLE)([value])
