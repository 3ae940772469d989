"""DotRAG with the profile `paper`: what its model is shown and asked, and each of our additions switched alone."""

from __future__ import annotations

import json

import pytest
from scripted import Scripted
from test_dotrag import GOLD, QUESTION, TRIPLES, TYPES, Names, engine, index, judge, regions, rules, search
from typed_graphs import GraphIndex, TypedGraph

import workbench as wb
from workbench.methods.dotrag import DotRAG
from workbench.methods.dotrag.dots import dots, whole_region
from workbench.operators.types import Types
from workbench.steps import catalogue, dot_rules, select_regions_paper

assert index  # a fixture

RELATIONS = {label for _, label, _ in TRIPLES}
WAY = {("Kestrel", "Nora Hale"): ("partial", "French films", 0.7), GOLD: ("complete", "", 0.9)}


def paper_engine(query="Nora Hale", **steps):
    """What `engine` says, to the Steps of the paper."""
    plain = {"anchors": [{"span": "Kestrel", "description": ""}], "topics": ["languages"], "routing": 1}
    told = {
        "select_regions_paper": lambda value: plain,
        "dot_rules_paper": lambda value: {k: v for k, v in rules(query).items() if k != "initial_query"},
        "judge_paths": judge(WAY),
        "fallback_query": lambda value: {"query": query},
    }
    return Scripted(**told | steps)


def shown(told: Scripted) -> dict[str, list[list[dict]]]:
    """Step → the messages of each call."""
    steps, found = catalogue(), {}
    for name, value in told.asked:
        found.setdefault(name, []).append(steps[name].prompt(value))
    return found


# -- what the model is shown ------------------------------------------------------------------------------------------


def test_the_model_is_shown_what_the_paper_shows_and_asked_no_more(index):
    told = paper_engine()
    method = wb.method("dotrag[profile=paper,candidates=2]", index, told)
    method.retrieve(QUESTION)
    assert method.steps == ("select_regions_paper", "dot_rules_paper", "judge_paths", "fallback_query")
    messages = shown(told)
    assert messages.keys() == {*method.steps}
    for name in ("select_regions_paper", "dot_rules_paper"):
        ((system, *_, asked),) = messages[name]
        assert not any(label in asked["content"] for label in RELATIONS), "no relation of the graph"
        assert "relation" not in system["content"] and "names of the graph" not in system["content"]
    (chosen,), (ruled,) = ([json.loads(one[-1]["content"]) for one in messages[n]] for n in method.steps[:2])
    assert list(chosen) == ["question", "graph", "types"]
    assert list(ruled) == ["question", "concept", "anchors", "types", "graph"]
    assert {"name": "film", "definition": "a film", "entities": 4} in chosen["types"]
    assert set(_properties(select_regions_paper.STEP, "Anchor")) == {"span", "description"}
    assert set(dot_rules.PAPER.schema["properties"]) == {
        "query_constraints", "intermediate_rules", "terminal_rules", "allowed_types",
    }  # fmt: skip
    judged = [json.loads(one[-1]["content"]) for one in messages["judge_paths"]]
    assert list(judged[0]) == [
        "question", "looked for", "rules of the way", "rules of the end", "searches before", "paths",
    ]  # fmt: skip
    passages = {path["passage"] for one in judged for path in one["paths"]}
    assert "Kestrel directed by Nora Hale. Kestrel written by Nora Hale." in passages
    assert not any("→" in json.dumps(message) or "needs nothing on the way" in json.dumps(message)
                   for one in messages["judge_paths"] for message in one)  # fmt: skip
    assert judged[0]["searches before"] == [QUESTION], "the rules hold no first query"


def _properties(step, name):
    return step.schema["$defs"][name]["properties"]


# -- each addition alone ----------------------------------------------------------------------------------------------


def region_of(evidence):
    (event,) = evidence.trace.find("region")
    return event.outputs


