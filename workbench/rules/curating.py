"""Rule bodies of `curate_cluster`, `relabel_entities`, `find_names` and `link_names`: names, spelling and the words of
definitions.

Entities are one where their labels are the same words, apart from letters, marks and endings. That is less than a
curator sees, who knows abbreviations and other names, and never more than the labels say. Names are spaCy's; one is
that of another where it is a part of that one alone.
"""

from __future__ import annotations

from workbench.language.entity_types import type_of
from workbench.language.pipeline import parse
from workbench.language.relations import LISTS, stem
from workbench.steps import curating
from workbench.steps import named_entities as naming
from workbench.text import unicode_phrase


def curate_cluster(value: curating.ClusterInput) -> curating.ClusterOutput:
    """The shortest label of a group is its canonical one, the first of these.

    >>> labels = ("Neural Networks", "neural network", "Network science")
    >>> members = tuple(curating.Member(str(at), label, "", "") for at, label in enumerate(labels))
    >>> [(g.canonical_label, g.member_ids) for g in curate_cluster(curating.ClusterInput(members)).groups]
    [('neural network', ['0', '1']), ('Network science', ['2'])]
    """
    groups: dict[tuple[str, ...], list[curating.Member]] = {}
    for member in value.members:
        groups.setdefault(_family(member.label) or (member.id,), []).append(member)
    return curating.ClusterOutput(
        groups=[
            curating.Group(
                canonical_label=min((member.label for member in members), key=len),
                member_ids=[member.id for member in members],
            )
            for members in groups.values()
        ]
    )


def relabel_entities(value: curating.TypesInput) -> curating.TypesOutput:
    """The type that an entity has, if it is of the list; else the one that a word of its name or of its description
    fits; else `unsure`."""
    types = {name for name, _ in value.types}
    return curating.TypesOutput(
        entities=[curating.Typed(id=entity.id, type=_type(entity, value.types, types)) for entity in value.entities]
    )


def _family(label: str) -> tuple[str, ...]:
    """The stems of the words of a label; none where it has no word."""
    return tuple(map(stem, unicode_phrase(label).split()))


def _type(entity: curating.Entity, types: tuple[tuple[str, str], ...], type_names: set[str]) -> str:
    if entity.type in type_names:
        return entity.type
    name = type_of(entity.label, entity.type, types)
    return name if name in type_names else curating.UNSURE


_TYPES: dict[str, str] = LISTS["labels"]["names"]


def find_names(value: naming.Text) -> naming.Names:
    """The named entities that begin with a capital letter, without article and possessive ending."""
    (doc,) = parse([f"{value.title}.\n{value.text}" if value.title else value.text], lemmas=False)
    types_of = {}
    for entity in doc.ents:
        name = " ".join(entity.text.split()).removesuffix("'s").removesuffix("’s").removeprefix("the ")
        name = name.strip(" .,'’\"“”")
        if name[:1].isupper() and _TYPES.get(entity.label_) in value.types:
            types_of.setdefault(name, _TYPES[entity.label_])
    return naming.Names(names=[naming.Found(name=name, type=type) for name, type in types_of.items()])


def link_names(value: naming.Mentions) -> naming.Links:
    """A name is that of the one longer name of its type that has all of its words, if there is no other.

    >>> names = (("Nora Whitlock", "person"), ("Nora", "person"), ("Whitlock", "person"), ("Tom Whitlock", "person"))
    >>> link_names(naming.Mentions(names)).groups
    [['Nora Whitlock', 'Nora']]
    """
    groups: dict[str, list[str]] = {}
    for name, type in value.names:
        longer = [other for other, of in value.names if of == type and _words(name) < _words(other)]
        fullest = [word for word in longer if not any(_words(word) < _words(other) for other in longer)]
        if len(fullest) == 1:
            groups.setdefault(fullest[0], [fullest[0]]).append(name)
    return naming.Links(groups=list(groups.values()))


def _words(name: str) -> frozenset[str]:
    return frozenset(name.casefold().split())
