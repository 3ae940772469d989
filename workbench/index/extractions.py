"""Layer `extractions`: entities and triples of each passage as they were extracted, un-normalised.

It costs the money, so it is kept apart from what is made of it, and every finished passage is on disk before the next
group is asked for. Records come from the data folder's `openie.jsonl` where it has them, from the engine otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple

from tqdm.auto import tqdm

from workbench.data import Extraction
from workbench.data.folder import fingerprint
from workbench.errors import IndexFault
from workbench.index.layer import Build, Layer
from workbench.index.store import cut_torn_line
from workbench.records import Passage
from workbench.settings import validated
from workbench.steps import named_entities, triples
from workbench.text import text_hash

GROUP = 64  # passages asked for together


@validated
class Settings:
    """None yet: prompts and rule bodies have their versions in the Steps."""


class Made(NamedTuple):
    """A record, and which of the answers behind it are less than whole: Step → `cut` (for length) or `repaired`."""

    record: Extraction
    flaws: dict[str, str]


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
        new = _wanting(build, old)
        done = left_behind(folder)
        missing = _missing(build, new, done)
        if missing and build.engine is None:
            raise IndexFault(
                f"{len(missing)} passages have no extraction (the first is {missing[0].id!r}) and no engine was given "
                "to make one; pass engine=wb.engine('rules'), or put the records into openie.jsonl"
            )
        if (torn := folder / "table.jsonl.part").exists():
            cut_torn_line(torn)
        with (folder / "table.jsonl.part").open("a", encoding="ascii") as out:
            for passage, made in _extract(missing, build):
                done[_content(passage)] = made
                out.write(_line(passage, made))
                out.flush()
        found = {**(old.made if old else {}), **done}
        table = [_of(passage, given.get(passage.id), found.get(_content(passage))) for passage in build.data.passages]
        records, flaws = [made.record for made in table], [flaw for made in table for flaw in made.flaws.values()]
        lines = [_line(passage, made) for passage, made in zip(build.data.passages, table)]
        (folder / "table.jsonl").write_text("".join(lines), encoding="ascii")
        (folder / "table.jsonl.part").unlink()
        return {
            "content": text_hash("".join(lines)),  # what the layers above depend on, however the records were come by
            "extracted": len(new),
            "made_by": sorted({record.made_by for record in records}),
            "failures": sum(record.failure is not None for record in records),
            "cut": flaws.count("cut"),
            "repaired": flaws.count("repaired"),
            "entities": sum(len(record.entities) for record in records),
            "triples": sum(len(record.triples) for record in records),
        }

    def __init__(self, folder: Path):
        super().__init__(folder)
        if text_hash((folder / "table.jsonl").read_text(encoding="ascii")) != self.said["content"]:
            raise ValueError("table.jsonl does not hold what was written")  # each line that is left would look right
        rows = _read(folder / "table.jsonl")
        self.records = [made.record for _, made in rows]
        self.made = dict(rows)  # see `_content` -> Made

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


def left(build: Build, old: ExtractionsLayer | None, attempt: Path) -> list[Passage]:
    """The passages that the engine is yet to be asked about, one of each content: without a record in the data, in the
    layer that stands, or in the folder `attempt` of a build that was stopped."""
    return _missing(build, _wanting(build, old), left_behind(attempt))


def _missing(build: Build, new: dict[str, Passage], done: dict[str, Made]) -> list[Passage]:
    wanted = maker(build) if build.engine else None
    return [passage for content, passage in new.items() if not _good(done.get(content), wanted)]


def _wanting(build: Build, old: ExtractionsLayer | None) -> dict[str, Passage]:
    """Content → passage, of those which neither the data nor the layer that stands have a record for."""
    wanted, known = maker(build) if build.engine else None, old.made if old else {}
    given = {record.passage_id for record in build.data.extractions or ()}
    passages = {_content(passage): passage for passage in build.data.passages if passage.id not in given}
    return {content: passage for content, passage in passages.items() if not _good(known.get(content), wanted)}


def left_behind(attempt: Path) -> dict[str, Made]:
    """What a build that was stopped has written; if it was stopped at the very end, only the first file is there."""
    return dict(_read(attempt / "table.jsonl") + _read(attempt / "table.jsonl.part"))


def _of(passage: Passage, given: Extraction | None, found: Made | None) -> Made:
    """What stands for a passage. An insert gives records back that this layer has made: their flaws are still known."""
    record = replace(given or found.record, passage_id=passage.id)
    same = found is not None and replace(found.record, passage_id=passage.id) == record
    return Made(record, found.flaws if same else {})


def _extract(passages: list[Passage], build: Build) -> Iterator[tuple[Passage, Made]]:
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
                levels = {named_entities.STEP.name: ner.parse, triples.STEP.name: openie.parse}
                flaws = {step: level for step, level in levels.items() if level in ("cut", "repaired")}
                record = Extraction(passage.id, names, facts, maker(build), ner.failure or openie.failure)
                yield passage, Made(record, flaws)
            bar.update(len(group))


def _content(passage: Passage) -> str:
    """What an extraction was made from; title and text apart, because the same words read otherwise in the other."""
    return text_hash(json.dumps([passage.title, passage.text]))


def _good(made: Made | None, wanted: str | None) -> bool:
    """Whether a record can be used: it did not fail, and it was made by the engine at hand, if there is one."""
    return made is not None and made.record.failure is None and wanted in (None, made.record.made_by)


def _line(passage: Passage, made: Made) -> str:
    flaws = {"flaws": made.flaws} if made.flaws else {}
    return json.dumps({"content": _content(passage), **asdict(made.record), **flaws}) + "\n"


def _read(path: Path) -> list[tuple[str, Made]]:
    """(content, what was made) per line; a last line that a killed process left unfinished does not count."""
    raw = path.read_bytes() if path.exists() else b""
    return [_row(json.loads(line)) for line in raw[: raw.rfind(b"\n") + 1].splitlines()]


def _row(row: dict) -> tuple[str, Made]:
    entities, triples = tuple(row["entities"]), tuple(map(tuple, row["triples"]))
    record = Extraction(row["passage_id"], entities, triples, row["made_by"], row["failure"])
    return row["content"], Made(record, row.get("flaws", {}))
