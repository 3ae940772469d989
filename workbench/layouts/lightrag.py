"""The context of LightRAG (lightrag-hku 1.5.7) as text: fenced blocks of JSON lines with entities, relationships and
document chunks, and a list of references.

A reference is a document: chunks of one title share its number, and one without a title has none. There are no sources;
those of a graph follow its chunks. JSON keeps every text on one line.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from workbench.errors import DataError
from workbench.records import ContextEntity, ContextGraph, ContextRelation, Unit
from workbench.text import titled

ENTITIES = "Knowledge Graph Data (Entity):\n\n```json"
RELATIONS = "Knowledge Graph Data (Relationship):\n\n```json"
CHUNKS = "Document Chunks (each entry refers to the Reference Document List):\n\n```json"
REFERENCES = "Reference Document List:\n\n```"
FENCE = "```"
KNOWN_BY = f"{FENCE}json"
BETWEEN = "\n\n"  # blocks

_KINDS = {"relations": ("relationship",), "entities": ("entity",), "chunks": ("chunk", "document")}
_REFERENCE = re.compile(r"\[([0-9]+)\] (.+)")


# -- writing ----------------------------------------------------------------------------------------------------------


def write(graph: ContextGraph) -> str:
    """The context as text: names, types and descriptions, titles and texts; ids, weights and passages are not written.
    Empty for an empty graph."""
    blocks = (
        _block(ENTITIES, map(entity_line, graph.entities)),
        _block(RELATIONS, (relation_line(row.source, row.target, row.description) for row in graph.relations)),
        chunks([(unit.title, unit.text) for unit in (*graph.chunks, *graph.sources)]),
    )
    return BETWEEN.join(block for block in blocks if block)


def entity_line(row: ContextEntity) -> str:
    return line(entity=row.name, **({"type": row.type} if row.type else {}), description=row.description)


def relation_line(source: str, target: str, description: str) -> str:
    return line(entity1=source, entity2=target, description=description)


def chunks(texts: Sequence[tuple[str, str]]) -> str:
    """The block of chunks and the list of references, from (title, text) pairs; empty if there are none."""
    if not texts:
        return ""
    texts = [(flat(title), text) for title, text in texts]
    numbers = _references(title for title, _ in texts)
    lines = (line(reference_id=str(numbers.get(title, "")), content=titled(title, text)) for title, text in texts)
    listed = [f"[{number}] {title}" for title, number in numbers.items()]
    return BETWEEN.join([_block(CHUNKS, lines), "\n".join([REFERENCES, *listed, FENCE])])


def line(**cells: str) -> str:
    """One line of JSON."""
    return json.dumps(cells, ensure_ascii=False)


def flat(text: str) -> str:
    return " ".join(text.split())


def _references(titles: Iterable[str]) -> dict[str, int]:
    """Title → number: the most frequent first, ties by first occurrence."""
    return {title: at for at, (title, _) in enumerate(Counter(filter(None, titles)).most_common(), 1)}


def _block(label: str, lines: Iterable[str]) -> str:
    rows = list(lines)
    return "\n".join([label, *rows, FENCE]) if rows else ""


# -- parsing ----------------------------------------------------------------------------------------------------------


def fits(text: str) -> bool:
    """Whether the text has a fenced block of JSON lines with a label of this layout."""
    return any(kind for kind, _ in _blocks(text))


def parse(text: str, *, published: bool = False) -> ContextGraph:
    """The tables of a context. Any may be missing; lines that are not JSON objects are dropped.

    Chunks are numbered in order, starting with `chunk_1`; a chunk that begins with the title of its reference has that
    title. `published` parses as the code of "The Reasoning Bottleneck in Graph-RAG" does: names in capitals, and chunks
    identified by reference, so that of several with one reference, or with none, only the last remains
    (`docs/traps.md`, 13). Raises DataError without a block of this layout, except with `published`.
    """
    blocks = list(_blocks(text))
    if not published and not any(kind for kind, _ in blocks):
        raise DataError(
            f"a context that begins with {text[:60]!r} has no block of the layout lightrag; a fence ```json should "
            "stand below a label such as 'Knowledge Graph Data (Entity):'"
        )
    rows: dict[str, list[dict]] = {kind: [] for kind in _KINDS}
    for kind, lines in blocks:
        if kind:
            rows[kind] += _objects(lines)
    graph = ContextGraph(
        tuple(
            ContextEntity(_cell(row, "entity"), _cell(row, "description"), type=_cell(row, "type"))
            for row in rows["entities"]
        ),
        tuple(
            ContextRelation(_cell(row, "entity1"), _cell(row, "entity2"), _cell(row, "description"))
            for row in rows["relations"]
        ),
        chunks=() if published else _numbered(rows["chunks"], _titles(text)),
        layout="lightrag",
    )
    if not published:
        return graph
    units = (Unit(_cell(row, "reference_id"), _cell(row, "content")) for row in rows["chunks"])
    return _as_published(graph, units)


def as_published(graph: ContextGraph) -> ContextGraph:
    """What `parse` with `published` reads of the context that `write` makes of these tables; the units keep their
    passages."""
    units = (*graph.chunks, *graph.sources)
    titles = [flat(unit.title) for unit in units]
    numbers = _references(titles)
    chunks = (
        replace(unit, id=str(numbers.get(title, "")), text=titled(title, unit.text), title="")
        for title, unit in zip(titles, units)
    )
    return _as_published(graph, chunks)


def _as_published(graph: ContextGraph, units: Iterable[Unit]) -> ContextGraph:
    by_reference = {unit.id: unit for unit in units}
    return ContextGraph(
        tuple(replace(row, name=row.name.upper()) for row in graph.entities),
        tuple(replace(row, source=row.source.upper(), target=row.target.upper()) for row in graph.relations),
        chunks=tuple(by_reference.values()),
        layout="lightrag",
    )


def _blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    """(kind, lines) of each fenced block of JSON; the kind follows from the label above it and is empty if unknown. An
    unclosed block reaches to the end."""
    label, inside, lines = "", None, []
    for line in text.split("\n"):
        bare = line.strip()
        if inside is None and bare.startswith(FENCE):
            inside, lines = bare.removeprefix(FENCE).lower(), []
        elif inside is None:
            label = bare or label
        elif bare == FENCE:
            if inside == "json":
                yield _kind(label), lines
            label, inside = "", None
        else:
            lines.append(line)
    if inside == "json":
        yield _kind(label), lines


def _kind(label: str) -> str:
    return next((kind for kind, words in _KINDS.items() if any(word in label.lower() for word in words)), "")


def _objects(lines: Sequence[str]) -> list[dict]:
    """The JSON objects of a block: one per line, or all in one list, as other versions write them."""
    whole = _loaded("\n".join(lines))
    objects = whole if isinstance(whole, list) else [_loaded(line) for line in lines]
    return [obj for obj in objects if isinstance(obj, dict)]


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _cell(row: dict, name: str) -> str:
    value = row.get(name, "")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _titles(text: str) -> dict[str, str]:
    """Number → title, from the last list of references."""
    _, _, listed = text.rpartition(REFERENCES)
    matches = (_REFERENCE.fullmatch(line.rstrip("\r")) for line in listed.split("\n"))
    return {match[1]: match[2] for match in matches if match}


def _numbered(rows: Sequence[dict], titles: dict[str, str]) -> tuple[Unit, ...]:
    units = []
    for at, row in enumerate(rows, 1):
        content, title = _cell(row, "content"), titles.get(_cell(row, "reference_id"), "")
        titled = title and content.startswith(f"{title}\n")
        text = content.removeprefix(f"{title}\n") if titled else content
        units.append(Unit(f"chunk_{at}", text, title if titled else ""))
    return tuple(units)
