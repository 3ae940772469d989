"""What a page that is handed on must not say: folders of this machine, and keys of its environment."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from workbench.places import home

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
    looked_for = [
        *(re.escape(key) for key in sorted(keys, key=lambda key: (-len(key), key))),
        *(
            rf"(?<![\w.]){re.escape(form)}(?![\w-])[/\\]?"
            for form in sorted(known, key=lambda form: (-len(form), form))
        ),
    ]
    pattern = re.compile("|".join(looked_for) or "(?!)")

    def erase(words: str) -> str:
        if not any(one in words for one in (*known, *keys)):  # a hundred times faster than the pattern
            return words
        return pattern.sub(lambda found: "[key]" if found[0] in keys else "", words)

    return erase
