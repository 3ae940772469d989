"""The methods of a run share the vectors of its questions."""

from __future__ import annotations

from collections import Counter

from tiny import CountingEncoder

import workbench as wb
from workbench.index import Index

METHODS = ("dense", "hipporag2", "hipporag2[damping=0.9]", "lightrag", "ket_rag", "bdtr[backbone=dense]")


class PlainEncoder(CountingEncoder):
    """An encoder without instructions: a question has one vector, whatever is searched."""

    def as_query(self, text: str, task: str = "") -> str:
        return text


def test_a_question_is_encoded_once_for_all_methods(tiny, tmp_path):
    encoder = PlainEncoder()
    index = Index.build(tiny, None, tmp_path / "index", encoder=encoder, progress=False)
    methods = {spec: wb.method(spec, index) for spec in METHODS}
    methods["another opening"] = wb.method("dense", Index.open(tmp_path / "index", encoder))
    before = len(encoder.texts)
    run = wb.evaluate(tiny.questions, methods, wb.reader("direct"), tmp_path / "run", progress=False)
    assert not any(row["failure"] for row in run.rows)
    counted = Counter(encoder.texts[before:])
    assert {question.question: counted[question.question] for question in tiny.questions} == {
        question.question: 1 for question in tiny.questions
    }
