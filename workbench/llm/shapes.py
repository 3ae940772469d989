"""Brings a model's JSON into the requested shape before it is validated.

It applies to replies alone: what a rule body makes is validated as it is. A `Reading` in the annotation of a field says
how that field is read. A form that was copied from the prompt (`"…"`, `"<the query>"`) is no answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import AfterValidator, BaseModel, Field

from workbench.text import storable

_PLACEHOLDER = re.compile(r"\s*(?:\??(?:…|\.{3,})|<[^<>]{0,80}>)\s*")
_NUMBER = re.compile(
    r"[\W_]*(?:(?:documents?|docs?|passages?|numbers?|ids?|nos?)\b[\W_]*)?(\d{1,6})[\W_]*", re.IGNORECASE
)
_KEYS = ("subject", "relation", "object")
_ALSO = {  # what models call the parts of a triple
    "head": "subject", "source": "subject", "s": "subject", "predicate": "relation", "verb": "relation",
    "relationship": "relation", "r": "relation", "p": "relation", "tail": "object", "target": "object", "o": "object",
}  # fmt: skip
_WRAPPERS = {"result", "results", "output", "answer", "response", "reply", "data", "json"}
_LONGEST_OPTION = 200  # characters, with what stands around it
_NOTHING: Any = object()


class TemplateCopied(ValueError):
    """The form of an answer stands where the answer should be."""


@dataclass(frozen=True)
class Reading:
    """`of` reads what a model wrote in a field; `missing` is the field's value where the reply was cut before it."""

    of: Callable[[Any], Any]
    missing: Any = _NOTHING


def blank(value: Any) -> Any:
    """Nothing is the empty text."""
    return "" if value is None else value


def number(value: Any) -> Any:
    """A number in the ways models write references.

    >>> [number(said) for said in ("[2]", "Document 3", "4.", 5, "two")]
    [2, 3, 4, 5, 'two']
    """
    match = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    return int(match[1]) if match else value


def countable(value: int) -> int:
    """A number that can count things in a prompt. Raises ValueError for others, which do not fit into arrays either."""
    if abs(value) >= 10**9:
        raise ValueError("it is no number of a thing in the prompt")
    return value


def identifier(value: Any) -> Any:
    """An id without the brackets or quotation marks around it."""
    if not isinstance(value, str):
        return value
    bare = value.strip(" \t\r\n\"'`*“”")
    return bare[1:-1].strip() if re.fullmatch(r"\[[^\[\]]*\]|\([^()]*\)", bare) else bare


def row(value: Any) -> Any:
    """A triple that was written as an object with its three parts.

    >>> row({"head": "Ada", "relation": "born in", "tail": "Orsby"})
    ['Ada', 'born in', 'Orsby']
    """
    if not isinstance(value, dict):
        return value
    named = {_key(name): part for name, part in value.items()}
    parts = {_ALSO.get(name, name): part for name, part in named.items()}
    return [parts[name] for name in _KEYS] if all(name in parts for name in _KEYS) else value


def rows(value: Any) -> Any:
    """A list of triples; a single triple becomes a list of one."""
    if isinstance(value, dict) and isinstance(row(value), list):
        return [value]
    alone = isinstance(value, list) and len(value) == 3 and all(isinstance(part, str) for part in value)
    return [value] if alone else value


Blank = Annotated[str, Reading(blank, missing="")]
Number = Annotated[int, Reading(number), AfterValidator(countable)]
Identifier = Annotated[str, Reading(identifier)]
Row = Annotated[list[str], Reading(row), Field(json_schema_extra={"minItems": 3, "maxItems": 3})]
Rows = Annotated[list[Row], Reading(rows)]


def fitted(output: type[BaseModel], value: Any, *, unfinished: bool = False) -> tuple[BaseModel, bool]:
    """(the output that a value means, whether members of lists were left out that say nothing).

    Names in other letters, a wrapper around the object, a list without one, JSON written as a string, an option in
    emphasis. Of an `unfinished` value, lists and texts that may be empty are so where they are missing. Raises
    ValueError where a refusal, or a form (TemplateCopied), stands in place of an answer.
    """
    shaping = _Shaping(unfinished)
    return output.model_validate(all_storable(shaping.root(output, value))), shaping.dropped


