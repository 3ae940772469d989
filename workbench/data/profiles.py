"""What is known of entities and of relations beyond their names: types, descriptions, keywords, weights.

Indexes made elsewhere bring it with them (`docs/exchange.md`). An entity or a pair may have several profiles, each
with the passages that it was written from.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from workbench.records import Record


@dataclass(frozen=True, slots=True, repr=False)
class EntityProfile(Record):
    """An entity's name as it came, its type, a text about it, and the ids of the passages behind them."""

    name: str
    type: str = ""
    description: str = ""
    passages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class RelationProfile(Record):
    """What joins two entities: a text about it, its keywords, its weight on the maker's own scale, the ids of the
    passages behind them, and the name of the relation where it has one."""

    source: str
    target: str
    description: str = ""
    keywords: tuple[str, ...] = ()
    weight: float | None = None
    passages: tuple[str, ...] = ()
    label: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Profiles(Record):
    """The profiles of a data set or of an index; `made_by` names the engines that wrote them, where that is known."""

    entities: tuple[EntityProfile, ...] = ()
    relations: tuple[RelationProfile, ...] = ()
    made_by: tuple[str, ...] = ()


def joined(parts: Sequence[Profiles]) -> Profiles:
    """Several sets of profiles as one, in their order."""
    return Profiles(
        tuple(profile for part in parts for profile in part.entities),
        tuple(profile for part in parts for profile in part.relations),
        tuple(dict.fromkeys(name for part in parts for name in part.made_by)),
    )


def within(profiles: Profiles, ids: Collection[str]) -> Profiles:
    """The profiles as far as the passages `ids` support them: one whose passages are all others' is left out, one that
    never named a passage stays."""

    def kept(found):
        for profile in found:
            passages = tuple(passage_id for passage_id in profile.passages if passage_id in ids)
            if passages or not profile.passages:
                yield replace(profile, passages=passages)

    return Profiles(tuple(kept(profiles.entities)), tuple(kept(profiles.relations)), profiles.made_by)
