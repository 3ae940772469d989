"""The command line: `workbench VERB`. Tables by default, JSON with `--json`; errors meant for the user have no
traceback."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import asdict
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console, Group
from rich.markup import escape
from rich.table import Table

from workbench.cli import options as opt
from workbench.cli.options import flattened
from workbench.errors import DataError, Deferred, EngineRefused, IndexFault, SettingError, WorkbenchError
from workbench.settings import parse_value
from workbench.text import counted, printable, printable_json
from workbench.views.base import clean, warned
from workbench.views.terminal import cell_text, lay_out

# Group in the help → its verbs, both in the order in which the help shows them.
GROUPS = {
    "Start": ("doctor", "datasets", "index", "ask", "retrieve", "methods", "readers", "lab", "notebooks", "run"),
    "Evaluate": (
        "questions", "world", "estimate", "evaluate", "grid", "measures", "compressors", "runs", "compare", "diagnose",
        "tables", "table",
    ),
    "Share": ("bundle", "export", "store", "anonymise"),
    "Models": ("record", "replay", "batch", "train"),
    "Maintain": ("insert", "delete", "merge", "checkup", "check", "decompositions"),
}  # fmt: skip
_GROUP_OF = {name: group for group, names in GROUPS.items() for name in names}


class _Grouped(typer.core.TyperGroup):
    """Lists the verbs in the order of `GROUPS`."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(self.commands, key=lambda name: [*_GROUP_OF, name].index(name))


app = typer.Typer(
    name="workbench", cls=_Grouped, no_args_is_help=True, pretty_exceptions_show_locals=False,
    help="Multi-hop question answering over graphs: build an index, retrieve, ask, evaluate.",
)  # fmt: skip
batches = typer.Typer(
    no_args_is_help=True,
    help="Ask a model in batches: what a verb would ask, as files for a batch API or for vllm run-batch.",
)
app.add_typer(batches, name="batch", rich_help_panel=_GROUP_OF["batch"])


class Terminal(Console):
    """A console to which no text that is printed can send a command of its own."""

    def render_str(self, text: str, **how: Any) -> Any:
        return super().render_str(printable(text), **how)


out = Terminal(highlight=False, width=None if sys.stdout.isatty() else 200)  # what is piped or logged is not folded
err = Terminal(highlight=False, stderr=True)

_DEFERRED = 75  # the code of a verb that waits for a batch: try again later
_EXECUTED, _CHECKED = Path("build/notebooks"), Path("build/regression")
# Each of their fields becomes an option.
_MODEL, _OF_READER, _ASKED, _DIALS = opt.Model(), opt.OfReader(), opt.Asked(), opt.OfWorld()


class Said(NamedTuple):
    """What a verb says: `json` with --json, else what is `shown`, one after the other, and then the `notes`, on the
    error stream. Lines are marked up for rich, records display themselves. Any `code` but 0 is a fault."""

    json: Any
    shown: Sequence[Any]
    notes: Sequence[str] = ()
    code: int = 0
    wrapped: bool = True


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


def verb(function: Callable | None = None, *, json: bool = True, of: typer.Typer = app, **settings: Any) -> Callable:
    """Register a verb, with the option --json. What is meant for the user is printed in one line, with exit code 1."""
    if function is None:
        return lambda function: verb(function, json=json, of=of, **settings)

    call = flattened(function, json)

    @wraps(call)
    def guarded(as_json: bool = False, **given: Any) -> None:
        try:
            if said := call(**given):
                _tell(said, as_json)
        except Deferred:
            raise typer.Exit(_DEFERRED) from None
        except (WorkbenchError, OSError) as error:  # a full disk, a locked folder
            more = "" if isinstance(error, WorkbenchError) else "; what was finished is kept"
            err.print(f"[bold red]{type(error).__name__}[/]: {escape(str(error))}{more}", soft_wrap=True)
            raise typer.Exit(1) from None
        except KeyboardInterrupt:  # `stopping` says what goes on
            raise typer.Exit(130) from None

    if of is app:
        settings["rich_help_panel"] = _GROUP_OF.get(settings.get("name") or function.__name__)
    return of.command(**settings)(guarded)


def _catalogue(kind: str, help: str) -> None:
    """A verb that lists what there is of a kind."""

    @verb(name=kind, help=help)
    def listed() -> Said:
        from workbench.cli import catalogue

        return _listed(catalogue.rows(kind))


_catalogue("methods", "Every method: what it needs, whose it is, what it asks a model per question.")
_catalogue("readers", "Every reader: what it reads, whose it is, what it asks a model.")
_catalogue("compressors", "Every compressor of a reader's context, for --compress.")
_catalogue("measures", "Every measure, for --measure: what it says, what it needs, whose it is.")


@verb
def index(
    data: opt.Data,
    folder: Annotated[
        Path | None, typer.Option("--out", "-o", help="folder of the index; indexes/NAME by default")
    ] = None,
    model: opt.Model = _MODEL,
    encoder: opt.Encoder = None,
    layers: opt.Layers = None,
    extraction: opt.Extraction = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="a layer's setting: facts.normalise=ascii")
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="leave the layers that stand, whoever made them")] = False,
    keep_going: opt.KeepGoing = False,
    cluster: opt.Cluster = None,
    shard: opt.Shard = None,
    read: opt.Read = None,
    strict: opt.Strict = False,
    offline: opt.Offline = False,
) -> Said:
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
    loaded = extracted(wb.load(data, offline=offline or None, strict=strict, **_pairs("--read", read)), extraction)
    place = folder or place_of(loaded)
    runner = _engine(model, vectors=_asks_for_vectors(place, encoder))
    making = _encoder_to_build(encoder, model, place, offline)
    given = {"encoder": making, "layers": _names(layers), "settings": chosen, "cluster": cluster}
    given |= {"keep_going": keep_going}
    if shard is not None:
        return _built_shard(loaded, runner, folder, shard, **given)
    built = wb.Index.build(loaded, runner, folder, keep=keep, **given)
    lines, rows = [], []
    for kind, layer in built.manifest["layers"].items():
        told = {name: value for name, value in layer.items() if name not in ("settings", "content")}
        rows.append({"layer": kind, **told, "settings": layer["settings"]})
        words = ", ".join(f"{name} {cell_text(value)}" for name, value in told.items() if name != "key" and value != [])
        lines.append(f"  {kind}: {escape(words)}")
    return Said(
        {"folder": str(built.folder), "counts": built.counts(), "left_out": list(built.left_out), "layers": rows,
         "warnings": list(built.warnings), "usage": built.usage.rows(), "skipped": _skipped(loaded)},
        [built, *lines, built.usage, *_encoded_with(built)], _skipped_lines(loaded),
    )  # fmt: skip


def _built_shard(loaded, runner, folder: Path | None, shard: str, **given: Any) -> Said:
    from workbench.index.sharding import build_shard

    done = build_shard(loaded, runner, folder, shard, **given)
    return Said(asdict(done), [done], _skipped_lines(loaded))


