"""A registered data set, and the result of reading a publisher's files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from workbench.data.folder import Dataset, Extraction
from workbench.data.graph import Schema
from workbench.data.sampling import Sample
from workbench.errors import DataError
from workbench.records import Passage, Question, Record, Triple


@dataclass(frozen=True, slots=True)
class File:
    """A file of a publisher. Without a `url`, a user must put it in place; `sha256` is the publisher's."""

    name: str
    url: str | None = None
    sha256: str | None = None
    megabytes: float | None = None


@dataclass(frozen=True, slots=True)
class Copy:
    """A known data folder with all or a part of the data set: its name, its counts, and the differences."""

    folder: str
    passages: int
    questions: int
    triples: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Converted:
    """A publisher's files as records. `repeated` counts the duplicate passages that were removed. `paragraphs` holds
    question id → ids of passages, if the questions bring their own and the corpus is these, pooled. `left_out` counts
    the questions that an option leaves out."""

    passages: tuple[Passage, ...] = ()
    questions: tuple[Question, ...] = ()
    extractions: tuple[Extraction, ...] | None = None
    triples: tuple[Triple, ...] = ()
    repeated: int = 0
    documents: int | None = None
    left_out: int = 0
    notes: tuple[str, ...] = ()
    schema: Schema | None = None
    paragraphs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, repr=False)
class Entry(Record):
    """A named data set. Counts are the publisher's and are checked after reading; None means unknown.

    `read(folder, **options)` reads the folder with the files; `options` lists its options. `of_folder(data, whole,
    **options)` is what they make of a data folder that is in place, which may hold the `whole` set or a copy of a part;
    None where it cannot serve. `pooled` states that every
    question brings its own paragraphs, so that a sample of the questions has a corpus of its own. A sample names its
    `whole`, whose files it is drawn from.
    """

    id: str
    of: str
    files: tuple[File, ...]
    read: Callable[..., Converted]
    licence: str
    citation: str
    page: str
    passages: int | None = None
    questions: int | None = None
    triples: int | None = None
    documents: int | None = None
    copies: tuple[Copy, ...] = ()
    options: tuple[str, ...] = ()
    of_folder: Callable[..., Dataset | None] | None = None
    note: str = ""
    pooled: bool = False
    whole: Entry | None = None
    sample: Sample | None = None


def passage_id(prefix: str, title: str, text: str) -> str:
    """The prefix and the first 12 hex digits of SHA-256 of title, newline, text."""
    digest = hashlib.sha256(f"{title}\n{text}".encode()).hexdigest()
    return f"{prefix}-{digest[:12]}"


def passages(prefix: str, texts: Iterable[tuple[str, str]]) -> tuple[tuple[Passage, ...], int]:
    """Passages of (title, text), stripped, without exact duplicates; and the number of duplicates."""
    by_id: dict[str, Passage] = {}
    count = 0
    for count, (title, text) in enumerate(texts, 1):
        title, text = title.strip(), text.strip()
        if not title + text:
            raise DataError(
                f"passage {count} of the {prefix!r} corpus has neither title nor text; fetch the corpus again"
            )
        identifier = passage_id(prefix, title, text)
        by_id.setdefault(identifier, Passage(identifier, title, text))
    return tuple(by_id.values()), count - len(by_id)


def table(path: Path, *columns: str) -> list[dict]:
    """The rows of a Parquet file, with these columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        frame = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path} is not a Parquet file ({error}); delete it and fetch it again") from None
    if missing := set(columns) - set(frame.column_names):
        raise DataError(f"{path} has no column {', '.join(sorted(missing))}; it has {', '.join(frame.column_names)}")
    return frame.select(columns).to_pylist()


def single_file(folder: Path, pattern: str) -> Path:
    """The only file below a folder that matches a pattern."""
    matches = sorted(folder.rglob(pattern))
    if len(matches) != 1:
        names = ", ".join(str(match.relative_to(folder)) for match in matches) or "none"
        raise DataError(
            f"{folder} should hold one file {pattern}, and has {names}; give the path of the file, or correct the "
            "folder"
        )
    return matches[0]
