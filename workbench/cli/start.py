"""The first verbs: `list`, `doctor`, and those that copy, open and run the notebooks."""

from __future__ import annotations

import os
import re
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from workbench.cli import opening
from workbench.cli.shell import KINDS, Output, err, listed, table_of, verb
from workbench.errors import SettingError

_EXECUTED, _CHECKED = Path("build/notebooks"), Path("build/regression")


@verb(name="list")
def list_kind(
    kind: Annotated[
        str, typer.Argument(help="methods, readers, compressors, measures or datasets", metavar="KIND")
    ] = "methods",
) -> Output:
    """What there is of a kind: what it needs, whose it is, what it asks a model. `workbench methods` does the same."""
    import workbench as wb
    from workbench.cli import catalogue

    if kind not in KINDS:
        raise SettingError(f"{kind!r} is unknown; choose {', '.join(KINDS)}")
    if kind != "datasets":
        return listed(catalogue.rows(kind))
    rows = [asdict(dataset) for dataset in wb.datasets().datasets]
    named = [row | {"short": ", ".join(row["aliases"])} for row in rows]
    return Output(rows, [table_of(named, ("id", "short", "passages", "questions", "licence", "here"))])


@verb
def doctor(
    ask: Annotated[bool, typer.Option("--ask", help="ask the endpoint of the environment one tiny question")] = False,
    model: Annotated[str | None, typer.Option(help="the model that --ask asks")] = None,
) -> Output:
    """What is installed, what is missing, and the command that mends it."""
    from workbench.cli.doctor import examine

    findings = examine(ask=ask, model=model)
    rows = [{"area": f.area, "": f.mark, "what": f.what, "found": f.found, "do": f.remedy} for f in findings]
    bad = sum(not finding.good for finding in findings)
    verdict = f"{bad} of {len(findings)} things are to be mended." if bad else "Nothing is to be mended."
    return Output(rows, [table_of(rows, lead=3), verdict], code=1 if bad else 0)


@verb
def notebooks(
    to: Annotated[Path, typer.Argument(help="the folder of the copies; lab/ by default", metavar="DIR")] = Path("lab"),
) -> Output:
    """Copy the notebooks that come with the workbench into a folder. A copy with edits of yours is kept."""
    from workbench.notebooks import working_copies

    copies = working_copies(to=to)
    rows = [{"notebook": copy, "state": state} for copy, state in copies.items()]
    return Output(rows, [table_of(rows)], _kept_notes(copies))


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
    for line in _kept_notes(copies):
        err.print(line, soft_wrap=True)
    open_lab(next(iter(copies)), arguments or ())


def _kept_notes(copies: dict[Path, str]) -> list[str]:
    """Remarks on copies that were not renewed because they have edits."""
    why = "has changes of yours and is kept, although its original is newer; rename it to have the new one beside it"
    return [f"{escape(str(copy))} {why}" for copy, state in copies.items() if state == "kept"]


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
) -> Output:
    """Execute the notebooks with papermill; figures and tables go into figures/.

    Data other than the bundled corpus are run by rules, unless --set engine=SPEC names another engine.
    With --check nothing there changes: the notebooks make an index and runs of their own.
    """
    from workbench import notebooks
    from workbench.errors import lacking_extra
    from workbench.places import home, is_checkout

    parameters = ({"data": data} if data else {}) | opening.pairs("--set", settings)
    if notebooks.by_rules(parameters):
        err.print("engine=rules, because the replies written by hand are about the bundled corpus; --set engine=SPEC "
                  "chooses another", soft_wrap=True)  # fmt: skip
    for name in notebooks.off(parameters):
        err.print(f"{name}=false, because {escape(lacking_extra(name))}", soft_wrap=True)
    if check or accept:
        comparison = notebooks.check(folder, executed or _CHECKED, parameters, only, baseline=baseline, accept=accept)
        return Output(comparison.plain(), [comparison], code=0 if comparison.holds else 1, wrapped=False)
    executed = executed or _EXECUTED
    done = notebooks.run_all(folder, executed, parameters, only)
    rows = [{"notebook": path, "page": page, "seconds": seconds} for path, page, seconds in done]
    pages = [f"  {escape(str(executed_notebook.page))}   the executed notebook as a page" for executed_notebook in done]
    figures = "  figures/   figures, tables and verdicts"
    lab = "make lab" if is_checkout() else "workbench lab"
    copies = f"  {lab}   working copies of the notebooks, in JupyterLab"
    whole = {"notebooks": rows, "figures": home() / parameters.get("figures", "figures")}
    return Output(whole, ["Look at:", *pages, figures, copies])
