"""The parts of a reply: reasoning before the answer, which is cut off so that a draft is never taken for the answer;
and the JSON of the answer, whole, inside fences or prose, unfinished, or broken and repaired (by json_repair).

Where several objects stand in a reply the last one comes first, because models write drafts, examples and the form that
they were given before the answer. Nothing is evaluated as code, which some released programs do.

Servers that know their model send reasoning in a field of its own; others leave it in the text, between `<think>` and
`</think>` (DeepSeek R1, Qwen 3 and most others; also `<thinking>`, `<thought>`, `<reasoning>`, and Magistral's
`[THINK]`), or in the channels of gpt-oss, of which `final` is the answer. A block that is not closed was cut, and a
reply that only closes one began inside it, since the prompt of some models ends with the opening mark.
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
_MARK = re.compile(r"(?m)^([^\S\n]*+)(?:[-*•]|\d{1,3}[.)])\s+(?=[\"'“{\[]|$)")  # of a list, where JSON has none
_MENDED = 10_000  # characters to repair, about 2,048 tokens
_READS = 150_000  # characters that the repairer may look at in a reply; it takes two to five of each where it succeeds
_TRIES = 1_000  # brackets in prose at which JSON is tried
_BEGINNINGS = 20  # braces from which an object may be unfinished
_DEEPEST = 100  # brackets within brackets; deeper than Python's stack, a reply would be read otherwise at each call
_BRACKETS = re.compile(r"[\[\]{}]")

FIELDS = ("reasoning_content", "reasoning", "thinking")  # where servers put it: DeepSeek, vLLM and others, Ollama
_THOUGHT = re.compile(  # possessive: linear
    r"</?(?:think|thinking|thought|reasoning|seed:think)>|\[/?THINK\]|"
    r"<\|channel\|>\s*+\w++[^<]*+(?:<\|constrain\|>[^<]*+)?+<\|message\|>",
    re.IGNORECASE,
)
_SIGNS = re.compile(r"<\|(?:end|return|call)\|>|<\|start\|>\w*")  # between the messages of gpt-oss
_OPENING, _SPACE = re.compile(r"\s*+[{\[\"]"), re.compile(r"\s*+")
_LOOKS = 100  # marks before which JSON is sought: each look may go through the whole text


class Payload(NamedTuple):
    """A JSON value of a reply and how it was read: `strict`, `fenced` or `repaired`. `text` is what it was read from;
    `unfinished`: the text ends inside of it, and the value holds what was finished before."""

    level: str
    value: Any
    text: str
    unfinished: bool = False


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)  # Python's own accepts NaN and Infinity
_NO_JSON = (ValueError, RecursionError)


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
    if isinstance(whole, str) and whole.lstrip().startswith(("{", "[")):  # JSON that was written as a JSON string
        with suppress(*_NO_JSON):
            yield Payload("fenced", _DECODER.decode(whole), whole)
            return
    yield Payload("strict", whole, text)


def _in_prose(text: str, cut: bool) -> Iterator[Payload]:
    """Unfinished objects, since they are the last attempt; then finished objects, those in fences, lists, and at last
    what can be repaired."""
    if "&quot;" in text:
        text = html.unescape(text)
        with suppress(*_NO_JSON):
            yield Payload("repaired", _DECODER.decode(text), text)
    fences, left = [match[1] for match in _FENCE.finditer(text)][::-1], [_READS]
    objects, lists, beginnings = _embedded(text)
    for start in beginnings:
        yield from _repaired(text[start:], cut, left)
    if cut and beginnings:
        return  # the text before it was a draft
    yield from objects
    for fence in fences:
        yield from (payload for kind in _embedded(fence)[:2] for payload in kind)
    yield from lists
    for part in [*fences, text]:
        if begin := _BEGIN.search(part):
            yield from _repaired(part[begin.end() - 1 :], cut, left)


def _embedded(text: str) -> tuple[list[Payload], list[Payload], list[int]]:
    """(objects inside prose, and lists, the last one first; where an object begins that never ends).

    They are found with the real decoder at each bracket. A list after something broken may be a part of that.
    """
    objects, lists, beginnings = list[Payload](), list[Payload](), list[int]()
    position, tried, broken = 0, 0, False
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
            continue
        payload = Payload("fenced", value, text[start:position])
        if isinstance(value, dict):
            objects.append(payload)
        elif not broken:
            lists.append(payload)
    return objects[::-1], lists[::-1], beginnings


def _repaired(broken: str, cut: bool, left: list[int]) -> Iterator[Payload]:
    """Of the JSON that a text begins with, what the repairer makes of it, and what was finished where the text ends
    inside: this first where the repairer would take a half text for a whole one, or make up a value."""
    if len(broken) > _MENDED:
        return
    text, inside = _finished(broken)
    finished = []
    if inside:
        with suppress(*_NO_JSON):
            finished = [Payload("repaired", _DECODER.decode(text), broken, unfinished=True)]
    value_lacks = broken.rstrip().endswith(":")
    if cut or value_lacks:
        yield from finished
    if not (cut and value_lacks):
        yield from _mended(broken, left)
    if not (cut or value_lacks):
        yield from finished


def _mended(broken: str, left: list[int]) -> Iterator[Payload]:
    """As json_repair reads it, unless it takes too long."""
    if (text := _unambiguous(broken)) is None:
        return
    watched = _Watched(text)
    watched.left = left
    with suppress(Exception):  # whatever makes the repairer fail, the reply is unreadable
        value = json_repair.loads(watched, skip_json_loads=True)
        if isinstance(value, dict) == broken.startswith("{"):  # an object cut inside a name becomes a list of that name
            yield Payload("repaired", value, broken)


class _Watched(str):
    """A text whose characters are counted while they are read. ValueError after more than `left`."""

    left: list[int]  # of the whole reply, which may be repaired in several ways

    def __getitem__(self, key: Any) -> str:
        self.left[0] -= 1
        if self.left[0] < 0:
            raise ValueError("the repairer goes round and round")
        return super().__getitem__(key)


def _unambiguous(text: str) -> str | None:
    """JSON that the repairer would misread, written so that it does not: a list without bullets and numbers. None where
    it offers alternatives, of which the repairer would choose one.

    >>> _unambiguous('{"names": [\\n1. "Ada",\\n2. "Bo"]}'), _unambiguous('{"label": "yes" | "no"}')
    ('{"names": [\\n"Ada",\\n"Bo"]}', None)
    """
    text = _MARK.sub(r"\1", text)
    return None if _ALTERNATIVES.search(_STRING.sub('""', text)) else text


def _finished(text: str) -> tuple[str, bool]:
    """(the finished part of the JSON that the text begins with, closed; whether the text ends inside that JSON).

    A part is finished where cutting the text behind it leaves no member of a list incomplete.

    >>> _finished('{"names": ["Ada", "Bo", "Cy'), _finished('{"a": [{"b": 1}, {"b":')
    (('{"names": ["Ada", "Bo"]}', True), ('{"a": [{"b": 1}]}', True))
    """
    open_, end, closers, valued = [], 0, "", False
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
            end, closers = ends, "".join(reversed(open_))
        if sign == "," or (len(sign) > 1 and open_ and open_[-1] == "}"):
            valued = bool(open_) and open_[-1] == "]"
    return text[:end] + closers, bool(open_)


# -- reasoning ---------------------------------------------------------------------------------------------------------


class Split(NamedTuple):
    """Reasoning and content of a reply, either of which may be empty."""

    reasoning: str
    content: str


def split(text: str) -> Split:
    """The reasoning in a raw reply, and the rest, which alone may be read as an answer.

    >>> split('<think>{"a": 1} or 2?</think>{"a": 2}')
    Split(reasoning='{"a": 1} or 2?', content='{"a": 2}')
    """
    deep = too_deep(text)
    if not deep and _is_json(text):
        return Split("", text)
    return _by_tags(text, deep)


def of_message(message: Any) -> Split:
    """Of a message of the chat protocol: its fields for reasoning, then what stands in its content.

    Content is a text, nothing, or Mistral's list of parts of the types `text` and `thinking`; ValueError otherwise.
    """
    content = getattr(message, "content", None)
    thought, content = _of_parts(content) if isinstance(content, list) else ("", content)
    if not isinstance(content, str | None):
        raise ValueError(f"its content is a {type(content).__name__} and no text")
    fields = [value for name in FIELDS if isinstance(value := getattr(message, name, None), str) and value]
    inside = split(content or "")
    return Split(_joined([*fields[:1], thought, inside.reasoning]), inside.content)  # some servers send both fields


def _by_tags(text: str, deep: bool) -> Split:
    reasoning, content, begin, inside = [], [], 0, False
    text = _SIGNS.sub("", text) if "<|message|>" in text else text
    for number, mark in enumerate(_THOUGHT.finditer(text)):
        closing = "/" in mark[0] or "final" in mark[0]
        if inside and not closing:  # one that the reasoning mentions
            continue
        if not inside and not deep and number < _LOOKS and _is_json(text, begin):  # it is in a string of the answer
            break
        piece = text[begin : mark.start()]
        if closing and not inside:  # its beginning was in the prompt
            reasoning += [*content, piece]
            content = []
        else:
            (reasoning if inside else content).append(piece)
        begin, inside = mark.end(), not closing
    if begin == 0:
        return Split("", text)
    (reasoning if inside else content).append(text[begin:])
    return Split(_joined(reasoning), _joined(content))


def _of_parts(parts: list[Any]) -> tuple[str, str]:
    """(reasoning, content) of a list of parts, as dicts: {"type": "text", "text": …}."""
    reasoning, content = [], []
    for part in parts:
        match part:
            case {"type": "text", "text": str(text)}:
                content.append(text)
            case {"type": "thinking", "thinking": [*inner]}:
                reasoning.append(_of_parts(inner)[1])
            case {"type": "thinking", "thinking": str(text)}:
                reasoning.append(text)
            case _:
                raise ValueError("its content is a list with something other than text and thinking")
    return _joined(reasoning), "".join(content)


def _joined(parts: list[str]) -> str:
    return "\n".join(stripped for part in parts if (stripped := part.strip()))


def _is_json(text: str, begin: int = 0) -> bool:
    """Whether a text is JSON from a position on."""
    opening = _OPENING.match(text, begin)
    if opening is None:
        return False
    try:
        _, end = _DECODER.raw_decode(text, opening.end() - 1)
    except _NO_JSON:
        return False
    return _SPACE.fullmatch(text, end) is not None
