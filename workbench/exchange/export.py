"""Write an index as GraphML or CSV, for other programs.

A phrase is the node `e<row>`, a passage `p<row>`. Every fact is a separate edge of kind `relation`, from subject to
object, with the number of passages that state it as weight; `context` joins a passage to the phrases of its facts;
`synonym` leads from a phrase to a similar one, weighted by the cosine. Types, descriptions and keywords are present if
the index has profiles; `strength` is the weight that the source of a relation assigned. Ids of passages and keywords
are JSON lists.

Several profiles of a phrase or a pair are merged into one.
"""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from workbench.errors import DataError, SettingError
from workbench.text import table_cell

if TYPE_CHECKING:
    from workbench.index.index import Index

GRAPH_ID = "hopscope"  # identifies our files
_NOT_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Node(NamedTuple):
    id: str
    kind: str
    label: str
    type: str = ""
    description: str = ""
    passages: int | None = None
    passage_id: str | None = None
    title: str | None = None
    text: str | None = None


class Edge(NamedTuple):
    source: str
    target: str
    kind: str
    label: str = ""
    weight: float = 1.0
    passages: tuple[str, ...] = ()
    description: str = ""
    keywords: tuple[str, ...] = ()
    strength: float | None = None


NODE, EDGE = Node._fields[1:], Edge._fields[2:]  # their attributes


def write(index: Index, to: str | Path) -> list[Path]:
    """Write an index as `FILE.graphml` or, if `to` has no suffix, as a folder of CSV files; return what is written."""
    to = Path(to).expanduser()
    if to.suffix.lower() == ".graphml":
        return [to_graphml(index, to)]
    if to.suffix and not to.is_dir():
        raise SettingError(f"{to}: {to.suffix!r} is not an export format; name a FILE.graphml or a folder")
    return to_csv(index, to)


def to_graphml(index: Index, path: str | Path, *, text: bool = True) -> Path:
    """Write an index as GraphML, for networkx, Gephi and others; it replaces an old file only when it is complete.

    `text=False` omits the texts of passages. Characters that XML cannot represent become U+FFFD, and ends of lines line
    feeds; if two passages would then share an id, it raises :class:`DataError`: use CSV.
    """
    import networkx

    path, graph = Path(path).expanduser(), networkx.MultiDiGraph(id=GRAPH_ID)
    ids = {xml_text(passage.id) for passage in index.passages.passages}
    if len(ids) < len(index.passages.passages):
        raise DataError(
            "some passages differ only in characters of their ids that XML cannot hold; export a CSV folder"
        )
    graph.add_nodes_from((node.id, as_attributes(node, NODE)) for node in nodes(index, text=text))
    graph.add_edges_from((edge.source, edge.target, as_attributes(edge, EDGE)) for edge in edges(index))
    with replacing(path) as file:
        networkx.write_graphml_xml(graph, file.buffer)
    return path


def to_csv(index: Index, folder: str | Path) -> list[Path]:
    """Write an index as `nodes.csv`, `edges.csv`, `facts.csv` and `passages.csv` (UTF-8, commas, a header).

    A text that a spreadsheet would read as a formula (it begins with = + - @, a tab or a line break) gets a leading
    apostrophe, as spreadsheets themselves mark text. Numbers stay numbers.
    """
    folder = Path(folder).expanduser()
    facts, ids = index.facts, [passage.id for passage in index.passages.passages]
    tables: dict[str, tuple[Iterable[str], Iterable[Iterable[Any]]]] = {
        "nodes": (("id", *NODE), nodes(index, text=False)),
        "edges": (("source", "target", *EDGE), edges(index)),
        "facts": (
            ("subject", "relation", "object", "passages"),
            ((*fact, tuple(ids[p] for p in facts.stating(row))) for row, fact in enumerate(facts.facts)),
        ),
        "passages": (("id", "title", "text"), ((p.id, p.title, p.text) for p in index.passages.passages)),
    }
    written = []
    for name, (header, rows) in tables.items():
        written.append(folder / f"{name}.csv")
        with replacing(written[-1]) as file:
            writer = csv.writer(file)
            writer.writerow(header)
            writer.writerows([_cell(value) for value in row] for row in rows)
    return written


def nodes(index: Index, *, text: bool) -> Iterator[Node]:
    """Phrases, then passages in order."""
    profiles = index.phrased
    counts = index.graph.passages_of
    for row, phrase in enumerate(index.facts.phrases):
        entity_profiles = profiles.of(phrase) if profiles else ()
        types = _joined((p.type for p in entity_profiles), "; ")
        descriptions = _joined((p.description for p in entity_profiles), "\n")
        yield Node(f"e{row}", "phrase", phrase, types, descriptions, int(counts[row]))
    for row, passage in enumerate(index.passages.passages):
        label, content = passage.title or passage.id, passage.text if text else None
        yield Node(f"p{row}", "passage", label, passage_id=passage.id, title=passage.title, text=content)


def edges(index: Index) -> Iterator[Edge]:
    """Facts, then context, then synonyms."""
    facts, graph = index.facts, index.graph
    profiles = index.phrased
    ids = [passage.id for passage in index.passages.passages]
    for row, (subject, relation, obj) in enumerate(facts.facts):
        stating = tuple(ids[passage] for passage in facts.stating(row))
        ends = f"e{facts.subjects[row]}", f"e{facts.objects[row]}"
        relation_profiles = profiles.between(subject, obj) if profiles else ()
        strengths = [p.weight for p in relation_profiles if p.weight is not None]
        yield Edge(
            *ends,
            "relation",
            relation,
            float(len(stating)),
            stating,
            _joined((p.description for p in relation_profiles), "\n"),
            tuple(dict.fromkeys(word for p in relation_profiles for word in p.keywords)),
            sum(strengths) if strengths else None,
        )
    for passage, phrase in zip(*graph.context.nonzero()):
        yield Edge(f"p{passage}", f"e{phrase}", "context")
    synonym = graph.synonym.tocoo()
    for source, target, cosine in zip(synonym.row, synonym.col, synonym.data):
        yield Edge(f"e{source}", f"e{target}", "synonym", weight=float(cosine))


def _cell(value: Any) -> Any:
    if isinstance(value, tuple):
        return _list(value)
    return table_cell(value) if isinstance(value, str) else value


def as_attributes(row: NamedTuple, names: Iterable[str]) -> dict[str, Any]:
    """These fields of a node or an edge, as networkx can write them to GraphML and GEXF: without what is empty, lists
    as JSON, and without characters that XML cannot represent."""
    attributes = {name: value for name in names if (value := getattr(row, name)) not in (None, "", ())}
    attributes |= {
        name: _list(tuple(map(xml_text, value))) for name, value in attributes.items() if isinstance(value, tuple)
    }
    return {name: xml_text(value) if isinstance(value, str) else value for name, value in attributes.items()}


def _list(ids: tuple[str, ...]) -> str:
    return json.dumps(ids, ensure_ascii=False) if ids else ""


def _joined(parts: Iterable[str], separator: str) -> str:
    return separator.join(dict.fromkeys(part for part in parts if part))


def xml_text(text: str) -> str:
    """The text with U+FFFD for every character that XML cannot represent, and with line feeds at the ends of lines, as
    XML is read."""
    return _NOT_XML.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """A new file that replaces the old one when the block ends without an error."""
    part = path.with_name(path.name + ".part")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with part.open("w", encoding="utf-8", newline="") as file:
            yield file
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
