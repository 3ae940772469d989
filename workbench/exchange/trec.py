"""Runs and gold as TREC files, and back: `qid Q0 passage rank score tag` for a ranked passage, `qid 0 passage 1` for a
gold one, by which trec_eval and its relatives measure.

These programs take the order from the scores, as 32-bit floats, and ignore the ranks; equal scores they order by id. So
the scores that are written fall strictly. A field is one word: in ids and tags, white space, `%` and the characters of
control and of direction are written as in a web address (`%20`), and an empty id as `%`.
"""

from __future__ import annotations

import gzip
import math
import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple
from urllib.parse import quote, unquote

from workbench.data.lines import once, regular
from workbench.errors import DataError, SettingError
from workbench.exchange.export import replacing
from workbench.records import Question, Record
from workbench.text import UNPRINTABLE, counted

if TYPE_CHECKING:
    from workbench.evaluation.run import Run

QRELS = "qrels.txt"
BEIR_HEADER = [b"query-id", b"corpus-id", b"score"]
_LINE_LIMIT = 1 << 20  # bytes
_APART = 2.0**-20  # by this share of itself, a score falls: eight steps of a 32-bit float
_LEAST = 2.0**-100  # below a score of zero
_LARGEST = 1e38  # that a 32-bit float holds, with room below it
_NOT_A_WORD = re.compile(rf"[%\s{UNPRINTABLE}\ufeff]")
_NOT_IN_A_NAME = re.compile(r"[^\w.=+-]+")


@dataclass(frozen=True, slots=True, repr=False)
class Ranked(Record):
    """The rankings of one system: question id → (passage id, score), best first. `notes` state what the file lacks, and
    what in it is not used."""

    tag: str
    rankings: Mapping[str, tuple[tuple[str, float], ...]]
    notes: tuple[str, ...] = ()

    __hash__ = None


# -- writing ---------------------------------------------------------------------------------------------------------


def to_trec(run: Run, folder: str | Path) -> list[Path]:
    """Write the rankings of a run, a file `<method>.run` each, and its gold as `qrels.txt`; return the files.

    A question without any ranked passage has no line in a run, and one without gold passages none in `qrels.txt`.
    Raises :class:`DataError` if a ranking has a passage twice, which these files cannot say.
    """
    folder = Path(folder).expanduser()
    if not run.questions:
        raise SettingError(f"{run.folder} was made by an early version and has no questions; evaluate them again")
    written = [to_qrels(run.questions, folder / QRELS)]
    for method, name in _file_names(run.methods).items():
        written.append(folder / f"{name}.run")
        with replacing(written[-1]) as file:
            for row in run.rows:
                if row["method"] == method:
                    file.writelines(_run_lines(row["question_id"], row["ranking"], method))
    return written


def to_qrels(questions: Iterable[Question], path: str | Path) -> Path:
    """Write the gold passages of questions as a qrels file."""
    path = Path(path).expanduser()
    with replacing(path) as file:
        for question in questions:
            for passage in dict.fromkeys(question.support):
                file.write(f"{as_word(question.id)} 0 {as_word(passage)} 1\n")
    return path


def as_word(name: str) -> str:
    """An id or a tag as one word of a TREC file.

    >>> as_word("New York"), as_word("100%"), as_word(""), as_word("d-1")
    ('New%20York', '100%25', '%', 'd-1')
    """
    return _NOT_A_WORD.sub(lambda match: quote(match[0], errors="surrogatepass"), name) if name else "%"


def _run_lines(question_id: str, ranking: Sequence[tuple[str, float]], tag: str) -> Iterator[str]:
    seen: set[str] = set()
    scores = falling([score for _, score in ranking])
    for rank, ((passage, _), score) in enumerate(zip(ranking, scores), 1):
        if passage in seen:
            raise DataError(
                f"{tag} ranks the passage {passage!r} twice for the question {question_id!r}, which a TREC run cannot "
                "say; correct the method"
            )
        seen.add(passage)
        yield f"{as_word(question_id)} Q0 {as_word(passage)} {rank} {score!r} {as_word(tag)}\n"


def falling(scores: Iterable[float]) -> list[float]:
    """The scores, each lowered where it is not below the one before it by at least a millionth, so that their order as
    32-bit floats is that of the list.

    >>> falling([0.9, 0.5, 0.5, 0.1])
    [0.9, 0.5, 0.4999995231628418, 0.1]
    """
    made: list[float] = []
    for score in scores:
        score = float(score)
        below = made[-1] - max(abs(made[-1]) * _APART, _LEAST) if made else score
        usable = abs(score) < _LARGEST  # NaN is not
        made.append(min(score, below) if usable else (below if made else 0.0))
    return made


