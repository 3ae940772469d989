"""A method of a package of its own: passages by the rarity of the words that they share with the question."""

import re
from collections import Counter
from math import log

from workbench.methods import Method
from workbench.records import Evidence, ranked
from workbench.settings import Positive, Share, validated


class Overlap(Method):
    """The sum of the idf of the words that question and passage share, as a share of the question's own sum."""

    name, paper, scale = "overlap", "none: an example", "idf share"

    @validated
    class Settings:
        least: Share = 0.0
        letters: Positive = 3

    def prepare(self):
        self._words = [self._of(passage.content) for passage in self.index.passages.passages]
        counts = Counter(word for words in self._words for word in words)
        self._idf = {word: log(1 + len(self._words) / count) for word, count in counts.items()}

    def search(self, question, k, trace):
        asked = {word for word in self._of(question) if word in self._idf}
        whole = sum(map(self._idf.get, sorted(asked))) or 1.0
        with trace.span("RETRIEVER", "overlap", words=sorted(asked)) as span:
            shares = [sum(map(self._idf.get, sorted(asked & words))) / whole for words in self._words]
            order = sorted(range(len(shares)), key=lambda row: (-shares[row], row))
            order = [row for row in order if shares[row] >= self.settings.least][:k]
            passages = [self.index.passages.passages[row] for row in order]
            span.score((passage.id, shares[row]) for passage, row in zip(passages, order))
        return Evidence(question, self.label, self.scale, ranked(passages, [shares[row] for row in order]))

    def _of(self, text):
        return set(re.findall(rf"\w{{{self.settings.letters},}}", text.lower()))


def answered(question, outcome):
    """1 where there is an answer of any kind."""
    return None if outcome.answer is None else float(bool(outcome.answer))
