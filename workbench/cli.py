"""The command line: `workbench VERB`. Tables by default, JSON with `--json`; errors meant for the user have no
traceback."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from workbench.errors import SettingError, WorkbenchError
from workbench.options import (
    Budget,
    Data,
    Encoder,
    Engine,
    Folder,
    Json,
    Judge,
    K,
    Layers,
    Limit,
    Method,
    Methods,
    Model,
    Offline,
    OfReader,
    Questions,
    Ranked,
    Read,
    Reader,
    Reading,
    Record,
    RecordFile,
    Strict,
    Workers,
    flattened,
)
from workbench.spec import parse_value
from workbench.views.base import clean
from workbench.views.terminal import cell_text, lay_out

app = typer.Typer(
    name="workbench", no_args_is_help=True, pretty_exceptions_show_locals=False,
    help="Multi-hop question answering over graphs: build an index, retrieve, ask, evaluate.",
)  # fmt: skip
out = Console(
    highlight=False, width=None if sys.stdout.isatty() else 200
)  # a table that is piped or logged should not be folded
err = Console(highlight=False, stderr=True)

_MODEL, _OF_READER = Model(), OfReader()  # each of their fields becomes an option


def _say_versions(asked: bool) -> None:
    if asked:
        from platform import python_version

        from workbench import __version__

        out.print(f"hopscope {__version__}, Python {python_version()}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_say_versions, help="say the versions, Python's too")
    ] = False,
) -> None:
    """What stands before the verb."""


def verb(function: Callable | None = None, **settings: Any) -> Callable:
    """Register a verb; what is meant for the user is printed in one line, and the exit code is 1."""
    if function is None:
        return lambda function: verb(function, **settings)

    call = flattened(function)

    @wraps(call)
    def guarded(**given: Any) -> None:
        try:
            call(**given)
        except (WorkbenchError, OSError) as error:
            more = (
                "" if isinstance(error, WorkbenchError) else "; what was finished is kept"
            )  # a full disk, a locked folder
            err.print(f"[bold red]{type(error).__name__}[/]: {escape(str(error))}{more}")
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            err.print("stopped; what is done is kept, and the same command goes on from there")
            raise typer.Exit(130) from None

    return app.command(**settings)(guarded)


def _catalogue(kind: str, help: str) -> None:
    """A verb that lists what there is of a kind."""

    @verb(name=kind, help=help)
    def listed(as_json: Json = False) -> None:
        from workbench import catalogue

        _show(getattr(catalogue, kind)(), as_json)


_catalogue("methods", "Every method: what it needs, whose it is, what it asks a model per question.")
_catalogue("readers", "Every reader: what it reads, whose it is, what it asks a model.")
_catalogue("compressors", "Every compressor of a reader's context, for --compress.")
_catalogue("measures", "Every measure, for --measure: what it says, what it needs, whose it is.")


@verb
def index(
    data: Data,
    folder: Annotated[
        Path | None, typer.Option("--out", "-o", help="folder of the index; indexes/NAME by default")
    ] = None,
    model: Model = _MODEL,
    encoder: Encoder = None,
    layers: Layers = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="a layer's setting: facts.normalise=ascii")
    ] = None,
    read: Read = None,
    strict: Strict = False,
    offline: Offline = False,
    as_json: Json = False,
) -> None:
    """Build (or go on building) the index of a data set."""
    import workbench as wb

    chosen: dict[str, dict[str, Any]] = {}
    for pair in settings or []:
        name, equals, value = pair.partition("=")
        layer, dot, key = name.partition(".")
        if not equals or not dot:
            raise SettingError(f"--set {pair!r}: write layer.setting=value, such as facts.normalise=ascii")
        chosen.setdefault(layer, {})[key] = parse_value(value)
    loaded = wb.load(data, offline=offline or None, strict=strict, **_pairs("--read", read))
    built = wb.Index.build(loaded, _engine(model), folder, encoder=encoder, layers=_names(layers), settings=chosen)
    rows = [
        {
            "layer": kind,
            **{k: v for k, v in layer.items() if k not in ("settings", "content")},
            "settings": layer["settings"],
        }
        for kind, layer in built.manifest["layers"].items()
    ]
    if as_json:
        _print_json(
            {"folder": str(built.folder), "counts": built.counts(), "left_out": list(built.left_out), "layers": rows,
             "skipped": _skipped(loaded)}
        )  # fmt: skip
        return
    out.print(escape(repr(built)))
    for row in rows:
        fields = {k: v for k, v in row.items() if k not in ("layer", "settings", "key") and v != []}
        told = ", ".join(f"{k} {cell_text(v)}" for k, v in fields.items())
        out.print(f"  {row['layer']}: {escape(told)}")
        if row.get("failures"):
            err.print(
                f"  {row['layer']}: {row['failures']:,} failed; a build with --layers {row['layer']} and a model "
                "asks for these again",
            )
    _print_skipped(loaded)


@verb
def datasets(as_json: Json = False) -> None:
    """Data sets by name: how large, under which licence, from where, and whether they are on this machine."""
    from dataclasses import asdict

    import workbench as wb

    rows = [asdict(known) for known in wb.datasets().datasets]
    _show(rows if as_json else [{name: row[name] for name in _KNOWN} for row in rows], as_json)


_KNOWN = ("id", "passages", "questions", "licence", "here")


@verb
def checkup(folder: Folder, as_json: Json = False) -> None:
    """Whether the graph of an index is fit for use: counts beside published graphs, hubs, and warnings in words."""
    import workbench as wb

    found = wb.checkup(wb.Index.open(folder))
    if as_json:
        _print_json({**found.measured, "warnings": list(found.warnings), "hubs": [hub._asdict() for hub in found.hubs]})
        return
    out.print(escape(repr(found)))


@verb
def export(
    folder: Folder,
    to: Annotated[Path, typer.Option("--to", help="FILE.graphml, or a folder for CSV files")],
    as_json: Json = False,
) -> None:
    """Write the graph of an index for other programs; it can be read back."""
    import workbench as wb
    from workbench import exchange

    written = exchange.write(wb.Index.open(folder), to)
    _show([{"file": str(path), "bytes": path.stat().st_size} for path in written], as_json)


@verb
def retrieve(
    folder: Folder,
    question: str,
    method: Method = "hipporag2",
    model: Model = _MODEL,
    k: K = 10,
    budget: Budget = None,
    trace: Annotated[bool, typer.Option(help="print the trace")] = False,
    as_json: Json = False,
) -> None:
    """The passages that a method finds for a question, and why."""
    import workbench as wb

    runner = _engine(model)
    evidence = wb.method(method, wb.Index.open(folder), runner).retrieve(question, k, budget=budget)
    if as_json:
        _print_json(_evidence(evidence, trace))
        return
    out.print(escape(repr(evidence)))
    if trace:
        out.print(escape(repr(evidence.trace)))


@verb
def ask(
    folder: Folder,
    question: str,
    method: Method = "hipporag2",
    reader: Reader = "direct",
    of_reader: OfReader = _OF_READER,
    model: Model = _MODEL,
    k: K = 10,
    budget: Budget = None,
    as_json: Json = False,
) -> None:
    """The answer to a question, with the passages that it was read from."""
    import workbench as wb
    from workbench.views.records import REPLY, unread_reply

    runner = _engine(model)
    index = wb.Index.open(folder)
    evidence = wb.method(method, index, runner).retrieve(question, k, budget=budget)
    answer = _reader(reader, runner, index, of_reader).read(question, evidence)
    if as_json:
        _print_json(
            {"answer": answer.text, "abstained": answer.abstained, "thought": answer.thought, "failure": answer.failure,
             "flaw": answer.reading.flaw if answer.reading else "", "reply": unread_reply(answer),
             "read": list(answer.passages), "engine": runner.name,
             "mark": answer.proof.mark if answer.proof else None, **_evidence(evidence, False)}
        )  # fmt: skip
        return
    by = (
        " [dim](by rules, not by a language model)[/]"
        if runner.name == "rules"
        else f" [dim](by {escape(runner.name)})[/]"
    )
    said = (
        f"failed: {answer.failure}"
        if answer.failure
        else "abstained: not found in the passages"
        if answer.abstained
        else answer.text
        or f"no answer could be read off the reply: {answer.reading.flaw if answer.reading else 'it is empty'}"
    )
    unread = unread_reply(answer)
    out.print(f"[bold]{escape(clean(said))}[/]{by}")
    if unread:
        out.print(f"The model replied: {escape(clean(unread, REPLY))}")
    if answer.proof and answer.proof.mark:
        out.print(f"{answer.proof.mark} by the facts that its passages state")
    if answer.thought and not unread:
        out.print(escape(clean(answer.thought, 400)))
    out.print(escape(repr(evidence)))


@verb
def evaluate(
    folder: Folder,
    questions: Questions,
    method: Methods = ["hipporag2", "dense"],  # noqa: B006 (typer copies it)
    reader: Reading = None,
    of_reader: OfReader = _OF_READER,
    model: Model = _MODEL,
    run: Annotated[
        Path | None, typer.Option("--out", "-o", help="folder of the run; by default named after all settings")
    ] = None,
    limit: Limit = None,
    k: Ranked = None,
    budget: Budget = None,
    workers: Workers = None,
    trace: Annotated[str, typer.Option(help="off, ids or full")] = "full",
    measure: Annotated[
        list[str] | None, typer.Option(help="a measure instead of the usual ones; give it again for more")
    ] = None,
    judge: Judge = None,
    as_json: Json = False,
) -> None:
    """Run methods over questions; stopped, the same command goes on. Tables, traces and contexts are in the run's
    folder."""
    import workbench as wb
    from workbench.data.folder import read_questions

    opened, runner = wb.Index.open(folder), _engine(model)
    asked = read_questions(questions, set(opened.passages.row))
    chosen = [wb.method(spec, opened, runner) for spec in method]
    done = wb.evaluate(
        asked,
        chosen,
        _reader(reader, runner, opened, of_reader),
        run,
        limit=limit,
        k=k,
        budget=budget,
        workers=workers,
        trace=trace,
        judge=_engine(model, judge) if judge else None,
        **({"measures": measure} if measure else {}),
    )
    table = done.table().reset_index().to_dict("records")
    compared = done.compare().to_dict("records") if len(chosen) > 1 else []
    if as_json:
        said = {"folder": str(done.folder), "engine": runner.name, "notes": list(done.notes)}
        _print_json({**said, "table": table, "compare": compared})
        return
    out.print(escape(repr(done)))
    if compared:
        shown = ("measure", "method", "baseline", "n", "difference", "low", "high", "p", "p_holm")
        _show([{name: row[name] for name in shown} for row in compared], False, lead=2)
    if runner.name != "rules":
        out.print(f"Made with {escape(runner.name)}: {escape(repr(runner.meter))}")


@verb
def grid(
    folder: Folder,
    questions: Questions,
    to: Annotated[Path, typer.Option("--out", "-o", help="folder of the grid; the same command goes on there")],
    method: Methods = ["hipporag2"],  # noqa: B006 (typer copies it)
    reader: Annotated[
        list[str], typer.Option("--reader", "-r", help="a reader's SPEC, or LABEL: SPEC; give it again for more")
    ] = ["direct"],  # noqa: B006
    model: Model = _MODEL,
    limit: Limit = None,
    k: Ranked = None,
    budget: Budget = None,
    tokens: Annotated[
        int, typer.Option(help="of a context, for readers whose SPEC has neither k nor budget; 0: each its default")
    ] = 12_000,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Methods × readers over the same questions, each retrieved once. Stopped, the same command goes on."""
    import workbench as wb
    from workbench.data.folder import read_questions
    from workbench.experiments.grid import grid as run_grid

    opened, runner = wb.Index.open(folder), _engine(model)
    labelled = [one.rpartition(": ") for one in reader]
    done = run_grid(
        read_questions(questions, set(opened.passages.row)),
        [wb.method(spec, opened, runner) for spec in method],
        {label or spec: spec for label, _, spec in labelled},
        to,
        tokens=tokens or None,
        limit=limit,
        k=k,
        budget=budget,
        workers=workers,
    )
    table, compared = done.table().reset_index().to_dict("records"), done.compare().to_dict("records")
    if as_json:
        said = {"folder": str(done.folder), "engine": runner.name, "readers": done.readers}
        _print_json({**said, "table": table, "compare": compared})
        return
    _show([{name: row[name] for name in _OF_GRID if name in row} for row in table], False, lead=2)
    _show(compared, False, lead=2)


