"""The views of data sets, of an index and of its graph."""

from __future__ import annotations

from workbench.data import Dataset
from workbench.index import Graph, Index
from workbench.views.base import NAME, clean, details, esc, html, number, page, table, text
from workbench.views.data import skipped_table

SHOWN = 5  # passages and questions of a data set that a notebook lists
_LINE = 120  # characters of a text in a table


@text.register
def _(data: Dataset) -> str:
    counts = ", ".join(f"{number(count)} {what}" for what, count in _counts(data).items())
    where = f"; from {clean(data.folder, NAME)}" if data.folder else ""
    origin = f"\n{text(data.origin)}" if data.origin else ""
    return f"Dataset {clean(data.name, NAME)!r}: {counts}{where}{_left_out(data.left_out)}{origin}"


@html.register
def _(data: Dataset) -> str:
    passages = [(clean(p.id, 80), clean(p.title, 80), clean(p.text, _LINE)) for p in data.passages[:SHOWN]]
    questions = [
        (clean(q.id, 80), clean(q.question, _LINE), clean(" · ".join(q.answers), _LINE)) for q in data.questions[:SHOWN]
    ]
    return page(
        f"<p><b>{esc(data.name, NAME)}</b> <span class='tag'>{data.fingerprint}</span></p>",
        f"<p class='q'>{esc(data.folder, NAME)}</p>" if data.folder else "",
        table(["", ""], _counts(data).items()),
        _left_out_table(data.left_out),
        skipped_table(data.origin) if data.origin else "",
        details("where it comes from", html(data.origin)) if data.origin else "",
        details("first passages", table(["id", "title", "text"], passages)) if passages else "",
        details("first questions", table(["id", "question", "answers"], questions)) if questions else "",
    )


@text.register
def _(index: Index) -> str:
    listed = ("passages", "facts", "phrases")
    counts = ", ".join(f"{number(value)} {name}" for name, value in index.counts().items() if name in listed)
    where = f"{clean(index.name, NAME)!r} in {clean(index.folder, NAME)}"
    layers = ", ".join(index.manifest["layers"])
    return f"Index {where}: {counts}; layers {layers}{_left_out(index.left_out)}"


@html.register
def _(index: Index) -> str:
    layers = [
        (kind, layer["key"], _named(layer["settings"]), ", ".join(layer.get("made_by", ())))
        for kind, layer in index.manifest["layers"].items()
    ]
    return page(
        f"<p><b>{esc(index.name, NAME)}</b> <span class='q'>{esc(index.folder, NAME)}</span></p>",
        table(["", ""], index.counts().items()),
        _left_out_table(index.left_out),
        f"<p class='q'>encoded by {esc(index.manifest['encoder']['name'], NAME)}</p>",
        details("layers", table(["layer", "key", "settings", "made by"], layers)),
        details("versions", table(["", ""], index.manifest["versions"].items())),
    )


@html.register
def _(graph: Graph) -> str:
    return page(table(["", ""], graph.counts().items()))


def _counts(data: Dataset) -> dict[str, int]:
    counts = {"passages": len(data.passages), "questions": len(data.questions)}
    if data.extractions is not None:
        counts["extractions"] = len(data.extractions)
    if data.triples:
        counts["triples"] = len(data.triples)
    if data.profiles is not None:
        counts["profiles"] = len(data.profiles.entities) + len(data.profiles.relations)
    return counts


def _left_out(notes: tuple[str, ...]) -> str:
    return "".join(f"\n  left out: {clean(note, NAME)}" for note in notes)


def _left_out_table(notes: tuple[str, ...]) -> str:
    return table(["left out"], [(clean(note, NAME),) for note in notes]) if notes else ""


def _named(settings: dict) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())