@verb
def merge(
    folder: Annotated[Path, typer.Argument(help="folder of the run or index whose shards are done", metavar="FOLDER")],
) -> Said:
    """Join the shards that `index` or `evaluate` made with --shard; `index` without it then ends the build."""
    from workbench.evaluation import Run
    from workbench.evaluation.sharding import merge as joined

    found = joined(folder)
    if isinstance(found, Run):
        table = found.table().reset_index().to_dict("records")
        return Said({"folder": str(found.folder), "table": table}, [found])
    said = ", ".join(found) or "nothing was left to join"
    return Said({"folder": str(folder), "parts": found}, [f"{escape(str(folder))}: {said}; go on with `index`"])


@verb
def insert(
    folder: opt.Folder,
    data: opt.Data,
    model: opt.Model = _MODEL,
    encoder: opt.OwnEncoder = None,
    keep_going: opt.KeepGoing = False,
    read: opt.Read = None,
    strict: opt.Strict = False,
    offline: opt.Offline = False,
) -> Said:
    """Add the passages of a data set that an index does not have yet. Stopped, the same command goes on."""
    import workbench as wb
    from workbench.data.profiles import within

    loaded = wb.load(data, offline=offline or None, strict=strict, **_pairs("--read", read))
    runner = _engine(model, vectors=_asks_for_vectors(folder, encoder))
    opened = _index(folder, model, encoder)
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
    return Said({"folder": str(folder), "inserted": len(new), "counts": changed.counts()}, [changed, said],
                _skipped_lines(loaded))  # fmt: skip


@verb
def delete(
    folder: opt.Folder,
    passages: Annotated[list[str], typer.Argument(help="ids of passages", metavar="ID…")],
    model: opt.Model = _MODEL,
    encoder: opt.OwnEncoder = None,
    keep_going: opt.KeepGoing = False,
) -> Said:
    """Take passages out of an index, with what only they supported. Stopped, the same command goes on."""
    opened = _index(folder, model, encoder)
    there = [one for one in dict.fromkeys(passages) if one in opened.passages.row]
    absent = [one for one in dict.fromkeys(passages) if one not in opened.passages.row]
    runner = _engine(model, vectors=_asks_for_vectors(folder, encoder))
    changed = opened.delete(there, runner, keep_going=keep_going)
    whole = {"folder": str(folder), "deleted": there, "absent": absent, "counts": changed.counts()}
    notes = [escape(f"not in the index, or deleted before: {', '.join(absent)}")] if absent else []
    return Said(whole, [changed, f"{counted(len(there), 'passage')} deleted"], notes)


@verb
def datasets() -> Said:
    """Data sets by name: how large, under which licence, from where, and whether they are on this machine."""
    import workbench as wb

    rows = [asdict(known) for known in wb.datasets().datasets]
    named = [row | {"short": ", ".join(row["aliases"])} for row in rows]
    return Said(rows, [_table(named, ("id", "short", "passages", "questions", "licence", "here"))])


@verb
def world(
    folder: Annotated[Path, typer.Argument(help="the data folder to write", metavar="FOLDER")],
    dials: opt.OfWorld = _DIALS,
) -> Said:
    """Write an invented world as a data folder: passages, gold graph and questions. The same dials, the same bytes."""
    import workbench as wb

    given = {name: value for name, value in asdict(dials).items() if value is not None}
    written = wb.world(folder, **given)
    files = [{"file": str(path), "bytes": path.stat().st_size} for path in sorted(written.rglob("*")) if path.is_file()]
    return Said({"folder": str(written), "files": files}, [_table(files)])


@verb
def decompositions(data: opt.Data) -> Said:
    """Execute the decompositions of a data set's questions on its gold graph; exit code 1 where one is wrong."""
    import workbench as wb

    found = wb.check_decompositions(data)
    return Said(asdict(found), [found], code=1 if found.faults else 0)


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
    model: opt.Model = _MODEL,
) -> Said:
    """Write questions for a corpus that has none. The same command goes on where it was stopped."""
    import workbench as wb
    from workbench.evaluation import asking

    if by not in ("personas", "paths"):
        raise SettingError(f"--by {by!r} is unknown; choose personas or paths")
    if by == "paths":
        index = wb.Index.open(source)
        made = asking.path_questions(index, _engine(model), to, paths=paths, each=each, seed=seed)
    else:
        made = asking.persona_questions(wb.load(source), _engine(model), to, users=users, tasks=tasks, each=each)
    rows = [{"id": one.id, "question": one.question, "answers": ", ".join(one.answers)} for one in made]
    said = f"{counted(len(rows), 'question')} in {escape(str(to / 'questions.jsonl'))}"
    return Said({"questions": rows}, [_table(rows[:10], ("id", "question", "answers"), lead=2), said])


@verb
def anonymise(
    data: opt.Data,
    to: Annotated[Path, typer.Option("--out", "-o", help="data folder; the table of names is written beside it")],
    names: Annotated[
        Path | None, typer.Option(help="JSON Lines of name, type, aliases: names beyond those of a gold graph")
    ] = None,
    types: Annotated[str | None, typer.Option(help="such as person,place; by default all that are known")] = None,
    tasks: Annotated[bool, typer.Option("--tasks", help="write OUT-reversion and OUT-choice as well")] = False,
    model: opt.Model = _MODEL,
    offline: opt.Offline = False,
) -> Said:
    """Replace the names of a data set by placeholders; without a gold graph or --names, the engine finds them."""
    import workbench as wb
    from workbench import anonymity

    loaded = wb.load(data, offline=offline or None)
    made = anonymity.anonymise(loaded, names or (), engine=_engine(model), types=_names(types) or ())
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
    return Said({"folders": rows, "names": count, "table": table}, [_table(rows), said])


@verb
def checkup(folder: opt.Folder) -> Said:
    """Whether the graph of an index is fit for use: counts beside published graphs, hubs, and warnings in words."""
    import workbench as wb

    found = wb.checkup(wb.Index.open(folder))
    hubs = [hub._asdict() for hub in found.hubs]
    return Said({**found.measured, "warnings": list(found.warnings), "hubs": hubs}, [found])


@verb
def check(
    place: Annotated[Path, typer.Argument(help="an index, a run, a grid, a recording or a bundle", metavar="PLACE")],
    mend: Annotated[
        bool, typer.Option("--mend", help="put aside what is damaged; the command that made it makes it again")
    ] = False,
) -> Said:
    """Whether the files are what was written, read in full and compared with their checksums; exit code 1 if not."""
    from workbench.cli.check import check as checked

    found = checked(place, mend=mend)
    return Said(asdict(found), [found], code=0 if found.good else 1)


