"""Rule body of the fact filter."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.rules.language import content_words


def relevant(question: str, facts: Sequence[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """The facts that share a content word with the question, in the order given: a fact about nothing that the
    question mentions came up by a loose resemblance alone."""
    asked = content_words(question)
    return [fact for fact in facts if asked & content_words(" ".join(fact))]
