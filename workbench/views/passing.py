"""The views of passing messages: what lit up at each layer, as columns from the question's entities outward; documents
with what each entity gave them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from workbench.display import html
from workbench.index.relations import INVERSE
from workbench.methods.gfm_rag.passing import Passing
from workbench.operators.types import Types
from workbench.records import Path, Scored
from workbench.text import clean, counted, short
from workbench.views import records
from workbench.views.base import NAME, details, esc, page, table
from workbench.views.drawing import (
    Drawing,
    DrawnEdge,
    DrawnNode,
    EdgeStyle,
    NodeStyle,
    in_type,
    type_styles,
    types_shown,
)
from workbench.views.palette import BLUE, GREEN, GREY, ORANGE, SKY, VERMILION
from workbench.views.stepped import Stage, stages_part

START = NodeStyle("entity of the question", BLUE, "triangle")
LIT = NodeStyle("changed in this layer", SKY)
DARK = NodeStyle("not yet reached", GREY, "hexagon")
DOCUMENT = NodeStyle("document", ORANGE, "square")
GOLD = NodeStyle("gold document", VERMILION, "star")
NOW = EdgeStyle("strongest message of this layer", BLUE, "━▸", 2.5, opacity=0.9)
BEFORE = EdgeStyle("of an earlier layer", GREY, "─▸", 1.0, (4, 5), opacity=0.4)
GIVES = EdgeStyle("gives to the document", GREEN, "━━", 2.0, opacity=0.8)

COLUMN, DOCUMENTS, SHARES = 12, 8, 5  # entities of a column; documents; entities that a document lists
_APART, _BELOW = 165, 56  # pixels between columns and rows
LAST = "documents"


html.register(Passing, lambda shown: page(heading(shown), layers_part(shown), documents_part(shown)))


def stages(shown: Passing) -> list[str]:
    """The steps of the picture: the starts, the layers, the documents."""
    return [
        *(f"layer {one.layer}" if one.layer else "start" for one in shown.layers),
        *([LAST] if shown.layers else ()),
    ]


def stepped(shown: Passing) -> str:
    """The layers, each with the picture of the entities that it lit up, as a part of a page."""
    return stages_part([Stage(name, passing_drawing(shown, at)) for at, name in enumerate(stages(shown))])


def heading(shown: Passing) -> str:
    links = ", ".join(
        f"{clean(name, 60)} → {clean(shown.called(phrase), 60)} ({cosine:.2f})"
        for name, phrase, cosine in shown.linked.linked
    )
    return f"{records.heading(shown)}<p class='q'>{esc(links or 'no entity is linked', 600)}</p>"


def layers_part(shown: Passing) -> str:
    """A table of each layer: the strongest entities, and through which message each lit up."""
    parts = []
    for layer in shown.layers:
        by = {end: (source, relation) for source, relation, end, _ in layer.messages}
        rows = [
            (shown.called(name), norm, _message(shown, *by[name]) if name in by else "–")
            for name, norm in layer.entities[:COLUMN]
        ]
        where = f"layer {layer.layer}" if layer.layer else "start"
        title = f"{where}: {counted(layer.reached, 'entity', 'entities')} changed"
        parts.append(details(title, table(["entity", "change", "strongest message"], rows, NAME)))
    return "".join(parts)


def documents_part(shown: Passing) -> str:
    """The ranking, with the share that each entity has in a document's score."""
    rows = []
    for place, (name, score) in enumerate(shown.ranking[:COLUMN], 1):
        given = ", ".join(f"{clean(shown.called(one), 60)} {share:.0%}" for one, share in shown.given(name)[:SHARES])
        gold = "gold" if name in shown.gold else ""
        rows.append((place, clean(name, 80), gold, score, given or "no ranked entity: by the cosine"))
    if not rows:
        return "<p class='q'>no document is ranked</p>"
    ties = shown.documents.ties if shown.documents else 0
    rule = f"<p class='q'>{esc(f'{ties:,} scores are equal; then: {shown.documents.tie_rule}')}</p>" if ties else ""
    return table(["", "document", "", "score", "given by"], rows) + rule


def paths_part(shown: Passing, entity: str, paths: Iterable[Scored[Path]]) -> str:
    """The paths that carried most to an entity."""
    entity = short(clean(shown.called(entity)), 80)
    rows = [(weight, _path(shown, path), ", ".join(path.passages)) for path, weight in paths]
    if not rows:
        return f"<p class='q'>no path of a start leads to {esc(entity, 80)}</p>"
    return f"<p><b>paths to {esc(entity, 80)}</b></p>" + table(["mean gradient", "path", "stated in"], rows)


