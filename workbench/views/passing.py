"""The views of passing messages: what lit up at each layer, as columns from the question's entities outward; documents
with what each entity gave them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.index.relations import INVERSE
from workbench.methods.gfm_rag.passing import PassedLayer, Passing
from workbench.operators.types import Types
from workbench.records import Path, Scored
from workbench.text import clean, counted, short
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
from workbench.views.parts import NAME, Part, group, line, quiet, strong, table, view
from workbench.views.records import trace_heading
from workbench.views.stepped import Stage, columns, stages_part

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


view.register(Passing, lambda shown: group(heading(shown), stages_part(stages(shown, drawn=False))))


def stages(shown: Passing, types: Types | None = None, *, drawn: bool = True) -> list[Stage]:
    """The starts, the layers, the documents, each with the picture of the entities that it lit up. `types` are those of
    the index."""
    parts = [*(layer_part(shown, layer) for layer in shown.layers), documents_part(shown)]
    drawn = drawn and bool(shown.layers)
    return [
        Stage(name, passing_drawing(shown, at, types) if drawn else None, part)
        for at, (name, part) in enumerate(zip(_names(shown), parts))
    ]


def _names(shown: Passing) -> list[str]:
    return [*(f"layer {one.layer}" if one.layer else "start" for one in shown.layers), LAST]


def heading(shown: Passing) -> Part | None:
    links = ", ".join(
        f"{clean(name, 60)} → {clean(shown.called(phrase), 60)} ({cosine:.2f})"
        for name, phrase, cosine in shown.linked.linked
    )
    return group(trace_heading(shown), quiet(links or "no entity is linked", limit=600))


def layer_part(shown: Passing, layer: PassedLayer) -> Part | None:
    """The strongest entities of a layer, and through which message each lit up."""
    by = {end: (source, relation) for source, relation, end, _ in layer.messages}
    rows = [
        (shown.called(name), norm, _message(shown, *by[name]) if name in by else "–")
        for name, norm in layer.entities[:COLUMN]
    ]
    changed = quiet(f"{counted(layer.reached, 'entity', 'entities')} changed")
    return group(changed, table(["entity", "change", "strongest message"], rows, NAME))


def documents_part(shown: Passing) -> Part | None:
    """The ranking, with the share that each entity has in a document's score."""
    rows = []
    for place, (name, score) in enumerate(shown.ranking[:COLUMN], 1):
        given = ", ".join(f"{clean(shown.called(one), 60)} {share:.0%}" for one, share in shown.given(name)[:SHARES])
        gold = "gold" if name in shown.gold else ""
        rows.append((place, clean(name, 80), gold, score, given or "no ranked entity: by the cosine"))
    if not rows:
        return quiet("no document is ranked")
    ties = shown.documents.ties if shown.documents else 0
    rule = quiet(f"{ties:,} scores are equal; then: {shown.documents.tie_rule}" if ties else "")
    return group(table(["", "document", "", "score", "given by"], rows), rule)


def paths_part(shown: Passing, entity: str, paths: Iterable[Scored[Path]]) -> Part | None:
    """The paths that carried most to an entity."""
    entity = short(clean(shown.called(entity)), 80)
    rows = [(weight, _path(shown, path), ", ".join(path.passages)) for path, weight in paths]
    if not rows:
        return quiet(f"no path of a start leads to {entity}")
    return group(line(strong(f"paths to {entity}")), table(["mean gradient", "path", "stated in"], rows))


def passing_drawing(shown: Passing, stage: int, types: Types | None = None) -> Drawing:
    """The picture of a stage; columns and places are the same in all of them."""
    places, first, last = _places(shown), shown.first_lit(), stage >= len(shown.layers)
    now = shown.layers[-1 if last else stage]
    norms, starts, known = dict(now.entities), {name for name, _ in shown.linked.starts}, types or Types()
    most = max(norms.values(), default=1.0) or 1.0
    styles = type_styles(known.order)
    nodes = []
    for name, (x, y) in places.items():
        lit = last or first[name] <= stage
        style = START if name in starts else LIT if lit else DARK
        size = 8 + 16 * norms.get(name, 0.0) / most if lit else 6
        told = f"\nchange {norms[name]:.4g}" if name in norms else ""
        kind, called = known.type_of(name), shown.called(name)
        tooltip = f"{clean(called, 300)}\n{style.name}{f', {clean(kind, 80)}' if kind else ''}{told}"
        coloured = style if style is DARK else in_type(style, kind, styles)
        label = short(called, 26)
        nodes.append(DrawnNode(len(nodes), name, coloured, x, y, label, tooltip, size=size, font=17, type=kind))
    at = {name: number for number, name in enumerate(places)}
    edges = list(_messages(shown, stage, at))
    right = max((x for x, _ in places.values()), default=0) + _APART
    documents = columns([[name for name, _ in shown.ranking[:DOCUMENTS]]] if last else [], DOCUMENTS)
    for rank, (name, (_, row)) in enumerate(documents.items(), 1):
        style = GOLD if name in shown.gold else DOCUMENT
        y, label, tooltip = 1.2 * _BELOW * row, short(name, 26), f"{clean(name, 300)}\n{style.name}, rank {rank}"
        nodes.append(DrawnNode(len(nodes), name, style, right, y, label, tooltip, size=14, font=17))
        for entity, share in shown.given(name):
            if entity in at:
                told = f"{clean(shown.called(entity), 80)} gives {share:.0%}"
                edges.append(DrawnEdge(at[entity], len(nodes) - 1, GIVES, told, width=0.5 + 6 * share))
    roles = (*(in_type(style, "", styles) for style in (START, LIT)), DARK, DOCUMENT, GOLD)
    title = f"{_names(shown)[stage]}: {shown.question}"
    return Drawing(
        title, tuple(nodes), tuple(edges), roles, (NOW, BEFORE, GIVES),
        left_out=max(0, now.reached - len(norms)), inches=(10.4, 6.4), types=types_shown(nodes, styles, "dot"),
    )  # fmt: skip


def _places(shown: Passing) -> dict[str, tuple[float, float]]:
    """Entity → its place: a column for the layer at which it first is among the strongest."""
    first = shown.first_lit()
    best = {name for name, _ in shown.entities.entities} if shown.entities else set()
    layers = []
    for layer in shown.layers:
        names = [name for name, _ in layer.entities if first[name] == layer.layer]
        names.sort(key=lambda name: name not in best)  # stable: what ranks in the end comes before what only lit up
        layers.append(names[:COLUMN])
    return {name: (_APART * x, _BELOW * y) for name, (x, y) in columns(layers, COLUMN).items()}


def _messages(shown: Passing, stage: int, at: Mapping[str, int]) -> Iterable[DrawnEdge]:
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
