"""UltraDomain: textbooks by domain. `<domain>.jsonl` repeats a book for each of its questions, or names another text
of its own in each line, as `mix` does.

The papers that use it generate their own questions, so only the corpus is read. Two of the domains are DotRAG's and
bring what it tells of their graphs (`workbench/data/schemas/dotrag/`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from workbench import tokens
from workbench.data import splitter
from workbench.data.lines import regular, rows, string
from workbench.data.schemas import paper_schema
from workbench.data.sources.entry import Converted, Entry, File, one
from workbench.errors import DataError, SettingError
from workbench.records import Passage

_HUB = "https://huggingface.co/datasets/TommyChien/UltraDomain"
_REVISION = "b6471732333d225286f39867bfa7ce8e7b9a3d0d"
_AGRICULTURE = "ca8102fe5f3079cad5082a0ff55fe4eccd837b513d8e4703050bb9ab914115ce"
_BIOLOGY = "956be930984366556cbca7e98aba4abfd7dfa8b3f33897743c9711043268e570"
WINDOW, SENTENCE = "window", "sentence"
SCHEMAS = {"cs": "ultradomain_cs", "mix": "ultradomain_mixed"}  # domain → what DotRAG tells of its graph


def read(
    folder: Path, domain: str, size: int = 1200, overlap: int = 100, unit: str = "tokens", at: str = WINDOW
) -> Converted:
    """Each book once, split into passages: at `window`, the windows of so many tokens that LightRAG's code cuts, in the
    middle of a word if need be; at `sentence`, of that length, but at the end of a paragraph or a sentence."""
    books: dict[str, str] = {}
    for where, row in rows(one(folder, f"{domain}.jsonl")):
        about = row.get("meta")
        books.setdefault(
            string(row, "context", where), str(about.get("title") or "") if isinstance(about, dict) else ""
        )
    passages = [
        Passage(f"{domain}-{book}#{number}", title, text)
        for book, (context, title) in enumerate(books.items(), 1)
        for number, text in enumerate(_split(context, size, overlap, unit, at), 1)
    ]
    if not passages:
        raise DataError(f"{folder} holds no text in {domain}.jsonl; delete it and fetch it again")
    schema = paper_schema(SCHEMAS[domain]) if domain in SCHEMAS else None
    return Converted(tuple(passages), documents=len(books), schema=schema)


def is_file(path: Path) -> bool:
    """Whether a file has the publisher's form, by its first line: a question with the text that answers it."""
    try:
        with regular(path).open(encoding="utf-8-sig") as lines:
            row = json.loads(lines.readline(_LINE))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(row, dict) and {"context", "input"} <= row.keys()


_LINE = 100_000_000  # characters of a line, which holds a whole book


def _split(text: str, size: int, overlap: int, unit: str, at: str) -> list[str]:
    if at not in (WINDOW, SENTENCE):
        raise SettingError(f"at={at!r} is not known; use {WINDOW} or {SENTENCE}")
    if at == SENTENCE:
        return splitter.split(text, size, overlap, unit)
    if unit != "tokens":
        raise SettingError(f"at={WINDOW} cuts tokens; with unit={unit!r} use at={SENTENCE}")
    splitter.check(size, overlap, unit)
    return [part for part in map(str.strip, _windows(text, size, overlap)) if part]


def _windows(text: str, size: int, overlap: int) -> Iterator[str]:
    """A window at every `size - overlap` tokens, the last ones within the overlap of the one before, as in the code.

    >>> list(_windows("one two three four five", 3, 1))
    ['one two three', ' three four five', ' five']
    """
    starts = tokens.starts(text)
    last = len(starts) - 1
    for begin in range(0, last, size - overlap):
        yield text[starts[begin] : starts[min(begin + size, last)]]


def _domain(
    name: str, of: str, megabytes: float | None = None, documents: int | None = None, sha256: str | None = None
) -> Entry:
    """A domain. Of those without a size, the address is not known here either: their file is put in place by hand."""
    url = f"{_HUB}/resolve/{_REVISION}/{name}.jsonl" if megabytes else None
    return Entry(
        f"ultradomain/{name}",
        f"UltraDomain, {of}: the corpus alone",
        (File(f"{name}.jsonl", url, sha256, megabytes),),
        partial(read, domain=name),
        "Apache-2.0",
        "Qian et al. 2025, MemoRAG, WWW",
        f"{_HUB}/tree/{_REVISION}",
        questions=0,
        documents=documents,
        options=("size", "overlap", "unit", "at"),
    )


# Names and sizes are those of the publisher's listing at this revision, whose end was not at hand: a copy of it names
# psychology, nothing but memory technology. The numbers of documents are from LightRAG's paper.
ENTRIES = (
    _domain("agriculture", "agriculture", 70, 12, _AGRICULTURE),
    _domain("art", "art", 115),
    _domain("biography", "biography", 131),
    _domain("biology", "biology", 123, sha256=_BIOLOGY),
    _domain("cooking", "cooking", 79.7),
    _domain("cs", "computer science", 95.3, 10),
    _domain("fiction", "fiction", 134),
    _domain("fin", "finance", 74.1),
    _domain("health", "health", 114),
    _domain("history", "history", 153),
    _domain("legal", "law", 105, 94),
    _domain("literature", "literature", 103),
    _domain("mathematics", "mathematics", 113),
    _domain("mix", "mixed", 5.74, 61),
    _domain("music", "music", 143),
    _domain("philosophy", "philosophy", 118),
    _domain("physics", "physics", 79.2),
    _domain("politics", "politics", 118),
    _domain("psychology", "psychology"),
    _domain("technology", "technology"),
)
