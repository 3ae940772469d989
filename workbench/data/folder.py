"""The folder format: `corpus.jsonl`, and perhaps `questions*.jsonl` and `openie.jsonl`. See `docs/data.md`.

Reading is strict about what would silently spoil a number (duplicate ids, gold passages that are not in the corpus)
and says file, line and remedy."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.errors import DataError
from workbench.records import Passage, Question, Record
from workbench.text import storable

_KINDS = {str: "a string", int: "a whole number", bool: "true or false", list: "a list"}


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
        for passage in self.passages:
            if passage.id == passage_id:
                return passage
        raise DataError(f"{self.name!r} has no passage {passage_id!r}; its `passages` list the ids")


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
    seen: dict[str, str] = {}
    for path in sorted(folder.glob("questions*.jsonl")):
        questions += read_questions(path, known, seen)
    openie = folder / "openie.jsonl"
    return Dataset(
        name=name or folder.resolve().name,
        passages=tuple(passages),
        questions=tuple(questions),
        extractions=tuple(read_extractions(openie, known)) if openie.exists() else None,
        folder=folder,
    )


def read_corpus(path: Path) -> list[Passage]:
    passages: list[Passage] = []
    seen: dict[str, str] = {}
    for where, row in _rows(path):
        passage_id, text = _string(row, "id", where), _string(row, "text", where)
        title = _string(row, "title", where, default="")
        if not (title + text).strip():
            raise DataError(f"{where}: passage {passage_id!r} is empty; give it a text or leave the line out")
        _once(seen, passage_id, "passage", where)
        passages.append(Passage(passage_id, title, text))
    if not passages:
        raise DataError(f'{path} holds no passage; it needs one {{"id", "title", "text"}} a line')
    return passages


def read_questions(path: Path, known: set[str] | None = None, seen: dict[str, str] | None = None) -> list[Question]:
    """Questions of one file. With `known` passage ids, gold that is not among them is an error: recall would be
    wrong.

    `seen` (question id → place) is shared by the files of a folder, so that their ids stay apart.
    """
    questions: list[Question] = []
    seen = {} if seen is None else seen
    for where, row in _rows(path):
        question_id = _string(row, "id", where, default=f"{path.stem}-{len(questions) + 1}")
        _once(seen, question_id, "question", where)
        support = _strings(row, "support", where)
        missing = [passage_id for passage_id in support if known is not None and passage_id not in known]
        if missing:
            raise DataError(
                f"{where}: the gold passage {missing[0]!r} is not in the corpus, so recall could not be right; "
                "mend 'support' or add the passage"
            )
        questions.append(
            Question(
                id=question_id,
                question=_string(row, "question", where),
                answers=_strings(row, "answers", where) or _answer(row, where),
                type=_value(row, "type", where, str),
                hops=_value(row, "hops", where, int),
                support=support,
                decomposition=_objects(row, "decomposition", where) or None,
                answer_set=_value(row, "answer_set", where, bool, False),
            )
        )
    return questions


def read_extractions(path: Path, known: set[str]) -> list[Extraction]:
    extractions: list[Extraction] = []
    seen: dict[str, str] = {}
    for where, row in _rows(path):
        passage_id = _string(row, "passage_id", where)
        if passage_id not in known:
            raise DataError(f"{where}: passage {passage_id!r} is not in the corpus; remove the line or add the passage")
        _once(seen, passage_id, "passage", where)
        triples = _value(row, "triples", where, list, [])
        bad = [t for t in triples if not (isinstance(t, list) and len(t) == 3 and all(isinstance(m, str) for m in t))]
        if bad:
            raise DataError(f"{where}: {bad[0]!r} is not a triple; each one is a list of three strings")
        extractions.append(
            Extraction(
                passage_id,
                tuple(storable(str(entity)) for entity in _value(row, "entities", where, list, [])),
                tuple(tuple(storable(member) for member in triple) for triple in triples),
                f"openie.jsonl ({row['model']})" if row.get("model") else "openie.jsonl",
            )
        )
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
                raise DataError(
                    f"{where} is not UTF-8 ({error.reason} at byte {error.start}); save the file as UTF-8"
                ) from None
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise DataError(f"{where} is not JSON ({error}); each line should be one JSON object") from None
            if not isinstance(row, dict):
                raise DataError(f"{where} is a JSON {type(row).__name__}; each line should be one JSON object")
            yield where, row


def _value(row: dict, name: str, where: str, kind: type, default: Any = None) -> Any:
    value = row.get(name)
    if value is None:
        return default
    if type(value) is not kind:
        raise DataError(f"{where}: {name!r} is {value!r}; it should be {_KINDS[kind]}")
    return storable(value) if kind is str else value


def _string(row: dict, name: str, where: str, default: str | None = None) -> str:
    value = _value(row, name, where, str, default)
    if value is None:
        raise DataError(f"{where}: {name!r} is missing; the line has {', '.join(row) or 'no fields'}")
    return value


def _strings(row: dict, name: str, where: str) -> tuple[str, ...]:
    values = row.get(name) or []
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise DataError(f"{where}: {name!r} is {values!r}; it should be a list of strings")
    return tuple(map(storable, values))


def _answer(row: dict, where: str) -> tuple[str, ...]:
    """A single `answer`, for files that have no list of them."""
    answer = _value(row, "answer", where, str)
    return () if answer is None else (answer,)


def _objects(row: dict, name: str, where: str) -> tuple[dict, ...]:
    values = _value(row, name, where, list, [])
    if not all(isinstance(value, dict) for value in values):
        raise DataError(f"{where}: {name!r} is {values!r}; it should be a list of objects")
    return tuple(values)


def _once(seen: dict[str, str], identifier: str, what: str, where: str) -> None:
    """Remember where an id was used; the second time is an error."""
    if identifier in seen:
        raise DataError(
            f"{where}: the {what} id {identifier!r} stands already in {seen[identifier]}; ids must be unique"
        )
    seen[identifier] = where
