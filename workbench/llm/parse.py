"""Read a reply: strict JSON, otherwise the JSON inside fences or prose, otherwise repaired JSON, otherwise a failure.

The parsed part of a reply that was cut for length has the level `cut`, unless the reply is complete JSON. Replies are
never evaluated as code, which some released programs do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import json_repair
from pydantic import BaseModel, ValidationError

from workbench.llm.call import Reply
from workbench.llm.step import Step
from workbench.text import storable

LEVELS = ("strict", "fenced", "repaired", "text", "cut")
_FENCE = re.compile(r"```[\w-]*+[ \t]*+\n?(.*?)```", re.DOTALL)  # possessive: or a long unclosed fence takes minutes
_BRACKET = re.compile(r"[{\[]")
_BEGIN = re.compile(r"(?:\A|```[\w-]*+)\s*+\[|\{")  # start of repairable JSON; a bracket in prose is no broken list
_LONGEST = 200_000  # characters; no Step requests a longer answer
_MENDED = 10_000  # characters to repair, about 2,048 tokens: the repairer's time can be quadratic
_TRIES = 1_000  # brackets in prose at which JSON is tried


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)  # Python's own accepts NaN and Infinity
_NO_JSON = (ValueError, RecursionError)


class Unreadable(ValueError):
    """The reply contains nothing of the requested shape."""


def parse(step: Step, reply: Reply) -> tuple[BaseModel, str]:
    """(value, level), or `Unreadable` with the reason."""
    if not reply.text.strip():
        raise Unreadable("the reply is empty" + (" and was cut for length" if reply.finish == "length" else ""))
    if len(reply.text) > _LONGEST:
        raise Unreadable(f"the reply has {len(reply.text):,} characters, more than any answer should")
    cut = reply.finish == "length"
    if step.read:
        try:
            return step.read(reply.text), "cut" if cut else "text"
        except (ValueError, ValidationError) as error:
            raise Unreadable(_reason(error, reply)) from None
    problem: Exception = Unreadable("no JSON found")
    for level, payload in payloads(reply.text):
        try:
            return _fit(step.output, payload), "cut" if cut and level != "strict" else level
        except (ValidationError, TypeError, RecursionError) as error:
            problem = error
    raise Unreadable(_reason(problem, reply))


def payloads(text: str) -> Iterator[tuple[str, Any]]:
    """(level, JSON value) candidates, the most faithful reading first."""
    try:
        whole = _DECODER.decode(text)
    except _NO_JSON:
        fenced = [match.group(1) for match in _FENCE.finditer(text)]
        yield from (("fenced", value) for part in [*fenced, text] for value in _embedded(part))
        yield from (("repaired", value) for part in [*fenced, text] for value in _repaired(part))
    else:
        yield "strict", whole


def _embedded(text: str) -> list[Any]:
    """JSON inside prose, found with the real decoder at each bracket.

    Objects come first, because prose contains lists such as [1]; a list after something broken may be a part of that.
    """
    found, position, broken = [], 0, False
    for _ in range(_TRIES):
        bracket = _BRACKET.search(text, position)
        if not bracket:
            break
        try:
            value, position = _DECODER.raw_decode(text, bracket.start())
        except _NO_JSON:
            position, broken = bracket.end(), True
        else:
            found += [value] if isinstance(value, dict) or not broken else []
    return sorted(found, key=lambda value: isinstance(value, list))


def _repaired(text: str) -> Iterator[Any]:
    begin = _BEGIN.search(text)
    if not begin or len(text) > _MENDED:
        return
    broken = text[begin.end() - 1 :]
    with suppress(Exception):  # whatever the repairer trips over, the reply is unreadable
        value = json_repair.loads(broken, skip_json_loads=True)
        if isinstance(value, dict) == broken.startswith("{"):  # an object cut inside a name becomes a list of that name
            yield value


def _fit(output: type[BaseModel], payload: Any) -> BaseModel:
    """Validate; a bare list is accepted for the only field of an output that has one, or for the field that it names
    as its `LIST`, because models omit the wrapper."""
    fields = list(output.model_fields)
    listed = fields[0] if len(fields) == 1 else getattr(output, "LIST", None)
    if isinstance(payload, list) and listed:
        payload = {listed: payload}
    if not isinstance(payload, dict):
        raise TypeError(f"a JSON {type(payload).__name__} where an object with {', '.join(fields)} was asked for")
    return output.model_validate(_storable(payload))


def _storable(payload: Any) -> Any:
    """A lone surrogate, escaped as JSON allows (an emoji that was cut), would break files written later."""
    if isinstance(payload, dict):
        return {storable(name): _storable(value) for name, value in payload.items()}
    if isinstance(payload, list):
        return [_storable(value) for value in payload]
    return storable(payload) if isinstance(payload, str) else payload


def _reason(error: Exception, reply: Reply) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        said = f"field {'.'.join(map(str, first['loc'])) or '?'}: {first['msg']}"
    else:
        said = str(error)
    return said + (" (the reply was cut for length)" if reply.finish == "length" else "")
