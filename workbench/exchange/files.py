"""Reading files of other programs: each error names the file and the remedy, and nothing in a file is evaluated. A
`Gathering` turns what is read into a data set, piece by piece, and checks every id."""

from __future__ import annotations

import ast
import csv
import io
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import ParseError

import pyarrow as pa
import pyarrow.parquet as pq
from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from workbench.data.folder import Dataset, Extraction
from workbench.data.lines import read_text, regular, short
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.errors import DataError
from workbench.records import Passage, Question
from workbench.text import counted, storable

CELL_LIMIT = 1 << 27  # characters of one CSV field; many documents exceed the csv module's own limit
LITERAL_LIMIT = 1 << 20  # characters of a list or dict inside a string
NAME_LIMIT = 10_000  # characters; a longer string is a text and not a name
UNNAMED = "is related to"  # of a relation that its source does not describe
_PEEK = 1 << 16  # bytes read to recognise a file


def peek(path: Path) -> str:
    """The beginning of a file, to recognise its format; empty if it is not a readable file."""
    try:
        with regular(path).open("rb") as file:
            return file.read(_PEEK).decode("utf-8-sig", "replace")
    except (OSError, DataError):
        return ""


def read_csv(path: Path, *needed: str) -> Iterator[tuple[str, dict[str, str]]]:
    """(place, row) for each row of a CSV file with a header; `needed` columns must be present."""
    text = read_text(path)
    with _long_fields():
        try:
            # `splitlines` would split a field at separators that are not line ends in CSV.
            header, *rows = csv.reader(io.StringIO(text, newline="\n"), strict=True)
        except ValueError:
            raise DataError(f"{path} is empty; its first line should name the columns {', '.join(needed)}") from None
        except csv.Error as error:
            raise DataError(f"{path} is not CSV ({error}); write it again with quotes round every text") from None
    missing = [name for name in needed if name not in header]
    if missing:
        raise DataError(f"{path} has no column {missing[0]!r}; it has {_names(header)}: is it of another format?")
    for number, row in enumerate(rows, 2):
        if row and len(row) != len(header):
            raise DataError(
                f"{path}, row {number} has {len(row)} fields and the header {len(header)}; "
                "a text with commas needs quotes"
            )
        if row:
            yield f"{path}, row {number}", dict(zip(header, map(storable, row)))


def read_parquet(path: Path, needed: Mapping[str, Sequence[str]], wanted: Sequence[str] = ()) -> list[tuple[str, dict]]:
    """(place, row) for each row of a Parquet file. `needed` lists, for each field, the names of its column in all
    versions; `wanted` columns may be missing and are None then."""
    with _whole_parquet(path):
        file = pq.ParquetFile(regular(path))
        has = file.schema_arrow.names
        columns = {field: next((name for name in names if name in has), None) for field, names in needed.items()}
        missing = [field for field, column in columns.items() if column is None]
        if missing:
            raise DataError(
                f"{path} has no column {' or '.join(map(repr, needed[missing[0]]))}; it has {_names(has)}: "
                "is it of another version?"
            )
        columns |= {name: name for name in wanted if name in has}
        table = file.read(columns=list(columns.values()))
        lists = {field: table[column].to_pylist() for field, column in columns.items()}
    empty = dict.fromkeys(wanted)
    return [
        (f"{path}, row {number}", {**empty, **dict(zip(lists, row))})
        for number, row in enumerate(zip(*lists.values()), 1)
    ]


def parquet_rows(path: Path) -> int:
    """The number of rows of a Parquet file."""
    with _whole_parquet(path):
        return pq.read_metadata(regular(path)).num_rows


class GraphML(NamedTuple):
    """Nodes as (place, id, data), edges as (place, source, target, data); data by attribute name, as text."""

    nodes: list[tuple[str, str, dict[str, str]]]
    edges: list[tuple[str, str, str, dict[str, str]]]

    def checked(self) -> GraphML:
        """The graph, after a check that every end of an edge is one of its nodes."""
        ids = {node for _, node, _ in self.nodes}
        for where, source, target, _ in self.edges:
            for end in (source, target):
                if end not in ids:
                    raise DataError(f"{where}: there is no node {end[:200]!r}; add the node or remove the edge")
        return self


