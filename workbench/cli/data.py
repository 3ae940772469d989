"""Verbs that write data: worlds, questions, data without names."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from workbench.cli import opening
from workbench.cli import options as opt
from workbench.cli.shell import Output, table_of, verb
from workbench.errors import SettingError
from workbench.text import counted


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
