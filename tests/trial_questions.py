"""The fixed questions of a trial: for each Step of the catalogue one or two of which a person knows the right reply.

They tell of a small museum that stands in no corpus and in no worked example of a prompt. A reply is right if what was
read off it holds all of `holds` and none of `lacks`, as JSON and whatever the case, and `check` does not object;
`reply` is one that is.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import BaseModel

from workbench.steps import (
    answer,
    claims,
    corpus_questions,
    curating,
    dot_rules,
    dual_thoughts,
    entity_relations,
    exploring,
    fact_filter,
    final_answer,
    graph_records,
    judge,
    judge_pair,
    judge_paths,
    keywords,
    name_communities,
    named_entities,
    next_thought,
    rank_passages,
    rate_neighbours,
    reflect,
    reporting,
    schema_extraction,
    search_or_answer,
    select_regions,
    sub_questions,
    summarising,
    textualising,
    write_patterns,
)


@dataclass(frozen=True)
class Question:
    """One input of a Step."""

    step: str
    input: Any
    reply: str
    holds: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    check: Callable[[Any], bool] = lambda said: True

    def right(self, value: BaseModel) -> bool:
        """Whether what was read off a reply is right."""
        said = json.dumps(value.model_dump(), ensure_ascii=False).casefold()
        held = all(one in said for one in self.holds) and not any(one in said for one in self.lacks)
        return held and self.check(value)


class _Told(NamedTuple):
    title: str
    text: str


_MUSEUM = _Told(
    "Velling Museum", "The Velling Museum is a museum of glass in Velling. Tilda Morck founded it on 9 June 1962."
)
_FOUNDER = _Told("Tilda Morck", "Tilda Morck (1920 to 1991) was a glassblower who was born in Orsund, Dalmark.")
_OTHER = _Told("Morck Peak", "Morck Peak is a mountain of 2,310 metres above the lake of Sarn.")
_PASSAGES = (_MUSEUM, _FOUNDER, _OTHER)
_CONTEXT = "\n\n".join(f"{title}\n{text}" for title, text in _PASSAGES)
_WHERE = "In which town was the founder of the Velling Museum born?"
_READ = answer.Input(_WHERE, _CONTEXT, _PASSAGES)
_FOUNDED, _BORN, _PEAK = (
    ("velling museum", "founded by", "tilda morck"),
    ("tilda morck", "born in", "orsund"),
    ("morck peak", "rises above", "sarn"),
)
_TYPES = (("museum", "a house that shows things", 12), ("person", "a human being", 40), ("town", "a place", 25))
_RELATIONS = (
    ("founded_by", ("museum",), ("person",), "who began it"),
    ("born_in", ("person",), ("town",), "where somebody was born"),
)
_RULES = dot_rules.Output(
    query_constraints="The town in which the founder of the Velling Museum was born.",
    intermediate_rules=["names the founder of the Velling Museum"],
    terminal_rules=["states the town in which this founder was born"],
    allowed_types=["museum", "person", "town"],
    initial_query="founder of the Velling Museum",
)
_PATH = corpus_questions.PathInput(
    ("Velling Museum", "Tilda Morck", "Orsund", "Dalmark"),
    ("museum", "person", "town", "country"),
    f"{_MUSEUM.text} {_FOUNDER.text} Orsund is a town in Dalmark.",
    1,
)
_USERS = corpus_questions.PersonasInput("Notices of a museum of glass.", ("Velling Museum", "Tilda Morck"), 1, 1)
_TASK = corpus_questions.TasksInput(
    "Notices of a museum of glass.", ("Velling Museum", "Tilda Morck"), "A visitor.", "Learn why it was founded.", 1
)
_GRAPH = "Museums, who founded them, and towns."


def _json(**fields: Any) -> str:
    return json.dumps(fields)


def _path(id: str, passage: str) -> judge_paths.PathShown:
    return judge_paths.PathShown(id, passage, (), (), (), 0.5)


QUESTIONS = (
    # -- extraction
    Question("named_entities", named_entities.Input(*_MUSEUM),
             _json(named_entities=["Velling Museum", "Velling", "Tilda Morck", "9 June 1962"]),
             ("velling museum", "tilda morck")),
    Question("question_entities",
             named_entities.Question("In which country was the founder of the Velling Museum born?"),
             _json(named_entities=["Velling Museum"]), ("velling museum",)),
    Question("triples", named_entities.TriplesInput(*_FOUNDER, ("Tilda Morck", "Orsund", "Dalmark")),
             _json(triples=[["Tilda Morck", "born in", "Orsund"], ["Orsund", "located in", "Dalmark"]]),
             ("tilda morck", "orsund")),
    Question("entity_relations", entity_relations.Input(*_MUSEUM),
             "entity<|#|>Velling Museum<|#|>Organization<|#|>The Velling Museum is a museum of glass.\n"
             "entity<|#|>Tilda Morck<|#|>Person<|#|>Tilda Morck founded the Velling Museum.\n"
             "relation<|#|>Tilda Morck<|#|>Velling Museum<|#|>founding<|#|>Tilda Morck founded the museum in 1962.\n"
             "<|COMPLETE|>",
             ("velling museum", "tilda morck")),
    Question("graph_records", graph_records.Input(*_MUSEUM),
             '("entity"<|>Velling Museum<|>organization<|>A museum of glass)\n##\n'
             '("entity"<|>Tilda Morck<|>person<|>The founder of the museum)\n##\n'
             '("relationship"<|>Tilda Morck<|>Velling Museum<|>Tilda Morck founded the museum<|>9)\n<|COMPLETE|>',
             ("velling museum", "tilda morck")),
    Question("schema_extraction",
             schema_extraction.Input(*_MUSEUM, (("person", ""), ("museum", "")), ("founded_by",), ("date",)),
             _json(attributes={"Velling Museum": ["date: 9 June 1962"]},
                   triples=[["Velling Museum", "founded_by", "Tilda Morck"]],
                   entity_types={"Velling Museum": "museum", "Tilda Morck": "person"},
                   new_schema_types={"nodes": [], "relations": [], "attributes": []}),
             ("velling museum", "tilda morck")),
    Question("find_names", named_entities.Text(*_MUSEUM, ("person", "place")),
             _json(names=[{"name": "Tilda Morck", "type": "person"}, {"name": "Velling", "type": "place"}]),
             ("tilda morck", "person")),
    Question("link_names", named_entities.Mentions((("Tilda Morck", "person"), ("Tilda", "person"), ("Sarn", "place"))),
             _json(groups=[["Tilda Morck", "Tilda"]]), ('["tilda morck", "tilda"]',), ("sarn",)),
    Question("curate_cluster",
             curating.ClusterInput((
                 curating.Member("1", "Tilda Morck", "person", "A glassblower, founder of the Velling Museum."),
                 curating.Member("2", "T. Morck", "person", "The glassblower who founded the Velling Museum."),
                 curating.Member("3", "Morck Peak", "mountain", "A mountain above the lake of Sarn."),
             )),
             _json(groups=[{"canonical_label": "Tilda Morck", "member_ids": ["1", "2"]},
                           {"canonical_label": "Morck Peak", "member_ids": ["3"]}]),
             ('"tilda morck"', '"morck peak"'),
             check=lambda said: sorted(sorted(group.member_ids) for group in said.groups) == [["1", "2"], ["3"]]),
    Question("relabel_entities",
             curating.TypesInput((
                 curating.Entity("1", "Tilda Morck", _FOUNDER.text),
                 curating.Entity("2", "Orsund", "The place in Dalmark where Tilda Morck was born."),
             ), tuple(one[:2] for one in _TYPES)),
             _json(entities=[{"id": "1", "type": "person"}, {"id": "2", "type": "town"}]),
             check=lambda said: {one.id: one.type for one in said.entities} == {"1": "person", "2": "town"}),
    # -- questions about the graph
    Question("path_questions", _PATH,
             _json(questions=[{"question": "In which country was the maker of glass behind the Velling Museum born?",
                               "answer": "Dalmark"}]),
             ("velling museum",), check=lambda said: not corpus_questions.path_flaw(_PATH, said)),
    Question("personas", _USERS,
             _json(users=[{"user": "A visitor of the museum who knows little of glass.",
                           "tasks": ["Learn how the museum and its founder are linked."]}]),
             check=lambda said: not corpus_questions.personas_flaw(_USERS, said)),
    Question("task_questions", _TASK,
             _json(questions=["What led Tilda Morck to found the Velling Museum?"]),
             ("?",), check=lambda said: not corpus_questions.tasks_flaw(_TASK, said)),
    # -- texts about the graph
    Question("summarise", summarising.Texts((_MUSEUM.text, _FOUNDER.text), 100),
             "Tilda Morck, a glassblower born in Orsund, founded the museum of glass in Velling in 1962.", ("morck",)),
    Question("summarise_entity", summarising.EntityInput("tilda morck", (_FOUNDED, _BORN)),
             _json(summary="tilda morck was born in orsund and founded the velling museum."),
             ("orsund", "velling museum")),
    Question("fuse_descriptions",
             summarising.Fragments("Tilda Morck", "entity",
                                     ("Tilda Morck is a glassblower.", "Tilda Morck was born in Orsund.")),
             "Tilda Morck is a glassblower who was born in Orsund.", ("glassblower", "orsund")),
    Question("community_report",
             reporting.Community(
                 "-----Entities-----\nid|entity|description\n1|Velling Museum|a museum of glass\n"
                 "2|Tilda Morck|a glassblower\n\n-----Relationships-----\nid|source|target|description\n"
                 "1|Velling Museum|Tilda Morck|Tilda Morck founded the museum"),
             _json(title="Velling Museum", summary="A museum of glass and its founder.", rating=2.0,
                   rating_explanation="One house and one person.",
                   findings=[{"summary": "Tilda Morck founded it.",
                              "explanation": "Tilda Morck founded the museum [Data: Relationships (1)]."}]),
             ("velling museum", "morck")),
    Question("name_communities",
             name_communities.Input((name_communities.Community(
                 3, "Velling Museum", ("Velling Museum", "Tilda Morck", "Glass Hall"), 3),)),
             _json(communities=[{"id": 3, "name": "Velling Museum of glass", "summary": "A museum and its founder."}]),
             ('"id": 3',)),
    Question("describe_entity",
             textualising.EntityInput("Velling Museum", _MUSEUM.text, "museum",
                                   (("museum", "A house that shows things."), ("person", "A human being."))),
             _json(type="museum", description="A museum of glass founded by Tilda Morck in 1962."),
             ('"type": "museum"', "glass")),
    Question("describe_relations",
             textualising.RelationsInput("Velling Museum", "<Velling Museum> was founded by [Tilda Morck] in 1962.",
                                      (("Velling Museum", "founded_by", "Tilda Morck"),)),
             _json(descriptions=[{"id": 1, "description": "[Velling Museum] was founded by [Tilda Morck]."}]),
             ("[velling museum]", "[tilda morck]")),
    Question("write_article",
             textualising.Topic("Velling Museum", "museum", (("Velling Museum", "founded_by", "Tilda Morck"),)),
             "<Velling Museum> is a museum. It was founded by [Tilda Morck].", ("<velling museum>", "[tilda morck]")),
    Question("write_article_paper",
             textualising.Topic("Velling Museum", "museum", (("Velling Museum", "founded_by", "Tilda Morck"),)),
             "<Velling Museum> is a museum. It was founded by [Tilda Morck].", ("<velling museum>", "[tilda morck]")),
    # -- retrieval
    Question("fact_filter", fact_filter.Input(_WHERE, (_FOUNDED, _PEAK, _BORN), (0.9, 0.5, 0.8)),
             _json(facts=[list(_FOUNDED), list(_BORN)]), ("tilda morck",), ("morck peak",)),
    Question("keywords", keywords.Input("Which glassblowers founded museums in Velling?"),
             _json(high_level=["founding of museums"], low_level=["glassblowers", "Velling"]), ("velling",)),
    Question("choose_relations",
             exploring.RelationsInput(_WHERE, (_FOUNDED,), "tilda morck",
                                    (("collected", True), ("born in", True), ("taught", False)), (0.2, 0.8, 0.1), 1),
             _json(choices=[{"number": 2, "score": 1.0}]), ('"number": 2',), ('"number": 1', '"number": 3')),
    Question("choose_entities",
             exploring.EntitiesInput(_WHERE, (_FOUNDED,), ("tilda morck", "born in", "?"), ("orsund", "1920")),
             _json(scores=[1.0, 0.0]), check=lambda said: len(said.scores) == 2 and said.scores[0] > said.scores[1]),
    Question("enough", exploring.FactsInput(_WHERE, (_FOUNDED, _BORN)), _json(enough=True), ('"enough": true',)),
    Question("enough", exploring.FactsInput(_WHERE, (_PEAK,)), _json(enough=False), ('"enough": false',)),
    Question("graph_action", exploring.Input(_WHERE),
             _json(thought="The museum comes first.",
                   actions=[{"action": "find", "argument": "Velling Museum", "type": ""}]),
             ('"find"', "velling museum")),
    Question("select_regions",
             select_regions.Input(_WHERE, _GRAPH, _TYPES, _RELATIONS, (("Velling Museum", "museum"),)),
             _json(anchors=[{"span": "Velling Museum", "description": "A museum.", "type": "museum"}],
                   topics=["founders of museums"], routing=1),
             ("velling museum", '"type": "museum"')),
    Question("dot_rules",
             dot_rules.Input(_WHERE, "Velling Museum", (("Velling Museum", "museum", "A museum of glass."),), _GRAPH,
                             _TYPES, _RELATIONS, 3),
             _json(**_RULES.model_dump()), ("founder", '"town"')),
    Question("select_regions_paper",
             select_regions.Input(_WHERE, _GRAPH, _TYPES, _RELATIONS, (("Velling Museum", "museum"),)),
             _json(anchors=[{"span": "Velling Museum", "description": "A museum."}], topics=["founders of museums"],
                   routing=1),
             ("velling museum",)),
    Question("dot_rules_paper",
             dot_rules.Input(_WHERE, "Velling Museum", (("Velling Museum", "museum", "A museum of glass."),), _GRAPH,
                             _TYPES, _RELATIONS, 3),
             _json(**_RULES.model_dump(exclude={"initial_query"})), ("founder", '"town"')),
    Question("judge_paths",
             judge_paths.Input(_WHERE, _RULES, ("founder of the Velling Museum",), (
                 _path("p1", "Velling Museum → Tilda Morck → Orsund: Tilda Morck founded the Velling Museum. Tilda "
                             "Morck was born in Orsund."),
                 _path("p2", "Velling Museum → 1962: The Velling Museum was founded in 1962."))),
             _json(verdicts=[
                 {"id": id, "label": label, "confidence": 0.9, "justification": "by the rules", "next_question": ""}
                 for id, label in (("p1", "complete"), ("p2", "irrelevant"))]),
             ('"id": "p1", "label": "complete"',), ('"id": "p2", "label": "complete"',)),
    Question("fallback_query",
             judge_paths.Search(_WHERE, _RULES.query_constraints, ("founder of the Velling Museum",),
                                  ("Velling Museum → Tilda Morck: Tilda Morck founded it.",), 2),
             _json(query="town where Tilda Morck was born"), ("morck",)),
    Question("rate_neighbours",
             rate_neighbours.Input("Where was Tilda Morck born?", (_FOUNDED,), "tilda morck", (
                 rate_neighbours.Neighbour("orsund", (_BORN,), "orsund is a town."),
                 rate_neighbours.Neighbour("1991", (("tilda morck", "died in", "1991"),), ""))),
             "1 (orsund): 10 | her birthplace\n2 (1991): 1",
             check=lambda said: len(said.ratings) == 2 and said.ratings[0].score > said.ratings[1].score),
    Question("sub_questions",
             sub_questions.Input(_WHERE, ("museum", "person", "town"), ("founded_by", "born_in"), ("date",)),
             _json(sub_questions=["Who founded the Velling Museum?", "Where was this founder born?"],
                   involved_types={"entity_types": ["museum", "person", "town"],
                                   "relations": ["founded_by", "born_in"], "attributes": []}),
             ("velling museum", "born")),
    # -- iterative retrieval
    Question("next_thought", next_thought.Input(_WHERE, (_MUSEUM,)),
             "The Velling Museum was founded by Tilda Morck. I need to know where Tilda Morck was born.",
             ("tilda morck",), ("so the answer is",)),
    Question("next_thought", next_thought.Input(_WHERE, (_MUSEUM, _FOUNDER), ("Tilda Morck founded the museum.",)),
             "So the answer is: Orsund", ("so the answer is", "orsund")),
    Question("missing_evidence", next_thought.Input(_WHERE, (_MUSEUM,)), "The birthplace of Tilda Morck is missing.",
             ("morck",), ("so the answer is",)),
    Question("generation", next_thought.GenerationInput(_WHERE, (_MUSEUM, _FOUNDER)),
             _json(reasoning="Tilda Morck founded the museum; she was born in Orsund.", answer="Orsund"), ("orsund",)),
    Question("directions", exploring.DirectionsInput(_WHERE, (_MUSEUM,)),
             _json(sufficient=False, targets=[{"entity": "Tilda Morck", "relation": "born in", "score": 1.0}]),
             ('"sufficient": false', "morck")),
    Question("dual_thoughts", dual_thoughts.Input(_WHERE, (_MUSEUM,)),
             _json(fast="Where was Tilda Morck born?", slow="Tilda Morck founded it; in which town was she born?"),
             ("morck", "born")),
    Question("fast_thought", dual_thoughts.Input(_WHERE, (_MUSEUM,)), _json(query="Where was Tilda Morck born?"),
             ("morck", "born")),
    Question("slow_thought", dual_thoughts.Input(_WHERE, (_MUSEUM,)),
             _json(query="Tilda Morck founded it; in which town was she born?"), ("morck", "born")),
    Question("concluding_thoughts", dual_thoughts.Input(_WHERE, (_MUSEUM, _FOUNDER)),
             _json(fast="In which country is Orsund?", slow="Tilda Morck was born in Orsund; in which country is it?",
                   chain="Tilda Morck founded the museum. She was born in Orsund.",
                   steps=["Tilda Morck founded the Velling Museum.", "Tilda Morck was born in Orsund."],
                   bridges=["Tilda Morck"]),
             ("tilda morck", "orsund")),
    Question("reasoning_chain", dual_thoughts.ChainInput(_WHERE, (_MUSEUM, _FOUNDER)),
             _json(chain="Tilda Morck founded the museum. She was born in Orsund.",
                   steps=["Tilda Morck founded the Velling Museum.", "Tilda Morck was born in Orsund."],
                   bridges=["Tilda Morck"]),
             ("tilda morck", "orsund")),
    Question("verify",
             dual_thoughts.VerifyInput(_WHERE, "Tilda Morck founded the museum. She was born in Orsund.",
                          ("Tilda Morck founded the museum.", "She was born in Orsund."), ("Tilda Morck",),
                          (_OTHER, _FOUNDER, _MUSEUM)),
             _json(documents=[2, 3]), check=lambda said: sorted(said.documents) == [2, 3]),
    Question("rank_passages", rank_passages.Input(_WHERE, (_OTHER, _FOUNDER, _MUSEUM)), _json(documents=[3, 2, 1]),
             check=lambda said: said.documents[-1] == 1 or set(said.documents) == {2, 3}),
    Question("search_or_answer", search_or_answer.Input(_WHERE, (_MUSEUM,), (), (_WHERE,)),
             _json(notes="Tilda Morck founded it.", query="Where was Tilda Morck born?", answer=""), ("morck",)),
    Question("search_or_answer",
             search_or_answer.Input(_WHERE, (_FOUNDER, _MUSEUM), ("Tilda Morck founded the museum.",), (_WHERE,)),
             _json(notes="She was born in Orsund.", query="", answer="Orsund"), ("orsund",)),
    Question("reflect",
             reflect.Input(_WHERE, _WHERE, "Velling Museum | founded by | Tilda Morck", (_MUSEUM,)),
             "Tilda Morck founded it; her birthplace is missing. The new query is: Where was Tilda Morck born?",
             ("morck",), ("so the answer is",)),
    # -- reading
    *(Question(name, value, f"{before}Orsund", ("orsund",)) for name, value, before in (
        ("answer", _READ, "Thought: Tilda Morck founded the museum, and she was born in Orsund.\nAnswer: "),
        ("answer_briefly", _READ, ""),
        ("knowledge_answer", _READ, ""),
        ("essay_answer", _READ, "The Velling Museum was founded by Tilda Morck, a glassblower. She was born in "),
        ("stepwise_answer", _READ, "The founder is Tilda Morck. She was born in Orsund.\nFINAL ANSWER: "),
        ("sparql_answer", final_answer.SparqlInput(_WHERE, _CONTEXT, _PASSAGES),
         'SELECT ?answer WHERE { "Velling Museum" "founded by" ?x . ?x "born in" ?answer }\nFINAL ANSWER: '))),
    Question("shorten_answer", final_answer.LongAnswer(_WHERE, "The founder, Tilda Morck, was born in Orsund."),
             "Orsund", ("orsund",), ("founder",)),
    Question("classify_question", final_answer.RoutedQuestion(_WHERE), "bridge", ('"bridge"', '"invalid": false')),
    Question("classify_question", final_answer.RoutedQuestion("Was Tilda Morck or Ines Holt born first?"), "comparison",
             ('"comparison"',)),
    Question("write_patterns", write_patterns.Input(_WHERE, _CONTEXT, ("Velling Museum", "Tilda Morck")),
             _json(patterns=[{"subject": "Velling Museum", "predicate": "founded by", "object": "?x"},
                             {"subject": "?x", "predicate": "born in", "object": "?answer"}],
                   wanted="?answer", compare=None),
             ("velling museum", "born")),
    Question("verify_claim",
             answer.Input("The founder of the Velling Museum was born in Orsund.", _CONTEXT, _PASSAGES),
             "Thought: Tilda Morck founded it, and she was born in Orsund.\nAnswer: SUPPORTED", ('"supported"',)),
    Question("verify_claim", answer.Input("The Velling Museum was founded by a pilot.", _CONTEXT, _PASSAGES),
             "Thought: Its founder was a glassblower.\nAnswer: NOT_SUPPORTED", ('"not_supported"',)),
    Question("global_map",
             reporting.MapInput("Who began the museum of Velling?",
                              "-----Report 4-----\n# Velling Museum\n\nTilda Morck founded the museum of Velling.",
                              (("Velling Museum", "Tilda Morck founded the museum of Velling."),)),
             _json(points=[{"description": "Tilda Morck founded the museum [Data: Reports (4)].", "score": 90}]),
             ("morck",)),
    Question("global_reduce",
             reporting.ReduceInput("Who began the museum of Velling?",
                                 "-----Analyst 1-----\nImportance: 90\nTilda Morck founded the museum "
                                 "[Data: Reports (4)].", ("Tilda Morck founded the museum.",)),
             _json(response="Tilda Morck founded it [Data: Reports (4)].", answer="Tilda Morck", abstained=False),
             ("tilda morck", '"abstained": false')),
    # -- judging
    Question("judge", judge.Input(_WHERE, ("Orsund",), "in the town of Orsund"),
             _json(verdict="correct", reason="The same town."), ('"correct"',)),
    Question("judge", judge.Input(_WHERE, ("Orsund",), "Velling"),
             _json(verdict="incorrect", reason="Another town."), ('"incorrect"',)),
    Question("judge_answer", judge.Input(_WHERE, ("Orsund",), "in the town of Orsund"), "1", ('"verdict": 1',)),
    Question("judge_answer", judge.Input(_WHERE, ("Orsund",), "Velling"), "0", ('"verdict": 0',)),
    Question("state_claims",
             claims.Text("Who founded the Velling Museum?", "Tilda Morck did. She was a glassblower."),
             _json(claims=["Tilda Morck founded the Velling Museum.", "Tilda Morck was a glassblower."]),
             ("tilda morck", "glassblower")),
    Question("support_claims",
             claims.SupportInput(_WHERE, ("Tilda Morck was born in Orsund.", "Tilda Morck was a pilot."), _FOUNDER[1]),
             _json(supported=[1]), check=lambda said: said.supported == [1]),
    Question("rate_context", claims.Text(_WHERE, "Glass is pretty."), _json(rating=0), ('"rating": 0',)),
    Question("judge_pair",
             judge_pair.Input(_WHERE, "Tilda Morck founded it, and she was born in Orsund.", "Glass is pretty."),
             _json(**{name: {"winner": 1, "reason": "It answers."} for name in (
                 "comprehensiveness", "logicity", "relevance", "coherence", "overall")}),
             ('"overall": {"winner": 1',)),
)  # fmt: skip
