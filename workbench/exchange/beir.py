"""BEIR folders, and others of their layout: `corpus.jsonl` (`_id`, `title`, `text`), `queries.jsonl` (`_id`, `text`),
and the judgements of each split in `qrels/<split>.tsv`. TREC qrels are read as well (`qrels/<split>.txt`), and a single
file of either form beside the corpus (`qrels.tsv`, `qrels.txt`).

Passages with a relevance above 0 are gold; grades are not used. Queries have no answers. As in BEIR's own loader, the
questions are those that the split judges, and of a folder without judgements all queries, without gold passages.
"""

from __future__ import annotations

from pathlib import Path

from workbench.data.folder import Dataset, is_beir
from workbench.data.lines import once, rows, short, string
from workbench.data.origin import Origin
from workbench.errors import DataError
from workbench.exchange.files import only
from workbench.exchange.trec import judgements
from workbench.records import Passage, Question
from workbench.text import counted

LOOKED_FOR = "a BEIR folder (a corpus.jsonl with `_id`, and a queries.jsonl)"
DEFAULT = "test"  # as in BEIR
_SUFFIXES = (".tsv", ".txt", ".qrels")


def find(path: Path) -> list[Path]:
    return [path] if path.is_dir() and is_beir(path) else []


def read(path: Path, name: str, split: str | None = None, strict: bool = True) -> Dataset:
    """`split`: `test` by default, or the only one. `strict=False` drops judgements of unknown passages or queries."""
    folder = only(find(path), LOOKED_FOR, path)
    passages, empty = _read_corpus(folder / "corpus.jsonl")
    queries = _read_queries(folder / "queries.jsonl")
    qrels = _qrels_file(folder, split)
    notes = [f"{counted(empty, 'passage')} without title and text: left out"] if empty else []
    if qrels is None:
        questions = [Question(query, text) for query, text in queries.items()]
    else:
        gold, dropped = _read_gold(qrels, queries, {passage.id for passage in passages}, strict)
        questions = [Question(query, queries[query], support=support) for query, support in gold.items()]
        others = len(queries) - len(gold)
        notes += [f"{counted(others, 'query', 'queries')} that {qrels.name} does not judge: left out"] if others else []
        notes += [f"{counted(dropped, 'judgement')} of unknown passages or queries: left out"] if dropped else []
    settings = {"split": qrels.stem} if qrels else {}
    origin = Origin("a BEIR folder", settings, notes=tuple(notes))
    return Dataset(name, tuple(passages), tuple(questions), folder=folder, origin=origin)


def _read_corpus(path: Path) -> tuple[list[Passage], int]:
    """The passages, and how many are empty, which BEIR's corpora have."""
    passages, empty = [], 0
    seen: dict[str, str] = {}
    for where, row in rows(path):
        passage = Passage(
            string(row, "_id", where), string(row, "title", where, default=""), string(row, "text", where, default="")
        )
        once(seen, passage.id, "passage", where, "_id")
        if (passage.title + passage.text).strip():
            passages.append(passage)
        else:
            empty += 1
    if not passages:
        raise DataError(f'{path} holds no passage with a text; it needs one {{"_id", "title", "text"}} a line')
    return passages, empty


def _read_queries(path: Path) -> dict[str, str]:
    """Query id → text, in the order of the file."""
    queries: dict[str, str] = {}
    seen: dict[str, str] = {}
    for where, row in rows(path):
        query, text = string(row, "_id", where), string(row, "text", where)
        once(seen, query, "query", where, "_id")
        if not text.strip():
            raise DataError(f"{where}: query {short(query)} is empty; give it a text or leave the line out")
        queries[query] = text
    return queries


def _qrels_file(folder: Path, split: str | None) -> Path | None:
    """The judgements of a split; None in a folder without any."""
    there = (*sorted((folder / "qrels").glob("*")), *sorted(folder.glob("qrels.*")))
    files = {file.stem: file for file in there if file.suffix in _SUFFIXES and file.is_file()}
    if split is None:
        if not files:
            return None
        split = DEFAULT if len(files) > 1 else next(iter(files))
    if split not in files:
        others = f"it has {', '.join(files)}; name one as split=" if files else "it has none at all"
        raise DataError(f"{folder} has no judgements of the split {split!r} (qrels/{split}.tsv); {others}")
    return files[split]


def _read_gold(
    path: Path, queries: dict[str, str], passages: set[str], strict: bool
) -> tuple[dict[str, tuple[str, ...]], int]:
    """Query id → its gold passages, of the queries that are judged in the order of their file, and how many judgements
    were dropped."""
    gold: dict[str, list[str]] = {}
    seen: dict[tuple[str, str], str] = {}
    dropped = 0
    for where, query, passage, relevance in judgements(path):
        once(seen, (query, passage), "judgement of", where, "query and passage")
        unknown = query not in queries and f"the query {short(query)} is not in queries.jsonl"
        if relevance > 0 and passage not in passages:
            unknown = unknown or f"the passage {short(passage)} is not in corpus.jsonl, or has no text there"
        if unknown and strict:
            raise DataError(f"{where}: {unknown}; correct the line, or skip such lines: exchange.read(…, strict=False)")
        if unknown:
            dropped += 1
            continue
        judged = gold.setdefault(query, [])
        if relevance > 0:
            judged.append(passage)
    return {query: tuple(gold[query]) for query in queries if query in gold}, dropped
