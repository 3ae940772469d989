"""Rule body of `essay_answer`: an extract, and labelled as one.

It gives the ends of the complete paths, then the sentences of the passages that share the most words with the question,
in the order in which they stand. It composes nothing, so no judgement of such an answer says anything of an essay."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.language.pipeline import content_words
from workbench.steps.answer import Input
from workbench.steps.final_answer import UNKNOWN, Output
from workbench.text import sentences, titled

LABEL = "By rules, sentences of the passages and not an essay:"
SENTENCES = 8  # at most


def essay_answer(value: Input) -> Output:
    """
    >>> read = (("Kestrel FM", "It plays folk. Nora Whitlock founded it."), ("Fog", "Fog is rare."))
    >>> print(essay_answer(Input("Who founded Kestrel FM?", "", read)).reply)
    By rules, sentences of the passages and not an essay:
    <BLANKLINE>
    Kestrel FM
    It plays folk. Nora Whitlock founded it.
    """
    ends = f"The complete paths end at {', '.join(value.ends)}." if value.ends else ""
    blocks = [block for block in (ends, *_extract(value.question, value.passages)) if block]
    return Output(reply="\n\n".join([LABEL, *blocks]) if blocks else UNKNOWN)


def _extract(question: str, passages: Sequence[tuple[str, str]]) -> list[str]:
    """The sentences that share most words with the question, below the titles of their passages; the words of a title
    count for its sentences."""
    asked = content_words(question)
    shared = {
        (at, number): len((content_words(text) | content_words(title)) & asked)
        for at, (title, body) in enumerate(passages)
        for number, text in enumerate(sentences(body))
    }
    best = sorted((place for place in shared if shared[place]), key=lambda place: (-shared[place], place))[:SENTENCES]
    chosen: dict[int, list[str]] = {}
    for at, number in sorted(best):
        chosen.setdefault(at, []).append(sentences(passages[at][1])[number])
    return [titled(passages[at][0], " ".join(texts)) for at, texts in chosen.items()]
