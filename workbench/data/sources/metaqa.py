"""MetaQA, vanilla text: `kb.txt` (subject|relation|object) and, per hop, questions and their types line by line."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from workbench.data.sources.entry import Converted, Copy, Entry, File, one
from workbench.errors import DataError
from workbench.records import Question, Triple
from workbench.text import storable

_KB = "https://raw.githubusercontent.com/vaijsc/keallm/f9d819d44924492d3b7993b417396e175a268fab/data/MetaQA/kb.txt"
_TOPIC = re.compile(r"\[(.+)\]")
_LICENCE, _CITATION = "CC BY 3.0", "Zhang et al. 2018, Variational Reasoning for Question Answering with KG, AAAI"
_PAGE = "https://github.com/yuyuz/MetaQA"


def read(folder: Path, split: str | None = "dev") -> Converted:
    """Read the archive's layout: `kb.txt`, `<n>-hop/vanilla/qa_<split>.txt` and `<n>-hop/qa_<split>_qtype.txt`.

    Triples are sorted and unique. The square brackets around the topic entity are removed; the answers are a set; the
    type is the walk that answers the question. Without a split, only the triples are read.
    """
    base = one(folder, "kb.txt")
    triples: set[tuple[str, ...]] = set()
    lines = _lines(base)
    for number, line in enumerate(lines, 1):
        members = tuple(line.split("|"))
        if len(members) != 3 or not all(members):
            raise DataError(f"{base}, line {number}: {line[:200]!r} should be subject|relation|object")
        triples.add(members)
    questions = [q for hops in (1, 2, 3) for q in _questions(base.parent, hops, split)] if split else []
    if split and not questions:
        raise DataError(
            f"{base.parent} holds no question of the {split} split; it needs <n>-hop/vanilla/qa_{split}.txt"
        )
    return Converted(
        questions=tuple(questions),
        triples=tuple(Triple(*triple) for triple in sorted(triples)),
        repeated=len(lines) - len(triples),
    )


def _questions(folder: Path, hops: int, split: str) -> list[Question]:
    asked, typed = (
        folder / f"{hops}-hop" / "vanilla" / f"qa_{split}.txt",
        folder / f"{hops}-hop" / f"qa_{split}_qtype.txt",
    )
    if not asked.exists():
        return []
    lines, types = _lines(asked), _lines(typed) if typed.exists() else []
    if types and len(types) != len(lines):
        raise DataError(
            f"{typed} has {len(types):,} lines and {asked} {len(lines):,}; they belong together line by line"
        )
    questions = []
    for number, line in enumerate(lines):
        text, tab, answers = line.partition("\t")
        if not tab or not answers:
            raise DataError(
                f"{asked}, line {number + 1}: {line[:200]!r} should be the question, a tab, answers joined by |"
            )
        questions.append(
            Question(
                f"metaqa-{hops}hop-{split}-{number:05}",
                _TOPIC.sub(r"\1", text),
                tuple(dict.fromkeys(answers.split("|"))),
                type=types[number] if types else None,
                hops=hops,
                answer_set=True,
                start=tuple(_TOPIC.findall(text)),
            )
        )
    return questions


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 (byte {error.start}); fetch it again") from None
    return [storable(line.removesuffix("\r")) for line in text.split("\n") if line.strip()]


def _vanilla(split: str, questions: int, **more) -> Entry:
    per_hop = [(f"{n}-hop/vanilla/qa_{split}.txt", f"{n}-hop/qa_{split}_qtype.txt") for n in (1, 2, 3)]
    return Entry(
        f"metaqa/vanilla/{split}",
        f"MetaQA, vanilla text, {split} split: questions of one, two and three hops over a base of films",
        (File("kb.txt", _KB, megabytes=5.3), *(File(name) for names in per_hop for name in names)),
        partial(read, split=split),
        _LICENCE,
        _CITATION,
        _PAGE,
        questions=questions,
        triples=134_741,
        note="the publisher shares the questions on Google Drive; that folder's zip file may be put in place as it is",
        **more,
    )


ENTRIES = (
    _vanilla(
        "dev",
        39_138,
        copies=(
            Copy(
                "metaqa", 0, 900, 129_660, "300 questions of each hop, those that a walk answers exactly; most triples"
            ),
        ),
    ),
    _vanilla("test", 39_093),
    Entry(
        "metaqa/kb",
        "MetaQA's base of films alone: triples, no questions",
        (File("kb.txt", _KB, megabytes=5.3),),
        partial(read, split=None),
        _LICENCE,
        _CITATION,
        _PAGE,
        questions=0,
        triples=134_741,
        note="the copy in the repository vaijsc/keallm; the publisher's own is on Google Drive",
    ),
)