def read_graphml(path: Path) -> GraphML:
    """A GraphML file. A DTD, and with it every entity that could expand or fetch something, is refused."""
    graph, keys = GraphML([], []), {}
    try:
        with regular(path).open("rb") as file:
            for _, element in iterparse(file, forbid_dtd=True):
                tag = element.tag.rpartition("}")[2]
                if tag == "key":
                    keys[element.get("id")] = element.get("attr.name") or element.get("id") or ""
                if tag not in ("node", "edge"):
                    continue
                data = {keys[child.get("key")]: child.text or "" for child in element if child.get("key") in keys}
                if tag == "node":
                    graph.nodes.append((f"{path}, node {len(graph.nodes) + 1}", element.get("id") or "", data))
                else:
                    ends = element.get("source") or "", element.get("target") or ""
                    graph.edges.append((f"{path}, edge {len(graph.edges) + 1}", *ends, data))
                element.clear()
    except DefusedXmlException as error:
        raise DataError(
            f"{path} declares a DTD or entities ({type(error).__name__}), which no graph needs and which can fill the "
            "memory; remove the declaration if you trust the file"
        ) from None
    except (ParseError, LookupError, ValueError) as error:
        raise DataError(f"{path} is not XML ({error}); copy it again from where it was made") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}); give the folder that holds it") from None
    return graph.checked()


# -- values ----------------------------------------------------------------------------------------------------------

_KINDS = {dict: "an object", list: "a list", str: "a string"}


def checked(value: Any, kind: type, where: str) -> Any:
    """The value, after a check of its type; a text as files can hold it."""
    if not isinstance(value, kind):
        raise DataError(f"{where}: {short(value)} should be {_KINDS[kind]}; is the file of another format?")
    return storable(value) if isinstance(value, str) else value


def field(row: Mapping, name: str, kind: type, where: str) -> Any:
    """A required field of a JSON object, with a value of the given type."""
    if name not in row:
        raise DataError(f"{where}: {name!r} is missing; there is {_names(row) or 'nothing'}")
    return checked(row[name], kind, f"{where}: {name!r}")


