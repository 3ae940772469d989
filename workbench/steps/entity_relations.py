"""Step `entity_relations`: typed entities with descriptions, and described relations with keywords, of a passage
(the extraction contract of LightRAG, arXiv 2410.05779, in its release 1.5.7; our wording).

A reply has one record per line, with `<|#|>` between fields, and an end mark. Unreadable lines are skipped and counted.
`extract` asks again for missed records; `merged` merges the records of all passages, as LightRAG does.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from pydantic import BaseModel

from workbench.language.entity_types import UNKNOWN
from workbench.llm.engine import Engine
from workbench.llm.step import Result, Step
from workbench.steps.retrying import gleaned
from workbench.text import storable
from workbench.trace import Trace

FIELD, END = "<|#|>", "<|COMPLETE|>"
ROUNDS = 1  # further ones, "gleanings"
ROWS, ENTITIES = 100, 40  # that are asked for at most
NAME_CHARACTERS, NAME_BYTES = 256, 512
TYPES = (  # LightRAG's of release 1.5.7; the definitions are ours
    ("Person", "A human being, named or referred to."),
    ("Creature", "An animal, or a being of myth or fiction."),
    ("Organization", "A company, institution, party, team or other organisation."),
    ("Location", "A place: a country, a settlement, a building, a river."),
    ("Event", "Something that happened or recurs: a war, a contest, a festival."),
    ("Concept", "An idea, a subject, a law, a language, a nationality."),
    ("Method", "A technique, a procedure, a process."),
    ("Content", "A work: a book, a film, a piece of music, a document."),
    ("Data", "A date, a number, a measurement, a statistic."),
    ("Artifact", "A product: a tool, a machine, a ship, an object that was made."),
    ("NaturalObject", "Something found in nature: a mineral, a plant, a heavenly body."),
)

_END = re.compile(r"<?\|\s*COMPLETED?\s*\|>?", re.IGNORECASE)
# The sign, and what models make of it; bounded, or a long row of them takes minutes.
_FIELD = re.compile(r"(?:<\|{0,3}|\|{1,3})\\?#{1,3}\\?(?:\|{0,3}>\|?|\|{1,3})|<\|{1,3}>")
_KIND = re.compile(r"\b(entity|relation)(?:ship)?\W*\Z", re.IGNORECASE)
_ARITY = {"entity": 4, "relation": 5}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,80}>")
_WIDE = {0x3000: " ", **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}}
_APOSTROPHE = re.compile(r"(?<=\w)[‘’](?=\w)")
_TYPOGRAPHIC = re.compile(r"[“”„‟‘’‚‛«»‹›]|``|''")
_QUOTES = "\"'`*_"
_NO_TYPE = set("'()<>|/\\")


@dataclass(frozen=True)
class Input:
    """`types` are (name, definition). `found`: the names in an earlier reply, which is asked to be completed."""

    title: str
    text: str
    types: tuple[tuple[str, str], ...] = TYPES
    found: tuple[str, ...] = ()


class EntityRecord(BaseModel):
    """`type` is lower-case and without spaces where a model wrote it."""

    name: str
    type: str
    description: str


class RelationRecord(BaseModel):
    """`label` names the relation; a model gives none."""

    source: str
    target: str
    keywords: list[str]
    description: str
    label: str = ""


class Output(BaseModel):
    """`skipped` counts lines that could not be read; `complete`: the end was marked."""

    entities: list[EntityRecord]
    relations: list[RelationRecord]
    skipped: int = 0
    complete: bool = True


R = TypeVar("R", EntityRecord, RelationRecord)


# -- reading a reply --------------------------------------------------------------------------------------------------


def read(text: str) -> Output:
    """Text after the end mark is ignored. Incomplete records are skipped, as are entities without a name, description
    or usable type, and relations of an entity with itself. A reply without any record is unreadable, unless it consists
    of the end mark alone."""
    body, *after = _END.split(text, maxsplit=1)
    output = Output(entities=[], relations=[], complete=bool(after))
    for line in re.split(r"[\r\n]+", body):
        for kind, *fields in _rows(line):
            record = _entity(fields) if kind == "entity" else _relation(fields) if kind == "relation" else None
            if record is None:
                output.skipped += 1
            else:
                (output.entities if kind == "entity" else output.relations).append(record)
    if not (output.entities or output.relations) and (output.skipped or not after):
        raise ValueError("no record in the reply")
    return output


def _rows(line: str) -> Iterator[list[str]]:
    """The records of a line, each as its kind and fields; the kind is empty for anything else.

    >>> list(_rows("(entity<|#|>Orsby<|#|>Location<|#|>A town)"))
    [['entity', 'Orsby', 'Location', 'A town']]
    >>> list(_rows("entity|#|>A<|#|>T<|#|>D<|#|>entity<#>B<|##|>T<|#|>D"))
    [['entity', 'A', 'T', 'D'], ['entity', 'B', 'T', 'D']]
    """
    line = line.strip()
    if line.startswith("(") and line.endswith(")"):
        line = line[1:-1]
    fields, at = _FIELD.split(line), 0
    while at < len(fields):
        named = _KIND.search(fields[at])
        kind = named[1].casefold() if named else ""
        end = at + _ARITY.get(kind, len(fields))
        if end >= len(fields) or not _KIND.fullmatch(fields[end].strip()):  # the sign stands between records too
            end = len(fields)
        row, at = fields[at:end], end
        if kind == "entity" and len(row) == _ARITY["relation"]:
            kind = "relation"  # the count of fields says so
        if kind and len(row) == _ARITY[kind]:
            yield [kind, *row[1:]]
        elif any(map(str.isalnum, "".join(row))):
            yield [""]


def _entity(fields: list[str]) -> EntityRecord | None:
    name, type, description = clean_name(fields[0]), type_key(fields[1].partition(",")[0]), one_line(fields[2])
    if not (name and type and description) or _NO_TYPE & set(type):
        return None
    return EntityRecord(name=name, type=type, description=description)


def _relation(fields: list[str]) -> RelationRecord | None:
    source, target, description = clean_name(fields[0]), clean_name(fields[1]), one_line(fields[3])
    if not (source and target and description) or source == target:
        return None
    keywords = [one_line(word).strip(_QUOTES + " ") for word in re.split("[,，、;]", fields[2])]
    return RelationRecord(
        source=source, target=target, keywords=list(dict.fromkeys(filter(None, keywords))), description=description
    )


def clean_name(text: str) -> str:
    """A name as the graph has it: one line without tags, full-width letters and the quotes that models put around it,
    at most 256 characters and 512 bytes; empty if no letter or digit is left.

    >>> clean_name(' "<b>Kestrel　ＦＭ</b>" '), clean_name("L’Étoile “du Nord”"), clean_name("**")
    ('Kestrel FM', "L'Étoile du Nord", '')
    """
    text = _TAG.sub("", one_line(text[: 16 * NAME_CHARACTERS])).translate(_WIDE)
    text = " ".join(_TYPOGRAPHIC.sub("", _APOSTROPHE.sub("'", text)).split())
    while len(text) > 1 and text[0] == text[-1] and text[0] in _QUOTES:
        text = text[1:-1].strip()
    text = text[:NAME_CHARACTERS].encode()[:NAME_BYTES].decode(errors="ignore").strip()
    return text if any(map(str.isalnum, text)) else ""


def type_key(text: str) -> str:
    """The key of a type, regardless of letter case and spaces: "Natural Object" gives `naturalobject`."""
    return "".join(one_line(text).strip(_QUOTES + " ").casefold().split())


def one_line(text: str) -> str:
    return " ".join(_CONTROL.sub(" ", storable(text)).split())


# -- asking -----------------------------------------------------------------------------------------------------------


def extract(
    engine: Engine, inputs: Sequence[Input], *, rounds: int = ROUNDS, trace: Trace | None = None
) -> list[Result[Output]]:
    """One Result per input: the records of the first reply and of up to `rounds` further ones."""
    return gleaned(engine, STEP, inputs, rounds, _joined, trace)


def _joined(first: Output, more: Output) -> Output:
    """The records of both; of several on one entity or relation, the one with the longest description."""
    return Output(
        entities=_longest([*first.entities, *more.entities], lambda entity: entity.name),
        relations=_longest([*first.relations, *more.relations], lambda relation: (relation.source, relation.target)),
        skipped=first.skipped + more.skipped,
        complete=first.complete and more.complete,
    )


def _longest(records: list[R], key: Callable[[R], Hashable]) -> list[R]:
    longest: dict[Hashable, R] = {}
    for record in records:
        stored = longest.setdefault(key(record), record)
        if len(record.description) > len(stored.description):
            longest[key(record)] = record
    return list(longest.values())


# -- merging ----------------------------------------------------------------------------------------------------------


class Node(NamedTuple):
    """An entity, merged over all passages; `fragments` are its descriptions."""

    name: str
    type: str
    fragments: tuple[str, ...]
    passages: tuple[str, ...]


class Edge(NamedTuple):
    """A relation, merged over all passages; `weight` counts the records."""

    source: str
    target: str
    fragments: tuple[str, ...]
    keywords: tuple[str, ...]
    weight: int
    passages: tuple[str, ...]
    label: str


@dataclass
class _Gathered:
    """The records of one entity or relation, in the order found; the keys of a dict serve as an ordered set."""

    ends: tuple[str, str] = ("", "")
    types: Counter[str] = field(default_factory=Counter)
    fragments: dict[str, None] = field(default_factory=dict)
    keywords: set[str] = field(default_factory=set)
    weight: int = 0
    passages: dict[str, None] = field(default_factory=dict)

    def add(self, passage: str, description: str) -> None:
        self.fragments[description] = None
        self.passages[passage] = None
        self.weight += 1


def merged(extractions: Iterable[tuple[str, Output]], types: Iterable[str] = ()) -> tuple[list[Node], list[Edge]]:
    """The extractions of all passages, (id, Output) in the order of the corpus, as one graph, merged as LightRAG does.

    A node per exact name, with the most frequent type (the first of equal ones), spelled as in `types`. An edge per
    unordered pair of ends, or per source, target and label if relations have labels. An end without a record of its own
    has the type `unknown` and the descriptions of its relations."""
    written = {type_key(type): type for type in types}
    nodes: dict[str, _Gathered] = defaultdict(_Gathered)
    edges: dict[tuple, _Gathered] = defaultdict(_Gathered)
    for passage, extraction in extractions:
        for entity in extraction.entities:
            nodes[entity.name].add(passage, entity.description)
            nodes[entity.name].types[written.get(type_key(entity.type), entity.type)] += 1
        for relation in extraction.relations:
            ends = (relation.source, relation.target)
            edge = edges[(*(ends if relation.label else sorted(ends)), relation.label)]
            edge.ends = edge.ends if edge.weight else ends
            edge.add(passage, relation.description)
            edge.keywords |= set(relation.keywords)
    ends: dict[str, _Gathered] = defaultdict(_Gathered)
    for edge in edges.values():
        for end in edge.ends:
            if end not in nodes:
                ends[end].fragments |= edge.fragments
                ends[end].passages |= edge.passages
    return (
        [Node(name, _type(n.types), tuple(n.fragments), tuple(n.passages)) for name, n in (nodes | ends).items()],
        [
            Edge(*e.ends, tuple(e.fragments), tuple(sorted(e.keywords)), e.weight, tuple(e.passages), label)
            for (*_, label), e in edges.items()
        ],
    )


def _type(votes: Counter[str]) -> str:
    counts = Counter({type: count for type, count in votes.items() if type != UNKNOWN})
    return counts.most_common(1)[0][0] if counts else UNKNOWN


STEP = Step.from_text("entity_relations", Input, Output, read=read, max_tokens=4096)
