"""Verbs about what is on disk: runs, papers' tables beside them, bundles, exports, damage."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from workbench.cli import opening
from workbench.cli.shell import Output, code_of, listed, rows_of, table_of, verb, warning_lines
from workbench.errors import SettingError


@verb
def runs(
    folder: Annotated[Path | None, typer.Argument(help="where they lie; runs/ by default", metavar="FOLDER")] = None,
) -> Output:
    """The runs on disk: what each was made with, and how far it is."""
    import workbench as wb

    frame = wb.runs(folder)
    return Output(rows_of(frame), [table_of(rows_of(frame.dropna(axis="columns", how="all")))])


@verb
def compare(
    first: Annotated[Path, typer.Argument(help="folder of a run", metavar="RUN")],
    second: Annotated[Path, typer.Argument(help="folder of the run that is held against it", metavar="RUN")],
    measure: Annotated[list[str] | None, typer.Option(help="only this measure; give it again for more")] = None,
) -> Output:
    """Two runs beside each other: paired differences over the questions of both, and what was made otherwise."""
    import workbench as wb
    from workbench.views.run import notes, shown_rows

    comparison = wb.between(first, second, measure)
    rows, differing = rows_of(comparison.frame), {name: list(pair) for name, pair in comparison.differing.items()}
    besides = "What differs besides:" if differing else "Nothing else differs."
    parts = [table_of(shown_rows(comparison.frame), lead=2), *map(escape, notes(comparison.frame)), besides]
    return Output({"compare": rows, "differing": differing}, [*parts, table_of(comparison.conditions)])


@verb
def diagnose(
    run: Annotated[Path, typer.Argument(help="folder of a run that has answers", metavar="RUN")],
    questions: Annotated[
        Path | None, typer.Option("--questions", "-q", help="those that it was asked; by default what it has kept")
    ] = None,
    folder: Annotated[Path | None, typer.Option("--index", help="its index, for the texts of gold passages")] = None,
    measure: Annotated[str, typer.Option(help="right is who scores 1 in it")] = "accuracy",
) -> Output:
    """Why answers of a run are wrong: the likely cause of each, and where errors come from."""
    import workbench as wb

    index = wb.Index.open(folder) if folder else None
    diagnosis = wb.diagnose(wb.Run(run), opening.questions(questions) if questions else None, index, measure=measure)
    cases, tables = [asdict(case) for case in diagnosis.cases], diagnosis.tables()
    full = {title: frame for title, frame in tables.items() if len(frame)}
    parts = [part for title, frame in full.items() for part in (f"[bold]{escape(title)}[/]", table_of(rows_of(frame)))]
    none = f"No answer is wrong by {escape(measure)}."
    wrong = table_of(cases, ("question_id", "method", "cause", "hop", "explanation"), lead=2) if cases else none
    frames = {title: frame.to_dict("records") for title, frame in tables.items()}
    return Output(
        {"cases": cases, "tables": frames, "notes": list(diagnosis.notes)},
        [*parts, wrong, *map(escape, diagnosis.notes)],
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
) -> Output:
    """Runs as pages to hand on, which need no kernel and no network: tables, and every question with its traces."""
    import workbench as wb
    from workbench.views.bundle.contents import Contents

    made = wb.bundle(*run, out=to, index=wb.Index.open(folder) if folder else None, title=title)
    runs = Contents.of(run).runs
    warnings = [warning for run in runs for warning in run.warnings]
    page = made if made.is_file() else made / "index.html"
    size = sum(path.stat().st_size for path in (page, *made.rglob("data/*")))
    send = "it" if page == made else "the folder"
    message = f"{escape(str(page))}, {size / 1e6:.1f} MB: open it in a browser, or send {send} along"
    whole = {"bundle": str(made), "page": str(page), "bytes": size, "warnings": warnings}
    return Output(whole, [*warning_lines(warnings), message], code=code_of(runs))


@verb
def export(
    folder: Annotated[Path, typer.Argument(help="folder of an index, or of a run", metavar="INDEX|RUN")],
    to: Annotated[
        Path | None, typer.Option("--to", help="of an index: FILE.graphml, or a folder for CSV files")
    ] = None,
    chroma: Annotated[
        str | None, typer.Option("--chroma", help="of an index: host:port of `chroma run`, or here, for INDEX/chroma")
    ] = None,
    kinds: Annotated[str, typer.Option("--kinds", help="with --chroma: of passages,phrases,facts")] = "passages",
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
) -> Output:
    """Write the graph or vectors of an index, or the rankings or traces of a run, for other programs.

    Rankings can be read back with `evaluate --ranking`, and vectors serve `dense[store=chroma]`.
    """
    import workbench as wb
    from workbench import exchange

    if (to is None and chroma is None) == (trec is None and openinference is None):
        raise SettingError("name what to write: --to or --chroma of an index, or --trec or --openinference of a run")
    if (index or seconds or begin) and not openinference:
        raise SettingError("--index, --seconds and --begin belong to --openinference FILE.jsonl")
    rows = _in_chroma(wb.Index.open(folder), chroma, kinds.split(",")) if chroma else []
    written = exchange.write(wb.Index.open(folder), to) if to else []
    if trec:
        written += exchange.to_trec(wb.Run(folder), trec)
    if openinference:
        given: dict[str, Any] = {"passages": wb.Index.open(index).passages.passages} if index else {}
        given |= {"begin": begin.replace(tzinfo=UTC)} if begin else {}
        written.append(exchange.to_openinference(wb.Run(folder), openinference, seconds=seconds, **given))
    return listed([*({"file": str(path), "bytes": path.stat().st_size} for path in written), *rows])


def _in_chroma(index, place: str, kinds: list[str]) -> list[dict]:
    """The collections that Chroma holds of an index, filled or brought up to date."""
    from workbench.index import chroma

    client = chroma.derive(index, kinds, server="" if place == "here" else place, progress=True)
    held = {kind: client.get_collection(chroma.collection_name(index, kind)) for kind in kinds}
    return [
        {"kind": kind, "collection": collection.name, "vectors": collection.count()}
        for kind, collection in held.items()
    ]


@verb
def check(
    place: Annotated[Path, typer.Argument(help="an index, a run, a grid, a recording or a bundle", metavar="PLACE")],
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
        hubs = [hub._asdict() for hub in graph.hubs]
        whole |= {"graph": {**graph.measured, "warnings": list(graph.warnings), "hubs": hubs}}
        parts = [checkup, graph]
    return Output(whole, parts, code=0 if checkup.good else 1)
