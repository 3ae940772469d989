"""The writers of a textualisation: an engine, whose texts are checked here, and a template for the rest.

Marks in an article: `<topic>`, `[name]`. What counts as mentioned is what stands between brackets, exactly: a name
that is part of a longer one is not found by accident.

The triples of a graph, from the side of each entity: what it takes part in, its type, its articles.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from workbench.data.graph import Schema
from workbench.errors import DataError
from workbench.language import verbalisation as template
from workbench.llm.engine import Engine, RulesEngine
from workbench.llm.step import Result, Step
from workbench.records import Triple
from workbench.steps import textualising
from workbench.text import text_hash

_MARKED = re.compile(r"\[([^\[\]<>]*)\]|<([^\[\]<>]*)>")
_BRACKETS, _STAND_INS = "[]<>", "⟦⟧⟨⟩"
_SAFE = str.maketrans(_BRACKETS, _STAND_INS)
_PLAIN = str.maketrans(_STAND_INS, _BRACKETS, _BRACKETS)


def safe(name: str) -> str:
    """A name as written in marked text: `shielded`, if it can be recognised there."""
    if not name.strip():
        raise DataError(f"{name!r} cannot be the name of an entity or a relation; rename it, or remove its triples")
    if reserved := set(name) & set(_STAND_INS):
        raise DataError(
            f"the name {name!r} holds {min(reserved)}, which represents a bracket in marked text; rename it"
        )
    return shielded(name)


def shielded(text: str) -> str:
    """Text whose own brackets are no marks: they become ⟦ ⟧ ⟨ ⟩, and `plain` turns them back."""
    return text.translate(_SAFE)


def plain(text: str) -> str:
    """Marked text without its marks."""
    return text.translate(_PLAIN)


def mentions(text: str) -> set[str]:
    """All that is marked, as a topic or as another name."""
    return {square or angle for square, angle in _MARKED.findall(text)}


def topics(text: str) -> set[str]:
    """What is marked as the topic."""
    return {angle for _, angle in _MARKED.findall(text) if angle}


def without_strangers(text: str, names: Collection[str]) -> tuple[str, int]:
    """The text without marks around names that are not in `names`, and the number of such marks."""
    strangers = 0

    def unmarked(match: re.Match) -> str:
        nonlocal strangers
        name = match[1] if match[1] is not None else match[2]
        if name in names:
            return match[0]
        strangers += 1
        return name

    return _MARKED.sub(unmarked, text), strangers


UNKNOWN = "unknown"


class Shard(NamedTuple):
    """One article: its id, the entity it is about, which of that entity's articles it is, the rows of the triples that
    it states."""

    id: str
    central: str
    number: int
    rows: tuple[int, ...]


@dataclass(frozen=True)
class Facts:
    """`triples` (subject, relation, object) stand once each, written as in marked text. `rows` entity → its
    triples, sorted by relation, then by the name at the other end."""

    triples: list[tuple[str, str, str]]
    rows: dict[str, list[int]]
    types: dict[str, str]

    @classmethod
    def of(cls, triples: Iterable[Triple], schema: Schema) -> Facts:
        written: dict[str, str] = {}
        for triple in triples:
            for name in triple.members:
                if name not in written:
                    written[name] = safe(name)
        members = dict.fromkeys(tuple(written[member] for member in triple.members) for triple in triples)
        keys, rows = list(members), defaultdict(list)
        for row, (subject, _, obj) in enumerate(keys):
            for name in {subject, obj}:
                rows[name].append(row)
        for name, mine in rows.items():
            mine.sort(key=lambda row: (keys[row][1], _other(keys[row], name), row))
        return cls(keys, dict(sorted(rows.items())), _types(keys, rows, schema))

    def of_rows(self, rows: Iterable[int]) -> tuple[tuple[str, str, str], ...]:
        return tuple(self.triples[row] for row in rows)

    def neighbours(self, name: str, rows: Iterable[int]) -> set[str]:
        """The names at the other ends; of a triple that leads back to the entity, its own."""
        return {_other(self.triples[row], name) for row in rows}

    def stated_by(self, shard: Shard) -> list[int]:
        """The triples of a shard that its entity is the subject of."""
        return [row for row in shard.rows if self.triples[row][0] == shard.central]

    def shards(self, size: int) -> list[Shard]:
        """The articles of all entities, of at most `size` triples each, by name: `name#1`, `name#2`, …"""
        return [
            Shard(f"{key}#{number}", name, number, tuple(rows[start : start + size]))
            for name, rows in self.rows.items()
            for key in [_key(plain(name))]
            for number, start in enumerate(range(0, len(rows), size), 1)
        ]


def _other(triple: tuple[str, str, str], name: str) -> str:
    subject, _, obj = triple
    return obj if subject == name else subject


def _key(name: str) -> str:
    """A name that is valid in an id: without control characters, and still distinct from any other."""
    return name if name.isprintable() else f"{''.join(filter(str.isprintable, name))}~{text_hash(name)}"


def _types(triples: list[tuple[str, str, str]], rows: dict[str, list[int]], schema: Schema) -> dict[str, str]:
    """Entity → type: one that all its relations allow at its end, else one that any does; the first in the schema."""
    order = {kind.name: at for at, kind in enumerate(schema.entity_types)}
    ends = {shielded(relation.name): (relation.head, relation.tail) for relation in schema.relations}
    roles: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for subject, label, obj in triples:
        head, tail = ends.get(label, ((), ()))
        roles[subject].add(head)
        roles[obj].add(tail)
    types = {}
    for name in rows:
        allowed = [set(role) for role in roles[name] if role]
        choice = (set.intersection(*allowed) or set.union(*allowed)) if allowed else {UNKNOWN}
        types[name] = min(choice, key=lambda kind: order.get(kind, len(order)))
    return types


TEMPLATE = "template"
Row = dict[str, Any]


class Text(NamedTuple):
    """A row of a file. All rows of a folder come from one engine (`folder.same_work`)."""

    made_by: str
    fields: Row

    key = property(lambda self: self.fields["id"])
    failure = property(lambda self: self.fields.get("failure"))
    defects = ()

    def row(self) -> Row:
        return self.fields


WORKBENCH = "workbench"
ARTICLES = {WORKBENCH: textualising.ARTICLE, "paper": textualising.ARTICLE_PAPER}  # profile → who writes an article


class Writers:
    """`articles`, `entities` and `relations` take a group of shards and yield a row with its id for each. A row with a
    `failure` holds what the template wrote instead."""

    def __init__(
        self, facts: Facts, schema: Schema, engine: Engine, template_above: int, attempts: int, profile: str = WORKBENCH
    ):
        self._step, self._paper = ARTICLES[profile], profile == "paper"
        self.facts, self.schema, self.engine = facts, schema, engine
        self.template_above, self.attempts = template_above, attempts
        self._rules = RulesEngine()

    @cached_property
    def _relations(self) -> template.Relations:
        """The relations as the Steps receive them, valid in marked text."""
        return tuple((shielded(r.name), r.head, r.tail, shielded(r.definition)) for r in self.schema.relations)

    # -- articles -----------------------------------------------------------------------------------------------------

    def articles(self, group: Sequence[Shard]) -> Iterator[Row]:
        """Each mentions its topic and every name that it should, by its own words or by added sentences."""
        texts, failures = dict.fromkeys((shard.id for shard in group), ""), {}
        pending = list(group)
        for attempt in range(self.attempts):
            inputs = [self._article(shard, texts[shard.id], attempt) for shard in pending]
            for shard, result in zip(pending, self._ask(self._step, pending, inputs)):
                failures[shard.id] = result.failure
                if result.value:
                    # The text that lacks fewer names: a model that fixes one name may lose another.
                    candidates = (result.value.text, texts[shard.id] or result.value.text)
                    texts[shard.id] = min(candidates, key=lambda text: len(self._lacking(shard, text)))
            pending = [shard for shard in pending if self._lacking(shard, texts[shard.id])]
            if not pending:
                break
        centrals = {shard.central for shard in group}
        around = {name: self.facts.neighbours(name, self.facts.rows[name]) | {name} for name in centrals}
        for shard in group:
            writer = self._writer(shard) if texts[shard.id] else TEMPLATE
            written = texts[shard.id] or self._by_template(shard)
            text, strangers = without_strangers(written, around[shard.central])
            added = self._added(shard, text)
            row = {"id": shard.id, "central": plain(shard.central), "text_marked": " ".join((text, *added))}
            row |= {"writer": writer, "repaired": bool(added), "hallucinated": strangers}
            yield row | _failed(None if texts[shard.id] else failures[shard.id])

    def _article(self, shard: Shard, earlier: str, attempt: int) -> textualising.Topic:
        missing = tuple(sorted(self._lacking(shard, earlier))) if attempt else ()
        triples, kind = self.facts.of_rows(shard.rows), self.facts.types[shard.central]
        return textualising.Topic(shard.central, kind, triples, self._relations, earlier, missing)

    def _by_template(self, shard: Shard) -> str:
        return template.article(shard.central, self.facts.of_rows(shard.rows), self._relations)

    def _lacking(self, shard: Shard, text: str) -> set[str]:
        lacking = self.facts.neighbours(shard.central, shard.rows) - mentions(text)
        return lacking if shard.central in topics(text) else lacking | {shard.central}

    def _added(self, shard: Shard, text: str) -> list[str]:
        """A sentence for each triple whose name is lacking; where only the topic is, the first triple's."""
        if not (lacking := self._lacking(shard, text)):
            return []
        rows = [row for row in shard.rows if self.facts.neighbours(shard.central, [row]) & lacking]
        triples = self.facts.of_rows(rows or shard.rows[:1])
        return [template.sentence(triple, self._relations, shard.central) for triple in triples]

    # -- entities -----------------------------------------------------------------------------------------------------

    def entities(self, group: Sequence[Shard], articles: Mapping[str, Row]) -> Iterator[Row]:
        """Of entities by their first shards: name, type, description. The relations settle the type; of the model's,
        only one that no relation can settle (MetaQA's `theme`) goes before. Under profile `paper` the model settles it
        (figure 6), and the relations where it names none of the schema's."""
        inputs = [self._entity(shard, articles[shard.id]["text_marked"]) for shard in group]
        for shard, value, result in zip(group, inputs, self._ask(textualising.ENTITY, group, inputs)):
            kind, writer, text = value.type, self._writer(shard), result.value.description if result.value else ""
            if not text.strip():
                writer, text = TEMPLATE, template.description(value.name, value.triples, self._relations)
            elif result.value.type in (self._types if self._paper or kind == UNKNOWN else self._free_types):
                kind = result.value.type
            row = {
                "id": shard.id,
                "name": plain(shard.central),
                "type": kind,
                "description": plain(text),
                "writer": writer,
            }
            yield row | _failed(result.failure)

    def _entity(self, shard: Shard, article: str) -> textualising.EntityInput:
        name = shard.central
        kind, types = self.facts.types[name], tuple((t.name, t.definition) for t in self.schema.entity_types)
        triples = self.facts.of_rows(self.facts.rows[name])
        return textualising.EntityInput(name, article, kind, types, triples, self._relations)

    @cached_property
    def _types(self) -> set[str]:
        return {kind.name for kind in self.schema.entity_types}

    @cached_property
    def _free_types(self) -> set[str]:
        """Types that occur at no relation's end."""
        return self._types - {name for relation in self.schema.relations for name in (*relation.head, *relation.tail)}

    # -- relations ----------------------------------------------------------------------------------------------------

    def relations(self, group: Sequence[Shard], articles: Mapping[str, Row]) -> Iterator[Row]:
        """Of each triple of which a shard's entity is the subject: its row and a sentence that names both ends."""
        sentences: dict[str, dict[int, str]] = {shard.id: {} for shard in group}
        failures: dict[str, str | None] = {}
        pending = {shard: self.facts.stated_by(shard) for shard in group}
        for attempt in range(self.attempts):
            inputs = [
                textualising.RelationsInput(
                    name=shard.central,
                    article=articles[shard.id]["text_marked"],
                    triples=self.facts.of_rows(rows),
                    relations=self._relations,
                    again=attempt > 0,
                )
                for shard, rows in pending.items()
            ]
            for shard, result in zip(list(pending), self._ask(textualising.RELATIONS, list(pending), inputs)):
                failures[shard.id] = result.failure
                sentences[shard.id] |= self._sentences(pending[shard], result)
                pending[shard] = [row for row in pending[shard] if row not in sentences[shard.id]]
            pending = {shard: rows for shard, rows in pending.items() if rows}
            if not pending:
                break
        for shard in group:
            left = [row for row in self.facts.stated_by(shard) if row not in sentences[shard.id]]
            writer = self._writer(shard) if sentences[shard.id] else TEMPLATE
            failure = None if sentences[shard.id] else failures[shard.id]
            for row in left:
                sentences[shard.id][row] = plain(template.sentence(self.facts.triples[row], self._relations))
            rows = sorted(sentences[shard.id].items())
            yield {"id": shard.id, "told": rows, "writer": writer, "repaired": len(left)} | _failed(failure)

    def _sentences(self, rows: Sequence[int], result: Result) -> dict[int, str]:
        """Row → sentence, where the reply has exactly one for its number, and that one names both ends."""
        replies = result.value.descriptions if result.value else []
        once = {number for number, times in Counter(reply.id for reply in replies).items() if times == 1}
        fitting = (reply for reply in replies if reply.id in once and 1 <= reply.id <= len(rows))
        by_row = {rows[reply.id - 1]: reply.description for reply in fitting}
        subject_and_object = {row: {self.facts.triples[row][0], self.facts.triples[row][2]} for row in by_row}
        return {row: plain(text) for row, text in by_row.items() if subject_and_object[row] <= mentions(text)}

    # -- who writes ---------------------------------------------------------------------------------------------------

    def _hub(self, shard: Shard) -> bool:
        return len(self.facts.rows[shard.central]) > self.template_above

    def _writer(self, shard: Shard) -> str:
        return TEMPLATE if self.engine.name == self._rules.name or self._hub(shard) else self.engine.name

    def _ask(self, step: Step, shards: Sequence[Shard], inputs: Sequence[Any]) -> list[Result]:
        """One result per input; the template answers for hubs."""
        results: dict[int, Result] = {}
        for engine, hubs in ((self._rules, True), (self.engine, False)):
            mine = [at for at, shard in enumerate(shards) if self._hub(shard) is hubs]
            if mine:
                results.update(zip(mine, engine.run(step, [inputs[at] for at in mine])))
        return [results[at] for at in range(len(inputs))]


def _failed(failure: str | None) -> Row:
    return {"failure": failure} if failure else {}
