"""Training questions: made from an index's own facts and passages, or given with their supporting passages.

Three kinds are made, none of which needs a model:

path        a walk of one to three facts in words, from its first phrase; positives are the phrases of the walk
sentence    a sentence in which a phrase is hidden; positives are the phrases of its passage
bridge      two sentences of two passages that share a phrase, or a synonym of it, which is hidden in both; messages
            start from the phrases of the first; positives are the phrases of both passages

A question with support has the positives that the paper gives it: the phrases of its gold passages."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from workbench.display import tqdm
from workbench.index import Index
from workbench.llm.engine import Engine
from workbench.operators.linking import near
from workbench.records import Question
from workbench.steps import named_entities
from workbench.text import PHRASE_RULES, apart, at_boundaries, sentences, storable

KINDS = ("path", "sentence", "bridge")
HIDDEN = ("who", "what", "which one", "it", "someone", "something")
LONGEST = 40  # words of a sentence that is made a question
POPULAR = 0.05  # share of the passages from which a phrase joins too many to be a bridge


class Sample(NamedTuple):
    """`text`: the question; `starts` and `positives`: phrase rows."""

    text: str
    starts: tuple[int, ...]
    positives: tuple[int, ...]


class _Mention(NamedTuple):
    """A phrase in a sentence, as it is written there; `name`: whether it begins with no small letter."""

    phrase: int
    written: str
    name: bool


class _Sentence(NamedTuple):
    passage: int
    text: str
    mentions: tuple[_Mention, ...]


def synthetic(index: Index, kind: str, count: int, seed: int) -> list[Sample]:
    """At most `count` samples of a kind, different for another seed, the same for the same."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    return list(dict.fromkeys({"path": _paths, "sentence": _hidden, "bridge": _bridges}[kind](index, count, rng)))


def supported(
    index: Index, questions: Sequence[Question], engine: Engine, *, progress: bool = False
) -> tuple[list[Sample], int]:
    """Samples of questions with gold passages, and how many questions were skipped, as in the paper: those without a
    linked entity, or whose gold passages are not in the index or have no phrase."""
    values = [named_entities.Input("", storable(question.question)) for question in questions]
    results = engine.run(named_entities.STEP, values) if values else []
    samples = []
    pairs = zip(questions, results)
    for question, result in tqdm(pairs, "link questions", len(questions), disable=not progress):
        named = result.value.named_entities if result.value else ()
        starts = {link.phrase: None for name in named if any(map(str.isalnum, name)) for link in near(index, name)}
        rows = [index.passages.row.get(passage) for passage in question.support or ()]
        if starts and rows and None not in rows and (positives := _phrases_of(index, rows)):
            samples.append(Sample(question.question, tuple(starts), positives))
    return samples, len(questions) - len(samples)


def _paths(index: Index, count: int, rng: np.random.Generator) -> list[Sample]:
    facts, samples = index.facts, []
    if not facts.facts:
        return []
    for _ in range(count):
        node = start = int(facts.subjects[rng.integers(len(facts.facts))])
        text, seen = facts.phrases[start], [start]
        for _ in range(rng.integers(1, 4)):
            about = [row for row in facts.about(node) if {facts.subjects[row], facts.objects[row]} - set(seen)]
            if not about:
                break
            row = about[rng.integers(len(about))]
            subject, relation, other = int(facts.subjects[row]), facts.facts[row][1], int(facts.objects[row])
            text = f"what {text} {relation}" if subject == node else f"what {relation} {text}"
            node = other if subject == node else subject
            seen.append(node)
        if len(seen) > 1:
            samples.append(Sample(f"{text}?", (start,), tuple(sorted(set(seen)))))
    return samples


def _hidden(index: Index, count: int, rng: np.random.Generator) -> list[Sample]:
    with_mentions = [sentence for sentence in _sentences(index) if len(sentence.mentions) > 1]
    samples = []
    for at in rng.integers(len(with_mentions), size=count) if with_mentions else ():
        sentence = with_mentions[at]
        hidden = sentence.mentions[rng.integers(len(sentence.mentions))]
        starts = _starts(sentence, hidden.phrase, rng)
        if starts:
            text = _without(sentence.text, [hidden], rng)
            samples.append(Sample(text, starts, _phrases_of(index, [sentence.passage])))
    return samples


