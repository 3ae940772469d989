"""The data of a bundle: JSON in compressed chunks, each a script beside the page, because a page that is opened from a
disk may read no other file. What stands in many places stands once."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from workbench.text import clean
from workbench.views.base import page_data

CHUNK = 2_000_000  # characters of JSON in a chunk, of which a question needs one
TEXTS = 250_000  # the same of texts: a context may need several
BEFORE, AFTER = 'hopscope("{name}","', '")\n'  # of the compressed data in the file of a chunk


def packed(value: Any, erase: Callable[[str], str] = lambda words: words) -> str:
    """A value as compressed JSON in base64; the same value gives the same letters."""
    written = erase(page_data(value))
    return base64.b64encode(gzip.compress(written.encode("utf-8", "replace"), 9, mtime=0)).decode("ascii")


class Chunks:
    """A list of values on disk, as chunks `<letter>0`, `<letter>1`, …, which begin at the positions `firsts`."""

    def __init__(self, folder: Path, letter: str, size: int, erase: Callable[[str], str]):
        self.folder, self.letter, self.size, self.erase = folder, letter, size, erase
        self.firsts: list[int] = []
        self._waiting: list[Any] = []
        self._length = self._written = 0

    def add(self, value: Any) -> None:
        self._waiting.append(value)
        self._length += len(json.dumps(value, ensure_ascii=False))
        if self._length >= self.size:
            self.flush()

    def flush(self) -> None:
        """Write what waits as a chunk."""
        if not self._waiting:
            return
        name = f"{self.letter}{len(self.firsts)}"
        data = packed(self._folded(), self.erase)
        (self.folder / f"{name}.js").write_text(BEFORE.format(name=name) + data + AFTER, "ascii", newline="\n")
        self.firsts.append(self._written)
        self._written += len(self._waiting)
        self._waiting, self._length = [], 0

    def _folded(self) -> Any:
        return self._waiting


class Pages(Chunks):
    """Chunks of details, whose parts are HTML. Displays repeat rows and marks further apart than compression looks
    back: each piece of HTML from tag to tag is stored once in a chunk, and a part is the list of their numbers."""

    def _folded(self) -> dict[str, Any]:
        known: dict[str, int] = {}
        for details in self._waiting:
            for cell in every(details["cells"]):
                cell["parts"] = [
                    [title, [known.setdefault(piece, len(known)) for piece in re.split(r"(?<=>)(?=<)", part)]]
                    for title, part in cell["parts"]
                ]
        return {"pieces": list(known), "details": self._waiting}


def every(cells: Iterable[dict[str, Any] | None]) -> Iterator[dict[str, Any]]:
    """The cells of a question and those of their repeats, without what was not asked."""
    for cell in filter(None, cells):
        yield cell
        yield from filter(None, cell.get("repeats", ()))


class Texts:
    """Lines of texts, each stored once; a text is the list of their numbers."""

    def __init__(self, chunks: Chunks):
        self.chunks = chunks
        self._numbers: dict[str, int] = {}

    def of(self, text: str) -> list[int]:
        return [self._number(line) for line in text.split("\n")]

    def _number(self, line: str) -> int:
        line = clean(line, len(line))
        if line not in self._numbers:
            self._numbers[line] = len(self._numbers)
            self.chunks.add(line)
        return self._numbers[line]
