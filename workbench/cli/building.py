"""Verbs that write data, build and change an index, and train on its graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from workbench.cli import opening
from workbench.cli import options as opt
from workbench.cli.shell import Output, verb
from workbench.errors import SettingError
from workbench.settings import parse_value
from workbench.text import counted
from workbench.views.terminal import cell_text


@verb
def index(
    data: opt.Data,
    model: opt.Model,
    folder: Annotated[
        Path | None, typer.Option("--out", "-o", help="folder of the index; indexes/NAME by default")
    ] = None,
    encoder: opt.Encoder = None,
    layers: opt.Layers = None,
    extraction: opt.Extraction = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="a layer's setting: facts.normalise=ascii")
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="leave the layers that stand, whoever made them")] = False,
    keep_going: opt.KeepGoing = False,
    cluster: opt.Cluster = None,
    read: opt.Read = None,
    strict: opt.Strict = False,
    offline: opt.Offline = False,
) -> Output:
    """Build (or go on building) the index of a data set."""
    import workbench as wb
    from workbench.data.curated import extracted
    from workbench.index.index import place_of

    chosen: dict[str, dict[str, Any]] = {}
    for pair in settings or []:
        name, equals, value = pair.partition("=")
        layer, dot, key = name.partition(".")
        if not equals or not dot:
            raise SettingError(f"--set {pair!r}: write layer.setting=value, such as facts.normalise=ascii")
        chosen.setdefault(layer, {})[key] = parse_value(value)
    loaded = wb.load(data, offline=offline or None, strict=strict, **opening.pairs("--read", read))
    loaded = extracted(loaded, extraction)
    place = folder or place_of(loaded)
    runner = opening.engine(model, vectors=opening.asks_for_vectors(place, encoder))
    making = opening.encoder_to_build(encoder, model, place, offline)
    given = {"encoder": making, "layers": opening.names(layers), "settings": chosen, "cluster": cluster}
    given |= {"keep_going": keep_going}
    built = wb.Index.build(loaded, runner, folder, keep=keep, **given)
    lines, rows = [], []
    for kind, layer in built.manifest["layers"].items():
        described = {name: value for name, value in layer.items() if name not in ("settings", "content")}
        rows.append({"layer": kind, **described, "settings": layer["settings"]})
        words = ", ".join(
            f"{name} {cell_text(value)}" for name, value in described.items() if name != "key" and value != []
        )
        lines.append(f"  {kind}: {escape(words)}")
    return Output(
        {"folder": str(built.folder), "counts": built.counts(), "left_out": list(built.left_out), "layers": rows,
         "warnings": list(built.warnings), "usage": built.usage.rows(), "skipped": opening.skipped(loaded)},
        [built, *lines, built.usage, *opening.encoder_lines(built)], opening.skipped_lines(loaded),
    )  # fmt: skip


@verb
def insert(
    folder: opt.Folder,
    data: opt.Data,
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
    passages: Annotated[list[str], typer.Argument(help="ids of passages", metavar="ID…")],
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
def train(
    what: Annotated[str, typer.Argument(help="gfm: a checkpoint of GFM-RAG", metavar="gfm")],
    indexes: Annotated[list[Path], typer.Argument(help="folders of indexes, of one encoder", metavar="INDEX…")],
    to: Annotated[Path, typer.Option("--out", "-o", help="folder of the checkpoint; the same command goes on there")],
    model: opt.Model,
    questions: Annotated[
        list[Path] | None,
        typer.Option("--questions", "-q", help="a questions.jsonl with support in one of the indexes; repeatable"),
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="key=value: made=4000, width=64, layers=6, kinds=path+bridge")
    ] = None,
    device: Annotated[str, typer.Option(help="auto (a GPU where there is one), cpu or cuda")] = "auto",
) -> Output:
    """Train a model on the graphs of indexes: on questions made of them, and on questions with gold passages."""
    import workbench as wb
    from workbench.methods.gfm_rag import training

    if what != "gfm":
        raise SettingError(f"{what!r} cannot be trained; what can is: gfm")
    chosen = opening.pairs("--set", settings)
    if isinstance(kinds := chosen.get("kinds"), str):
        chosen["kinds"] = tuple(kinds.split("+"))
    gold = [question for file in questions or () for question in opening.questions(file)]
    sources = [training.Source.of(wb.Index.open(folder), gold) for folder in indexes]
    done = training.train(sources, to, engine=opening.engine(model), device=device, **chosen)
    stages = {name: [check._asdict() for check in checks] for name, checks in done.stages.items()}
    picture = done.picture.save(to / "training.png")
    used = escape(f"--method 'gfm_rag[checkpoint={to}]' asks it; the course: {picture}")
    return Output({"folder": str(to), "parameters": done.parameters, "skipped": done.skipped, "stages": stages},
                [done, used])  # fmt: skip