_OF_GRID = (
    "reader", "method", "accuracy", "f1", "em", "abstained", "coverage", "coverage:read", "read_tokens", "tokens",
    "cost", "failures",
)  # fmt: skip


@verb
def runs(
    folder: Annotated[Path | None, typer.Argument(help="where they lie; runs/ by default", metavar="FOLDER")] = None,
    as_json: Json = False,
) -> None:
    """The runs on disk: what each was made with, and how far it is."""
    import workbench as wb

    found = wb.runs(folder).astype(object)
    found = found if as_json else found.dropna(axis="columns", how="all")
    _show(found.where(found.notna(), None).to_dict("records"), as_json)


@verb
def compare(
    first: Annotated[Path, typer.Argument(help="folder of a run", metavar="RUN")],
    second: Annotated[Path, typer.Argument(help="folder of the run that is held against it", metavar="RUN")],
    measure: Annotated[list[str] | None, typer.Option(help="only this measure; give it again for more")] = None,
    as_json: Json = False,
) -> None:
    """Two runs beside each other: paired differences over the questions of both, and what was made otherwise."""
    import workbench as wb

    found = wb.between(first, second, measure)
    rows = found.frame.astype(object).where(found.frame.notna(), None).to_dict("records")
    if as_json:
        _print_json({"compare": rows, "differing": {name: list(pair) for name, pair in found.differing.items()}})
        return
    _show(rows, False)
    _show([{"": name, "first": was, "second": now} for name, (was, now) in found.differing.items()], False)


