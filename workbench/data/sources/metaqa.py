"""MetaQA, vanilla text: `kb.txt` (subject|relation|object) and, per hop, questions and their types line by line.

Two options say how the questions are taken. `brackets`: the square brackets around the topic entity stay, as DotRAG's
paper reads them; by default they are removed. `filtered`: only questions that the walk of their type answers exactly on
the base, which favours methods that walk; by default all of a publisher's files, and of a folder what it holds."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from workbench.data.folder import Dataset
from workbench.data.lines import read_text
from workbench.data.origin import Origin
from workbench.data.sources.entry import Converted, single_file
from workbench.errors import DataError
from workbench.records import Question, Triple
from workbench.text import storable

_TOPIC = re.compile(r"\[(.+)\]")


def read(folder: Path, split: str | None = "dev", *, brackets: bool = False, filtered: bool | None = None) -> Converted:
    """Read the archive's layout: `kb.txt`, `<n>-hop/vanilla/qa_<split>.txt` and `<n>-hop/qa_<split>_qtype.txt`.

    Triples are sorted and unique. The square brackets around the topic entity are removed, unless `brackets` is set;
    the answers are a set; the type is the walk that answers the question. With `filtered`, questions that this walk
    does not answer exactly are left out. Without a split, only the triples are read.
    """
    base = single_file(folder, "kb.txt")
    triples: set[tuple[str, ...]] = set()
    lines = _lines(base)
    for number, line in enumerate(lines, 1):
        members = tuple(line.split("|"))
        if len(members) != 3 or not all(members):
            raise DataError(f"{base}, line {number}: {line[:200]!r} should be subject|relation|object")
        triples.add(members)
    questions = [q for hops in (1, 2, 3) for q in _questions(base.parent, hops, split, brackets)] if split else []
    if split and not questions:
        raise DataError(
            f"{base.parent} holds no question of the {split} split; it needs <n>-hop/vanilla/qa_{split}.txt"
        )
    facts = tuple(Triple(*triple) for triple in sorted(triples))
    walked_questions = walked(questions, facts) if filtered else tuple(questions)
    return Converted(
        questions=walked_questions,
        triples=facts,
        repeated=len(lines) - len(triples),
        left_out=len(questions) - len(walked_questions),
    )


def of_folder(data: Dataset, whole: bool, *, brackets: bool = False, filtered: bool | None = None) -> Dataset | None:
    """A data folder's questions as the options ask for them; None where a part is to be unfiltered, which it is not."""
    if filtered is False and not whole:
        return None
    questions = walked(data.questions, data.triples) if filtered else data.questions
    origin = data.origin or Origin(data.name)
    return replace(
        data,
        questions=tuple(map(bracketed, questions)) if brackets else questions,
        origin=replace(origin, settings={**origin.settings, "brackets": brackets, "filtered": filtered}),
    )


def bracketed(question: Question) -> Question:
    """The question with square brackets around its topic entity, where it first stands as words of their own.

    >>> bracketed(Question("1", "who starred in It", ("Bill",), start=("It",))).question
    'who starred in [It]'
    """
    text = question.question
    for topic in question.start:
        text = re.sub(rf"(?<![\w\[]){re.escape(topic)}(?!\w)", lambda match: f"[{match[0]}]", text, count=1)
    return replace(question, question=text)


_ALONG = {
    "director": "directed_by", "writer": "written_by", "actor": "starred_actors", "year": "release_year",
    "language": "in_language", "tag": "has_tags", "tags": "has_tags", "genre": "has_genre",
    "imdbvotes": "has_imdb_votes", "imdbrating": "has_imdb_rating",
}  # fmt: skip


def walked(questions: Sequence[Question], triples: Iterable[Triple]) -> tuple[Question, ...]:
    """The questions whose answers are exactly what the walk of their type reaches from the topic entity without ever
    returning to it. In a type such as `movie_to_director_to_movie`, a step from a movie follows the relation of what it
    leads to, a step to a movie follows that of where it comes from in reverse."""
    ends: dict[tuple[str, bool], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for triple in triples:
        ends[triple.relation, True][triple.subject].add(triple.object)
        ends[triple.relation, False][triple.object].add(triple.subject)

    def reached(question: Question) -> set[str]:
        at = topic = set(question.start)
        for here, there in pairwise((question.type or "").split("_to_")):
            step = ends[_ALONG.get(there if here == "movie" else here, ""), here == "movie"]
            at = {end for entity in at for end in step.get(entity, ())} - topic
        return at

    return tuple(question for question in questions if reached(question) == set(question.answers))


def _questions(folder: Path, hops: int, split: str, brackets: bool) -> list[Question]:
    of_hops = folder / f"{hops}-hop"
    file, typed = of_hops / "vanilla" / f"qa_{split}.txt", of_hops / f"qa_{split}_qtype.txt"
    if not file.exists():
        return []
    lines, types = _lines(file), _lines(typed) if typed.exists() else []
    if types and len(types) != len(lines):
        raise DataError(
            f"{typed} has {len(types):,} lines and {file} {len(lines):,}; they belong together line by line"
        )
    questions = []
    for number, line in enumerate(lines):
        text, tab, answers = line.partition("\t")
        if not tab or not answers:
            raise DataError(
                f"{file}, line {number + 1}: {line[:200]!r} should be the question, a tab, answers joined by |"
            )
        questions.append(
            Question(
                f"metaqa-{hops}hop-{split}-{number:05}",
                text if brackets else _TOPIC.sub(r"\1", text),
                tuple(dict.fromkeys(answers.split("|"))),
                type=types[number] if types else None,
                hops=hops,
                answer_set=True,
                start=tuple(_TOPIC.findall(text)),
            )
        )
    return questions


def _lines(path: Path) -> list[str]:
    text = read_text(path)
    return [storable(line.removesuffix("\r")) for line in text.split("\n") if line.strip()]
