"""The group Models: recorded answers, batches, and the training of a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from workbench.cli import opening
from workbench.cli import options as opt
from workbench.cli.shell import DEFERRED, GROUP_OF, Output, app, fields_of, listed, out, show, table_of, verb
from workbench.errors import SettingError

batches = typer.Typer(
    no_args_is_help=True,
    help="Ask a model in batches: what a verb would ask, as files for a batch API or for vllm run-batch.",
)


app.add_typer(batches, name="batch", rich_help_panel=GROUP_OF["batch"])


@verb
def answers(
    file: Annotated[Path | None, "a recording; by default answers.sqlite in the working folder", "FILE"] = None,
    /,
    forget: Annotated[list[str] | None, "take out what this engine or encoder gave, by its name here"] = None,
    older: Annotated[float | None, "take out what was stored more than so many days ago"] = None,
    of: Annotated[list[Path] | None, "only what this index, run or grid used"] = None,
    into: Annotated[Path | None, "copy what --of used into this file, to be replayed"] = None,
) -> Output:
    """What models were asked and paid for, per engine and Step, and what was encoded; neither is done again.

    Every engine that costs something keeps its answers there; `--record` chooses another file. Vectors are in the
    folder `vectors` beside it. WORKBENCH_ANSWERS and WORKBENCH_VECTORS name others. `--forget` with `--older` takes out
    what one engine was asked long ago. `--of runs/mine --into mine.sqlite` copies what a colleague needs for `--replay
    mine.sqlite`.
    """
    from workbench.llm.record import Recording
    from workbench.places import answers as of_this_folder

    if of or into:
        if file or forget or older is not None or not of:
            raise SettingError(
                "--into needs --of PLACE, and neither combines with FILE, --forget or --older; leave those out"
            )
        return _used(of, into)
    if older is not None and older < 0:
        raise SettingError(f"--older {older:g}; it should be a number of days of at least 0")
    vectors, lines = ({}, []) if file else _vectors(forget or () if older is None else ())
    engines = [name for name in forget or () if name not in vectors.get("forgot vectors", ())]
    file = file or of_this_folder()
    if not file.exists() and not engines:
        return Output({"file": file, "holds": [], **vectors}, [f"{escape(str(file))}: nothing was asked yet", *lines])
    store = Recording(file, create=bool(engines or older is not None))
    everybody = [None] if older is not None and not forget else []
    forgot = {name or "all engines": store.forget(name, older=older or 0.0) for name in engines or everybody}
    if unknown := [name for name in forgot if not forgot[name] and older is None]:
        raise SettingError(f"{file} holds no answer of {unknown[0]!r}; workbench answers {file} lists its engines")
    forgotten = [f"Forgot {count:,} answers of {escape(engine)}." for engine, count in forgot.items()]
    holds = store.summary()
    parts = [escape(str(file)), *forgotten, table_of(holds, lead=2), *lines]
    return Output({"file": file, "forgot": forgot, "holds": holds, **vectors}, parts)


def _used(places: list[Path], into: Path | None) -> Output:
    """The answers that indexes, runs and grids used, copied into a recording of their own if one is named."""
    from workbench.cli.check import kind_of
    from workbench.evaluation import Grid, Run
    from workbench.index import Index
    from workbench.llm.record import export

    opened = {"index": lambda place: [Index.open(place)], "run": lambda place: [Run(place)],
              "grid": lambda place: Grid(place).runs.values()}  # fmt: skip
    recordings: dict[Path, set[str]] = {}
    for place in places:
        if (kind := kind_of(place)) not in opened:
            raise SettingError(f"{place} is a {kind}; --of takes an index, a run or a grid")
        for source in opened[kind](place):
            for path, keys in source.recordings.items():
                recordings.setdefault(path, set()).update(keys)
    if not recordings:
        raise SettingError(
            f"{places[0]} names no answers: no model was asked for it, or an earlier version made it; make it with a "
            "model, or again with this version"
        )
    rows = [{"recording": str(path), "answers": len(keys)} for path, keys in recordings.items()]
    copied = f"Copied {export(recordings, into):,} answers into {escape(str(into))}" if into else ""
    return Output(
        {"used": rows, "into": into}, [table_of(rows), *[f"{copied}; replay them: --replay FILE"] * bool(into)]
    )


def _vectors(forget: Sequence[str]) -> tuple[dict[str, Any], list[Any]]:
    """What the store of vectors holds, after these encoders were forgotten: as data, and as lines."""
    from workbench.encoding.store import VectorStore
    from workbench.places import vectors as of_this_folder

    stores = VectorStore.in_folder(folder := of_this_folder())
    forgot = {store.name: store.forget() for store in stores if store.name in forget}
    rows = [
        {"encoder": store.name, "dimension": store.dimension, "vectors": len(store), "bytes": store.size}
        for store in stores
        if store.name not in forgot
    ]
    lines = [f"Forgot {count:,} vectors of {escape(name)}." for name, count in forgot.items()]
    listing = [escape(str(folder)), table_of(rows, lead=1)] if rows else []
    return {"forgot vectors": forgot, "vectors": rows}, [*lines, *listing]


@verb(of=batches, name="export", json=False, context_settings={"allow_interspersed_args": False})
def batch_export(
    folder: opt.Batch,
    command: Annotated[list[str] | None, "a verb with its arguments, --engine among them", "VERB …"] = None,
    /,
    record: Annotated[Path | None, "the recording; by default answers.sqlite in the working folder"] = None,
    retry: Annotated[bool, "ask again what the recording says has failed"] = False,
    again: Annotated[bool, "write a round anew that is under way at an endpoint"] = False,
    json: opt.Json = False,
) -> None:
    """Run a verb as far as the recording goes, and write what it would ask next into FOLDER. Nothing is asked.

    workbench batch export batches/first index my/corpus --engine openai:gpt-4o-mini

    Then import the results, and give the same command again, until nothing is left to ask: then the verb is done.
    """
    from workbench.llm.batch import Export

    with Export(folder, record, retry=retry, again=again) as export:
        token, out.quiet = opening.exporting.set(export), json
        try:
            code = run_verb(f"batch export {folder}", list(command or ()))
        finally:
            opening.exporting.reset(token)
            out.quiet = False
        if code not in (0, DEFERRED):
            raise typer.Exit(code)
        if not export.asks:
            raise SettingError(
                f"{command[0]} asks no endpoint here, so there is nothing to export; name one: --engine openai:MODEL"
            )
    rows, report = export.rows(), {"round": export.round, "requests": export.requests, "recording": str(export.record)}
    then = (
        f"Next: workbench batch submit {folder} --wait, or let another program answer the files. Then workbench "
        f"batch import {folder}, and this command again"
    )
    parts = [table_of(rows), escape(then)] if rows else [f"The answers are in {escape(report['recording'])}"]
    show(Output({**report, "files": rows}, [export, *parts]), json)


def run_verb(what: str, command: list[str]) -> int:
    """Run a verb that asks an engine; gives its exit code."""
    verbs = typer.main.get_command(app)
    asking = [name for name, command in verbs.commands.items() if any(p.name == "engine" for p in command.params)]
    if command[:1] == [] or command[0] not in asking:
        raise SettingError(
            f"{what} needs a verb that asks an engine, not {' '.join(command[:1]) or 'none'}; name one of "
            f"{', '.join(asking)}"
        )
    return verbs.main(command, prog_name="workbench", standalone_mode=False) or 0


@verb(of=batches, name="import")
def batch_import(
    folder: opt.Batch,
    files: Annotated[list[Path] | None, "files of results; by default those that were fetched", "FILE…"] = None,
    /,
    final: Annotated[bool, "take what has no answer for failed, and go on without it"] = False,
) -> Output:
    """Read results of a batch API, or of vllm run-batch, into the recording. What has no answer is kept apart."""
    from workbench.llm import batch

    results = batch.read(folder, files or (), final=final)
    rows = [{"without an answer": number, "why": why} for why, number in sorted(results.failed.items())]
    learned = [f"{name} is asked otherwise from now on, as its endpoint takes it" for name in results.learned]
    next_ = "Next: the same batch export" + (", which asks for these again" if rows and not final else "")
    return Output(results, [results, *([table_of(rows)] if rows else []), *map(escape, learned), next_])


@verb(of=batches, name="submit")
def batch_submit(
    folder: opt.Batch,
    /,
    url: Annotated[str | None, "of the endpoint; by default OPENAI_BASE_URL, or OpenAI's own"] = None,
    wait: Annotated[bool, "until all batches have ended"] = False,
) -> Output:
    """Upload the files of the last round, begin a batch for each, and download the results of those that have ended.

    What was submitted is not submitted again, so the same command later says how far the batches are, and downloads
    what has ended since, also of batches that expired in part.
    """
    from workbench.llm import batch

    batch.submit(folder, url)
    files = batch.fetch(folder, url, wait=wait)
    fields = ("round", "requests", "engine", "batch", "status", "completed", "failed", "fetched", "errors")
    return listed([fields_of(file, *fields, file=file.name) for file in files])


@verb
def train(
    what: Annotated[str, "gfm: a checkpoint of GFM-RAG", "gfm"],
    indexes: Annotated[list[Path], "folders of indexes, of one encoder", "INDEX…"],
    /,
    model: opt.Model,
    out: Annotated[Path, "folder of the checkpoint; the same command goes on there"],
    questions: Annotated[list[Path] | None, "a questions.jsonl with support in one of the indexes; repeatable"] = None,
    set_: Annotated[list[str] | None, "key=value: made=4000, width=64, layers=6, kinds=path+bridge"] = None,
    device: Annotated[str, "auto (a GPU where there is one), cpu or cuda"] = "auto",
) -> Output:
    """Train a model on the graphs of indexes: on questions made of them, and on questions with gold passages."""
    import workbench as wb
    from workbench.methods.gfm_rag import training

    if what != "gfm":
        raise SettingError(f"{what!r} cannot be trained; choose gfm")
    chosen = opening.pairs("--set", set_)
    if isinstance(kinds := chosen.get("kinds"), str):
        chosen["kinds"] = tuple(kinds.split("+"))
    gold = [question for file in questions or () for question in opening.questions(file)]
    sources = [training.Source.of(wb.Index.open(folder), gold) for folder in indexes]
    done = training.train(sources, out, engine=opening.engine(model), device=device, **chosen)
    used = f"--method 'gfm_rag[checkpoint={out}]' asks it; the course: {done.picture.save(out / 'training.png')}"
    stages = {name: [check._asdict() for check in checks] for name, checks in done.stages.items()}
    whole = {"folder": out, "parameters": done.parameters, "skipped": done.skipped, "stages": stages}
    return Output(whole, [done, escape(used)])
