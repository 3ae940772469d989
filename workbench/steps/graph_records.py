"""Step `graph_records`: entities with types and descriptions, and relationships with strengths, of a passage (the
extraction contract of Microsoft GraphRAG, arXiv 2404.16130, as in its code; our wording).

A reply is a list of records, not JSON, with `<|>` between fields, `##` between records, and an end mark. Unreadable
records are skipped and counted. `extract` asks once more for missed records, as the released code does; `merged` makes
profiles from the records of all passages.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.llm.engine import Engine
from workbench.llm.step import Result, Step
from workbench.steps.retrying import gleaned
from workbench.trace import Trace

FIELD, RECORD, END = "<|>", "##", "<|COMPLETE|>"
TYPES = ("organization", "person", "geo", "event")
ROUNDS = 1  # further ones, "gleanings"
_END = re.compile(r"<\|\s*COMPLETE\s*\|>", re.IGNORECASE)
_MARKS = " \t\r\n\"'`*"  # that models put around a field
# Possessive, and from the first of the marks in a row, so that a text is passed once.
_RECORD = re.compile(
    rf"(?:[(\[]|(?<![(\[\s\"'`*“”]))[\s\"'`*“”]*+(?:entity|relationship)[\s\"'`*“”]*+{re.escape(FIELD)}",
    re.IGNORECASE,
)
_BEHIND = re.compile(r"(.*?\)(?=\s*\n)|.*)(.*)", re.DOTALL)  # a record in parentheses ends with their line
_OUTSIDE = re.compile(  # at the end of a text, read from there: the mark of the next record; fences, rulers
    r"\s*+(?:(?:[.)]\d{1,3}|[-*•])[^\S\n]*+\n\s*+)?+(?:\w*+```\s*+|[-*_]{3,}+[^\S\n]*+\n\s*+)*+"
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


@dataclass(frozen=True)
class Input:
    """`found`: the names in an earlier reply, which is asked to be completed. `parts`: the (title, text) pairs that a
    merged text consists of, if it is one; the rules read each separately."""

    title: str
    text: str
    types: tuple[str, ...] = TYPES
    found: tuple[str, ...] = ()
    parts: tuple[tuple[str, str], ...] = ()


class EntityRecord(BaseModel):
    """`name` and `type` as they were written; the source's upper-case key is `name.upper()`."""

    name: str
    type: str
    description: str


class RelationRecord(BaseModel):
    source: str
    target: str
    description: str
    strength: float


class Output(BaseModel):
    """`skipped` counts records that could not be read; `complete`: the end was marked."""

    entities: list[EntityRecord]
    relationships: list[RelationRecord]
    skipped: int = 0
    complete: bool = True


def read(text: str) -> Output:
    """Text after the end mark is ignored; a missing type or description is empty, and a strength that is not a positive
    number is 1. A record without kind or name is skipped; a reply without any record is unreadable, unless it consists
    of the end mark alone."""
    body, *after = _END.split(text, maxsplit=1)
    output = Output(entities=[], relationships=[], complete=bool(after))
    parts = list(_parts(body))
    if not after and parts and parts[-1].startswith("(") and not parts[-1].endswith(")"):
        parts[-1] = "cut"  # inside of the record, whose fields may be half
    for part in parts:
        fields = _fields(part)
        kind = fields[0].casefold() if fields else ""
        if kind == "entity" and fields[1]:
            name, type, description = (*fields[1:4], "", "")[:3]
            output.entities.append(EntityRecord(name=name, type=type, description=description))
        elif kind == "relationship" and len(fields) >= 3 and fields[1] and fields[2]:
            source, target, description, strength = (*fields[1:5], "", "")[:4]
            output.relationships.append(
                RelationRecord(source=source, target=target, description=description, strength=_strength(strength))
            )
        else:
            output.skipped += bool(part.strip())
    if not (output.entities or output.relationships) and (output.skipped or not after):
        raise ValueError("no record in the reply")
    return output


