"""The data of a bundle: JSON in compressed chunks, each a script beside the page, because a page that is opened from a
disk may read no other file. Also removes what a shared page must not contain: folders of this machine, and keys of its
environment."""

from __future__ import annotations

import base64
import gzip
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from workbench.places import home
from workbench.views.render import page_data

CHUNK = 2_000_000  # characters of JSON in a chunk, of which a question needs one


def packed(written: str) -> str:
    """JSON compressed in base64; the same text gives the same letters."""
    return base64.b64encode(gzip.compress(written.encode("utf-8", "replace"), 9, mtime=0)).decode("ascii")


def write_chunks(folder: Path, details: Iterable[Any], erase: Callable[[str], str]) -> list[int]:
    """Write the details of questions as chunks `q0`, `q1`, …; returns at which question each begins."""
    firsts, first = [], 0
    for number, chunk in enumerate(_chunks(details)):
        data = packed(erase(f"[{','.join(chunk)}]"))
        (folder / f"q{number}.js").write_text(f'hopscope("q{number}","{data}")\n', "ascii", newline="\n")
        firsts.append(first)
        first += len(chunk)
    return firsts


def _chunks(details: Iterable[Any]) -> Iterator[list[str]]:
    chunk, length = [], 0
    for written in map(page_data, details):
        chunk.append(written)
        length += len(written)
        if length >= CHUNK:
            yield chunk
            chunk, length = [], 0
    if chunk:
        yield chunk


# -- what stays private ------------------------------------------------------------------------------------------------

# An absolute path of at least two parts, which is not part of a URL.
_PATH = re.compile(r"(?:(?<![\w/.])|(?<=file://))(?:(?:/[\w.@+~-]+){2,}/?|[A-Za-z]:\\[\w.@+~\\ -]+)")
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)
_LEAST = 12  # characters of a key; shorter values are words


def bare(words: str) -> str:
    """The words with each absolute path cut to its last part: for settings, names of models, and errors."""
    return _PATH.sub(lambda match: re.split(r"[/\\]", match[0].rstrip("/\\"))[-1], words)


def eraser(folders: Iterable[Path]) -> Callable[[str], str]:
    """A function that removes from any text the folders, those of this user and process, and the values of the
    environment's keys."""
    places = [*folders, home(), Path.cwd(), Path.home(), Path(tempfile.gettempdir())]
    written = {form for place in places for form in (str(place), str(place.resolve())) if len(Path(form).parts) > 1}
    keys = {value for name, value in os.environ.items() if _SECRET.search(name) and len(value) >= _LEAST}
    longest = lambda forms: sorted(forms, key=lambda form: (-len(form), form))  # noqa: E731
    looked_for = [*map(re.escape, longest(keys))]
    looked_for += [rf"(?<![\w.]){re.escape(form)}(?![\w-])[/\\]?" for form in longest(written)]
    pattern = re.compile("|".join(looked_for) or "(?!)")

    def erase(words: str) -> str:
        if not any(private in words for private in (*written, *keys)):  # a hundred times faster than the pattern
            return words
        return pattern.sub(lambda match: "[key]" if match[0] in keys else "", words)

    return erase
