"""Fusion, reranking, and the ends of the scale: no retrieval, everything, and the gold alone."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.errors import DataError, SettingError
from workbench.llm.meter import Meter
from workbench.llm.step import Result
from workbench.methods.base import Method
from workbench.methods.rerank import ordered, starts
from workbench.records import Evidence, Question, ranked
from workbench.testing.data import small_index

QUESTION = "Who designed the bridge over the river at Vennick?"


@pytest.fixture(scope="module")
def index():
    return small_index()


class Listed(Method):
    """The passages at some rows of the index."""

    name, paper, scale, encodes = "listed", "none", "1/rank", False

    def __init__(self, index, *rows, fallback=None):
        self.rows, self.fallback = rows, fallback
        super().__init__(index)

    def search(self, question, k, trace):
        passages = [self.index.passages.passages[row] for row in self.rows[:k]]
        return Evidence(question, self.label, self.scale, ranked(passages, range(len(passages), 0, -1)),
                        fallback=self.fallback)  # fmt: skip


def rows(index, evidence):
    return [index.passages.row[passage.id] for passage, _ in evidence.passages]


def test_ranks_are_fused_by_hand(index):
    """Of rankings 0 1 2 and 2 3: 1/61, 1/62, 1/63 + 1/61, 1/62; the tie of 1 and 3 goes to the first method."""
    fused = wb.method("rrf", index, over=[Listed(index, 0, 1, 2), Listed(index, 2, 3, fallback="half")])
    evidence = fused.retrieve(QUESTION)
    assert rows(index, evidence) == [2, 0, 1, 3]
    assert [score for _, score in evidence.ranking] == pytest.approx([1 / 63 + 1 / 61, 1 / 61, 1 / 62, 1 / 62])
    assert evidence.fallback == "listed: half"
    shallow = wb.method("rrf", index, over=[Listed(index, 0, 1, 2), Listed(index, 2, 3)], depth=1, constant=0)
    assert shallow.retrieve(QUESTION).ranking == [(index.passages.passages[row].id, 1.0) for row in (0, 2)]


def test_a_method_over_others_needs_what_they_need(index):
    fused = wb.method("rrf[over=bm25+ircot[backbone=hipporag2,iterations=1]]", index)
    assert fused.label == "rrf[over=bm25+ircot[backbone=hipporag2,iterations=1]]"
    assert set(fused.steps) == {"next_thought", "fact_filter"} and set(fused.layers) >= {"passages", "facts"}
    assert len(fused.engines) > 2
    assert wb.method(fused.label, index).retrieve(QUESTION) == fused.retrieve(QUESTION)
    for one in ("bm25", "bm25+", "bm25+nowhere"):
        with pytest.raises(SettingError):
            wb.method("rrf", index, over=one)


class Ordering:
    """A model that reverses every list, or fails at the lists of some sizes."""

    name, workers = "ordering", 1

    def __init__(self, *failing):
        self.meter, self.failing, self.sizes = Meter(), failing, []

    def run(self, step, inputs, *, trace=None):
        (value,) = inputs
        self.sizes.append(len(value.passages))
        if len(self.sizes) in self.failing:
            return [Result(None, failure="no")]
        return [Result(step.output(documents=[*range(len(value.passages), 0, -1), 1, 99, 0]))]


def test_lists_slide_from_the_end_to_the_beginning(index):
    """Of 0 1 2 3 4 with lists of three, two apart: 0 1 [4 3 2], then [4 1 0] 3 2."""
    engine = Ordering()
    found = wb.method("rerank[window=3,stride=2]", index, engine, over=Listed(index, 0, 1, 2, 3, 4)).retrieve(QUESTION)
    assert rows(index, found) == [4, 1, 0, 3, 2] and engine.sizes == [3, 3]
    assert [score for _, score in found.ranking] == [1 / rank for rank in range(1, 6)]
    engine = Ordering(1)
    found = wb.method("rerank[window=3,stride=2]", index, engine, over=Listed(index, 0, 1, 2, 3, 4)).retrieve(QUESTION)
    assert rows(index, found) == [2, 1, 0, 3, 4] and "1 lists could not be ordered" in found.fallback
    with pytest.raises(SettingError, match="at most window=3"):
        wb.method("rerank[window=3,stride=4]", index)


@pytest.mark.parametrize("n", range(60))
def test_every_passage_is_in_a_list(n):
    covered = {row for start in starts(n, 20, 10) for row in range(start, min(n, start + 20))}
    assert covered == set(range(n)) and len(set(starts(n, 20, 10))) == len(starts(n, 20, 10))


def test_numbers_that_a_model_invents_change_nothing(index):
    part = index.passages.passages[:3]
    assert ordered(part, [3, 3, 9, -1, 0]) == [part[2], part[0], part[1]]


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory):
    """A cross-encoder of a few hundred random weights."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    folder = tmp_path_factory.mktemp("cross-encoder")
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    (folder / "vocab.txt").write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{one}" for one in letters)])
    )
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=57, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, num_labels=1
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    return str(folder)