@verb
def diagnose(
    run: Annotated[Path, typer.Argument(help="folder of a run that has answers", metavar="RUN")],
    questions: Annotated[
        Path | None, typer.Option("--questions", "-q", help="those that it was asked; by default what it has kept")
    ] = None,
    folder: Annotated[Path | None, typer.Option("--index", help="its index, for the texts of gold passages")] = None,
    measure: Annotated[str, typer.Option(help="right is who scores 1 in it")] = "accuracy",
    as_json: Json = False,
) -> None:
    """Why answers of a run are wrong: the likely cause of each, and where errors come from."""
    from dataclasses import asdict

    import workbench as wb
    from workbench.data.folder import read_questions
    from workbench.experiments.diagnose import diagnose as look

    index = wb.Index.open(folder) if folder else None
    asked = read_questions(questions) if questions else None
    found = look(wb.Run(run), asked, index, measure=measure)
    if as_json:
        tables = {title: frame.to_dict("records") for title, frame in found.tables().items()}
        _print_json({"cases": [asdict(case) for case in found.cases], "tables": tables, "notes": list(found.notes)})
        return
    for title, frame in found.tables().items():
        out.print(f"[bold]{escape(title)}[/]")
        _show(frame.astype(object).where(frame.notna(), None).to_dict("records"), False)
    shown = ("question_id", "method", "cause", "hop", "explanation")
    _show([{name: getattr(case, name) for name in shown} for case in found.cases], False, lead=2)
    for note in found.notes:
        out.print(escape(note))