@verb
def export(
    folder: Annotated[Path, typer.Argument(help="folder of an index, or of a run", metavar="INDEX|RUN")],
    to: Annotated[
        Path | None, typer.Option("--to", help="of an index: FILE.graphml, or a folder for CSV files")
    ] = None,
    trec: Annotated[
        Path | None, typer.Option("--trec", help="of a run: a folder for its rankings and gold as TREC files")
    ] = None,
    openinference: Annotated[
        Path | None, typer.Option("--openinference", help="of a run: FILE.jsonl for its traces, as Phoenix reads them")
    ] = None,
    index: Annotated[
        Path | None, typer.Option("--index", help="with --openinference: the run's index, for the texts of passages")
    ] = None,
    seconds: Annotated[
        bool, typer.Option("--seconds", help="with --openinference: measured durations instead of the order alone")
    ] = False,
    begin: Annotated[
        datetime | None,
        typer.Option("--begin", help="with --openinference: when the first trace begins, UTC; by default 2000-01-01"),
    ] = None,
) -> Said:
    """Write the graph of an index, or the rankings or traces of a run, for other programs.

    Graphs and rankings can be read back: `index`, and `evaluate --ranking`.
    """
    import workbench as wb
    from workbench import exchange

    if (to is None) == (trec is None and openinference is None):
        raise SettingError("name what to write: --to of an index, or --trec or --openinference of a run")
    if (index or seconds or begin) and not openinference:
        raise SettingError("--index, --seconds and --begin belong to --openinference FILE.jsonl")
    written = exchange.write(wb.Index.open(folder), to) if to else []
    if trec:
        written += exchange.to_trec(wb.Run(folder), trec)
    if openinference:
        given: dict[str, Any] = {"passages": wb.Index.open(index).passages.passages} if index else {}
        given |= {"begin": begin.replace(tzinfo=UTC)} if begin else {}
        written.append(exchange.to_openinference(wb.Run(folder), openinference, seconds=seconds, **given))
    return _listed([{"file": str(path), "bytes": path.stat().st_size} for path in written])


@verb
def store(
    folder: opt.Folder,
    server: Annotated[str, typer.Option("--server", help="host:port of `chroma run`; by default INDEX/chroma")] = "",
    kinds: Annotated[str, typer.Option("--kinds", help="of passages,phrases,facts")] = "passages",
    questions: Annotated[
        Path | None, typer.Option("--questions", "-q", help="compare what Chroma finds for these with exact search")
    ] = None,
    k: opt.K = 10,
) -> Said:
    """Fill Chroma from an index, or bring it up to date, for other programs and for `dense[store=chroma]`."""
    import workbench as wb
    from workbench.index import chroma

    index = wb.Index.open(folder)
    client = chroma.derive(index, kinds.split(","), server=server, progress=True)
    held = {kind: client.get_collection(chroma.collection_name(index, kind)) for kind in kinds.split(",")}
    rows = [{"kind": kind, "collection": one.name, "vectors": one.count()} for kind, one in held.items()]
    if questions is None:
        return Said({"collections": rows}, [_table(rows)])
    found = chroma.agreement(index, [one.question for one in _questions(questions)], k, server=server, client=client)
    said = {"k": k, "questions": len(found.shares), "mean": found.mean, "least": min(found.shares)}
    return Said({"collections": rows, "agreement": said}, [_table(rows), found])


@verb
def retrieve(
    folder: opt.FolderOrName,
    question: str,
    method: opt.Method = "hipporag2",
    model: opt.Model = _MODEL,
    k: opt.K = 10,
    budget: opt.Budget = None,
    trace: opt.Traced = False,
    encoder: opt.OwnEncoder = None,
) -> Said:
    """The passages that a method finds for a question, and why."""
    import workbench as wb

    folder = _at_hand(folder, model, method)
    runner = _engine(model, vectors=_asks_for_vectors(folder, encoder))
    opened = _index(folder, model, encoder)
    evidence = wb.method(method, opened, runner).retrieve(question, k, budget=budget)
    shown = [*_warned(opened.warnings), evidence]
    whole = {**_evidence(evidence, trace), "warnings": list(opened.warnings)}
    return Said(whole, [*shown, evidence.trace] if trace else shown)


@verb
def ask(
    folder: opt.FolderOrName,
    question: str,
    method: opt.Method = "hipporag2",
    reader: opt.Reader = "direct",
    of_reader: opt.OfReader = _OF_READER,
    model: opt.Model = _MODEL,
    k: opt.K = 10,
    budget: opt.Budget = None,
    trace: opt.Traced = False,
    encoder: opt.OwnEncoder = None,
) -> Said:
    """The answer to a question, with the passages that it was read from."""
    import workbench as wb
    from workbench.llm.engine import no_model, whose_words
    from workbench.views.excerpts import excerpt
    from workbench.views.records import REPLY, failure_of, unread_reply

    folder = _at_hand(folder, model, method, reader)
    runner = _engine(model, vectors=_asks_for_vectors(folder, encoder))
    index = _index(folder, model, encoder)
    evidence = wb.method(method, index, runner).retrieve(question, k, budget=budget)
    answer = _reader(reader, runner, index, of_reader).read(question, evidence)
    flaw, unread = answer.reading.flaw if answer.reading else "", unread_reply(answer)
    mark = answer.proof.mark if answer.proof else None
    failure = failure_of(answer)
    said = "abstained: not found in the passages" if answer.abstained else answer.text
    said = f"failed: {failure}" if failure else said
    by = escape(whose_words(answer.engines)) + ", not by a language model" * all(map(no_model, answer.engines))
    shown = [f"[bold]{escape(clean(said))}[/] [dim](by {by})[/]"]
    lacking = [*index.warnings, *([f"{evidence.method} fell back: {evidence.fallback}"] if evidence.fallback else [])]
    shown = [*shown, *_warned(lacking)] if failure else [*_warned(lacking), *shown]
    if unread:
        shown.append(f"The model replied: {escape(clean(unread, REPLY))}")
    if mark:
        shown.append(f"{mark} by the facts that its passages state")
    if answer.thought and not unread:
        shown.append(escape(str(excerpt(answer.thought, answer.text, 400))))
    fields = _fields(answer, "abstained", "thought", "failure", flaw=flaw, reply=unread, read=list(answer.passages))
    whole = {"answer": answer.text, **fields, "engine": runner.name, "mark": mark, "warnings": lacking}
    whole |= _evidence(evidence, trace)
    return Said(whole, [*shown, evidence, answer.trace] if trace else [*shown, evidence], code=1 if failure else 0)


