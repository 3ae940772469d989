"""What a Step says of itself: the schema that it asks for, in the strict form, and what identifies it."""

from __future__ import annotations

import linecache
import sys
from dataclasses import replace
from types import ModuleType
from typing import Annotated, Literal

from pydantic import BaseModel, Field
from pydantic.json_schema import SkipJsonSchema
from small_steps import NAMES, SAID


class Inner(BaseModel):
    """Its fields are named as keywords of JSON schemas are."""

    title: str
    default: int = 3
    properties: list[str] = Field(default_factory=list, title="Shown")


class Outer(BaseModel):
    required: list[Inner]
    kind: Literal["a", "b"] | None = Field(None, description="a or b")
    counted: SkipJsonSchema[int] = 0


def test_every_object_is_closed_and_every_field_required_however_deep():
    """Endpoints refuse a schema that is not strict; a property named "title" is no title, and no docstring is sent."""
    inner = {
        "type": "object",
        "properties": {
            "title": {"type": "string", "maxLength": 600},
            "default": {"type": "integer"},
            "properties": {"type": "array", "items": {"type": "string", "maxLength": 600}, "maxItems": 30},
        },
        "required": ["title", "default", "properties"],
        "additionalProperties": False,
    }
    assert replace(NAMES, output=Outer).schema == {
        "$defs": {"Inner": inner},
        "type": "object",
        "properties": {
            "required": {"type": "array", "items": {"$ref": "#/$defs/Inner"}, "maxItems": 30},
            "kind": {"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}], "description": "a or b"},
        },
        "required": ["required", "kind"],
        "additionalProperties": False,
    }


def test_free_text_has_no_schema():
    assert SAID.schema is None


def test_a_label_has_one():
    assert replace(SAID, labels=("yes", "no")).schema == {
        "type": "object", "properties": {"label": {"type": "string", "enum": ["yes", "no"]}},
        "required": ["label"], "additionalProperties": False,
    }  # fmt: skip


def test_bounds_are_the_step_s_unless_the_output_has_its_own():
    """A small model that runs on is stopped by the grammar; without a bound it writes until its limit of tokens."""

    class Rows(BaseModel):
        rows: list[Annotated[list[str], Field(json_schema_extra={"maxItems": 3})]]

    rows = replace(NAMES, output=Rows, most=5, longest=9).schema["properties"]["rows"]
    assert rows == {
        "type": "array", "maxItems": 5,
        "items": {"type": "array", "maxItems": 3, "items": {"type": "string", "maxLength": 9}},
    }  # fmt: skip
    assert "maxLength" not in str(replace(NAMES, longest=None).schema)


def test_a_new_version_is_another_identity():
    """What was made with one version of a Step must not pass for the other's."""
    assert (NAMES.identity, replace(NAMES, version=2).identity) == ("names v1", "names v2")


def test_a_step_of_a_notebook_has_a_prompt_hash(monkeypatch):
    """There the module is no file; cells stand in the cache of lines, as IPython puts them there."""
    from workbench.steps import answer

    monkeypatch.setitem(sys.modules, "cells", ModuleType("cells"))

    def hash_of(cell: str) -> str:
        monkeypatch.setitem(linecache.cache, "<cell>", (len(cell), None, cell.splitlines(keepends=True), "<cell>"))
        names = {"__name__": "cells"}
        exec(compile(cell, "<cell>", "exec"), names)
        return replace(answer.STEP, prompt=names["prompt"]).prompt_hash

    said = hash_of("def prompt(value):\n    return [value]\n")
    assert said == hash_of("a = 1\ndef prompt(value):\n    return [value]\n")
    assert said != hash_of("def prompt(value):\n    return [value, value]\n")


def test_the_prompt_hash_names_the_wording():
    from workbench.steps import answer, named_entities

    assert answer.STEP.prompt_hash == replace(answer.STEP, version=9).prompt_hash != named_entities.TRIPLES.prompt_hash
