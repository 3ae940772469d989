"""Shards of an evaluation, put together to the run that one evaluation of all questions would have made.

A shard is a run of every so manyth question, in a folder of its own (`evaluate(…, shard="3/16")`)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from workbench import shards
from workbench.errors import SettingError
from workbench.evaluation import sums
from workbench.evaluation.book import Book, Standing, locked
from workbench.evaluation.run import REPEATS, Run, by_cell, read_questions_of, repeat_folder, summed, trace_name
from workbench.index import sharding as of_index
from workbench.index.store import key_of, write_atomically
from workbench.places import link
from workbench.records import Question
from workbench.shards import Shard, check_alike

_OF_QUESTIONS = ("questions", "sent")  # in which the configurations of shards may differ


def ended(folder: Path, shard: Shard, questions: Sequence[Question]) -> None:
    """Say in the folder of a shard that its run is done, and which questions there are in all."""
    said = {"number": shard.number, "of": shard.of, "questions": key_of(questions=list(questions))}
    write_atomically(folder / shards.FILE, json.dumps(said) + "\n")


def merge(folder: str | Path) -> Run | dict[str, str]:
    """Put the shards in the folder of a run, or of an index, together: gives the run, or the layers whose parts are now
    together (`workbench.index.sharding.merge`). It may be repeated.

    Raises :class:`SettingError` if a shard is missing, was made with other settings, data or versions than the others,
    or if the folder holds another run."""
    return of_index.merge(folder) if of_index.is_of_build(folder) else merge_runs(folder)


def merge_runs(folder: str | Path) -> Run:
    """The run of all shards in its folder."""
    folder = Path(folder)
    said = shards.done(folder)
    runs = [Run(shard.folder(folder)) for shard in said]
    told = {
        shard: {**{name: one for name, one in run.config.items() if name not in _OF_QUESTIONS}, **said[shard]}
        for shard, run in zip(said, runs)
    }
    check_alike(told, list(next(iter(told.values()))))
    with locked(folder):
        for number in sorted({0, *(int(one.name) for run in runs for one in (run.folder / REPEATS).glob("[0-9]*"))}):
            _merge(repeat_folder(folder, number), [repeat_folder(run.folder, number) for run in runs])
    Run(folder).save_summaries()
    return Run(folder)


def _merge(folder: Path, parts: Sequence[Path]) -> None:
    runs = [Run(part) for part in parts]
    dealt = zip_longest(*(read_questions_of(part) for part in parts))
    questions = {one.id: one for round_ in dealt for one in round_ if one is not None}
    config = {name: one for name, one in runs[0].config.items() if name != "sent"}
    config = summed(config, questions.values())
    sent = {one for run in runs for one in run.config.get("sent", ())}
    _check_free(folder, config)
    sources = sums.read_object(parts[0], "sources.json")
    book = Book(Standing(folder, config, sources, questions, {}))
    rows = {cell: (part, row) for part in parts for cell, row in by_cell(part / "results.jsonl").items()}
    timings = {cell: one for part in parts for cell, one in by_cell(part / "timings.jsonl").items()}
    with book.open() as add:
        for cell in ((one, name) for one in questions for name in config["methods"]):
            part, row = rows[cell]
            link(part / "traces", folder / "traces", trace_name(*cell))
            for name in filter(None, (row["context"], row["retrieved"])):
                link(part / "contexts", folder / "contexts", name)
            timing = {name: one for name, one in timings[cell].items() if name not in ("question_id", "method")}
            add(row, timing, None, {})
    book.close()
    book.keep("sent", sent)


def _check_free(folder: Path, config: Mapping[str, Any]) -> None:
    """Whether the folder holds no run, or this one."""
    path = folder / "run.json"
    stands = sums.read_object(folder, "run.json") if path.exists() else config
    if {**stands, "sent": None} != {**config, "sent": None}:
        raise SettingError(f"{folder} holds another run than its shards make; move it, or delete its run.json")