def _file_names(methods: Iterable[str]) -> dict[str, str]:
    """Method → the name of its file: valid on every system, and different in more than case."""
    names: dict[str, str] = {}
    for method in methods:
        stem = _NOT_IN_A_NAME.sub("_", method).strip("._")[:100] or "method"
        taken = {name.casefold() for name in names.values()}
        numbered = chain([stem], (f"{stem}-{number}" for number in count(2)))
        names[method] = next(name for name in numbered if name.casefold() not in taken)
    return names


# -- reading ---------------------------------------------------------------------------------------------------------


class _Line(NamedTuple):
    """A ranked passage in a file."""

    passage: str
    rank: int
    score: float


def read_run(
    path: str | Path, questions: Iterable[Question], passages: Collection[str], *, strict: bool = True
) -> dict[str, Ranked]:
    """The rankings of a TREC run file, plain or gzip, for these questions: tag → rankings, because a file may hold
    several systems. `passages` are the ids that can be ranked.

    Passages are ordered by score, as trec_eval does; equal scores by rank, and then as they stand in the file.
    Questions of the file that were not given are not used, and for a given one without a ranking nothing is found;
    notes count both. An unknown passage is an error, because every rank below it would be wrong; `strict=False` leaves
    it out. Raises :class:`DataError` with the line for anything else that is not a run.
    """
    path, question_words = Path(path).expanduser(), _Words("question", (question.id for question in questions))
    passage_words, by_tag, left_out = _Words("passage", passages), {}, 0
    seen: dict[tuple[str, str, str], str] = {}
    others: set[str] = set()
    for where, (qid, _, word, rank, score, tag) in _lines(path, "qid Q0 passage rank score tag"):
        rankings = by_tag.setdefault(tag, {})
        if (question := question_words.of(qid)) is None:
            others.add(qid)
            continue
        if (passage := passage_words.of(word)) is None:
            if strict:
                raise DataError(f"{where}: {passage_words.unknown(word)}; strict=False leaves such lines out")
            left_out += 1
            continue
        once(seen, (tag, question, passage), "ranking of question and passage", where, key="")
        line = _Line(passage, _whole(rank, "rank", where), _score(score, where))
        rankings.setdefault(question, []).append(line)
    if not any(by_tag.values()):
        raise DataError(f"{path}: {passage_words.none_of(()) if left_out else question_words.none_of(others)}")
    _check_direction(path, by_tag)
    systems = [
        Ranked(
            _as_written(tag),
            {
                question: tuple((line.passage, line.score) for line in _sorted(lines))
                for question, lines in rankings.items()
            },
            tuple(_notes(rankings, question_words, others, left_out)),
        )
        for tag, rankings in by_tag.items()
    ]
    return {system.tag: system for system in systems}


def read_qrels(
    path: str | Path, questions: Iterable[Question], passages: Collection[str], *, strict: bool = True
) -> list[Question]:
    """The questions with the gold passages of a qrels file (TREC's or BEIR's, plain or gzip): those of a relevance
    above 0.

    A question that it does not judge has none, so that measures of rankings are undefined for it. `passages` are the
    known ids; another one is an error, or with `strict=False` left out. Raises :class:`DataError` for a line that is no
    judgement."""
    path, questions = Path(path).expanduser(), list(questions)
    question_words = _Words("question", (question.id for question in questions))
    passage_words = _Words("passage", passages)
    gold: dict[str, list[str]] = {}
    seen: dict[tuple[str, str], str] = {}
    others: set[str] = set()
    for where, qid, word, relevance in judgements(path):
        relevant = relevance > 0
        once(seen, (qid, word), "judgement of question and passage", where, key="")
        if (question := question_words.of(qid)) is None:
            others.add(qid)
            continue
        judged = gold.setdefault(question, [])
        if relevant and (passage := passage_words.of(word)) is not None:
            judged.append(passage)
        elif relevant and strict:
            raise DataError(f"{where}: {passage_words.unknown(word)}; strict=False leaves such lines out")
    if not gold:
        raise DataError(f"{path}: {question_words.none_of(others)}")
    return [replace(question, support=tuple(gold.get(question.id, ()))) for question in questions]


class _Words:
    """The known ids of a kind, by how they are written: by us, or as they are."""

    def __init__(self, what: str, ids: Iterable[str]):
        self.what, self.named = what, {as_word(id): id for id in ids}
        self._plain = set(self.named.values())

    def of(self, word: str) -> str | None:
        return self.named.get(word, word if word in self._plain else None)

    def unknown(self, word: str) -> str:
        return f"there is no {self.what} {word[:200]!r} among {self._some()}"

    def none_of(self, others: Collection[str]) -> str:
        theirs = f"; it has {', '.join(map(repr, sorted(others)[:3]))}, …" if others else ""
        return f"none of the {self.what}s is in the file, {self._some()}{theirs}"

    def _some(self) -> str:
        ids = [repr(word) for word in self.named.values()]
        return f"{', '.join(ids[:3])}{', …' if len(ids) > 3 else ''} ({len(ids):,})"


