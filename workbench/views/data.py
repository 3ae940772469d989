"""The views of data sets: their origin, and the list of named ones."""

from __future__ import annotations

from workbench.data.origin import Origin, SourceFile
from workbench.data.registry import Catalogue, Known
from workbench.data.sources.entry import Entry
from workbench.display import html, text
from workbench.text import clean, counted
from workbench.views.base import NAME, details, esc, number, page, table

_LINE = 300  # characters of a reason or a note on one line


@text.register
def _(origin: Origin) -> str:
    lines = [f"Origin: {clean(origin.source, NAME)}"]
    if origin.settings:
        lines.append(f"  settings: {clean(_settings(origin), NAME)}")
    if origin.files:
        checks = sorted({file.checked for file in origin.files if file.checked})
        lines.append(f"  {counted(len(origin.files), 'file')}{''.join(f'; {clean(check, NAME)}' for check in checks)}")
    lines += [f"  {clean(note, _LINE)}" for note in origin.notes]
    return "\n".join([*lines, *skipped_lines(origin)])


@html.register
def _(origin: Origin) -> str:
    files = [(clean(file.name, NAME), file.sha256[:16], clean(file.checked, NAME)) for file in origin.files]
    return page(
        f"<p>{esc(origin.source)}</p>",
        f"<p class='q'>{esc(_settings(origin))}</p>" if origin.settings else "",
        "".join(f"<p class='q'>{esc(note)}</p>" for note in origin.notes),
        details(counted(len(files), "file"), table(["file", "SHA-256", "compared with"], files)) if files else "",
        skipped_table(origin),
    )


def skipped_lines(origin: Origin) -> list[str]:
    """Every skipped document with the reason, because a missing one may contain the answer."""
    if not origin.skipped:
        return []
    return [
        f"  {_skipped(origin)}",
        *(f"    {clean(name, NAME)}: {clean(why, _LINE)}" for name, why in origin.skipped),
    ]


def skipped_table(origin: Origin) -> str:
    """The same as HTML, unfolded."""
    rows = [(clean(name, NAME), clean(why)) for name, why in origin.skipped]
    return details(f"<b>{_skipped(origin)}</b>", table(["file", "why"], rows), open=True) if rows else ""


def _skipped(origin: Origin) -> str:
    return f"{counted(len(origin.skipped), 'file')} skipped, {len(origin.files):,} read:"


@text.register
def _(file: SourceFile) -> str:
    return f"{clean(file.name, NAME)}: SHA-256 {file.sha256}" + (
        f", {clean(file.checked, NAME)}" if file.checked else ""
    )


@text.register
def _(catalogue: Catalogue) -> str:
    return "\n".join(map(text, catalogue.datasets))


@html.register
def _(catalogue: Catalogue) -> str:
    rows = [
        (
            clean(known.id, NAME), ", ".join(known.aliases), clean(known.of, NAME), known.passages, known.questions,
            known.triples, clean(known.licence, NAME), clean(known.source, NAME), clean(known.here, NAME),
        )
        for known in catalogue.datasets
    ]  # fmt: skip
    headers = ["id", "short", "what it is", "passages", "questions", "triples", "licence", "source", "on this machine"]
    return page(table(headers, rows))


@text.register
def _(known: Known) -> str:
    counts = ", ".join(
        f"{number(count)} {what}"
        for what, count in (("passages", known.passages), ("questions", known.questions), ("triples", known.triples))
        if count
    )
    short = f" ({', '.join(known.aliases)})" if known.aliases else ""
    return f"{clean(known.id, NAME)}{short}: {counts or 'counts not published'}; {clean(known.licence, NAME)}; " + (
        f"in {clean(known.here, NAME)}" if known.here else "not on this machine"
    )


@text.register
def _(entry: Entry) -> str:
    return f"{clean(entry.id, NAME)}: {clean(entry.of, NAME)}; {clean(entry.licence, NAME)}; {clean(entry.page, NAME)}"


def _settings(origin: Origin) -> str:
    return ", ".join(f"{name}={value}" for name, value in origin.settings.items())