def test_a_cross_encoder_orders_by_its_scores(index, cross_encoder):
    from sentence_transformers import CrossEncoder

    method = wb.method("rerank[over=bm25,depth=6]", index, model=cross_encoder)
    found, passages = method.retrieve(QUESTION, k=4), wb.method("bm25", index).retrieve(QUESTION, 6).passages
    scores = CrossEncoder(cross_encoder, device="cpu").predict([(QUESTION, passage.content) for passage, _ in passages])
    best = sorted(zip(scores, [passage.id for passage, _ in passages]), reverse=True)[:4]
    assert [name for name, _ in found.ranking] == [name for _, name in best]
    assert [score for _, score in found.ranking] == pytest.approx([float(score) for score, _ in best], abs=1e-5)
    assert method.steps == () and found.scale == "cross-encoder" and len(method.weights_hash) == 64
    assert wb.method("rerank[over=bm25,batch=1]", index, model=cross_encoder).retrieve(QUESTION, 4).scale == found.scale
    with pytest.raises(SettingError, match="could not be loaded"):
        wb.method("rerank", index, model="no/such/folder/anywhere").retrieve(QUESTION)


def test_no_retrieval_and_the_whole_corpus(index):
    nothing = wb.method("none", index).retrieve(QUESTION)
    assert nothing.passages == () and nothing.fallback is None
    whole = wb.method("long_context", index).retrieve(QUESTION, k=1000)
    assert rows(index, whole) == list(range(len(index.passages.passages))) and whole.selected == len(whole.passages)
    some = wb.method("long_context[tokens=300]", index).retrieve("Another question?", k=1000)
    assert (
        0 < len(some.passages) < len(whole.passages)
        and wb.method("long_context[tokens=1]", index).retrieve("?").passages == ()
    )
    assert "cut to k=2" in wb.method("long_context", index).retrieve(QUESTION, k=2).fallback


def test_the_oracle_ranks_the_gold_alone(index):
    ids = [passage.id for passage in index.passages.passages]
    asked = [
        Question("a", "First?", support=(ids[3], ids[1])),
        Question("b", "Second?", support=(ids[0], "gone")),
        Question("c", "Third?"),
    ]
    oracle = wb.oracle(index, asked)
    assert rows(index, oracle.retrieve("First?")) == [3, 1] and rows(index, oracle.retrieve("First?", k=1)) == [3]
    assert "1 gold passages are not in the index" in oracle.retrieve("Second?").fallback
    assert "no gold" in oracle.retrieve("Third?").fallback
    with pytest.raises(SettingError, match="has no gold for"):
        oracle.retrieve("Fourth?")
    with pytest.raises(DataError, match="different gold"):
        wb.oracle(index, [*asked, Question("d", "First?", support=(ids[3],))])
    with pytest.raises(SettingError):
        wb.method("oracle", index)
