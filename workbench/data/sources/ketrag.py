"""The samples published by KET-RAG: `input/document.txt`, one paragraph per line without titles, and
`qa-pairs.json`."""

from __future__ import annotations

import json
import re
from pathlib import Path

from workbench.data.lines import regular
from workbench.data.sources.entry import Converted, Copy, Entry, File, one, passages
from workbench.errors import DataError
from workbench.records import Question
from workbench.text import storable

_REPOSITORY = "https://raw.githubusercontent.com/waetr/KET-RAG"


def read(folder: Path, prefix: str = "mk") -> Converted:
    """Read a folder with `document.txt` and `qa-pairs.json`, at any depth. There are no gold passages and no
    aliases."""
    document, pairs = one(folder, "document.txt"), one(folder, "qa-pairs.json")
    try:
        lines = regular(document).read_bytes().decode("utf-8-sig").split("\n")
        rows = json.loads(regular(pairs).read_bytes().decode("utf-8-sig"))
        questions = tuple(_question(row) for row in rows)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(
            f"{folder} has not KET-RAG's layout ({type(error).__name__}: {error}); fetch it again"
        ) from None
    kept, repeated = passages(prefix, (("", line) for line in lines if line.strip()))
    return Converted(
        kept, questions, repeated=repeated, notes=("no titles, no gold passages and no aliases are given",)
    )


def _question(row: dict) -> Question:
    kind = re.match(r"([2-4])hop\d?(?=__)", row["id"])  # MuSiQue's ids state the shape
    return Question(
        row["id"],
        storable(row["question"]),
        (storable(str(row["answer"])),),
        type=kind[0] if kind else None,
        hops=int(kind[1]) if kind else None,
    )


def _files(commit: str, sample: str, pairs: str) -> tuple[File, ...]:
    base = f"{_REPOSITORY}/{commit}/{sample}"
    return File("document.txt", f"{base}/input/document.txt"), File("qa-pairs.json", f"{base}/{pairs}/qa-pairs.json")


ENTRIES = (
    Entry(
        "musique/dev/ketrag-500",
        "MuSiQue-Answerable, development, 500 questions as sampled by KET-RAG, with their paragraphs pooled",
        _files("3630de321d9452c40b245e246486947214333857", "ragtest-musique", "qa-pairs"),
        read,
        "CC BY 4.0",
        "Trivedi et al. 2022, MuSiQue, TACL 10; Huang et al. 2025, KET-RAG, KDD",
        "https://github.com/waetr/KET-RAG",
        passages=6761,
        questions=500,
        copies=(Copy("musique-dev-500", 6761, 200, note="200 of the 500 questions, the whole corpus"),),
    ),
    Entry(
        "2wikimultihopqa/dev/ketrag-500",
        "2WikiMultiHopQA, development, 500 questions as sampled by KET-RAG, with their paragraphs pooled",
        _files("e4a25889932820ba14f75758e90194403632c141", "ragtest-2wiki", "input"),
        lambda folder: read(folder, prefix="tk"),
        "Apache-2.0",
        "Ho et al. 2020, 2WikiMultiHopQA, COLING; Huang et al. 2025, KET-RAG, KDD",
        "https://github.com/waetr/KET-RAG",
        questions=500,
        note="how many passages it has is not published",
    ),
    Entry(
        "hotpotqa/dev/ketrag-500",
        "HotpotQA, development, 500 questions as sampled by KET-RAG, with their paragraphs pooled",
        (File("document.txt"), File("qa-pairs.json")),
        lambda folder: read(folder, prefix="hk"),
        "CC BY-SA 4.0",
        "Yang et al. 2018, HotpotQA, EMNLP; Huang et al. 2025, KET-RAG, KDD",
        "https://github.com/waetr/KET-RAG",
        questions=500,
        note="KET-RAG's repository holds no ragtest folder of HotpotQA; whoever has one can put it in place",
    ),
)
