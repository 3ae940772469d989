"""Graphs of domains for which nothing was prepared: their questions are what `benchmarks/dotrag_domains.py` asks."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest

import workbench as wb

DOMAINS = Path(__file__).resolve().parent.parent / "domains"
NAMES = sorted(path.name for path in DOMAINS.iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_the_answers_are_what_the_walk_of_a_question_leads_to(name):
    """`-` before a relation follows it from its tail to its head; no walk leads back to where it began."""
    data = wb.load(DOMAINS / name)
    joined = defaultdict(set)
    for one in data.triples:
        joined[one.subject, one.relation].add(one.object)
        joined[one.object, f"-{one.relation}"].add(one.subject)
    walks = [json.loads(line)["walk"] for line in (DOMAINS / name / "questions.jsonl").read_text("utf-8").splitlines()]
    for question, walk in zip(data.questions, walks, strict=True):
        reached = set(question.start)
        for hop in walk.split():
            reached = {other for one in reached for other in joined[one, hop]} - set(question.start)
        assert reached == set(question.answers) != set(), question.question
        assert question.hops == len(walk.split()) and question.start[0] in question.question
    counts = Counter((question.hops, question.type) for question in data.questions)
    assert counts == {(hops, type_): 5 for hops in (1, 2, 3) for type_ in ("plain", "paraphrase")}


@pytest.fixture(scope="module")
def trials(tmp_path_factory):
    """DotRAG on one of the graphs, by rules."""
    engine = wb.engine("rules")
    index = wb.Index.build(DOMAINS / "trials", engine, tmp_path_factory.mktemp("trials"), layers=["typed"])
    return wb.method("dotrag", index, engine)


def test_of_two_conditions_the_answers_are_where_both_walks_end(trials):
    triples = wb.load(DOMAINS / "trials").triples
    paid = {one.subject for one in triples if (one.relation, one.object) == ("financed_by", "Dunnock Trust")}
    led = {one.subject for one in triples if (one.relation, one.object) == ("principal_investigator", "Dr Flora Nairn")}
    question = "Which trials were financed by the Dunnock Trust and have Dr Flora Nairn as principal investigator?"
    found = trials.retrieve(question, trace="off")
    ends = {path.nodes[-1] for path, _ in found.paths if path.verdict == "complete"}
    assert ends == paid & led == {"GENTIAN"} and paid - led and led - paid
    assert {path.nodes[0] for path, _ in found.paths} == {"Dunnock Trust", "Dr Flora Nairn"} and not found.fallback


def test_of_two_conditions_that_nothing_satisfies_all_paths_are_kept_and_the_evidence_says_so(trials):
    question = "Which trials were financed by the Dunnock Trust and have Dr Amity Brock as principal investigator?"
    found = trials.retrieve(question, trace="off")
    assert "no end in common" in found.fallback and found.paths
