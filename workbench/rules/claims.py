"""Rule body of `verify_claim`: the words, quantities and negations of a claim against those of the passages.

A claim is supported if the passages hold nearly all of its content words and all of its dates and numbers, and if they
negate no word that it affirms, nor the reverse. Who did what to whom is not read, so a claim that exchanges two names
of the passages counts as supported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.language.pipeline import content_words, parse
from workbench.language.quantities import dates, numbers
from workbench.language.relations import relatedness, stem
from workbench.steps.answer import Input
from workbench.steps.verify_claim import NOT_SUPPORTED, SUPPORTED, Output

ENOUGH = 0.8  # share of the claim's content words; the rest may be worded otherwise


def verify_claim(value: Input) -> Output:
    """The thought lists what the passages do not hold."""
    claim, texts = value.question, [f"{title}. {text}" for title, text in value.passages]
    wanted, held = families(claim), {family for text in texts for family in families(text).values()}
    missing = [word for word, family in wanted.items() if not _is_held(family, held)]
    share = 1 - len(missing) / len(wanted) if wanted else 0.0
    flaws = [*_unstated(claim, texts), *_negated_otherwise(claim, texts)]
    words = f"{len(wanted) - len(missing)} of {len(wanted)} content words are in the passages"
    lacking = [f"not in them: {', '.join(missing)}"] if missing else []
    label = SUPPORTED if share >= ENOUGH and not flaws else NOT_SUPPORTED
    return Output(thought="; ".join([words, *lacking, *flaws]), label=label)


def families(text: str) -> dict[str, str]:
    """Content word → its family; digits are left to the comparison of quantities.

    >>> families("Who designed the 31 bridges?")
    {'bridges': 'bridg', 'designed': 'design'}
    """
    return {word: stem(word) for word in sorted(content_words(text)) if len(word) > 1 and not word.isdigit()}


def _is_held(family: str, others: set[str]) -> bool:
    return family in others or any(relatedness(family, other) for other in others)


def _unstated(claim: str, texts: list[str]) -> Iterator[str]:
    """The numbers and dates of the claim that no passage holds; "one" is mostly a pronoun."""
    counted, values = numbers(claim), {number.value for text in texts for number in numbers(text)}
    for number in counted:
        if number.value not in values and number.text.casefold() != "one":
            yield f"no passage has the number {number.text}"
    stated = [date.when for text in texts for date in dates(text)]
    for date in dates(claim):
        is_number = any(number.start < date.end and date.start < number.end for number in counted)
        if not is_number and not any(_agrees(date.when, when) for when in stated):
            yield f"no passage has the date {date.text}"


def _agrees(wanted: tuple[int, int, int], stated: tuple[int, int, int]) -> bool:
    """Whether a date has the parts that another one gives.

    >>> _agrees((1931, 0, 0), (1931, 6, 6)), _agrees((1931, 6, 6), (1931, 0, 0))
    (True, False)
    """
    return all(part in (0, other) for part, other in zip(wanted, stated))


def _negated_otherwise(claim: str, texts: list[str]) -> Iterator[str]:
    """The words that the claim negates and the passages only affirm, or the reverse."""
    ours, theirs = _polarity([claim]), _polarity(texts)
    for word, family in families(claim).items():
        if family in ours and family in theirs and not ours[family] & theirs[family]:
            yield f"{'negated' if True in theirs[family] else 'affirmed'} in the passages: {word}"


def _polarity(texts: Iterable[str]) -> dict[str, set[bool]]:
    """Family of words → whether they are negated (both, if in some places only)."""
    found: dict[str, set[bool]] = {}
    for doc in parse(list(texts), lemmas=False):
        negated = {word.i for token in doc for word in _negated_by(token)}
        for token in doc:
            for family in families(token.text).values():
                found.setdefault(family, set()).add(token.i in negated)
    return found


def _negated_by(token) -> list:
    """The words that a spaCy token negates: a verb, or what is said with "be"; the noun after "no" or "without"."""
    if token.dep_ == "neg":
        return [child for child in token.head.children if child.dep_ in ("attr", "acomp")] or [token.head]
    if token.lower_ == "no":
        return [token.head]
    return [child for child in token.children if child.dep_ == "pobj"] if token.lower_ == "without" else []
