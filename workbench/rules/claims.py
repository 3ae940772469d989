"""Rule body of `verify_claim`: the words, quantities and negations of a claim against those of the passages.

A claim is supported if the passages hold nearly all of its content words and all of its dates and numbers, and if the
sentence most like it is negated only where the claim is. Who did what to whom is not read, so a claim that exchanges
two names of the passages counts as supported."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from workbench.language.pipeline import content_words, parse
from workbench.language.quantities import dates, numbers
from workbench.language.relations import relatedness, stem
from workbench.steps.answer import Input
from workbench.steps.verify_claim import NOT_SUPPORTED, SUPPORTED, Output

ENOUGH = 0.8  # share of the claim's content words; the rest may be worded otherwise
ALIKE = 0.5  # share of a sentence's content words from which on another one is about the same
_NEGATION = re.compile(
    r"\b(?:not|never|no|none|nobody|nothing|nowhere|neither|nor|without|cannot)\b|n['’]t\b", re.IGNORECASE
)


def verify_claim(value: Input) -> Output:
    """The thought lists what the passages do not hold."""
    texts = [f"{title}. {text}" for title, text in value.passages]
    wanted, held = stems(value.question), _families(texts)
    missing = [word for word, family in wanted.items() if not _is_held(family, held)]
    share = 1 - len(missing) / len(wanted) if wanted else 0.0
    flaws = [*_unstated(value.question, texts), *_negated_otherwise(value.question, texts)]
    words = f"{len(wanted) - len(missing)} of {len(wanted)} content words are in the passages"
    lacking = [f"not in them: {', '.join(missing)}"] if missing else []
    label = SUPPORTED if share >= ENOUGH and not flaws else NOT_SUPPORTED
    return Output(thought="; ".join([words, *lacking, *flaws]), label=label)


def stems(text: str) -> dict[str, str]:
    """Content word → its family; digits are left to the comparison of quantities.

    >>> stems("Who designed the 31 bridges?")
    {'bridges': 'bridg', 'designed': 'design'}
    """
    return {word: stem(word) for word in sorted(content_words(text)) if len(word) > 1 and not word.isdigit()}


def _families(texts: Iterable[str]) -> set[str]:
    return {family for text in texts for family in stems(text).values()}


def _is_held(family: str, others: set[str]) -> bool:
    return family in others or any(relatedness(family, other) for other in others)


def _unstated(claim: str, texts: list[str]) -> Iterator[str]:
    """The dates and numbers of the claim that no passage holds; "one" is mostly a pronoun."""
    stated = [date.when for text in texts for date in dates(text)]
    for date in dates(claim):
        if not any(all(part in (0, other) for part, other in zip(date.when, when)) for when in stated):
            yield f"no passage has the date {date.text}"
    values = {number.value for text in texts for number in numbers(text)}
    for number in numbers(claim):
        if number.value not in values and number.text.casefold() != "one":
            yield f"no passage has the number {number.text}"


def _negated_otherwise(claim: str, texts: list[str]) -> Iterator[str]:
    """The sentences most like one of the claim's, if all of them are negated and it is not, or the reverse."""
    stated = {sentence: _families([sentence]) for doc in parse(texts, lemmas=False) for sentence in _sentences(doc)}
    for sentence in _sentences(parse([claim], lemmas=False)[0]):
        most = _most_like(sentence, stated)
        if most and all(_is_negated(other) != _is_negated(sentence) for other in most):
            yield f"{'stated' if _is_negated(sentence) else 'negated'} in: “{most[0]}”"


def _sentences(doc) -> list[str]:
    return [" ".join(sentence.text.split()) for sentence in doc.sents]


def _most_like(sentence: str, others: Mapping[str, set[str]]) -> list[str]:
    """Of sentences with their content words, those that share most with another one, and at least `ALIKE` of it."""
    wanted = _families([sentence])
    shared = {other: len(wanted & families) for other, families in others.items()}
    most = max(shared.values(), default=0)
    return [other for other, n in shared.items() if n == most] if most and most >= ALIKE * len(wanted) else []


def _is_negated(sentence: str) -> bool:
    return bool(_NEGATION.search(sentence))
