"""Names and placeholders: the forms of each name, and the table that maps each placeholder back (AnonyRAG;
Youtu-GraphRAG, arXiv 2508.19855).

The table is a file of its own beside the anonymised data folder, so that no method reads it."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from workbench.data.lines import once, record, rows, string, strings
from workbench.errors import DataError
from workbench.places import write_atomically
from workbench.records import Record
from workbench.text import normalized, storable

PLACEHOLDER = re.compile(r"\[([A-Z][A-Z_]*)#(\d+)\]")
KINDS = dict.fromkeys(("person", "character", "figure", "name"), "PERSON") | dict.fromkeys(
    (
        "place", "location", "country", "province", "region", "city", "town", "village", "settlement", "island",
        "river", "lake", "mountain",
    ),
    "LOCATION",
)  # fmt: skip


def kind_of(type: str) -> str:
    """The kind of a placeholder: PERSON and LOCATION for people and places, else the type itself.

    >>> kind_of("settlement"), kind_of("musical work"), kind_of("Gebäude")
    ('LOCATION', 'MUSICAL_WORK', 'GEBAUDE')
    """
    return KINDS.get(type.casefold()) or re.sub(r"[^A-Z]+", "_", _plain(type).upper()).strip("_") or "NAME"


def _plain(text: str) -> str:
    """Without accents."""
    return "".join(c for c in normalized("NFKD", text) if not unicodedata.combining(c))


@dataclass(frozen=True, slots=True)
class Named:
    """Someone or something with its names. `passages` are the ids of those about it, its own article first: there,
    a form that several share means this one."""

    name: str
    type: str = "person"
    aliases: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Name:
    """A row of the table: what a placeholder stands for, and every form that it replaced."""

    placeholder: str
    name: str
    type: str
    forms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Replaced:
    """The id that a passage or question had, and per field the forms that placeholders replaced, in their order."""

    id: str
    original: str
    surfaces: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, repr=False)
class Names(Record):
    """The table of names of an anonymised data set."""

    names: tuple[Name, ...]
    passages: tuple[Replaced, ...] = ()
    questions: tuple[Replaced, ...] = ()

    @cached_property
    def by_placeholder(self) -> dict[str, Name]:
        return {name.placeholder: name for name in self.names}

    def restore(self, text: str, surfaces: Iterable[str] = ()) -> str:
        """A text with its names again: in the forms that they had (`surfaces`), else in their usual one."""
        had = iter(surfaces)

        def name(match: re.Match) -> str:
            replaced_name = self.by_placeholder.get(match[0])
            return next(had, replaced_name.name) if replaced_name else match[0]

        return PLACEHOLDER.sub(name, text)

    def __repr__(self) -> str:
        return f"Names: {len(self.names):,} of {len(self.passages):,} passages and {len(self.questions):,} questions"


def table_of(folder: str | Path) -> Path:
    """The place of the table of an anonymised data folder: beside it.

    >>> table_of("data/story").as_posix()
    'data/story.names.jsonl'
    """
    folder = Path(folder)
    return folder.with_name(f"{folder.name}.names.jsonl")


def write_names(names: Names, path: str | Path) -> Path:
    """Write the table: a line for each name, then one for each passage and question."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text_of(names))
    return path


def text_of(names: Names) -> str:
    """The table as a file has it."""
    return "".join(storable(json.dumps(row, ensure_ascii=False)) + "\n" for row in _lines(names))


def _lines(names: Names) -> Iterator[dict]:
    for name in names.names:
        yield {"placeholder": name.placeholder, "name": name.name, "type": name.type, "forms": name.forms}
    for what, replaced in (("passage", names.passages), ("question", names.questions)):
        for replacement in replaced:
            yield {what: replacement.id, "original": replacement.original, "surfaces": replacement.surfaces}


def read_names(path: str | Path) -> Names:
    """Read a table of `write_names`. Raises :class:`DataError` for a line that is none of its three kinds."""
    names: list[Name] = []
    replaced: dict[str, list[Replaced]] = {"passage": [], "question": []}
    seen: dict[str, str] = {}
    for where, row in rows(Path(path)):
        what = next((what for what in replaced if what in row), None)
        if what:
            replaced[what].append(_replaced(row, what, where))
        else:
            names.append(_name(row, where))
            once(seen, names[-1].placeholder, "placeholder", where, key="")
    return Names(tuple(names), tuple(replaced["passage"]), tuple(replaced["question"]))


def _name(row: dict, where: str) -> Name:
    name = record(Name, row, where)
    if not PLACEHOLDER.fullmatch(name.placeholder):
        raise DataError(f"{where}: {name.placeholder!r} is not a placeholder; write it like [PERSON#12]")
    return name


def _replaced(row: dict, what: str, where: str) -> Replaced:
    forms = row.get("surfaces")
    if not isinstance(forms, dict):
        raise DataError(f"{where}: 'surfaces' is {forms!r}; it should be an object of lists of strings")
    surfaces = {name: strings(forms, name, where) for name in forms}
    return Replaced(string(row, what, where), string(row, "original", where), surfaces)


def read_aliases(path: str | Path) -> tuple[Named, ...]:
    """A table of aliases made by hand: JSON Lines of `name`, and optionally `type`, `aliases`, `passages`."""
    names = tuple(record(Named, row, where) for where, row in rows(Path(path)))
    if not names:
        raise DataError(f'{path} contains no names; each line should be {{"name", "type", "aliases"}}')
    return names
