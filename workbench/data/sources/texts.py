"""Corpora of texts: UltraDomain, both benchmarks called GraphRAG-Bench, MultiHop-RAG, AnonyRAG and KET-RAG's samples.
Only the questions of MultiHop-RAG have gold passages.

UltraDomain: textbooks by domain. `<domain>.jsonl` repeats a book for each of its questions, or names another text of
its own in each line, as `mix` does. The papers that use it generate their own questions, so only the corpus is read.
Two of the domains are DotRAG's and bring what it tells of their graphs (`workbench/data/schemas/dotrag/`).

GraphRAG-Bench of textbooks (Xiao et al. 2025, arXiv 2506.02404), Youtu-GraphRAG's "G-Bench": questions of five kinds
on 20 textbooks of computer science. `<kind>.jsonl` holds {"Question", "Answer", "Rationale", "Level-1 Topic",
"Level-2 Topic"}, with "Choices" (letter → text) where there are some; `textbook<n>.md` is a whole book. No question
says which pages answer it.

GraphRAG-Bench of novels and medicine (Xiang et al. 2025, arXiv 2506.05690): questions of four levels. `<domain>.json`
lists {"corpus_name", "context"}, a whole text each; `<domain>_questions.json` lists {"id", "source", "question",
"answer", "question_type"}. No question says which part of its text answers it.

MultiHop-RAG (Tang and Yang 2024): questions that join two to four news articles. `corpus.json` lists {"title",
"source", "published_at", "body"} and more; `MultiHopRAG.json` lists {"query", "answer", "question_type",
"evidence_list"}, where evidence is {"title", "fact"} and more, the fact a text of its article.

AnonyRAG (Youtu-GraphRAG): four novels with replaced names, as Parquet files of chunks and of questions.

KET-RAG's samples: `input/document.txt`, one paragraph per line without titles, and `qa-pairs.json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench import tokens
from workbench.data import splitter
from workbench.data.lines import objects, read_json, read_text, regular, rows, string, value
from workbench.data.schemas import paper_schema
from workbench.data.sources.entry import Converted, passages, single_file, table
from workbench.errors import DataError, SettingError
from workbench.records import Passage, Question
from workbench.text import counted, storable

WINDOW, SENTENCE = "window", "sentence"
SCHEMAS = {"cs": "ultradomain_cs", "mix": "ultradomain_mixed"}  # domain → DotRAG's description of its graph
_LINE = 100_000_000  # characters of a line, which holds a whole book
BOOKS = 20
KINDS = {
    "FB": "fill-in-blank",
    "MC": "multiple-choice",
    "MS": "multiple-select",
    "OE": "open-ended",
    "TF": "true-or-false",
}


def read_ultradomain(
    folder: Path, domain: str, size: int = 1200, overlap: int = 100, unit: str = "tokens", at: str = WINDOW
) -> Converted:
    """Each book once, split into passages: at `window`, the windows of so many tokens that LightRAG's code cuts, in the
    middle of a word if need be; at `sentence`, of that length, but at the end of a paragraph or a sentence."""
    books: dict[str, str] = {}
    for where, row in rows(single_file(folder, f"{domain}.jsonl")):
        about = row.get("meta")
        books.setdefault(
            string(row, "context", where), str(about.get("title") or "") if isinstance(about, dict) else ""
        )
    passages = [
        Passage(f"{domain}-{book}#{number}", title, text)
        for book, (context, title) in enumerate(books.items(), 1)
        for number, text in enumerate(_split(context, size, overlap, unit, at), 1)
    ]
    if not passages:
        raise DataError(f"{folder} holds no text in {domain}.jsonl; delete it and fetch it again")
    schema = paper_schema(SCHEMAS[domain]) if domain in SCHEMAS else None
    return Converted(tuple(passages), documents=len(books), schema=schema)


def is_ultradomain(path: Path) -> bool:
    """Whether a file has the publisher's form, by its first line: a question with the text that answers it."""
    try:
        with regular(path).open(encoding="utf-8-sig") as lines:
            row = json.loads(lines.readline(_LINE))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(row, dict) and {"context", "input"} <= row.keys()


