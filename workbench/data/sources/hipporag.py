"""The samples published by HippoRAG and HippoRAG 2, and data sets with the same questions: CatRAG's sample of HoVer and
the whole development sets of HotpotQA, MuSiQue and 2WikiMultiHopQA.

Of a sample, `<name>_corpus.json` is a list of {"title", "text"}, or one object of title → sentences; `<name>.json` is a
list of questions, with gold passages in `paragraphs`, `contexts`, or `context` with `supporting_facts`.

In a development set every question brings its own paragraphs, gold and distracting, and the corpus is these, pooled.
The thesis on reasoning samples them (`musique/dev/500@42`).

CatRAG publishes 1,000 claims of HoVer with a pooled corpus. Its paper describes its claims as 3- and 4-hop, but no
public description of `hover.json` mentions hops. `hover_dev_release_v1.1.json` of HoVer does: it is a list of {"uid",
"claim", "supporting_facts": [[title, sentence]], "label", "num_hops", "hpqa_id"}, without texts of Wikipedia.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.data import lines
from workbench.data.folder import Extraction
from workbench.data.lines import read_json
from workbench.data.sources.entry import Converted, passage_id, passages, single_file, table
from workbench.errors import DataError
from workbench.records import Question
from workbench.text import counted, storable

_PREFIXES = {"musique": "mq", "hotpotqa": "hp", "2wikimultihopqa": "tw", "popqa": "pq", "nq_rear": "nq", "hover": "hv"}
_TWO_WIKI_HOPS = {"compositional": 2, "inference": 2, "comparison": 2, "bridge_comparison": 4}
_HOVER_DEV = "hover_dev_release_v1.1.json"
_MANY_HOPS = (3, 4)
_IDS = ("hover_id", "id", "_id", "uid")
LABELS = ("SUPPORTED", "NOT_SUPPORTED")  # of HoVer's claims
# CatRAG's reader adds no words to a claim, but its worked examples have these.
_CUE = re.compile(r"\A\s*verify the following claim\s*:\s*", re.IGNORECASE)


def read(folder: Path, name: str | None = None) -> Converted:
    """Read a folder with `<name>_corpus.json` and `<name>.json`; without a name, the only ones there."""
    corpus = single_file(folder, f"{name or '*'}_corpus.json")
    name = corpus.name.removesuffix("_corpus.json")
    try:
        return _converted(corpus, corpus.with_name(f"{name}.json"), sorted(folder.glob("openie_*.json")))
    except DataError:
        raise
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        why = f"{type(error).__name__}: {error}"
        raise DataError(
            f"{corpus.parent}: {name}.json or its corpus is not in HippoRAG's layout ({why}); fetch both again"
        ) from None


def _converted(corpus: Path, questions_file: Path, extracted: list[Path]) -> Converted:
    family = next((family for family in _PREFIXES if questions_file.stem.startswith(family)), questions_file.stem)
    prefix = _PREFIXES.get(family, family)
    texts, repeated = passages(prefix, _texts(corpus, family))
    ids = {passage.id for passage in texts}
    rows = read_json(questions_file, list)
    questions = [
        _question(row, family, prefix, ids, f"{questions_file}, question {n}") for n, row in enumerate(rows, 1)
    ]
    notes = []
    lacking = [question.id for question, row in zip(questions, rows) if not question.support and any(_gold(row))]
    if lacking:
        notes.append(
            f"{len(lacking)} questions name gold that is not in the corpus and have no support: {lacking[0]} …"
        )
    extractions = None
    if extracted:
        extractions, left_out = _extractions(extracted[0], prefix, ids)
        notes.append(f"{left_out} extracted entries that are no triples are left out")
    return Converted(texts, tuple(_apart(questions)), extractions, repeated=repeated, notes=tuple(notes))


def read_pooled(rows: Iterable[tuple[str, dict]], family: str) -> Converted:
    """(place, row) of questions that bring their own paragraphs, gold and others, in `context` or `paragraphs`. The
    corpus is all of these, each once, in the order in which they occur."""
    rows, prefix = list(rows), _PREFIXES[family]
    try:
        own = [
            [
                (_title(title, family), storable(_joined(text, family)))
                for title, text in map(_titled, row.get("context") or row["paragraphs"])
            ]
            for _, row in rows
        ]
        texts, repeated = passages(prefix, (paragraph for paragraphs in own for paragraph in paragraphs))
        passage_ids = {passage.id for passage in texts}
        questions = [_question(row, family, prefix, passage_ids, where) for where, row in rows]
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        place = rows[0][0].partition(", ")[0] if rows else family
        raise DataError(
            f"{place} is not in the layout of {family} ({type(error).__name__}: {error}); fetch it again"
        ) from None
    questions = list(_apart(questions))
    ids = ((passage_id(prefix, title.strip(), text.strip()) for title, text in paragraphs) for paragraphs in own)
    lacking = sum(not question.support for question in questions)
    notes = (f"{counted(lacking, 'question')} without gold among the paragraphs: no support",) if lacking else ()
    return Converted(
        texts,
        tuple(questions),
        repeated=repeated,
        notes=notes,
        paragraphs={question.id: tuple(dict.fromkeys(paragraphs)) for question, paragraphs in zip(questions, ids)},
    )


def _apart(questions: Iterable[Question]) -> Iterator[Question]:
    """Make question ids unique by adding `-2` and so on to repeated ones."""
    seen: Counter[str] = Counter()
    for question in questions:
        seen[question.id] += 1
        again = seen[question.id]
        yield question if again == 1 else replace(question, id=f"{question.id}-{again}")


def _texts(path: Path, family: str) -> Iterator[tuple[str, str]]:
    corpus = read_json(path, list, dict)
    pairs = corpus.items() if isinstance(corpus, dict) else ((row.get("title", ""), row.get("text")) for row in corpus)
    for title, text in pairs:
        yield _title(title, family), storable(_joined(text, family))


def _question(row: dict, family: str, prefix: str, ids: set[str], where: str) -> Question:
    text = _question_text(row, family, where)
    identifier = str(next(filter(None, map(row.get, _IDS)), ""))
    identifier = identifier or f"{family}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    gold = [_id(passage, family, prefix) for passage in _gold(row)]
    answers = _answers(row, where)
    if family == "hover":
        answers = [_label(row.get("label") or answers[0], where)]
    kind, hops = _kind(row, family, identifier, answers)
    return Question(
        id=identifier,
        question=text,
        answers=tuple(dict.fromkeys(map(storable, answers))),
        type=kind,
        hops=hops,
        support=tuple(dict.fromkeys(gold)) if set(gold) <= ids else (),
        decomposition=_steps(row, family, prefix) or None,
    )


def _question_text(row: dict, family: str, where: str) -> str:
    text = row.get("question") or row.get("claim")
    if isinstance(text, str) and family == "hover":
        text = _CUE.sub("", text)
    if not isinstance(text, str) or not text.strip():
        raise DataError(f"{where}: the field of the question is missing; there are {', '.join(row)}")
    return storable(text)


def _kind(row: dict, family: str, identifier: str, answers: list[str]) -> tuple[str | None, int | None]:
    """(type, hops)."""
    kind, hops = row.get("type"), None
    if family == "musique":
        shape = re.match(r"([2-4])hop\d?(?=__)", identifier)
        kind, hops = (shape[0], int(shape[1])) if shape else (None, None)
    elif family == "hotpotqa":
        hops = 2
    elif family == "2wikimultihopqa":
        hops = _TWO_WIKI_HOPS.get(kind)
    elif family in ("popqa", "nq_rear"):
        hops = 1
    elif family == "hover":
        hops, kind = row.get("num_hops"), kind or answers[0]
    return kind, hops


def _answers(row: dict, where: str) -> list[str]:
    """The answer, then its aliases. PopQA's lists of aliases are strings, and each stays one gold answer, as in the
    released code: with them split, EM and accuracy would be higher than any that was published."""
    value = next(
        (row[field] for field in ("answer", "gold_ans", "reference", "answers", "obj", "label") if field in row), None
    )
    if value is None:
        raise DataError(f"{where}: the field of the answer is missing; there are {', '.join(row)}")
    answers = [*_strings(value), *_strings(row.get("answer_aliases"))]
    if "obj" in row:  # PopQA
        for field in ("possible_answers", "o_wiki_title", "o_aliases"):
            answers += _strings(row.get(field))
    return answers


def _label(given: Any, where: str) -> str:
    label = re.sub(r"[\s_-]+", "_", str(given).strip().upper())
    if label not in LABELS:
        raise DataError(f"{where}: the label is {given!r}, where {' or '.join(LABELS)} is expected; correct the file")
    return label


def _strings(value: Any) -> list[str]:
    """One string or several, as a list."""
    return [] if value is None else [str(part) for part in value] if isinstance(value, list) else [str(value)]


def _gold(row: dict) -> Iterable[tuple[str, Any]]:
    """(title, text or sentences) of the gold passages, in the order of the facts that name them."""
    context = row.get("context") or row.get("contexts")
    if isinstance(context, list) and "supporting_facts" in row:
        texts = dict(map(_titled, context))
        return [(title, texts.get(title)) for title in dict.fromkeys(map(_title_of, row["supporting_facts"]))]
    listed = row.get("paragraphs") or row.get("contexts") or []
    return [(p.get("title", ""), _text(p)) for p in listed if isinstance(p, dict) and p.get("is_supporting", True)]


def _titled(passage: list | dict) -> tuple[str, Any]:
    """(title, text or sentences) of a passage as HotpotQA writes it, or as an object."""
    return (passage.get("title", ""), _text(passage)) if isinstance(passage, dict) else tuple(passage[:2])


def _title_of(fact: list | dict) -> str:
    """The title in [title, sentence], or in the object that copies of HoVer hold instead."""
    return fact["key"] if isinstance(fact, dict) else fact[0]


def _steps(row: dict, family: str, prefix: str) -> tuple[dict, ...]:
    """The single-hop steps of a MuSiQue question; `#1` in a later step is the answer of the first."""
    supports = {p.get("idx"): _id((p.get("title", ""), _text(p)), family, prefix) for p in row.get("paragraphs") or ()}
    return tuple(
        {
            "id": str(step["id"]),
            "question": step["question"],
            "answer": step["answer"],
            "support": supports.get(step.get("paragraph_support_idx")),
        }
        for step in row.get("question_decomposition") or ()
    )


def _extractions(path: Path, prefix: str, ids: set[str]) -> tuple[tuple[Extraction, ...], int]:
    """The extractions of HippoRAG's `openie_*.json`, and the number of entries that were not triples of strings."""
    model = re.search(r"ner_(.+)_\d+$", path.stem)
    by_id, left_out = {}, 0
    for row in read_json(path, dict)["docs"]:
        identifier = passage_id(prefix, row["title"].strip(), row["text"].strip())
        triples_read = row["extracted_triples"]
        triples = [
            t for t in triples_read if isinstance(t, list) and len(t) == 3 and all(isinstance(m, str) for m in t)
        ]
        left_out += len(triples_read) - len(triples)
        if identifier in ids:
            entities = tuple(storable(str(entity)) for entity in row["extracted_entities"])
            made_by = f"openie.jsonl ({model[1]})" if model else "openie.jsonl"
            by_id[identifier] = Extraction(
                identifier, entities, tuple(tuple(map(storable, t)) for t in triples), made_by
            )
    return tuple(by_id.values()), left_out


