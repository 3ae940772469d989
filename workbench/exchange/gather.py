"""Assemble a data set from a reader's results, piece by piece, with every id checked."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from workbench.data.folder import Dataset, Extraction
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.errors import DataError
from workbench.records import Passage, Question
from workbench.text import counted, storable

NAME_LIMIT = 10_000  # characters; a longer string is a text and not a name
UNNAMED = "is related to"  # of a relation that its source does not describe


class Gathering:
    """The results of a reader so far. Passages come first, because everything else refers to them.

    With `strict`, the id of a missing passage is an error; otherwise it is dropped and counted. A profile is kept only
    if it contains more than names, so a system that extracts names alone has none.
    """

    def __init__(self, made_by: str, strict: bool = True):
        self.made_by, self.strict = made_by, strict
        self.passages: dict[str, Passage] = {}
        self.notes: list[str] = []
        self._entities: dict[str, dict[str, None]] = defaultdict(dict)  # passage id -> names, in order
        self._triples: dict[str, dict[tuple[str, str, str], None]] = defaultdict(dict)
        self._profiles: dict[EntityProfile | RelationProfile, None] = {}
        self._questions: dict[str, Question] = {}
        self._left_out: Counter[tuple[str, str]] = Counter()

    def passage(self, where: str, passage_id: str, title: str, text: str) -> None:
        passage_id, title, text = storable(passage_id), storable(title), storable(text)
        if passage_id in self.passages:
            raise DataError(f"{where}: the passage id {passage_id[:200]!r} occurs twice; ids must be unique")
        if not (title + text).strip():
            raise DataError(f"{where}: passage {passage_id[:200]!r} is empty; give it a text or take it out")
        self.passages[passage_id] = Passage(passage_id, title, text)

    def entity(self, where: str, name: str, passages: Iterable[str], type: str = "", description: str = "") -> None:
        """An entity and the passages that name it."""
        name, known = self._name(where, name), self._known(where, passages)
        if not name:
            self.leave_out("entity without a name", "entities without a name")
            return
        for passage_id in known:
            self._entities[passage_id][name] = None
        if type or description:
            self.profile(EntityProfile(name, type, description, known))
        elif not known:
            self.leave_out("entity that no passage names", "entities that no passage names")

    def relation(
        self,
        where: str,
        source: str,
        wording: str,
        target: str,
        passages: Iterable[str],
        description: str = "",
        keywords: tuple[str, ...] = (),
        weight: float | None = None,
    ) -> None:
        """A triple and the passages that state it. `wording` is its relation."""
        source, target, known = self._name(where, source), self._name(where, target), self._known(where, passages)
        if not source or not target:
            self.leave_out("relation without a name at one end", "relations without a name at one end")
            return
        for passage_id in known:
            self._triples[passage_id][source, storable(wording), target] = None
        if not known:
            self.leave_out("relation that no passage states", "relations that no passage states")
        if description or keywords or weight is not None:
            self.profile(RelationProfile(source, target, description, keywords, weight, known))

    def profile(self, profile: EntityProfile | RelationProfile) -> None:
        """A separate profile, whose names and passages are already checked."""
        self._profiles[profile] = None

    def question(self, where: str, question: Question) -> None:
        """A question, whose gold passages have to be there."""
        if question.id in self._questions:
            raise DataError(f"{where}: the question id {question.id[:200]!r} occurs twice; ids must be unique")
        self._questions[question.id] = replace(question, support=self._known(where, question.support))

    def leave_out(self, one: str, many: str = "", count: int = 1) -> None:
        """Record something that an index cannot hold; equal descriptions are counted together."""
        if count:
            self._left_out[one, many] += count

    def dataset(self, name: str, folder: Path) -> Dataset:
        if not self.passages:
            raise DataError(f"{folder} holds no passage, and an index needs at least one; is it of another format?")
        entities = tuple(profile for profile in self._profiles if isinstance(profile, EntityProfile))
        relations = tuple(profile for profile in self._profiles if isinstance(profile, RelationProfile))
        return Dataset(
            name,
            tuple(self.passages.values()),
            tuple(self._questions.values()),
            extractions=tuple(
                Extraction(
                    passage_id, tuple(self._entities[passage_id]), tuple(self._triples[passage_id]), self.made_by
                )
                for passage_id in self.passages
            ),
            folder=folder,
            profiles=Profiles(entities, relations) if self._profiles else None,
            left_out=(*(counted(count, *words) for words, count in self._left_out.items()), *self.notes),
        )

    def _name(self, where: str, name: str) -> str:
        if len(name) > NAME_LIMIT:
            raise DataError(
                f"{where}: a name of {len(name):,} characters ({name[:60]!r}…), where {NAME_LIMIT:,} are the most; "
                "mend it or take it out"
            )
        return storable(name).strip()

    def _known(self, where: str, ids: Iterable[str]) -> tuple[str, ...]:
        known = []
        for passage_id in dict.fromkeys(map(storable, ids)):
            if passage_id in self.passages:
                known.append(passage_id)
            elif self.strict:
                raise DataError(
                    f"{where} names the passage {passage_id[:200]!r}, which is not there; give the whole folder, "
                    "or leave such names out with workbench.exchange.read(…, strict=False)"
                )
            else:
                self.leave_out("name of a passage that is not there", "names of passages that are not there")
        return tuple(known)