def passing_drawing(shown: Passing, stage: int, types: Types | None = None) -> Drawing:
    """The picture of a stage; columns and places are the same in all of them. A click reports the position of an entity
    in `places(shown)`, or a number behind them for a document. `types` are those of the index."""
    named, columns = places(shown), _columns(shown)
    at = {name: number for number, name in enumerate(named)}
    last = stage >= len(shown.layers)
    now = shown.layers[-1 if last else stage] if shown.layers else None
    norms = dict(now.entities) if now else {}
    most = max(norms.values(), default=1.0) or 1.0
    starts, first = {name for name, _ in shown.linked.starts}, shown.first_lit()
    nodes, known = [], types or Types()
    styles = type_styles(known.order)
    for name in named:
        x, y = columns[name]
        lit = last or first[name] <= stage
        style = START if name in starts else LIT if lit else DARK
        size = 8 + 16 * norms.get(name, 0.0) / most if lit else 6
        told = f"\nchange {norms[name]:.4g}" if name in norms else ""
        kind, called = known.type_of(name), shown.called(name)
        tooltip = f"{clean(called, 300)}\n{style.name}{f', {clean(kind, 80)}' if kind else ''}{told}"
        coloured = style if style is DARK else in_type(style, kind, styles)
        nodes.append(
            DrawnNode(at[name], name, coloured, x, y, short(called, 26), tooltip, size=size,
                      font=17, type=kind)
        )  # fmt: skip
    edges = list(_messages(shown, stage, at))
    documents = [name for name, _ in shown.ranking[:DOCUMENTS]] if last else []
    right = max((x for x, _ in columns.values()), default=0) + _APART
    for place, name in enumerate(documents):
        style = GOLD if name in shown.gold else DOCUMENT
        y = (place - (len(documents) - 1) / 2) * _BELOW * 1.2
        tooltip = f"{clean(name, 300)}\n{style.name}, rank {place + 1}"
        nodes.append(DrawnNode(len(nodes), name, style, right, y, short(name, 26), tooltip, size=14, font=17))
        for entity, share in shown.given(name):
            if entity in at:
                told = f"{clean(shown.called(entity), 80)} gives {share:.0%}"
                edges.append(DrawnEdge(at[entity], len(nodes) - 1, GIVES, told, width=0.5 + 6 * share))
    roles = (*(in_type(style, "", styles) for style in (START, LIT)), DARK, DOCUMENT, GOLD)
    title = f"{stages(shown)[min(stage, len(shown.layers))] if shown.layers else 'nothing passed'}: {shown.question}"
    hidden = now.reached - len(norms) if now else 0
    return Drawing(title, tuple(nodes), tuple(edges), roles, (NOW, BEFORE, GIVES), left_out=hidden, inches=(10.4, 6.4),
                   empty="no message passed: the ranking is the dense one",
                   types=types_shown(nodes, styles, "dot"))  # fmt: skip


def places(shown: Passing) -> list[str]:
    """The entities of the picture, in the order of their numbers."""
    return list(_columns(shown))


def _columns(shown: Passing) -> dict[str, tuple[float, float]]:
    """Entity → its place: a column for the layer at which it first is among the strongest."""
    first = shown.first_lit()
    best = {name for name, _ in shown.entities.entities} if shown.entities else set()
    by_layer: dict[int, list[str]] = defaultdict(list)
    for layer in shown.layers:
        names = [name for name, _ in layer.entities if first[name] == layer.layer]
        names.sort(key=lambda name: name not in best)  # stable: what ranks in the end comes before what only lit up
        by_layer[layer.layer] = names[:COLUMN]
    found = {}
    for layer, names in by_layer.items():
        for place, name in enumerate(names):
            offset = 0.5 * (place % 2)  # labels of neighbours do not overlap
            found[name] = ((layer + 0.5 * offset) * _APART, (place - (len(names) - 1) / 2) * _BELOW)
    return found


def _messages(shown: Passing, stage: int, at: dict[str, int]) -> Iterable[DrawnEdge]:
    drawn = set()
    for layer in reversed(shown.layers[: stage + 1]):
        for source, relation, end, norm in layer.messages:
            if source in at and end in at and (source, end) not in drawn:
                drawn.add((source, end))
                style = NOW if layer.layer == stage else BEFORE
                message = f"{_message(shown, source, relation)} → {clean(shown.called(end), 80)}"
                told = f"{message}\nlayer {layer.layer}, change {norm:.4g}"
                label = short(_relation(relation), 24) if style is NOW and source != end else ""
                yield DrawnEdge(at[source], at[end], style, told, label, "to", curve=0.08)


def _message(shown: Passing, source: str, relation: str) -> str:
    return f"{clean(shown.called(source), 80)} {_relation(relation)}"


def _relation(name: str) -> str:
    """An inverse relation reads from its target: ← in front."""
    return f"← {clean(name.removeprefix(INVERSE), 60)}" if name.startswith(INVERSE) else f"→ {clean(name, 60)}"


def _path(shown: Passing, path: Path) -> str:
    first, *nodes = (clean(shown.called(node), 60) for node in path.nodes)
    return first + "".join(f" {_relation(relation)} {node}" for relation, node in zip(path.relations, nodes))
