"""Prompts as texts: a file with the messages of a prompt, whose fields an input fills.

`=== system`, `=== user` and `=== assistant` begin a message, and a blank line before the next of these ends it: first
the instructions, then worked examples (what was asked, what was replied), last what is asked. A backslash at the end of
a line continues it in the next. In a message

    {question}                                a field or property of the input; what is no text is written as JSON
    {question:json}                           as JSON, so that no text can pretend to be another field
    {rules.allowed_types}                     a field of a field
    {?found}Not again: {found}{/found}        only if the field holds something
    {?open}your own words{|}its words{/open}  else what stands behind the bar
    {*passages "\\n\\n"}[{#}] {0}{|}none{/passages}  for each item, with the text in quotes between; if nothing, "none"
    {{question}}                              the word in braces

In a list `{.}` is the item, `{#}` its number from 1, `{0}`, `{1}`, `{name}` are its parts. `{?open}` asks for a
reader's mode of this name. Other braces are text, and what fills a field is never read as a template."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from workbench.text import text_hash

PROMPTS = Path(__file__).parents[1] / "steps" / "prompts"  # of this package
ROLES = ("system", "user", "assistant")
OPEN = "open"  # the name of the mode in a template
FORMAT = 1  # of `Step.messages`: raise it when this sends a prompt in another form
_SECTION = re.compile(r"^=== (.+)\n", re.MULTILINE)
_NAME = r"\w+(?:\.\w+)?"
_TAG = re.compile(
    rf"\{{\{{(?P<literal>{_NAME})\}}\}}|\{{(?P<bar>\|)\}}"
    rf"|\{{(?P<kind>[?*/]?)(?P<name>{_NAME}|[.#])(?: (?P<between>\"(?:[^\"\\]|\\.)*\"))?(?P<json>:json)?\}}"
)


def sections(text: str) -> list[tuple[str, str]]:
    """(name, text) of the sections of a file."""
    _, *parts = _SECTION.split(text.replace("\\\n", "").removesuffix("\n") + "\n\n")
    return [(name, part[:-2]) for name, part in zip(parts[::2], parts[1::2])]


@dataclass(frozen=True)
class Prompt:
    """The messages of a file as the `prompt` of a Step: a function from an input to messages.

    `hash` names the wording in 12 hex digits. `ours`: the file is of this package. `brought`: it is a user's, in place
    of ours (`workbench.llm.wording`), and `reply` says how the reply is read."""

    messages: tuple[tuple[str, str], ...]  # role, template
    hash: str
    input: type | None = None
    mode: str = ""
    ours: bool = False
    brought: bool = False
    reply: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @classmethod
    def read(cls, path: Path, input: type) -> Prompt:
        """The prompt of a file, for inputs of this type."""
        messages = tuple(sections(path.read_text(encoding="utf-8")))
        digest = text_hash(json.dumps([FORMAT, messages, ""]))[:12]  # as when files had functions beside them
        return cls(messages, digest, input, ours=path.parent == PROMPTS)

    def __call__(self, value: Any) -> list[dict[str, str]]:
        scope = {**_plain(value), OPEN: self.mode == OPEN, **_computed(value, self.fields)}
        return [{"role": role, "content": "".join(_filled(parts, scope))} for role, parts in self._parsed]

    @property
    def opened(self) -> Prompt | None:
        """The prompt of the mode `open`; None where the file has no words for it."""
        if not any(part.name == OPEN for _, parts in self._parsed for part in _tags(parts)):
            return None
        return replace(self, mode=OPEN, hash=text_hash(f"{OPEN} {self.hash}")[:12])

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The fields of the input that the messages name, without fields of list items."""
        return tuple(dict.fromkeys(name for _, parts in self._parsed for name in _names(parts)))

    @cached_property
    def text(self) -> str:
        """The text of all messages."""
        return "\n".join(content for _, content in self.messages)

    @cached_property
    def _parsed(self) -> tuple[tuple[str, tuple[str | _Tag, ...]], ...]:
        return tuple((role, parsed(content)) for role, content in self.messages)