def all_storable(part: Any) -> Any:
    """A lone surrogate, escaped as JSON allows (an emoji that was cut), would break files written later."""
    if isinstance(part, dict):
        return {storable(name): all_storable(value) for name, value in part.items()}
    if isinstance(part, list | tuple):
        return [all_storable(value) for value in part]
    return storable(part) if isinstance(part, str) else part


@dataclass
class _Shaping:
    unfinished: bool
    dropped: bool = False

    def root(self, output: type[BaseModel], value: Any) -> Any:
        fields = list(output.model_fields)
        for _ in range(2):
            if not isinstance(value, dict) or len(value) != 1 or any(_key(name) in fields for name in value):
                break
            ((name, inner),) = value.items()
            if not isinstance(inner, dict) and not (isinstance(inner, list) and _key(name) in _WRAPPERS):
                break
            value = inner  # {"result": {…}}
        listed = fields[0] if len(fields) == 1 else getattr(output, "LIST", None)
        if isinstance(value, list):
            alone = len(value) == 1 and isinstance(value[0], dict) and any(_key(name) in fields for name in value[0])
            value = value[0] if alone else {listed: value} if listed else value
        if not isinstance(value, dict):
            raise TypeError(f"a JSON {type(value).__name__} where an object with {', '.join(fields)} was asked for")
        return self.object(output, value)

    def object(self, output: type[BaseModel], value: dict) -> dict:
        written = {_key(name): part for name, part in value.items()} | value
        made = {}
        for name, field in output.model_fields.items():
            readings = [item for item in field.metadata if isinstance(item, Reading)]
            if name in written:
                made[name] = self.field(field.annotation, readings, written[name])
            elif self.unfinished:
                empty = [reading.missing for reading in readings if reading.missing is not _NOTHING]
                empty += [[]] if get_origin(field.annotation) is list else []
                if empty:
                    made[name] = empty[0]
        return value | made

    def field(self, annotation: Any, readings: list[Reading], value: Any) -> Any:
        if annotation is str and isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
            (value,) = value
        for reading in readings:
            value = reading.of(value)
        return self.typed(annotation, value)

    def typed(self, annotation: Any, value: Any) -> Any:
        if isinstance(value, str) and _PLACEHOLDER.fullmatch(value):
            raise TemplateCopied(f"{value.strip()!r} is the form that was asked for, and no answer")
        origin, inner = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            return self.field(inner[0], [item for item in inner[1:] if isinstance(item, Reading)], value)
        if origin is Literal:
            return _option(inner, value)
        if origin is list:
            return self.members(inner[0], value)
        if isinstance(annotation, type) and issubclass(annotation, BaseModel) and isinstance(value, dict):
            return self.object(annotation, value)
        models = [item for item in inner if isinstance(item, type) and issubclass(item, BaseModel)]
        if models and isinstance(value, dict):  # of a union, such as one with None
            return self.object(models[0], value)
        return value

    def members(self, annotation: Any, value: Any) -> Any:
        if isinstance(value, str) and value.lstrip().startswith("["):
            with suppress(ValueError, RecursionError):
                value = json.loads(value)
        model = isinstance(annotation, type) and issubclass(annotation, BaseModel)
        if model and isinstance(value, dict) and any(_key(name) in annotation.model_fields for name in value):
            value = [value]
        if not isinstance(value, list):
            return value
        read = []
        for member in value:
            try:
                read.append(self.typed(annotation, member))
            except ValueError as error:
                self.dropped, problem = True, error
        if value and not read:
            raise problem
        return read


def _key(name: Any) -> str:
    """A name as fields are written: `Named Entities` and `namedEntities` are `named_entities`."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(name)[:100].strip(" \t\r\n\"'`*“”:"))
    return re.sub(r"[\s-]+", "_", parted).casefold()


def _option(options: tuple, value: Any) -> Any:
    """The option that a text means, in any case and with anything around it."""
    if not isinstance(value, str) or value in options or len(value) > _LONGEST_OPTION:
        return value
    meant = {_key(option): option for option in options if isinstance(option, str)}
    return meant.get(_key(re.sub(r"\A[\W_]+|[\W_]+\Z", "", value)), value)
