"""The data of a bundle: JSON in compressed chunks, each a script beside the page, because a page that is opened from a
disk may read no other file. What stands in many places stands once. And what a page that is handed on must not say:
folders of this machine, and keys of its environment."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from workbench.places import home
from workbench.views.base import page_data

CHUNK = 2_000_000  # characters of JSON in a chunk, of which a question needs one


def packed(value: Any, erase: Callable[[str], str] = lambda words: words) -> str:
    """A value as compressed JSON in base64; the same value gives the same letters."""
    written = erase(page_data(value))
    return base64.b64encode(gzip.compress(written.encode("utf-8", "replace"), 9, mtime=0)).decode("ascii")


class Chunks:
    """The details of questions on disk, as chunks `q0`, `q1`, …, which begin at the positions `firsts`. Displays repeat
    rows and marks further apart than compression looks back: each piece of HTML from tag to tag is stored once in a
    chunk, and a part is the list of their numbers."""

    def __init__(self, folder: Path, erase: Callable[[str], str]):
        self.folder, self.erase = folder, erase
        self.firsts: list[int] = []
        self._waiting: list[dict[str, Any]] = []
        self._length = self._written = 0

    def add(self, details: dict[str, Any]) -> None:
        self._waiting.append(details)
        self._length += len(json.dumps(details, ensure_ascii=False))
        if self._length >= CHUNK:
            self.flush()

    def flush(self) -> None:
        """Write what waits as a chunk."""
        if not self._waiting:
            return
        known: dict[str, int] = {}
        for cell in every(cell for details in self._waiting for cell in details["cells"]):
            cell["parts"] = [
                [title, [known.setdefault(piece, len(known)) for piece in re.split(r"(?<=>)(?=<)", part)]]
                for title, part in cell["parts"]
            ]
        name = f"q{len(self.firsts)}"
        data = packed({"pieces": list(known), "details": self._waiting}, self.erase)
        (self.folder / f"{name}.js").write_text(f'hopscope("{name}","{data}")\n', "ascii", newline="\n")
        self.firsts.append(self._written)
        self._written += len(self._waiting)
        self._waiting, self._length = [], 0


def every(cells: Iterable[dict[str, Any] | None]) -> Iterator[dict[str, Any]]:
    """The cells of a question and those of their repeats, without what was not asked."""
    for cell in filter(None, cells):
        yield cell
        yield from filter(None, cell.get("repeats", ()))


# -- what stays private ------------------------------------------------------------------------------------------------

# An absolute path of at least two parts, which is not part of a URL.
_PATH = re.compile(r"(?:(?<![\w/.])|(?<=file://))(?:(?:/[\w.@+~-]+){2,}/?|[A-Za-z]:\\[\w.@+~\\ -]+)")
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)
_LEAST = 12  # characters of a key; shorter values are words


def bare(words: str) -> str:
    """The words with each absolute path cut to its last part: for settings, names of models, and errors."""
    return _PATH.sub(lambda found: re.split(r"[/\\]", found[0].rstrip("/\\"))[-1], words)


def eraser(folders: Iterable[Path]) -> Callable[[str], str]:
    """A function that removes from a text the folders, those of this user and process, and the values of the
    environment's keys, whatever text they got into."""
    places = [*folders, home(), Path.cwd(), Path.home(), Path(tempfile.gettempdir())]
    known = {form for place in places for form in (str(place), str(place.resolve())) if len(Path(form).parts) > 1}
    keys = {value for name, value in os.environ.items() if _SECRET.search(name) and len(value) >= _LEAST}
    longest = lambda forms: sorted(forms, key=lambda form: (-len(form), form))  # noqa: E731
    looked_for = [*map(re.escape, longest(keys))]
    looked_for += [rf"(?<![\w.]){re.escape(form)}(?![\w-])[/\\]?" for form in longest(known)]
    pattern = re.compile("|".join(looked_for) or "(?!)")

    def erase(words: str) -> str:
        if not any(one in words for one in (*known, *keys)):  # a hundred times faster than the pattern
            return words
        return pattern.sub(lambda found: "[key]" if found[0] in keys else "", words)

    return erase
