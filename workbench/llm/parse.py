"""Read a reply: strict JSON, otherwise the JSON inside fences or prose, otherwise repaired JSON, otherwise a failure.

Reasoning is cut off first (`workbench.llm.payloads`). The parsed part of a reply that was cut for length has the level
`cut`, unless the reply is complete JSON; the finished members of its lists are kept. A reply that repeats the form or
the worked example of its prompt is no answer. Replies are never evaluated as code, which some released
programs do.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ValidationError

from workbench.llm.call import Reply
from workbench.llm.payloads import payloads, split, too_deep
from workbench.llm.shapes import TemplateCopied, all_storable, fitted
from workbench.llm.step import Message, Step

LEVELS = ("strict", "fenced", "repaired", "text", "cut")
_LONGEST = 200_000  # characters; no Step requests a longer answer
_SHORT = 200  # characters of a reply that is a yes or no, about 32 tokens
_ENTITY = re.compile(r"&(?:quot|amp|lt|gt|apos|#\d{1,6}|#x[0-9a-f]{1,6});", re.IGNORECASE)
_A_WORD = 9  # characters of a reply that may stand in the instructions by chance
_FORM = "the reply repeats the form of its prompt"
_YES_OR_NO = re.compile(r"\b(?P<not>not\s+)?(?:(?P<yes>yes|true)|no|false)\b", re.IGNORECASE)
_NAMES = re.compile(r"\b[A-Z][\w'-]*(?: [A-Z][\w'-]*)+")
_OPENING = re.compile(r"\A(?:The|An?|In|Is|Of|Was|Did|Are|Which|Who|Where) ")
_SOME_WORD = re.compile(r"[^\W\d_]{4,}")


class Unreadable(ValueError):
    """The reply contains nothing of the requested shape."""


class Reading:
    """Reads the replies to `messages`, those of one request: a recording asks whether a reply is readable, then the
    engine asks for its value."""

    def __init__(self, step: Step, messages: Sequence[Message] = ()):
        self.step, self.messages = step, messages

    def __call__(self, reply: Reply) -> bool:
        """Whether an answer can be read off the reply."""
        with suppress(Unreadable):
            return bool(self.of(reply))
        return False

    def of(self, reply: Reply) -> tuple[BaseModel, str]:
        return parse(self.step, reply, self.messages)


def parse(step: Step, reply: Reply, messages: Sequence[Message] = ()) -> tuple[BaseModel, str]:
    """(value, level), or `Unreadable` with the reason. The reply answers `messages`."""
    if len(reply.text) > _LONGEST:
        raise Unreadable(f"the reply has {len(reply.text):,} characters, more than any answer should")
    text = split(reply.text).content.removeprefix("\ufeff").replace("\r\n", "\n")
    if not text.strip():
        raise Unreadable(_no_answer(reply))
    reply = replace(reply, text=text)
    return _prose(step, reply, messages) if step.read else _json(step, reply, messages)


def _no_answer(reply: Reply) -> str:
    cut = reply.finish == "length"
    if not (reply.reasoning or reply.reasoning_tokens):
        return "the reply is empty" + (" and was cut for length" if cut else "")
    if not cut:
        return "the model reasoned and gave no answer"
    return (
        f"the limit of tokens went into reasoning ({reply.reasoning_tokens:,}), and none was left for the answer; "
        "give the engine more, reasoning=…, or let it reason less, effort=low"
    )


def _prose(step: Step, reply: Reply, messages: Sequence[Message]) -> tuple[BaseModel, str]:
    text = html.unescape(reply.text) if _ENTITY.search(reply.text) else reply.text
    try:
        value = step.read(text)
        if "\\u" in text:  # an escape, where prose is wrapped in JSON
            value = step.output.model_validate(all_storable(value.model_dump()))
    except ValueError as error:
        raise Unreadable(_reason(error, reply)) from None
    if not _lists_nothing(value) and (copied := _copied(step, text, messages)):
        raise Unreadable(copied)
    return value, "cut" if reply.finish == "length" else "text"


def _json(step: Step, reply: Reply, messages: Sequence[Message]) -> tuple[BaseModel, str]:
    cut = reply.finish == "length"
    deep = ": its brackets are nested too deep" if too_deep(reply.text) else ""
    problem: Exception = Unreadable(f"no JSON found{deep}")
    form = _FORM if _in_instructions(reply.text, messages) else ""  # which may hold several objects
    for payload in payloads(reply.text, cut=cut):
        try:
            value, dropped = fitted(step.output, payload.value, unfinished=payload.unfinished)
        except (ValueError, TypeError, RecursionError) as error:
            problem = problem if isinstance(problem, TemplateCopied) else error
            continue
        copied = _copied(step, payload.text, messages, payload.value)
        if copied := copied or (payload.level != "strict" and form):
            problem = TemplateCopied(copied)
            continue
        level = "repaired" if dropped else payload.level
        bounded = level == "strict" and _at_a_bound(payload.value, step)
        return value, "cut" if bounded or (cut and level != "strict") else level
    if (boolean := _yes_or_no(step.output, reply.text)) is not None:
        return boolean, "cut" if cut else "text"
    raise Unreadable(_reason(problem, reply))


def _at_a_bound(value: Any, step: Step) -> bool:
    """Whether a list or a text is exactly as long as the schema allows: the grammar ended it, not the model."""
    if isinstance(value, dict):
        return any(_at_a_bound(part, step) for part in value.values())
    if isinstance(value, list):
        return len(value) == step.most or any(_at_a_bound(part, step) for part in value)
    return isinstance(value, str) and len(value) == step.longest


def _yes_or_no(output: type[BaseModel], text: str) -> BaseModel | None:
    """The first yes or no of a short reply, for an output whose only field is a boolean."""
    fields = list(output.model_fields)
    match = _YES_OR_NO.search(text) if len(text) <= _SHORT and "{" not in text else None
    if not match or len(fields) != 1 or output.model_fields[fields[0]].annotation is not bool:
        return None
    return output.model_validate({fields[0]: bool(match["yes"]) != bool(match["not"])})


# -- copies of the prompt ---------------------------------------------------------------------------------------------


def _copied(step: Step, text: str, messages: Sequence[Message], value: Any = None) -> str:
    """What of the prompt a reply repeats, as a sentence; empty if nothing. Names betray the examples of our own prompts
    alone: they are invented, and those of other prompts may be known to a model."""
    if not messages:
        return ""
    *earlier, last = messages
    given, flat = last["content"].casefold(), _flat(text)
    instructions = _instructions(messages)
    if _in_instructions(text, messages) and _says_something(value, flat):
        return _FORM
    ours = step.ours
    examples = tuple(message["content"] for message in earlier if message["role"] != "system" and ours)
    names = [name for name in _names_of(examples) if name in flat and name not in given]
    if names:
        return f"the reply repeats the prompt's own example: {names[0]!r} does not occur in what was asked"
    replies = {_flat(message["content"]) for message in earlier if message["role"] == "assistant"}
    if flat in replies and any(word not in given and word not in instructions for word in _SOME_WORD.findall(flat)):
        return "the reply repeats the reply of the prompt's own example"
    return ""


def _lists_nothing(value: BaseModel) -> bool:
    """Whether an output has lists, and all are empty: a reply that is the end mark alone stands in the instructions,
    and says that there is nothing (more) to list."""
    lists = [part for _, part in value if isinstance(part, list)]
    return bool(lists) and not any(lists)


def _instructions(messages: Sequence[Message]) -> str:
    return _flat(" ".join(message["content"] for message in messages[:-1] if message["role"] == "system"))


def _in_instructions(text: str, messages: Sequence[Message]) -> bool:
    return len(flat := _flat(text)) > _A_WORD and flat in _instructions(messages)


def _says_something(value: Any, text: str) -> bool:
    """Whether a part of the form could be an answer: a yes or no, or an empty list, could."""
    if isinstance(value, dict | list):
        parts = value.values() if isinstance(value, dict) else value
        return any(_says_something(part, text) for part in parts)
    return not (value is None and text.startswith(("{", "["))) and not isinstance(value, bool)


@lru_cache(maxsize=256)
def _names_of(examples: tuple[str, ...]) -> tuple[str, ...]:
    """The names of more than one word in worked examples, which are invented."""
    spans = (name for text in examples for name in _NAMES.findall(text))
    return tuple(dict.fromkeys(name.casefold() for span in spans if " " in (name := _OPENING.sub("", span))))


def _flat(text: str) -> str:
    return " ".join(text.split()).casefold()


def _reason(error: Exception, reply: Reply) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        message = f"field {'.'.join(map(str, first['loc'])) or '?'}: {first['msg']}"
    else:
        message = str(error)
    return message + (" (the reply was cut for length)" if reply.finish == "length" else "")
