"""The folder format: `corpus.jsonl` or `triples.tsv`, and optional files. See `docs/data.md`.

Reading rejects what would silently spoil a number (duplicate ids, gold passages that are not in the corpus), and errors
name file, line and remedy.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import count, islice, takewhile
from json.encoder import encode_basestring_ascii as _quoted
from pathlib import Path
from typing import Any

from workbench.data.graph import GoldGraph, Schema, in_corpus, read_graph, read_schema
from workbench.data.lines import objects, once, opened, read_object, record, rows, short, string, strings, value
from workbench.data.origin import Origin, read_origin
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.data.schemas import covering
from workbench.errors import DataError
from workbench.records import Passage, Question, Record, Triple
from workbench.text import storable

OWN = "own"  # the id of a question that is in no list
_COMPARED = 10_000  # ids that an unknown one is compared with


@dataclass(frozen=True, slots=True, repr=False)
class Extraction(Record):
    """The extraction from one passage: entities and triples as received, not normalised."""

    passage_id: str
    entities: tuple[str, ...]
    triples: tuple[tuple[str, str, str], ...]
    made_by: str
    failure: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Dataset(Record):
    """A corpus with its questions and, if the folder has them, ready-made extractions, a gold graph and triples.

    `triples` are a ready graph, with or without a corpus; `origin` records the source of everything. `profiles` are the
    descriptions of entities and relations from an imported index; `left_out` lists what could not be imported. `schema`
    defines the types and relations of the graph or the triples. `extraction` names the one of the `offers` that the
    extractions and profiles are, if they are one (`data/curated.py`).
    """

    name: str
    passages: tuple[Passage, ...]
    questions: tuple[Question, ...] = ()
    extractions: tuple[Extraction, ...] | None = None
    folder: Path | None = None
    graph: GoldGraph | None = None
    triples: tuple[Triple, ...] = ()
    origin: Origin | None = None
    profiles: Profiles | None = None
    left_out: tuple[str, ...] = ()
    schema: Schema | None = None
    extraction: str | None = None

    @property
    def offers(self) -> tuple[str, ...]:
        """Names of the extractions that `Index.build(data, extraction=…)` takes: `curated` where there is a gold
        graph."""
        return ("curated",) if self.graph is not None else ()

    @property
    def fingerprint(self) -> str:
        """Hash of the corpus: ids, titles and texts in order."""
        return fingerprint(self.passages)

    def passage(self, passage_id: str) -> Passage:
        for passage in self.passages:
            if passage.id == passage_id:
                return passage
        raise DataError(f"{self.name!r} has no passage {passage_id!r}; its `passages` list the ids")

    def question(self, wanted: str | None = None) -> Question:
        """The question of this id or text; any other text as a question without gold, with the id `own`. By default the
        first, or one about the first passage, or triple, where there are none."""
        if wanted is None:
            first = self.passages[0].title if self.passages else self.triples[0].subject
            return next(iter(self.questions), Question(OWN, f"What is {first or 'the first text'}?"))
        listed = (question for question in self.questions if wanted in (question.id, question.question))
        return next(listed, Question(OWN, wanted))


def fingerprint(passages: tuple[Passage, ...]) -> str:
    digest = hashlib.sha256()
    # As JSON, but for what `json.dumps` does for each value besides writing it.
    lines = (f"[{_quoted(passage.id)}, {_quoted(passage.title)}, {_quoted(passage.text)}]" for passage in passages)
    while text := "".join(islice(lines, 1_000)):
        digest.update(text.encode("ascii"))
    return digest.hexdigest()[:16]


def is_folder(folder: Path) -> bool:
    """Whether a folder has the file that `read_folder` reads the corpus from."""
    return any((folder / name).exists() for name in ("corpus.jsonl", "triples.tsv"))


def is_beir(folder: Path) -> bool:
    """Whether the corpus of a folder is one of BEIR's, which call the id `_id`, by its first line."""
    try:
        _, row = next(rows(folder / "corpus.jsonl"))
    except (DataError, StopIteration):
        return False
    return "_id" in row and "id" not in row


