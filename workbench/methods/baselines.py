"""Baselines at both ends of the scale: no passages, all passages, and the gold ones.

    none           no passage at all: what the reader's model knows by itself (closed book)
    long_context   the corpus in its order, up to a budget of tokens: no retrieval, a long window
    oracle         the gold passages of the question: retrieval without an error

`oracle` knows the answers, so no SPEC makes it: `wb.oracle(index, questions)` does, its label says it, and no row of a
paper is filled by it."""

from __future__ import annotations

from collections.abc import Iterable

from workbench import tokens
from workbench.errors import DataError, SettingError
from workbench.index import Index
from workbench.methods.base import CUT_TO_K, Method
from workbench.records import Evidence, Question, by_place
from workbench.settings import Budget, validated
from workbench.text import text_hash
from workbench.trace import Trace


class NoRetrieval(Method):
    """Finds nothing. A reader that refuses what its context does not hold abstains from everything: read with
    `direct[mode=open]`."""

    name, paper, scale = "none", "none: the reader alone", "1/rank"
    encodes = finds = False

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        with trace.span("RETRIEVER", "retrieve nothing"):
            return Evidence(question, self.label, self.scale, ())


class LongContext(Method):
    """The leading passages of the corpus, whatever is asked, of at most `tokens` cl100k tokens together. All are meant
    for the reader, so `k` has to be as large."""

    name, paper, scale = "long_context", "none: the corpus in its order", "1/rank"
    encodes = False

    @validated
    class Settings:
        tokens: Budget = 100_000

    def prepare(self) -> None:
        size = lambda passage, _: tokens.count(f"{passage.content}\n\n")  # noqa: E731
        self._passages, _ = tokens.leading(self.index.passages.passages, size, self.settings.tokens)

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        n = len(self._passages)
        with trace.span("RETRIEVER", "take the corpus", passages=n):
            best = by_place(self._passages[:k])
        note = f"the corpus of {n:,} passages is {CUT_TO_K}={k}" if n > k else None
        return Evidence(question, self.label, self.scale, best, selected=min(n, k), fallback=note)


class Oracle(Method):
    """The gold passages of some questions, which are recognised by their text."""

    name, paper, scale = "oracle", "none: the gold passages", "1/rank"
    encodes = False

    @validated
    class Settings:
        hash: str  # of all gold, so that rows of other questions are not taken for these

    def __init__(self, index: Index, questions: Iterable[Question]):
        gold: dict[str, tuple[str, ...]] = {}
        for question in questions:
            if gold.setdefault(question.question, question.support) != question.support:
                raise DataError(
                    f"two questions read {question.question!r} and have different gold passages; remove one of them"
                )
        self._gold = gold
        super().__init__(index, hash=text_hash(repr(sorted(gold.items()))))
        self.label = self.name

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        if question not in self._gold:
            raise SettingError(
                f"the oracle has no gold for {question[:200]!r}; make it with all questions: wb.oracle(index, "
                "questions)"
            )
        layer, gold = self.index.passages, self._gold[question]
        passages = [layer.passages[layer.row[id]] for id in gold if id in layer.row]
        missing = (
            f"{len(gold) - len(passages)} gold passages are not in the index" if len(passages) < len(gold) else None
        )
        note = missing if gold else "the question has no gold passages"
        return Evidence(question, self.label, self.scale, by_place(passages[:k]), fallback=note)


def oracle(index: Index, questions: Iterable[Question]) -> Oracle:
    """The gold passages of these questions as a method: the result of a reader when retrieval makes no error."""
    return Oracle(index, questions)