@verb
def evaluate(
    folder: opt.Folder,
    questions: opt.Questions,
    method: opt.Methods = ["hipporag2", "dense"],  # noqa: B006 (typer copies it)
    ranking: opt.Rankings = None,
    qrels: opt.Qrels = None,
    reader: opt.Reading = None,
    of_reader: opt.OfReader = _OF_READER,
    model: opt.Model = _MODEL,
    run: Annotated[
        Path | None, typer.Option("--out", "-o", help="folder of the run; by default named after all settings")
    ] = None,
    asked: opt.Asked = _ASKED,
    shard: opt.Shard = None,
    trace: Annotated[str, typer.Option(help="off, ids or full")] = "full",
    measure: Annotated[
        list[str] | None, typer.Option(help="a measure instead of the usual ones; give it again for more")
    ] = None,
    judge: opt.Judge = None,
    encoder: opt.OwnEncoder = None,
) -> Said:
    """Run methods over questions; stopped, the same command goes on. Tables, traces and contexts are in the run's
    folder."""
    import workbench as wb
    from workbench import exchange
    from workbench.analyses.base import unreachable
    from workbench.evaluation.significance import UNCORRECTED
    from workbench.llm.engine import no_model

    runner = _engine(model, vectors=_asks_for_vectors(folder, encoder))
    opened = _index(folder, model, encoder)
    gold = _questions(questions, opened)
    gold = exchange.read_qrels(qrels, gold, opened.passages.row) if qrels else gold
    others = [one for file in ranking or () for one in wb.rankings(file, opened, gold)]
    chosen = [*(wb.method(spec, opened, runner) for spec in method), *others]
    judging = _engine(model, judge) if judge else None
    given = {**vars(asked), "shard": shard, "trace": trace, "judge": judging}
    given |= {"measures": measure} if measure else {}
    read = _reader(reader, runner, opened, of_reader)
    done = wb.evaluate(gold, chosen, read, run, **given)
    lacking = [note for one in others for note in one.notes]
    notes = [*lacking, *done.notes, *unreachable(done, done.measures)]
    compared = done.compare().to_dict("records") if len(chosen) > 1 else []
    shown = ("measure", "method", "baseline", "n", "difference", "low", "high", "p", "p_holm")
    return Said(
        {"folder": str(done.folder), "engine": runner.name, "warnings": list(done.warnings), "notes": notes,
         "table": done.table().reset_index().to_dict("records"), "compare": compared},
        [done, *([_table(compared, shown, lead=2), UNCORRECTED] if compared else []),
         *([f"Made with {escape(runner.name)}: {escape(repr(runner.meter))}"] if not no_model(runner.name) else []),
         *_encoded_with(opened)],
        [escape(note) for note in lacking], code=1 if done.mostly_failed else 0,
    )  # fmt: skip


@verb
def grid(
    folder: opt.Folder,
    questions: opt.Questions,
    to: Annotated[Path, typer.Option("--out", "-o", help="folder of the grid; the same command goes on there")],
    method: opt.Methods = ["hipporag2"],  # noqa: B006 (typer copies it)
    reader: Annotated[
        list[str], typer.Option("--reader", "-r", help="a reader's SPEC, or LABEL: SPEC; give it again for more")
    ] = ["direct"],  # noqa: B006
    model: opt.Model = _MODEL,
    asked: opt.Asked = _ASKED,
    tokens: Annotated[
        int, typer.Option(help="of a context, for readers whose SPEC has neither k nor budget; 0: each its default")
    ] = 12_000,
    encoder: opt.OwnEncoder = None,
) -> Said:
    """Methods × readers over the same questions, each retrieved once. Stopped, the same command goes on."""
    import workbench as wb
    from workbench.evaluation.significance import UNCORRECTED

    runner = _engine(model, vectors=_asks_for_vectors(folder, encoder))
    opened = _index(folder, model, encoder)
    chosen = [wb.method(spec, opened, runner) for spec in method]
    readers = {label or spec: spec for label, _, spec in (one.rpartition(": ") for one in reader)}
    done = wb.grid(_questions(questions, opened), chosen, readers, to, tokens=tokens or None, **vars(asked))
    table, compared = done.table().reset_index().to_dict("records"), done.compare().to_dict("records")
    said = {"folder": str(done.folder), "engine": runner.name, "readers": done.readers, "warnings": done.warnings}
    return Said(
        {**said, "table": table, "compare": compared},
        [*_warned(done.warnings), _table(table, _OF_GRID, lead=2),
         *([_table(compared, lead=2), UNCORRECTED] if compared else [])],
        code=_code_of(done.runs.values()),
    )  # fmt: skip


_OF_GRID = (
    "reader", "method", "accuracy", "f1", "em", "abstained", "coverage", "coverage:read", "read_tokens", "tokens",
    "cost", "failures",
)  # fmt: skip


@verb
def runs(
    folder: Annotated[Path | None, typer.Argument(help="where they lie; runs/ by default", metavar="FOLDER")] = None,
) -> Said:
    """The runs on disk: what each was made with, and how far it is."""
    import workbench as wb

    found = wb.runs(folder)
    return Said(_rows(found), [_table(_rows(found.dropna(axis="columns", how="all")))])


@verb
def compare(
    first: Annotated[Path, typer.Argument(help="folder of a run", metavar="RUN")],
    second: Annotated[Path, typer.Argument(help="folder of the run that is held against it", metavar="RUN")],
    measure: Annotated[list[str] | None, typer.Option(help="only this measure; give it again for more")] = None,
) -> Said:
    """Two runs beside each other: paired differences over the questions of both, and what was made otherwise."""
    import workbench as wb
    from workbench.views.differences import notes, shown_rows

    found = wb.between(first, second, measure)
    rows, differing = _rows(found.frame), {name: list(pair) for name, pair in found.differing.items()}
    besides = "What differs besides:" if differing else "Nothing else differs."
    shown = [_table(shown_rows(found.frame), lead=2), *map(escape, notes(found.frame)), besides]
    return Said({"compare": rows, "differing": differing}, [*shown, _table(found.conditions)])


@verb
def diagnose(
    run: Annotated[Path, typer.Argument(help="folder of a run that has answers", metavar="RUN")],
    questions: Annotated[
        Path | None, typer.Option("--questions", "-q", help="those that it was asked; by default what it has kept")
    ] = None,
    folder: Annotated[Path | None, typer.Option("--index", help="its index, for the texts of gold passages")] = None,
    measure: Annotated[str, typer.Option(help="right is who scores 1 in it")] = "accuracy",
) -> Said:
    """Why answers of a run are wrong: the likely cause of each, and where errors come from."""
    import workbench as wb

    index = wb.Index.open(folder) if folder else None
    found = wb.diagnose(wb.Run(run), _questions(questions) if questions else None, index, measure=measure)
    cases, tables = [asdict(case) for case in found.cases], found.tables()
    full = {title: frame for title, frame in tables.items() if len(frame)}
    shown = [part for title, frame in full.items() for part in (f"[bold]{escape(title)}[/]", _table(_rows(frame)))]
    none = f"No answer is wrong by {escape(measure)}."
    wrong = _table(cases, ("question_id", "method", "cause", "hop", "explanation"), lead=2) if cases else none
    told = {title: frame.to_dict("records") for title, frame in tables.items()}
    return Said(
        {"cases": cases, "tables": told, "notes": list(found.notes)}, [*shown, wrong, *map(escape, found.notes)]
    )


