"""What turns text around: the characters that have Unicode's property Bidi_Control."""

from __future__ import annotations

import base64
import gzip
import re
from html import unescape

TURNING = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # the inside of a character class
_TURNING = re.compile(f"[{TURNING}]")
_ESCAPED = re.compile(r"(?<!\\)((?:\\\\)*)\\u(061c|200[ef]|202[a-e]|206[6-9])", re.IGNORECASE)  # as JSON may have it
_SCRIPT = re.compile(r"<script.*?</script>", re.DOTALL | re.IGNORECASE)
_PACKED = re.compile(r"H4sI[A-Za-z0-9+/=]{16,}")  # gzip in base64


def harm_of_direction(page: str) -> list[str]:
    """What turns the text of a page around, wherever the page takes it from: markup, JSON in a script, packed data.
    An escape that stands in the markup, as in the `repr` of a string, is shown as it is."""
    markup = [page, unescape(page), unescape(unescape(page))]  # and that of a frame, which is an attribute
    packed = [gzip.decompress(base64.b64decode(found[0])).decode() for found in _PACKED.finditer(page)]
    data = [*packed, *(script for text in markup for script in _SCRIPT.findall(text))]
    texts = [*markup, *packed, *(_ESCAPED.sub(lambda found: chr(int(found[2], 16)), one) for one in data)]
    return [f"the character U+{ord(found[0]):04X}" for text in texts for found in _TURNING.finditer(text)][:3]
