"""GFM-RAG: the graph that its first stage writes.

Supported: 1.0 (`processed/stage1/kg.txt` with head,relation,tail per line and `document2entities.json`, texts in
`raw/dataset_corpus.json`) and 2.x (`processed/stage1/nodes.csv`, `relations.csv`, `edges.csv`, texts in
`raw/documents.json` or in the `content` of document nodes). The path is the folder of a data set or its `stage1`;
`documents` names the file of texts if it is elsewhere. The questions are those of `test.json` beside the graph;
`train.json` is read if it is the only one, or with `split="train"`.

Neither version records which document states a triple. A triple counts for every document whose entities include both
of its ends: the document that states it is among them, because the entities of a document are the ends of its triples.
In 2.x, an edge between a document and another node means that the document names it. Edges `equivalent` are synonyms,
which the index computes itself. Phrases are already normalised; their original form is lost.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

from workbench.data.folder import Dataset
from workbench.data.lines import read_json, read_text
from workbench.errors import DataError, SettingError
from workbench.exchange.files import (
    Gathering,
    checked,
    field,
    listed,
    literal,
    nearest,
    number,
    only,
    read_csv,
    word,
)  # fmt: skip
from workbench.records import Question
from workbench.text import counted, storable

LOOKED_FOR = "a graph of gfm-rag (nodes.csv, relations.csv and edges.csv, or kg.txt and document2entities.json)"
TABLES = ("nodes.csv", "relations.csv", "edges.csv")
LINES = ("kg.txt", "document2entities.json")
SPLITS = ("test", "train")
SYNONYM = "equivalent"
_TEXTS = ("documents.json", "dataset_corpus.json")
_SYNONYM_EDGES = "synonym edge, found anew by the index", "synonym edges, found anew by the index"


def find(path: Path) -> list[Path]:
    def fits(folder: Path) -> bool:
        return any(all((folder / file).is_file() for file in files) for files in (TABLES, LINES))

    return nearest(path, fits, "processed/stage1")


def read(
    path: Path,
    name: str,
    documents: str | Path | None = None,
    split: Literal["test", "train"] | None = None,
    strict: bool = True,
) -> Dataset:
    if split not in (None, *SPLITS):
        raise SettingError(f"split={split!r} is unknown; choose one of {', '.join(SPLITS)}")
    folder = only(find(path), LOOKED_FOR, path)
    file = Path(documents).expanduser() if documents else _texts(folder)
    texts = read_json(file, dict) if file else {}
    newer = (folder / "nodes.csv").is_file()
    gathering = Gathering(f"gfm-rag {'edges.csv' if newer else 'kg.txt'}", strict)
    names = (_read_tables if newer else _read_lines)(folder, file, texts, gathering)
    _read_samples(folder, split, names, gathering)
    return gathering.dataset(name, path)


def _read_samples(folder: Path, split: str | None, names: dict[str, str], gathering: Gathering) -> None:
    files = {part: file for part in SPLITS if (file := folder / f"{part}.json").is_file()}
    if split and split not in files:
        others = " and ".join(file.name for file in files.values()) or "no questions at all"
        raise DataError(f"{folder} has no {split}.json but {others}; read it without split={split!r}")
    for part, file in files.items():
        samples = read_json(file, list)
        if part != (split or next(iter(files))):
            gathering.notes.append(f"{counted(len(samples), 'question')} in {file.name}, read with split={part!r}")
            continue
        for place, sample in enumerate(samples, 1):
            where = f"{file}, question {place}"
            _read_sample(where, f"{part}-{place}", checked(sample, dict, where), names, gathering)


def _read_sample(where: str, default: str, sample: dict, names: dict[str, str], gathering: Gathering) -> None:
    """A question of 1.0 (`question_entities`, `supporting_facts`) or of 2.x (`start_nodes` by type;
    `supporting_documents`, otherwise the documents of `target_nodes`)."""
    question, key = field(sample, "question", str, where), word(sample.get("id"))
    if key is None:
        checked(sample["id"], str, f"{where}: 'id'")
    if isinstance(answer := sample.get("answer"), str | int | float):
        sample = {**sample, "answer": [answer]}
    answers = _words(sample, "answer", where) + _words(sample, "answer_aliases", where)
    linked = _linked(sample, where)
    start = [names[name] for name in linked if name in names]  # gfm-rag passes over the others as well
    others = len(linked) - len(start)
    gathering.leave_out("start of a question that is no entity", "starts of questions that are no entities", others)
    targets = checked(sample.get("target_nodes") or {}, dict, f"{where}: 'target_nodes'")
    if sample.get("supporting_entities") or targets.keys() - {"document"}:
        gathering.leave_out("list of target entities of a question", "lists of target entities of questions")
    stated = (name for name in ("supporting_documents", "supporting_facts") if sample.get(name) is not None)
    gold = next(stated, None)
    support = _words(sample, gold, where) if gold else _words(targets, "document", f"{where}: 'target_nodes'")
    gathering.question(
        where,
        Question(
            key or default,
            storable(question),
            tuple(dict.fromkeys(answers)),
            type=word(sample.get("type")) or None,
            support=tuple(support),
            start=tuple(dict.fromkeys(start)),  # two nodes may share a name
        ),
    )


def _linked(sample: dict, where: str) -> dict[str, None]:
    """What the linker found for the question."""
    starts = checked(sample.get("start_nodes") or {}, dict, f"{where}: 'start_nodes'")
    lists = [_words(starts, kind, f"{where}: 'start_nodes'") for kind in starts]
    return dict.fromkeys(chain(_words(sample, "question_entities", where), *lists))


def _words(row: dict, name: str, where: str) -> list[str]:
    """The words of a list, as they are; none if the list is missing."""
    where, words = f"{where}: {name!r}", row.get(name)
    if words is None:
        return []
    listed(checked(words, list, where), where)
    return [text for item in words if (text := word(item)) and text.strip()]


def _texts(folder: Path) -> Path | None:
    places = [place / name for place in (folder, folder.resolve().parent.parent / "raw") for name in _TEXTS]
    return next((file for file in places if file.is_file()), None)


def _read_lines(folder: Path, file: Path | None, texts: dict, gathering: Gathering) -> dict[str, str]:
    """Returns the names of the entities, by what the questions call them."""
    if file is None:
        raise DataError(
            f"{folder} has no texts: none of {', '.join(_TEXTS)} is there or in ../../raw; "
            "name the file with documents=…"
        )
    for title, text in texts.items():
        where = f"{file}, {title[:200]!r}"
        gathering.passage(where, title, title, checked(text, str, where))
    mentions, listing, lines = _Mentions(), folder / "document2entities.json", folder / "kg.txt"
    names: set[str] = set()
    for title, entities in read_json(listing, dict).items():
        where = f"{listing}, {title[:200]!r}"
        for entity in listed(entities, where):
            mentions.add(entity, title)
            names.add(entity)
            gathering.entity(where, entity, [title])
    for place, line in enumerate(read_text(lines).split("\n"), 1):
        parts = [part.strip() for part in line.split(",")]
        if len(parts) != 3:
            if line.strip():
                gathering.leave_out(
                    "line of kg.txt that has not three parts", "lines of kg.txt that have not three parts"
                )
        elif parts[1] == SYNONYM:
            gathering.leave_out(*_SYNONYM_EDGES)
        else:
            names.update((parts[0], parts[2]))
            gathering.relation(f"{lines}, line {place}", *parts, mentions.of_both(parts[0], parts[2]))
    return {name: name for name in names}


class _Node(NamedTuple):
    where: str
    name: str
    kind: str
    attributes: dict[str, Any]


def _read_tables(folder: Path, file: Path | None, texts: dict, gathering: Gathering) -> dict[str, str]:
    """Returns the names of the entities, by what the questions call them."""
    nodes = _nodes(folder)
    for key, node in nodes.items():
        if node.kind == "document":
            content = node.attributes.pop("content", None)
            text = texts.get(node.name, content)
            if text is None:
                raise DataError(
                    f"{node.where}: the document {node.name[:200]!r} has no text, neither as its 'content' nor in "
                    f"{file or ' or '.join(_TEXTS)}; name the file of texts with documents=…"
                )
            gathering.passage(node.where, key, node.name, checked(text, str, node.where))
    mentions, edges = _edges(folder, nodes, gathering)
    other: Counter[str] = Counter()
    for key, (where, name, kind, attributes) in nodes.items():
        if kind != "document":
            description = word(attributes.pop("description", "")) or ""
            gathering.entity(where, name, mentions.of(key), "" if kind == "entity" else kind, description)
        other.update(map(str, attributes))
    for where, source, relation, target, attributes in edges:
        description, weight = word(attributes.pop("description", "")) or "", number(attributes.pop("weight", None))
        ends, passages = (nodes[source].name, nodes[target].name), mentions.of_both(source, target)
        gathering.relation(where, ends[0], relation, ends[1], passages, description, (), weight)
        other.update(map(str, attributes))
    for attribute, count in sorted(other.items()):
        gathering.notes.append(f"{counted(count, 'attribute')} {attribute[:60]!r} of nodes or edges")
    return {key: node.name for key, node in nodes.items() if node.kind != "document"}


def _nodes(folder: Path) -> dict[str, _Node]:
    """Nodes by the key that edges use."""
    nodes: dict[str, _Node] = {}
    for where, row in read_csv(folder / "nodes.csv", "type", "attributes"):
        key = _key(row)
        if key in nodes:
            raise DataError(f"{where}: the node {key[:200]!r} occurs twice; nodes must be unique")
        nodes[key] = _Node(where, row.get("name") or key, row["type"], _attributes(row, where))
    return nodes


def _edges(folder: Path, nodes: dict[str, _Node], gathering: Gathering) -> tuple[_Mentions, list[tuple]]:
    """The entities that documents name, and the edges between all other nodes."""
    relations = {_key(row): row["name"] for _, row in read_csv(folder / "relations.csv", "name")}
    mentions, edges = _Mentions(), []
    for where, row in read_csv(folder / "edges.csv", "source", "relation", "target"):
        source, target = ends = row["source"], row["target"]
        if unknown := [end for end in ends if end not in nodes]:
            raise DataError(f"{where}: there is no node {unknown[0][:200]!r} in nodes.csv; add it or remove the edge")
        relation = relations.get(row["relation"], row["relation"])
        documents = [end for end in ends if nodes[end].kind == "document"]
        if len(documents) == 2:
            gathering.leave_out("edge between documents", "edges between documents")
        elif documents:
            mentions.add(target if source in documents else source, documents[0])
        elif relation == SYNONYM:
            gathering.leave_out(*_SYNONYM_EDGES)
        else:
            edges.append((where, source, relation, target, _attributes(row, where)))
    return mentions, edges


def _key(row: dict[str, str]) -> str:
    """The key of a row in other tables: its `uid`, if there is one, otherwise its name."""
    return row.get("uid") or row.get("name") or ""


def _attributes(row: dict[str, str], where: str) -> dict[str, Any]:
    text = row.get("attributes", "").strip()
    return dict(checked(literal(text, where), dict, where)) if text else {}


class _Mentions:
    """The documents that name an entity, in order."""

    def __init__(self):
        self._documents: dict[str, dict[str, None]] = defaultdict(dict)

    def add(self, entity: str, document: str) -> None:
        self._documents[entity][document] = None

    def of(self, entity: str) -> list[str]:
        return list(self._documents.get(entity, ()))

    def of_both(self, head: str, tail: str) -> list[str]:
        tails = self._documents.get(tail, {})
        return [document for document in self._documents.get(head, ()) if document in tails]
