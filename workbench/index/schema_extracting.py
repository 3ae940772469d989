"""What the layer `schema_graph` is made of: passages extracted within a schema that evolves, and the graph of what was
extracted (levels 1 and 2 of Youtu-GraphRAG's knowledge tree).

The journal `records.jsonl` keeps each answer under the passage and the schema that it was asked with. The schema
changes at the boundaries of batches alone, in the order of the corpus, so a build repeats whatever the order of the
answers. An insert at the end asks about the new passages. A change further up moves the batches behind it: their
passages are asked again if, and only if, another schema reaches them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tqdm.auto import tqdm

from workbench.data.graph import Schema
from workbench.data.profiles import EntityProfile, RelationProfile
from workbench.encoding import cached
from workbench.index.journal import StepJournal, counts, request_key
from workbench.index.layer import Build, Layer
from workbench.index.schema_evolution import Evolution, forms
from workbench.language.entity_types import UNKNOWN
from workbench.llm.engine import Engine
from workbench.records import Passage
from workbench.steps.schema_extraction import KINDS, STEP, Input, Output
from workbench.text import normal_form

if TYPE_CHECKING:
    from workbench.index.schema_graph import Settings

Stated = dict[tuple[str, str, str], dict[str, None]]  # a triple, or entity, type, value of an attribute → its passages


class Extracted(NamedTuple):
    """(id, output) of the passages that did not fail, how the schema evolved, and what the manifest says of it."""

    found: list[tuple[str, Output]]
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
    found = []
    with tqdm(total=len(build.data.passages), desc="extract", unit="passage", disable=not build.progress) as bar:
        for batch in batches(build.data.passages, settings):
            outputs = _batch(journal, batch, evolution.schema, settings.evolution != "off")
            for passage_id, output in outputs:
                evolution.ask(passage_id, output.proposed)
            evolution.admit()
            found += outputs
            bar.update(len(batch))
    journal.settle()
    outputs = [output for _, output in found]
    made = counts(journal.used.values())
    summary = {
        **made,
        "repaired": made["repaired"] + sum(output.repaired for output in outputs),
        "dropped": sum(output.dropped for output in outputs),
        "shortened": sum(output.shortened for output in outputs),
        "extracted": journal.asked,
        "proposals": evolution.counts(),
        "gate": "support and score" if evolution.scored else "support alone",
    }
    return Extracted(found, evolution, summary)


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
        return journal.engine.run(STEP, [Input(one.title, one.text, *lists, propose) for one in group])

    answers = journal.run(dict(zip(keys, passages)), request, "extract")
    outputs = {key: Output(**answer.output) for key, answer in answers.items() if answer.output}
    return [(passage.id, outputs[key]) for key, passage in zip(keys, passages) if key in outputs]


def schema_lists(schema: Schema) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...], tuple[str, ...]]:
    """Entity types with definitions, names of relations, names of attributes: as the Step is given them."""
    types = tuple((one.name, one.definition) for one in schema.entity_types)
    return types, tuple(one.name for one in schema.relations), tuple(one.name for one in schema.attributes)


# -- the graph --------------------------------------------------------------------------------------------------------


def assembled(found: Iterable[tuple[str, Output]], schema: Schema, strict: bool) -> Parts:
    """The extractions of all passages, in the order of the corpus, as one graph.

    An entity is a name, exactly as written, with all passages that speak of it and the type that most of them give, in
    doubt the first. Names of types, relations and attributes are spelled as the schema spells them."""
    spelled = {kind: forms(schema, kind) for kind in KINDS}
    types: dict[str, Counter[str]] = defaultdict(Counter)
    relations: Stated = defaultdict(dict)
    attributes: Stated = defaultdict(dict)
    for passage, output in found:
        for name, kind in output.entity_types.items():
            types[name][_spelled(spelled, "entity_types", kind)] += 1
        for head, label, tail in output.triples:
            relations[head, _spelled(spelled, "relations", label), tail][passage] = None
        for one in output.attributes:
            attributes[one.entity, _spelled(spelled, "attributes", one.type), one.value][passage] = None
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
