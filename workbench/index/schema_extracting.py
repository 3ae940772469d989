"""Extraction within a schema that evolves, and the graph of its results, for the layer `schema_graph` (levels 1 and 2
of Youtu-GraphRAG's knowledge tree).

The journal `records.jsonl` keeps each answer under the passage and the schema that it was asked with. The schema
changes at the boundaries of batches alone, in the order of the corpus, so a build repeats whatever the order of the
answers. An insert at the end asks about the new passages. A change further up moves the batches behind it: their
passages are asked again if, and only if, another schema reaches them.

How the schema of the layer `schema_graph` grows with what passages ask for (Youtu-GraphRAG, section 3.1, Eq. 3).

The paper admits a new type whose agreement with the schema reaches μ, without saying how that is measured; the released
code admits whatever the model proposes. Both are policies here, and the measure is ours:

    confidence(x) = min(1, support(x) / s) · max(similarity(x, types of its kind), score(x))

with support the number of passages that ask for x, s the support that counts in full, the cosine of the name to the
nearest name of the schema, and the mean of the scores that the engine gave. An engine that gives no score counts as
sure (1): then the support alone decides.

The schema graph of profiles that the data bring: taken as they are.

Relations are those of the profiles or, where these name none, the triples that came with them, as in an import of
Youtu-GraphRAG. A description of the form "type: value; type: value", as the same import has it, becomes attributes;
another one is the attribute `description`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from workbench.data import Extraction
from workbench.data.graph import Attribute, EntityType, Relation, Schema
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.display import tqdm
from workbench.encoding import cached
from workbench.index.journal import StepJournal, counts, request_key
from workbench.index.layer import Build, Layer
from workbench.language.entity_types import UNKNOWN
from workbench.llm.engine import Engine
from workbench.records import Passage
from workbench.steps.schema_extraction import DESCRIPTION, KINDS, STEP, Input, Kind, Output, ProposalRecord
from workbench.text import normal_form

if TYPE_CHECKING:
    from workbench.index.schema_graph import Settings


Policy = Literal["off", "llm", "gated"]
_MAKE = {
    "entity_types": lambda name: EntityType(name, ""),
    "relations": lambda name: Relation(name, "", (), ()),
    "attributes": lambda name: Attribute(name, "", (), "text"),
}


class Proposal(NamedTuple):
    """A type that passages (ids, in the order of the corpus) asked for. `confidence` is that of the boundary at which
    it was admitted, else of the last one."""

    kind: Kind
    name: str
    passages: tuple[str, ...]
    confidence: float
    admitted: bool


@dataclass
class _Candidate:
    kind: Kind
    name: str
    passages: dict[str, None] = field(default_factory=dict)
    scores: list[float | None] = field(default_factory=list)
    confidence: float = 0.0
    admitted: bool = False


class Evolution:
    """The schema, and the proposals for it: `ask` in the order of the corpus, `admit` after each batch.

    `encode` gives unit vectors of names; it is asked where a score was below 1."""

    def __init__(
        self, seed: Schema, policy: Policy, mu: float, support: int, encode: Callable[[Sequence[str]], np.ndarray]
    ):
        self.schema, self.policy, self.mu, self.support, self._encode = seed, policy, mu, support, encode
        self.already_there = dict.fromkeys(KINDS, 0)  # proposals of what the seed has
        self.scored = False  # whether an engine gave any score
        self._seed = {kind: forms(seed, kind) for kind in KINDS}
        self._candidates: dict[tuple[Kind, str], _Candidate] = {}

    def ask(self, passage: str, proposed: Iterable[ProposalRecord]) -> None:
        """Note what a passage proposes; names that the seed has in some spelling are only counted."""
        for record in proposed:
            form = normal_form(record.name)
            if not form or form in self._seed[record.kind]:
                self.already_there[record.kind] += bool(form)
                continue
            candidate = self._candidates.setdefault((record.kind, form), _Candidate(record.kind, record.name))
            if passage not in candidate.passages:
                candidate.passages[passage] = None
                candidate.scores.append(record.score)
                self.scored |= record.score is not None

    def admit(self) -> None:
        """Take over what the policy admits, in the order in which it was first proposed."""
        before = self.schema
        for candidate in self._candidates.values():
            if not candidate.admitted:
                candidate.confidence = self._confidence(candidate, before)
                candidate.admitted = self.policy == "llm" or (
                    self.policy == "gated" and candidate.confidence >= self.mu
                )
                if candidate.admitted:
                    names = (*getattr(self.schema, candidate.kind), _MAKE[candidate.kind](candidate.name))
                    self.schema = replace(self.schema, **{candidate.kind: names})

    def proposals(self) -> list[Proposal]:
        """In the order in which they were first made."""
        return [
            Proposal(type_.kind, type_.name, tuple(type_.passages), round(type_.confidence, 6), type_.admitted)
            for type_ in self._candidates.values()
        ]

    def counts(self) -> dict[Kind, dict[str, int]]:
        """How many proposals of each kind were admitted, rejected, or in the seed already."""
        counts_by_kind = {kind: {"admitted": 0, "rejected": 0, "known": self.already_there[kind]} for kind in KINDS}
        for candidate in self._candidates.values():
            counts_by_kind[candidate.kind]["admitted" if candidate.admitted else "rejected"] += 1
        return counts_by_kind

    def _confidence(self, candidate: _Candidate, schema: Schema) -> float:
        score = fmean(1.0 if score is None else score for score in candidate.scores)
        sure = score if score >= 1 else max(score, self._similarity(candidate, schema))
        return min(1.0, len(candidate.passages) / self.support) * sure

    def _similarity(self, candidate: _Candidate, schema: Schema) -> float:
        """The cosine of a name to the nearest of its kind; 0 where there is none."""
        names = sorted(forms(schema, candidate.kind))
        vectors = self._encode([normal_form(candidate.name), *names])
        return max(0.0, float((vectors[1:] @ vectors[0]).max())) if names else 0.0


def forms(schema: Schema, kind: Kind) -> dict[str, str]:
    """Normal form → name of the types of a kind; the first of several spellings."""
    by_form: dict[str, str] = {}
    for part in getattr(schema, kind):
        by_form.setdefault(normal_form(part.name), part.name)
    return by_form


Stated = dict[tuple[str, str, str], dict[str, None]]  # a triple, or entity, type, value of an attribute → its passages


class Extracted(NamedTuple):
    """(id, output) of the passages that did not fail, how the schema evolved, and what the manifest says of it."""

    outputs: list[tuple[str, Output]]
    evolution: Evolution
    summary: dict


class Parts(NamedTuple):
    """A graph. `entities` are sorted by name, `relations` by source, target and label, `attributes` by their key.
    `left_out` counts what the strict filter dropped."""

    entities: list[EntityProfile]
    relations: list[RelationProfile]
    attributes: Stated
    left_out: dict[str, int]


def extract(
    folder: Path, build: Build, engine: Engine, settings: Settings, seed: Schema, old: Layer | None
) -> Extracted:
    """Request what is missing, batch by batch. A passage that failed adds nothing and is counted; the next build that
    requests the layer retries it."""
    evolution = Evolution(seed, settings.evolution, settings.mu, settings.support, cached(build.encoder).encode)
    journal = StepJournal(folder, "records.jsonl", engine, STEP, old)
    pairs = []
    with tqdm(total=len(build.data.passages), desc="extract", unit="passage", disable=not build.progress) as bar:
        for batch in batches(build.data.passages, settings):
            outputs = _batch(journal, batch, evolution.schema, settings.evolution != "off")
            for passage_id, output in outputs:
                evolution.ask(passage_id, output.proposed)
            evolution.admit()
            pairs += outputs
            bar.update(len(batch))
    journal.settle()
    outputs = [output for _, output in pairs]
    made = counts(journal.used.values())
    summary = {
        **made,
        "repaired": made["repaired"] + sum(output.repaired for output in outputs),
        "dropped": sum(output.dropped for output in outputs),
        "shortened": sum(output.shortened for output in outputs),
        "extracted": journal.requested,
        "proposals": evolution.counts(),
        "gate": "support and score" if evolution.scored else "support alone",
    }
    return Extracted(pairs, evolution, summary)


def batches(passages: Sequence[Passage], settings: Settings) -> Iterator[Sequence[Passage]]:
    """Passages between two admissions; a schema that does not evolve has one batch."""
    size = len(passages) if settings.evolution == "off" else settings.batch
    return (passages[start : start + size] for start in range(0, len(passages), size or 1))


def _batch(
    journal: StepJournal, passages: Sequence[Passage], schema: Schema, propose: bool
) -> list[tuple[str, Output]]:
    lists = schema_lists(schema)
    asked_with = request_key(lists, propose)
    keys = [request_key(passage.title, passage.text, asked_with) for passage in passages]

    def request(group: Sequence[Passage]) -> list:
        return journal.engine.run(STEP, [Input(passage.title, passage.text, *lists, propose) for passage in group])

    answers = journal.run(dict(zip(keys, passages)), request, "extract")
    outputs = {key: Output(**answer.output) for key, answer in answers.items() if answer.output}
    return [(passage.id, outputs[key]) for key, passage in zip(keys, passages) if key in outputs]


def schema_lists(schema: Schema) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...], tuple[str, ...]]:
    """Entity types with definitions, names of relations, names of attributes: as the Step is given them."""
    types = tuple((entity_type.name, entity_type.definition) for entity_type in schema.entity_types)
    relations, attributes = (tuple(part.name for part in parts) for parts in (schema.relations, schema.attributes))
    return types, relations, attributes


# -- the graph --------------------------------------------------------------------------------------------------------


def assembled(pairs: Iterable[tuple[str, Output]], schema: Schema, strict: bool) -> Parts:
    """The extractions of all passages, in the order of the corpus, as one graph.

    An entity is a name, exactly as written, with all passages that speak of it and the type that most of them give, in
    doubt the first. Names of types, relations and attributes are spelled as the schema spells them."""
    spelled = {kind: forms(schema, kind) for kind in KINDS}
    types: dict[str, Counter[str]] = defaultdict(Counter)
    relations: Stated = defaultdict(dict)
    attributes: Stated = defaultdict(dict)
    for passage, output in pairs:
        for name, kind in output.entity_types.items():
            types[name][_spelled(spelled, "entity_types", kind)] += 1
        for head, label, tail in output.triples:
            relations[head, _spelled(spelled, "relations", label), tail][passage] = None
        for attribute in output.attributes:
            attributes[attribute.entity, _spelled(spelled, "attributes", attribute.type), attribute.value][passage] = (
                None
            )
    settled = {name: votes.most_common(1)[0][0] for name, votes in types.items()}
    left_out = _strictly(relations, attributes, settled, spelled) if strict else {}
    return parts(relations, attributes, settled, left_out)


def parts(relations: Stated, attributes: Stated, types: dict[str, str], left_out: dict[str, int]) -> Parts:
    """Entities are the ends of relations and what attributes describe."""
    passages: dict[str, dict[str, None]] = defaultdict(dict)
    for (head, _, tail), stating in relations.items():
        passages[head] |= stating
        passages[tail] |= stating
    for (entity, _, _), stating in attributes.items():
        passages[entity] |= stating
    return Parts(
        [EntityProfile(name, types.get(name, UNKNOWN), "", tuple(of)) for name, of in sorted(passages.items())],
        [
            RelationProfile(head, tail, passages=tuple(stating), label=label)
            for (head, label, tail), stating in sorted(relations.items(), key=lambda row: (*row[0][::2], row[0][1]))
        ],
        dict(sorted(attributes.items())),
        left_out,
    )


def _spelled(spelled: dict, kind: str, name: str) -> str:
    return spelled[kind].get(normal_form(name), name)


def _strictly(relations: Stated, attributes: Stated, types: dict[str, str], spelled: dict) -> dict[str, int]:
    """Take out what the schema does not bound (Eq. 2): relations and attributes that it does not name, and those of
    entities without a type of it. Each is counted once, under the first reason."""
    left_out = dict.fromkeys(("relations", "ends", "attributes", "described"), 0)

    def bounded(kind: str, name: str) -> bool:
        return normal_form(name) in spelled[kind]

    def typed(*names: str) -> bool:
        return all(bounded("entity_types", types.get(name, "")) for name in names)

    for head, label, tail in list(relations):
        if (why := "" if bounded("relations", label) else "relations") or not typed(head, tail):
            left_out[why or "ends"] += 1
            del relations[head, label, tail]
    for entity, kind, value in list(attributes):
        if (why := "" if bounded("attributes", kind) else "attributes") or not typed(entity):
            left_out[why or "described"] += 1
            del attributes[entity, kind, value]
    return left_out


RELATED = "related to"  # of relations that their source does not name
LISTED = 100  # wordings of relations beyond which they are no schema
_ATTRIBUTE = r"[^\W\d][\w /()'-]{0,39}: (?=\S)"
_BEGINS = re.compile(_ATTRIBUTE)
_BETWEEN = re.compile(rf"; (?={_ATTRIBUTE})")


def given(profiles: Profiles, extractions: Sequence[Extraction] = ()) -> Parts:
    """All profiles of a name as one entity, with the most frequent type, in a tie the first."""
    types: dict[str, Counter[str]] = defaultdict(Counter)
    relations: Stated = defaultdict(dict)
    attributes: Stated = defaultdict(dict)
    for profile in profiles.entities:
        types[profile.name].update([profile.type] if profile.type else [])
        for kind, value in _attributes(profile.description):
            attributes[profile.name, kind, value] |= dict.fromkeys(profile.passages)
    for source, label, target, passages in _relations(profiles, extractions):
        if source and target:
            relations[source, label, target] |= dict.fromkeys(passages)
    settled = {name: votes.most_common(1)[0][0] for name, votes in types.items() if votes}
    given_parts = parts(relations, attributes, settled, {})
    return given_parts._replace(entities=_with_all(given_parts.entities, profiles.entities, settled))


def described(parts_found: Parts) -> Schema:
    """What a graph without a schema speaks of; wordings of texts are no list of relations."""
    types = sorted({entity.type for entity in parts_found.entities} - {UNKNOWN})
    labels = sorted({relation.label for relation in parts_found.relations})
    attributes = sorted({kind for _, kind, _ in parts_found.attributes})
    return Schema(
        tuple(EntityType(name, "") for name in types),
        tuple(Relation(name, "", (), ()) for name in labels if len(labels) <= LISTED),
        tuple(Attribute(name, "", (), "text") for name in attributes),
    )


def _attributes(description: str) -> Iterator[tuple[str, str]]:
    """
    >>> list(_attributes("type: town; founded: 1994; a port")), list(_attributes("A town; it is old."))
    ([('type', 'town'), ('founded', '1994; a port')], [('description', 'A town; it is old.')])
    """
    if not _BEGINS.match(description):
        yield from [(DESCRIPTION, description)] if description.strip() else []
        return
    for part in _BETWEEN.split(description):
        kind, _, value = part.partition(": ")
        yield kind, value


def _relations(profiles: Profiles, extractions: Sequence[Extraction]) -> Iterator[tuple[str, str, str, Sequence[str]]]:
    """(source, label, target, passages)"""
    if extractions and not any(relation.label for relation in profiles.relations):
        for record in extractions:
            for subject, label, obj in record.triples:
                yield subject, label or RELATED, obj, (record.passage_id,)
    else:
        for relation in profiles.relations:
            label = relation.label or ", ".join(relation.keywords) or RELATED
            yield relation.source, label, relation.target, relation.passages


def _with_all(
    entities: Sequence[EntityProfile], profiles: Sequence[EntityProfile], types: dict[str, str]
) -> list[EntityProfile]:
    """The entities with the passages of their profiles, and entities that only a profile names."""
    passages = {entity.name: dict.fromkeys(entity.passages) for entity in entities}
    kinds = {entity.name: entity.type for entity in entities} | types
    for profile in profiles:
        if profile.name:
            passages.setdefault(profile.name, {}).update(dict.fromkeys(profile.passages))
    return [EntityProfile(name, kinds.get(name, UNKNOWN), "", tuple(passages[name])) for name in sorted(passages)]