def _as_written(tag: str) -> str:
    """The tag of our own file as it was, any other one unchanged."""
    plain = "" if tag == "%" else unquote(tag)
    return plain if as_word(plain) == tag else tag


def _sorted(lines: Iterable[_Line]) -> list[_Line]:
    return sorted(lines, key=lambda line: (-line.score, line.rank))


def _check_direction(path: Path, by_tag: Mapping[str, Mapping[str, Sequence[_Line]]]) -> None:
    """Refuse distances, by which every ranking would be upside down."""
    for tag, rankings in by_tag.items():
        several = [sorted(lines, key=lambda line: line.rank) for lines in rankings.values() if len(lines) > 1]
        if several and all(a.rank < b.rank and a.score < b.score for lines in several for a, b in pairwise(lines)):
            raise DataError(
                f"{path}: the scores of {tag!r} rise from each rank to the next, like distances, and the highest score "
                "is the best in a TREC run; write them with the opposite sign"
            )


def _notes(
    rankings: Mapping[str, Sequence[_Line]], question_words: _Words, others: Collection[str], left_out: int
) -> Iterator[str]:
    if missing := len(question_words.named) - len(rankings):
        total = len(question_words.named)
        yield f"{counted(missing, 'question')} of {total:,} without a ranking in the file: nothing is found"
    if others:
        yield f"{counted(len(others), 'question')} of the file not asked here: not used"
    if left_out:
        yield f"{counted(left_out, 'line')} with unknown passages left out: passages below them rank higher"
    by_score = [_sorted(lines) for lines in rankings.values()]
    if tied := sum(any(a.score == b.score for a, b in pairwise(lines)) for lines in by_score):
        yield f"{counted(tied, 'question')} with equal scores, ordered by rank"
    if turned := sum(any(a.score > b.score and a.rank > b.rank for a, b in pairwise(lines)) for lines in by_score):
        yield f"{counted(turned, 'question')} whose ranks disagree with the scores: the scores count"


def judgements(path: Path) -> Iterator[tuple[str, str, str, int]]:
    """(place, question, passage, relevance) of each line of a qrels file: TREC's four fields, or BEIR's three between
    tabs below their header."""
    tabbed = None
    for where, raw in _raw_lines(path):
        if tabbed is None:
            tabbed = raw.split() == BEIR_HEADER
            if tabbed:
                continue
        if tabbed:
            qid, word, relevance = _fields(raw.strip(b"\r\n").split(b"\t"), "query-id corpus-id score", where)
        else:
            qid, _, word, relevance = _fields(raw.split(), "qid 0 passage relevance", where)
        yield where, qid, word, _whole(relevance, "relevance", where)


def _lines(path: Path, fields: str) -> Iterator[tuple[str, list[str]]]:
    """(place, words) of each line that is not blank."""
    for where, raw in _raw_lines(path):
        yield where, _fields(raw.split(), fields, where)  # at ASCII white space, as trec_eval does


def _raw_lines(path: Path) -> Iterator[tuple[str, bytes]]:
    """(place, line) of each line that is not blank."""
    try:
        with _opened(path) as file:
            number = 0
            while raw := file.readline(_LINE_LIMIT):
                number += 1
                where = f"{path}, line {number}"
                if len(raw) == _LINE_LIMIT:
                    raise DataError(f"{where} is longer than {_LINE_LIMIT:,} bytes; is the file of another format?")
                raw = raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw
                if raw.strip():
                    yield where, raw
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} cannot be read ({error}); give a TREC file, plain or gzip") from None


def _opened(path: Path) -> BinaryIO:
    with regular(path).open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path) if packed else path.open("rb")


def _fields(words: list[bytes], names: str, where: str) -> list[str]:
    if len(words) != len(names.split()):
        raise DataError(
            f"{where} has {counted(len(words), 'field')}, where {len(names.split())} are expected: {names}; a space "
            "within an id is written %20"
        )
    try:
        return [word.decode("utf-8") for word in words]
    except UnicodeDecodeError as error:
        raise DataError(f"{where} is not UTF-8 ({error.reason}); save the file as UTF-8") from None


def _whole(text: str, what: str, where: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise DataError(f"{where}: the {what} {text[:200]!r} should be a whole number") from None


def _score(text: str, where: str) -> float:
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise DataError(f"{where}: the score {text[:200]!r} should be a finite number, by which the passage is ranked")
    return score