@verb
def bundle(
    run: Annotated[list[Path], typer.Argument(help="folders of runs or grids, shown side by side", metavar="RUN…")],
    to: Annotated[
        Path | None, typer.Option("--out", "-o", help="a folder, or FILE.html for one file; bundles/RUN by default")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--index", help="their index, for titles and texts of the ranked passages")
    ] = None,
    title: Annotated[str | None, typer.Option(help="the name on the page; by default that of the runs")] = None,
) -> Said:
    """Runs as pages to hand on, which need no kernel and no network: tables, and every question with its traces."""
    import workbench as wb
    from workbench.views.bundle.contents import Contents

    made = wb.bundle(*run, out=to, index=wb.Index.open(folder) if folder else None, title=title)
    runs = Contents.of(run).runs
    warnings = [said for one in runs for said in one.warnings]
    page = made if made.is_file() else made / "index.html"
    size = sum(path.stat().st_size for path in (page, *made.rglob("data/*")))
    send = "it" if page == made else "the folder"
    said = f"{escape(str(page))}, {size / 1e6:.1f} MB: open it in a browser, or send {send} along"
    whole = {"bundle": str(made), "page": str(page), "bytes": size, "warnings": warnings}
    return Said(whole, [*_warned(warnings), said], code=_code_of(runs))


@verb
def tables(
    paper: Annotated[str, typer.Option(help="bdtr (Beyond Static Retrieval), dotrag or reasoning")] = "bdtr",
    run: Annotated[
        list[Path] | None, typer.Option("--run", help="folder of a run to put beside them; give it again for more")
    ] = None,
    source_prompt: Annotated[
        list[str] | None,
        typer.Option(help="a wording from a file that is the source's, as run.json names it: 'answer v2 file 0123…'"),
    ] = None,
) -> Said:
    """A paper's tables next to what runs measured: each number with its verdict, and why where it does not compare."""
    import workbench as wb

    found = wb.tables(paper, run or (), source_prompts=source_prompt or ())
    whole = {**asdict(found), "counts": found.counts(), "warnings": list(found.warnings)}
    return Said(whole, [found], wrapped=False)


@verb
def table(
    paper: Annotated[str, typer.Argument(help="bdtr, catrag, dotrag, reasoning or youtu", metavar="PAPER")],
    number: Annotated[str, typer.Argument(help="the table's number or name, such as 1", metavar="TABLE")],
    model: opt.Model = _MODEL,
    reader_engine: Annotated[
        list[str] | None, typer.Option(help="the engine that answers, if it is another; one for each model of the rows")
    ] = None,
    judge: Annotated[str | None, typer.Option(help="the engine that judges answers, if it is another")] = None,
    data: Annotated[str | None, typer.Option(help="a data set in the place of all of the table's")] = None,
    encoder: opt.Encoder = None,
    limit: opt.Limit = None,
    workers: opt.Workers = None,
    repeats: opt.Repeats = 1,
    cluster: opt.Cluster = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="folder of the indexes and runs")] = None,
    plan: Annotated[bool, typer.Option("--plan", help="say what it takes; ask nothing")] = False,
    form: Annotated[str, typer.Option("--format", help="text, csv, markdown or latex")] = "text",
) -> Said:
    """A table of a paper from nothing: data, indexes, runs, and its cells beside ours with their verdicts.

    What exists is kept, so the same command goes on where it was stopped. An endpoint that costs needs a limit, such as
    --max-money 5.
    """
    from workbench.papers import reproduce
    from workbench.views.tables import written

    if form not in (forms := ("text", "csv", "markdown", "latex")):
        raise SettingError(f"--format {form!r} is unknown; choose one of {', '.join(forms)}")
    if plan:
        planned = reproduce.plan(
            paper, number, model.engine, reader_engine=reader_engine, judge=judge, data=data, limit=limit,
            repeats=repeats,
        )  # fmt: skip
        return Said({"rows": planned.frame.to_dict("records"), "notes": list(planned.notes)}, [planned], wrapped=False)
    specs = dict.fromkeys(one for one in (model.engine, *(reader_engine or ()), judge) if one)
    sends = _exporting.get() is None
    if sends and model.limits is None and (paid := [one for one in specs if one.startswith("openai:")]):
        raise SettingError(
            f"{paid[0]} may cost money; say how much with --max-money, --max-tokens or --max-calls (--plan tells what "
            "the table takes)"
        )
    engines = {spec: _engine(model, spec) for spec in specs}
    found = reproduce.reproduce(
        paper, number, engines[model.engine], reader_engine=[engines[one] for one in reader_engine or ()],
        judge=engines.get(judge), data=data, encoder=encoder, limit=limit, out=out, workers=workers, repeats=repeats,
        cluster=cluster,
    )  # fmt: skip
    whole = {**asdict(found), "counts": found.counts(), "warnings": list(found.warnings)}
    shown, notes = (found, []) if form == "text" else (escape(written(found, form)), _warned(found.warnings))
    return Said(whole, [shown], notes, code=_code_of(found.runs), wrapped=False)


@verb
def estimate(
    data: Annotated[
        str,
        typer.Argument(help="what would be indexed; with --questions, the folder of an index", metavar="DATA|INDEX"),
    ],
    questions: Annotated[Path | None, typer.Option("--questions", "-q", help="estimate an evaluation of these")] = None,
    method: opt.Methods = ["hipporag2", "dense"],  # noqa: B006 (typer copies it)
    reader: opt.Reading = None,
    engine: opt.Engine = "rules",
    record: opt.Record = None,
    folder: Annotated[
        Path | None, typer.Option("--out", "-o", help="index or run; what is done there already does not count")
    ] = None,
    encoder: opt.Encoder = None,
    layers: opt.Layers = None,
    extraction: opt.Extraction = None,
    limit: Annotated[int | None, typer.Option(help="of an evaluation: only the first so many questions")] = None,
    judge: opt.Judge = None,
    repeats: opt.Repeats = 1,
    sample: Annotated[int | None, typer.Option(help="passages or questions that are counted")] = None,
    read: opt.Read = None,
    strict: opt.Strict = False,
) -> Said:
    """What a build or an evaluation will take: calls, tokens and money per Step, from a sample.

    No model is asked, and no key is needed: the rules answer in its place, the prompts are counted, and the length of
    answers is assumed.
    """
    import workbench as wb
    from workbench.data.curated import extracted
    from workbench.evaluation.estimate import Unasked

    def model(spec: str):
        """What the SPEC names; a model that cannot be asked is estimated all the same."""
        try:
            return _engine(opt.Model(spec, record))
        except EngineRefused as error:
            return Unasked(spec, str(error))

    runner, loaded, sampled = model(engine), None, {"sample": sample} if sample else {}
    if questions is None:
        loaded = extracted(wb.load(data, strict=strict, **_pairs("--read", read)), extraction)
        found = wb.estimate_build(loaded, runner, folder=folder, encoder=encoder, layers=_names(layers), **sampled)
    else:
        opened = _index(Path(data), opt.Model(engine, record), encoder)
        asked, chosen = _questions(questions, opened), [wb.method(spec, opened, runner) for spec in method]
        read_by, judging = _reader(reader, runner, opened, _OF_READER), model(judge) if judge else None
        found = wb.estimate_run(
            asked, chosen, read_by, judge=judging, out=folder, limit=limit, repeats=repeats, **sampled
        )
    whole = {**asdict(found), "total": asdict(found.total), "skipped": _skipped(loaded)}
    return Said(whole, [found], _skipped_lines(loaded))