def read_folder(folder: Path, name: str | None = None) -> Dataset:
    """Read and check a data folder."""
    openie, graph, triples = folder / "openie.jsonl", folder / "graph", folder / "triples.tsv"
    origin, profiles = folder / "origin.json", folder / "profiles.json"
    bare = triples.exists() and not (folder / "corpus.jsonl").exists()
    passages = [] if bare else read_corpus(folder / "corpus.jsonl")
    ids = {passage.id for passage in passages}
    questions = questions_in(folder, ids, answer_set=bare)
    gold = read_graph(graph, ids) if graph.is_dir() else None
    facts = tuple(read_triples(triples)) if triples.exists() else ()
    return Dataset(
        name=name or folder.resolve().name,
        passages=tuple(passages),
        questions=questions,
        extractions=tuple(read_extractions(openie, ids)) if openie.exists() else None,
        folder=folder,
        graph=gold,
        triples=facts,
        origin=read_origin(origin) if origin.exists() else None,
        schema=_schema(folder / "schema.json", facts, gold),
        **(read_profiles(profiles, ids) if profiles.exists() else {}),
    )


def _schema(path: Path, triples: tuple[Triple, ...], gold: GoldGraph | None) -> Schema | None:
    """The schema in the folder, otherwise the bundled one that covers the triples, otherwise that of the gold graph."""
    labels = dict.fromkeys(triple.relation for triple in triples)
    if not path.exists():
        return covering(labels) or (gold.schema if gold else None)
    schema = read_schema(path)
    missing = labels.keys() - {relation.name for relation in schema.relations}
    if missing:
        raise DataError(f"{path} has no relation {min(missing)!r}, which triples.tsv has; add it to 'relations'")
    return schema


def read_corpus(path: Path) -> list[Passage]:
    passages: list[Passage] = []
    seen: dict[str, str] = {}
    for where, row in rows(path):
        passage_id, text = string(row, "id", where), string(row, "text", where)
        title = string(row, "title", where, default="")
        if not (title + text).strip():
            raise DataError(f"{where}: passage {short(passage_id)} is empty; give it a text or leave the line out")
        once(seen, passage_id, "passage", where)
        passages.append(Passage(passage_id, title, text))
    if not passages:
        raise DataError(f'{path} contains no passages; each line should be {{"id", "title", "text"}}')
    return passages


def question_files(folder: Path) -> list[Path]:
    """The question files of a folder, in order."""
    return sorted(folder.glob("questions*.jsonl"))


def questions_in(
    folder: Path,
    ids: set[str],
    answer_set: bool = False,
    skipped: Mapping[str, str] | None = None,
    seen: dict[str, str] | None = None,
) -> tuple[Question, ...]:
    """The questions of all these files, with ids unique across them; the arguments are those of `read_questions`."""
    seen = {} if seen is None else seen
    files = question_files(folder)
    each = (read_questions(path, ids, seen, answer_set, skipped) for path in files)
    return tuple(question for of_file in each for question in of_file)


def read_questions(
    path: Path,
    ids: set[str] | None = None,
    seen: dict[str, str] | None = None,
    answer_set: bool = False,
    skipped: Mapping[str, str] | None = None,
) -> list[Question]:
    """Questions of one file. With the passages' `ids`, other gold ids are an error, because recall would be wrong.

    `seen` (question id → place) is shared by the files of a folder, so that their ids are unique. `answer_set` is the
    default for questions that do not state it: questions on a ready graph, which name a `topic_entity`, are answered by
    a set. Likewise, questions in files named `…_2hop.jsonl` have two hops by default. `skipped` (document → reason)
    explains gold that could not be read.
    """
    questions: list[Question] = []
    seen = {} if seen is None else seen
    named_hops = re.search(r"_(\d)hop$", path.stem)
    for where, row in rows(path):
        question_id = string(row, "id", where, default=f"{path.stem}-{len(questions) + 1}")
        once(seen, question_id, "question", where)
        support = tuple(_passage_of(string, ids or ()) for string in strings(row, "support", where))
        missing = [passage_id for passage_id in support if ids is not None and passage_id not in ids]
        if missing:
            raise DataError(f"{where}: {_absent(missing[0], ids or set(), skipped or {})}")
        questions.append(
            Question(
                id=question_id,
                question=string(row, "question", where),
                answers=strings(row, "answers", where) or _single(row, "answer", where),
                type=value(row, "type", where, str) or value(row, "qtype", where, str),
                hops=value(row, "hops", where, int, int(named_hops[1]) if named_hops else None),
                support=support,
                decomposition=objects(row, "decomposition", where) or None,
                answer_set=value(row, "answer_set", where, bool, answer_set or "topic_entity" in row),
                start=strings(row, "start", where) or _single(row, "topic_entity", where),
            )
        )
    return questions