def word(value: Any) -> str | None:
    """A name or a text as a string; a number is converted, None is empty, and anything else is None: not a word."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return storable(str(value))


def number(value: Any) -> float | None:
    """A finite number, also from text; None if there is none."""
    try:
        read = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return read if math.isfinite(read) else None


def literal(text: str, where: str) -> Any:
    """A list or dict written as JSON or as Python writes it; only constants are accepted."""
    if len(text) > LITERAL_LIMIT:
        raise DataError(
            f"{where}: a list or dict in a string of {len(text):,} characters, where at most {LITERAL_LIMIT:,} are "
            "read; write it as JSON, or remove it"
        )
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        raise DataError(f"{where}: {short(text)} is neither JSON nor a Python list or dict; correct it") from None


def listed(value: Any, where: str, separator: str = ",") -> tuple[str, ...]:
    """Ids or words from a list, a list inside a string, or a string with separators."""
    if isinstance(value, str):
        value = literal(value, where) if value.lstrip().startswith("[") else value.split(separator)
    words = [word(part) for part in checked(value if value is not None else [], list, where)]
    if None in words:
        raise DataError(f"{where}: {short(value)} should be a list of strings")
    return tuple(dict.fromkeys(part.strip() for part in words if part.strip()))


def unquoted(name: str) -> str:
    """A name without the quotes that early versions kept."""
    name = name.strip()
    return name[1:-1].strip() if len(name) > 1 and name[0] == name[-1] == '"' else name


def nearest(path: Path, fits: Callable[[Path], bool], *below: str) -> list[Path]:
    """The folder itself, if it matches, otherwise the matches of the first pattern that has any."""
    if fits(path):
        return [path]
    matches = (sorted(filter(fits, path.glob(pattern))) for pattern in below)
    return next(filter(None, matches), [])


def only(candidates: Iterable[Path], what: str, path: Path) -> Path:
    """The only file or folder found; several are an error that asks the user to choose."""
    candidates = list(candidates)
    if not candidates:
        raise DataError(f"{path} is not {what}; give the file or the folder that holds it")
    if len(candidates) > 1:
        names = ", ".join(str(candidate) for candidate in candidates[:5])
        raise DataError(f"{path} contains {len(candidates)} candidates for {what}: {names}; give one of them")
    return candidates[0]


@contextmanager
def _whole_parquet(path: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not a whole Parquet file ({error}); copy it again from where it was made") from None


@contextmanager
def _long_fields() -> Iterator[None]:
    before = csv.field_size_limit(CELL_LIMIT)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _names(values: Iterable[Any]) -> str:
    names = [str(name)[:60] for name in values]
    return ", ".join(names[:12]) + (", …" if len(names) > 12 else "")


# -- a data set -------------------------------------------------------------------------------------------------------


class Gathering:
    """The results of a reader so far. Passages come first, because everything else refers to them.

    With `strict`, the id of a missing passage is an error; otherwise it is dropped and counted. A profile is kept only
    if it contains more than names, so a system that extracts names alone has none.
    """

    def __init__(self, made_by: str, strict: bool = True):
        self.made_by, self.strict = made_by, strict
        self.passages: dict[str, Passage] = {}
        self.notes: list[str] = []
        self._entities: dict[str, dict[str, None]] = defaultdict(dict)  # passage id -> names, in order
        self._triples: dict[str, dict[tuple[str, str, str], None]] = defaultdict(dict)
        self._profiles: dict[EntityProfile | RelationProfile, None] = {}
        self._questions: dict[str, Question] = {}
        self._left_out: Counter[tuple[str, str]] = Counter()

    def passage(self, where: str, passage_id: str, title: str, text: str) -> None:
        passage_id, title, text = storable(passage_id), storable(title), storable(text)
        if passage_id in self.passages:
            raise DataError(f"{where}: the passage id {passage_id[:200]!r} occurs twice; ids must be unique")
        if not (title + text).strip():
            raise DataError(f"{where}: passage {passage_id[:200]!r} is empty; give it a text or remove it")
        self.passages[passage_id] = Passage(passage_id, title, text)

    def entity(self, where: str, name: str, passages: Iterable[str], type: str = "", description: str = "") -> None:
        """An entity and the passages that name it."""
        name, ids = self._name(where, name), self._present(where, passages)
        if not name:
            self.leave_out("entity without a name", "entities without a name")
            return
        for passage_id in ids:
            self._entities[passage_id][name] = None
        if type or description:
            self.profile(EntityProfile(name, type, description, ids))
        elif not ids:
            self.leave_out("entity that no passage names", "entities that no passage names")

    def relation(
        self,
        where: str,
        source: str,
        wording: str,
        target: str,
        passages: Iterable[str],
        description: str = "",
        keywords: tuple[str, ...] = (),
        weight: float | None = None,
    ) -> None:
        """A triple and the passages that state it. `wording` is its relation."""
        source, target, ids = (self._name(where, source), self._name(where, target), self._present(where, passages))
        if not source or not target:
            self.leave_out("relation without a name at one end", "relations without a name at one end")
            return
        for passage_id in ids:
            self._triples[passage_id][source, storable(wording), target] = None
        if not ids:
            self.leave_out("relation that no passage states", "relations that no passage states")
        if description or keywords or weight is not None:
            self.profile(RelationProfile(source, target, description, keywords, weight, ids))

    def profile(self, profile: EntityProfile | RelationProfile) -> None:
        """A separate profile, whose names and passages are already checked."""
        self._profiles[profile] = None

    def question(self, where: str, question: Question) -> None:
        """A question, whose gold passages have to be there."""
        if question.id in self._questions:
            raise DataError(f"{where}: the question id {question.id[:200]!r} occurs twice; ids must be unique")
        self._questions[question.id] = replace(question, support=self._present(where, question.support))

    def leave_out(self, what: str, many: str = "", count: int = 1) -> None:
        """Record something that an index cannot hold; equal descriptions are counted together."""
        if count:
            self._left_out[what, many] += count

    def dataset(self, name: str, folder: Path) -> Dataset:
        if not self.passages:
            raise DataError(f"{folder} holds no passage, and an index needs at least one; is it of another format?")
        entities = tuple(profile for profile in self._profiles if isinstance(profile, EntityProfile))
        relations = tuple(profile for profile in self._profiles if isinstance(profile, RelationProfile))
        return Dataset(
            name,
            tuple(self.passages.values()),
            tuple(self._questions.values()),
            extractions=tuple(
                Extraction(
                    passage_id, tuple(self._entities[passage_id]), tuple(self._triples[passage_id]), self.made_by
                )
                for passage_id in self.passages
            ),
            folder=folder,
            profiles=Profiles(entities, relations) if self._profiles else None,
            left_out=(*(counted(count, *words) for words, count in self._left_out.items()), *self.notes),
        )

    def _name(self, where: str, name: str) -> str:
        if len(name) > NAME_LIMIT:
            raise DataError(
                f"{where}: a name of {len(name):,} characters ({name[:60]!r}…), where at most {NAME_LIMIT:,} are read; "
                "shorten it or remove it"
            )
        return storable(name).strip()

    def _present(self, where: str, ids: Iterable[str]) -> tuple[str, ...]:
        present = []
        for passage_id in dict.fromkeys(map(storable, ids)):
            if passage_id in self.passages:
                present.append(passage_id)
            elif self.strict:
                raise DataError(
                    f"{where} names the passage {passage_id[:200]!r}, which is missing; give the whole folder, "
                    "or skip such names with workbench.exchange.read(…, strict=False)"
                )
            else:
                self.leave_out("name of a passage that is not there", "names of passages that are not there")
        return tuple(present)
