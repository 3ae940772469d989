"""Keys and logins, taken out of whatever may hold them: answers, messages, and what libraries log.

A server may echo what it was sent, as it is or encoded: in percent signs, JSON's or HTML's escapes, base64, hex.
"""

from __future__ import annotations

import base64
import html
import json
import logging
import re
import weakref
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import quote

from workbench.text import storable

Blot = Callable[[str], str]

NO_KEY = "none"  # local servers require a key but ignore it
_SHORT = 8  # characters below which a key or a password may occur in other words
_LIBRARIES = ("httpx", "httpcore", "openai")  # and their successors, httpx2 and httpcore2
_MARK = "[key]"


def blotter(secrets: Iterable[str]) -> Blot:
    """What replaces secrets wherever they occur in a text, and lone surrogates with them.

    A short secret, most likely a placeholder such as "x", is replaced only as a whole word: other words may contain it.

    >>> blotter(["sk-4f9a/81c2"])("key=sk-4f9a/81c2 or sk-4f9a%2F81c2")
    'key=[key] or [key]'
    """
    known = sorted({*secrets} - {"", NO_KEY}, key=len, reverse=True)
    long = sorted({form for one in known if len(one) >= _SHORT for form in _forms(one)}, key=len, reverse=True)
    words = [rf"(?<!\w){re.escape(one)}(?!\w)" for one in known if len(one) < _SHORT]
    found, word = re.compile("|".join(map(re.escape, long))), re.compile("|".join(words) or "(?!)")

    def blot(text: str) -> str:
        text = storable(text)
        if any(form in text for form in long):  # most texts hold none, and this is fast
            text = found.sub(_MARK, text)
        return word.sub(_MARK, text) if words else text

    return blot


def _forms(secret: str) -> Iterator[str]:
    """A secret as servers may write it."""
    raw = secret.encode()
    quoted = {quote(secret, safe=safe) for safe in ("", "/")} | {"".join(f"%{byte:02X}" for byte in raw)}
    yield from (secret, json.dumps(secret)[1:-1], secret.replace("/", "\\/"), html.escape(secret), repr(secret)[1:-1])
    for one in quoted:
        yield from (one, re.sub("%..", lambda found: found[0].lower(), one))
    for digits in ("04x", "04X"):
        yield "".join(f"\\u{ord(sign):{digits}}" for sign in secret)
    yield from (raw.hex(), raw.hex().upper())
    for before in range(3):  # what stands before it shifts the letters of base64
        coded = base64.b64encode(bytes(before) + raw).decode()
        whole = coded[(0, 2, 3)[before] : (before + len(raw)) * 8 // 6]
        yield from (whole, whole.replace("+", "-").replace("/", "_"))


def guard_logs(blot: Blot) -> None:
    """Have the loggers of the HTTP libraries write nothing that `blot` removes, as long as somebody holds it.

    They log headers of answers, addresses of redirects and errors that quote what came."""
    _GUARD.blots.add(blot)
    for name, logger in list(logging.root.manager.loggerDict.items()):
        if name.startswith(_LIBRARIES) and isinstance(logger, logging.Logger) and _GUARD not in logger.filters:
            logger.addFilter(_GUARD)


class _Guard(logging.Filter):
    def __init__(self):
        super().__init__()
        self.blots: weakref.WeakSet[Blot] = weakref.WeakSet()

    def filter(self, record: logging.LogRecord) -> bool:
        said = self._blotted(message := record.getMessage())
        if said != message:
            record.msg, record.args = said, ()
        if record.exc_info:
            told = logging.Formatter().formatException(record.exc_info)
            if (said := self._blotted(told)) != told:
                record.exc_info, record.exc_text = None, said
        return True

    def _blotted(self, text: str) -> str:
        for blot in list(self.blots):
            text = blot(text)
        return text


_GUARD = _Guard()
