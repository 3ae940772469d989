"""Step `summarise`: one text that keeps what several texts say (RAPTOR, arXiv 2401.18059; our wording).

Step `summarise_entity`: what a graph says of an entity, as one short text (the entity context C(v) of CatRAG, arXiv
2602.01965, Eq. 2; our wording).

Step `fuse_descriptions`: one description of an entity or a relation from several (LightRAG, arXiv 2410.05779; our
wording). The fragments come from different passages and may concern two entities of one name."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from workbench.llm.step import Step
from workbench.steps.prose import worded


@dataclass(frozen=True)
class Texts:
    """`texts` have one line each; the prompt asks for a summary of at most `limit` cl100k tokens."""

    texts: tuple[str, ...]
    limit: int

    @property
    def words(self) -> int:
        """Of English: a reply of more than `limit` tokens is cut off."""
        return max(1, self.limit * 3 // 4)


class Summary(BaseModel):
    summary: str


def read_texts(text: str) -> Summary:
    """The reply on one line. A reply without a word is unreadable."""
    return Summary(summary=" ".join(worded(text, "summary", names=["summary"]).split()))


TEXTS = Step.from_text("summarise", Texts, Summary, read=read_texts, max_tokens=100)


@dataclass(frozen=True)
class EntityInput:
    """`limit`: the most cl100k tokens of the summary."""

    entity: str
    facts: tuple[tuple[str, str, str], ...]
    limit: int = 150

    @property
    def statements(self) -> list[str]:
        return list(map(statement, self.facts))


def statement(fact: tuple[str, str, str]) -> str:
    """A fact as words.

    >>> statement(("lake mira", "lies in", "orsby"))
    'lake mira lies in orsby.'
    """
    return " ".join(part for part in fact if part) + "."


ENTITY = Step.from_text("summarise_entity", EntityInput, Summary, max_tokens=256, longest=1_200)


LIMIT = 600  # cl100k tokens of a description


@dataclass(frozen=True)
class Fragments:
    """`kind` is `entity` or `relation`; the name of a relation contains both ends. `limit`: cl100k tokens of the
    requested description."""

    name: str
    kind: str
    fragments: tuple[str, ...]
    limit: int = LIMIT

    @property
    def words(self) -> int:
        """Of English, that the limit allows."""
        return self.limit * 3 // 4

    @property
    def label(self) -> str:
        return self.kind.capitalize()


class Description(BaseModel):
    description: str


def read_description(text: str) -> Description:
    """The reply on one line. A reply without a word is unreadable."""
    return Description(description=" ".join(worded(text, "description", names=["description"]).split()))


FUSE = Step.from_text("fuse_descriptions", Fragments, Description, read=read_description, max_tokens=LIMIT * 2)
