"""The ranking of another system as a method, read from a TREC run file. Measures, comparisons, readers and analyses
work with it as with any method.

    theirs = wb.rankings("colbert.run", index, data.questions)
    run = wb.evaluate(data.questions, [wb.method("hipporag2", index, engine), *theirs])
    run.compare()  # paired by question

It is no entry of `METHODS`, because a file knows the answers to its own questions only. Questions are found by their
text, which is all that a method sees.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import quote

from workbench.errors import DataError, SettingError
from workbench.exchange.trec import Ranked, read_run
from workbench.index import Index
from workbench.methods.base import Method
from workbench.records import Evidence, Question, ranked
from workbench.settings import parse_spec, spec_of, validated
from workbench.text import text_hash
from workbench.trace import Trace


class Ranking(Method):
    """What another system ranked for some questions. `notes` state what its file lacks."""

    name = "ranking"
    paper = "another system; read from a TREC run file"
    scale = "as in the file"
    encodes = False

    @validated
    class Settings:
        tag: str
        hash: str  # of all rankings, so that rows of another file are not taken for these

    def __init__(self, index: Index, ranked_file: Ranked, questions: Iterable[Question]):
        self._rankings = _by_text(ranked_file, questions)
        self.notes = tuple(f"{ranked_file.tag}: {note}" for note in ranked_file.notes)
        super().__init__(index, tag=ranked_file.tag, hash=text_hash(json.dumps(sorted(self._rankings.items()))))
        self.label = _label(ranked_file.tag)

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        if question not in self._rankings:
            raise SettingError(
                f"{self.label} was read for {len(self._rankings):,} questions, and {question[:200]!r} is not among "
                "them; read the file with all questions"
            )
        best = self._rankings[question][:k]
        layer = self.index.passages
        passages = ranked([layer.passages[layer.row[id]] for id, _ in best], [score for _, score in best])
        missing = None if best else "the file has no ranking for the question"
        return Evidence(question, self.label, self.scale, passages, fallback=missing)


def rankings(path: str | Path, index: Index, questions: Iterable[Question], *, strict: bool = True) -> list[Ranking]:
    """The rankings of a TREC run file as methods over an index, one for each tag in the file. See
    :func:`workbench.exchange.trec.read_run` for `strict` and errors."""
    questions = list(questions)
    by_tag = read_run(path, questions, index.passages.row, strict=strict)
    return [Ranking(index, tagged, questions) for tagged in by_tag.values()]


def _by_text(ranked_file: Ranked, questions: Iterable[Question]) -> Mapping[str, tuple[tuple[str, float], ...]]:
    rankings: dict[str, tuple[tuple[str, float], ...]] = {}
    first: dict[str, str] = {}
    for question in questions:
        mine = ranked_file.rankings.get(question.id, ())
        if rankings.setdefault(question.question, mine) != mine:
            raise DataError(
                f"the questions {first[question.question]!r} and {question.id!r} have the same text, which is all that "
                f"a method sees, and {ranked_file.tag} ranks otherwise for each; remove one of them"
            )
        first.setdefault(question.question, question.id)
    return rankings


def _label(tag: str) -> str:
    """A SPEC that can be parsed again, for any tag."""
    label = spec_of(Ranking.name, {"tag": tag})
    try:
        if parse_spec(label) == (Ranking.name, {"tag": tag}):
            return label
    except SettingError:
        pass
    return spec_of(Ranking.name, {"tag": quote(tag)})
