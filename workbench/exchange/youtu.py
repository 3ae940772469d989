"""Youtu-GraphRAG: the graph file of a construction, with its file of chunks.

Supported: the repository of autumn 2025 (`output/graphs/<name>_new.json`: a list of `start_node`, `relation`,
`end_node`; a node has a `label` and `properties` with `name`, `chunk id`, `schema_type`; chunks in
`output/chunks/<name>.txt`, `id: <id>`, tab, `Chunk: <text>`). `chunks` names that file if it is elsewhere.

Edges between entities are facts. An edge names no chunk; only its ends do, each the first chunk in which it occurred. A
fact counts for the chunk of both ends; if there are two, for those that contain both names, and for both if none does.
The values of `has_attribute` become an entity's description, chunk by chunk, because Youtu-GraphRAG writes no other.
Keywords and communities are derived from the graph and omitted. A chunk of an earlier run, which the graph does not
name and whose text has another id there, is omitted too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from workbench.data.folder import Dataset
from workbench.data.lines import read_json, read_text
from workbench.errors import DataError
from workbench.exchange.files import Gathering, checked, field, listed, literal, only, peek, word

LOOKED_FOR = "a graph of Youtu-GraphRAG (output/graphs/<name>_new.json)"
_CHUNK = re.compile(r"id: ([^\t]+?) ?\tChunk: (.*)", re.DOTALL)
_DOCUMENT = re.compile(r"""\{['"](title|text)['"]:""")


class _Node(NamedTuple):
    label: str
    name: str
    type: str
    chunks: tuple[str, ...]


def find(path: Path) -> list[Path]:
    if path.is_file():
        return [path] if path.suffix == ".json" and '"start_node"' in peek(path) else []
    files = [file for place in ("", "graphs", "output/graphs") for file in sorted((path / place).glob("*.json"))]
    return [file for file in files if '"start_node"' in peek(file)]


def read(path: Path, name: str, chunks: str | Path | None = None, strict: bool = True) -> Dataset:
    file = only(find(path), LOOKED_FOR, path)
    gathering = Gathering(f"Youtu-GraphRAG {file.name}", strict)
    edges = list(_edges(file, gathering))
    named = {chunk for _, *ends, _ in edges for node in ends for chunk in node.chunks}
    _read_chunks(Path(chunks).expanduser() if chunks else _chunks_beside(file), named, gathering)
    nodes: dict[_Node, str] = {}
    attributes: dict[tuple[_Node, tuple[str, ...]], dict[str, None]] = defaultdict(dict)
    others: dict[str, set[str]] = defaultdict(set)
    for where, start, end, relation in edges:
        for node in (start, end):
            if node.label == "entity":
                nodes.setdefault(node, where)
            elif node.label != "attribute":
                others[node.label].add(node.name)
        if (start.label, end.label) == ("entity", "attribute"):
            attributes[start, end.chunks or start.chunks][end.name] = None
        elif start.label == end.label == "entity":
            gathering.relation(where, start.name, relation, end.name, _stating(start, end, gathering))
    for node, where in nodes.items():
        gathering.entity(where, node.name, node.chunks, node.type)
    for (node, passages), values in attributes.items():
        gathering.entity(nodes[node], node.name, passages, node.type, "; ".join(values))
    for label, names in sorted(others.items()):
        words = ("community", "communities") if label == "community" else (f"{label} node", "")
        gathering.leave_out(*words, len(names))
    return gathering.dataset(name, path)


def _edges(file: Path, gathering: Gathering) -> Iterable[tuple[str, _Node, _Node, str]]:
    for place, row in enumerate(read_json(file, list), 1):
        where = f"{file}, edge {place}"
        checked(row, dict, where)
        start, end = (_node(field(row, end, dict, where), where) for end in ("start_node", "end_node"))
        relation = word(row.get("relation"))
        if start is None or end is None or relation is None:
            gathering.leave_out("edge with a name that is no word", "edges with a name that is no word")
        else:
            yield where, start, end, relation


def _node(row: dict, where: str) -> _Node | None:
    properties = field(row, "properties", dict, where)
    name, kind = word(properties.get("name")), word(properties.get("schema_type"))
    chunk = properties.get("chunk ids", properties.get("chunk id"))  # all of them, in what this workbench wrote
    chunks = listed(chunk if isinstance(chunk, list) or chunk is None else [chunk], where)
    return _Node(field(row, "label", str, where), name, kind or "", chunks) if name else None


def _stating(start: _Node, end: _Node, gathering: Gathering) -> list[str]:
    chunks = list(dict.fromkeys(start.chunks + end.chunks))
    if len(chunks) < 2:
        return chunks
    texts = {chunk: gathering.passages[chunk].text.casefold() for chunk in chunks if chunk in gathering.passages}
    both = [c for c, text in texts.items() if start.name.casefold() in text and end.name.casefold() in text]
    return both or chunks


def _chunks_beside(file: Path) -> Path:
    name = file.stem.removesuffix("_new") + ".txt"
    folder = file.resolve().parent
    places = [folder.parent / "chunks" / name, folder / "chunks" / name, folder / name]
    for place in places:
        if place.is_file():
            return place
    raise DataError(
        f"the chunks of {file} are missing, looked for as {', '.join(map(str, places))}; name the file with chunks=…"
    )


def _read_chunks(file: Path, named: set[str], gathering: Gathering) -> None:
    """One record per line. Some versions write line breaks and tabs as two characters; others write them unescaped, so
    a line that begins no record continues the previous text."""
    records: list[tuple[str, str, str]] = []
    escaped = True
    for number, line in enumerate(read_text(file).rstrip("\n").split("\n"), 1):
        where = f"{file}, line {number}"
        if match := _CHUNK.fullmatch(line.rstrip("\r")):
            records.append((where, match[1], match[2]))
        elif records:
            records[-1] = (*records[-1][:2], f"{records[-1][2]}\n{line}")
            escaped &= not line.strip()
        elif line.strip():
            raise DataError(f"{where} should begin a chunk (id: <id>, tab, Chunk: <text>); is this the file of chunks?")
    texts = {text for _, chunk, text in records if chunk in named}
    for where, chunk, text in records:
        if chunk not in named and text in texts:
            gathering.leave_out("chunk of an earlier run", "chunks of an earlier run")
        else:
            gathering.passage(where, chunk, *_title_and_text(text, escaped, where))


def _title_and_text(text: str, escaped: bool, where: str) -> tuple[str, str]:
    """A chunk is a text, or a document with `title` and `text` in Python or JSON notation."""
    if _DOCUMENT.match(text):
        row: dict[str, Any] = checked(literal(text, where), dict, where)
        return word(row.get("title")) or "", word(row.get("text")) or ""
    if escaped:
        text = text.replace(r"\n", "\n").replace(r"\t", "\t")
    return "", text
