"""HippoRAG and HippoRAG 2: the OpenIE results, the part of an index that is paid for.

Supported: the released HippoRAG 2 (`openie_results_ner_<model>.json`: `docs` with `idx`, `passage`,
`extracted_entities`, `extracted_triples`) and the released first version (`openie_<data>_results_ner_<model>_<n>.json`:
`docs` with additional `title` and `text`, and `idx` missing or a number).

A passage keeps its `idx` as id, or gets its position without one. Its title is the text before the first line break,
where both versions put the title. Triples that do not consist of three strings are dropped and counted, as in HippoRAG.
"""

from __future__ import annotations

import re
from pathlib import Path

from workbench.data.folder import Dataset
from workbench.data.lines import read_json
from workbench.exchange.files import Gathering, checked, field, only, peek, word

LOOKED_FOR = "an OpenIE file of HippoRAG (openie_results_ner_<model>.json)"
_NAME = re.compile(r"openie_.*results_ner_.*\.json")


def find(path: Path) -> list[Path]:
    if path.is_file():
        named = _NAME.fullmatch(path.name) or (path.suffix == ".json" and '"extracted_triples"' in peek(path))
        return [path] if named else []
    return sorted(file for file in path.glob("openie_*.json") if _NAME.fullmatch(file.name))


def read(path: Path, name: str, strict: bool = True) -> Dataset:
    file = only(find(path), LOOKED_FOR, path)
    gathering = Gathering(f"HippoRAG {file.name}", strict)
    for place, row in enumerate(field(read_json(file, dict), "docs", list, str(file))):
        where = f"{file}, document {place + 1}"
        checked(row, dict, where)
        idx = row.get("idx")
        passage_id = str(place) if idx is None else str(idx)
        gathering.passage(where, passage_id, *_title_and_text(row, where))
        for entity in map(word, field(row, "extracted_entities", list, where)):
            if entity is None:
                gathering.leave_out("entity that is no word", "entities that are no words")
            else:
                gathering.entity(where, entity, [passage_id])
        for triple in field(row, "extracted_triples", list, where):
            words = [word(member) for member in triple] if isinstance(triple, list) else []
            if len(words) == 3 and all(words):
                gathering.relation(where, *words, [passage_id])
            else:
                gathering.leave_out("triple that is not three words", "triples that are not three words")
    if vectors := sorted(file.parent.glob("*/*_embeddings/vdb_*.parquet")):
        gathering.notes.append(f"the vectors in {vectors[0].parents[1].name}: encoded anew by the index's own encoder")
    return gathering.dataset(name, path)


def _title_and_text(row: dict, where: str) -> tuple[str, str]:
    if isinstance(row.get("title"), str) and isinstance(row.get("text"), str):
        return row["title"], row["text"]
    passage = field(row, "passage", str, where)
    title, line_break, text = passage.partition("\n")
    return (title, text) if line_break and title else ("", passage)
