"""What turns text around: the characters that have Unicode's property Bidi_Control."""

from __future__ import annotations

import base64
import gzip
import re
from html import unescape

TURNING = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # the inside of a character class
_TURNING = re.compile(f"[{TURNING}]")
_ESCAPED = re.compile(r"(?<!\\)((?:\\\\)*)\\u(061c|200[ef]|202[a-e]|206[6-9])", re.IGNORECASE)  # as JSON may have it
_PACKED = re.compile(r"H4sI[A-Za-z0-9+/=]{16,}")  # gzip in base64


def harm_of_direction(page: str) -> list[str]:
    """What turns the text of a page around, wherever the page takes it from: markup, JSON in a script, packed data."""
    parts = [page, *(gzip.decompress(base64.b64decode(found[0])).decode() for found in _PACKED.finditer(page))]
    texts = [_ESCAPED.sub(lambda found: chr(int(found[2], 16)), unescape(unescape(part))) for part in parts]
    return [f"the character U+{ord(found[0]):04X}" for text in texts for found in _TURNING.finditer(text)][:3]
