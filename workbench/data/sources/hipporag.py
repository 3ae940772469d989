"""The samples published by HippoRAG and HippoRAG 2. CatRAG's sample of HoVer has their layout (`hover.py`).

`<name>_corpus.json` is a list of {"title", "text"}, or one object of title → sentences; `<name>.json` is a list of
questions, with gold passages in `paragraphs`, `contexts`, or `context` with `supporting_facts`.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from workbench.data.folder import Extraction
from workbench.data.lines import regular
from workbench.data.sources.entry import Converted, Copy, Entry, File, one, passage_id, passages
from workbench.errors import DataError
from workbench.records import Question
from workbench.text import counted, storable

_HUB = "https://huggingface.co/datasets/osunlp/HippoRAG_2"
_REVISION = "5ec05b38deecc3318bb432c69865959c56058990"
_LEGACY = "https://raw.githubusercontent.com/OSU-NLP-Group/HippoRAG/3d95d255a8db0c1699b853cfb4fbe5056708162d"
_SAMPLED = "as sampled by HippoRAG, with the passages of those questions pooled"
_PREFIXES = {"musique": "mq", "hotpotqa": "hp", "2wikimultihopqa": "tw", "popqa": "pq", "nq_rear": "nq", "hover": "hv"}
_TWO_WIKI_HOPS = {"compositional": 2, "inference": 2, "comparison": 2, "bridge_comparison": 4}
_IDS = ("hover_id", "id", "_id", "uid")
LABELS = ("SUPPORTED", "NOT_SUPPORTED")  # of HoVer's claims
# CatRAG's reader adds no words to a claim, but its worked examples have these.
_CUE = re.compile(r"\A\s*verify the following claim\s*:\s*", re.IGNORECASE)


def read(folder: Path, name: str | None = None) -> Converted:
    """Read a folder with `<name>_corpus.json` and `<name>.json`; without a name, the only ones there."""
    corpus = one(folder, f"{name or '*'}_corpus.json")
    name = corpus.name.removesuffix("_corpus.json")
    try:
        return _converted(corpus, corpus.with_name(f"{name}.json"), sorted(folder.glob("openie_*.json")))
    except DataError:
        raise
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        why = f"{type(error).__name__}: {error}"
        raise DataError(f"{corpus.parent}: {name}.json or its corpus has not HippoRAG's layout ({why})") from None


def _converted(corpus: Path, asked: Path, extracted: list[Path]) -> Converted:
    family = next((family for family in _PREFIXES if asked.stem.startswith(family)), asked.stem)
    prefix = _PREFIXES.get(family, family)
    kept, repeated = passages(prefix, _texts(corpus, family))
    known = {passage.id for passage in kept}
    rows = read_json(asked, list)
    questions = [_question(row, family, prefix, known, f"{asked}, question {n}") for n, row in enumerate(rows, 1)]
    notes = []
    lacking = [question.id for question, row in zip(questions, rows) if not question.support and any(_gold(row))]
    if lacking:
        notes.append(
            f"{len(lacking)} questions name gold that is not in the corpus and have no support: {lacking[0]} …"
        )
    extractions = None
    if extracted:
        extractions, left_out = _extractions(extracted[0], prefix, known)
        notes.append(f"{left_out} extracted entries that are no triples are left out")
    return Converted(kept, tuple(_apart(questions)), extractions, repeated=repeated, notes=tuple(notes))


def read_pooled(rows: Iterable[tuple[str, dict]], family: str) -> Converted:
    """(place, row) of questions that bring their own paragraphs, gold and others, in `context` or `paragraphs`. The
    corpus is all of these, each once, in the order in which they occur."""
    rows, prefix = list(rows), _PREFIXES[family]
    try:
        own = [
            [(_title(title, family), storable(_joined(text, family))) for title, text in _paragraphs(row)]
            for _, row in rows
        ]
        kept, repeated = passages(prefix, (paragraph for paragraphs in own for paragraph in paragraphs))
        known = {passage.id for passage in kept}
        questions = [_question(row, family, prefix, known, where) for where, row in rows]
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        place = rows[0][0].partition(", ")[0] if rows else family
        raise DataError(
            f"{place} has not the layout of {family} ({type(error).__name__}: {error}); fetch it again"
        ) from None
    questions = list(_apart(questions))
    ids = ((passage_id(prefix, title.strip(), text.strip()) for title, text in paragraphs) for paragraphs in own)
    lacking = sum(not question.support for question in questions)
    notes = (f"{counted(lacking, 'question')} without gold among the paragraphs: no support",) if lacking else ()
    return Converted(
        kept,
        tuple(questions),
        repeated=repeated,
        notes=notes,
        paragraphs={question.id: tuple(dict.fromkeys(paragraphs)) for question, paragraphs in zip(questions, ids)},
    )


def _paragraphs(row: dict) -> Iterator[tuple[str, Any]]:
    """(title, text or sentences) of all paragraphs of a question."""
    return (_titled(passage) for passage in row.get("context") or row["paragraphs"])


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


def _question(row: dict, family: str, prefix: str, known: set[str], where: str) -> Question:
    text = _asked(row, family, where)
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
        support=tuple(dict.fromkeys(gold)) if set(gold) <= known else (),
        decomposition=_steps(row, family, prefix) or None,
    )


def _asked(row: dict, family: str, where: str) -> str:
    text = row.get("question") or row.get("claim")
    if isinstance(text, str) and family == "hover":
        text = _CUE.sub("", text)
    if not isinstance(text, str) or not text.strip():
        raise DataError(f"{where}: there is no question; it has {', '.join(row)}")
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
    said = next(
        (row[field] for field in ("answer", "gold_ans", "reference", "answers", "obj", "label") if field in row), None
    )
    if said is None:
        raise DataError(f"{where}: there is no answer; it has {', '.join(row)}")
    answers = [*_strings(said), *_strings(row.get("answer_aliases"))]
    if "obj" in row:  # PopQA
        for field in ("possible_answers", "o_wiki_title", "o_aliases"):
            answers += _strings(row.get(field))
    return answers


def _label(given: Any, where: str) -> str:
    label = re.sub(r"[\s_-]+", "_", str(given).strip().upper())
    if label not in LABELS:
        raise DataError(f"{where}: the label is {given!r}, where {' or '.join(LABELS)} is expected; mend the file")
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


def _extractions(path: Path, prefix: str, known: set[str]) -> tuple[tuple[Extraction, ...], int]:
    """The extractions of HippoRAG's `openie_*.json`, and the number of entries that were not triples of strings."""
    model = re.search(r"ner_(.+)_\d+$", path.stem)
    kept, left_out = {}, 0
    for row in read_json(path, dict)["docs"]:
        identifier = passage_id(prefix, row["title"].strip(), row["text"].strip())
        said = row["extracted_triples"]
        triples = [t for t in said if isinstance(t, list) and len(t) == 3 and all(isinstance(m, str) for m in t)]
        left_out += len(said) - len(triples)
        if identifier in known:
            entities = tuple(storable(str(entity)) for entity in row["extracted_entities"])
            made_by = f"openie.jsonl ({model[1]})" if model else "openie.jsonl"
            kept[identifier] = Extraction(
                identifier, entities, tuple(tuple(map(storable, t)) for t in triples), made_by
            )
    return tuple(kept.values()), left_out


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


