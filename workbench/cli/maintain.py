"""The group Maintain: changes and checks of what is on disk."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from rich.markup import escape

from workbench.cli import opening
from workbench.cli import options as opt
from workbench.cli.shell import Output, verb
from workbench.errors import SettingError
from workbench.text import counted


@verb
def insert(
    folder: opt.Folder,
    data: opt.Data,
    /,
    model: opt.Model,
    encoder: opt.OwnEncoder = None,
    keep_going: opt.KeepGoing = False,
    read: opt.Read = None,
    strict: opt.Strict = False,
    offline: opt.Offline = False,
) -> Output:
    """Add the passages of a data set that an index does not have yet. Stopped, the same command goes on."""
    import workbench as wb
    from workbench.data.profiles import within

    loaded = wb.load(data, offline=offline or None, strict=strict, **opening.pairs("--read", read))
    opened, runner = opening.index_and_engine(folder, model, encoder)
    present = {passage.id: passage for passage in opened.passages.passages}
    if other := [passage.id for passage in loaded.passages if present.get(passage.id, passage) != passage]:
        raise SettingError(
            f"{folder} has another passage with the id {other[0]!r}: delete it first, with "
            f"`workbench delete {folder} {other[0]}`, or give one of the two another id"
        )
    new = [passage for passage in loaded.passages if passage.id not in present]
    ids = {passage.id for passage in new}
    brought = [extraction for extraction in loaded.extractions or () if extraction.passage_id in ids]
    profiles = within(loaded.profiles, ids) if loaded.profiles is not None else None
    changed = opened.insert(new, runner, extractions=brought, profiles=profiles, keep_going=keep_going)
    summary = f"{counted(len(new), 'passage')} inserted, {len(loaded.passages) - len(new):,} there before"
    return Output({"folder": str(folder), "inserted": len(new), "counts": changed.counts()}, [changed, summary],
                opening.skipped_lines(loaded))  # fmt: skip


@verb
def delete(
    folder: opt.Folder,
    passages: Annotated[list[str], "ids of passages", "ID…"],
    /,
    model: opt.Model,
    encoder: opt.OwnEncoder = None,
    keep_going: opt.KeepGoing = False,
) -> Output:
    """Take passages out of an index, with what only they supported. Stopped, the same command goes on."""
    opened = opening.index(folder, model, encoder)
    there = [id for id in dict.fromkeys(passages) if id in opened.passages.row]
    absent = [id for id in dict.fromkeys(passages) if id not in opened.passages.row]
    runner = opening.engine(model, vectors=opening.asks_for_vectors(folder, encoder))
    changed = opened.delete(there, runner, keep_going=keep_going)
    whole = {"folder": str(folder), "deleted": there, "absent": absent, "counts": changed.counts()}
    notes = [escape(f"not in the index, or deleted before: {', '.join(absent)}")] if absent else []
    return Output(whole, [changed, f"{counted(len(there), 'passage')} deleted"], notes)


@verb
def check(
    place: Annotated[Path, "an index, a run, a grid, a recording or a bundle", "PLACE"],
    /,
) -> Output:
    """Whether the files are what was written, read in full and compared with their checksums; exit code 1 if not.

    Of an index, also whether its graph is fit for use: counts beside published graphs, hubs, and warnings in words.
    """
    import workbench as wb
    from workbench.cli.check import check as checked

    checkup = checked(place)
    whole, parts = asdict(checkup), [checkup]
    if checkup.good and checkup.kind == "index":
        graph = wb.checkup(wb.Index.open(place))
        whole |= {
            "graph": {**graph.measured, "warnings": graph.warnings, "hubs": [hub._asdict() for hub in graph.hubs]}
        }
        parts = [checkup, graph]
    return Output(whole, parts, code=0 if checkup.good else 1)
