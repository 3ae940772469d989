"""The folder format: `corpus.jsonl`, and perhaps `questions*.jsonl` and `openie.jsonl`. See `docs/data.md`.

Reading is strict about what would silently spoil a number (duplicate ids, gold passages that are not in the corpus) and says
file, line and remedy.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import DataError
from workbench.records import Passage, Question, Record
from workbench.text import storable



@dataclass(frozen=True, slots=True, repr=False)
class Extraction(Record):
    """What was extracted from one passage: entities and triples as they came, un-normalised."""

    passage_id: str
    entities: tuple[str, ...]
    triples: tuple[tuple[str, str, str], ...]
    made_by: str
    failure: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Dataset(Record):
    """A corpus with its questions and, where the folder has them, ready-made extractions."""

    name: str
    passages: tuple[Passage, ...]
    questions: tuple[Question, ...] = ()
    extractions: tuple[Extraction, ...] | None = None
    folder: Path | None = None

    @property
    def fingerprint(self) -> str:
        """Hash of the corpus: ids, titles and texts in their order."""
        return fingerprint(self.passages)

    def passage(self, passage_id: str) -> Passage:
        return next(passage for passage in self.passages if passage.id == passage_id)


def fingerprint(passages: tuple[Passage, ...]) -> str:
    digest = hashlib.sha256()
    for passage in passages:
        digest.update(json.dumps([passage.id, passage.title, passage.text]).encode("ascii"))
    return digest.hexdigest()[:16]


def read_folder(folder: Path, name: str | None = None) -> Dataset:
    """Read and check a data folder."""
    passages = read_corpus(folder / "corpus.jsonl")
    known = {passage.id for passage in passages}
    questions: list[Question] = []
    for path in sorted(folder.glob("questions*.jsonl")):
        questions += read_questions(path, known)
    _no_duplicates([question.id for question in questions], "question", folder)
    openie = folder / "openie.jsonl"
    return Dataset(
        name=name or folder.resolve().name,
        passages=tuple(passages),
        questions=tuple(questions),
        extractions=tuple(read_extractions(openie, known)) if openie.exists() else None,
        folder=folder,
    )


def read_corpus(path: Path) -> list[Passage]:
    passages = []
    for where, row in _rows(path):
        passage_id, text = _string(row, "id", where), _string(row, "text", where)
        title = _string(row, "title", where, default="")
        if not (title + text).strip():
            raise DataError(f"{where}: passage {passage_id!r} is empty; give it a text or leave the line out")
        passages.append(Passage(passage_id, title, text))
    if not passages:
        raise DataError(f"{path} holds no passage; it needs one {{\"id\", \"title\", \"text\"}} a line")
    _no_duplicates([passage.id for passage in passages], "passage", path)
    return passages


def read_questions(path: Path, known: set[str] | None = None) -> list[Question]:
    """Questions of one file. With `known` passage ids, gold that is not among them is an error: recall would be wrong."""
    questions = []
    for where, row in _rows(path):
        answers = row.get("answers", [row["answer"]] if "answer" in row else [])
        support = tuple(row.get("support") or ())
        if not isinstance(answers, list) or not all(isinstance(answer, str) for answer in answers):
            raise DataError(f"{where}: 'answers' is {answers!r}; it should be a list of strings")
        missing = [passage_id for passage_id in support if known is not None and passage_id not in known]
        if missing:
            raise DataError(
                f"{where}: the gold passage {missing[0]!r} is not in the corpus, so recall could not be right; "
                "mend 'support' or add the passage"
            )
        questions.append(
            Question(
                id=_string(row, "id", where, default=f"{path.stem}-{len(questions) + 1}"),
                question=_string(row, "question", where),
                answers=tuple(answers),
                type=row.get("type"),
                hops=row.get("hops"),
                support=support,
                decomposition=tuple(row["decomposition"]) if row.get("decomposition") else None,
                answer_set=bool(row.get("answer_set", False)),
            )
        )
    return questions


def read_extractions(path: Path, known: set[str]) -> list[Extraction]:
    extractions = []
    for where, row in _rows(path):
        passage_id = _string(row, "passage_id", where)
        if passage_id not in known:
            raise DataError(f"{where}: passage {passage_id!r} is not in the corpus; remove the line or add the passage")
        triples = row.get("triples") or []
        bad = [t for t in triples if not (isinstance(t, list) and len(t) == 3 and all(isinstance(m, str) for m in t))]
        if bad:
            raise DataError(f"{where}: {bad[0]!r} is not a triple; each one is a list of three strings")
        extractions.append(
            Extraction(
                passage_id,
                tuple(str(entity) for entity in row.get("entities") or ()),
                tuple(tuple(storable(member) for member in triple) for triple in triples),
                f"openie.jsonl ({row['model']})" if row.get("model") else "openie.jsonl",
            )
        )
    _no_duplicates([extraction.passage_id for extraction in extractions], "passage", path)
    return extractions


def _rows(path: Path) -> Iterator[tuple[str, dict]]:
    """(place, row) for each line of a JSON Lines file; blank lines are passed over."""
    if not path.exists():
        raise DataError(f"{path} is missing; see docs/data.md for what a data folder holds")
    with path.open("rb") as lines:
        for line_number, raw in enumerate(lines, 1):
            where = f"{path}, line {line_number}"
            try:
                line = raw.decode("utf-8-sig" if line_number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise DataError(f"{where} is not UTF-8 ({error.reason} at byte {error.start}); save the file as UTF-8") from None
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                raise DataError(f"{where} is not JSON ({error}); each line should be one JSON object") from None
            if not isinstance(row, dict):
                raise DataError(f"{where} is a JSON {type(row).__name__}; each line should be one JSON object")
            yield where, row


def _string(row: dict, name: str, where: str, default: str | None = None) -> str:
    value = row.get(name, default)
    if value is None:
        raise DataError(f"{where}: {name!r} is missing; the line has {', '.join(row) or 'no fields'}")
    if not isinstance(value, str):
        raise DataError(f"{where}: {name!r} is {value!r}; it should be a string")
    return storable(value)


def _no_duplicates(ids: list[str], what: str, where: Path) -> None:
    seen: set[str] = set()
    for identifier in ids:
        if identifier in seen:
            raise DataError(f"{where}: the {what} id {identifier!r} occurs twice; ids must be unique")
        seen.add(identifier)