def _split(text: str, size: int, overlap: int, unit: str, at: str) -> list[str]:
    if at not in (WINDOW, SENTENCE):
        raise SettingError(f"at={at!r} is not known; use {WINDOW} or {SENTENCE}")
    if at == SENTENCE:
        return splitter.split(text, size, overlap, unit)
    if unit != "tokens":
        raise SettingError(f"at={WINDOW} cuts tokens; with unit={unit!r} use at={SENTENCE}")
    splitter.check(size, overlap, unit)
    return [part for part in map(str.strip, _windows(text, size, overlap)) if part]


def _windows(text: str, size: int, overlap: int) -> Iterator[str]:
    """A window at every `size - overlap` tokens, the last ones within the overlap of the one before, as in the code.

    >>> list(_windows("one two three four five", 3, 1))
    ['one two three', ' three four five', ' five']
    """
    starts = tokens.starts(text)
    last = len(starts) - 1
    for begin in range(0, last, size - overlap):
        yield text[starts[begin] : starts[min(begin + size, last)]]


def read_textbooks(folder: Path, size: int = 1200, overlap: int = 100, unit: str = "tokens") -> Converted:
    """The questions, kind by kind, and the books, split into passages as those of UltraDomain. The choices follow the
    question, one a line; a letter is an answer, and with a single one the text of its choice is another."""
    questions = tuple(question for kind in KINDS for question in _of_textbooks(folder, kind))
    passages = tuple(
        Passage(f"textbook{book}#{number}", f"textbook{book}", text)
        for book in range(1, BOOKS + 1)
        for number, text in enumerate(splitter.split(_text(folder, book), size, overlap, unit), 1)
    )
    return Converted(passages, questions)


def _of_textbooks(folder: Path, kind: str) -> Iterator[Question]:
    for number, (where, row) in enumerate(rows(single_file(folder, f"{kind}.jsonl")), 1):
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
        raise DataError(f"{where}: 'Answer' is missing; fetch the file again")
    return text.strip()


def _text(folder: Path, book: int) -> str:
    return storable(read_text(single_file(folder, f"textbook{book}.md")))


def read_levels(folder: Path, domain: str, size: int = 1200, overlap: int = 100, unit: str = "tokens") -> Converted:
    """The questions with their level as type, and the texts, split into passages as those of UltraDomain."""
    passages = tuple(
        Passage(f"{string(row, 'corpus_name', where)}#{number}", string(row, "corpus_name", where), text)
        for where, row in _listed(single_file(folder, f"{domain}.json"))
        for number, text in enumerate(splitter.split(storable(string(row, "context", where)), size, overlap, unit), 1)
    )
    questions = tuple(
        Question(
            string(row, "id", where),
            storable(string(row, "question", where)),
            (storable(_answer(row.get("answer"), where)),),
            type=string(row, "question_type", where).lower(),
        )
        for where, row in _listed(single_file(folder, f"{domain}_questions.json"))
    )
    return Converted(passages, questions, documents=len({passage.title for passage in passages}))


def read_multihop_rag(folder: Path, size: int = 256, overlap: int = 0, unit: str = "tokens") -> Converted:
    """The articles, split into passages of the length that the publisher's script takes, under their title, source and
    date, which the questions name. The gold passages of a question are those that hold its facts, whatever white space
    is in them, as the publisher's script counts hits; a question with a fact that was cut has no support. `null`
    questions have no evidence."""
    pieces: dict[str, list[Passage]] = {}
    articles = list(_listed(single_file(folder, "corpus.json")))
    for number, (where, row) in enumerate(articles, 1):
        title = storable(string(row, "title", where))
        named = f"{title} ({string(row, 'source', where)}, {string(row, 'published_at', where)[:10]})"
        split = splitter.split(storable(string(row, "body", where)), size, overlap, unit)
        pieces.setdefault(title, []).extend(
            Passage(f"article{number}#{part}", named, text) for part, text in enumerate(split, 1)
        )
    questions = tuple(
        _of_articles(number, row, where, pieces)
        for number, (where, row) in enumerate(_listed(single_file(folder, "MultiHopRAG.json")), 1)
    )
    lacking = sum(not question.support for question in questions if question.hops)
    notes = (f"{counted(lacking, 'question')} with a fact that no passage holds whole: no support",) if lacking else ()
    passages = tuple(passage for parts in pieces.values() for passage in parts)
    return Converted(passages, questions, documents=len(articles), notes=notes)


