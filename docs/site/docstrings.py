"""Docstrings of this project, which are plain text: prose, columns (`name   what it means`), and what is indented."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

_ROW = re.compile(r"(\S(?:.*?\S)?)\s{2,}(\S.*)$")


def parts(lines: Iterable[str]) -> Iterator[tuple[str, list]]:
    """`prose` and `literal` with their lines, `rows` with a (name, meaning) for each."""
    kind: str = ""
    held: list = []
    for line in lines:
        row = _ROW.match(line)
        if not line.strip():
            new = kind if kind == "literal" else ""
        elif line.startswith(" "):
            new = "rows" if kind == "rows" else "literal"
        else:
            new = "rows" if row else "prose"
        if new != kind and held:
            yield kind, held
            held = []
        kind = new
        if row and kind == "rows":
            held.append(row.groups())
        elif kind == "rows":
            name, meaning = held.pop()
            held.append((name, f"{meaning} {line.strip()}"))
        elif kind:
            held.append(line)
    if held:
        yield kind, held


def as_rst(lines: Iterable[str]) -> list[str]:
    """The same text as reStructuredText: columns are a list, what is indented is literal.

    >>> as_rst(["As in:", "    a = 1", "and so on"])
    ['As in:', '', '::', '', '    a = 1', '', 'and so on', '']
    """
    made: list[str] = []
    for kind, held in parts(lines):
        if kind == "rows":
            made += [f"* ``{name}``: {meaning}" for name, meaning in held]
        elif kind == "literal":
            made += ["::", "", *(line if line.startswith("    ") else f"    {line}".rstrip() for line in held)]
        else:
            made += held
        made.append("")
    return made


def marked_up(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Rewrite the lines of a docstring in place, as Sphinx's event `autodoc-process-docstring` wants it."""
    lines[:] = [] if lines and lines[0].startswith("Alias for field number") else as_rst(lines)
