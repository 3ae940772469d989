"""The group Share: bundles and exports."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from rich.markup import escape

from workbench.cli.shell import Output, code_of, listed, verb, warning_lines
from workbench.errors import SettingError


@verb
def bundle(
    run: Annotated[list[Path], "folders of runs or grids, shown side by side", "RUN…"],
    /,
    out: Annotated[Path | None, "a folder, or FILE.html for one file; bundles/RUN by default"] = None,
    index: Annotated[Path | None, "their index, for titles and texts of the ranked passages"] = None,
    title: Annotated[str | None, "the name on the page; by default that of the runs"] = None,
) -> Output:
    """Runs as pages to hand on, which need no kernel and no network: tables, and every question with its traces."""
    import workbench as wb
    from workbench.views.bundle.contents import Contents

    made = wb.bundle(*run, out=out, index=wb.Index.open(index) if index else None, title=title)
    runs = Contents.of(run).runs
    warnings = [warning for run in runs for warning in run.warnings]
    page = made if made.is_file() else made / "index.html"
    size = sum(path.stat().st_size for path in (page, *made.rglob("data/*")))
    send = "it" if page == made else "the folder"
    message = f"{escape(str(page))}, {size / 1e6:.1f} MB: open it in a browser, or send {send} along"
    whole = {"bundle": made, "page": page, "bytes": size, "warnings": warnings}
    return Output(whole, [*warning_lines(warnings), message], code=code_of(runs))


@verb
def export(
    folder: Annotated[Path, "folder of an index, or of a run", "INDEX|RUN"],
    /,
    to: Annotated[Path | None, "of an index: FILE.graphml, or a folder for CSV files"] = None,
    chroma: Annotated[str | None, "of an index: host:port of `chroma run`, or here, for INDEX/chroma"] = None,
    kinds: Annotated[str, "with --chroma: of passages,phrases,facts"] = "passages",
    trec: Annotated[Path | None, "of a run: a folder for its rankings and gold as TREC files"] = None,
    openinference: Annotated[Path | None, "of a run: FILE.jsonl for its traces, as Phoenix reads them"] = None,
    index: Annotated[Path | None, "with --openinference: the run's index, for the texts of passages"] = None,
    seconds: Annotated[bool, "with --openinference: measured durations instead of the order alone"] = False,
    begin: Annotated[
        datetime | None, "with --openinference: when the first trace begins, UTC; by default 2000-01-01"
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
