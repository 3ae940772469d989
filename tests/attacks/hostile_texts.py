"""Texts that harm whoever acts upon them, and how to tell that a page, a terminal or a table does not.

Every text that aims at a page carries the mark `pwn` where it would show as a tag, an attribute or an address, and sets
`window.pwned` where it would run. They lie in `hostile.json`."""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

from direction import TURNING, harm_of_direction

MARK = "pwn"
_HELD = json.loads(Path(__file__).with_name("hostile.json").read_text("ascii"))
TEXTS: dict[str, str] = {**_HELD["texts"], "combining": "Z" + "\u0301" * 500, "long": MARK * 400}
# Of replies that nobody asked for: orders to who reads on, odd characters, and what readers look for.
ORDERS, ODD, SOUGHT = (tuple(_HELD[name]) for name in ("orders", "odd", "sought"))

# A terminal obeys these, turns its text around by them, or cannot write them; \n and \t apart.
UNSHOWABLE = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029{TURNING}\ud800-\udfff]")
_FORMULA = re.compile(r"[=+\-@\t\r＝＋－＠]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf|-?nan")
_HELD_AS_TEXT = {"title", "alt", "value", "content", "placeholder", "label"}


class Page(HTMLParser):
    """Notes in `harm` whatever in a page came of a hostile text but text: a tag, an attribute, an address."""

    def __init__(self, page: str):
        super().__init__(convert_charrefs=True)
        self.harm: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            value = value or ""
            if name == "srcdoc":
                self.harm += Page(value).harm
            elif name in _HELD_AS_TEXT or name.startswith(("data-", "aria-")):
                continue
            elif MARK in name or name.startswith("on") or MARK in value or value.lstrip().startswith("javascript:"):
                self.harm.append(f"<{tag} {name}={value[:80]!r}>")
        if MARK in tag:
            self.harm.append(f"<{tag}>")

    def handle_comment(self, data: str) -> None:
        if MARK in data:
            self.harm.append(f"a comment: {data[:80]!r}")

    unknown_decl = handle_pi = handle_comment


def harm_of_page(page: str) -> list[str]:
    return [*Page(page).harm, *harm_of_lines(page), *harm_of_direction(page)]


def harm_of_lines(said: str) -> list[str]:
    """What a terminal would obey."""
    return [f"the character U+{ord(found[0]):04X}" for found in UNSHOWABLE.finditer(said)][:3]


def harm_of_csv(table: str) -> list[str]:
    """Cells that a spreadsheet computes; a number is none."""
    cells = (cell for row in csv.reader(io.StringIO(table, newline="")) for cell in row)
    return [f"the cell {cell[:80]!r}" for cell in cells if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell)][:3]
