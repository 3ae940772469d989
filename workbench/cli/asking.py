"""Verbs that ask: one question, or many, and what that will take."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from workbench.cli import opening
from workbench.cli import options as opt
from workbench.cli.shell import Output, code_of, fields_of, table_of, verb, warning_lines
from workbench.errors import EngineRefused, SettingError
from workbench.text import clean


@verb
def ask(
    folder: opt.FolderOrName,
    question: str,
    retrieving: opt.Retrieving = opt.RETRIEVING,
    reader: opt.Reader = "direct",
    of_reader: opt.OfReader = opt.OF_READER,
    model: opt.Model = opt.MODEL,
) -> Output:
    """The answer to a question, with the passages that it was read from; with --reader none, these alone."""
    import workbench as wb

    named = None if reader == "none" else reader
    folder = opening.at_hand(folder, model, retrieving.method, named)
    index, runner = opening.index_and_engine(folder, model, retrieving.encoder)
    method = wb.method(retrieving.method, index, runner)
    evidence = method.retrieve(question, retrieving.k, budget=retrieving.budget)
    reading = opening.reader(named, runner, index, of_reader)
    if reading is None:
        whole = {**_evidence(evidence, retrieving.trace), "warnings": list(index.warnings)}
        shown, trace, code = [*warning_lines(index.warnings), evidence], evidence.trace, 0
    else:
        answer = reading.read(question, evidence)
        lacking = [*index.warnings, *([f"{evidence.method} fell back: {evidence.fallback}"] * bool(evidence.fallback))]
        whole, shown, failed = _answer(answer, lacking)
        whole |= {"engine": runner.name, **_evidence(evidence, retrieving.trace)}
        shown, trace, code = [*shown, evidence], answer.trace, int(failed)
    return Output(whole, [*shown, trace] if retrieving.trace else shown, code=code)


def _answer(answer, lacking: list[str]) -> tuple[dict, list[str], bool]:
    """(JSON, lines, whether it failed) of an answer, with what was `lacking` when it was read."""
    from workbench.llm.engine import no_model, whose_words
    from workbench.views.contexts import excerpt
    from workbench.views.records import REPLY, failure_of, unread_reply

    flaw, unread = answer.reading.flaw if answer.reading else "", unread_reply(answer)
    mark, failure = answer.proof.mark if answer.proof else None, failure_of(answer)
    text = "abstained: not found in the passages" if answer.abstained else answer.text
    text = f"failed: {failure}" if failure else text
    by = escape(whose_words(answer.engines)) + ", not by a language model" * all(map(no_model, answer.engines))
    shown = [f"[bold]{escape(clean(text))}[/] [dim](by {by})[/]"]
    shown = [*shown, *warning_lines(lacking)] if failure else [*warning_lines(lacking), *shown]
    if unread:
        shown.append(f"The model replied: {escape(clean(unread, REPLY))}")
    if mark:
        shown.append(f"{mark} by the facts that its passages state")
    if answer.thought and not unread:
        shown.append(escape(str(excerpt(answer.thought, answer.text, 400))))
    fields = fields_of(answer, "abstained", "thought", "failure", flaw=flaw, reply=unread, read=list(answer.passages))
    return {"answer": answer.text, **fields, "mark": mark, "warnings": lacking}, shown, bool(failure)


def _evidence(evidence, with_trace: bool) -> dict:
    shown = fields_of(evidence, "question", "method", "scale", "fallback")
    shown |= {
        "passages": [fields_of(p, "id", "title", "text", score=score) for p, score in evidence.passages],
        "facts": [
            {"fact": list(t.members), "passages": list(t.passages), "score": score} for t, score in evidence.facts
        ],
        "entities": [fields_of(e, "name", score=score) for e, score in evidence.entities],
        "paths": [fields_of(p, "nodes", "relations", "passages", "verdict", score=s) for p, s in evidence.paths],
        "reports": [fields_of(r, "id", "title", "text", score=score) for r, score in evidence.reports],
        "selected": evidence.selected,
    }
    if with_trace:
        names = ("id", "parent", "kind", "step", "inputs", "outputs", "scores")
        shown["trace"] = [fields_of(event, *names) for event in evidence.trace]
    return shown


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
) -> Output:
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
            return opening.engine(opt.Model(spec))
        except EngineRefused as error:
            return Unasked(spec, str(error))

    runner, loaded, sampled = model(engine), None, {"sample": sample} if sample else {}
    if questions is None:
        loaded = extracted(wb.load(data, strict=strict, **opening.pairs("--read", read)), extraction)
        chosen = opening.names(layers)
        found = wb.estimate_build(loaded, runner, folder=folder, encoder=encoder, layers=chosen, **sampled)
    else:
        opened = opening.index(Path(data), opt.Model(engine), encoder)
        asked, chosen = opening.questions(questions, opened), [wb.method(spec, opened, runner) for spec in method]
        read_by, judging = opening.reader(reader, runner, opened, opt.OF_READER), model(judge) if judge else None
        found = wb.estimate_run(
            asked, chosen, read_by, judge=judging, out=folder, limit=limit, repeats=repeats, **sampled
        )
    whole = {**asdict(found), "total": asdict(found.total), "skipped": opening.skipped(loaded)}
    return Output(whole, [found], opening.skipped_lines(loaded))


@verb
def evaluate(
    folder: opt.Folder,
    questions: opt.Questions,
    method: opt.Methods = ["hipporag2", "dense"],  # noqa: B006 (typer copies it)
    ranking: opt.Rankings = None,
    qrels: opt.Qrels = None,
    reader: opt.Reading = None,
    of_reader: opt.OfReader = opt.OF_READER,
    model: opt.Model = opt.MODEL,
    run: Annotated[
        Path | None, typer.Option("--out", "-o", help="folder of the run; by default named after all settings")
    ] = None,
    asked: opt.RunOptions = opt.RUN,
    depth: opt.Depth = opt.DEPTH,
    trace: Annotated[str, typer.Option(help="off, ids or full")] = "full",
    measure: Annotated[
        list[str] | None, typer.Option(help="a measure instead of the usual ones; give it again for more")
    ] = None,
    judge: opt.Judge = None,
    encoder: opt.OwnEncoder = None,
) -> Output:
    """Run methods over questions; stopped, the same command goes on. Tables, traces and contexts are in the run's
    folder."""
    import workbench as wb
    from workbench import exchange
    from workbench.analyses.base import unreachable
    from workbench.evaluation.significance import UNCORRECTED
    from workbench.llm.engine import no_model

    opened, runner = opening.index_and_engine(folder, model, encoder)
    gold = opening.questions(questions, opened)
    gold = exchange.read_qrels(qrels, gold, opened.passages.row) if qrels else gold
    others = [one for file in ranking or () for one in wb.rankings(file, opened, gold)]
    oracle = [wb.oracle(opened, gold)] if "oracle" in method else []
    chosen = [*(wb.method(spec, opened, runner) for spec in method if spec != "oracle"), *oracle, *others]
    judging = opening.engine(model, judge) if judge else None
    given = {**vars(asked), **vars(depth), "trace": trace, "judge": judging}
    given |= {"measures": measure} if measure else {}
    read = opening.reader(reader, runner, opened, of_reader)
    done = wb.evaluate(gold, chosen, read, run, **given)
    lacking = [note for one in others for note in one.notes]
    notes = [*lacking, *done.notes, *unreachable(done, done.measures)]
    compared = done.compare().to_dict("records") if len(chosen) > 1 else []
    shown = ("measure", "method", "baseline", "n", "difference", "low", "high", "p", "p_holm")
    return Output(
        {"folder": str(done.folder), "engine": runner.name, "warnings": list(done.warnings), "notes": notes,
         "table": done.table().reset_index().to_dict("records"), "compare": compared},
        [done, *([table_of(compared, shown, lead=2), UNCORRECTED] if compared else []),
         *([f"Made with {escape(runner.name)}: {escape(repr(runner.meter))}"] if not no_model(runner.name) else []),
         *opening.encoder_lines(opened)],
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
    model: opt.Model = opt.MODEL,
    asked: opt.RunOptions = opt.RUN,
    depth: opt.Depth = opt.DEPTH,
    tokens: Annotated[
        int, typer.Option(help="of a context, for readers whose SPEC has neither k nor budget; 0: each its default")
    ] = 12_000,
    encoder: opt.OwnEncoder = None,
) -> Output:
    """Methods × readers over the same questions, each retrieved once. Stopped, the same command goes on."""
    import workbench as wb
    from workbench.evaluation.significance import UNCORRECTED

    opened, runner = opening.index_and_engine(folder, model, encoder)
    chosen = [wb.method(spec, opened, runner) for spec in method]
    readers = {label or spec: spec for label, _, spec in (one.rpartition(": ") for one in reader)}
    done = wb.grid(
        opening.questions(questions, opened), chosen, readers, to, tokens=tokens or None, **vars(asked), **vars(depth)
    )
    table, compared = done.table().reset_index().to_dict("records"), done.compare().to_dict("records")
    said = {"folder": str(done.folder), "engine": runner.name, "readers": done.readers, "warnings": done.warnings}
    return Output(
        {**said, "table": table, "compare": compared},
        [*warning_lines(done.warnings), table_of(table, _OF_GRID, lead=2),
         *([table_of(compared, lead=2), UNCORRECTED] if compared else [])],
        code=code_of(done.runs.values()),
    )  # fmt: skip


_OF_GRID = (
    "reader", "method", "accuracy", "f1", "em", "abstained", "coverage", "coverage:read", "read_tokens", "tokens",
    "cost", "failures",
)  # fmt: skip


@verb
def table(
    paper: Annotated[
        str, typer.Argument(help="bdtr, catrag, dotrag, graphrag_bench, reasoning or youtu", metavar="PAPER")
    ] = "bdtr",
    number: Annotated[
        str | None, typer.Argument(help="the table's number or name, such as 1: it is run", metavar="[TABLE]")
    ] = None,
    beside: Annotated[
        list[Path] | None,
        typer.Option("--run", help="without TABLE: the folder of a run to put beside all tables; repeatable"),
    ] = None,
    source_prompt: Annotated[
        list[str] | None,
        typer.Option(help="a wording from a file that is the source's, as run.json names it: 'answer v2 file 0123…'"),
    ] = None,
    model: opt.Model = opt.MODEL,
    reader_engine: Annotated[
        list[str] | None, typer.Option(help="the engine that answers, if it is another; one for each model of the rows")
    ] = None,
    judge: Annotated[str | None, typer.Option(help="the engine that judges answers, if it is another")] = None,
    data: Annotated[str | None, typer.Option(help="a data set in the place of all of the table's")] = None,
    encoder: opt.Encoder = None,
    run: opt.RunOptions = opt.RUN,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="folder of the indexes and runs")] = None,
    plan: Annotated[bool, typer.Option("--plan", help="say what it takes; ask nothing")] = False,
    form: Annotated[str, typer.Option("--format", help="text, csv, markdown or latex")] = "text",
) -> Output:
    """A paper's tables beside what runs measured, each number with its verdict. With TABLE, that table from nothing:
    data, indexes and runs.

    What exists is kept, so the same command goes on where it was stopped. An endpoint that costs needs a limit, such as
    --max-money 5.
    """
    import workbench as wb
    from workbench.papers import planning, reproduce
    from workbench.views.tables import written

    if form not in (forms := ("text", "csv", "markdown", "latex")):
        raise SettingError(f"--format {form!r} is unknown; choose one of {', '.join(forms)}")
    if number is not None and (beside or source_prompt):
        raise SettingError("--run and --source-prompt belong to all tables of a paper; leave out the table's number")
    if plan:
        if number is None:
            raise SettingError(f"--plan: name the table as well, such as {paper} 1")
        planned = planning.plan(
            paper, number, model.engine, reader_engine=reader_engine, judge=judge, data=data, limit=run.limit,
            repeats=run.repeats,
        )  # fmt: skip
        whole = {"rows": planned.frame.to_dict("records"), "notes": list(planned.notes)}
        return Output(whole, [planned], wrapped=False)
    if number is None:
        found = wb.tables(paper, beside or (), source_prompts=source_prompt or ())
    else:
        engines = _limited(model, [*(reader_engine or ()), *([judge] if judge else [])])
        found = reproduce.reproduce(
            paper, number, engines[model.engine], reader_engine=[engines[spec] for spec in reader_engine or ()],
            judge=engines.get(judge), data=data, encoder=encoder, out=out, **vars(run),
        )  # fmt: skip
    whole = {**asdict(found), "counts": found.counts(), "warnings": list(found.warnings)}
    shown, notes = (found, []) if form == "text" else (escape(written(found, form)), warning_lines(found.warnings))
    code = 0 if number is None else code_of(found.runs)
    return Output(whole, [shown], notes, code=code, wrapped=False)


def _limited(model: opt.Model, others: list[str]) -> dict[str, Any]:
    """SPEC → engine, of all that a table asks; one that may cost money needs a limit."""
    specs = dict.fromkeys([model.engine, *others])
    sends = opening.exporting.get() is None and not model.replay
    if sends and model.limits is None and (paid := [spec for spec in specs if spec.startswith("openai:")]):
        raise SettingError(
            f"{paid[0]} may cost money; say how much with --max-money, --max-tokens or --max-calls (--plan tells what "
            "the table takes)"
        )
    return {spec: opening.engine(model, spec) for spec in specs}
