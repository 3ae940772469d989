"""Layer `profiles`: types, descriptions, keywords and weights that a data set brings for its entities and relations.

It is made from `Dataset.profiles` alone, so only data that bring some have it. Names stay as they came; beside each
stands the phrase that the rule of the facts layer makes of it, so that a phrase of the graph finds its profiles. Rows
are sorted, so they do not depend on the order in which the profiles came.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.errors import DataError, IndexFault
from workbench.index.layer import Build, Layer
from workbench.index.store import write_table
from workbench.text import PHRASE_RULES, text_hash

_LISTS = pa.list_(pa.string())


@dataclass(frozen=True)
class Settings:
    """None: phrases are made by the rule of the facts layer."""


class ProfilesLayer(Layer):
    """Rows of `entities` and `relations` are sorted by phrase.

    entities    list[EntityProfile]; `entity_phrases` list[str], the phrase of each
    relations   list[RelationProfile]; `relation_phrases` list[(str, str)], the phrases of source and target
    """

    kind = "profiles"
    needs = ("passages", "facts")

    @classmethod
    def identity(cls, build: Build, settings: Settings) -> dict:
        if build.data.profiles is None:
            raise IndexFault(
                f"the data set {build.data.name!r} brings no profiles, and the layer 'profiles' is made of nothing "
                "else; leave it out in a new folder, or bring data with types or descriptions (docs/exchange.md)"
            )
        return {"given": text_hash(json.dumps(asdict(build.data.profiles)))}

    @classmethod
    def build(cls, folder: Path, build: Build, settings: Settings, old: ProfilesLayer | None) -> dict:
        normalise = PHRASE_RULES[build.layers["facts"].said["settings"]["normalise"]]
        given = build.data.profiles
        _check(given, build.layers["passages"].row)
        entities = sorted({(normalise(p.name), *astuple(p)) for p in given.entities})
        # A weight that is missing is sorted apart, because None has no order.
        relations = sorted(
            {(normalise(p.source), normalise(p.target), *astuple(p)) for p in given.relations},
            key=lambda row: (*row[:6], row[6] is not None, row[6] or 0.0, row[7]),
        )
        _write(folder / "entities.parquet", ("phrase", "name", "type", "description", "passages"), entities)
        _write(
            folder / "relations.parquet",
            ("source_phrase", "target_phrase", "source", "target", "description", "keywords", "weight", "passages"),
            relations,
        )
        return {"entities": len(entities), "relations": len(relations)}

    def __init__(self, folder: Path):
        super().__init__(folder)
        rows = _read(folder / "entities.parquet")
        self.entity_phrases = [phrase for phrase, *_ in rows]
        self.entities = [EntityProfile(*row[:3], tuple(row[3])) for _, *row in rows]
        rows = _read(folder / "relations.parquet")
        self.relation_phrases = [(source, target) for source, target, *_ in rows]
        self.relations = [RelationProfile(*row[:3], tuple(row[3]), row[4], tuple(row[5])) for _, _, *row in rows]
        self._of, self._between = defaultdict(list), defaultdict(list)
        for phrase, entity in zip(self.entity_phrases, self.entities):
            self._of[phrase].append(entity)
        for pair, relation in zip(self.relation_phrases, self.relations):
            self._between[frozenset(pair)].append(relation)

    @property
    def profiles(self) -> Profiles:
        """All of them, as a data set brings them."""
        return Profiles(tuple(self.entities), tuple(self.relations))

    def of(self, phrase: str) -> Sequence[EntityProfile]:
        """The profiles of a phrase of the facts layer; none is an empty list."""
        return self._of.get(phrase, [])

    def between(self, a: str, b: str) -> Sequence[RelationProfile]:
        """The profiles of the relations that join two phrases, in either direction."""
        return self._between.get(frozenset((a, b)), [])

    def __repr__(self) -> str:
        return f"ProfilesLayer({len(self.entities):,} entities, {len(self.relations):,} relations)"


def _check(profiles: Profiles, known: dict[str, int]) -> None:
    for profile in (*profiles.entities, *profiles.relations):
        for passage_id in profile.passages:
            if passage_id not in known:
                raise DataError(
                    f"{profile!r} names the passage {passage_id!r}, which is not in the corpus; "
                    "add the passage or take its id out of the profile"
                )


def _write(path: Path, names: tuple[str, ...], rows: list[tuple]) -> None:
    columns = list(zip(*rows)) or [()] * len(names)
    kinds = {"passages": _LISTS, "keywords": _LISTS, "weight": pa.float64()}
    write_table(path, **{n: pa.array(c, kinds.get(n, pa.string())) for n, c in zip(names, columns)})


def _read(path: Path) -> list[tuple]:
    return list(zip(*(column.to_pylist() for column in pq.read_table(path).columns)))
