"""The whole development sets of HotpotQA, MuSiQue and 2WikiMultiHopQA. Every question brings its own paragraphs, gold
and distracting; the corpus is these, pooled. The thesis on reasoning samples them (`musique/dev/500@42`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.data import lines
from workbench.data.sources.entry import Converted, Entry, File, one, table
from workbench.data.sources.hipporag import HOTPOT, MUSIQUE, TWO_WIKI, read_pooled
from workbench.errors import DataError

_HUB = "https://huggingface.co/datasets"
_HOTPOT = f"{_HUB}/hotpotqa/hotpot_qa/resolve/1908d6afbbead072334abe2965f91bd2709910ab/distractor"
_MUSIQUE = f"{_HUB}/dgslibisey/MuSiQue/resolve/c8f4f8c9465fb69d31a8eae894c3fd509c4ca321"
_TWO_WIKI = f"{_HUB}/xanhho/2WikiMultihopQA/resolve/612bc5039a457880d9e7d84c3b0a4cf154b70e4f"


def read_hotpotqa(folder: Path) -> Converted:
    """The authors' Parquet file on the hub: `context` and `supporting_facts` are structs of columns."""
    path = one(folder, "validation-*.parquet")
    rows = table(path, "id", "question", "answer", "type", "supporting_facts", "context")
    try:
        listed = [
            {
                **row,
                "context": list(zip(row["context"]["title"], row["context"]["sentences"], strict=True)),
                "supporting_facts": list(
                    zip(row["supporting_facts"]["title"], row["supporting_facts"]["sent_id"], strict=True)
                ),
            }
            for row in rows
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"{path} has not HotpotQA's columns ({type(error).__name__}: {error}); fetch it again"
        ) from None
    return read_pooled(_placed(path, listed), "hotpotqa")


def read_musique(folder: Path) -> Converted:
    """The authors' JSON Lines file, with the paragraphs of a question in `paragraphs`."""
    return read_pooled(lines.rows(one(folder, "musique_ans_v1.0_dev.jsonl")), "musique")


def read_two_wiki(folder: Path) -> Converted:
    """The authors' Parquet file on the hub: `context` and `supporting_facts` are HotpotQA's lists, written as JSON."""
    path = one(folder, "dev.parquet")
    rows = table(path, "_id", "type", "question", "answer", "context", "supporting_facts")
    try:
        listed = [{**row, **{name: _json(row[name]) for name in ("context", "supporting_facts")}} for row in rows]
    except ValueError as error:
        raise DataError(f"{path} has not 2WikiMultiHopQA's columns ({error}); fetch it again") from None
    return read_pooled(_placed(path, listed), "2wikimultihopqa")


def _json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def _placed(path: Path, rows: list[dict]) -> Iterator[tuple[str, dict]]:
    return ((f"{path}, question {number}", row) for number, row in enumerate(rows, 1))


ENTRIES = (
    Entry(
        "hotpotqa/dev",
        "HotpotQA distractor, development, all questions, with their ten paragraphs each pooled",
        (
            File(
                "validation-00000-of-00001.parquet",
                f"{_HOTPOT}/validation-00000-of-00001.parquet",
                "c20b638ca82b21d04fe12e14ff417ad05153d4d215a65de54497fca4e972f7c6",
                27.5,
            ),
        ),
        read_hotpotqa,
        *HOTPOT,
        f"{_HUB}/hotpotqa/hotpot_qa/tree/1908d6afbbead072334abe2965f91bd2709910ab/distractor",
        questions=7405,
        pooled=True,
    ),
    Entry(
        "musique/dev",
        "MuSiQue-Answerable v1.0, development, all questions, with their twenty paragraphs each pooled",
        (
            File(
                "musique_ans_v1.0_dev.jsonl",
                f"{_MUSIQUE}/musique_ans_v1.0_dev.jsonl",
                "15fa63794d18a94ce12411aca6e2327e65b6e83b0b1490efab3f1962e48abf3b",
                30.4,
            ),
        ),
        read_musique,
        *MUSIQUE,
        "https://github.com/StonyBrookNLP/musique",
        questions=2417,
        note="a copy on the hub of the file in the authors' musique_v1.0.zip, which is on Google Drive; that zip file "
        "may be put in place as it is",
        pooled=True,
    ),
    Entry(
        "2wikimultihopqa/dev",
        "2WikiMultiHopQA, development, all questions, with their ten paragraphs each pooled",
        (
            File(
                "dev.parquet",
                f"{_TWO_WIKI}/dev.parquet",
                "c0d8b60b9026b728fb07ad74c5252a0f188f6942e8ba5c02df4dfa369502ea8d",
                30.1,
            ),
        ),
        read_two_wiki,
        *TWO_WIKI,
        f"{_HUB}/xanhho/2WikiMultihopQA/tree/612bc5039a457880d9e7d84c3b0a4cf154b70e4f",
        questions=12_576,
        note="the file has no aliases of answers; the authors' id_aliases.json, which has them, is not read",
        pooled=True,
    ),
)
