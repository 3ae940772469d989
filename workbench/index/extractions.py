"""Layer `extractions`: entities and triples of each passage as they were extracted, un-normalised.

Records come from the data folder's `openie.jsonl` where it has them, from the engine otherwise. They cost money, so
they are a layer of their own, apart from the facts made of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from workbench.data import Extraction
from workbench.errors import IndexFault
from workbench.index.journal import Journal, counts, defect, lines, maker, reusable, write_lines
from workbench.index.layer import Build, Layer, NoSettings
from workbench.index.store import json_rows
from workbench.llm.engine import Engine
from workbench.llm.step import Step
from workbench.records import Passage
from workbench.steps import named_entities
from workbench.text import bytes_hash, text_hash

_NAMES = [field.name for field in fields(Extraction)]
_values = attrgetter(*_NAMES)


class Extracted(NamedTuple):
    """The record of a passage. `key` hashes the passage's title and text; `flaws` names the Steps whose reply was less
    than whole: Step → `cut` (for length) or `repaired`."""

    key: str
    record: Extraction
    flaws: dict[str, str]

    made_by = property(attrgetter("record.made_by"))
    failure = property(attrgetter("record.failure"))
    defects = property(lambda self: tuple(self.flaws.values()))

    def row(self) -> dict[str, Any]:
        return {"content": self.key, **_fields(self.record)} | ({"flaws": self.flaws} if self.flaws else {})

    @classmethod
    def of_row(cls, row: dict[str, Any]) -> Extracted:
        entities, triples = tuple(row["entities"]), tuple(map(tuple, row["triples"]))
        record = Extraction(row["passage_id"], entities, triples, row["made_by"], row["failure"])
        return cls(row["content"], record, row.get("flaws", {}))


class ExtractionsLayer(Layer):
    """`records`: one `Extraction` per passage, in corpus order."""

    kind = "extractions"
    inputs = ("passages",)
    steps = (named_entities.STEP, named_entities.TRIPLES)

    @classmethod
    def of_data(cls, build: Build, settings: NoSettings) -> dict:
        given = build.data.extractions
        return {"given": None if given is None else text_hash(lines(map(_fields, given)))}

    @classmethod
    def maker(cls, build: Build) -> str | None:
        needed = build.engine and (build.data.extractions is None or _unextracted(build))
        return super().maker(build) if needed else None

    @classmethod
    def build(cls, folder: Path, build: Build, settings: NoSettings, old: ExtractionsLayer | None) -> dict:
        unextracted = _unextracted(build)
        answers = journal(build, old.extracted.values() if old else ())
        if build.engine is None and (missing := answers.missing(unextracted)):
            raise IndexFault(
                f"{len(missing)} passages have no extraction (the first is {unextracted[missing[0]].id!r}) and no "
                "engine was given to make one; pass engine=wb.engine('rules'), or put the records into openie.jsonl"
            )
        answers.ask(
            unextracted, lambda group: extract(build.engine, list(group.values())), "extract facts", unit="passage"
        )
        given = {record.passage_id: record for record in build.data.extractions or ()}
        answered = {**(old.extracted if old else {}), **answers.entries}
        keyed = ((_key(passage), passage) for passage in build.data.passages)
        table = [_of_passage(key, passage, given.get(passage.id), answered.get(key)) for key, passage in keyed]
        text = write_lines(folder / "table.jsonl", (extracted.row() for extracted in table))
        return {
            "content": text_hash(text),  # what the layers above depend on, however the records came about
            "extracted": answers.requested,
            **counts(table),
            "entities": sum(len(extracted.record.entities) for extracted in table),
            "triples": sum(len(extracted.record.triples) for extracted in table),
        }

    def __init__(self, folder: Path):
        super().__init__(folder)
        self._raw = (folder / "table.jsonl").read_bytes()
        if bytes_hash(self._raw) != self.metadata["content"]:
            raise ValueError("table.jsonl does not hold what was written")  # each line that is left would look right

    @cached_property
    def records(self) -> Sequence[Extraction]:
        rows = self._rows
        if isinstance(rows, list):
            return [row.record for row in rows]
        return json_rows(self._raw, lambda row: Extracted.of_row(row).record)

    @cached_property
    def extracted(self) -> dict[str, Extracted]:
        """Key of a passage's content → its record."""
        return {extracted.key: extracted for extracted in self._rows}

    @cached_property
    def _rows(self) -> Sequence[Extracted]:
        return json_rows(self._raw, Extracted.of_row)

    def __repr__(self) -> str:
        return f"ExtractionsLayer({len(self.records):,} passages)"


