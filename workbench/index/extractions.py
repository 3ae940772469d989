"""Layer `extractions`: entities and triples of each passage as they were extracted, un-normalised.

It costs the money, so it is kept apart from what is made of it, and every finished passage is on disk before the next
group is asked for. Records come from the data folder's `openie.jsonl` where it has them, from the engine otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tqdm.auto import tqdm

from workbench.data import Extraction
from workbench.data.folder import fingerprint
from workbench.errors import IndexFault
from workbench.index.layer import Build, Layer
from workbench.index.store import cut_torn_line
from workbench.records import Passage
from workbench.steps import named_entities, triples
from workbench.text import text_hash

GROUP = 64  # passages asked for together


@dataclass(frozen=True)
class Settings:
    """None yet: prompts and rule bodies have their versions in the Steps."""


class ExtractionsLayer(Layer):
    """`records`: one `Extraction` per passage, in corpus order."""

    kind = "extractions"
    old_must_share = ()

    @classmethod
    def identity(cls, build: Build, settings: Settings) -> dict:
        given = build.data.extractions
        return {
            "passages": fingerprint(build.data.passages),
            "given": key_of_given(given) if given is not None else None,
            "maker": maker(build) if _to_extract(build) else None,
        }

    @classmethod
    def build(cls, folder: Path, build: Build, settings: Settings, old: ExtractionsLayer | None) -> dict:
        given = {record.passage_id: record for record in build.data.extractions or ()}
        known = old.by_content if old else {}
        wanted = maker(build) if build.engine else None
        passages = {_content(passage): passage for passage in build.data.passages if passage.id not in given}
        new = {content: passage for content, passage in passages.items() if not _good(known.get(content), wanted)}
        # What an attempt that was stopped has left; if it stopped at the very end, only the first file.
        done = dict(_read(folder / "table.jsonl", mend=True) + _read(folder / "table.jsonl.part", mend=True))
        missing = [passage for content, passage in new.items() if not _good(done.get(content), wanted)]
        if missing and build.engine is None:
            raise IndexFault(
                f"{len(missing)} passages have no extraction (the first is {missing[0].id!r}) and no engine was given "
                "to make one; pass engine=wb.engine('rules'), or put the records into openie.jsonl"
            )
        with (folder / "table.jsonl.part").open("a", encoding="ascii") as out:
            for passage, record in _extract(missing, build):
                done[_content(passage)] = record
                out.write(_line(passage, record))
                out.flush()
        found_by_content = {**known, **done}
        records = []
        for passage in build.data.passages:
            found = given.get(passage.id) or found_by_content[_content(passage)]
            records.append(Extraction(passage.id, found.entities, found.triples, found.made_by, found.failure))
        lines = [_line(passage, record) for passage, record in zip(build.data.passages, records)]
        (folder / "table.jsonl").write_text("".join(lines), encoding="ascii")
        (folder / "table.jsonl.part").unlink()
        return {
            "content": text_hash("".join(lines)),  # what the layers above depend on, however the records were come by
            "extracted": len(new),
            "made_by": sorted({record.made_by for record in records}),
            "failures": sum(record.failure is not None for record in records),
            "entities": sum(len(record.entities) for record in records),
            "triples": sum(len(record.triples) for record in records),
        }

    def __init__(self, folder: Path):
        super().__init__(folder)
        if text_hash((folder / "table.jsonl").read_text(encoding="ascii")) != self.said["content"]:
            raise ValueError("table.jsonl does not hold what was written")  # each line that is left would look right
        rows = _read(folder / "table.jsonl")
        self.records = [record for _, record in rows]
        self.by_content = dict(rows)  # see `_content` -> Extraction

    def __repr__(self) -> str:
        return f"ExtractionsLayer({len(self.records):,} passages)"


def maker(build: Build) -> str:
    """Who makes the records, with the versions of what it is asked."""
    return f"{build.engine.name} ({named_entities.STEP.identity}, {triples.STEP.identity})"


def key_of_given(given: Sequence[Extraction]) -> str:
    return text_hash(json.dumps([asdict(record) for record in given]))


def _to_extract(build: Build) -> bool:
    """Whether anything is left for the engine once the given records are used."""
    if build.engine is None or build.data.extractions is None:
        return build.engine is not None
    given = {record.passage_id for record in build.data.extractions}
    return any(passage.id not in given for passage in build.data.passages)


def _extract(passages: list[Passage], build: Build) -> Iterator[tuple[Passage, Extraction]]:
    """HippoRAG 2, spec A2: named entities first, then triples given the entities. Either may fail for a passage; then
    its list is empty, the failure is named in the record, and a later build asks again."""
    hidden = not build.progress or not passages
    with tqdm(total=len(passages), desc="extract facts", unit="passage", disable=hidden) as bar:
        for start in range(0, len(passages), GROUP):
            group = passages[start : start + GROUP]
            found = build.engine.run(named_entities.STEP, [named_entities.Input(p.title, p.text) for p in group])
            entities = [tuple(dict.fromkeys(result.value.named_entities)) if result.value else () for result in found]
            inputs = [triples.Input(p.title, p.text, names) for p, names in zip(group, entities)]
            stated = build.engine.run(triples.STEP, inputs)
            for passage, names, ner, openie in zip(group, entities, found, stated):
                facts = tuple(dict.fromkeys(tuple(t) for t in openie.value.triples)) if openie.value else ()
                yield passage, Extraction(passage.id, names, facts, maker(build), ner.failure or openie.failure)
            bar.update(len(group))


def _content(passage: Passage) -> str:
    """What an extraction was made from; title and text apart, because the same words read otherwise in the other."""
    return text_hash(json.dumps([passage.title, passage.text]))


def _good(record: Extraction | None, wanted: str | None) -> bool:
    """Whether a record can be used: it did not fail, and it was made by the engine at hand, if there is one."""
    return record is not None and record.failure is None and wanted in (None, record.made_by)


def _line(passage: Passage, record: Extraction) -> str:
    return json.dumps({"content": _content(passage), **asdict(record)}) + "\n"


def _read(path: Path, mend: bool = False) -> list[tuple[str, Extraction]]:
    """(content, record) per line. `mend` cuts off a last line that a killed process left unfinished."""
    if not path.exists():
        return []
    if mend:
        cut_torn_line(path)
    return [_record(json.loads(line)) for line in path.read_bytes().splitlines()]


def _record(row: dict) -> tuple[str, Extraction]:
    entities, triples = tuple(row["entities"]), tuple(map(tuple, row["triples"]))
    return row["content"], Extraction(row["passage_id"], entities, triples, row["made_by"], row["failure"])
