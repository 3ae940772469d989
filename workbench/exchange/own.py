"""Import the output of `write`: a folder of CSV files, or a GraphML file with texts.

Both hold phrases and facts as in the index, normalised, with the passages that state each. An index built from them
with the same encoder and settings has the same graph, except for facts of the empty phrase, which the rule `ascii` can
produce: they are omitted. `facts.csv` of a folder is not read, because the edges contain the same. Several profiles of
a phrase or a pair were merged into one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from workbench.data.folder import Dataset
from workbench.data.profiles import RelationProfile
from workbench.exchange.export import GRAPH_ID
from workbench.exchange.files import GraphML, checked, literal, number, only, peek, read_csv, read_graphml
from workbench.exchange.gather import Gathering
from workbench.text import of_table_cell

TABLES = ("passages.csv", "nodes.csv", "edges.csv", "facts.csv")
LOOKED_FOR_CSV = f"an exported folder ({', '.join(TABLES)})"
LOOKED_FOR_GRAPHML = "an exported GraphML file"


def find_csv(path: Path) -> list[Path]:
    return [path] if path.is_dir() and all((path / name).is_file() for name in TABLES) else []


def find_graphml(path: Path) -> list[Path]:
    return [path] if path.is_file() and f'<graph id="{GRAPH_ID}"' in peek(path) else []


def read_csv_folder(path: Path, name: str, strict: bool = True) -> Dataset:
    folder = only(find_csv(path), LOOKED_FOR_CSV, path)
    found = Gathering("exported edges.csv", strict)
    for where, row in _rows(folder / "passages.csv", "id", "title", "text"):
        found.passage(where, row["id"], row["title"], row["text"])
    nodes = [(where, row["id"], row) for where, row in _rows(folder / "nodes.csv", "id", "kind", "label")]
    ends = ("source", "target", "kind", "label", "passages")
    edges = [(where, row["source"], row["target"], row) for where, row in _rows(folder / "edges.csv", *ends)]
    return _dataset(found, GraphML(nodes, edges).checked(), name, path)


def read_graphml_file(path: Path, name: str, strict: bool = True) -> Dataset:
    file = only(find_graphml(path), LOOKED_FOR_GRAPHML, path)
    found, graph = Gathering(f"exported {file.name}", strict), read_graphml(file)
    for where, _, row in graph.nodes:
        if row.get("kind") == "passage":
            found.passage(where, row.get("passage_id", ""), row.get("title", ""), row.get("text", ""))
    return _dataset(found, graph, name, path)


def _dataset(found: Gathering, graph: GraphML, name: str, path: Path) -> Dataset:
    nodes = {node: (where, row) for where, node, row in graph.nodes if row.get("kind") == "phrase"}
    stating: dict[str, dict[str, None]] = defaultdict(dict)
    profiles: dict[tuple, dict[str, None]] = defaultdict(dict)
    for where, source, target, row in graph.edges:
        if row.get("kind") != "relation":
            continue
        subject, obj = (nodes[end][1].get("label", "") if end in nodes else "" for end in (source, target))
        passages = dict.fromkeys(_strings(row.get("passages", ""), where))
        found.relation(where, subject, row.get("label", ""), obj, passages)
        about = row.get("description", ""), _strings(row.get("keywords", ""), where), number(row.get("strength"))
        pair = (subject, obj) if (obj, subject, *about) not in profiles else (obj, subject)
        if any(part not in ("", (), None) for part in about):
            profiles[*pair, *about].update(passages)
        for end in (source, target):
            stating[end].update(passages)
    for node, (where, row) in nodes.items():
        found.entity(where, row.get("label", ""), stating[node], row.get("type", ""), row.get("description", ""))
    for profile, passages in profiles.items():
        found.profile(RelationProfile(*profile, tuple(p for p in passages if p in found.passages)))
    return found.dataset(name, path)


def _strings(text: str, where: str) -> tuple[str, ...]:
    """A JSON list of strings; an empty cell is an empty list."""
    return tuple(checked(part, str, where) for part in checked(literal(text or "[]", where), list, where))


def _rows(file: Path, *needed: str) -> list[tuple[str, Mapping[str, str]]]:
    return [(where, {key: of_table_cell(cell) for key, cell in row.items()}) for where, row in read_csv(file, *needed)]
