"""Marks on answers, and the facts that they go by. All names are invented for these tests."""

from __future__ import annotations

import pytest
from tiny import TinyEncoder

from workbench.data import Dataset, Extraction
from workbench.index import Index
from workbench.llm.step import Result
from workbench.records import (
    Answer,
    ContextGraph,
    ContextRelation,
    Evidence,
    Match,
    Passage,
    Pattern,
    Scored,
    Triple,
    Unit,
)
from workbench.sparql import NameSimilarity, check, execute, facts_of, parse, verify
from workbench.sparql.facts import states
from workbench.sparql.proof import agrees
from workbench.trace import Trace

PASSAGES = {
    "fever": Passage(
        "fever", "Dune Fever", "Dune Fever is a film of 1920. It was directed by Ada Lindqvist at Tessel."
    ),
    "ada": Passage(
        "ada",
        "Ada Lindqvist",
        "Ada Lindqvist (3 May 1889 – 1967) was a director. She was born in Orsk and died in Marn.",
    ),
    "oar": Passage("oar", "The Grey Oar", "The Grey Oar was directed by Bo Marr."),
}
STATED = {
    "fever": (("Dune Fever", "directed by", "Ada Lindqvist"), ("Dune Fever", "is", "film")),
    "ada": (
        ("Ada Lindqvist", "born in", "Orsk"),
        ("Ada Lindqvist", "died in", "Marn"),
        ("Ada Lindqvist", "born on", "3 May 1889"),
    ),
    "oar": (("The Grey Oar", "directed by", "Bo Marr"),),
}
QUESTION = "Where was the director of Dune Fever born?"
QUERY = "SELECT ?x WHERE { Dune Fever directed by ?d . ?d born in ?x }"


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> Index:
    extractions = tuple(Extraction(id, (), triples, "by hand") for id, triples in STATED.items())
    data = Dataset("films", tuple(PASSAGES.values()), (), extractions)
    return Index.build(data, None, tmp_path_factory.mktemp("films"), encoder=TinyEncoder(), progress=False)


def evidence(*ids, **more):
    return Evidence(QUESTION, "by hand", "none", tuple(Scored(PASSAGES[id], 1.0) for id in ids), **more)


def marked(answer, query=QUERY, facts=None, passages=PASSAGES):
    facts = facts if facts is not None else [Triple(*t, (id,)) for id, told in STATED.items() for t in told]
    return check(answer, execute(parse(query), facts, NameSimilarity()), passages).mark


BORN = "SELECT ?x WHERE { Dune Fever directed by ?d . ?d date of birth ?x }"


@pytest.mark.parametrize(
    ("answer", "query", "mark"),
    [
        ("Orsk", QUERY, "verified"), ("in Orsk", QUERY, "verified"), ("Marn", QUERY, "contradicted"),
        ("Bo Marr", QUERY, "contradicted"), ("", QUERY, "unsupported"),
        # A date in brackets is told by its name.
        ("May 3, 1889", BORN, "verified"), ("1889", BORN, "verified"), ("1967", BORN, "contradicted"),
        # A broken chain supports nothing.
        ("Orsk", QUERY.replace("born in", "favourite colour"), "unsupported"), ("Orsk", "no query", "unsupported"),
    ],
)  # fmt: skip
def test_a_chain_that_the_passages_tell(answer, query, mark):
    assert marked(answer, query) == mark


def test_a_fact_that_its_passage_does_not_tell_supports_nothing():
    """As rules extract: the town of one person as another's."""
    loose = [
        Triple("Dune Fever", "directed by", "Ada Lindqvist", ("fever",)),
        Triple("Ada Lindqvist", "born in", "Tessel", ("fever",)),
    ]
    assert marked("Tessel", facts=loose) == "unsupported"
    assert marked("Tessel", facts=[Triple(*fact.members) for fact in loose]) == "unsupported"


def test_a_rival_value_leaves_it_open():
    two = PASSAGES | {"other": Passage("other", "Ada Lindqvist", "Ada Lindqvist was born in Tessel.")}
    facts = [Triple(*t, (id,)) for id, told in STATED.items() for t in told]
    facts.append(Triple("Ada Lindqvist", "born in", "Tessel", ("other",)))
    assert marked("Orsk", facts=facts, passages=two) == "unsupported"