_COMMAND = {"context_settings": {"allow_interspersed_args": False}}  # what follows FILE is another verb's


@verb(json=False, **_COMMAND)
def record(
    file: opt.RecordFile,
    command: Annotated[
        list[str] | None, typer.Argument(help="a verb with its arguments, --engine among them", metavar="VERB …")
    ] = None,
    early_json: opt.Json = False,
) -> None:
    """Run a verb and keep in FILE what the model answers; without a verb, say what FILE holds.

    workbench record answers.sqlite ask indexes/meridian "Who built the viaduct?" --engine local:smollm2
    """
    _through("record", file, command, early_json)


@verb(json=False, **_COMMAND)
def replay(
    file: opt.RecordFile,
    command: Annotated[list[str] | None, typer.Argument(help="a verb with its arguments", metavar="VERB …")] = None,
    early_json: opt.Json = False,
) -> None:
    """Run a verb again with what FILE holds: no model, no network, the same bytes; without a verb, say what it holds.

    The verb is given as it was when it was recorded. --engine may be left out, unless FILE holds several.
    """
    _through("replay", file, command, early_json)


@verb(of=batches, name="export", json=False, **_COMMAND)
def batch_export(
    folder: opt.BatchFolder,
    command: Annotated[
        list[str] | None, typer.Argument(help="a verb with its arguments, --engine among them", metavar="VERB …")
    ] = None,
    record: Annotated[
        Path | None, typer.Option("--record", help="the recording; by default recording.sqlite in FOLDER")
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="ask again what the recording says has failed")] = False,
    again: Annotated[bool, typer.Option("--again", help="write a round anew that is under way at an endpoint")] = False,
    early_json: opt.Json = False,
) -> None:
    """Run a verb as far as the recording goes, and write what it would ask next into FOLDER. Nothing is asked.

    workbench batch export batches/first index my/corpus --engine openai:gpt-4o-mini

    Then import the results, and give the same command again, until nothing is left to ask: then the verb is done.
    """
    from workbench.llm.batch import Export

    with Export(folder, record, retry=retry, again=again) as export:
        token, out.quiet = _exporting.set(export), early_json
        try:
            code = _asked_within(f"batch export {folder}", list(command or ()))
        finally:
            _exporting.reset(token)
            out.quiet = False
        if code not in (0, _DEFERRED):
            raise typer.Exit(code)
        if not export.asks:
            raise SettingError(
                f"{command[0]} asks no endpoint here, so there is nothing to export; name one: --engine openai:MODEL"
            )
    rows, said = export.rows(), {"round": export.round, "requests": export.requests, "recording": str(export.record)}
    then = (
        f"Next: workbench batch submit {folder}, and fetch; or let another program answer the files. Then workbench "
        f"batch import {folder}, and this command again"
    )
    shown = [export, *([_table(rows), escape(then)] if rows else [f"The answers are in {escape(said['recording'])}"])]
    _tell(Said({**said, "files": rows}, shown), early_json)


@verb(of=batches, name="import")
def batch_import(
    folder: opt.BatchFolder,
    files: Annotated[
        list[Path] | None, typer.Argument(help="files of results; by default those that were fetched", metavar="FILE…")
    ] = None,
    final: Annotated[
        bool, typer.Option("--final", help="take what has no answer for failed, and go on without it")
    ] = False,
) -> Said:
    """Read results of a batch API, or of vllm run-batch, into the recording. What has no answer is kept apart."""
    from workbench.llm import batch

    found = batch.read(folder, files or (), final=final)
    rows = [{"without an answer": number, "why": why} for why, number in sorted(found.failed.items())]
    learned = [f"{name} is asked otherwise from now on, as its endpoint takes it" for name in found.learned]
    whole = {**asdict(found), "file": found.file and str(found.file)}
    next_ = "Next: the same batch export" + (", which asks for these again" if rows and not final else "")
    return Said(whole, [found, *([_table(rows)] if rows else []), *map(escape, learned), next_])


@verb(of=batches, name="submit")
def batch_submit(folder: opt.BatchFolder, url: opt.BaseUrl = None) -> Said:
    """Upload the files of the last round and begin a batch for each. What was submitted is not submitted again."""
    from workbench.llm import batch

    return _listed(_batches(batch.submit(folder, url)))


@verb(of=batches, name="status")
def batch_status(folder: opt.BatchFolder, url: opt.BaseUrl = None) -> Said:
    """The files of all rounds, and how far their batches are."""
    from workbench.llm import batch

    return _listed(_batches(batch.status(folder, url)))


@verb(of=batches, name="fetch")
def batch_fetch(
    folder: opt.BatchFolder,
    url: opt.BaseUrl = None,
    wait: Annotated[bool, typer.Option("--wait", help="until all batches have ended")] = False,
) -> Said:
    """Download the results of the batches that have ended, also of those that expired in part."""
    from workbench.llm import batch

    return _listed(_batches(batch.fetch(folder, url, wait=wait)))


def _batches(files) -> list[dict]:
    return [_fields(one, "round", requests=one.requests, file=one.name, engine=one.engine, batch=one.batch,
                    status=one.status, completed=one.completed, failed=one.failed, fetched=one.fetched,
                    errors=list(one.errors)) for one in files]  # fmt: skip


@verb
def run(
    only: Annotated[str | None, typer.Option(help="only notebooks whose name begins so, such as 01")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="a notebook's parameter: key=value")] = None,
    data: Annotated[str | None, typer.Option("--data", help="the same as --set data=DATA")] = None,
    folder: Annotated[
        Path | None, typer.Option("--notebooks", help="their folder; by default those that come with the workbench")
    ] = None,
    executed: Annotated[
        Path | None,
        typer.Option("--out", "-o", help=f"folder for the executed notebooks; {_EXECUTED}, or {_CHECKED} to check"),
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="make all of it anew and compare it with the baseline; 1 if it moved"),
    ] = False,
    accept: Annotated[bool, typer.Option("--accept", help="the same, and write it as the new baseline")] = False,
    baseline: Annotated[
        Path | None, typer.Option(help="folder of the baseline; baseline/ beside the notebooks by default")
    ] = None,
) -> Said:
    """Execute the notebooks with papermill; figures and tables go into figures/.

    Data other than the bundled corpus are run by rules, unless --set engine=SPEC names another engine.
    With --check nothing there changes: the notebooks make an index and runs of their own.
    """
    from workbench import notebooks
    from workbench.errors import lacking_extra
    from workbench.places import home, is_checkout

    parameters = ({"data": data} if data else {}) | _pairs("--set", settings)
    if notebooks.by_rules(parameters):
        err.print("engine=rules, because the replies written by hand are about the bundled corpus; --set engine=SPEC "
                  "chooses another", soft_wrap=True)  # fmt: skip
    for name in notebooks.off(parameters):
        err.print(f"{name}=false, because {escape(lacking_extra(name))}", soft_wrap=True)
    if check or accept:
        found = notebooks.check(folder, executed or _CHECKED, parameters, only, baseline=baseline, accept=accept)
        return Said(found.plain(), [found], code=0 if found.holds else 1, wrapped=False)
    executed = executed or _EXECUTED
    done = notebooks.run_all(folder, executed, parameters, only)
    rows = [{"notebook": path, "page": page, "seconds": seconds} for path, page, seconds in done]
    pages = [f"  {escape(str(one.page))}   the executed notebook as a page" for one in done]
    figures = "  figures/   figures, tables and verdicts"
    lab = "make lab" if is_checkout() else "workbench lab"
    copies = f"  {lab}   working copies of the notebooks, in JupyterLab"
    whole = {"notebooks": rows, "figures": home() / parameters.get("figures", "figures")}
    return Said(whole, ["Look at:", *pages, figures, copies])


