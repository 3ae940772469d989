"""UltraDomain: college textbooks by domain. `<domain>.jsonl` repeats a book for each of its questions.

The papers that use it generate their own questions, so only the corpus is read.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from workbench.data import splitter
from workbench.data.lines import rows, string
from workbench.data.sources.entry import Converted, Entry, File, one
from workbench.errors import DataError
from workbench.records import Passage

_HUB = "https://huggingface.co/datasets/TommyChien/UltraDomain"
_REVISION = "b6471732333d225286f39867bfa7ce8e7b9a3d0d"
_AGRICULTURE = "ca8102fe5f3079cad5082a0ff55fe4eccd837b513d8e4703050bb9ab914115ce"
_BIOLOGY = "956be930984366556cbca7e98aba4abfd7dfa8b3f33897743c9711043268e570"


def read(folder: Path, domain: str, size: int = 1200, overlap: int = 100, unit: str = "tokens") -> Converted:
    """Each book once, split into passages: by default of LightRAG's length, but at the end of a paragraph or a
    sentence."""
    books: dict[str, str] = {}
    for where, row in rows(one(folder, f"{domain}.jsonl")):
        about = row.get("meta")
        books.setdefault(
            string(row, "context", where), str(about.get("title") or "") if isinstance(about, dict) else ""
        )
    passages = [
        Passage(f"{domain}-{book}#{number}", title, text)
        for book, (context, title) in enumerate(books.items(), 1)
        for number, text in enumerate(splitter.split(context, size, overlap, unit), 1)
    ]
    if not passages:
        raise DataError(f"{folder} holds no text in {domain}.jsonl; delete it and fetch it again")
    return Converted(tuple(passages), documents=len(books))


def _domain(name: str, of: str, megabytes: float, documents: int | None = None, sha256: str | None = None) -> Entry:
    return Entry(
        f"ultradomain/{name}",
        f"UltraDomain, {of}: the corpus alone",
        (File(f"{name}.jsonl", f"{_HUB}/resolve/{_REVISION}/{name}.jsonl", sha256, megabytes),),
        partial(read, domain=name),
        "Apache-2.0",
        "Qian et al. 2025, MemoRAG, WWW",
        f"{_HUB}/tree/{_REVISION}",
        questions=0,
        documents=documents,
        options=("size", "overlap", "unit"),
    )


# The numbers of documents are from LightRAG's paper.
ENTRIES = (
    _domain("agriculture", "agriculture", 70, 12, _AGRICULTURE),
    _domain("cs", "computer science", 95.3, 10),
    _domain("legal", "law", 105, 94),
    _domain("mix", "mixed", 5.74, 61),
    _domain("biology", "biology", 123, sha256=_BIOLOGY),
    _domain("history", "history", 153),
)