def read_json(path: Path, *kinds: type) -> Any:
    """The JSON value of a publisher's file, which must be of one of these kinds."""
    try:
        found = json.loads(regular(path).read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        raise DataError(f"{path} is missing; the corpus and the questions belong together") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not JSON ({error}); delete it, and fetch it again") from None
    if not isinstance(found, kinds):
        raise DataError(f"{path} is a JSON {type(found).__name__}, not a {' or '.join(k.__name__ for k in kinds)}")
    return found


def _published(
    id: str, name: str, of: str, passages: int, questions: int, licence: str, citation: str, **more
) -> Entry:
    """An entry of HippoRAG 2's data set on the hub, at a fixed revision."""
    files = tuple(File(file, f"{_HUB}/resolve/{_REVISION}/{file}") for file in (f"{name}.json", f"{name}_corpus.json"))
    return Entry(
        id,
        of,
        files,
        partial(read, name=name),
        licence,
        citation,
        f"{_HUB}/tree/{_REVISION}",
        passages,
        questions,
        **more,
    )


MUSIQUE = ("CC BY 4.0", "Trivedi et al. 2022, MuSiQue, TACL 10")
HOTPOT = ("CC BY-SA 4.0", "Yang et al. 2018, HotpotQA, EMNLP")
TWO_WIKI = ("Apache-2.0", "Ho et al. 2020, 2WikiMultiHopQA, COLING")
_UNSEEN = "the names of these two files could not be checked against the publisher's list"

ENTRIES = (
    _published(
        "musique/dev/hipporag-1000", "musique", f"MuSiQue-Answerable, development, {_SAMPLED}", 11656, 1000, *MUSIQUE
    ),
    _published(
        "hotpotqa/dev/hipporag-1000", "hotpotqa", f"HotpotQA distractor, development, {_SAMPLED}", 9811, 1000, *HOTPOT
    ),
    _published(
        "2wikimultihopqa/dev/hipporag-1000",
        "2wikimultihopqa",
        f"2WikiMultiHopQA, development, {_SAMPLED}",
        6119,
        1000,
        *TWO_WIKI,
    ),
    _published(
        "popqa/hipporag-1000",
        "popqa",
        "PopQA, one hop, as sampled by HippoRAG 2, Wikipedia of December 2021",
        8676,
        1000,
        "MIT (questions), CC BY-SA (Wikipedia texts)",
        "Mallen et al. 2023, PopQA, ACL",
    ),
    _published(
        "nq/hipporag-1000",
        "nq_rear",
        "Natural Questions, one hop, as retrieved for REAR and sampled by HippoRAG 2",
        9633,
        1000,
        "CC BY-SA 3.0",
        "Kwiatkowski et al. 2019, Natural Questions, TACL 7; Wang et al. 2024, REAR, EMNLP",
    ),
    _published(
        "narrativeqa/dev/hipporag-10",
        "narrativeqa_dev_10_doc",
        "NarrativeQA, development, ten documents in passages",
        4111,
        293,
        "Apache-2.0 (questions); each story has its own",
        "Kočiský et al. 2018, NarrativeQA, TACL 6",
    ),
    _published(
        "lveval/hipporag-124",
        "lveval",
        "LV-Eval, hotpotwikiqa_mixup at 256k, as used by HippoRAG 2",
        22849,
        124,
        "MIT",
        "Yuan et al. 2024, LV-Eval, arXiv 2402.05136",
        note=_UNSEEN,
    ),
    Entry(
        "musique/train/hipporag-100",
        f"MuSiQue-Answerable, training, 100 questions {_SAMPLED}; with the extractions of gpt-3.5-turbo-1106",
        (
            File("musique_train.json", f"{_LEGACY}/data/musique_train.json", megabytes=1.2),
            File("musique_train_corpus.json", f"{_LEGACY}/data/musique_train_corpus.json", megabytes=1.0),
            File(
                "openie_musique_train_results_ner_gpt-3.5-turbo-1106_1890.json",
                f"{_LEGACY}/output/openie_musique_train_results_ner_gpt-3.5-turbo-1106_1890.json",
                megabytes=3.4,
            ),
        ),
        partial(read, name="musique_train"),
        *MUSIQUE,
        "https://github.com/OSU-NLP-Group/HippoRAG/tree/3d95d255a8db0c1699b853cfb4fbe5056708162d/data",
        passages=1890,
        questions=100,
        copies=(Copy("musique-train-100", 1890, 50, note="50 of the 100 questions, the whole corpus"),),
    ),
    Entry(
        "hotpotqa/train/hipporag-100",
        f"HotpotQA distractor, training, 100 questions {_SAMPLED}",
        (
            File("hotpotqa_train.json", f"{_LEGACY}/data/hotpotqa_train.json", megabytes=0.8),
            File("hotpotqa_train_corpus.json", f"{_LEGACY}/data/hotpotqa_train_corpus.json", megabytes=0.7),
        ),
        partial(read, name="hotpotqa_train"),
        *HOTPOT,
        "https://github.com/OSU-NLP-Group/HippoRAG/tree/3d95d255a8db0c1699b853cfb4fbe5056708162d/data",
        passages=994,
        questions=100,
        copies=(Copy("hotpotqa-train-100", 994, 50, note="50 of the 100 questions, the whole corpus"),),
    ),
    Entry(
        "2wikimultihopqa/dev/matched-137",
        "2WikiMultiHopQA, development: 137 questions whose whole chain stands in the 6,119 passages of HippoRAG; type, "
        "hops and support are derived, not the authors'",
        (),
        read,
        *TWO_WIKI,
        "https://github.com/OSU-NLP-Group/HippoRAG/tree/191f281122e2437743daf1dd2dae23059a14c088/reproduce/dataset",
        passages=6119,
        questions=137,
        copies=(Copy("2wikimultihopqa-6119", 6119, 68, note="68 of the 137 questions, the whole corpus"),),
        note="nobody publishes this sample; it is read from a folder that HOPSCOPE_DATA names",
    ),
)
