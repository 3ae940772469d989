"""The schema graph of profiles that the data bring: taken as they are.

Relations are those of the profiles or, where these name none, the triples that came with them, as in an import of
Youtu-GraphRAG. A description of the form "type: value; type: value", as the same import has it, becomes attributes;
another one is the attribute `description`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from workbench.data import Extraction
from workbench.data.graph import Attribute, EntityType, Relation, Schema
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.index.schema_extracting import Parts, Stated, parts
from workbench.language.entity_types import UNKNOWN
from workbench.steps.schema_extraction import DESCRIPTION

RELATED = "related to"  # of relations that their source does not name
LISTED = 100  # wordings of relations beyond which they are no schema
_ATTRIBUTE = r"[^\W\d][\w /()'-]{0,39}: (?=\S)"
_BEGINS = re.compile(_ATTRIBUTE)
_BETWEEN = re.compile(rf"; (?={_ATTRIBUTE})")


def given(profiles: Profiles, extractions: Sequence[Extraction] = ()) -> Parts:
    """All profiles of a name as one entity, with the type that most give, in doubt the first."""
    types: dict[str, Counter[str]] = defaultdict(Counter)
    relations: Stated = defaultdict(dict)
    attributes: Stated = defaultdict(dict)
    for profile in profiles.entities:
        types[profile.name].update([profile.type] if profile.type else [])
        for kind, value in _attributes(profile.description):
            attributes[profile.name, kind, value] |= dict.fromkeys(profile.passages)
    for source, label, target, passages in _relations(profiles, extractions):
        if source and target:
            relations[source, label, target] |= dict.fromkeys(passages)
    settled = {name: votes.most_common(1)[0][0] for name, votes in types.items() if votes}
    found = parts(relations, attributes, settled, {})
    return found._replace(entities=_with_all(found.entities, profiles.entities, settled))


def described(found: Parts) -> Schema:
    """What a graph without a schema speaks of; wordings of texts are no list of relations."""
    types = sorted({entity.type for entity in found.entities} - {UNKNOWN})
    labels = sorted({relation.label for relation in found.relations})
    attributes = sorted({kind for _, kind, _ in found.attributes})
    return Schema(
        tuple(EntityType(name, "") for name in types),
        tuple(Relation(name, "", (), ()) for name in labels if len(labels) <= LISTED),
        tuple(Attribute(name, "", (), "text") for name in attributes),
    )


def _attributes(description: str) -> Iterator[tuple[str, str]]:
    """
    >>> list(_attributes("type: town; founded: 1994; a port")), list(_attributes("A town; it is old."))
    ([('type', 'town'), ('founded', '1994; a port')], [('description', 'A town; it is old.')])
    """
    if not _BEGINS.match(description):
        yield from [(DESCRIPTION, description)] if description.strip() else []
        return
    for part in _BETWEEN.split(description):
        kind, _, value = part.partition(": ")
        yield kind, value


def _relations(profiles: Profiles, extractions: Sequence[Extraction]) -> Iterator[tuple[str, str, str, Sequence[str]]]:
    """(source, label, target, passages)"""
    if extractions and not any(relation.label for relation in profiles.relations):
        for record in extractions:
            for subject, label, obj in record.triples:
                yield subject, label or RELATED, obj, (record.passage_id,)
    else:
        for relation in profiles.relations:
            yield relation.source, _label(relation), relation.target, relation.passages


def _label(relation: RelationProfile) -> str:
    return relation.label or ", ".join(relation.keywords) or RELATED


def _with_all(
    entities: Sequence[EntityProfile], profiles: Sequence[EntityProfile], types: dict[str, str]
) -> list[EntityProfile]:
    """The entities with the passages of their profiles, and those of which nothing but a profile is known."""
    passages = {entity.name: dict.fromkeys(entity.passages) for entity in entities}
    kinds = {entity.name: entity.type for entity in entities} | types
    for profile in profiles:
        if profile.name:
            passages.setdefault(profile.name, {}).update(dict.fromkeys(profile.passages))
    return [EntityProfile(name, kinds.get(name, UNKNOWN), "", tuple(passages[name])) for name in sorted(passages)]
