"""Microsoft GraphRAG: the Parquet tables of an output folder.

Supported: the tables of 2.x and 3.x (`entities.parquet`, `relationships.parquet`, `text_units.parquet`,
`documents.parquet`; a text unit of 3.x has one `document_id`) and those of 0.x and 1.x (`create_final_entities.parquet`
…, in `output/` or `output/<time>/artifacts/`; an entity's name is `name` in 0.x and `title` since; names of 0.x are
quoted).

Text units become passages; their title is that of their document. A relationship has no label, so its whole description
is the relation of its facts: any shorter wording would be ours. Names keep GraphRAG's capitals.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from workbench.data.folder import Dataset
from workbench.errors import DataError
from workbench.exchange.files import (
    UNNAMED,
    Gathering,
    listed,
    nearest,
    number,
    only,
    parquet_rows,
    read_parquet,
    unquoted,
    word,
)  # fmt: skip

LOOKED_FOR = "an output folder of Microsoft GraphRAG (entities.parquet or create_final_entities.parquet)"
_SIDES = {  # tables that an index cannot hold, and the name of a row
    "community_reports": ("community report", ""),
    "communities": ("community", "communities"),
    "covariates": ("claim", ""),
}


def find(path: Path) -> list[Path]:
    def fits(folder: Path) -> bool:
        return bool(_tables(folder, "entities"))

    if path.is_file():
        return [path.parent] if path.suffix == ".parquet" and fits(path.parent) else []
    return nearest(path, fits, "output", "output/*/artifacts", "*/artifacts")


def read(path: Path, name: str, strict: bool = True) -> Dataset:
    folder = only(find(path), LOOKED_FOR, path)
    gathering = Gathering(f"Microsoft GraphRAG {_table(folder, 'relationships').name}", strict)
    titles = {str(row["id"]): word(row["title"]) or "" for _, row in _documents(folder)}
    units = read_parquet(
        _table(folder, "text_units"), {"id": ["id"], "text": ["text"]}, ["document_ids", "document_id"]
    )
    for where, row in units:
        documents = listed(row["document_ids"], where) or listed(row["document_id"], where)
        title = next((titles[document] for document in documents if document in titles), "")
        gathering.passage(where, str(row["id"]), title, word(row["text"]) or "")
    needed = {"name": ["title", "name"], "type": ["type"], "description": ["description"], "units": ["text_unit_ids"]}
    for where, row in read_parquet(_table(folder, "entities"), needed):
        passages = listed(row["units"], where)
        description = _description(row["description"])
        gathering.entity(
            where, unquoted(word(row["name"]) or ""), passages, unquoted(word(row["type"]) or ""), description
        )
    needed = {name: [name] for name in ("source", "target", "description", "text_unit_ids")}
    for where, row in read_parquet(_table(folder, "relationships"), needed, ["weight"]):
        source, target = (unquoted(word(row[end]) or "") for end in ("source", "target"))
        description, passages = _description(row["description"]), listed(row["text_unit_ids"], where)
        wording = " ".join(description.split()) or UNNAMED
        gathering.relation(where, source, wording, target, passages, description, (), number(row["weight"]))
    for table, words in _SIDES.items():
        for file in _tables(folder, table):
            gathering.leave_out(*words, parquet_rows(file))
    if any(folder.glob("lancedb*")) or any(folder.glob("*embeddings*.parquet")):
        gathering.notes.append("the vectors: encoded anew by the index's own encoder")
    return gathering.dataset(name, path)


def _documents(folder: Path) -> Iterable[tuple[str, dict]]:
    files = _tables(folder, "documents")
    return read_parquet(files[0], {"id": ["id"], "title": ["title"]}) if files else ()


def _tables(folder: Path, table: str) -> list[Path]:
    return [file for prefix in ("", "create_final_") if (file := folder / f"{prefix}{table}.parquet").is_file()]


def _table(folder: Path, table: str) -> Path:
    files = _tables(folder, table)
    if not files:
        raise DataError(f"{folder} has no {table}.parquet and no create_final_{table}.parquet; copy it there as well")
    return files[0]


def _description(description: object) -> str:
    """A description; a version with several wrote them as a list."""
    parts = description if isinstance(description, list) else [description]
    return "\n".join(filter(None, (unquoted(word(part) or "") for part in parts)))
