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


@pytest.mark.parametrize("name", NAMES)
def test_half_of_the_questions_of_each_length_are_paraphrases(name):
    counts = Counter((question.hops, question.type) for question in wb.load(DOMAINS / name).questions)
    assert counts == {(hops, type_): 5 for hops in (1, 2, 3) for type_ in ("plain", "paraphrase")}
