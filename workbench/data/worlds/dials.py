"""The dials of a world: what can be set, between which bounds."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from workbench.settings import Natural, Number, Share, validated

Locale = Literal["en-GB", "en-US", "de", "fr", "iso", "mixed"]


@validated
class Dials:
    """What determines a world, byte by byte.

    passages     how many, distractors included
    seed         of everything: names, facts, wordings, questions
    questions    how many, whatever the size, spread evenly over types and hops
    aliases      share of entities with a second name; half of the mentions of such an entity use it
    hubs         share of relations that end in few entities: of n, half of them in √n, a quarter in √√n, …
    paraphrase   0: articles and questions use the words of the schema; 1: all wordings, the most distant included
    density      probability of each fact beyond those that every article states
    hearsay      share of articles with a false statement that is marked as such
    distractors  share of passages that mention entities and state no fact
    locale       how dates and numbers are written; `mixed`: each passage in one of these ways
    """

    passages: Annotated[int, Field(ge=100, le=2_000_000, title="number of passages")] = 1_000
    seed: Natural = 0
    questions: Annotated[int, Field(ge=0, le=100_000, title="number of questions")] = 300
    aliases: Share = 0.3
    hubs: Annotated[Number, Field(ge=0, le=0.9, title="share")] = 0.2
    paraphrase: Share = 0.7
    density: Share = 0.8
    hearsay: Share = 0.2
    distractors: Annotated[Number, Field(ge=0, le=0.5, title="share")] = 0.1
    locale: Locale = "en-GB"