def _of_articles(number: int, row: dict, where: str, pieces: dict[str, list[Passage]]) -> Question:
    facts = [
        (storable(string(e, "title", where)), string(e, "fact", where)) for e in objects(row, "evidence_list", where)
    ]
    gold = [
        next((piece.id for piece in pieces.get(title, ()) if _packed(fact) in _packed(piece.text)), None)
        for title, fact in facts
    ]
    return Question(
        f"multihop-rag-{number:04}",
        storable(string(row, "query", where)),
        (storable(_answer(row.get("answer"), where)),),
        type=string(row, "question_type", where).removesuffix("_query"),
        hops=len({title for title, _ in facts}) or None,
        support=() if None in gold else tuple(dict.fromkeys(gold)),
    )


def _packed(text: str) -> str:
    return "".join(text.split())


def _listed(path: Path) -> Iterator[tuple[str, dict]]:
    """The objects of a JSON list, each with the words for its place."""
    for number, row in enumerate(read_json(path, list), 1):
        if not isinstance(row, dict):
            raise DataError(f"{path}, entry {number}: a JSON object is expected; fetch the file again")
        yield f"{path}, entry {number}", row


def read_anonyrag(folder: Path, language: str) -> Converted:
    """`annoyrag_<language>_text_chunks.parquet` (idx, title, chunk) and `…_qa.parquet` (question, answer, relations,
    entities, query_type). `relations` and `entities` are those that a question was made from, and are not read."""
    chunks = table(single_file(folder, f"annoyrag_{language}_text_chunks.parquet"), "idx", "title", "chunk")
    rows = table(
        single_file(folder, f"annoyrag_{language}_qa.parquet"),
        "question",
        "answer",
        "relations",
        "entities",
        "query_type",
    )
    texts, repeated = passages(
        f"an{language[0]}", ((str(row["title"] or ""), str(row["chunk"] or "")) for row in chunks)
    )
    questions = tuple(
        Question(
            f"anonyrag-{language}-{number:04}",
            storable(row["question"]),
            (storable(str(row["answer"])),),
            type=row["query_type"],
        )
        for number, row in enumerate(rows, 1)
    )
    return Converted(texts, questions, repeated=repeated)


def read_ketrag(folder: Path, prefix: str = "mk") -> Converted:
    """Read a folder with `document.txt` and `qa-pairs.json`, at any depth. There are no gold passages and no
    aliases."""
    document, pairs = single_file(folder, "document.txt"), single_file(folder, "qa-pairs.json")
    lines, asked_pairs = read_text(document).split("\n"), read_json(pairs, list)
    try:
        questions = tuple(map(_of_ketrag, asked_pairs))
    except (KeyError, TypeError) as error:
        raise DataError(
            f"{folder} is not in KET-RAG's layout ({type(error).__name__}: {error}); fetch it again"
        ) from None
    texts, repeated = passages(prefix, (("", line) for line in lines if line.strip()))
    return Converted(
        texts, questions, repeated=repeated, notes=("no titles, no gold passages and no aliases are given",)
    )


def _of_ketrag(row: dict) -> Question:
    kind = re.match(r"([2-4])hop\d?(?=__)", row["id"])  # MuSiQue's ids state the shape
    return Question(
        row["id"],
        storable(row["question"]),
        (storable(str(row["answer"])),),
        type=kind[0] if kind else None,
        hops=int(kind[1]) if kind else None,
    )
