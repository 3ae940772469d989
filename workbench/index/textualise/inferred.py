"""A schema for a graph that has labels and no schema: its types, from which relations meet at which entities.

Every relation has two ends, the entities that it leaves and those that it enters. Two ends are of one type if at least
half of the entities of the smaller one stand at the larger one as well; so the types are groups of ends. A type is
called after a relation that names what it leads to (`master_builder`), else after a word that most of its names have
(`comet`), else after the relation with most entities at that end, with an arrow for the side (`→ laid_down_at`). Its
definition says what kind of names it has, and gives examples.

A part of a graph, for small studies.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from workbench.data import Dataset
from workbench.data.graph import EntityType, Relation, Schema
from workbench.errors import DataError, SettingError
from workbench.language.pipeline import parse
from workbench.language.verbalisation import words
from workbench.records import Triple

ENOUGH = 0.5  # share of the smaller of two ends that stands at the other, from which on they are of one type
EXAMPLES = 3  # names in a definition
SAMPLE = 30  # names of which the kind is read
MOST = 200  # relations; more are wordings of texts, whose ends say nothing

_YEAR = re.compile(r"\d{4}")
_WHERE = {"in", "at", "on"}

End = tuple[str, bool]  # a relation, and whether it is entered there


def inferred(triples: Iterable[Triple]) -> Schema:
    """The relations by name, with the types of their ends."""
    members: dict[End, set[str]] = defaultdict(set)
    for triple in triples:
        members[triple.relation, False].add(triple.subject)
        members[triple.relation, True].add(triple.object)
    labels = sorted({label for label, _ in members})
    if len(labels) > MOST:
        return Schema((), tuple(Relation(label, "", (), ()) for label in labels))
    groups = _groups(members)
    called = _names(groups, members)
    type_of = {end: called[at] for at, group in enumerate(groups) for end in group}
    order = sorted(range(len(groups)), key=lambda at: (-len(_all(groups[at], members)), called[at]))
    return Schema(
        tuple(EntityType(called[at], _definition(groups[at], members)) for at in order),
        tuple(Relation(label, "", (type_of[label, False],), (type_of[label, True],)) for label in labels),
    )


def _groups(members: Mapping[End, set[str]]) -> list[list[End]]:
    """The ends of each type: those that are joined by others, one after another, count as joined."""
    parent = {end: end for end in members}

    def root(end: End) -> End:
        while parent[end] != end:
            end = parent[end]
        return end

    for one, other in combinations(sorted(members), 2):
        fewer = min(len(members[one]), len(members[other]))
        if len(members[one] & members[other]) >= ENOUGH * fewer:
            parent[root(other)] = root(one)
    groups: dict[End, list[End]] = defaultdict(list)
    for end in sorted(members):
        groups[root(end)].append(end)
    return list(groups.values())


def _all(group: Sequence[End], members: Mapping[End, set[str]]) -> set[str]:
    return set().union(*(members[end] for end in group))


def _names(groups: Sequence[Sequence[End]], members: Mapping[End, set[str]]) -> list[str]:
    """A name for each group of ends, no two alike."""
    nouns = {label for label in {label for label, _ in members} if _is_noun(label)}
    names: list[str] = []
    for group in groups:
        ranked = sorted(group, key=lambda end: (not (end[1] and end[0] in nouns), -len(members[end]), end))
        label, entered = ranked[0]
        noun = words(label) if entered and label in nouns else _common(_all(group, members))
        if not noun or noun in names:
            noun = f"→ {label}" if entered else f"{label} →"
        names.append(noun)
    return names


def _common(names: set[str]) -> str:
    """The word that most of some names have: "Comet Abel", "Comet Doru"; "" if there is none."""
    from spacy.lang.en.stop_words import STOP_WORDS  # loading spaCy takes seconds

    counts = Counter(word for name in names for word in set(re.findall(r"[^\W\d_]{3,}", name.casefold())) - STOP_WORDS)
    word, count = min(counts.items(), key=lambda one: (-one[1], one[0]), default=("", 0))
    return word if count > max(2, len(names) / 2) else ""


def _is_noun(label: str) -> bool:
    """Does a relation name what it leads to: "master builder", "genre", but not "directed by", "has genre"?"""
    (doc,) = parse([words(label)])
    return bool(len(doc)) and doc[-1].tag_ in ("NN", "NNP") and all(token.pos_ in _NOMINAL for token in doc)


_NOMINAL = ("NOUN", "PROPN", "ADJ", "ADV")


def _definition(group: Sequence[End], members: Mapping[End, set[str]]) -> str:
    names = sorted(_all(group, members))
    return f"{_kind(group, names)}such as {', '.join(names[:EXAMPLES])}."


def _kind(group: Sequence[End], names: Sequence[str]) -> str:
    """Whether a type is of dates, of places or of people, as far as its names and the prepositions that lead to it
    tell; else nothing."""
    some = names[:SAMPLE]
    if all(_YEAR.fullmatch(name) for name in some):
        return "A date, "
    if {words(label).split()[-1] for label, entered in group if entered} & _WHERE:
        return "A place, "
    people = sum(any(one.label_ == "PERSON" and one.text == doc.text for one in doc.ents) for doc in parse(some))
    return "A person, " if people > len(some) / 2 else "Something, "


def induced(data: Dataset, names: Iterable[str], hops: int = 3, cap: int = 5_000) -> Dataset:
    """The graph of all entities within `hops` of the names, whatever the direction of the relations, and the questions
    whose start and answers are all among them. Where these are more than `cap`, the nearest stay, by name.

    Raises :class:`DataError` for a name that the graph does not have.
    """
    around: dict[str, set[str]] = defaultdict(set)
    for triple in data.triples:
        around[triple.subject].add(triple.object)
        around[triple.object].add(triple.subject)
    level = sorted(set(names))
    if unknown := [name for name in level if name not in around]:
        raise DataError(f"{data.name!r} has no entity {unknown[0]!r}; names count letter by letter")
    if len(level) > cap:
        raise SettingError(f"cap={cap} is less than the {len(level):,} names; raise it")
    chosen = set(level)
    for _ in range(hops):
        level = sorted({near for name in level for near in around[name]} - chosen)[: cap - len(chosen)]
        chosen.update(level)
    return replace(
        data,
        name=f"{data.name}-part",
        triples=tuple(triple for triple in data.triples if {triple.subject, triple.object} <= chosen),
        questions=tuple(q for q in data.questions if {*q.start, *q.answers} <= chosen),
    )
