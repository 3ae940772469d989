"""Rule bodies of extraction: named entities and triples of encyclopedic English, from spaCy's parse.

Simple on purpose. What it does: the subject of each clause (a pronoun or none stands for the title), its verb, and
what hangs on the verb: objects, complements, agents, prepositional phrases, and the same of conjoined verbs;
apposition as `is`; and every named entity of a sentence that no triple holds is tied to the title by the sentence's
verb."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.rules.language import parse

_SUBJECTS = ("nsubj", "nsubjpass")
_OBJECTS = ("dobj", "attr", "oprd", "dative")
_ARTICLES = ("the ", "a ", "an ")


def named_entities(passages: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Title, then spaCy's entities in their order, without repetition. One list per (title, text)."""
    docs = parse([text for _, text in passages])
    return [
        list(dict.fromkeys([name for name in (title, *(_bare(ent.text) for ent in doc.ents)) if name]))
        for (title, _), doc in zip(passages, docs)
    ]


def triples(passages: Sequence[tuple[str, str]]) -> list[list[list[str]]]:
    """[[subject, relation, object], …] per (title, text)."""
    docs = parse([text for _, text in passages])
    return [_distinct(_of_passage(title, doc)) for (title, _), doc in zip(passages, docs)]


def _of_passage(title: str, doc) -> Iterator[list[str]]:
    topic = title or next((_bare(chunk.text) for chunk in doc.noun_chunks), "")
    for sentence in doc.sents:
        found = list(_of_sentence(topic, sentence))
        yield from found
        stated = " ".join(member for triple in found for member in triple).casefold()
        verb = sentence.root.lemma_ if sentence.root.pos_ in ("VERB", "AUX") else "is related to"
        for entity in sentence.ents:
            name = _bare(entity.text)
            if name.casefold() not in stated and name.casefold() not in topic.casefold():
                yield [topic, verb, name]


def _of_sentence(topic: str, sentence) -> Iterator[list[str]]:
    for token in sentence:
        if token.pos_ in ("VERB", "AUX") and token.dep_ not in ("aux", "auxpass"):
            subject = _subject(topic, token)
            for relation, obj in _complements(token):
                if obj.pos_ != "PRON":  # whom a pronoun means is not known here, except for a subject
                    yield [subject, relation, _phrase(obj)]
        elif token.dep_ == "appos":
            yield [_phrase(token.head, skip=token), "is", _phrase(token)]


def _subject(topic: str, verb) -> str:
    """The verb's own subject, or that of the verb it is conjoined with; the title where there is none or a
    pronoun."""
    while verb is not None:
        for child in verb.children:
            if child.dep_ in _SUBJECTS:
                return topic if child.pos_ == "PRON" else _phrase(child)
        if verb.dep_ in ("relcl", "acl") and verb.head.pos_ != "PRON":
            return _phrase(verb.head, skip=verb)
        verb = verb.head if verb.dep_ in ("conj", "advcl", "xcomp", "ccomp") else None
    return topic


def _complements(verb) -> Iterator[tuple]:
    """(relation, head word of the object) pairs of a verb; a preposition becomes part of the relation."""
    passive = any(child.dep_ in ("auxpass", "nsubjpass") for child in verb.children)
    said = verb.text if passive or verb.pos_ == "AUX" else verb.lemma_
    direct = None
    for child in verb.children:
        if child.dep_ in _OBJECTS:
            direct = child
            for item in _with_conjuncts(child):
                yield said, item
                yield from _prepositions(f"{said} {item.lemma_}", item)
        elif child.dep_ in ("prep", "agent"):
            relation = f"{said} {direct.lemma_} {child.text}" if direct is not None else f"{said} {child.text}"
            for obj in _objects_of(child):
                yield relation, obj


def _prepositions(relation: str, noun) -> Iterator[tuple]:
    for child in noun.children:
        if child.dep_ == "prep":
            for obj in _objects_of(child):
                yield f"{relation} {child.text}", obj


def _objects_of(preposition) -> Iterator:
    for child in preposition.children:
        if child.dep_ == "pobj":
            yield from _with_conjuncts(child)


def _with_conjuncts(token) -> list:
    return [token, *token.conjuncts]


def _phrase(token, skip=None) -> str:
    """The noun phrase of a head word: its entity if it lies in one, else its words without clauses and further
    phrases."""
    for entity in token.doc.ents:
        if entity.start <= token.i < entity.end:
            return _bare(entity.text)
    kept = [token]
    for child in token.children:
        if child is not skip and child.dep_ in ("compound", "amod", "nummod", "poss", "nmod", "quantmod", "det"):
            kept += [word for word in child.subtree if word.i < token.i or child.dep_ == "compound"]
    words = sorted(set(kept), key=lambda word: word.i)
    return _bare("".join(word.text_with_ws for word in words))


def _bare(phrase: str) -> str:
    phrase = " ".join(phrase.split()).strip(" ,;:\"'()")
    for article in _ARTICLES:
        if phrase.lower().startswith(article):
            return phrase[len(article) :]
    return phrase


def _distinct(found: Iterator[list[str]]) -> list[list[str]]:
    return [list(t) for t in dict.fromkeys(map(tuple, found)) if all(t) and t[0].casefold() != t[2].casefold()]