def _bridges(index: Index, count: int, rng: np.random.Generator) -> list[Sample]:
    sentences = _sentences(index)
    by_phrase: dict[int, list[int]] = defaultdict(list)
    for at, sentence in enumerate(sentences):
        for phrase in {mention.phrase for mention in sentence.mentions}:
            by_phrase[phrase].append(at)
    same, samples = _synonyms(index), []
    limit = max(3, POPULAR * len(index.passages.passages))
    phrases = [phrase for phrase in sorted(by_phrase) if index.graph.passages_of[phrase] <= limit]
    for _ in range(count if phrases else 0):
        phrase = phrases[rng.integers(len(phrases))]
        first = sentences[by_phrase[phrase][rng.integers(len(by_phrase[phrase]))]]
        meant = {phrase, *same.get(phrase, ())}
        others = [
            at for phrase in sorted(meant) for at in by_phrase.get(phrase, ()) if sentences[at].passage != first.passage
        ]
        starts = _starts(first, phrase, rng)
        if not others or not starts:
            continue
        second = sentences[others[rng.integers(len(others))]]
        # The second sentence without its names, as often as not: a question seldom names what it asks about.
        bare = [
            mention for mention in second.mentions if mention.phrase in meant or (mention.name and rng.random() < 0.6)
        ]
        texts = [
            _without(first.text, [mention for mention in first.mentions if mention.phrase in meant], rng),
            _without(second.text, bare, rng),
        ]
        if rng.random() < 0.5:
            texts.reverse()
        samples.append(Sample(" ".join(texts), starts, _phrases_of(index, [first.passage, second.passage])))
    return samples


def _starts(sentence: _Sentence, hidden: int, rng: np.random.Generator) -> tuple[int, ...]:
    """One to three of the names of a sentence, or of its other phrases where it has none."""
    names = sorted({mention.phrase for mention in sentence.mentions if mention.name and mention.phrase != hidden})
    names = names or sorted({mention.phrase for mention in sentence.mentions if mention.phrase != hidden})
    if not names:
        return ()
    return tuple(sorted(rng.permutation(names)[: rng.integers(1, 4)].tolist()))


def _without(text: str, hidden: Sequence[_Mention], rng: np.random.Generator) -> str:
    for mention in hidden:
        text = text.replace(mention.written, HIDDEN[rng.integers(len(HIDDEN))])
    return text


def _sentences(index: Index) -> list[_Sentence]:
    """The sentences of all passages with the phrases of their passage that stand in them, a longer one before those
    within it."""
    normal = PHRASE_RULES[index.facts.metadata["settings"]["normalise"]]
    sentences_found, context = [], index.graph.context
    for row, passage in enumerate(index.passages.passages):
        phrases = context.indices[context.indptr[row] : context.indptr[row + 1]]
        names_by_length = sorted(
            ((index.facts.phrases[phrase], int(phrase)) for phrase in phrases), key=lambda pair: (-len(pair[0]), pair)
        )
        patterns = [(phrase, number, _pattern(phrase)) for phrase, number in names_by_length if phrase]
        for text in sentences(passage.text):
            if not 4 <= len(apart(text).split()) <= LONGEST:
                continue
            rest, mentions = text, []
            for phrase, number, pattern in patterns:
                if (match := _first(pattern, rest)) and normal(match[0]) == phrase:
                    first = match[0][0]
                    mentions.append(_Mention(number, match[0], not first.islower()))
                    rest = rest[: match.start()] + " " * len(match[0]) + rest[match.end() :]
            if mentions:
                sentences_found.append(_Sentence(row, text, tuple(mentions)))
    return sentences_found


def _pattern(phrase: str) -> re.Pattern[str]:
    """A phrase as it may be written: normalisation turned marks into spaces, and capitals into small letters."""
    return re.compile(r"\W+".join(map(re.escape, phrase.split())), re.IGNORECASE)


def _first(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The first match at word boundaries."""
    match = pattern.search(text)
    while match and not at_boundaries(match):
        match = pattern.search(text, match.start() + 1)
    return match


def _synonyms(index: Index) -> dict[int, list[int]]:
    """The synonyms of each phrase, but those with other digits: 1904 is close to 1905 and does not mean it."""
    names, same = index.facts.phrases, defaultdict(list)
    for first, other in zip(index.synonyms.sources.tolist(), index.synonyms.targets.tolist()):
        if _digits(names[first]) == _digits(names[other]):
            same[first].append(other)
    return same


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def _phrases_of(index: Index, passages: Sequence[int]) -> tuple[int, ...]:
    context = index.graph.context
    rows = {int(index) for row in passages for index in context.indices[context.indptr[row] : context.indptr[row + 1]]}
    return tuple(sorted(rows))
