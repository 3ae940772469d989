"""Dates and numbers as encyclopedic English writes them, with their place in the text."""

from __future__ import annotations

import re
from typing import NamedTuple

from workbench.language.relations import LISTS
from workbench.text import MONTHS

_MONTH = "|".join(month.capitalize() for month in MONTHS)
_YEAR = r"(?:1[0-9]{3}|20[0-9]{2})"
_DATE = re.compile(
    rf"\b(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+(?P<month>{_MONTH})(?:,?\s+(?P<year>{_YEAR}))?"
    rf"|(?P<month2>{_MONTH})\s+(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s+(?P<year2>{_YEAR}))?"
    rf"|(?P<month3>{_MONTH}),?\s+(?:of\s+)?(?P<year3>{_YEAR})"
    rf"|(?P<year4>{_YEAR})s?)\b(?!,\d)"
)
_SMALL = {word: value for value, word in enumerate(LISTS["quantities"]["counted"].split())}
_SMALL |= {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9}
_WORDS = "|".join(sorted(_SMALL, key=len, reverse=True))
_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_NUMBER = re.compile(
    rf"(?<![\w.,])(?:(?P<digits>{_DIGITS})|(?P<words>(?:{_WORDS})(?:-(?:{_WORDS}))?))"
    rf"(?:\s+(?P<scale>{'|'.join(_SCALES)}))?(?![\w]|[.,]\d)",
    re.IGNORECASE,
)
# Adjective -> the noun for what it measures.
MEASURES: dict[str, str] = LISTS["quantities"]["measures"]
_DASH = r"\s*(?:–|—|-|to|until)\s*"


class Date(NamedTuple):
    """`when` is (year, month, day), 0 where missing; it sorts."""

    start: int
    end: int
    text: str
    when: tuple[int, int, int]


class Number(NamedTuple):
    """`unit` is the word after the number, lower case; empty at the end of a clause."""

    start: int
    end: int
    text: str
    value: float
    unit: str


class Life(NamedTuple):
    born: Date | None
    died: Date | None


def dates(text: str) -> list[Date]:
    """
    >>> [d.when for d in dates("built on 6 June 1931, closed in March 1958 and demolished in 1960")]
    [(1931, 6, 6), (1958, 3, 0), (1960, 0, 0)]
    """
    dates_found = []
    for match in _DATE.finditer(text):
        part = match.groupdict()
        year = part["year"] or part["year2"] or part["year3"] or part["year4"]
        month = part["month"] or part["month2"] or part["month3"]
        when = (int(year or 0), MONTHS.index(month.lower()) + 1 if month else 0, int(part["day"] or part["day2"] or 0))
        dates_found.append(Date(match.start(), match.end(), match.group(), when))
    return dates_found


def numbers(text: str) -> list[Number]:
    """Numbers in digits or words that are no part of a date.

    >>> [(n.value, n.unit) for n in numbers("31 arches and twenty-three metres; 3.2 million crowns in 1931")]
    [(31.0, 'arches'), (23.0, 'metres'), (3200000.0, 'crowns')]
    """
    taken = [(date.start, date.end) for date in dates(text) if date.when[1] or _looks_like_a_year(text, date)]
    numbers_found = []
    for match in _NUMBER.finditer(text):
        if any(start < match.end() and match.start() < end for start, end in taken):
            continue
        if match["digits"]:
            value = float(match["digits"].replace(",", ""))
        else:
            value = float(sum(_SMALL[word] for word in match["words"].lower().split("-")))
        value *= _SCALES.get((match["scale"] or "").lower(), 1)
        unit = re.match(r"[\s-]?([^\W\d_]+)", text[match.end() :])
        numbers_found.append(Number(match.start(), match.end(), match.group(), value, unit[1].lower() if unit else ""))
    return numbers_found


def life(text: str) -> Life:
    """Birth and death as an encyclopedia gives them in brackets behind a name.

    >>> life("Ada Lind (3 May 1889 – 1967) was an engineer.").died.when
    (1967, 0, 0)
    >>> life("Ada Lind (born in Oslo, 3 May 1889) was an engineer.").born.when
    (1889, 5, 3)
    """
    for bracket in re.finditer(r"\(([^()]*)\)", text[:400]):
        inside = [date._replace(start=date.start + bracket.start(1), end=date.end + bracket.start(1))
                  for date in dates(bracket[1]) if date.when[0]]  # fmt: skip
        inner = bracket[1].lower()
        if not inside:
            continue
        if re.search(r"\bdied\b|\bd\.", inner) and not re.search(r"\bborn\b|\bb\.", inner):
            return Life(None, inside[0])
        if re.search(r"\bborn\b|\bb\.", inner):
            return Life(inside[0], inside[1] if len(inside) > 1 else None)
        between = text[inside[0].end : inside[1].start] if len(inside) > 1 else ""
        if len(inside) > 1 and (re.search(r"[–—-]", between) or re.fullmatch(_DASH, between)):
            return Life(inside[0], inside[1])
    return Life(None, None)


def _looks_like_a_year(text: str, date: Date) -> bool:
    """A bare number of four digits is a year unless a unit follows: "1931." against "1500 metres"."""
    after = re.match(r"\s+([^\W\d_]+)", text[date.end :])
    plural = after is not None and after[1].islower() and after[1].endswith("s") and len(after[1]) > 3
    return not plural or after[1] in ("was", "census", "as", "has", "its", "his", "is", "this")
