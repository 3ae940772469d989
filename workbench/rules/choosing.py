"""Rule bodies that choose by shared words: facts, neighbours, keywords, and the kind of a question.

`fact_filter` keeps facts about what the question names. `rate_neighbours` looks at what a neighbour, its facts and its
context share with the rest of the question: what the question says besides the entity is still to be found. A neighbour
whose fact tells some of it is a step on the way, above all where its context tells more. One that the question names
itself leads back to where the walk starts, and an amount or a date leads nowhere unless the question asks for one. Of
`keywords`, names are the low level, what is asked of them the high level.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

from workbench.language.entity_types import LONGEST, SchemaTerms, names_meant, unique
from workbench.language.pipeline import content_words, parse
from workbench.language.questions import analyse, analysis_of
from workbench.language.relations import relatedness, spoken, stem
from workbench.steps import fact_filter as filtering
from workbench.steps import final_answer
from workbench.steps import keywords as levels
from workbench.steps import rank_passages as ranking
from workbench.steps import rate_neighbours as neighbours


def fact_filter(value: filtering.Input) -> filtering.Output:
    """At most `filtering.MOST` facts."""
    return filtering.Output(facts=[list(fact) for fact in relevant(value.question, value.facts)[: filtering.MOST]])


def relevant(question: str, facts: Sequence[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """The facts whose subject or object shares a word with a name or number of the question; any content word counts
    where the question has none. A fact about nothing that the question names came up by a loose resemblance alone.

    Best first, as the Step asks: facts with a relation that the question speaks of, then the others, each in the order
    given."""
    named = [word for word in re.findall(r"\w+", question) if word[0].isupper() or word[0].isdigit()]
    wanted = content_words(" ".join(named)) - {"s"} or content_words(question)
    fitting = [fact for fact in facts if wanted & content_words(f"{fact[0]} {fact[2]}")]
    stems_asked = {stem(word) for word in content_words(question)}
    return sorted(fitting, key=lambda fact: not _spoken_of(fact[1], stems_asked))


def _spoken_of(relation: str, stems_asked: Collection[str]) -> bool:
    """Whether a word of the relation is of the family or meaning of one of the stems."""
    stems = [stem(word) for word in content_words(relation)]
    return any(relatedness(stem, other) for stem in stems for other in stems_asked)


def rank_passages(value: ranking.Input) -> ranking.Output:
    """By the words of the question that a passage has, each the more the fewer passages of the list have it, and by the
    order given: the sum of both ranks decides, ties keep their order."""
    wanted = _stems(value.question)
    shared = [wanted & _stems(f"{title} {text}") for title, text in value.passages]
    within = Counter(word for words in shared for word in words)
    weights = [sum(1 / within[word] for word in sorted(words)) for words in shared]
    by_words = sorted(range(len(weights)), key=lambda row: -weights[row])
    order = sorted(range(len(weights)), key=lambda row: row + by_words.index(row))
    return ranking.Output(documents=[row + 1 for row in order])


TELLING, LEADING, BESIDE, USELESS = 7, 5, 4, 2  # 10 is never given: no rule knows the answer
MEASURES = ("date", "number")


def rate_neighbours(value: neighbours.Input) -> neighbours.Output:
    question, entity = {stem(word): word for word in sorted(content_words(value.question))}, _stems(value.entity)
    measured = analysis_of(value.question).wants in MEASURES
    return neighbours.Output(
        ratings=[
            _rating(number, neighbour, question, entity, measured)
            for number, neighbour in enumerate(value.neighbours, 1)
        ]
    )


def _rating(
    number: int, neighbour: neighbours.Neighbour, question: dict[str, str], entity: set[str], measured: bool
) -> neighbours.Rating:
    wanted, name = question.keys() - entity, _stems(neighbour.name)
    stated = _shared(wanted, _stems(" ".join(fact[1] for fact in neighbour.facts)) | name)
    further = _shared(wanted - stated, _stems(neighbour.context) - entity)
    if name and name <= question.keys():
        score, reason = BESIDE, "the question names it"
    elif stated:
        score, reason = TELLING + bool(further), f"tells of {_listed(stated | further, question)}"
    elif not measured and _is_measure(neighbour.name):
        score, reason = USELESS, "an amount or a date, which is not asked for"
    elif further:
        score, reason = LEADING + (len(further) > 1), f"leads to {_listed(further, question)}"
    else:
        score, reason = BESIDE, "tells nothing that is asked"
    return neighbours.Rating(number=number, name=neighbour.name, score=score, reason=reason)


def _stems(text: str) -> set[str]:
    return {stem(word) for word in content_words(text)}


def _shared(wanted: set[str], stated: set[str]) -> set[str]:
    return {word for word in wanted if any(relatedness(word, other) for other in stated)}


def _listed(stems: set[str], words: dict[str, str]) -> str:
    return ", ".join(sorted(words[stem] for stem in stems))


def _is_measure(name: str) -> bool:
    """Whether at least half of the letters and digits of a name are digits."""
    digits = sum(character.isdigit() for character in name)
    return digits > 0 and 2 * digits >= sum(map(str.isalnum, name))


def keywords(value: levels.Input) -> levels.Output:
    """Low level: the `named` words of the question; where the graph names none, its names; else its noun phrases. High
    level: relations of the graph that a word of the rest evokes, then types, then the words that evoke neither.

    >>> wrote = ("written_by", ("movie",), ("person",), "who wrote a movie")
    >>> output = keywords(levels.Input("which films had Ada Lind as screenwriter", (("Ada Lind", "person"),), (wrote,)))
    >>> output.high_level, output.low_level
    (['written by', 'movie', 'person'], ['Ada Lind'])
    """
    question = " ".join(value.question[:LONGEST].split())
    (doc,) = parse([question])
    terms = SchemaTerms(value.relations)
    names = names_meant(question, [span for span, _ in value.named], value.relations)
    names = names or list(analyse(question).names)
    spans = [match.span() for name in names for match in re.finditer(re.escape(name), question, re.IGNORECASE)]
    words = unique(
        spoken(token)
        for token in doc
        if token.is_alpha and not token.is_stop
        if not any(start < token.idx + len(token) and token.idx < end for start, end in spans)
    )
    relations = [relation for word in words for relation in terms.relations(word)]
    types = [kind for word in words for kind in terms.types(word)]
    others = [word for word in words if not terms.relations(word) and not terms.types(word)]
    phrases = (" ".join(token.text for token in chunk if not token.is_stop) for chunk in doc.noun_chunks)
    return levels.Output(high_level=unique([*relations, *types, *others]), low_level=unique(names or phrases))


def classify_question(value: final_answer.RoutedQuestion) -> final_answer.Kind:
    """The kind of the analysis: kin of kin is inference; a question of one hop, and no question, count as bridge."""
    kind = analyse(value.question).kind.replace("single", final_answer.DEFAULT)
    return final_answer.read_kind(kind.replace("none", ""))