def _id(passage: tuple[str, Any], family: str, prefix: str) -> str:
    title, text = passage
    return passage_id(prefix, _title(title, family).strip(), storable(_joined(text, family)).strip())


def _text(paragraph: dict) -> str:
    return paragraph["text"] if "text" in paragraph else paragraph.get("paragraph_text", "")


def _title(title: Any, family: str) -> str:
    """HotpotQA has HTML escapes in titles but not in texts."""
    return storable(html.unescape(str(title)) if family == "hotpotqa" else str(title))


def _joined(text: Any, family: str) -> str:
    """HotpotQA's sentences begin with a space, those of the others do not."""
    return ("" if family == "hotpotqa" else " ").join(text) if isinstance(text, list) else str(text or "")


def read_hotpotqa(folder: Path) -> Converted:
    """The authors' Parquet file on the hub: `context` and `supporting_facts` are structs of columns."""
    path = single_file(folder, "validation-*.parquet")
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
        raise DataError(f"{path} lacks columns of HotpotQA ({type(error).__name__}: {error}); fetch it again") from None
    return read_pooled(_placed(path, listed), "hotpotqa")


def read_musique(folder: Path) -> Converted:
    """The authors' JSON Lines file, with the paragraphs of a question in `paragraphs`."""
    return read_pooled(lines.rows(single_file(folder, "musique_ans_v1.0_dev.jsonl")), "musique")


