"""The reader `sparql-exec`: what it answers, when it abstains, and what it leaves to another prompt."""

from __future__ import annotations

import pytest
from tiny import TinyEncoder

import workbench as wb
from workbench.data import Dataset, Extraction
from workbench.errors import SettingError
from workbench.index import Index
from workbench.records import Evidence, Passage, Scored
from workbench.trace import Trace

PASSAGES = {
    "fever": Passage("fever", "Dune Fever", "Dune Fever is a film. It was directed by Ada Lindqvist."),
    "ada": Passage("ada", "Ada Lindqvist", "Ada Lindqvist was a director. She was born in Orsk."),
    "bo": Passage("bo", "Bo Marr", "Bo Marr was born in Tessel."),
}
STATED = {
    "fever": (("Dune Fever", "directed by", "Ada Lindqvist"),),
    "ada": (("Ada Lindqvist", "born in", "Orsk"),),
    "bo": (("Bo Marr", "born in", "Tessel"),),
}
QUESTION = "Where was the director of Dune Fever born?"


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> Index:
    extractions = tuple(Extraction(id, (), triples, "by hand") for id, triples in STATED.items())
    data = Dataset("films", tuple(PASSAGES.values()), (), extractions)
    return Index.build(data, None, tmp_path_factory.mktemp("films"), encoder=TinyEncoder(), progress=False)


def evidence(*ids):
    return Evidence(QUESTION, "by hand", "none", tuple(Scored(PASSAGES[id], 1.0) for id in ids), trace=Trace())


def test_the_answer_is_what_the_query_binds(index):
    found = evidence("bo", "fever", "ada")
    answer = wb.reader("sparql-exec", index=index).read(QUESTION, found)
    assert (answer.text, answer.abstained, answer.proof.mark) == ("Orsk", False, "verified")
    assert answer.passages == ("fever", "ada") and answer.reading.prompt == answer.reader == "sparql-exec"
    assert answer.thought.startswith("SELECT ?answer") and answer.thought.endswith("Ada Lindqvist born in Orsk")
    assert [event.step for event in found.trace] == ["sparql-exec", "write_patterns", "execute"]


def test_where_nothing_is_bound_it_abstains_and_says_where_the_chain_breaks(index):
    answer = wb.reader("sparql-exec", index=index).read(QUESTION, evidence("bo", "fever"))
    assert (answer.text, answer.abstained) == ("", True)
    assert answer.proof.broken == 2 and answer.passages == ("fever",) and not answer.proof.mark
    assert answer.thought.endswith("No fact matches: ?x1 born in ?answer")
    small = wb.reader("sparql-exec[budget=25]", index=index)  # facts of passages that do not fit do not count
    assert small.read(QUESTION, evidence("fever", "ada")).proof.broken == 2
    answer = small.read("Was Ada Lindqvist a singer?", evidence("ada"))
    assert answer.abstained and "no pattern" in answer.reading.flaw


def test_another_prompt_is_asked_if_it_is_named(index):
    found = evidence("bo", "fever", "ada")
    reader = wb.reader("sparql-exec[retry=thought]", index=index)
    answer = reader.read("What is the favourite colour of Bo Marr?", found)
    assert answer.reading.prompt == "thought" and answer.reading.retried
    assert answer.passages == ("bo", "fever", "ada") and answer.proof is not None


@pytest.mark.parametrize(
    ("kind", "held", "prompt", "retried", "calls"),
    [
        ("bridge", ("bo", "fever", "ada"), "sparql-exec", False, ["classify_question", "write_patterns"]),
        ("bridge", ("bo",), "cot", True, ["classify_question", "write_patterns", "stepwise_answer"]),
        ("inference", ("bo",), "sparql-exec", True, ["classify_question", "stepwise_answer", "write_patterns"]),
    ],
)
def test_routed_the_query_takes_the_place_of_its_prompt(index, monkeypatch, kind, held, prompt, retried, calls):
    from workbench.reading import base
    from workbench.reading.prompts import POLICY, Route

    asked = []

    def routed(question, engine, router, *_):
        asked.append("classify_question")
        return Route(POLICY[kind], kind)

    monkeypatch.setattr(base, "route", routed)
    found = evidence(*held)
    answer = wb.reader("sparql-exec[route=true]", index=index).read(QUESTION, found)
    asked += [event.step for event in found.trace if event.step in ("write_patterns", "stepwise_answer")]
    assert (answer.reading.prompt, answer.reading.retried, answer.reading.kind) == (prompt, retried, kind)
    assert asked == calls and answer.proof is not None


def test_facts_of_what_a_compressor_drops_do_not_count(index):
    class Drops:
        label, budget = "drops", 1

        def compress(self, question, context):
            from dataclasses import replace as but

            from workbench.records import Compressed

            kept = but(context, chunks=context.chunks[:1])
            return Compressed(question, self.label, 1, context, kept, "text", 1, 2)

    answer = wb.reader("sparql-exec", index=index, compress=Drops()).read(QUESTION, evidence("fever", "ada"))
    assert answer.proof.broken == 2 and answer.reading.compressor == "drops"


def test_what_cannot_be_verified_is_not_said_if_so_asked(index):
    loose = Evidence(
        QUESTION, "by hand", "none", (Scored(Passage("fever", "x", "x"), 1.0), Scored(Passage("ada", "y", "y"), 1.0))
    )
    assert wb.reader("sparql-exec", index=index).read(QUESTION, loose).text == "Orsk"
    said = wb.reader("sparql-exec[verified=true]", index=index).read(QUESTION, loose)
    assert said.proof.mark != "verified" and said.abstained


@pytest.mark.parametrize("settings", [{"route": "yes"}, {"prompt": "cot"}, {"check": True}, {"verified": "yes"}])
def test_settings_that_mean_nothing_here(index, settings):
    with pytest.raises(SettingError):
        wb.reader("sparql-exec", index=index, **settings)


def test_the_label_says_what_was_changed(index):
    assert wb.reader("sparql-exec[retry=cot,k=3]", index=index).label == "sparql-exec[retry=cot,k=3]"
    assert wb.reader("sparql-exec[retry=cot]", index=index).steps == ("write_patterns", "stepwise_answer")
    steps = ("write_patterns", "classify_question", "stepwise_answer")
    assert wb.reader("sparql-exec[route=true]", index=index).steps == steps