@verb
def tables(
    paper: Annotated[str, typer.Option(help="bdtr (Beyond Static Retrieval), dotrag or reasoning")] = "bdtr",
    run: Annotated[
        list[Path] | None, typer.Option("--run", help="folder of a run to put beside them; give it again for more")
    ] = None,
    as_json: Json = False,
) -> None:
    """A paper's tables next to what runs measured: each number with its verdict, and why where it does not compare."""
    from dataclasses import asdict

    from workbench.experiments.tables import tables as beside

    found = beside(paper, run or ())
    if as_json:
        _print_json({**asdict(found), "counts": found.counts()})
        return
    out.print(escape(repr(found)), soft_wrap=True)


@verb
def estimate(
    data: Annotated[
        str,
        typer.Argument(help="what would be indexed; with --questions, the folder of an index", metavar="DATA|INDEX"),
    ],
    questions: Annotated[Path | None, typer.Option("--questions", "-q", help="estimate an evaluation of these")] = None,
    method: Methods = ["hipporag2", "dense"],  # noqa: B006 (typer copies it)
    reader: Reading = None,
    engine: Engine = "rules",
    record: Record = None,
    folder: Annotated[
        Path | None, typer.Option("--out", "-o", help="index or run; what is done there already does not count")
    ] = None,
    encoder: Encoder = None,
    layers: Layers = None,
    limit: Annotated[int | None, typer.Option(help="of an evaluation: only the first so many questions")] = None,
    judge: Judge = None,
    sample: Annotated[int | None, typer.Option(help="passages or questions that are really asked; 0: none")] = None,
    read: Read = None,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """What a build or an evaluation will take: calls, tokens, money and time per Step, from a sample.

    The sample is really asked; with --record its answers are kept for the build or run itself. Without a key, or with
    --sample 0, no model is asked: prompts are counted, and the length of answers is assumed.
    """
    from dataclasses import asdict

    import workbench as wb
    from workbench.data.folder import read_questions
    from workbench.errors import EngineRefused
    from workbench.experiments.estimate import Unasked

    def model(spec: str):
        """What the SPEC names; a model that cannot be asked, or should not, is estimated all the same."""
        if questions is not None and sample == 0 and spec != "rules":
            return Unasked(spec)
        try:
            return _engine(Model(spec, record))
        except EngineRefused as error:
            if sample:
                raise
            return Unasked(spec, str(error))

    runner, sampled = model(engine), {} if sample is None else {"sample": sample}
    loaded = None
    if questions is None:
        loaded = wb.load(data, strict=strict, **_pairs("--read", read))
        found = wb.estimate_build(loaded, runner, folder=folder, encoder=encoder, layers=_names(layers), **sampled)
    else:
        opened = wb.Index.open(data)
        found = wb.estimate_run(
            read_questions(questions, set(opened.passages.row)),
            [wb.method(spec, opened, runner) for spec in method],
            wb.reader(reader, runner, index=opened) if reader else None,
            judge=model(judge) if judge else None,
            out=folder,
            limit=limit,
            **sampled,
        )
    if as_json:
        _print_json({**asdict(found), "total": asdict(found.total), "skipped": _skipped(loaded)})
        return
    out.print(escape(repr(found)))
    _print_skipped(loaded)


_COMMAND = {"context_settings": {"allow_interspersed_args": False}}  # what follows FILE is another verb's


@verb(**_COMMAND)
def record(
    file: RecordFile,
    command: Annotated[
        list[str] | None, typer.Argument(help="a verb with its arguments, --engine among them", metavar="VERB …")
    ] = None,
    as_json: Json = False,
) -> None:
    """Run a verb and keep in FILE what the model answers; without a verb, say what FILE holds.

    workbench record answers.sqlite ask indexes/meridian "Who built the viaduct?" --engine local:smollm2
    """
    _through("record", file, command, as_json)


@verb(**_COMMAND)
def replay(
    file: RecordFile,
    command: Annotated[list[str] | None, typer.Argument(help="a verb with its arguments", metavar="VERB …")] = None,
    as_json: Json = False,
) -> None:
    """Run a verb again with what FILE holds: no model, no network, the same bytes; without a verb, say what it holds.

    The verb is given as it was when it was recorded. --engine may be left out, unless FILE holds several.
    """
    _through("replay", file, command, as_json)


@verb
def run(
    only: Annotated[str | None, typer.Option(help="only notebooks whose name begins so, such as 01")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="a notebook's parameter: key=value")] = None,
    data: Annotated[str | None, typer.Option("--data", help="the same as --set data=DATA")] = None,
    folder: Annotated[Path, typer.Option("--notebooks", help="folder of the notebooks")] = Path("notebooks"),
    executed: Annotated[Path, typer.Option("--out", "-o", help="folder for the executed notebooks")] = Path(
        "build/notebooks"
    ),
    as_json: Json = False,
) -> None:
    """Execute the notebooks with papermill; figures and tables go into figures/."""
    from workbench import notebooks
    from workbench.places import home

    parameters = ({"data": data} if data else {}) | _pairs("--set", settings)
    done = notebooks.run_all(folder, executed, parameters, only)
    if as_json:
        rows = [{"notebook": path, "page": page, "seconds": seconds} for path, page, seconds in done]
        _print_json({"notebooks": rows, "figures": home() / parameters.get("figures", "figures")})
        return
    out.print("Look at:")
    for one in done:
        out.print(f"  {escape(str(one.page))}   the executed notebook as a page")
    out.print("  figures/   figures, tables and verdicts")
    out.print("  make lab   working copies of the notebooks, in JupyterLab")