@verb
def notebooks(
    to: Annotated[Path, typer.Argument(help="the folder of the copies; lab/ by default", metavar="DIR")] = Path("lab"),
) -> Said:
    """Copy the notebooks that come with the workbench into a folder. A copy with edits of yours is kept."""
    from workbench.notebooks import working_copies

    copies = working_copies(to=to)
    rows = [{"notebook": copy, "state": state} for copy, state in copies.items()]
    return Said(rows, [_table(rows)], _kept(copies))


@verb(json=False, context_settings={"ignore_unknown_options": True})
def lab(
    arguments: Annotated[
        list[str] | None, typer.Argument(help="given to JupyterLab: --no-browser --port 8899", metavar="…")
    ] = None,
) -> None:
    """Open working copies of the notebooks, in lab/, in JupyterLab: running and saving them leaves the originals
    alone."""
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if is_root and not re.search("allow.root|--version|--help", " ".join(arguments or ())):
        raise SettingError(
            "you are root, and JupyterLab refuses to start as root unless told otherwise: workbench lab --allow-root, "
            "or make lab LAB=--allow-root"
        )
    from workbench.notebooks import open_lab, working_copies

    copies = working_copies()
    for line in _kept(copies):
        err.print(line, soft_wrap=True)
    open_lab(next(iter(copies)), arguments or ())


def _kept(copies: dict[Path, str]) -> list[str]:
    """What is said of copies that were not renewed."""
    why = "has changes of yours and is kept, although its original is newer; rename it to have the new one beside it"
    return [f"{escape(str(copy))} {why}" for copy, state in copies.items() if state == "kept"]


@verb
def doctor(
    ask: Annotated[bool, typer.Option("--ask", help="ask the endpoint of the environment one tiny question")] = False,
    model: Annotated[str | None, typer.Option(help="the model that --ask asks")] = None,
) -> Said:
    """What is installed, what is missing, and the command that mends it."""
    from workbench.cli.doctor import examine

    found = examine(ask=ask, model=model)
    rows = [{"area": f.area, "": f.mark, "what": f.what, "found": f.found, "do": f.remedy} for f in found]
    return Said(rows, [found], code=0 if found.good else 1)


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
    model: opt.Model = _MODEL,
) -> Said:
    """Train a model on the graphs of indexes: on questions made of them, and on questions with gold passages."""
    import workbench as wb
    from workbench.methods.gfm_rag import training

    if what != "gfm":
        raise SettingError(f"{what!r} cannot be trained; what can is: gfm")
    chosen = _pairs("--set", settings)
    if isinstance(kinds := chosen.get("kinds"), str):
        chosen["kinds"] = tuple(kinds.split("+"))
    asked = [one for file in questions or () for one in _questions(file)]
    sources = [training.Source.of(wb.Index.open(folder), asked) for folder in indexes]
    done = training.train(sources, to, engine=_engine(model), device=device, **chosen)
    stages = {name: [check._asdict() for check in checks] for name, checks in done.stages.items()}
    picture = done.picture.save(to / "training.png")
    used = escape(f"--method 'gfm_rag[checkpoint={to}]' asks it; the course: {picture}")
    return Said({"folder": str(to), "parameters": done.parameters, "skipped": done.skipped, "stages": stages},
                [done, used])  # fmt: skip


_exporting: ContextVar[Any] = ContextVar("exporting", default=None)  # the `Export` that engines belong to
_recording: ContextVar[tuple[str, Path] | None] = ContextVar("recording", default=None)  # (record or replay, FILE)


def _through(how: str, file: Path, command: list[str] | None, as_json: bool) -> None:
    """Run another verb of this command line with its engine recorded, or replayed; without one, say what FILE holds.

    `--json` may stand before or behind FILE, or with the verb's own options: it is the verb's, if there is one."""
    command = list(command or ())
    while command[:1] == ["--json"]:
        as_json, command = True, command[1:]
    if not command:
        from workbench.llm.record import Recording

        _tell(_listed(Recording(file, create=False).summary()), as_json)
        return
    if as_json and "--json" not in command:
        command.insert(1, "--json")
    token = _recording.set((how, file))
    try:
        code = _asked_within(f"{how} {file}", command)
    finally:
        _recording.reset(token)
    if code:
        raise typer.Exit(code)


def _asked_within(what: str, command: list[str]) -> int:
    """Run a verb that asks an engine; gives its exit code."""
    verbs = typer.main.get_command(app)
    asking = [name for name, known in verbs.commands.items() if any(p.name == "engine" for p in known.params)]
    if command[:1] == [] or command[0] not in asking:
        raise SettingError(f"{what} {' '.join(command[:1])}: the verbs {', '.join(asking)} ask an engine; name one")
    return verbs.main(command, prog_name="workbench", standalone_mode=False) or 0


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
    skipped = loaded.origin.skipped if loaded and loaded.origin else ()
    return [{"file": name, "why": reason} for name, reason in skipped]


def _skipped_lines(loaded) -> list[str]:
    """The last word of a verb that reads data, so that nothing pushes it out of sight."""
    from workbench.views.data import skipped_lines

    return [escape(line) for line in skipped_lines(loaded.origin)] if loaded and loaded.origin else []


def _questions(file: Path, index=None):
    """Those of a file, or of the data set in a folder; their gold passages must be in the index, if there is one."""
    import workbench as wb
    from workbench.data.folder import read_questions

    known = set(index.passages.row) if index else None
    if not file.is_dir():
        return read_questions(file, known)
    questions = list(wb.load(file).questions)
    gold = {passage for question in questions for passage in question.support}
    if known is not None and (absent := gold - known):
        raise DataError(f"{file}: the gold passage {min(absent)!r} is not in {index.folder}; index this data set first")
    return questions


def _encoder(model: opt.Model, spec: str, offline: bool = False, **settings: Any):
    """The encoder of a SPEC; one behind an endpoint is recorded, replayed and limited as an engine is."""
    import workbench as wb
    from workbench.encoding import ENCODERS, asks_endpoint

    how, file = _recording.get() or ("", None)
    if not asks_endpoint(spec):
        own = {"offline": True} if offline and spec.partition("[")[0] not in ENCODERS else {}
        return wb.encoder(spec, **settings, **own)
    file = _exporting.get().record if _exporting.get() is not None else file
    given = {"replay": str(file)} if how == "replay" else {"record": model.record or (file and str(file))}
    given |= {} if how == "replay" else {"budget": model.limits}
    return wb.encoder(spec, **settings, **{name: value for name, value in given.items() if value})


