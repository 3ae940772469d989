"""Rule bodies of `judge`, `judge_answer` and `judge_pair`: what arithmetic can say of an answer.

`judge` compares two dates or two numbers, however they are written. All else is `unknown`, and every reason begins with
"rules:"."""

from __future__ import annotations

import re

from workbench.errors import SettingError
from workbench.steps import judge_answer as answered
from workbench.steps import judge_pair as pair
from workbench.steps.judge import Input, Output
from workbench.text import MONTHS, NUMBER_WORDS


def judge(value: Input) -> Output:
    """Wrong only where every gold answer is a quantity of the same kind and another one.

    >>> [judge(Input("?", gold, prediction)).verdict for gold, prediction in (
    ...     (("3 May 1889", "1889"), "May 3rd, 1889"), (("fifty-seven",), "57"), (("44 metres",), "45 metres"),
    ...     (("3 May 1889", "1889"), "4 May 1889"), (("Orsby",), "57"))]
    ['correct', 'correct', 'incorrect', 'unknown', 'unknown']
    """
    predicted, gold = _quantity(value.prediction), [_quantity(right) for right in value.gold]
    if predicted is not None and predicted in gold:
        return Output(verdict="correct", reason=f"rules: the same {predicted[0]} in another form")
    if predicted is not None and gold and all(right is not None and right[::2] == predicted[::2] for right in gold):
        return Output(verdict="incorrect", reason=f"rules: another {predicted[0]}")
    return Output(verdict="unknown", reason="rules: only whole dates and numbers can be compared")


def judge_answer(value: answered.Input) -> answered.Output:
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
        if found := form.fullmatch(dated):
            month = int(found["m"]) if found["m"].isdigit() else _MONTH.get(found["m"])
            return ("date", (int(found["y"]), month, int(found["d"])), "") if month else None
    if found := _NUMBER.fullmatch(plain):
        return "number", float(found["n"].replace(",", "").replace("\u2212", "-")), found["unit"].strip()
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