def test_entities_without_a_type_pass_or_do_not(index, monkeypatch):
    monkeypatch.setattr("workbench.methods.dotrag.dots.types_of", lambda index: Types())
    told = engine()
    with_blot, without = search(index, told), search(index, told, untyped=False)
    assert region_of(with_blot)["nodes"] == region_of(without)["nodes"] + 1
    assert "only_typed" not in region_of(with_blot) and region_of(without)["only_typed"] is True
    for evidence in (with_blot, without):
        (dot,) = dots(evidence).dots
        names = {node.name for node in whole_region(index, dot).nodes}
        assert len(names) == region_of(evidence)["nodes"] and ("Redact" in names) is (evidence is with_blot)


def test_a_concept_that_no_entity_is_similar_to_has_no_dot(index):
    question = "Which films are like Kestrel or like the one of the moon?"
    told = engine(select_regions=lambda value: regions("Kestrel", "the moon"))
    retrieve = lambda **more: wb.method("dotrag", index, told, **more).retrieve(question)  # noqa: E731
    assert [event.inputs["concept"] for event in retrieve().trace.find("dot")] == ["Kestrel", "the moon"]
    assert [event.inputs["concept"] for event in retrieve(weak_anchor=False).trace.find("dot")] == ["Kestrel"]


def test_without_any_anchor_the_question_is_the_topic_and_the_evidence_says_so(index):
    told = engine(select_regions=lambda value: regions("films"))
    evidence = search(index, told, weak_anchor=False)
    assert [(event.inputs["concept"], event.inputs["level"]) for event in evidence.trace.find("dot")] == [
        (QUESTION, "high")
    ]
    assert evidence.fallback.startswith("no entity is similar enough to films: the question is its own topic")
    assert "similar enough" not in (search(index, engine()).fallback or "")


def test_a_region_that_ends_before_its_hops_says_so(index):
    """From Kestrel 1, 4, 3 and 1 entities; ten hops find no more."""
    assert "region" not in (search(index, engine(), h_max=10).fallback or "")
    evidence = search(index, engine(), h_max=10, max_region=6)
    assert "DOT 0: its region ends after 1 of 10 hops (max_region=6)" in evidence.fallback
    assert wb.method("dotrag[profile=paper,h_max=10]", index).settings.max_region is None


# -- what the graph is said to be -------------------------------------------------------------------------------------


def test_the_model_is_told_them_where_the_types_are_the_paper_s():
    types = {name: {"language": "language", "film": "movie"}.get(kind, kind) for name, kind in TYPES.items()}
    types |= {"Redact": "theme"}
    index = GraphIndex(TypedGraph(types, TRIPLES, Names()), Names())
    described = DotRAG(index, Scripted(), metadata="paper")._context
    assert described.about.startswith("A graph of the world of films")
    assert ("movie", "A film or another creative work.", 4) in described.types
    assert DotRAG(index, Scripted())._context.about == "A small graph."


@pytest.mark.parametrize(
    ("settings", "query", "nodes", "passage"),
    [
        # Of one hop, only Dutch is of the allowed type; Kestrel has six neighbours.
        ({"relax": True}, ("language",), 7, "Kestrel directed by Nora Hale. Kestrel written by Nora Hale."),
        ({"relax": False}, ("language",), 2, None),
        ({"relax": False, "description_chars": 7}, ("person",), 3, "Kestrel"),
        (
            {"relax": False, "description_chars": None},
            ("person",),
            3,
            "Kestrel directed by Nora Hale. Kestrel written by Nora Hale.",
        ),
    ],
)
def test_types_may_be_given_up_and_descriptions_cut(index, settings, query, nodes, passage):
    told = engine(dot_rules=lambda value: rules("Nora Hale", query))
    outputs = region_of(search(index, told, untyped=False, h_max=1, chain=False, **settings))
    assert (outputs["nodes"], outputs["filter_relaxed"]) == (nodes, settings["relax"])
    passages = [path.passage for value in told.inputs("judge_paths")[:1] for path in value.paths]
    assert passage is None or passages == [passage]
