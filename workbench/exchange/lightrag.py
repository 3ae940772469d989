"""LightRAG: a working folder with its graph and its JSON stores.

Supported: lightrag-hku 1.5 (`graph_chunk_entity_relation.graphml`, `kv_store_text_chunks.json`,
`kv_store_entity_chunks.json`, `kv_store_relation_chunks.json`) and the early versions, whose folders have the first two
and whose names are quoted. `<SEP>` joins several values of one field.

Chunks become passages; their title is the name of their source file, if known. An edge has no label, so its keywords
are the relation of its facts, or without keywords the first of its descriptions. Edges have no direction: source and
target keep the order of the file. The graph stores a limited number of chunks for an entity or relation; further chunks
in the stores count too.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

from workbench.data.folder import Dataset
from workbench.data.lines import read_json
from workbench.exchange.files import (
    UNNAMED,
    Gathering,
    checked,
    field,
    listed,
    nearest,
    number,
    only,
    read_graphml,
    unquoted,
    word,
)  # fmt: skip

GRAPH = "graph_chunk_entity_relation.graphml"
LOOKED_FOR = f"a working folder of LightRAG ({GRAPH})"
SEPARATOR = "<SEP>"
_UNKNOWN_FILES = ("", "unknown_source", "no-file-path")


def find(path: Path) -> list[Path]:
    if path.is_file():
        return [path.parent] if path.name == GRAPH else []
    return nearest(path, lambda folder: (folder / GRAPH).is_file(), "rag_storage", "rag_storage/*")


def read(path: Path, name: str, strict: bool = True) -> Dataset:
    folder = only(find(path), LOOKED_FOR, path)
    gathering = Gathering(f"LightRAG {GRAPH}", strict)
    chunks = folder / "kv_store_text_chunks.json"
    for chunk, row in read_json(chunks, dict).items():
        where = f"{chunks}, {chunk[:200]!r}"
        file = word(checked(row, dict, where).get("file_path")) or ""
        title = "" if file in _UNKNOWN_FILES else PurePosixPath(file.split(SEPARATOR)[0].replace("\\", "/")).name
        gathering.passage(where, chunk, title, field(row, "content", str, where))
    of_entity, of_relation = _chunks(folder, "entity_chunks"), _chunks(folder, "relation_chunks")
    graph = read_graphml(folder / GRAPH)
    for where, node, data in graph.nodes:
        passages = listed(data.get("source_id"), where, SEPARATOR) + of_entity.get(node, ())
        descriptions = _descriptions(data.get("description", ""))
        gathering.entity(
            where, unquoted(node), passages, unquoted(data.get("entity_type", "")), "\n".join(descriptions)
        )
    for where, source, target, data in graph.edges:
        passages = listed(data.get("source_id"), where, SEPARATOR)
        passages += of_relation.get(SEPARATOR.join(sorted((source, target))), ())
        descriptions = _descriptions(data.get("description", ""))
        keywords = _keywords(data.get("keywords", ""))
        wording = ", ".join(keywords) or (descriptions[0] if descriptions else UNNAMED)
        weight = number(data.get("weight"))
        gathering.relation(
            where, unquoted(source), wording, unquoted(target), passages, "\n".join(descriptions), keywords, weight
        )
    _note_what_stays(folder, gathering)
    return gathering.dataset(name, path)


def _store(folder: Path, name: str) -> dict[str, Any]:
    """A store that only newer versions have."""
    file = folder / f"kv_store_{name}.json"
    return read_json(file, dict) if file.is_file() else {}


def _chunks(folder: Path, name: str) -> dict[str, tuple[str, ...]]:
    """The chunk ids that a store holds for each entity, or for each pair of entities."""
    chunks = {}
    for key, row in _store(folder, name).items():
        where = f"{folder / f'kv_store_{name}.json'}, {key[:200]!r}"
        chunks[key] = listed(checked(row, dict, where).get("chunk_ids"), where)
    return chunks


def _descriptions(description: str) -> list[str]:
    return [part for part in (unquoted(part) for part in description.split(SEPARATOR)) if part]


def _keywords(joined: str) -> tuple[str, ...]:
    words = (keyword.strip() for part in joined.split(SEPARATOR) for keyword in unquoted(part).split(","))
    return tuple(dict.fromkeys(filter(None, words)))


def _note_what_stays(folder: Path, gathering: Gathering) -> None:
    if any(folder.glob("vdb_*.json")):
        gathering.notes.append("the vectors in vdb_*.json: encoded anew by the index's own encoder")
    for name, words in (
        ("llm_response_cache", ("cached answer of the model", "cached answers of the model")),
        ("community_reports", ("community report", "")),
    ):
        gathering.leave_out(*words, _size(_store(folder, name)))


def _size(store: dict[str, Any]) -> int:
    """The number of entries of a store; early versions nested answers one level deeper, under the query mode."""
    deeper = [value for value in store.values() if isinstance(value, dict) and "return" not in value]
    nested = sum(isinstance(entry, dict) and "return" in entry for value in deeper for entry in value.values())
    return nested + len(store) - len(deeper) if nested else len(store)
