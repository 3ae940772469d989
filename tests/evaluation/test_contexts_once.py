"""A context is laid out once per row, and compressed once where a compressor is set."""

from __future__ import annotations

from collections import Counter

import pytest

import workbench as wb
from workbench import tokens
from workbench.reading.compression import Similarity
from workbench.records import Compressed, ContextGraph

READERS = (
    "direct", "direct[layout=graph]", "sparql[route=true]", "local", "structured", "sparql-exec",
    "direct[compress=similarity]", "structured[compress=similarity]", "sparql-exec[compress=similarity]",
)  # fmt: skip
SHORT = "the only text that is left"


@pytest.fixture
def calls(monkeypatch) -> Counter:
    """How often readers lay out a context (`layout`) and similarity compresses one (`compression`)."""
    counted = Counter()

    def count(owner, name, what):
        original = getattr(owner, name)

        def counting(*args, **settings):
            counted[what] += 1
            return original(*args, **settings)

        monkeypatch.setattr(owner, name, counting)

    for reader in wb.reading.READERS.values():
        if "uncompressed" in vars(reader):
            count(reader, "uncompressed", "layout")
    count(Similarity, "compress", "compression")
    return counted


def expected(spec: str, rows: int) -> dict[str, int]:
    return {"layout": rows, "compression": rows} if "compress=" in spec else {"layout": rows}


@pytest.mark.parametrize("spec", READERS)
def test_evaluate_makes_each_context_once_per_row(calls, tiny, tiny_index, tmp_path, spec):
    reader = wb.reader(spec, index=tiny_index)
    methods = [wb.method(name, tiny_index) for name in ("dense", "bm25")]
    run = wb.evaluate(tiny.questions, methods, reader, tmp_path / "run", progress=False)
    assert not any(row["failure"] for row in run.rows)
    assert calls == expected(spec, len(run.rows))


@pytest.mark.parametrize("spec", READERS)
def test_a_single_question_makes_each_context_once(calls, tiny, tiny_index, spec):
    evidence = wb.method("dense", tiny_index).retrieve(tiny.questions[0].question)
    wb.reader(spec, index=tiny_index).read(evidence.question, evidence)
    assert calls == expected(spec, 1)


class Cuts:
    """A compressor that leaves one short text, whose tokens it has counted."""

    name = label = "cuts"
    budget = 100

    def compress(self, question, context):
        return Compressed(question, self.label, self.budget, context, ContextGraph(), SHORT, 6, 60)


def test_a_compressed_text_is_not_counted_again(monkeypatch, tiny, tiny_index, tmp_path):
    count = tokens.count
    monkeypatch.setattr(tokens, "count", lambda text: pytest.fail("counted again") if text == SHORT else count(text))
    reader = wb.reader("direct", compress=Cuts())
    run = wb.evaluate(tiny.questions, [wb.method("dense", tiny_index)], reader, tmp_path / "run", progress=False)
    assert not any(row["failure"] for row in run.rows) and {row["read_tokens"] for row in run.rows} == {6}
