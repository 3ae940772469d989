"""Step `select_regions`: where in the graph the search for a question begins (neighbourhood selection of DotRAG).

The reply holds the names in the question, each with a probable description, its broad topics, and a routing: names only
(1), or topics as well (0). The paper shows no wording; this one is ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

from workbench.llm.shapes import Blank, Reading, countable, number
from workbench.llm.step import Step
from workbench.text import normalized

ANCHORS = 3  # at most, as in the paper


@dataclass(frozen=True)
class Input:
    """`about` describes the graph. `types` are (name, definition, number of entities), `relations` (label, head types,
    tail types, definition), empty if the graph has no labels; `named` are the names of the graph in the question, as
    (span, type). The prompt shows no relations."""

    question: str
    about: str
    types: tuple[tuple[str, str, int], ...]
    relations: tuple[tuple[str, tuple[str, ...], tuple[str, ...], str], ...]
    named: tuple[tuple[str, str], ...]


class Anchor(BaseModel):
    """A name as the question writes it."""

    model_config = ConfigDict(str_strip_whitespace=True)

    span: str
    description: Blank
    type: str | None


# 1: by the names alone, 0: by the topics as well.
Routing = Annotated[int, Reading(number, missing=1), AfterValidator(countable)]


class Output(BaseModel):
    anchors: list[Anchor]
    topics: list[str]
    routing: Routing


def checked(value: Input, reply: Output) -> Output:
    """The usable part of the reply: at most three spans that occur in the question, types of the schema, routing by
    names only if there are any, and the question itself if there are no topics.

    >>> given = Input("Who wrote Dune Fever?", "", (("film", "", 9),), (), ())
    >>> made_up = Output(anchors=[Anchor(span="Frank", description="", type="star")], topics=[], routing=1)
    >>> checked(given, made_up)
    Output(anchors=[], topics=['Who wrote Dune Fever?'], routing=0)
    """
    type_names, question = {name for name, _, _ in value.types}, _folded(value.question)
    anchors = [
        anchor.model_copy(update={"type": anchor.type if anchor.type in type_names else None})
        for anchor in reply.anchors
        if anchor.span and _folded(anchor.span) in question
    ][:ANCHORS]
    topics = [topic for topic in reply.topics if topic.strip()]
    return Output(anchors=anchors, topics=topics or [value.question], routing=int(reply.routing == 1 and bool(anchors)))


def _folded(text: str) -> str:
    return normalized("NFKC", text).casefold()


STEP = Step.from_text("select_regions", Input, Output, most=12)