@dataclass(frozen=True)
class _Tag:
    """A field, or a section (`?`) or list (`*`) with what is `inside`, or `otherwise`."""

    kind: str
    name: str
    json: bool = False
    between: str = ""
    inside: tuple[str | _Tag, ...] = ()
    otherwise: tuple[str | _Tag, ...] = ()


def parsed(text: str) -> tuple[str | _Tag, ...]:
    """A template as its texts and tags. Raises ValueError for a section or list that is not closed."""
    opened: list[re.Match] = []
    parts: list[list[list[str | _Tag]]] = [[[]]]  # of each that is open: what is inside, and otherwise
    at = 0
    for tag in _TAG.finditer(text):
        parts[-1][-1].append(text[at : tag.start()])
        at = tag.end()
        if tag["bar"] and opened:
            parts[-1].append([])
        elif tag["kind"] == "/" and opened and opened[-1]["name"] == tag["name"]:
            begin, (inside, *otherwise) = opened.pop(), parts.pop()
            between = json.loads(begin["between"] or '""')
            other = tuple(otherwise[0]) if otherwise else ()
            parts[-1][-1].append(_Tag(begin["kind"], tag["name"], False, between, tuple(inside), other))
        elif tag["kind"] in ("?", "*"):
            opened.append(tag)
            parts.append([[]])
        elif tag["name"] and not tag["kind"]:
            parts[-1][-1].append(_Tag("", tag["name"], bool(tag["json"])))
        else:
            parts[-1][-1].append(f"{{{tag['literal']}}}" if tag["literal"] else tag[0])
    if opened:
        raise ValueError(f"{opened[-1][0]} is not closed by {{/{opened[-1]['name']}}}")
    return (*parts[0][0], text[at:])


def _filled(parts: tuple[str | _Tag, ...], scope: Mapping[str, Any]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, str):
            yield part
        elif part.kind == "?":
            yield from _filled(part.inside if _value(part.name, scope) else part.otherwise, scope)
        elif part.kind == "*":
            items = enumerate(_value(part.name, scope), 1)
            text = part.between.join("".join(_filled(part.inside, scope | _parts(*item))) for item in items)
            yield text or "".join(_filled(part.otherwise, scope))
        else:
            value = _value(part.name, scope)
            yield value if isinstance(value, str) and not part.json else in_json(value)


def _value(name: str, scope: Mapping[str, Any]) -> Any:
    """The field of this name; its name in braces where there is none, as of an item that lacks a part."""
    record, _, part = name.partition(".")
    if name in scope or not part:
        return scope.get(name, f"{{{name}}}")
    return _plain(scope[record])[part]


def _parts(number: int, item: Any) -> dict[str, Any]:
    """What an item of a list is made of, by number, of a record by name too."""
    named = _plain(item) if not isinstance(item, str | list | tuple) or hasattr(item, "_fields") else {}
    parts = [item] if isinstance(item, str) else list(named.values() or item)
    return {**{str(at): part for at, part in enumerate(parts)}, **named, ".": item, "#": number}


def _plain(record: Any) -> dict[str, Any]:
    """The fields of a record by name."""
    if isinstance(record, Mapping):
        return dict(record)
    if isinstance(record, BaseModel):
        return {name: getattr(record, name) for name in type(record).model_fields}
    return record._asdict() if hasattr(record, "_asdict") else dict(vars(record))


def _computed(value: Any, names: Iterable[str]) -> dict[str, Any]:
    """Those of the names that are properties of a record's class."""
    return {name: getattr(value, name) for name in names if isinstance(getattr(type(value), name, None), property)}


def in_json(value: Any) -> str:
    """A value as JSON, records as their fields."""
    return json.dumps(value, ensure_ascii=False, default=_plain)


def _tags(parts: tuple[str | _Tag, ...]) -> Iterator[_Tag]:
    for part in parts:
        if isinstance(part, _Tag):
            yield part
            yield from _tags((*part.inside, *part.otherwise))


def _names(parts: tuple[str | _Tag, ...]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, _Tag):
            yield part.name
            yield from _names((*(part.inside if part.kind == "?" else ()), *part.otherwise))
