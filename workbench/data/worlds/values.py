"""Dates and numbers as languages write them."""

from __future__ import annotations

from workbench.data.worlds.facts import Value
from workbench.text import MONTHS

LOCALES = ("en-GB", "en-US", "de", "fr", "iso")
_MONTHS = {
    "en": tuple(month.capitalize() for month in MONTHS),
    "de": (
        "Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November",
        "Dezember",
    ),
    "fr": (
        "janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre",
        "décembre",
    ),
}  # fmt: skip
_THOUSANDS = {"en-GB": ",", "en-US": ",", "de": ".", "fr": " ", "iso": ""}


def written(value: Value, locale: str = "en-GB") -> str:
    """A value as a passage states it; by default as the gold graph does.

    >>> [written(Value((1889, 5, 3)), locale) for locale in LOCALES]
    ['3 May 1889', 'May 3, 1889', '3. Mai 1889', '3 mai 1889', '1889-05-03']
    """
    content = value.content
    if isinstance(content, tuple):
        return _date(*content, locale)
    if value.is_year or isinstance(content, str):
        return str(content)
    digits = f"{content:,}".replace(",", _THOUSANDS[locale])
    return f"{digits} {value.unit}".rstrip()


def forms(value: Value) -> tuple[str, ...]:
    """All ways to write a value, that of the gold graph first; of a number with a unit, then those without it."""
    found = [written(value, locale) for locale in LOCALES]
    if value.unit:
        found += [written(value._replace(unit=""), locale) for locale in LOCALES]
    return tuple(dict.fromkeys(found))


def _date(year: int, month: int, day: int, locale: str) -> str:
    if locale == "iso":
        return f"{year:04}-{month:02}-{day:02}"
    name = _MONTHS[locale[:2]][month - 1]
    if locale == "en-US":
        return f"{name} {day}, {year}"
    if locale == "fr" and day == 1:
        return f"1er {name} {year}"
    return f"{day}{'.' if locale == 'de' else ''} {name} {year}"
