"""Rule bodies of `summarise`, `summarise_entity`, `fuse_descriptions` and `name_communities`: extracts instead of
summaries."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from workbench import tokens
from workbench.language.pipeline import content_words
from workbench.steps import fuse_descriptions as fusion
from workbench.steps import name_communities as naming
from workbench.steps import summarise as summary
from workbench.steps import summarise_entity as entity_summary

_NO_END = "".join(rf"(?<!\b{short}\.)" for short in ("[A-Z]", "Mr", "Mrs", "Ms", "Dr", "St", "No", "vs"))
_SENTENCE_END = re.compile(rf"(?<=[.!?…]){_NO_END}\s+|(?<=[。！？])|\n+")


def summarise(value: summary.Input) -> summary.Output:
    """The sentences that have most in common with all others."""
    return summary.Output(summary=central(value.texts, value.limit))


def summarise_entity(value: entity_summary.Input) -> entity_summary.Output:
    """The facts in their order, as far as they fit."""
    statements = [entity_summary.statement(fact) for fact in value.facts]
    return entity_summary.Output(summary=" ".join(_fitting(statements, value.limit)))


def fuse_descriptions(value: fusion.Input) -> fusion.Output:
    """The distinct fragments in their order, as far as they fit; of the first its beginning where it does not fit by
    itself."""
    fitting = _fitting(value.fragments, value.limit)
    return fusion.Output(description=" ".join(fitting) or tokens.cut(" ".join(value.fragments), value.limit))


def name_communities(value: naming.Input) -> naming.Output:
    """Names of the centre, the shared type and relation; summaries of members and facts."""
    return naming.Output(communities=[_named(community) for community in value.communities])


def _named(community: naming.Community) -> naming.Named:
    shared = (community.centre, community.type, community.relation)
    parts = [text for text in map(naming.plain, shared) if text]
    others = [name for name in community.members if name != community.centre]
    more = community.size - 1 - len(others)
    listed = " and ".join([*([", ".join(others)] if others else []), *([f"{more} more"] if more > 0 else [])])
    sentences = [
        f"{community.size} members{f', most of type {community.type}' * bool(community.type)}.",
        f"{community.centre} is at the centre{f', with {listed}' * bool(listed)}.",
        *map(entity_summary.statement, community.facts),
    ]
    name = " - ".join(dict.fromkeys(parts)) or f"Community {community.id}"
    return naming.Named(id=community.id, name=name, summary=" ".join(sentences))


def central(texts: Sequence[str], limit: int) -> str:
    """The sentences nearest to the centroid of all, in their own order, up to `limit` cl100k tokens together.

    Sentences are compared by the content words they have, as unit vectors. One that does not fit is passed over; where
    the nearest does not fit by itself, its beginning is the extract.
    """
    sentences = list(dict.fromkeys(sentence for text in texts for sentence in _sentences(text)))
    if not sentences:
        return ""
    words = [content_words(sentence) for sentence in sentences]
    centroid = Counter()
    for found in words:
        for word in found:
            centroid[word] += 1 / math.sqrt(len(found))
    # fsum: the order of a set differs from process to process, and with it the last bits of a plain sum.
    nearness = [math.fsum(centroid[word] for word in found) / math.sqrt(len(found) or 1) for found in words]
    order = sorted(range(len(sentences)), key=lambda row: -nearness[row])
    chosen: list[int] = []
    for row in order:
        if tokens.count(" ".join(sentences[row] for row in sorted([*chosen, row]))) <= limit:
            chosen.append(row)
    return " ".join(sentences[row] for row in sorted(chosen)) or tokens.cut(sentences[order[0]], limit)


def _fitting(texts: Sequence[str], limit: int) -> list[str]:
    """The distinct texts that fit into `limit` tokens, with a space between them; one that does not fit is passed
    over."""
    fitting: list[str] = []
    for text in dict.fromkeys(texts):
        if tokens.count(" ".join((*fitting, text))) <= limit:
            fitting.append(text)
    return fitting


def _sentences(text: str) -> list[str]:
    return [sentence.strip() for sentence in _SENTENCE_END.split(text) if sentence.strip()]