@verb(context_settings={"ignore_unknown_options": True})
def lab(
    arguments: Annotated[
        list[str] | None, typer.Argument(help="given to JupyterLab: --no-browser --port 8899", metavar="…")
    ] = None,
) -> None:
    """Open working copies of the notebooks, in lab/, in JupyterLab: running and saving them leaves notebooks/ alone."""
    from workbench import notebooks

    copies = notebooks.working_copies()
    for copy, state in copies.items():
        if state == "kept":
            err.print(
                f"{escape(str(copy))} has changes of yours and is kept, although its original in notebooks/ is newer; "
                "rename it, and the next start brings the new one",
                soft_wrap=True,
            )
    notebooks.open_lab(next(iter(copies)), arguments or ())


@verb
def doctor(
    ask: Annotated[bool, typer.Option("--ask", help="ask the endpoint of the environment one tiny question")] = False,
    model: Annotated[str | None, typer.Option(help="the model that --ask asks")] = None,
    as_json: Json = False,
) -> None:
    """What is installed, what is missing, and the command that mends it."""
    from workbench.doctor import examine

    found = examine(ask=ask, model=model)
    rows = [{"area": f.area, "": f.mark, "what": f.what, "found": f.found, "do": f.remedy} for f in found]
    _show(rows, as_json, lead=3)
    if not found.good:
        raise typer.Exit(1)


