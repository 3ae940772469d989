"""Rule body of `fact_filter`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.language.pipeline import content_words
from workbench.steps.fact_filter import MOST, Input, Output


def fact_filter(value: Input) -> Output:
    """At most `MOST` facts."""
    return Output(facts=[list(fact) for fact in relevant(value.question, value.facts)[:MOST]])


def relevant(question: str, facts: Sequence[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """The facts whose subject or object shares a word with a name or number of the question, in the order given; any
    content word counts where the question has none. A fact about nothing that the question names came up by a loose
    resemblance alone."""
    named = [word for word in re.findall(r"\w+", question) if word[0].isupper() or word[0].isdigit()]
    asked = content_words(" ".join(named)) - {"s"} or content_words(question)
    return [fact for fact in facts if asked & content_words(f"{fact[0]} {fact[2]}")]
