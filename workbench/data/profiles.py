"""Profiles: types, descriptions, keywords and weights of entities and relations.

Imported indexes include them (`docs/exchange.md`). An entity or a pair may have several profiles, each with the
passages that it was written from.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

from workbench.records import Record


@dataclass(frozen=True, slots=True, repr=False)
class EntityProfile(Record):
    """An entity's original name, its type, a description, and the ids of the passages behind them."""

    name: str
    type: str = ""
    description: str = ""
    passages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class RelationProfile(Record):
    """The relation of two entities: a description, keywords, a weight on its maker's scale, the ids of the passages
    behind them, and its name if it has one."""

    source: str
    target: str
    description: str = ""
    keywords: tuple[str, ...] = ()
    weight: float | None = None
    passages: tuple[str, ...] = ()
    label: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Profiles(Record):
    """The profiles of a data set or of an index; `made_by` names the engines that wrote them, if known."""

    entities: Sequence[EntityProfile] = ()
    relations: Sequence[RelationProfile] = ()
    made_by: tuple[str, ...] = ()


def joined(parts: Sequence[Profiles]) -> Profiles:
    """Concatenate several sets of profiles."""
    if len(parts) == 1:
        return parts[0]
    return Profiles(
        tuple(profile for part in parts for profile in part.entities),
        tuple(profile for part in parts for profile in part.relations),
        tuple(dict.fromkeys(name for part in parts for name in part.made_by)),
    )


def within(profiles: Profiles, ids: Container[str]) -> Profiles:
    """Restrict the profiles to those that the passages `ids` support: profiles of other passages only are dropped,
    profiles without any passage stay."""

    def inside(profiles):
        for profile in profiles:
            passages = tuple(passage_id for passage_id in profile.passages if passage_id in ids)
            if passages or not profile.passages:
                yield replace(profile, passages=passages)

    return Profiles(tuple(inside(profiles.entities)), tuple(inside(profiles.relations)), profiles.made_by)