_recording: ContextVar[tuple[str, Path] | None] = ContextVar("recording", default=None)  # (record or replay, FILE)


def _through(how: str, file: Path, command: list[str] | None, as_json: bool) -> None:
    """Run another verb of this command line with its engine recorded, or replayed; without one, say what FILE holds.

    `--json` may stand before or behind FILE, or with the verb's own options: it is the verb's, if there is one."""
    command = list(command or ())
    while command[:1] == ["--json"]:
        as_json, command = True, command[1:]
    if not command:
        from workbench.llm.record import Recording

        _show(Recording(file, create=False).summary(), as_json)
        return
    verbs = typer.main.get_command(app)
    asking = [name for name, known in verbs.commands.items() if any(p.name == "engine" for p in known.params)]
    if command[0] not in asking:
        raise SettingError(f"{how} {file} {command[0]}: of the verbs {', '.join(asking)} ask an engine")
    if as_json and "--json" not in command:
        command.insert(1, "--json")
    token = _recording.set((how, file))
    try:
        code = verbs.main(command, prog_name="workbench", standalone_mode=False)
    finally:
        _recording.reset(token)
    if code:
        raise typer.Exit(code)


def _names(given: str | None) -> list[str] | None:
    return [name.strip() for name in given.split(",")] if given else None


