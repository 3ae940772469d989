"""The views of message passing: the entities that light up at each layer, in columns from the question's entities
outward, and the documents with the share that each entity gives them."""

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


view.register(Passing, lambda passing: group(heading(passing), stages_part(stages(passing, drawn=False))))


def stages(passing: Passing, types: Types | None = None, *, drawn: bool = True) -> list[Stage]:
    """The starts, the layers, the documents, each with the picture of the entities that it lit up. `types` are those of
    the index."""
    parts = [*(layer_part(passing, layer) for layer in passing.layers), documents_part(passing)]
    drawn = drawn and bool(passing.layers)
    return [
        Stage(name, passing_drawing(passing, at, types) if drawn else None, part)
        for at, (name, part) in enumerate(zip(_names(passing), parts))
    ]


def _names(passing: Passing) -> list[str]:
    return [*(f"layer {layer.layer}" if layer.layer else "start" for layer in passing.layers), LAST]


def heading(passing: Passing) -> Part | None:
    links = ", ".join(
        f"{clean(name, 60)} → {clean(passing.called(phrase), 60)} ({cosine:.2f})"
        for name, phrase, cosine in passing.linked.linked
    )
    return group(trace_heading(passing), quiet(links or "no entity is linked", limit=600))


def layer_part(passing: Passing, layer: PassedLayer) -> Part | None:
    """The strongest entities of a layer, and through which message each lit up."""
    by = {end: (source, relation) for source, relation, end, _ in layer.messages}
    rows = [
        (passing.called(name), norm, _message(passing, *by[name]) if name in by else "–")
        for name, norm in layer.entities[:COLUMN]
    ]
    changed = quiet(f"{counted(layer.reached, 'entity', 'entities')} changed")
    return group(changed, table(["entity", "change", "strongest message"], rows, NAME))


def documents_part(passing: Passing) -> Part | None:
    """The ranking, with the share that each entity has in a document's score."""
    rows = []
    for place, (name, score) in enumerate(passing.ranking[:COLUMN], 1):
        given = ", ".join(
            f"{clean(passing.called(entity), 60)} {share:.0%}" for entity, share in passing.given(name)[:SHARES]
        )
        gold = "gold" if name in passing.gold else ""
        rows.append((place, clean(name, 80), gold, score, given or "no ranked entity: by the cosine"))
    if not rows:
        return quiet("no document is ranked")
    ties = passing.documents.ties if passing.documents else 0
    rule = quiet(f"{ties:,} scores are equal; then: {passing.documents.tie_rule}" if ties else "")
    return group(table(["", "document", "", "score", "given by"], rows), rule)


def paths_part(passing: Passing, entity: str, paths: Iterable[Scored[Path]]) -> Part | None:
    """The paths that carried most to an entity."""
    entity = short(clean(passing.called(entity)), 80)
    rows = [(weight, _path(passing, path), ", ".join(path.passages)) for path, weight in paths]
    if not rows:
        return quiet(f"no path of a start leads to {entity}")
    return group(line(strong(f"paths to {entity}")), table(["mean gradient", "path", "stated in"], rows))


def passing_drawing(passing: Passing, stage: int, types: Types | None = None) -> Drawing:
    """The picture of a stage; columns and places are the same in all of them."""
    places, first, last = _places(passing), passing.first_lit(), stage >= len(passing.layers)
    now = passing.layers[-1 if last else stage]
    norms, starts, indexed = dict(now.entities), {name for name, _ in passing.linked.starts}, types or Types()
    most = max(norms.values(), default=1.0) or 1.0
    styles = type_styles(indexed.order)
    nodes = []
    for name, (x, y) in places.items():
        lit = last or first[name] <= stage
        style = START if name in starts else LIT if lit else DARK
        size = 8 + 16 * norms.get(name, 0.0) / most if lit else 6
        change = f"\nchange {norms[name]:.4g}" if name in norms else ""
        kind, called = indexed.type_of(name), passing.called(name)
        tooltip = f"{clean(called, 300)}\n{style.name}{f', {clean(kind, 80)}' if kind else ''}{change}"
        coloured = style if style is DARK else in_type(style, kind, styles)
        label = short(called, 26)
        nodes.append(DrawnNode(len(nodes), name, coloured, x, y, label, tooltip, size=size, font=17, type=kind))
    at = {name: number for number, name in enumerate(places)}
    edges = list(_messages(passing, stage, at))
    right = max((x for x, _ in places.values()), default=0) + _APART
    documents = columns([[name for name, _ in passing.ranking[:DOCUMENTS]]] if last else [], DOCUMENTS)
    for rank, (name, (_, row)) in enumerate(documents.items(), 1):
        style = GOLD if name in passing.gold else DOCUMENT
        y, label, tooltip = 1.2 * _BELOW * row, short(name, 26), f"{clean(name, 300)}\n{style.name}, rank {rank}"
        nodes.append(DrawnNode(len(nodes), name, style, right, y, label, tooltip, size=14, font=17))
        for entity, share in passing.given(name):
            if entity in at:
                gift = f"{clean(passing.called(entity), 80)} gives {share:.0%}"
                edges.append(DrawnEdge(at[entity], len(nodes) - 1, GIVES, gift, width=0.5 + 6 * share))
    roles = (*(in_type(style, "", styles) for style in (START, LIT)), DARK, DOCUMENT, GOLD)
    title = f"{_names(passing)[stage]}: {passing.question}"
    return Drawing(
        title, tuple(nodes), tuple(edges), roles, (NOW, BEFORE, GIVES),
        left_out=max(0, now.reached - len(norms)), inches=(10.4, 6.4), types=types_shown(nodes, styles, "dot"),
    )  # fmt: skip


def _places(passing: Passing) -> dict[str, tuple[float, float]]:
    """Entity → its place: a column for the layer at which it first is among the strongest."""
    first = passing.first_lit()
    best = {name for name, _ in passing.entities.entities} if passing.entities else set()
    layers = []
    for layer in passing.layers:
        names = [name for name, _ in layer.entities if first[name] == layer.layer]
        names.sort(key=lambda name: name not in best)  # stable: entities of the final ranking come first
        layers.append(names[:COLUMN])
    return {name: (_APART * x, _BELOW * y) for name, (x, y) in columns(layers, COLUMN).items()}


def _messages(passing: Passing, stage: int, at: Mapping[str, int]) -> Iterable[DrawnEdge]:
    drawn = set()
    for layer in reversed(passing.layers[: stage + 1]):
        for source, relation, end, norm in layer.messages:
            if source in at and end in at and (source, end) not in drawn:
                drawn.add((source, end))
                style = NOW if layer.layer == stage else BEFORE
                message = f"{_message(passing, source, relation)} → {clean(passing.called(end), 80)}"
                tooltip = f"{message}\nlayer {layer.layer}, change {norm:.4g}"
                label = short(_relation(relation), 24) if style is NOW and source != end else ""
                yield DrawnEdge(at[source], at[end], style, tooltip, label, "to", curve=0.08)


def _message(passing: Passing, source: str, relation: str) -> str:
    return f"{clean(passing.called(source), 80)} {_relation(relation)}"


def _relation(name: str) -> str:
    """An inverse relation reads from its target: ← in front."""
    return f"← {clean(name.removeprefix(INVERSE), 60)}" if name.startswith(INVERSE) else f"→ {clean(name, 60)}"


def _path(passing: Passing, path: Path) -> str:
    first, *nodes = (clean(passing.called(node), 60) for node in path.nodes)
    return first + "".join(f" {_relation(relation)} {node}" for relation, node in zip(path.relations, nodes))
