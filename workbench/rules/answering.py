"""Rule body of the `answer` Step: the named span that best fits the kind of answer asked for.

Simple on purpose: what is asked for is read off the question word; a candidate is a named entity or a title of the
passages, of a fitting kind and not in the question; it is worth the share of the question's content words that its
sentence and its passage hold. Yes-or-no questions are not answered by these rules, which abstain on them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from workbench.rules.language import content_words, parse

_KINDS = (  # question pattern -> entity labels that can answer it
    (r"\bwho\b|\bwhose\b|\bwhom\b", ("PERSON", "ORG", "NORP")),
    (r"\bwhen\b|\bwhat (year|date|month|day)\b|\bwhich (year|date|month|day)\b|\bin what year\b", ("DATE",)),
    (r"\bwhere\b|\b(what|which) (\w+ )?(country|city|town|state|county|province|region|place|river|island)\b",
     ("GPE", "LOC", "FAC")),
    (r"\bhow (many|much|long|far|old|tall|high|deep|large|big)\b",
     ("CARDINAL", "QUANTITY", "MONEY", "PERCENT", "ORDINAL", "DATE", "TIME")),
)  # fmt: skip
_ANY = ("PERSON", "ORG", "NORP", "GPE", "LOC", "FAC", "WORK_OF_ART", "EVENT", "PRODUCT", "LANGUAGE", "LAW")
_YES_NO = re.compile(r"^\s*(is|are|was|were|do|does|did|has|have|had|can|could|will)\b", re.IGNORECASE)
ENOUGH = 0.34  # share of the question's content words below which a span is no answer


class Ruled(NamedTuple):
    thought: str
    answer: str
    abstained: bool


def _labels(question: str) -> tuple[str, ...]:
    """The entity labels that can answer; where several question words stand in the question, the first one asks."""
    found = [(match.start(), labels) for pattern, labels in _KINDS if (match := re.search(pattern, question))]
    return min(found)[1] if found else _ANY


def answer(question: str, passages: Sequence[tuple[str, str]]) -> Ruled:
    asked = content_words(question)
    if _YES_NO.match(question) or not asked:
        return Ruled("the rules do not answer this kind of question", "", True)
    labels = _labels(question.lower())
    best, best_worth = None, 0.0
    for rank, ((title, _), doc) in enumerate(zip(passages, parse([text for _, text in passages]))):
        in_passage = len(asked & content_words(f"{title} {doc.text}")) / len(asked)
        for sentence in doc.sents:
            in_sentence = len(asked & content_words(f"{title} {sentence.text}")) / len(asked)
            for entity in sentence.ents:
                if entity.label_ not in labels or content_words(entity.text) <= asked:
                    continue
                worth = 0.7 * in_sentence + 0.3 * in_passage - 0.01 * rank
                if worth > best_worth:
                    best, best_worth = (entity.text, sentence.text), worth
    if best is None or best_worth < ENOUGH:
        return Ruled("no span of the kind asked for stands near the question's words", "", True)
    return Ruled(f"read in: {best[1].strip()}", " ".join(best[0].split()), False)