def test_a_comparison_is_verified_by_both_sides():
    facts = [Triple("Kestrel FM", "founded in", "1951", ("a",)), Triple("Radio Plover", "founded in", "1960", ("b",))]
    passages = {
        "a": Passage("a", "Kestrel FM", "Kestrel FM was founded in 1951."),
        "b": Passage("b", "Radio Plover", "It was founded in 1960 by Bo Marr."),
    }
    query = "SELECT ?a ?b WHERE { Kestrel FM founded ?a . Radio Plover founded ?b }"
    query += '\n# compare: earlier ?a ?b pick "yes" "no"'
    assert marked("Yes.", query, facts, passages) == "verified"
    assert marked("no", query, facts, passages) == "contradicted"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("3 May 1889", "1889", True), ("57", "fifty-seven", True), ("the town of Orsk", "Orsk", True),
        ("Orsk", "Orskholm", False), ("yes", "Yes, it was", True), ("no", "Norway", False),
        ("1889", "1890", False), ("19", "1919", False), ("", "Orsk", False),
    ],
)  # fmt: skip
def test_agreement(one, other, same):
    assert agrees(one, other) == agrees(other, one) == same


def test_a_hop_is_told_where_its_words_stand_near_its_value():
    match = Match(Pattern("?d", "born in", "?x"), Triple("Ada Lindqvist", "born in", "Orsk", ("ada",)), 1.0, True)
    assert states(match, PASSAGES["ada"])
    assert not states(match, Passage("ada", "Ada Lindqvist", "Ada Lindqvist knew Orsk."))
    assert not states(match, Passage("x", "Bo Marr", "He was born in Orsk."))
    assert not states(match, Passage("x", "Ada Lindqvist", "Orsk " + "and so on " * 50 + "she was born."))


def test_facts_of_evidence_are_those_its_passages_state(index):
    found = facts_of(evidence("fever", "ada"), index)
    assert {fact.passages for fact in found} == {("fever",), ("ada",)} and len(found) == 7
    assert Triple("Ada Lindqvist", "date of death", "1967", ("ada",)) in found  # in brackets behind the name
    assert Triple("Dune Fever", "directed by", "Ada Lindqvist", ("fever",)) in found
    assert {fact.passages for fact in facts_of(evidence("fever", "ada"), index, ["ada"])} == {("ada",)}
    assert facts_of(evidence(), index) == []


def test_facts_that_the_method_found_are_joined_with_those(index):
    own = (
        Scored(Triple("dune fever", "directed by", "ada lindqvist", ("fever",)), 1.0),
        Scored(Triple("oar", "made of", "ash", ("oar",)), 1.0),
        Scored(Triple("oar", "made of", "elm"), 1.0),
    )
    found = facts_of(evidence("fever", facts=own), index)
    assert [fact.object for fact in found] == ["Ada Lindqvist", "film", "elm"]
    context = ContextGraph(  # and so are those of a context's own tables
        relations=(ContextRelation("ORSK", "MARN", "lies north of", passages=("ada",)),),
        chunks=(Unit("1", "…", passages=("ada",)),),
    )
    found = facts_of(evidence(context=context), index)
    assert Triple("ORSK", "lies north of", "MARN", ("ada",)) in found and len(found) == 6


def test_verify_writes_the_query_by_itself(index):
    trace = Trace()
    proof = verify(Answer(QUESTION, "Orsk"), evidence("fever", "ada"), index, trace=trace)
    assert (proof.mark, proof.answer, [v for v, _ in proof.answers][:1]) == ("verified", "Orsk", ["Orsk"])
    assert [event.step for event in trace] == ["write_patterns", "execute"]
    assert verify(Answer(QUESTION, "Marn"), evidence("fever", "ada"), index, query=QUERY).mark == "contradicted"
    assert verify(Answer(QUESTION, "Orsk"), evidence("fever"), index, query=QUERY).mark == "unsupported"
    assert verify(Answer(QUESTION, "Orsk"), evidence("fever"), index, query="?").flaw
    told = trace.find("execute")[0].outputs
    assert told["mark"] == "verified" and told["bindings"][0]["matches"][0]["passages"] == ["fever"]


def test_an_engine_that_fails_is_a_flaw(index):
    class Broken:
        name, meter = "broken", None

        def run(self, step, inputs, *, trace=None):
            return [Result(None, failure="out of order")]

    proof = verify(Answer(QUESTION, "Orsk"), evidence("fever"), index, Broken())
    assert "out of order" in proof.flaw and proof.mark == "unsupported"
