"""GraphRAG-Bench (Xiao et al. 2025), Youtu-GraphRAG's "G-Bench": questions of five kinds on 20 textbooks of computer
science. Another benchmark of the same name, on novels and medicine, is not meant.

`<kind>.jsonl` holds {"Question", "Answer", "Rationale", "Level-1 Topic", "Level-2 Topic"}, with "Choices" (letter →
text) where there are some; `textbook<n>.md` is a whole book. No question says which pages answer it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.data import splitter
from workbench.data.lines import regular, rows, string, value
from workbench.data.sources.entry import Converted, Entry, File, one
from workbench.errors import DataError
from workbench.records import Passage, Question
from workbench.text import storable

_HUB = "https://huggingface.co/datasets/Awesome-GraphRAG/GraphRAG-Bench"
_REVISION = "c840c1206993f5ad0df7d4772355832725170e95"
BOOKS = 20
KINDS = {
    "FB": "fill-in-blank",
    "MC": "multiple-choice",
    "MS": "multiple-select",
    "OE": "open-ended",
    "TF": "true-or-false",
}


def read(folder: Path, size: int = 1200, overlap: int = 100, unit: str = "tokens") -> Converted:
    """The questions, kind by kind, and the books, split into passages as those of UltraDomain. The choices follow the
    question, one a line; a letter is an answer, and with a single one the text of its choice is another."""
    questions = tuple(question for kind in KINDS for question in _questions(folder, kind))
    passages = tuple(
        Passage(f"textbook{book}#{number}", f"textbook{book}", text)
        for book in range(1, BOOKS + 1)
        for number, text in enumerate(splitter.split(_text(folder, book), size, overlap, unit), 1)
    )
    return Converted(passages, questions)


def _questions(folder: Path, kind: str) -> Iterator[Question]:
    for number, (where, row) in enumerate(rows(one(folder, f"{kind}.jsonl")), 1):
        choices = value(row, "Choices", where, dict, {})
        answer = _answer(row.get("Answer"), where)
        listed = [f"{letter}. {choices[letter]}" for letter in sorted(choices)]
        aliases = [str(choices[answer])] if answer in choices else []
        yield Question(
            f"graphrag-bench-{kind}-{number:03}",
            storable("\n".join([string(row, "Question", where), *listed])),
            tuple(map(storable, [answer, *aliases])),
            type=KINDS[kind],
        )


def _answer(given: Any, where: str) -> str:
    """The answer as text; several letters become one word, as in `ABD`."""
    text = "".join(map(str, given)) if isinstance(given, list) else "" if given is None else str(given)
    if not text.strip():
        raise DataError(f"{where}: there is no 'Answer'; fetch the file again")
    return text.strip()


def _text(folder: Path, book: int) -> str:
    path = one(folder, f"textbook{book}.md")
    try:
        return storable(regular(path).read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 (byte {error.start}); fetch it again") from None


ENTRIES = (
    Entry(
        "graphrag-bench/textbooks",
        "GraphRAG-Bench: questions of five kinds on 20 textbooks of computer science",
        (
            *(File(f"{kind}.jsonl", f"{_HUB}/resolve/{_REVISION}/questions/{kind}.jsonl") for kind in KINDS),
            *(
                File(f"textbook{book}.md", f"{_HUB}/resolve/{_REVISION}/textbooks/textbook{book}/textbook{book}.md")
                for book in range(1, BOOKS + 1)
            ),
        ),
        read,
        "academic use; no redistribution",
        "Xiao et al. 2025, GraphRAG-Bench, arXiv 2506.02404",
        f"{_HUB}/tree/{_REVISION}",
        questions=1018,
        options=("size", "overlap", "unit"),
        note="the licence and the fields are known from copies; how Youtu-GraphRAG splits the books is not published",
    ),
)
