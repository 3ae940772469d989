"""Answers without traces of their origin, for a blind judge (DotRAG's pairwise evaluation)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

_LIST = re.compile(r"\n[ \t#*_]*(?:references|sources)[ \t*_:]*\n.*", re.IGNORECASE | re.DOTALL)
_SQUARE, _ROUND = re.compile(r"\s?[\[【]([^\[\]【】]{1,300})[\]】]"), re.compile(r"\s?\(([^()]{1,300})\)")
_NUMBERS = re.compile(r"\^?\d{1,3}(?:\s*[,;–-]\s*\^?\d{1,3})*|\d+†.*")
_NAMED = re.compile(
    r"(?:data|report|source|passage|document|chunk|reference|path|entit(?:y|ies)|relationship)s?\s*(?::|#?\d|\(\d).*",
    re.IGNORECASE | re.DOTALL,
)


def blinded(text: str, ids: Collection[str] = (), names: Iterable[str] = ()) -> str:
    """An answer without its citations (numbers in square brackets, names of sources, ids of passages, a final list) and
    with "the method" in place of the names of methods.

    >>> blinded("DotRAG says Orsby [1, 2] (1975) [Data: Reports (7)].\\n\\n### References\\n- [1] x", names=["dotrag"])
    'the method says Orsby (1975).'
    >>> blinded("Jaws [film#1] and [Duel] (passage 3)", ids=["film#1"])
    'Jaws and [Duel]'
    """
    text = _LIST.sub("", f"\n{text}")
    text = _SQUARE.sub(lambda found: "" if _cites(found[1], ids) or _NUMBERS.fullmatch(found[1]) else found[0], text)
    text = _ROUND.sub(lambda found: "" if _cites(found[1], ids) else found[0], text)
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "the method", text, flags=re.IGNORECASE)
    return text.strip()


def _cites(cited: str, ids: Collection[str]) -> bool:
    parts = [part.strip() for part in re.split(r"[,;]", cited)]
    return bool(_NAMED.fullmatch(cited.strip())) or all(part in ids for part in parts)
