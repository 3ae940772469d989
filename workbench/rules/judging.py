"""Rule bodies of `judge`, `judge_answer`, `judge_pair` and `verify_claim`: arithmetic on an answer, and the words,
quantities and negations of a claim against those of the passages.

`judge` compares two dates or two numbers, however they are written. All else is `unknown`, and every reason begins with
"rules:". A claim is supported if the passages hold nearly all of its content words and all of its dates and numbers,
and if they negate no word that it affirms, nor the reverse. Who did what to whom is not read, so a claim that exchanges
two names of the passages counts as supported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from workbench.errors import SettingError
from workbench.language.pipeline import content_words, parse
from workbench.language.quantities import dates, numbers
from workbench.language.relations import relatedness, stem
from workbench.steps import judge as judgement
from workbench.steps import judge_pair as pair
from workbench.steps.answer import NOT_SUPPORTED, SUPPORTED, Input
from workbench.steps.answer import Judgement as Output
from workbench.text import MONTHS, NUMBER_WORDS


def judge(value: judgement.Input) -> judgement.Output:
    """Wrong only where every gold answer is a quantity of the same kind and another one.

    >>> [judge(judgement.Input("?", gold, prediction)).verdict for gold, prediction in (
    ...     (("3 May 1889", "1889"), "May 3rd, 1889"), (("fifty-seven",), "57"), (("44 metres",), "45 metres"),
    ...     (("3 May 1889", "1889"), "4 May 1889"), (("Orsby",), "57"))]
    ['correct', 'correct', 'incorrect', 'unknown', 'unknown']
    """
    predicted, gold = _quantity(value.prediction), [_quantity(right) for right in value.gold]
    if predicted is not None and predicted in gold:
        return judgement.Output(verdict="correct", reason=f"rules: the same {predicted[0]} in another form")
    if predicted is not None and gold and all(right is not None and right[::2] == predicted[::2] for right in gold):
        return judgement.Output(verdict="incorrect", reason=f"rules: another {predicted[0]}")
    return judgement.Output(verdict="unknown", reason="rules: only whole dates and numbers can be compared")


def judge_answer(value: judgement.Input) -> judgement.Digit:
    """Refuses: it has no verdict for what arithmetic cannot decide."""
    raise SettingError("rules cannot judge whether an answer is right; ask a model, such as openai:gpt-4.1")


def judge_pair(value: pair.Input) -> pair.Output:
    """Refuses: what can be counted of two texts (length, words in common with the question) does not say which is
    better, and must not pass for a judgement."""
    raise SettingError("rules cannot judge which of two answers is better; ask a model, such as openai:gpt-4.1")


_MONTH = {form: number for number, name in enumerate(MONTHS, 1) for form in (name, name[:3])}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_DATES = (  # of a text in lower case without commas and ordinal endings
    re.compile(r"(?P<d>\d{1,2}) (?:of )?(?P<m>[a-z]+)\.? (?P<y>\d{4})"),
    re.compile(r"(?P<m>[a-z]+)\.? (?P<d>\d{1,2}) (?P<y>\d{4})"),
    re.compile(r"(?P<y>\d{4})-(?P<m>\d{2})-(?P<d>\d{2})"),
)
_NUMBER = re.compile(r"(?P<n>[-\u2212]?\d+(?:,\d{3})*(?:\.\d+)?)(?P<unit>\D*)")


def _quantity(text: str) -> tuple[str, object, str] | None:
    """(kind, value, unit) of a text that is one date or one number and nothing else. Days before months, as in
    3/5/1889, are not told apart, so such dates are none."""
    plain = " ".join(text.casefold().split()).strip(" .\"'")
    dated = re.sub(r"\b(\d{1,2})(?:st|nd|rd|th)\b", r"\1", re.sub(r",(?= )", "", plain.removeprefix("on ")))
    for form in _DATES:
        if match := form.fullmatch(dated):
            month = int(match["m"]) if match["m"].isdigit() else _MONTH.get(match["m"])
            return ("date", (int(match["y"]), month, int(match["d"])), "") if month else None
    if match := _NUMBER.fullmatch(plain):
        return "number", float(match["n"].replace(",", "").replace("\u2212", "-")), match["unit"].strip()
    return _number_in_words(plain)


def _number_in_words(plain: str) -> tuple[str, float, str] | None:
    """
    >>> _number_in_words("two thousand and fifty-seven men"), _number_in_words("men")
    (('number', 2057.0, 'men'), None)
    """
    words = plain.replace("-", " ").split()
    total = part = at = 0
    for at, word in enumerate([*words, ""]):
        if word in NUMBER_WORDS:
            part += NUMBER_WORDS[word]
        elif word == "hundred":
            part = max(part, 1) * 100
        elif word in _SCALES:
            total, part = total + max(part, 1) * _SCALES[word], 0
        elif word != "and" or not at:
            break
    return ("number", float(total + part), " ".join(words[at:])) if at else None


ENOUGH = 0.8  # share of the claim's content words; the rest may be worded otherwise


def verify_claim(value: Input) -> Output:
    """The thought lists what the passages do not hold."""
    claim, texts = value.question, [f"{title}. {text}" for title, text in value.passages]
    wanted, held = families(claim), {family for text in texts for family in families(text).values()}
    missing = [
        word for word, family in wanted.items() if family not in held and not any(relatedness(family, h) for h in held)
    ]
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
    by_family: dict[str, set[bool]] = {}
    for doc in parse(list(texts), lemmas=False):
        negated = {word.i for token in doc for word in _negated_by(token)}
        for token in doc:
            for family in families(token.text).values():
                by_family.setdefault(family, set()).add(token.i in negated)
    return by_family


def _negated_by(token) -> list:
    """The words that a spaCy token negates: a verb, or what is said with "be"; the noun after "no" or "without"."""
    if token.dep_ == "neg":
        return [child for child in token.head.children if child.dep_ in ("attr", "acomp")] or [token.head]
    if token.lower_ == "no":
        return [token.head]
    return [child for child in token.children if child.dep_ == "pobj"] if token.lower_ == "without" else []
