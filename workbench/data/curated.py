"""Ready-made extractions of a data set, by name, in place of an engine's: `curated` is made from its gold graph.

    data.offers                                  # ("curated",) of a data set with a gold graph
    index = wb.Index.build(data, extraction="curated")

They were written by hand, or generated with the texts, and are labelled so wherever they are used: they show what a
method makes of a graph without errors, and no published number was measured on such a graph.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from workbench.data.folder import Dataset, Extraction
from workbench.data.graph import MADE_BY, GoldEntity, GoldGraph, GoldTriple
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.errors import SettingError
from workbench.places import page
from workbench.records import Passage
from workbench.text import bounded, sentences

# Who made it, in manifests, runs and tables.
CURATED = BY_HAND, GENERATED = tuple(f"curated, {made_by}" for made_by in MADE_BY)
ALSO = "also called"
_LIKE_ASCII = re.compile("[\u0130\u0131\u017f\u212a]")  # what counts as an ASCII letter in other case


def extracted(data: Dataset, name: str | None) -> Dataset:
    """The data set with the extraction and the profiles of this name in place of its own; unchanged for None.

    Raises :class:`SettingError` if the data set does not offer it."""
    if name is None or name == data.extraction:
        return data
    if name not in data.offers:
        offered = f"it offers {', '.join(data.offers)}" if data.offers else f"it has no gold graph ({page('data.md')})"
        raise SettingError(f"{data.name!r} has no extraction {name!r}; {offered}. Without a name, the engine extracts")
    extractions, profiles = curated(data.graph, data.passages)
    return replace(data, extraction=name, extractions=extractions, profiles=profiles)


def curated(graph: GoldGraph, passages: Sequence[Passage]) -> tuple[tuple[Extraction, ...], Profiles]:
    """The facts that these passages state, passage by passage, and the profiles of what they name."""
    by_id, label = {passage.id: passage for passage in passages}, f"curated, {graph.made_by}"
    stated: dict[str, list[GoldTriple]] = {passage.id: [] for passage in passages}
    for triple in graph.triples:
        for passage in triple.passages:
            if passage in stated:
                stated[passage].append(triple)
    own = {entity.passage: entity.name for entity in graph.entities if entity.passage}
    extractions = tuple(
        Extraction(
            passage,
            tuple(dict.fromkeys([*([own[passage]] if passage in own else []), *_ends(triples)])),
            tuple((triple.head, triple.relation, triple.tail) for triple in triples),
            label,
        )
        for passage, triples in stated.items()
    )
    facts = [triple for triple in graph.triples if any(passage in by_id for passage in triple.passages)]
    return extractions, Profiles(
        tuple(_entities(graph, facts, by_id)), tuple(_relations(graph, facts, by_id)), (label,)
    )


def _ends(triples: Iterable[GoldTriple]) -> Iterator[str]:
    """The entities that triples name."""
    for triple in triples:
        yield triple.head
        if triple.kind == "relation":
            yield triple.tail


def _entities(
    graph: GoldGraph, facts: Sequence[GoldTriple], passages_by_id: dict[str, Passage]
) -> Iterator[EntityProfile]:
    """A profile of each entity and set of passages: what these say of it, as "attribute: value; attribute: value". So
    whatever the last of its passages said of an entity is gone with it."""
    descriptions: dict[str, dict[tuple[str, ...], list[str]]] = defaultdict(lambda: defaultdict(list))
    named = set(_ends(facts))
    for entity in graph.entities:
        if entity.passage in passages_by_id:
            descriptions[entity.name][entity.passage,] += [f"{ALSO}: {alias}" for alias in entity.aliases]
    for triple in facts:
        if triple.kind == "attribute":
            at = tuple(passage for passage in triple.passages if passage in passages_by_id)
            descriptions[triple.head][at].append(f"{triple.relation}: {triple.tail}")
    for entity in graph.entities:
        for passages, attributes in descriptions[entity.name].items():
            yield EntityProfile(entity.name, entity.type, "; ".join(attributes), passages)
        if entity.name in named and not descriptions[entity.name]:
            yield EntityProfile(entity.name, entity.type)


def _relations(
    graph: GoldGraph, facts: Sequence[GoldTriple], passages_by_id: dict[str, Passage]
) -> Iterator[RelationProfile]:
    """Each relation with the sentence that states it, quoted from the first of its passages."""
    entities = {entity.name: entity for entity in graph.entities}
    for triple in facts:
        if triple.kind == "relation":
            at = tuple(passage for passage in triple.passages if passage in passages_by_id)
            quoted = _quoted(passages_by_id[at[0]], entities[triple.head], entities[triple.tail])
            yield RelationProfile(
                triple.head, triple.tail, quoted, (triple.relation,), float(len(at)), at, triple.relation
            )


def _quoted(passage: Passage, head: GoldEntity, tail: GoldEntity) -> str:
    """The first sentence that names both; or, because an article calls its subject "it" or "she", the one that names
    the other; or the sentences that each name one of two."""
    others = [entity for entity in (head, tail) if entity.passage != passage.id]
    sentences_of = _sentences_naming(passage.text)
    for wanted in ((head, tail), others):
        if wanted and (together := set.intersection(*map(sentences_of.naming, wanted))):
            return sentences_of.sentences[min(together)]
    first = {min(sentences_of.naming(entity), default=0) for entity in others}
    return " ".join(sentences_of.sentences[at] for at in sorted(first or {0}))


class Sentences:
    """The sentences of a text, and which of them name an entity."""

    def __init__(self, text: str):
        self.sentences = sentences(text)
        self._lower = [sentence.lower() for sentence in self.sentences]
        self._plain = not _LIKE_ASCII.search(text)
        self._naming: dict[str, set[int]] = {}

    def naming(self, entity: GoldEntity) -> set[int]:
        """The sentences that name an entity, by one of its names or a phrase that points to it, as words of their own
        and in whatever letters."""
        if entity.name not in self._naming:
            forms = (entity.name, *entity.aliases, *entity.mentions)
            self._naming[entity.name] = set().union(*map(self._having, forms))
        return self._naming[entity.name]

    def _having(self, form: str) -> set[int]:
        if not (self._plain and form.isascii()):
            pattern = re.compile(bounded(form), re.IGNORECASE)
            return {at for at, sentence in enumerate(self.sentences) if pattern.search(sentence)}
        form = form.lower()  # finds what the pattern finds, in a fraction of the time
        return {at for at, sentence in enumerate(self._lower) if form in sentence and _as_words(form, sentence)}


_sentences_naming = lru_cache(maxsize=1000)(Sentences)  # the facts of a passage mostly stand together


def _as_words(form: str, text: str) -> bool:
    """Whether a form stands somewhere in a text without a letter or digit before or behind it."""
    begin = text.find(form)
    while begin >= 0:
        end = begin + len(form)
        if not (_in_word(text[begin - 1 : begin]) or _in_word(text[end : end + 1])):
            return True
        begin = text.find(form, begin + 1)
    return False


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"
