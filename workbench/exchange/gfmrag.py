"""GFM-RAG: the graph that its first stage writes.

Followed: 1.0 (`processed/stage1/kg.txt` with head,relation,tail a line and `document2entities.json`, texts in
`raw/dataset_corpus.json`) and 2.x (`processed/stage1/nodes.csv`, `relations.csv`, `edges.csv`, texts in
`raw/documents.json` or in the `content` of document nodes). Read is the folder of a data set or its `stage1`;
`documents` names the file of texts where it lies elsewhere.

Neither version says which document states a triple. It counts for every document whose entities hold both its ends: the
one that states it is among them, as the entities of a document are the ends of its triples. Edges `equivalent` are
synonyms, which the index finds itself. Phrases are normalised already; what they were cannot be had back.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from workbench.data.folder import Dataset
from workbench.errors import DataError
from workbench.exchange.files import (
    checked,
    counted,
    listed,
    literal,
    number,
    only,
    read_csv,
    read_json,
    read_text,
    word,
)
from workbench.exchange.gather import Gathering

LOOKED_FOR = "a graph of gfm-rag (nodes.csv, relations.csv and edges.csv, or kg.txt and document2entities.json)"
TABLES = ("nodes.csv", "relations.csv", "edges.csv")
LINES = ("kg.txt", "document2entities.json")
SYNONYM = "equivalent"
_TEXTS = ("documents.json", "dataset_corpus.json")


def find(path: Path) -> list[Path]:
    folders = (path, path / "processed" / "stage1") if path.is_dir() else ()
    return [
        folder for folder in folders if any(all((folder / file).is_file() for file in kind) for kind in (TABLES, LINES))
    ]


def read(path: Path, name: str, documents: str | Path | None = None, strict: bool = True) -> Dataset:
    folder = only(find(path), LOOKED_FOR, path)
    file = Path(documents).expanduser() if documents else _texts(folder)
    texts = read_json(file, dict) if file else {}
    newer = (folder / "nodes.csv").is_file()
    found = Gathering(f"gfm-rag {'edges.csv' if newer else 'kg.txt'}", strict)
    (_read_tables if newer else _read_lines)(folder, file, texts, found)
    for file in (folder / "train.json", folder / "test.json"):
        if file.is_file():
            rows = len(read_json(file, list))
            found.notes.append(f"{counted(rows, 'question')} in {file.name}: put them into a questions.jsonl")
    return found.dataset(name, path)


def _texts(folder: Path) -> Path | None:
    places = [place / name for place in (folder, folder.parents[1] / "raw") for name in _TEXTS]
    return next((file for file in places if file.is_file()), None)


def _read_lines(folder: Path, file: Path | None, texts: dict, found: Gathering) -> None:
    if file is None:
        raise DataError(
            f"{folder} has no texts: none of {', '.join(_TEXTS)} lies there or in ../../raw; "
            "name the file with documents=…"
        )
    for title, text in texts.items():
        found.passage(f"{file}, {title!r}", title, title, checked(text, str, f"{file}, {title!r}"))
    mentions = _Mentions()
    listing = folder / "document2entities.json"
    for title, entities in read_json(listing, dict).items():
        where = f"{listing}, {title!r}"
        for entity in listed(entities, where):
            mentions.add(entity, title)
            found.entity(where, entity, [title])
    for number_, line in enumerate(read_text(folder / "kg.txt").splitlines(), 1):
        parts = line.split(",")
        if len(parts) != 3:
            found.leave_out("line of kg.txt that has not three parts", "lines of kg.txt that have not three parts")
        elif parts[1] == SYNONYM:
            found.leave_out("synonym edge, found anew by the index", "synonym edges, found anew by the index")
        else:
            head, relation, tail = map(str.strip, parts)
            found.relation(f"{folder / 'kg.txt'}, line {number_}", head, relation, tail, mentions.of_both(head, tail))


def _read_tables(folder: Path, file: Path | None, texts: dict, found: Gathering) -> None:
    nodes = {}
    for where, row in read_csv(folder / "nodes.csv", "type", "attributes"):
        key = row.get("uid") or row.get("name") or ""
        if key in nodes:
            raise DataError(f"{where}: the node {key[:200]!r} stands twice; nodes must be unique")
        nodes[key] = where, row.get("name") or key, row["type"], _attributes(row, where)
    relations, other = _relations(folder), Counter()
    for key, (where, title, kind, attributes) in nodes.items():
        if kind == "document":
            content = attributes.pop("content", None)
            text = texts.get(title, content)
            if text is None:
                raise DataError(
                    f"{where}: the document {title[:200]!r} has no text, neither as its 'content' nor in "
                    f"{file or ' or '.join(_TEXTS)}; name the file of texts with documents=…"
                )
            found.passage(where, key, title, checked(text, str, where))
    mentions, triples = _Mentions(), []
    for where, row in read_csv(folder / "edges.csv", "source", "relation", "target"):
        source, target = row["source"], row["target"]
        for end in (source, target):
            if end not in nodes:
                raise DataError(f"{where}: there is no node {end[:200]!r} in nodes.csv; add it or take the edge out")
        documents = [end for end in (source, target) if nodes[end][2] == "document"]
        if len(documents) == 2:
            found.leave_out("edge between documents", "edges between documents")
        elif documents:
            mentions.add(target if source in documents else source, documents[0])
        elif row["relation"] == SYNONYM:
            found.leave_out("synonym edge, found anew by the index", "synonym edges, found anew by the index")
        else:
            relation = relations.get(row["relation"], row["relation"])
            triples.append((where, source, relation, target, _attributes(row, where)))
    for key, (where, name, kind, attributes) in nodes.items():
        if kind != "document":
            said = word(attributes.pop("description", "")) or ""
            found.entity(where, name, mentions.of(key), "" if kind == "entity" else kind, said)
        other.update(attributes.keys())
    for where, source, relation, target, attributes in triples:
        said, weight = word(attributes.pop("description", "")) or "", number(attributes.pop("weight", None))
        passages = mentions.of_both(source, target)
        found.relation(where, nodes[source][1], relation, nodes[target][1], passages, said, (), weight)
        other.update(attributes.keys())
    for attribute, count in sorted(other.items()):
        found.notes.append(f"{counted(count, 'attribute')} {str(attribute)[:60]!r} of nodes or edges")


def _relations(folder: Path) -> dict[str, str]:
    """The names of relations by what edges call them."""
    rows = read_csv(folder / "relations.csv", "name")
    return {row.get("uid") or row.get("name", ""): row.get("name", "") for _, row in rows}


def _attributes(row: dict[str, str], where: str) -> dict[str, Any]:
    text = row.get("attributes", "").strip()
    return dict(checked(literal(text, where), dict, where)) if text else {}


class _Mentions:
    """Which documents name an entity, in their order."""

    def __init__(self):
        self._documents: dict[str, dict[str, None]] = defaultdict(dict)

    def add(self, entity: str, document: str) -> None:
        self._documents[entity][document] = None

    def of(self, entity: str) -> list[str]:
        return list(self._documents.get(entity, ()))

    def of_both(self, head: str, tail: str) -> list[str]:
        tails = self._documents.get(tail, {})
        return [document for document in self._documents.get(head, ()) if document in tails]