def _passage_of(gold: str, ids: Collection[str]) -> str:
    """The id of a gold passage: of a document that is named instead, its only passage.

    >>> _passage_of("a.txt", {"a.txt#1"}), _passage_of("b.txt", {"b.txt#1", "b.txt#2"})
    ('a.txt#1', 'b.txt')
    """
    only = gold not in ids and f"{gold}#1" in ids and f"{gold}#2" not in ids
    return f"{gold}#1" if only else gold


def _absent(gold: str, ids: set[str], skipped: Mapping[str, str]) -> str:
    """Why `support` cannot name this id, and the remedy. Passages of a document have the ids `<document>#<number>`."""
    for document in (gold, gold.rpartition("#")[0]):
        if document in skipped:
            return (
                f"the gold passage {short(gold)} is of {document!r}, which was skipped ({skipped[document]}); "
                "fix that document, or remove the question"
            )
    passages = list(takewhile(ids.__contains__, (f"{gold}#{number}" for number in count(1))))
    if passages:
        return (
            f"'support' names {short(gold)}, which is a document of several passages, and recall counts passages; "
            f"name those of its passages that hold the answer, of {passages[0]!r} to {passages[-1]!r}"
        )
    near = get_close_matches(gold, sorted(ids)[:_COMPARED], 3) or sorted(ids)[:1]
    such = f" Ids of passages look like {', '.join(map(repr, near))}." if near else ""
    return (
        f"the gold passage {short(gold)} is not in the corpus, so recall could not be right; "
        f"correct 'support' or add the passage.{such}"
    )


def read_extractions(path: Path, ids: set[str]) -> list[Extraction]:
    extractions: list[Extraction] = []
    seen: dict[str, str] = {}
    for where, row in rows(path):
        passage_id = string(row, "passage_id", where)
        if passage_id not in ids:
            raise DataError(
                f"{where}: passage {short(passage_id)} is not in the corpus; remove the line or add the passage"
            )
        once(seen, passage_id, "passage", where)
        triples = value(row, "triples", where, list, [])
        bad = [t for t in triples if not (isinstance(t, list) and len(t) == 3 and all(isinstance(m, str) for m in t))]
        if bad:
            raise DataError(f"{where}: {short(bad[0])} is not a triple; each triple should be a list of three strings")
        extractions.append(
            Extraction(
                passage_id,
                strings(row, "entities", where),
                tuple((storable(subject), storable(relation), storable(obj)) for subject, relation, obj in triples),
                f"openie.jsonl ({model})" if (model := string(row, "model", where, default="")) else "openie.jsonl",
            )
        )
    return extractions


def read_triples(path: Path) -> Iterator[Triple]:
    """`triples.tsv`: head, relation and tail per line, separated by tabs; a duplicate line is an error."""
    seen: dict[tuple[str, ...], int] = {}
    with opened(path) as file:
        content = file.read()
    for number, raw in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        where = f"{path}, line {number}"
        try:
            line = raw.decode("utf-8").removesuffix("\r")
        except UnicodeDecodeError as error:
            raise DataError(f"{where} is not UTF-8 (byte {error.start}); save the file as UTF-8") from None
        if not line.strip():
            continue
        members = tuple(line.split("\t"))
        if len(members) != 3 or not all(member.strip() for member in members):
            raise DataError(f"{where}: {line[:200]!r} should be head, relation and tail with tabs between them")
        if members in seen:
            raise DataError(f"{where}: the triple is already in line {seen[members]}; remove one of them")
        seen[members] = number
        yield Triple(*members)


def read_profiles(path: Path, ids: set[str]) -> dict[str, Any]:
    """`profiles` and `left_out` of a data set, from the file that `write_folder` writes; `ids` are those of its
    passages."""
    content = read_object(path)
    parts: dict[str, tuple] = {}
    for part, kind in (("entities", EntityProfile), ("relations", RelationProfile)):
        read = [(f"{path}, {part} {at}", row) for at, row in enumerate(objects(content, part, str(path)), 1)]
        parts[part] = tuple(record(kind, row, where) for where, row in read)
        for profile, (where, _) in zip(parts[part], read):
            in_corpus(profile.passages, ids, where, "passages")
    made_by, left_out = (strings(content, name, str(path)) for name in ("made_by", "left_out"))
    profiles = Profiles(**parts, made_by=made_by) if content.keys() & parts.keys() else None
    return {"profiles": profiles, "left_out": left_out}


def _single(row: dict, name: str, where: str) -> tuple[str, ...]:
    """A field that must hold a single text and not a list of them."""
    text = value(row, name, where, str)
    return () if text is None else (text,)
