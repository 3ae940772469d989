"""Models are loaded before the first question, so that its seconds are comparable with those of the others."""

from __future__ import annotations

import io

import pytest
from tiny import TinyEncoder
from tqdm.auto import tqdm

import workbench as wb
from workbench.evaluation import plan


class LateEncoder(TinyEncoder):
    """Has its model from the moment in which its dimension is asked for, as a SentenceEncoder; notes what is done."""

    def __init__(self):
        self.done: list[str] = []

    @property
    def dimension(self) -> int:
        self.done.append("load")
        return TinyEncoder.dimension

    def encode(self, texts):
        self.done.append("encode")
        return super().encode(texts)


class Behind(LateEncoder):
    live = False  # an endpoint, for which the dimension is a request


@pytest.mark.parametrize(
    ("method", "encoder", "first"),
    [("dense", LateEncoder, ["load"]), ("bm25", LateEncoder, []), ("dense", Behind, [])],
    ids=["dense", "bm25", "endpoint"],
)
def test_the_encoder_is_loaded_before_a_question_that_it_encodes(tiny, tmp_path, monkeypatch, method, encoder, first):
    index = wb.Index.build(tiny, None, tmp_path / "index", encoder=TinyEncoder(), progress=False)
    index = wb.Index.open(index.folder, late := encoder())
    asked = []
    ask = plan.Plan.ask
    monkeypatch.setattr(plan.Plan, "ask", lambda *given: asked.append(list(late.done)) or ask(*given))
    questions, out = tiny.questions[:2], tmp_path / "run"
    with tqdm(total=2, file=io.StringIO()) as bar:
        wb.evaluate(questions, [wb.method(method, index)], None, out, progress=bar)
    assert "apart from the questions" in bar.postfix, "how long it took is told"
    loaded = [done[: done.index("encode")] if "encode" in done else done for done in asked]
    assert len(asked) == 2 and loaded[0] == first
    late.done.clear()
    wb.evaluate(questions, [wb.method(method, index)], None, out, progress=False)
    assert late.done == [], "nothing is asked, so nothing is loaded"


@pytest.mark.parametrize(("reader", "loads"), [(None, 0), ("direct", 1)])
def test_the_pipeline_is_loaded_for_rules_that_read_with_it(tiny, tmp_path, monkeypatch, reader, loads):
    index = wb.Index.build(tiny, None, tmp_path / "index", encoder=TinyEncoder(), progress=False)
    loaded = []
    monkeypatch.setattr(plan, "nlp", lambda: loaded.append(True))
    made = reader and wb.reader(reader, wb.engine("rules"), index=index)
    wb.evaluate(tiny.questions[:2], [wb.method("bm25", index)], made, tmp_path / "run", progress=False)
    assert len(loaded) == loads
