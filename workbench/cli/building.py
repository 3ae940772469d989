"""Verbs that write data, that make and change an index of them, and that make something of its graph."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from workbench.cli import opening
from workbench.cli import options as opt
from workbench.cli.shell import Output, table_of, verb
from workbench.errors import SettingError
from workbench.settings import parse_value
from workbench.text import counted
from workbench.views.terminal import cell_text


@verb
def world(
    folder: Annotated[Path, typer.Argument(help="the data folder to write", metavar="FOLDER")],
    dials: opt.OfWorld = opt.OF_WORLD,
) -> Output:
    """Write an invented world as a data folder: passages, gold graph and questions. The same dials, the same bytes."""
    import workbench as wb

    given = {name: value for name, value in asdict(dials).items() if value is not None}
    written = wb.world(folder, **given)
    files = [{"file": str(path), "bytes": path.stat().st_size} for path in sorted(written.rglob("*")) if path.is_file()]
    return Output({"folder": str(written), "files": files}, [table_of(files)])


@verb
def questions(
    source: Annotated[str, typer.Argument(help="a data set; for --by paths the folder of an index", metavar="DATA")],
    to: Annotated[Path, typer.Option("--out", "-o", help="folder; its questions.jsonl has the questions")],
    by: Annotated[str, typer.Option(help="personas: of users with tasks; paths: from paths of the graph")] = "personas",
    paths: Annotated[int, typer.Option(help="how many paths")] = 20,
    users: Annotated[int, typer.Option(help="how many users")] = 5,
    tasks: Annotated[int, typer.Option(help="tasks of each user")] = 5,
    each: Annotated[int, typer.Option(help="questions on each path, or of each task")] = 5,
    seed: Annotated[int, typer.Option(help="of the paths")] = 0,
    model: opt.Model = opt.MODEL,
) -> Output:
    """Write questions for a corpus that has none. The same command goes on where it was stopped."""
    import workbench as wb
    from workbench.evaluation import asking

    if by not in ("personas", "paths"):
        raise SettingError(f"--by {by!r} is unknown; choose personas or paths")
    if by == "paths":
        index = wb.Index.open(source)
        made = asking.path_questions(index, opening.engine(model), to, paths=paths, each=each, seed=seed)
    else:
        made = asking.persona_questions(wb.load(source), opening.engine(model), to, users=users, tasks=tasks, each=each)
    rows = [{"id": one.id, "question": one.question, "answers": ", ".join(one.answers)} for one in made]
    said = f"{counted(len(rows), 'question')} in {escape(str(to / 'questions.jsonl'))}"
    return Output({"questions": rows}, [table_of(rows[:10], ("id", "question", "answers"), lead=2), said])


@verb
def anonymise(
    data: opt.Data,
    to: Annotated[Path, typer.Option("--out", "-o", help="data folder; the table of names is written beside it")],
    names: Annotated[
        Path | None, typer.Option(help="JSON Lines of name, type, aliases: names beyond those of a gold graph")
    ] = None,
    types: Annotated[str | None, typer.Option(help="such as person,place; by default all that are known")] = None,
    tasks: Annotated[bool, typer.Option("--tasks", help="write OUT-reversion and OUT-choice as well")] = False,
    model: opt.Model = opt.MODEL,
    offline: opt.Offline = False,
) -> Output:
    """Replace the names of a data set by placeholders; without a gold graph or --names, the engine finds them."""
    import workbench as wb
    from workbench import anonymity

    loaded = wb.load(data, offline=offline or None)
    made = anonymity.anonymise(loaded, names or (), engine=opening.engine(model), types=opening.names(types) or ())
    written = {anonymity.write(made, to): made.data}
    for task in (anonymity.reversion, anonymity.choice) if tasks else ():
        asked = task(made.data, made.names)
        written[wb.write_folder(asked, to.with_name(f"{to.name}-{task.__name__}"), again=True)] = asked
    rows = [
        {"folder": str(folder), "passages": len(data.passages), "questions": len(data.questions)}
        for folder, data in written.items()
    ]
    table, count = str(anonymity.table_of(to)), len(made.names.names)
    said = f"{counted(count, 'name')}; the table of names, the only way back: {escape(table)}"
    return Output({"folders": rows, "names": count, "table": table}, [table_of(rows), said])


@verb
def index(
    data: opt.Data,
    folder: Annotated[
        Path | None, typer.Option("--out", "-o", help="folder of the index; indexes/NAME by default")
    ] = None,
    model: opt.Model = opt.MODEL,
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
        told = {name: value for name, value in layer.items() if name not in ("settings", "content")}
        rows.append({"layer": kind, **told, "settings": layer["settings"]})
        words = ", ".join(f"{name} {cell_text(value)}" for name, value in told.items() if name != "key" and value != [])
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
    model: opt.Model = opt.MODEL,
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
    stands = {one.id: one for one in opened.passages.passages}
    if other := [one.id for one in loaded.passages if stands.get(one.id, one) != one]:
        raise SettingError(
            f"{folder} has another passage with the id {other[0]!r}: delete it first, with "
            f"`workbench delete {folder} {other[0]}`, or give one of the two another id"
        )
    new = [one for one in loaded.passages if one.id not in stands]
    ids = {one.id for one in new}
    brought = [one for one in loaded.extractions or () if one.passage_id in ids]
    profiles = within(loaded.profiles, ids) if loaded.profiles is not None else None
    changed = opened.insert(new, runner, extractions=brought, profiles=profiles, keep_going=keep_going)
    said = f"{counted(len(new), 'passage')} inserted, {len(loaded.passages) - len(new):,} there before"
    return Output({"folder": str(folder), "inserted": len(new), "counts": changed.counts()}, [changed, said],
                opening.skipped_lines(loaded))  # fmt: skip


@verb
def delete(
    folder: opt.Folder,
    passages: Annotated[list[str], typer.Argument(help="ids of passages", metavar="ID…")],
    model: opt.Model = opt.MODEL,
    encoder: opt.OwnEncoder = None,
    keep_going: opt.KeepGoing = False,
) -> Output:
    """Take passages out of an index, with what only they supported. Stopped, the same command goes on."""
    opened = opening.index(folder, model, encoder)
    there = [one for one in dict.fromkeys(passages) if one in opened.passages.row]
    absent = [one for one in dict.fromkeys(passages) if one not in opened.passages.row]
    runner = opening.engine(model, vectors=opening.asks_for_vectors(folder, encoder))
    changed = opened.delete(there, runner, keep_going=keep_going)
    whole = {"folder": str(folder), "deleted": there, "absent": absent, "counts": changed.counts()}
    notes = [escape(f"not in the index, or deleted before: {', '.join(absent)}")] if absent else []
    return Output(whole, [changed, f"{counted(len(there), 'passage')} deleted"], notes)


@verb
def checkup(folder: opt.Folder) -> Output:
    """Whether the graph of an index is fit for use: counts beside published graphs, hubs, and warnings in words."""
    import workbench as wb

    found = wb.checkup(wb.Index.open(folder))
    hubs = [hub._asdict() for hub in found.hubs]
    return Output({**found.measured, "warnings": list(found.warnings), "hubs": hubs}, [found])


@verb
def store(
    folder: opt.Folder,
    server: Annotated[str, typer.Option("--server", help="host:port of `chroma run`; by default INDEX/chroma")] = "",
    kinds: Annotated[str, typer.Option("--kinds", help="of passages,phrases,facts")] = "passages",
    questions: Annotated[
        Path | None, typer.Option("--questions", "-q", help="compare what Chroma finds for these with exact search")
    ] = None,
    k: opt.K = 10,
) -> Output:
    """Fill Chroma from an index, or bring it up to date, for other programs and for `dense[store=chroma]`."""
    import workbench as wb
    from workbench.index import chroma

    index = wb.Index.open(folder)
    client = chroma.derive(index, kinds.split(","), server=server, progress=True)
    held = {kind: client.get_collection(chroma.collection_name(index, kind)) for kind in kinds.split(",")}
    rows = [{"kind": kind, "collection": one.name, "vectors": one.count()} for kind, one in held.items()]
    if questions is None:
        return Output({"collections": rows}, [table_of(rows)])
    asked = [one.question for one in opening.questions(questions)]
    found = chroma.agreement(index, asked, k, server=server, client=client)
    said = {"k": k, "questions": len(found.shares), "mean": found.mean, "least": min(found.shares)}
    return Output({"collections": rows, "agreement": said}, [table_of(rows), found])


@verb
def train(
    what: Annotated[str, typer.Argument(help="gfm: a checkpoint of GFM-RAG", metavar="gfm")],
    indexes: Annotated[list[Path], typer.Argument(help="folders of indexes, of one encoder", metavar="INDEX…")],
    to: Annotated[Path, typer.Option("--out", "-o", help="folder of the checkpoint; the same command goes on there")],
    questions: Annotated[
        list[Path] | None,
        typer.Option("--questions", "-q", help="a questions.jsonl with support in one of the indexes; repeatable"),
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="key=value: made=4000, width=64, layers=6, kinds=path+bridge")
    ] = None,
    device: Annotated[str, typer.Option(help="auto (a GPU where there is one), cpu or cuda")] = "auto",
    model: opt.Model = opt.MODEL,
) -> Output:
    """Train a model on the graphs of indexes: on questions made of them, and on questions with gold passages."""
    import workbench as wb
    from workbench.methods.gfm_rag import training

    if what != "gfm":
        raise SettingError(f"{what!r} cannot be trained; what can is: gfm")
    chosen = opening.pairs("--set", settings)
    if isinstance(kinds := chosen.get("kinds"), str):
        chosen["kinds"] = tuple(kinds.split("+"))
    asked = [one for file in questions or () for one in opening.questions(file)]
    sources = [training.Source.of(wb.Index.open(folder), asked) for folder in indexes]
    done = training.train(sources, to, engine=opening.engine(model), device=device, **chosen)
    stages = {name: [check._asdict() for check in checks] for name, checks in done.stages.items()}
    picture = done.picture.save(to / "training.png")
    used = escape(f"--method 'gfm_rag[checkpoint={to}]' asks it; the course: {picture}")
    return Output({"folder": str(to), "parameters": done.parameters, "skipped": done.skipped, "stages": stages},
                [done, used])  # fmt: skip
