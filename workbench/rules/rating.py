"""Rule body of `rate_neighbours`: what a neighbour, its facts and its context share with the rest of the question.

What the question says besides the entity is still to be found. A neighbour whose fact tells some of it is a step on the
way, above all where its context tells more. One that the question names itself leads back to where the walk starts, and
an amount or a date leads nowhere unless the question asks for one."""

from __future__ import annotations

from workbench.language.pipeline import content_words
from workbench.language.questions import analysis_of
from workbench.language.relations import relatedness, stem
from workbench.steps.rate_neighbours import Input, Neighbour, Output, Rating

TELLING, LEADING, BESIDE, USELESS = 7, 5, 4, 2  # 10 is never given: no rule knows the answer
MEASURES = ("date", "number")


def rate_neighbours(value: Input) -> Output:
    question, entity = {stem(word): word for word in sorted(content_words(value.question))}, _stems(value.entity)
    measured = analysis_of(value.question).wants in MEASURES
    return Output(
        ratings=[
            _rating(number, neighbour, question, entity, measured)
            for number, neighbour in enumerate(value.neighbours, 1)
        ]
    )


def _rating(number: int, neighbour: Neighbour, question: dict[str, str], entity: set[str], measured: bool) -> Rating:
    asked, name = question.keys() - entity, _stems(neighbour.name)
    told = _shared(asked, _stems(" ".join(fact[1] for fact in neighbour.facts)) | name)
    further = _shared(asked - told, _stems(neighbour.context) - entity)
    if name and name <= question.keys():
        score, reason = BESIDE, "the question names it"
    elif told:
        score, reason = TELLING + bool(further), f"tells of {_listed(told | further, question)}"
    elif not measured and _is_measure(neighbour.name):
        score, reason = USELESS, "an amount or a date, which is not asked for"
    elif further:
        score, reason = LEADING + (len(further) > 1), f"leads to {_listed(further, question)}"
    else:
        score, reason = BESIDE, "tells nothing that is asked"
    return Rating(number=number, name=neighbour.name, score=score, reason=reason)


def _stems(text: str) -> set[str]:
    return {stem(word) for word in content_words(text)}


def _shared(asked: set[str], stated: set[str]) -> set[str]:
    return {word for word in asked if any(relatedness(word, other) for other in stated)}


def _listed(stems: set[str], words: dict[str, str]) -> str:
    return ", ".join(sorted(words[one] for one in stems))


def _is_measure(name: str) -> bool:
    """Whether at least half of the letters and digits of a name are digits."""
    digits = sum(character.isdigit() for character in name)
    return digits > 0 and 2 * digits >= sum(map(str.isalnum, name))
