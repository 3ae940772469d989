"""UltraDomain: textbooks by domain. `<domain>.jsonl` repeats a book for each of its questions, or names another text
of its own in each line, as `mix` does.

The papers that use it generate their own questions, so only the corpus is read. Two of the domains are DotRAG's, with
the types of entities and the description of the graph that a person wrote for it there (facts of its appendix, our
wording).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from workbench import tokens
from workbench.data import splitter
from workbench.data.graph import EntityType, Schema
from workbench.data.lines import rows, string
from workbench.data.sources.entry import Converted, Entry, File, one
from workbench.errors import DataError, SettingError
from workbench.records import Passage

_HUB = "https://huggingface.co/datasets/TommyChien/UltraDomain"
_REVISION = "b6471732333d225286f39867bfa7ce8e7b9a3d0d"
_AGRICULTURE = "ca8102fe5f3079cad5082a0ff55fe4eccd837b513d8e4703050bb9ab914115ce"
_BIOLOGY = "956be930984366556cbca7e98aba4abfd7dfa8b3f33897743c9711043268e570"
WINDOW, SENTENCE = "window", "sentence"
UNSURE = "unsure"  # the type of what fits no other


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
    return Converted(tuple(passages), documents=len(books), schema=SCHEMAS.get(domain))


def is_file(path: Path) -> bool:
    """Whether a file has the publisher's form, by its first line: a question with the text that answers it."""
    try:
        with path.open(encoding="utf-8-sig") as lines:
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


def _schema(description: str, **types: str) -> Schema:
    return Schema(
        tuple(EntityType(name.replace("_AND_", " & ").replace("__", " "), says) for name, says in types.items()),
        (),
        description=description,
    )


_OF_ALL = {
    "person": "a human being, real or of fiction",
    "organization": "a group with a name and a purpose: a company, an institution, a public body, real or of fiction",
    "location": "a place, real or of fiction",
    "living_entity": "an organism that is no human being, real or of fiction",
    "event": "something that happens at a time, real or of fiction",
}
_UNSURE = "fits no other type with any certainty"
SCHEMAS = {
    "cs": _schema(
        "Textbooks of computer science: data science and software engineering, among them machine learning, big data, "
        "recommender systems, classification, and the analysis of streams with Spark.",
        person=_OF_ALL["person"],
        organization=_OF_ALL["organization"],
        programming__language="a language with its libraries and constructs, but no query language of a database",
        software__application="a program for end users, with its commands and features",
        system="a database, an operating system, a server or distributed platform, with its query language and parts",
        computer__networking="networks, protocols and what they are made of",
        data__structures_AND_algorithms="a structure of data, an algorithm, or a notion of their analysis",
        data__science="a method of statistics or machine learning, or a kind of model",
        location=_OF_ALL["location"],
        living_entity=_OF_ALL["living_entity"],
        physical_object="a thing that can be touched",
        event=_OF_ALL["event"],
        media="a book, a film, an article or another published work",
        policy="a law, a regulation or another framework of governance",
        unsure=_UNSURE,
    ),
    "mix": _schema(
        "Works of literature, biography and philosophy, and studies of culture, history and thought.",
        person=_OF_ALL["person"],
        organization=_OF_ALL["organization"],
        location=_OF_ALL["location"],
        living_entity=_OF_ALL["living_entity"],
        data__science="a method of statistics or machine learning, or a kind of model",
        event=_OF_ALL["event"],
        work__of__art="a work of creation or information, games included",
        unsure=_UNSURE,
    ),
}


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


# The numbers of documents are from LightRAG's paper.
ENTRIES = (
    _domain("agriculture", "agriculture", 70, 12, _AGRICULTURE),
    _domain("art", "art"),
    _domain("biography", "biography"),
    _domain("biology", "biology", 123, sha256=_BIOLOGY),
    _domain("cooking", "cooking"),
    _domain("cs", "computer science", 95.3, 10),
    _domain("fiction", "fiction"),
    _domain("fin", "finance"),
    _domain("health", "health"),
    _domain("history", "history", 153),
    _domain("legal", "law", 105, 94),
    _domain("literature", "literature"),
    _domain("mathematics", "mathematics"),
    _domain("mix", "mixed", 5.74, 61),
    _domain("music", "music"),
    _domain("philosophy", "philosophy"),
    _domain("physics", "physics"),
    _domain("politics", "politics"),
    _domain("psychology", "psychology"),
    _domain("technology", "technology"),
)