def _encoder_to_build(spec: str | None, model: opt.Model, folder: Path, offline: bool):
    """The encoder of a build: of the SPEC, or the one behind an endpoint that an index in the folder names; None where
    the index finds its own."""
    if spec is not None:
        return _encoder(model, spec, offline)
    return _encoder(model, **_named(folder)) if _asks_for_vectors(folder, None) else None


def _at_hand(folder: Path, model: opt.Model, method: str, reader: str | None = None) -> Path:
    """The folder of an index. Of a bundled data set's name, or of a folder of documents or data, it is the one that
    `workbench index` would fill. Where there is none yet, the passages are indexed, and the method adds the layers that
    it needs. This is done by rules alone, since a model costs money. An unknown method or reader fails before that."""
    import workbench as wb
    from workbench.data import is_data, is_named
    from workbench.index.index import place_of
    from workbench.index.store import Store
    from workbench.methods import METHODS
    from workbench.reading import READERS
    from workbench.settings import parse_spec

    METHODS.look_up(parse_spec(method)[0])
    if reader:
        READERS.look_up(parse_spec(reader)[0])
    if folder.exists():
        if Store(folder).manifest_path.exists() or not is_data(folder):
            return folder
    elif is_named(str(folder)):
        raise SettingError(f"{folder} is a data set; index it first: workbench index {folder}")
    data = wb.load(str(folder))  # says what is there where there is neither a folder nor a data set of this name
    place = place_of(data)
    manifest = Store(place).read_manifest()
    if not manifest["layers"]:
        if model.engine != "rules":
            raise SettingError(f"{place} is no index yet; build it: workbench index {folder} --engine {model.engine}")
        err.print(f"First the index {escape(str(place))}, by rules, not by a language model …", soft_wrap=True)
        wb.Index.build(data, wb.engine("rules"), place, layers=["passages"])
    elif data.passages and manifest["data"]["fingerprint"] != data.fingerprint:
        raise IndexFault(
            f"{place} was built from other texts than {folder} holds now; `workbench index {folder}` brings it up to "
            "date, and --out names another folder for the index of another corpus"
        )
    return place


def _index(folder: Path, model: opt.Model, encoder: str | None = None):
    """An index. Its encoder is made here if it is asked over a network, or if a SPEC says how it is to be had."""
    import workbench as wb

    own = encoder or _asks_for_vectors(folder, encoder)
    return wb.Index.open(folder, _encoder(model, **({"spec": encoder} if encoder else _named(folder))) if own else None)


def _named(folder: Path) -> dict[str, Any]:
    """The settings of the encoder that an index in the folder names."""
    from workbench.index.store import Store

    return Store(folder).read_manifest().get("encoder", {}).get("settings", {"spec": ""})


def _asks_for_vectors(folder: Path, encoder: str | None) -> bool:
    """Whether an endpoint is asked for vectors: by the SPEC, or by the index in the folder."""
    from workbench.encoding import asks_endpoint

    return asks_endpoint(encoder or _named(folder)["spec"])


def _encoded_with(index) -> list[str]:
    """What an encoder behind an endpoint was asked for."""
    meter = getattr(index.encoder_in_use, "meter", None)
    return [f"Encoded with {escape(index.encoder_in_use.name)}: {escape(repr(meter))}"] if meter else []


def _engine(model: opt.Model, spec: str | None = None, *, vectors: bool = False):
    """The engine that the options, or a SPEC with the same options, name; while a verb is recorded, its recording.
    A recording for `vectors` may hold answers of no model."""
    import workbench as wb

    spec, record = spec or model.engine, model.record
    if (export := _exporting.get()) is not None:
        if record is not None:
            raise SettingError(f"--record {record} stands before the verb: batch export FOLDER --record FILE VERB …")
        if spec.startswith("openai:"):
            return export.engine(spec)
    how, file = _recording.get() or ("", None)
    if vectors and spec == "rules" and not (how == "replay" and _answers_in(file)):
        return wb.engine("rules")
    if how == "replay":
        from workbench.llm.engine import split_spec

        seed = split_spec(spec)[1].get("seed", 0)
        return wb.engine(f"replay:{file}", of=None if spec == "rules" else spec, seed=seed)
    if how == "record" and spec == "rules":
        raise SettingError("rules are not recorded, they say the same every time; name a model: --engine local:smollm2")
    record = record or (str(file) if file else None)
    given = {"record": record, "budget": model.limits}
    return wb.engine(spec, **{name: value for name, value in given.items() if value})


def _answers_in(file: Path) -> list[str]:
    """The models whose answers a recording holds."""
    from workbench.llm.record import Recording

    return Recording(file, create=False).engines()


def _reader(spec: str | None, engine, index, options: opt.OfReader):
    """The reader of a SPEC with what options add to it; none without a SPEC."""
    import workbench as wb

    given = {name: value for name, value in vars(options).items() if value is not None}
    given |= {"retry": parse_value(given["retry"])} if "retry" in given else {}
    if spec is None and given:
        raise SettingError(f"--{next(iter(given))} is an option of a reader; name one: --reader direct")
    return wb.reader(spec, engine, index=index, **given) if spec else None


def _warned(warnings: Sequence[str]) -> list[str]:
    """What displays of an index or a run begin with, as a line of its own."""
    return [escape(line) for line in warned(warnings)]


def _code_of(runs) -> int:
    """1 where a run is mostly failures."""
    return 1 if any(run.mostly_failed for run in runs) else 0


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
        shown["trace"] = [_fields(event, *names) for event in evidence.trace]
    return shown


def _rows(frame) -> list[dict]:
    """The rows of a data frame, with None for what is not defined."""
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def _table(rows: list[dict], columns: Sequence[str] | None = None, lead: int = 1):
    """Some columns of rows, laid out for the terminal, where the first `lead` of them name a row."""
    return lay_out([{name: row[name] for name in columns or row if name in row} for row in rows], out, lead)


def _listed(rows: list[dict]) -> Said:
    return Said(rows, [_table(rows)])


def _tell(said: Said, as_json: bool) -> None:
    """JSON is plain, so that it can be piped; NaN, which it does not have, becomes null."""
    if as_json:
        written = json.dumps(_without_nan(said.json), indent=1, ensure_ascii=False, default=str)
        sys.stdout.write(printable_json(written) + "\n")
    else:
        for one in said.shown:
            shown = one if isinstance(one, str | Table | Group) else escape(repr(one))
            out.print(shown, soft_wrap=not said.wrapped)
        for note in said.notes:
            err.print(note, soft_wrap=True)
    if said.code:
        raise typer.Exit(said.code)


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and value != value else value