def _pairs(option: str, given: list[str] | None) -> dict[str, Any]:
    """What an option that is given as key=value, perhaps several times, says."""
    pairs = [pair.partition("=") for pair in given or ()]
    if bad := [key for key, equals, _ in pairs if not equals]:
        raise SettingError(f"{option} {bad[0]!r}: write key=value")
    return {key: parse_value(value) for key, _, value in pairs}


def _skipped(loaded) -> list[dict]:
    """The documents of a data set that could not be read; none where no data set was read."""
    origin = loaded and loaded.origin
    return [{"file": name, "why": reason} for name, reason in origin.skipped] if origin else []


def _print_skipped(loaded) -> None:
    """The last word of a verb that reads data, so that nothing pushes it out of sight."""
    from workbench.views.data import skipped_lines

    for line in skipped_lines(loaded.origin) if loaded and loaded.origin else ():
        err.print(escape(line), soft_wrap=True)


def _engine(model: Model, spec: str | None = None):
    """The engine that the options, or a SPEC with the same options, name; while a verb is recorded, its recording."""
    import workbench as wb

    spec, record = spec or model.engine, model.record
    how, file = _recording.get() or ("", None)
    if how == "replay":
        from workbench.llm.chat import replay_engine
        from workbench.llm.engine import split_spec

        seed = split_spec(spec)[1].get("seed", 0)
        return replay_engine(str(file), of=None if spec == "rules" else spec, seed=seed)
    if how == "record" and spec == "rules":
        raise SettingError("rules are not recorded, they say the same every time; name a model: --engine local:smollm2")
    record = record or (str(file) if file else None)
    given = {"record": record, "budget": model.limits}
    return wb.engine(spec, **{name: value for name, value in given.items() if value})


def _reader(spec: str | None, engine, index, options: OfReader):
    """The reader of a SPEC with what options add to it; none without a SPEC."""
    import workbench as wb

    given = {name: value for name, value in vars(options).items() if value is not None}
    given |= {"retry": parse_value(given["retry"])} if "retry" in given else {}
    if spec is None and given:
        raise SettingError(f"--{next(iter(given))} is an option of a reader; name one: --reader direct")
    return wb.reader(spec, engine, index=index, **given) if spec else None


def _fields(record: Any, *names: str, **more: Any) -> dict:
    """Some fields of a record, with lists for tuples."""
    values = {name: getattr(record, name) for name in names}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()} | more


def _evidence(evidence, with_trace: bool) -> dict:
    shown = _fields(evidence, "question", "method", "scale", "fallback")
    shown |= {
        "passages": [_fields(p, "id", "title", "text", score=score) for p, score in evidence.passages],
        "facts": [
            {"fact": list(t.members), "passages": list(t.passages), "score": score} for t, score in evidence.facts
        ],
        "entities": [_fields(e, "name", score=score) for e, score in evidence.entities],
        "paths": [_fields(p, "nodes", "relations", "passages", "verdict", score=s) for p, s in evidence.paths],
        "reports": [_fields(r, "id", "title", "text", score=score) for r, score in evidence.reports],
        "selected": evidence.selected,
    }
    if with_trace:
        names = ("id", "parent", "kind", "step", "inputs", "outputs", "scores")
        shown["trace"] = [{name: getattr(event, name) for name in names} for event in evidence.trace]
    return shown


def _show(rows: list[dict], as_json: bool, lead: int = 1) -> None:
    """Rows as JSON, or laid out for the terminal, where the first `lead` columns name a row."""
    if as_json:
        _print_json(rows)
    else:
        out.print(lay_out(rows, out, lead))


def _print_json(value: Any) -> None:
    """Plain, so that it can be piped; NaN, which JSON does not have, becomes null."""
    sys.stdout.write(json.dumps(_without_nan(value), indent=1, ensure_ascii=False, default=str) + "\n")


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and value != value else value


if __name__ == "__main__":
    app()
