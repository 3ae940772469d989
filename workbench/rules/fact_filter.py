"""Rule body of `fact_filter`."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from workbench.language.pipeline import content_words
from workbench.language.relations import relatedness, stem
from workbench.steps.fact_filter import MOST, Input, Output


def fact_filter(value: Input) -> Output:
    """At most `MOST` facts."""
    return Output(facts=[list(fact) for fact in relevant(value.question, value.facts)[:MOST]])


def relevant(question: str, facts: Sequence[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """The facts whose subject or object shares a word with a name or number of the question; any content word counts
    where the question has none. A fact about nothing that the question names came up by a loose resemblance alone.

    Best first, as the Step asks: facts with a relation that the question speaks of, then the others, each in the order
    given."""
    named = [word for word in re.findall(r"\w+", question) if word[0].isupper() or word[0].isdigit()]
    asked = content_words(" ".join(named)) - {"s"} or content_words(question)
    kept = [fact for fact in facts if asked & content_words(f"{fact[0]} {fact[2]}")]
    said = {stem(word) for word in content_words(question)}
    return sorted(kept, key=lambda fact: not _spoken_of(fact[1], said))


def _spoken_of(relation: str, said: Collection[str]) -> bool:
    """Whether a word of the relation is of the family or meaning of one of the stems."""
    stems = [stem(word) for word in content_words(relation)]
    return any(relatedness(one, other) for one in stems for other in said)