def read_two_wiki(folder: Path) -> Converted:
    """The authors' Parquet file on the hub: `context` and `supporting_facts` are HotpotQA's lists, written as JSON."""
    path = single_file(folder, "dev.parquet")
    rows = table(path, "_id", "type", "question", "answer", "context", "supporting_facts")
    try:
        listed = [{**row, **{name: _json(row[name]) for name in ("context", "supporting_facts")}} for row in rows]
    except ValueError as error:
        raise DataError(f"{path} lacks columns of 2WikiMultiHopQA ({error}); fetch it again") from None
    return read_pooled(_placed(path, listed), "2wikimultihopqa")


def _json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def _placed(path: Path, rows: list[dict]) -> Iterator[tuple[str, dict]]:
    return ((f"{path}, question {number}", row) for number, row in enumerate(rows, 1))


def read_many_hops(folder: Path) -> Converted:
    """The claims of CatRAG's sample that HoVer's development set counts as 3- or 4-hop, with that number of hops."""
    converted, hops = read(folder, "hover"), _hops_of_claims(folder / _HOVER_DEV)
    hops_of = lambda claim: hops.get(claim.id, hops.get(_plain(claim.question)))  # noqa: E731
    claims = [replace(question, hops=hops_of(question)) for question in converted.questions]
    many = tuple(question for question in claims if question.hops in _MANY_HOPS)
    return replace(converted, questions=many, notes=(*converted.notes, *_left_out(claims)))


def _hops_of_claims(path: Path) -> dict[str, int]:
    """uid, and claim, → number of hops."""
    hops_of: dict[str, int] = {}
    for number, row in enumerate(read_json(path, list), 1):
        try:
            hops_of |= dict.fromkeys((str(row["uid"]), _plain(row["claim"])), int(row["num_hops"]))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            why = f"{type(error).__name__}: {error}"
            raise DataError(
                f"{path}, claim {number}: HoVer's fields uid, claim and num_hops are expected ({why}); fetch it again"
            ) from None
    return hops_of


def _plain(claim: str) -> str:
    return " ".join(claim.split())


def _left_out(questions: list[Question]) -> Iterator[str]:
    """A note on the claims that are neither 3- nor 4-hop."""
    for hops, count in Counter(question.hops for question in questions if question.hops not in _MANY_HOPS).items():
        why = "HoVer's development set does not hold" if hops is None else f"HoVer counts as {hops}-hop"
        yield f"{count:,} claims that {why} are left out"
