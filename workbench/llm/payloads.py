"""The JSON in a reply: whole, inside fences or prose, unfinished, or broken and repaired.

Where several objects stand in a reply the last one comes first, because models write drafts, examples and the form that
they were given before the answer. Nothing is evaluated as code, which some released programs do.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import json_repair

_FENCE = re.compile(r"```[\w-]*+[ \t]*+\n?(.*?)```", re.DOTALL)  # possessive: or a long unclosed fence takes minutes
_BRACKET = re.compile(r"[{\[]")
_BEGIN = re.compile(r"(?:\A|```[\w-]*+)\s*+\[|\{")  # start of repairable JSON; a bracket in prose is no broken list
_OBJECT = re.compile(r"\{\s*+[\"'“]")  # an object with a name in it; other braces are prose
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{},:"]', re.DOTALL)
_STRING = re.compile(r'(?<!\\)"(?:[^"\\]|\\.)*+"', re.DOTALL)
_ALTERNATIVES = re.compile(r"[\"'\w]\s{0,9}\|\s{0,9}[\"'\w]")  # `"yes" | "no"`: no choice was made
_ELLIPSIS = re.compile(r"…|\.{3,9}")
_MARK = re.compile(r"(?m)^([^\S\n]*+)(?:[-*•]|\d{1,3}[.)])\s+(?=[\"'“{\[]|$)")  # of a list, where JSON has none
_MENDED = 10_000  # characters to repair, about 2,048 tokens
_READS = 150_000  # characters that the repairer may look at in a reply; it takes two to five of each where it succeeds
_TRIES = 1_000  # brackets in prose at which JSON is tried
_BEGINNINGS = 20  # braces from which an object may be unfinished


class Payload(NamedTuple):
    """A JSON value of a reply and how it was read: `strict`, `fenced` or `repaired`. `text` is what it was read from;
    `unfinished`: the text ends inside of it, and the value holds what was finished before."""

    level: str
    value: Any
    text: str
    unfinished: bool = False


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


_DEEPEST = 100  # brackets within brackets; deeper than Python's stack, a reply would be read otherwise at each call
_BRACKETS = re.compile(r"[\[\]{}]")


def too_deep(text: str) -> bool:
    """Whether brackets are nested deeper than any JSON that is read."""
    if text.count("[") + text.count("{") <= _DEEPEST:
        return False
    depth = 0
    for bracket in _BRACKETS.findall(text):
        depth = depth + 1 if bracket in "[{" else max(0, depth - 1)
        if depth > _DEEPEST:
            return True
    return False


_DECODER = json.JSONDecoder(parse_constant=_refuse)  # Python's own accepts NaN and Infinity
_NO_JSON = (ValueError, RecursionError)


def payloads(text: str, *, cut: bool = False) -> Iterator[Payload]:
    """Candidates, the most faithful reading first. `cut`: the reply ended at its limit, so its last string may be half.

    >>> [payload.value for payload in payloads('Draft: {"name": "Ada"}. Better: {"name": "Bo"}')][:2]
    [{'name': 'Bo'}, {'name': 'Ada'}]
    """
    if too_deep(text):
        return
    try:
        whole = _DECODER.decode(text)
    except _NO_JSON:
        yield from _in_prose(text, cut)
        return
    inner = list(_encoded(whole))
    yield from inner or [Payload("strict", whole, text)]


def _encoded(whole: Any) -> Iterator[Payload]:
    """JSON that was written as a JSON string."""
    if isinstance(whole, str) and whole.lstrip().startswith(("{", "[")):
        with suppress(*_NO_JSON):
            yield Payload("fenced", _DECODER.decode(whole), whole)


def _in_prose(text: str, cut: bool) -> Iterator[Payload]:
    if "&quot;" in text:
        text = html.unescape(text)
        with suppress(*_NO_JSON):
            yield Payload("repaired", _DECODER.decode(text), text)
    fenced = [match.group(1) for match in _FENCE.finditer(text)]
    found, beginnings = _embedded(text)
    reads = _Reads()
    for start in beginnings:  # the last attempt of a reply that ends inside it
        yield from _unfinished(text[start:], cut, reads)
    if cut and beginnings:
        return  # what stands before it was a draft
    yield from (payload for payload in found if isinstance(payload.value, dict))
    for part in fenced[::-1]:
        yield from _embedded(part)[0]
    yield from (payload for payload in found if not isinstance(payload.value, dict))
    for part in [*fenced[::-1], text]:
        yield from _repaired(part, cut, reads)


def _embedded(text: str) -> tuple[list[Payload], list[int]]:
    """(JSON inside prose, the last one first and objects before lists; where an object begins that never ends).

    It is found with the real decoder at each bracket. Objects come first, because prose contains lists such as [1]; a
    list after something broken may be a part of that.
    """
    found, position, broken, beginnings, tried = [], 0, False, [], 0
    for _ in range(_TRIES):
        bracket = _BRACKET.search(text, position)
        if not bracket:
            break
        start = bracket.start()
        try:
            value, position = _DECODER.raw_decode(text, start)
        except _NO_JSON:
            position, broken = bracket.end(), True
            if tried < _BEGINNINGS and len(text) - start <= _MENDED and _OBJECT.match(text, start):
                tried += 1
                beginnings += [start] if _finished(text[start:])[1] else []
        else:
            if isinstance(value, dict) or not broken:
                found.append(Payload("fenced", value, text[start:position]))
    return sorted(found[::-1], key=lambda payload: isinstance(payload.value, list)), beginnings


def _unfinished(text: str, cut: bool, reads: _Reads) -> Iterator[Payload]:
    """The finished part of an object that the text ends inside of; first as the repairer reads it, unless the end of
    the reply is known to be no end."""
    named = text.rstrip().endswith(":")  # the repairer would make up what is not begun
    ways = [*([] if named else _repaired(text, cut, reads)), _salvaged(text)]
    yield from (ways[::-1] if cut else ways)


def _salvaged(text: str) -> Payload:
    """The finished fields, and of an unfinished list the finished members.

    >>> _salvaged('{"names": ["Ada", "Bo", "Cy').value, _salvaged('{"a": [{"b": 1}, {"b":').value
    ({'names': ['Ada', 'Bo']}, {'a': [{'b': 1}]})
    """
    kept, _ = _finished(text)
    try:
        return Payload("repaired", _DECODER.decode(kept), text, unfinished=True)
    except _NO_JSON:
        return Payload("repaired", None, text, unfinished=True)


def _finished(text: str) -> tuple[str, bool]:
    """(the finished part of the JSON that the text begins with, closed; whether the text ends inside that JSON).

    A part is finished where cutting the text behind it leaves no member of a list incomplete.
    """
    open_, kept, closers, valued = [], 0, "", False
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign == '"':
            break  # a string without an end
        if sign in "{[":
            open_.append("}" if sign == "{" else "]")
            valued = sign == "["
        elif sign in "}]":
            if not open_ or open_.pop() != sign:
                return "", False
            if not open_:
                return text[: token.end()], False
        elif sign == ":":
            valued = True
        ends = token.end() if sign not in ",:{" else token.start()
        complete = sign in ",}]" or (len(sign) > 1 and valued)
        if complete and open_ and "]" not in open_[:-1]:
            kept, closers = ends, "".join(reversed(open_))
        if sign == "," or (len(sign) > 1 and open_ and open_[-1] == "}"):
            valued = bool(open_) and open_[-1] == "]"
    return text[:kept] + closers, bool(open_)


class _Reads:
    """How many characters the repairer may still look at in a reply."""

    def __init__(self) -> None:
        self.left = _READS


class _Watched(str):
    """A text whose characters are counted as they are read. ValueError where too many are."""

    reads: _Reads

    def __getitem__(self, key: Any) -> str:
        self.reads.left -= 1
        if self.reads.left < 0:
            raise ValueError("the repairer goes round and round")
        return super().__getitem__(key)


def _repaired(text: str, cut: bool, reads: _Reads) -> Iterator[Payload]:
    begin = _BEGIN.search(text)
    if not begin or len(text) > _MENDED:
        return
    broken = text[begin.end() - 1 :]
    if broken.startswith("[") and cut:
        yield _salvaged(broken)
    mended = _mended(broken)
    if mended is None:
        return
    watched = _Watched(mended)
    watched.reads = reads
    with suppress(Exception):  # whatever the repairer trips over, the reply is unreadable
        value = json_repair.loads(watched, skip_json_loads=True)
        if isinstance(value, dict) == broken.startswith("{"):  # an object cut inside a name becomes a list of that name
            yield Payload("repaired", value, broken)


def _mended(text: str) -> str | None:
    """JSON that the repairer would misread, written so that it does not: an ellipsis as a string, a list without
    bullets and numbers. None where it offers alternatives, of which the repairer would choose one.

    >>> _mended('{"names": [\\n1. "Ada",\\n...]}'), _mended('{"label": "yes" | "no"}')
    ('{"names": [\\n"Ada",\\n"…"]}', None)
    """
    text = _MARK.sub(r"\1", text)
    between = _STRING.sub('""', text)
    if _ALTERNATIVES.search(between):
        return None
    parts, position = [], 0
    for string in _STRING.finditer(text):
        parts += [_ELLIPSIS.sub('"…"', text[position : string.start()]), string[0]]
        position = string.end()
    return "".join([*parts, _ELLIPSIS.sub('"…"', text[position:])])
