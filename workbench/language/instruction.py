"""Texts in another language than English: the one line that a prompt then has more.

No instruction asks for English, but all are written in it, examples included, and a small model answers in what it
reads last. The line stands behind the instructions of every Step whose input is plainly in another language; for
English, and in a wording from a file, which may be in any language, nothing is added."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from workbench.language.foreign import plainly_foreign

if TYPE_CHECKING:
    from workbench.llm.step import Message

LINE = (
    "The texts below are not in English: write in their language, predicates and descriptions included, and give names "
    "as they stand there. Keys, labels and set phrases of the reply stay as these instructions give them."
)


def spoken(value: Any) -> str | None:
    """The language of the input of a Step, where it is plainly not English."""
    own = list(_texts(value, nested=False))
    return plainly_foreign(own if any(map(str.strip, own)) else _texts(value, nested=True))


def in_its_language(messages: Sequence[Message], value: Any) -> list[Message]:
    """Messages about an input, with :data:`LINE` behind the instructions where it is in another language."""
    first, *rest = messages
    if first["role"] != "system" or spoken(value) is None:
        return list(messages)
    return [{**first, "content": f"{first['content']}\n\n{LINE}"}, *rest]


def _texts(value: Any, nested: bool) -> Iterator[str]:
    """The texts of a record; `nested`: those in its tuples and records as well."""
    parts = [getattr(value, one.name) for one in fields(value)] if is_dataclass(value) else [value]
    for part in parts:
        if isinstance(part, str):
            yield part
        elif nested and is_dataclass(part):
            yield from _texts(part, nested)
        elif nested and isinstance(part, tuple | list):
            for one in part:
                yield from _texts(one, nested)