def _parts(body: str) -> Iterator[str]:
    """The records, each from its kind on, wherever models put them: between the signs, in lines, a list or a fence.
    What else holds the sign between fields, or stands alone between two signs, is a part too.

    >>> list(_parts('1. ("entity"<|>Orsby<|>geo<|>A town (old))\\n2. entity<|>Aldra<|>geo<|>A river'))
    ['("entity"<|>Orsby<|>geo<|>A town (old))', 'entity<|>Aldra<|>geo<|>A river']
    """
    for part in body.split(RECORD):
        begins = [match.start() for match in _RECORD.finditer(part)]
        before = part[: begins[0]] if begins else part
        if FIELD in before or (not begins and _inside(before)):
            yield before
        for begin, end in zip(begins, [*begins[1:], len(part)]):
            record, rest = _BEHIND.fullmatch(part[begin:end].rstrip()).groups()
            yield _inside(record)
            if rest and FIELD in rest:
                yield rest


def _inside(part: str) -> str:
    """The text of a part without what belongs to the next one, or to none.

    >>> _inside("entity<|>Orsby\\n---\\n2."), _inside("```text")
    ('entity<|>Orsby', '')
    """
    return part[: len(part) - _OUTSIDE.match(part[::-1]).end()].strip()


def _fields(part: str) -> list[str]:
    """The fields of one record, without the parentheses around it; control characters are spaces.

    >>> _fields('("Entity"<|>Orsby<|> geo )')
    ['Entity', 'Orsby', 'geo']
    """
    part = _CONTROL.sub(" ", part).strip()
    inner = part[1:] if part.startswith("(") else part
    inner = inner[:-1] if inner.endswith(")") and part.startswith("(") else inner
    fields = [" ".join(field.strip(_MARKS).split()) for field in inner.split(FIELD)]
    return fields if len(fields) > 1 else []


def _strength(text: str) -> float:
    try:
        strength = float(text)
    except ValueError:
        return 1.0
    return strength if 0 < strength < math.inf else 1.0


def extract(
    engine: Engine, inputs: Sequence[Input], *, rounds: int = ROUNDS, trace: Trace | None = None
) -> list[Result[Output]]:
    """One Result per input: the records of the first reply and of up to `rounds` further ones."""
    return gleaned(engine, STEP, inputs, rounds, _joined, trace)


def _joined(first: Output, more: Output) -> Output:
    """The records of both, each once."""
    return Output(
        entities=_once([*first.entities, *more.entities]),
        relationships=_once([*first.relationships, *more.relationships]),
        skipped=first.skipped + more.skipped,
        complete=first.complete and more.complete,
    )


def _once(records: list) -> list:
    return list({record.model_dump_json(): record for record in records}.values())


def merged(extractions: Mapping[str, Output]) -> Profiles:
    """Profiles from the extractions of all passages, by passage id: an entity per name and type, regardless of letter
    case, and a relation per source and target, with all descriptions, all passages, and the sum of the strengths.
    Relations with an end that is no entity are dropped. In the source a model condenses several descriptions; here they
    are concatenated."""
    entities: dict[tuple[str, str], list[tuple[str, EntityRecord]]] = defaultdict(list)
    relations: dict[tuple[str, str], list[tuple[str, RelationRecord]]] = defaultdict(list)
    for passage_id, extraction in extractions.items():
        for entity in extraction.entities:
            entities[entity.name.upper(), entity.type.upper()].append((passage_id, entity))
        for relation in extraction.relationships:
            relations[relation.source.upper(), relation.target.upper()].append((passage_id, relation))
    names = {name: records[0][1].name for (name, _), records in entities.items()}
    return Profiles(
        tuple(
            EntityProfile(names[name], records[0][1].type, _joined_descriptions(records), _passages(records))
            for (name, _), records in entities.items()
        ),
        tuple(
            RelationProfile(
                names[source],
                names[target],
                _joined_descriptions(records),
                (),
                sum(r.strength for _, r in records),
                _passages(records),
            )
            for (source, target), records in relations.items()
            if source in names and target in names
        ),
    )


def _joined_descriptions(records: list[tuple[str, EntityRecord]] | list[tuple[str, RelationRecord]]) -> str:
    return " ".join(dict.fromkeys(record.description for _, record in records if record.description))


def _passages(records: list[tuple[str, EntityRecord]] | list[tuple[str, RelationRecord]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(passage_id for passage_id, _ in records))


STEP = Step.from_text("graph_records", Input, Output, read=read, max_tokens=4096)
