"""Docstrings of this project, which are plain text, as reStructuredText: what is indented is shown as it stands."""

from __future__ import annotations

from typing import Any


def marked_up(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Rewrite the lines of a docstring in place, as Sphinx's event `autodoc-process-docstring` wants it."""
    lines[:] = [] if lines and lines[0].startswith("Alias for field number") else as_rst(lines)


def as_rst(lines: list[str]) -> list[str]:
    """The same text with every indented block marked as literal.

    >>> as_rst(["As in:", "    a = 1", "and so on"])
    ['As in:', '', '::', '', '    a = 1', '', 'and so on']
    """
    made: list[str] = []
    literal = False
    for line in lines:
        indented = line.startswith(" ") if line.strip() else literal
        if indented and not literal:
            made += ["", "::", ""]
        elif literal and not indented:
            made.append("")
        literal = indented
        made.append(f"    {line.strip()}" if literal and not line.startswith("    ") and line.strip() else line)
    return made
