"""Step `schema_extraction`: attributes, triples and entity types of a passage within a schema, and new types for that
schema (the extraction contract of Youtu-GraphRAG, arXiv 2508.19855, section 3.1, and its released code; our wording).

The reply is one JSON object in the source's form. What in it cannot be used is dropped and counted, so a reply fails
only where it has no object of this form at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from pydantic import BaseModel

from workbench.llm.payloads import payloads
from workbench.llm.step import Step
from workbench.steps.entity_relations import clean_name, one_line

Kind = Literal["entity_types", "relations", "attributes"]
KINDS: tuple[Kind, ...] = get_args(Kind)
DESCRIPTION = "description"  # the type of an attribute that names none
TYPE_CHARACTERS, VALUE_CHARACTERS = 100, 2_000
PROPOSED = 50  # new types read from one reply
_FIELDS = ("attributes", "triples", "entity_types", "new_schema_types")
_LISTS = dict(zip(KINDS, ("nodes", "relations", "attributes")))


@dataclass(frozen=True)
class Input:
    """The names of the schema; `entity_types` are (name, definition), of which a model is shown the name. `propose`:
    new types are asked for."""

    title: str
    text: str
    entity_types: tuple[tuple[str, str], ...] = ()
    relations: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    propose: bool = False


class AttributeRecord(BaseModel):
    entity: str
    type: str
    value: str


class ProposalRecord(BaseModel):
    """A new type; `score` is how sure the engine is of it, from 0 to 1, None where it does not say."""

    kind: Kind
    name: str
    score: float | None = None


class Output(BaseModel):
    """`entity_types`: name → type. `dropped` counts what could not be used, `shortened` triples with more than three
    parts, of which the first three are read; `repaired`: the reply was broken JSON."""

    attributes: list[AttributeRecord] = []
    triples: list[tuple[str, str, str]] = []
    entity_types: dict[str, str] = {}
    proposed: list[ProposalRecord] = []
    dropped: int = 0
    shortened: int = 0
    repaired: bool = False


# -- reading a reply --------------------------------------------------------------------------------------------------


def read(text: str) -> Output:
    """The first object of the reply with a field of the form; an empty one only where it is the whole reply. Raises
    ValueError where there is none.

    >>> read('{"triples": [["Orsby", "lies on", "Aldra", "x"], ["Orsby"]], "attributes": {"Orsby": ["size: 4"]}}')
    ... # doctest: +NORMALIZE_WHITESPACE
    Output(attributes=[AttributeRecord(entity='Orsby', type='size', value='4')],
           triples=[('Orsby', 'lies on', 'Aldra')], entity_types={}, proposed=[], dropped=1, shortened=1,
           repaired=False)
    """
    for level, payload, *_ in payloads(text):
        if isinstance(payload, dict) and "nodes" in payload:
            continue  # the new types, whole inside a reply that is not
        if isinstance(payload, dict) and (
            any(name in payload for name in _FIELDS) or (level, payload) == ("strict", {})
        ):
            return _Reading().of(payload, level == "repaired")
    raise ValueError(f"no JSON object with {', '.join(_FIELDS)}")


@dataclass
class _Reading:
    """What was read of one reply so far."""

    output: Output = field(default_factory=Output)

    def of(self, reply: dict[str, Any], repaired: bool) -> Output:
        self.output.repaired = repaired
        for entity, value in self._pairs(reply.get("attributes")):
            self._attributes(entity, value)
        for row in self._rows(reply.get("triples")):
            self._triple(row)
        for name, kind in self._pairs(reply.get("entity_types")):
            self._type(name, kind)
        self._proposals(reply.get("new_schema_types"))
        return self.output

    def _drop(self) -> None:
        self.output.dropped += 1

    def _rows(self, part: Any) -> list:
        if part is not None and not isinstance(part, list):
            self._drop()
        return part if isinstance(part, list) else []

    def _pairs(self, content: Any) -> Iterator[tuple[str, Any]]:
        """(name, what stands beside it) of an object, or of several in a list."""
        for part in self._rows(content) if isinstance(content, list) else [content]:
            if isinstance(part, dict):
                yield from part.items()
            elif part is not None:
                self._drop()

    def _attributes(self, entity: str, listed: Any) -> None:
        if isinstance(listed, dict):
            listed = [f"{name}: {value}" for name, value in ((n, _text(v)) for n, v in listed.items())]
        for item in listed if isinstance(listed, list) else [listed]:
            name, (kind, value) = clean_name(entity), _attribute(_text(item))
            if name and any(map(str.isalnum, value)):
                self.output.attributes.append(AttributeRecord(entity=name, type=kind, value=value))
            else:
                self._drop()

    def _triple(self, row: Any) -> None:
        parts = [_text(part) for part in row] if isinstance(row, list) else []
        self.output.shortened += len(parts) > 3
        head, relation, tail = (*parts, "", "", "")[:3]
        triple = clean_name(head), type_name(relation), clean_name(tail)
        if all(triple):
            self.output.triples.append(triple)
        else:
            self._drop()

    def _type(self, name: str, kind: Any) -> None:
        name, kind = clean_name(name), type_name(_text(kind))
        if name and kind:
            self.output.entity_types.setdefault(name, kind)
        else:
            self._drop()

    def _proposals(self, part: Any) -> None:
        if part is not None and not isinstance(part, dict):
            self._drop()
        for kind, listed in _LISTS.items():
            rows = self._rows(part.get(listed)) if isinstance(part, dict) else []
            self.output.dropped += max(0, len(rows) - PROPOSED)
            for row in rows[:PROPOSED]:
                self._proposal(kind, row)

    def _proposal(self, kind: Kind, row: Any) -> None:
        name, score = (row.get("name"), row.get("score")) if isinstance(row, dict) else (row, None)
        if name := type_name(_text(name)):
            self.output.proposed.append(ProposalRecord(kind=kind, name=name, score=_score(score)))
        else:
            self._drop()


def type_name(text: str) -> str:
    """The name of a type, relation or attribute in one line; empty if no letter or digit is left."""
    name = one_line(text[: 4 * TYPE_CHARACTERS]).strip(" \"'`*:")[:TYPE_CHARACTERS].strip()
    return name if any(map(str.isalnum, name)) else ""


def _attribute(text: str) -> tuple[str, str]:
    """(type, value)

    >>> _attribute("date: 3 May 1994"), _attribute("a small town")
    (('date', '3 May 1994'), ('description', 'a small town'))
    """
    kind, colon, value = one_line(text[: 2 * VALUE_CHARACTERS]).partition(":")
    kind, value = (type_name(kind), value.strip()) if colon else (DESCRIPTION, kind)
    return kind or DESCRIPTION, value[:VALUE_CHARACTERS]


def _text(value: Any) -> str:
    """A plain value as text, the plain values of a list with commas; empty for anything else."""
    if isinstance(value, list):
        return ", ".join(filter(None, (_text(item) for item in value if not isinstance(item, list))))
    return value if isinstance(value, str) else "" if value is None or isinstance(value, dict) else str(value)


def _score(value: Any) -> float | None:
    """A number from 0 to 1; None where there is none."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and 0 <= value <= 1 else None


STEP = Step.from_text("schema_extraction", Input, Output, read=read, max_tokens=4096)
