"""A world as a data folder, written line by line: memory does not grow with its size."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from workbench.data.origin import Origin, read_origin, write_origin
from workbench.data.worlds.facts import Entity, Fact, World, written
from workbench.data.worlds.prose import Article, distractor, passage_id
from workbench.data.worlds.questions import Questions
from workbench.data.worlds.schema import Dials, schema
from workbench.data.writing import new_folder
from workbench.display import tqdm
from workbench.text import counted

VERSION = 1  # raised whenever the same dials give other bytes
SOURCE = "an invented world"
_dumps = json.JSONEncoder(ensure_ascii=False).encode


def world(to: str | Path, *, progress: bool = True, **dials: Any) -> Path:
    """Write an invented world as a data folder and return the folder; `dials` are those of :class:`Dials`.

    The same dials give the same bytes. The folder appears only when it is complete. A folder that holds exactly this
    world is left as it is.

    Raises :class:`SettingError` for a dial that is unknown or out of its bounds, :class:`DataError` for a folder that
    holds anything else.
    """
    settings = Dials(**dials)
    folder = Path(to).expanduser()
    if _holds(folder, settings):
        return folder
    made = World(settings)
    with new_folder(folder) as part:
        rows = list(Questions(made).rows())
        _write(made, rows, part, progress)
        write_origin(_origin(settings, rows), part / "origin.json")
    return folder


def _holds(folder: Path, dials: Dials) -> bool:
    """Whether a folder holds exactly this world."""
    path = folder / "origin.json"
    if not path.exists():
        return False
    origin = read_origin(path)
    return origin.source.startswith(SOURCE) and dict(origin.settings) == _settings(dials)


def _settings(dials: Dials) -> dict[str, Any]:
    return {**asdict(dials), "version": VERSION}


def _origin(dials: Dials, rows: list[dict]) -> Origin:
    notes = [f"{counted(len(rows), 'question')}, each with its decomposition on the gold graph"]
    if len(rows) < dials.questions:
        notes.append(f"{dials.questions:,} were asked for; a world of this size has no more of the missing shapes")
    return Origin(
        f"{SOURCE}; every name and every fact of it is computed from the seed", _settings(dials), notes=tuple(notes)
    )


def _write(made: World, rows: list[dict], part: Path, progress: bool) -> None:
    """Write all files but the origin."""
    graph = part / "graph"
    graph.mkdir()
    described = {**asdict(schema()), "made_by": "generated"}
    (graph / "schema.json").write_text(json.dumps(described, ensure_ascii=False, indent=1) + "\n", "utf-8")
    with ExitStack() as stack:
        # Under its own name, the corpus would make a data folder of what a killed process leaves behind.
        corpus, named, stated, questions_file = (
            stack.enter_context((part / path).open("w", encoding="utf-8", newline="\n"))
            for path in ("corpus.part", "graph/entities.jsonl", "graph/triples.jsonl", "questions.jsonl")
        )
        _lines(questions_file, rows)
        numbers = tqdm(range(made.dials.passages), "world", unit=" passages", disable=not progress, mininterval=0.5)
        for number in numbers:
            entity = made.entity(number)
            if entity is None:
                _lines(corpus, [asdict(distractor(made, number))])
                continue
            facts = made.facts(entity)
            passage = Article(made, entity, facts, number).passage()
            corpus.write(_dumps({"id": passage.id, "title": passage.title, "text": passage.text}) + "\n")
            _lines(named, [_named(made, entity, passage.title, number)])
            _lines(stated, _triples(made, passage.title, facts, passage.id))
    (part / "corpus.part").rename(part / "corpus.jsonl")


def _lines(file: TextIO, rows: Iterable[Mapping[str, Any]]) -> None:
    file.writelines(_dumps(row) + "\n" for row in rows)


def _named(made: World, entity: Entity, name: str, number: int) -> dict[str, Any]:
    alias = made.alias(entity)
    return {
        "name": name,
        "type": entity.kind,
        "aliases": [] if alias is None else [alias],
        "passage": passage_id(made, number),
    }


def _triples(made: World, head: str, facts: list[Fact], passage: str) -> Iterator[dict[str, Any]]:
    for fact in facts:
        row = {
            "head": head,
            "relation": fact.relation,
            "tail": made.name(fact.tail) if isinstance(fact.tail, Entity) else written(fact.tail),
            "kind": "relation" if fact.is_relation else "attribute",
            "passages": [passage],
        }
        if fact.since is not None:
            row["since"] = fact.since
        if fact.until is not None:
            row["until"] = fact.until
        yield row
