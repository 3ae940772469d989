"""Reading a reply: strict JSON, else the JSON inside fences or prose, else repaired JSON, else a failure. Nothing is ever
evaluated as code (traps T17, T18)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import json_repair
from pydantic import BaseModel, ValidationError

from workbench.llm.call import Reply
from workbench.llm.step import Step

LEVELS = ("strict", "fenced", "repaired", "text")
_FENCE = re.compile(r"```[\w-]*[ \t]*\n?(.*?)```", re.DOTALL)
_LONGEST = 200_000  # characters; a longer reply is not JSON that anybody asked for


class Unreadable(ValueError):
    """The reply holds nothing of the shape asked for."""


def parse(step: Step, reply: Reply) -> tuple[BaseModel, str]:
    """(value, level), or `Unreadable` with what was wrong."""
    if not reply.text.strip():
        raise Unreadable("the reply is empty" + (" and was cut for length" if reply.finish == "length" else ""))
    if step.read:
        try:
            return step.read(reply.text), "text"
        except (ValueError, ValidationError) as error:
            raise Unreadable(_reason(error, reply)) from None
    if len(reply.text) > _LONGEST:
        raise Unreadable(f"the reply has {len(reply.text):,} characters, more than any answer should")
    problem: Exception = Unreadable("no JSON found")
    for level, payload in _payloads(reply.text):
        try:
            return _fit(step.output, payload), level
        except (ValidationError, TypeError) as error:
            problem = error
    raise Unreadable(_reason(problem, reply))


def _payloads(text: str) -> Iterator[tuple[str, Any]]:
    """(level, JSON value) candidates, the most faithful reading first."""
    try:
        yield "strict", json.loads(text)
        return
    except ValueError:
        pass
    fenced = [match.group(1) for match in _FENCE.finditer(text)]
    for part in [*fenced, *_embedded(text)]:
        try:
            yield "fenced", json.loads(part)
        except ValueError:
            continue
    for part in [*fenced, text[_first_bracket(text) :]]:
        if re.search(r"[{\[]", part):
            yield "repaired", json_repair.loads(part)


def _embedded(text: str) -> Iterator[str]:
    """JSON objects or lists standing in prose, found with the real decoder from each opening bracket on."""
    decoder, position = json.JSONDecoder(), 0
    for match in re.finditer(r"[{\[]", text):
        if match.start() < position:
            continue
        try:
            _, position = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        yield text[match.start() : position]


def _first_bracket(text: str) -> int:
    found = re.search(r"[{\[]", text)
    return found.start() if found else len(text)


def _fit(output: type[BaseModel], payload: Any) -> BaseModel:
    """Validate; a bare list is taken for the only field of an output that has one (models often leave the wrapping out)."""
    fields = list(output.model_fields)
    if isinstance(payload, list) and len(fields) == 1:
        payload = {fields[0]: payload}
    if not isinstance(payload, dict):
        raise TypeError(f"a JSON {type(payload).__name__} where an object with {', '.join(fields)} was asked for")
    return output.model_validate(payload)


def _reason(error: Exception, reply: Reply) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        said = f"field {'.'.join(map(str, first['loc'])) or '?'}: {first['msg']}"
    else:
        said = str(error)
    return said + (" (the reply was cut for length)" if reply.finish == "length" else "")
