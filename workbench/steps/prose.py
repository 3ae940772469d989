"""Reading replies in prose: fences, emphasis, quotation marks, labels, announcing lines and wrapping objects are
removed, and words that state that there is nothing are recognised."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from typing import Annotated, Any

from workbench.llm.payloads import payloads, too_deep
from workbench.llm.shapes import Reading, TemplateCopied
from workbench.text import storable

_FENCED = re.compile(r"(?P<before>[^`]{0,200}?)```[\w-]*+[ \t]*+\n?(?P<inside>[^`]*)(?:```[^`]{0,200})?")
_ANNOUNCES = re.compile(
    r"\A(?:sure|certainly|of course|okay|ok|absolutely|great|here(?:'s|’s| is| are)|the (?:\w+ ){1,3}(?:is|are)"
    r"|below (?:is|are)|based on|according to)\b[^\n]{0,150}[:!.][^\S\n]*+(?=\n)",
    re.IGNORECASE,
)
_SURE = re.compile(r"\A(?:sure|certainly|of course|okay|ok|absolutely|great)!\s+", re.IGNORECASE)
_MARK = re.compile(r"\A\s*(?:[-*•>#]+|\(?\d{1,2}[.):])\s+")
_WRAPS = (
    ("**", "**"), ("__", "__"), ("*", "*"), ("_", "_"), ("`", "`"), ('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"),
    ("«", "»"),
)  # fmt: skip
_CLOSES = re.compile(
    r"\n[^\S\n]*+(?:i hope|let me know|feel free|please (?:let me|feel)|is there anything|anything else"
    r"|if you (?:need|have))\b"
    r"[^\n]{0,200}\Z",
    re.IGNORECASE,
)
_REFUSES = re.compile(
    r"\A(?:(?:i(?:'m| am) )?(?:very )?sorry|i apologi[sz]e|unfortunately|as an ai)\b.{0,80}\b(?:i|we) ?"
    r"(?:can ?no|can'|am (?:un|not )able|'m (?:un|not )able|could ?n|do not|don'|am not|'m not|won'|will not).{0,200}\Z"
    r"|\Ai (?:can ?not|can't|am unable to|am not able to|won't|will not)"
    r" (?:help|assist|do|answer|provide|comply|fulfil)\b.{0,200}\Z",
    re.IGNORECASE | re.DOTALL,
)
_FORM = re.compile(r"\s*+(?:…|\.{3,}|<[^<>]{1,80}>|\[(?:your|the) [^\[\]]{1,60}\])\s*+[.]?\s*+", re.IGNORECASE)
_OBJECT = re.compile(r"\{\s*[\"}]|\[\s*[\]{\[\"]")
_ELEMENT = re.compile(
    r"<(?P<name>pre|code|answer|final_answer|response|output|result)>(?P<inside>.*)</(?P=name)>",
    re.DOTALL | re.IGNORECASE,
)
_LABELLED = re.compile(r"\A[*_#\s]*(?:answer|response|output|result|reply)[*_]*\s*:[*_]*[ \t]*\n\s*", re.IGNORECASE)
_BULLET = re.compile(  # of a list of one; "1. FC Köln" is a name
    r"\A(?:[-*•]|\(?1[.)])\s++(?![A-Z]{2,3}\b)(?!.*\n[^\S\n]*+(?:[-*•]|\(?2[.)])\s)", re.DOTALL
)
_LAYERS = 6
_QUERY_LABELS = (
    "thought", "next thought", "query", "next query", "new query", "the new query is", "search", "next search",
    "search query", "follow-up query", "follow-up question", "missing", "missing evidence", "question",
)  # fmt: skip
_NOTHING = re.compile(
    r"(?:(?:there is |there's )?(?:nothing|no (?:further|more|other|new|additional) \w+)(?: (?:else|more|further))?"
    r"(?: (?:is|are))?(?: (?:missing|needed|required|necessary|left|to (?:search|look)(?: for)?))?"
    r"|none|n/?a|null|nil|no query|no (?:next )?question|not applicable|-+|–|—)[\s.!]*",
    re.IGNORECASE,
)


def unpacked(text: str, names: Iterable[str] = ()) -> str:
    """The text inside of fences, an element, quotation marks, emphasis, an announcement, an object or list that wraps
    it. Of an object, that under one of the `names`, or its only one.

    >>> unpacked('Sure!\\n```\\n{"result": "<pre>Oslo</pre>"}\\n```')
    'Oslo'
    """
    named = [name.casefold() for name in names]
    for _ in range(_LAYERS):
        before, text = text, text.strip()
        if fenced := _FENCED.fullmatch(text):
            announced = fenced["before"].strip()
            text = fenced["inside"].strip() if not announced or announced[-1] in ":!.*" else text
        if element := _ELEMENT.fullmatch(text):
            text = element["inside"].strip()
        text = _unwrapped(text, named)
        text = _CLOSES.sub("", _SURE.sub("", _ANNOUNCES.sub("", text))).strip() or text
        text = unmarked(_LABELLED.sub("", text))
        if text == before:
            break
    return text


def plain(text: str, *labels: str, names: Iterable[str] = ()) -> str:
    """The text of a reply (`unpacked`), without one of the `labels` before it. ValueError for a refusal, for nothing,
    and for JSON or a table; TemplateCopied for a form that was not filled in.

    >>> plain('**Answer:** "Oslo"', "answer"), plain('{"answer": "Oslo"}', names=["answer"])
    ('Oslo', 'Oslo')
    """
    text = unpacked(text, names)
    if _REFUSES.match(text.replace("’", "'")):
        raise ValueError("the reply refuses to answer, in words")
    text = unmarked(_BULLET.sub("", unmarked(unlabelled(text, *labels))))
    if is_form(text):
        raise TemplateCopied(f"{text!r} is the form that was asked for, and no word of an answer")
    if text in ("null", "None", "{}", "[]"):
        raise ValueError("the reply says nothing: no word of an answer")
    if _OBJECT.match(text) or text.startswith("|"):
        raise ValueError(f"the reply is {'a table' if text[0] == '|' else 'JSON'} where a text was asked for")
    return text


def worded(text: str, *labels: str, names: Iterable[str] = ()) -> str:
    """The text of a reply (`plain`) that can be stored; ValueError for one without a word."""
    text = storable(plain(text, *labels, names=names))
    if not any(map(str.isalnum, text)):
        raise ValueError("no word in the reply")
    return text


def is_form(text: str) -> bool:
    """Whether a text is the form of an answer, such as `<your answer>`, and not one."""
    return bool(_FORM.fullmatch(text))


def fields_of(text: str) -> dict[str, str]:
    """The texts of a reply that is an object, where prose was asked for, by their names in lower case; empty if it is
    no object."""
    for payload in payloads(text) if "{" in text else ():
        value = payload.value
        if isinstance(value, dict) and len(value) == 1 and isinstance(inner := next(iter(value.values())), dict):
            value = inner
        if payload.level != "repaired" and isinstance(value, dict):
            named = {str(name).casefold().replace(" ", "_"): part for name, part in value.items()}
            return {name: "" if part is None else str(part) for name, part in named.items()
                    if isinstance(part, str | int | float | None)}  # fmt: skip
    return {}


def unlabelled(text: str, *labels: str) -> str:
    """The text without a label before it.

    >>> unlabelled("**Final answer**: Oslo", "answer", "final answer"), unlabelled("Answers vary", "answer")
    ('Oslo', 'Answers vary')
    """
    if not labels:
        return text
    named = "|".join(re.escape(label).replace(r"\ ", r"\s+") for label in sorted(labels, key=len, reverse=True))
    return re.sub(rf"(?i)\A[\s*_`#>]*(?:{named})\s*+\d{{0,2}}[\s*_`]*+:[\s*_`]*+", "", text)


def unmarked(text: str) -> str:
    """The text without emphasis or quotation marks around the whole of it.

    >>> unmarked('**"Oslo"**'), unmarked('"A" and "B"'), unmarked("*Emma*, by *Austen*")
    ('Oslo', '"A" and "B"', '*Emma*, by *Austen*')
    """
    text = text.strip()
    while True:
        for begin, end in _WRAPS:
            inner = text[len(begin) : -len(end)]
            around = len(text) > len(begin) + len(end) and text.startswith(begin) and text.endswith(end)
            if around and begin not in inner and end not in inner and inner.strip():
                text = inner.strip()
                break
        else:
            return text


def is_nothing(text: str) -> bool:
    """Whether a query says that there is nothing to search for.

    >>> [is_nothing(said) for said in ("Nothing is missing.", "None", "Nothing Compares 2 U", "No Way Home")]
    [True, True, False, False]
    """
    return bool(_NOTHING.fullmatch(text.strip()))


def query(text: str) -> str:
    """A query without label, mark of a list, emphasis and quotation marks; empty if it says that there is none.

    >>> query('**Thought:** "Where was Ada born?"'), query("Nothing is missing.")
    ('Where was Ada born?', '')
    """
    if is_nothing(unmarked(text)):
        return ""
    bare = plain(text, *_QUERY_LABELS, names=("thought", "query", "search", "question"))
    bare = bare if "\n" in bare else unmarked(unlabelled(_MARK.sub("", bare), *_QUERY_LABELS))
    return "" if is_nothing(bare) else bare


def _query(value: Any) -> Any:
    return "" if value is None else query(value) if isinstance(value, str) else value


Query = Annotated[str, Reading(_query, missing="")]  # of an output that is JSON


def label(text: str, labels: Iterable[str]) -> str | None:
    """The first of the labels that occurs, unless a "not" denies it; None if there is none, or all of them occur, as
    in a repeated instruction.

    >>> label('It is a **"comparison"**.', ["bridge", "comparison"]), label("not a bridge", ["bridge", "comparison"])
    ('comparison', None)
    """
    named = sorted(labels, key=len, reverse=True)
    meant = [named[at.lastindex - 2] for at in _labels(tuple(named)).finditer(text) if not at["denied"]]
    if not meant or (len(named) > 1 and len(set(meant)) == len(named)):
        return None
    return meant[0]


@lru_cache
def _labels(named: tuple[str, ...]) -> re.Pattern[str]:
    """Each label, with what denies it; possessive, so that a text is passed once."""
    alternatives = "|".join(f"({re.escape(name)})" for name in named)
    denied = r"(?P<denied>\bno[tr]?\s++(?:an?\s++)?+[\W_]*+)?"
    return re.compile(rf"{denied}(?<![^\W_])(?:{alternatives})(?![^\W_])", re.IGNORECASE)


def _unwrapped(text: str, names: list[str]) -> str:
    """What a JSON text, or an object, holds: the first of the named texts, or the only one."""
    if not text.startswith(("{", "[", '"')) or too_deep(text):
        return text
    with suppress(ValueError, RecursionError):
        value = json.loads(text)
        for _ in range(_LAYERS):
            if isinstance(value, str):
                return value.strip()
            if isinstance(value, list) and len(value) == 1:
                value = value[0]
                continue
            if not isinstance(value, dict):
                break
            held = {str(name).casefold(): item for name, item in value.items()}
            chosen = [held[name] for name in names if name in held]
            value = chosen[0] if chosen else next(iter(held.values())) if len(held) == 1 else None
    return text