def extract(engine: Engine, passages: Sequence[Passage]) -> Iterator[Extracted]:
    """Named entities first, then triples given the entities (HippoRAG 2). A Step that fails leaves its list
    empty, and the record names the failure."""
    made_by = maker(engine, *ExtractionsLayer.steps)
    named = engine.run(named_entities.STEP, [inputs(passage)[named_entities.STEP] for passage in passages])
    entities = [tuple(dict.fromkeys(result.value.named_entities)) if result.value else () for result in named]
    pairs = zip(passages, entities)
    stated = engine.run(named_entities.TRIPLES, [inputs(*pair)[named_entities.TRIPLES] for pair in pairs])
    for passage, names, ner, openie in zip(passages, entities, named, stated):
        facts = tuple(dict.fromkeys(tuple(t) for t in openie.value.triples)) if openie.value else ()
        flaws = {named_entities.STEP.name: defect(ner), named_entities.TRIPLES.name: defect(openie)}
        record = Extraction(passage.id, names, facts, made_by, ner.failure or openie.failure)
        yield Extracted(_key(passage), record, {step: flaw for step, flaw in flaws.items() if flaw})


def inputs(
    passage: Passage, names: tuple[str, ...] = ()
) -> dict[Step, named_entities.Input | named_entities.TriplesInput]:
    """What each Step is given of a passage; `names` are the answer of the first."""
    return {
        named_entities.STEP: named_entities.Input(passage.title, passage.text),
        named_entities.TRIPLES: named_entities.TriplesInput(passage.title, passage.text, names),
    }


def journal(build: Build, old: Iterable[Extracted]) -> Journal[Extracted]:
    """The extractions of the previous layer, and those that are requested."""
    made_by = build.engine and maker(build.engine, *ExtractionsLayer.steps)
    return Journal(made_by, old, reusable=_reusable, progress=build.progress)


def left(answers: Journal[Extracted], build: Build) -> list[Passage]:
    """The passages that a build would extract, one per content."""
    unextracted = _unextracted(build)
    return [unextracted[key] for key in answers.missing(unextracted)]


def _reusable(extracted: Extracted, made_by: str | None) -> bool:
    """Only extractions by the same engine are reused: if rules are requested, they replace a model's."""
    return reusable(extracted, made_by) and made_by in (None, extracted.made_by)


def _unextracted(build: Build) -> dict[str, Passage]:
    """Key → passage, for passages with no record in the data or in the index."""
    given = {record.passage_id for record in build.data.extractions or ()}
    return {_key(passage): passage for passage in build.data.passages if passage.id not in given}


def _fields(record: Extraction) -> dict[str, Any]:
    """Name → value, in their order; `asdict` would copy every triple."""
    return dict(zip(_NAMES, _values(record)))


def _of_passage(key: str, passage: Passage, given: Extraction | None, before: Extracted | None) -> Extracted:
    """The record of a passage. An insert passes back records that this layer has made: their flaws are still known."""
    record = _for(passage, given or before.record)
    same = before is not None and _for(passage, before.record) == record
    return Extracted(key, record, before.flaws if same else {})


def _for(passage: Passage, record: Extraction) -> Extraction:
    """The record under the passage's id; a passage with the same content may have made it."""
    return record if record.passage_id == passage.id else replace(record, passage_id=passage.id)


def _key(passage: Passage) -> str:
    """Title and text apart, because the same words are read differently in the other."""
    return text_hash(json.dumps([passage.title, passage.text]))
