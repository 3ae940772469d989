"""AnonyRAG (Youtu-GraphRAG): four novels with replaced names, as Parquet files of chunks and of questions."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from workbench.data.sources.entry import Converted, Entry, File, one, passages, table
from workbench.records import Question
from workbench.text import storable

_HUB = "https://huggingface.co/datasets/Youtu-Graph/AnonyRAG"
_REVISION = "daef2d5c1eafb2d2f5327f4ae45fc0904d48942e"


def read(folder: Path, language: str) -> Converted:
    """`annoyrag_<language>_text_chunks.parquet` (idx, title, chunk) and `…_qa.parquet` (question, answer, relations,
    entities, query_type). `relations` and `entities` are those that a question was made from, and are not read."""
    chunks = table(one(folder, f"annoyrag_{language}_text_chunks.parquet"), "idx", "title", "chunk")
    asked = table(
        one(folder, f"annoyrag_{language}_qa.parquet"), "question", "answer", "relations", "entities", "query_type"
    )
    kept, repeated = passages(
        f"an{language[0]}", ((str(row["title"] or ""), str(row["chunk"] or "")) for row in chunks)
    )
    questions = tuple(
        Question(
            f"anonyrag-{language}-{number:04}",
            storable(row["question"]),
            (storable(str(row["answer"])),),
            type=row["query_type"],
        )
        for number, row in enumerate(asked, 1)
    )
    return Converted(kept, questions, repeated=repeated)


def _novels(language: str, novels: str, passages: int, questions: int) -> Entry:
    names = (f"annoyrag_{language}_text_chunks.parquet", f"annoyrag_{language}_qa.parquet")
    return Entry(
        f"anonyrag/{language}",
        f"AnonyRAG: {novels}, with people and places under numbers",
        tuple(File(name, f"{_HUB}/resolve/{_REVISION}/{name}") for name in names),
        partial(read, language=language),
        "CC BY-NC 4.0",
        "Dong et al. 2025, Youtu-GraphRAG, arXiv 2508.19855",
        f"{_HUB}/tree/{_REVISION}",
        passages=passages,
        questions=questions,
        note="no model knows its names, so its questions are read with mode=open, and those of reversion are measured "
        "with reversion_f1",
    )


ENTRIES = (
    _novels("eng", "Moby-Dick and Middlemarch in English", 3447, 709),
    _novels("chs", "Water Margin and Dream of the Red Chamber in Chinese", 2763, 688),
)
