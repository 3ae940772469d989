"""The group Evaluate: many questions, their cost beforehand, and what runs say."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from rich.markup import escape

from workbench.cli import opening
from workbench.cli import options as opt
from workbench.cli.shell import Output, code_of, table_of, verb, warning_lines
from workbench.errors import EngineRefused, SettingError


@verb
def estimate(
    data: Annotated[str, "what would be indexed; with --questions, the folder of an index", "DATA|INDEX"],
    /,
    questions: Annotated[Path | None, "estimate an evaluation of these"] = None,
    method: opt.Methods = ["hipporag2", "dense"],  # noqa: B006
    reader: opt.Reader = None,
    engine: opt.Engine = "rules",
    out: Annotated[Path | None, "index or run; what is done there already does not count"] = None,
    encoder: opt.Encoder = None,
    layers: opt.Layers = None,
    extraction: opt.Extraction = None,
    limit: Annotated[int | None, "of an evaluation: only the first so many questions"] = None,
    judge: opt.Judge = None,
    repeats: opt.Repeats = 1,
    sample: Annotated[int | None, "passages or questions that are counted"] = None,
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
        """The engine of a SPEC; one that cannot be asked can still be estimated."""
        try:
            return opening.engine(opt.Model(spec))
        except EngineRefused as error:
            return Unasked(spec, str(error))

    runner, loaded, sampled = model(engine), None, {"sample": sample} if sample else {}
    if questions is None:
        loaded = extracted(wb.load(data, strict=strict, **opening.pairs("--read", read)), extraction)
        chosen = opening.names(layers)
        estimated = wb.estimate_build(loaded, runner, folder=out, encoder=encoder, layers=chosen, **sampled)
    else:
        opened = opening.index(Path(data), opt.Model(engine), encoder)
        gold, chosen = opening.questions(questions, opened), [wb.method(spec, opened, runner) for spec in method]
        read_by, judging = opening.reader(reader, runner, opened, opt.OfReader()), model(judge) if judge else None
        estimated = wb.estimate_run(
            gold, chosen, read_by, judge=judging, out=out, limit=limit, repeats=repeats, **sampled
        )
    whole = {**asdict(estimated), "total": estimated.total, "skipped": opening.skipped(loaded)}
    return Output(whole, [estimated], opening.skipped_lines(loaded))


@verb
def evaluate(
    folder: opt.Folder,
    /,
    questions: opt.Questions,
    model: opt.Model,
    options: opt.EvaluationOptions,
    of_reader: opt.OfReader,
    method: opt.Methods = ["hipporag2", "dense"],  # noqa: B006
    encoder: opt.OwnEncoder = None,
    ranking: Annotated[
        list[Path] | None, "a TREC run file of another system, measured with the methods; repeatable"
    ] = None,
    qrels: Annotated[Path | None, "a TREC qrels file: its gold instead of the questions'"] = None,
    reader: opt.Reader = None,
    out: Annotated[Path | None, "folder of the run; by default named after all settings"] = None,
    trace: Annotated[str, "off, ids or full"] = "full",
    measure: Annotated[list[str] | None, "a measure instead of the usual ones; give it again for more"] = None,
    judge: opt.Judge = None,
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
    others = [system for file in ranking or () for system in wb.rankings(file, opened, gold)]
    oracle = [wb.oracle(opened, gold)] if "oracle" in method else []
    chosen = [*(wb.method(spec, opened, runner) for spec in method if spec != "oracle"), *oracle, *others]
    given = {**vars(options), "trace": trace, "judge": opening.engine(model, judge) if judge else None}
    given |= {"measures": measure} if measure else {}
    done = wb.evaluate(gold, chosen, opening.reader(reader, runner, opened, of_reader), out, **given)
    lacking = [note for other in others for note in other.notes]
    notes = [*lacking, *done.notes, *unreachable(done, done.measures)]
    compared = done.compare().to_dict("records") if len(chosen) > 1 else []
    columns = ("measure", "method", "baseline", "n", "difference", "low", "high", "p", "p_holm")
    parts = [done, *([table_of(compared, columns, lead=2), UNCORRECTED] if compared else [])]
    if not no_model(runner.name):
        parts.append(f"Made with {escape(runner.name)}: {escape(repr(runner.meter))}")
    return Output(
        {"folder": done.folder, "engine": runner.name, "warnings": done.warnings, "notes": notes,
         "table": done.table().reset_index(), "compare": compared},
        [*parts, *opening.encoder_lines(opened)], [escape(note) for note in lacking], code=code_of([done]),
    )  # fmt: skip


@verb
def grid(
    folder: opt.Folder,
    /,
    questions: opt.Questions,
    model: opt.Model,
    options: opt.EvaluationOptions,
    out: Annotated[Path, "folder of the grid; the same command goes on there"],
    method: opt.Methods = ["hipporag2"],  # noqa: B006
    reader: Annotated[list[str], "a reader's SPEC, or LABEL: SPEC; give it again for more"] = ["direct"],  # noqa: B006
    tokens: Annotated[
        int, "of a context, for readers whose SPEC has neither k nor budget; 0: each its default"
    ] = 12_000,
    encoder: opt.OwnEncoder = None,
) -> Output:
    """Methods × readers over the same questions, each retrieved once. Stopped, the same command goes on."""
    import workbench as wb
    from workbench.evaluation.significance import UNCORRECTED

    opened, runner = opening.index_and_engine(folder, model, encoder)
    chosen = [wb.method(spec, opened, runner) for spec in method]
    readers = {label or spec: spec for label, _, spec in (spec.rpartition(": ") for spec in reader)}
    done = wb.grid(opening.questions(questions, opened), chosen, readers, out, tokens=tokens or None, **vars(options))
    table, compared = done.table().reset_index(), done.compare()
    summary = {"folder": done.folder, "engine": runner.name, "readers": done.readers, "warnings": done.warnings}
    parts = [*warning_lines(done.warnings), table_of(table, _OF_GRID, lead=2)]
    parts += [table_of(compared, lead=2), UNCORRECTED] if len(compared) else []
    return Output({**summary, "table": table, "compare": compared}, parts, code=code_of(done.runs.values()))


_OF_GRID = (
    "reader", "method", "accuracy", "f1", "em", "abstained", "coverage", "coverage:read", "read_tokens", "tokens",
    "cost", "failures",
)  # fmt: skip


@verb
def table(
    paper: Annotated[str, "bdtr, catrag, dotrag, graphrag_bench, reasoning or youtu", "PAPER"] = "bdtr",
    number: Annotated[str | None, "the table's number or name, such as 1: it is run", "TABLE"] = None,
    /,
    *,
    model: opt.Model,
    options: opt.RunOptions,
    run: Annotated[list[Path] | None, "without TABLE: the folder of a run to put beside all tables; repeatable"] = None,
    source_prompt: Annotated[
        list[str] | None, "a wording from a file that is the source's, as run.json names it: 'answer v2 file 0123…'"
    ] = None,
    reader_engine: Annotated[
        list[str] | None, "the engine that answers, if it is another; one for each model of the rows"
    ] = None,
    judge: Annotated[str | None, "the engine that judges answers, if it is another"] = None,
    data: Annotated[str | None, "a data set in the place of all of the table's"] = None,
    encoder: opt.Encoder = None,
    out: Annotated[Path | None, "folder of the indexes and runs"] = None,
    plan: Annotated[bool, "say what it takes; ask nothing"] = False,
    format: Annotated[str, "text, csv, markdown or latex"] = "text",
) -> Output:
    """A paper's tables beside what runs measured, each number with its verdict. With TABLE, that table from nothing:
    data, indexes and runs.

    What exists is kept, so the same command goes on where it was stopped. An endpoint that costs needs a limit, such as
    --max-money 5.
    """
    import workbench as wb
    from workbench.papers import planning, reproduce
    from workbench.views.tables import written

    if format not in (forms := ("text", "csv", "markdown", "latex")):
        raise SettingError(f"--format {format!r} is unknown; choose one of {', '.join(forms)}")
    if number is not None and (run or source_prompt):
        raise SettingError("--run and --source-prompt belong to all tables of a paper; leave out the table's number")
    if plan:
        if number is None:
            raise SettingError(f"--plan needs the number of a table, such as {paper} 1")
        planned = planning.plan(
            paper, number, model.engine, reader_engine=reader_engine, judge=judge, data=data, limit=options.limit,
            repeats=options.repeats,
        )  # fmt: skip
        return Output({"rows": planned.frame, "notes": planned.notes}, [planned], wrapped=False)
    if number is None:
        tables = wb.tables(paper, run or (), source_prompts=source_prompt or ())
    else:
        engines = _limited(model, [*(reader_engine or ()), *([judge] if judge else [])])
        tables = reproduce.reproduce(
            paper, number, engines[model.engine], reader_engine=[engines[spec] for spec in reader_engine or ()],
            judge=engines.get(judge), data=data, encoder=encoder, out=out, **vars(options),
        )  # fmt: skip
    whole = {**asdict(tables), "counts": tables.counts(), "warnings": tables.warnings}
    code = 0 if number is None else code_of(tables.runs)
    if format == "text":
        return Output(whole, [tables], code=code, wrapped=False)
    return Output(whole, [escape(written(tables, format))], warning_lines(tables.warnings), code=code, wrapped=False)


def _limited(model: opt.Model, others: list[str]) -> dict[str, Any]:
    """SPEC → engine, for all engines that a table asks; an engine that may cost money needs a limit."""
    specs = dict.fromkeys([model.engine, *others])
    sends = opening.exporting.get() is None and not model.replay
    if sends and model.limits is None and (paid := [spec for spec in specs if spec.startswith("openai:")]):
        raise SettingError(
            f"{paid[0]} may cost money; say how much with --max-money, --max-tokens or --max-calls (--plan tells what "
            "the table takes)"
        )
    return {spec: opening.engine(model, spec) for spec in specs}


@verb
def runs(
    folder: Annotated[Path | None, "where they lie; runs/ by default", "FOLDER"] = None,
    /,
) -> Output:
    """The runs on disk: what each was made with, and how far it is."""
    import workbench as wb

    frame = wb.runs(folder)
    return Output(frame, [table_of(frame.dropna(axis="columns", how="all"))])


@verb
def compare(
    first: Annotated[Path, "folder of a run", "RUN"],
    second: Annotated[Path, "folder of the run that is held against it", "RUN"],
    /,
    measure: Annotated[list[str] | None, "only this measure; give it again for more"] = None,
) -> Output:
    """Two runs beside each other: paired differences over the questions of both, and what was made otherwise."""
    import workbench as wb
    from workbench.views.run import notes, shown_rows

    comparison = wb.between(first, second, measure)
    frame, differing = comparison.frame, comparison.differing
    besides = "What differs besides:" if differing else "Nothing else differs."
    parts = [table_of(shown_rows(frame), lead=2), *map(escape, notes(frame)), besides, table_of(comparison.conditions)]
    return Output({"compare": frame, "differing": differing}, parts)


@verb
def diagnose(
    run: Annotated[Path, "folder of a run that has answers", "RUN"],
    /,
    questions: Annotated[Path | None, "those that it was asked; by default what it has kept"] = None,
    index: Annotated[Path | None, "its index, for the texts of gold passages"] = None,
    measure: Annotated[str, "right is who scores 1 in it"] = "accuracy",
) -> Output:
    """Why answers of a run are wrong: the likely cause of each, and where errors come from."""
    import workbench as wb

    opened = wb.Index.open(index) if index else None
    diagnosis = wb.diagnose(wb.Run(run), opening.questions(questions) if questions else None, opened, measure=measure)
    tables, none = diagnosis.tables(), f"No answer is wrong by {escape(measure)}."
    parts = [
        part for title, frame in tables.items() if len(frame) for part in (f"[bold]{escape(title)}[/]", table_of(frame))
    ]
    columns = ("question_id", "method", "cause", "hop", "explanation")
    wrong = table_of(diagnosis.cases, columns, lead=2) if diagnosis.cases else none
    whole = {"cases": diagnosis.cases, "tables": tables, "notes": diagnosis.notes}
    return Output(whole, [*parts, wrong, *map(escape, diagnosis.notes)])
