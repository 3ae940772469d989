"""The data of a bundle: JSON in compressed chunks, each a script beside the page, because a page that is opened from a
disk may read no other file. What stands in many places of a chunk stands once. And what a page that is handed on must
not say: folders of this machine, and keys of its environment."""

from __future__ import annotations

import base64
import gzip
import os
import re
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from workbench.places import home
from workbench.views.parts import Part
from workbench.views.render import page_data

CHUNK = 2_000_000  # characters of JSON in a chunk, of which a question needs one


def packed(written: str) -> str:
    """JSON compressed in base64; the same text gives the same letters."""
    return base64.b64encode(gzip.compress(written.encode("utf-8", "replace"), 9, mtime=0)).decode("ascii")


class Chunks:
    """The details of questions on disk, as chunks `q0`, `q1`, …, which begin at the positions `firsts`. Displays repeat
    rows and marks further apart than compression looks back: each part stands once in the `pieces` of a chunk, as
    `[kind, look, facts, …inside]`, where the number of a piece stands for a part."""

    def __init__(self, folder: Path, erase: Callable[[str], str]):
        self.folder, self.erase = folder, erase
        self.firsts: list[int] = []
        self._written = 0
        self._begin()

    def _begin(self) -> None:
        self._waiting: list[dict[str, Any]] = []
        self._pieces: dict[str, int] = {}
        self._length = 0

    def add(self, details: dict[str, Any]) -> None:
        """Details whose parts, wherever they stand, become numbers."""
        self._waiting.append(self._shared(details))
        if self._length >= CHUNK:
            self.flush()

    def flush(self) -> None:
        """Write what waits as a chunk."""
        if not self._waiting:
            return
        name = f"q{len(self.firsts)}"
        written = f'{{"pieces":[{",".join(self._pieces)}],"details":{page_data(self._waiting)}}}'
        data = packed(self.erase(written))
        (self.folder / f"{name}.js").write_text(f'hopscope("{name}","{data}")\n', "ascii", newline="\n")
        self.firsts.append(self._written)
        self._written += len(self._waiting)
        self._begin()

    def _shared(self, value: Any) -> Any:
        if isinstance(value, Part):
            written = page_data([value.kind, value.look, dict(value.facts), *map(self._shared, value.inside)])
            if written not in self._pieces:
                self._length += len(written)
            return self._pieces.setdefault(written, len(self._pieces))
        if isinstance(value, dict):
            return {name: self._shared(one) for name, one in value.items()}
        return [self._shared(one) for one in value] if isinstance(value, list | tuple) else value


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
