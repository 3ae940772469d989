"""Rule bodies of `find_names` and `link_names`: spaCy's names, and which of them is a part of one other."""

from __future__ import annotations

from workbench.language.pipeline import parse
from workbench.steps import find_names as finding
from workbench.steps import link_names as linking

_TYPES = {
    "PERSON": "person", "GPE": "place", "LOC": "place", "FAC": "place", "ORG": "organisation", "WORK_OF_ART": "work",
    "EVENT": "event", "PRODUCT": "product", "LAW": "law", "NORP": "people",
}  # fmt: skip


def find_names(value: finding.Input) -> finding.Output:
    """The named entities that begin with a capital letter, without article and possessive ending."""
    (doc,) = parse([f"{value.title}.\n{value.text}" if value.title else value.text], lemmas=False)
    found = {}
    for entity in doc.ents:
        name = " ".join(entity.text.split()).removesuffix("'s").removesuffix("’s").removeprefix("the ")
        name = name.strip(" .,'’\"“”")
        if name[:1].isupper() and _TYPES.get(entity.label_) in value.types:
            found.setdefault(name, _TYPES[entity.label_])
    return finding.Output(names=[finding.Found(name=name, type=type) for name, type in found.items()])


def link_names(value: linking.Input) -> linking.Output:
    """A name is that of the one longer name of its type that has all of its words, if there is no other.

    >>> names = (("Nora Whitlock", "person"), ("Nora", "person"), ("Whitlock", "person"), ("Tom Whitlock", "person"))
    >>> link_names(linking.Input(names)).groups
    [['Nora Whitlock', 'Nora']]
    """
    groups: dict[str, list[str]] = {}
    for name, type in value.names:
        longer = [other for other, of in value.names if of == type and _words(name) < _words(other)]
        fullest = [one for one in longer if not any(_words(one) < _words(other) for other in longer)]
        if len(fullest) == 1:
            groups.setdefault(fullest[0], [fullest[0]]).append(name)
    return linking.Output(groups=list(groups.values()))


def _words(name: str) -> frozenset[str]:
    return frozenset(name.casefold().split())
