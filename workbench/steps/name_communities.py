"""Step `name_communities`: a name and a summary for each of a few communities of a knowledge graph (Youtu-GraphRAG,
arXiv 2508.19855; our wording).

A reply is read entry by entry: one that is malformed, or missing, leaves only its own community without a name.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError, field_validator

from workbench.llm.shapes import Number
from workbench.llm.step import Step

WORDS = 100  # of a summary, at most
NAME_WORDS = 12
CHARACTERS = 1_200  # of a summary whose script sets no spaces


@dataclass(frozen=True)
class Community:
    """`members` are the names of the first ones of `size`. A model sees nothing else; the rules also read the `type`
    and the `relation` that most members have, and a few `facts`."""

    id: int
    centre: str
    members: tuple[str, ...]
    size: int
    type: str = ""
    relation: str = ""
    facts: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class Input:
    communities: tuple[Community, ...]


class Name(BaseModel):
    """The name holds letters, digits, spaces and hyphens only; the summary at most `WORDS` words."""

    name: str
    summary: str

    @field_validator("name")
    @classmethod
    def _plain(cls, name: str) -> str:
        return _filled("name", plain(name))

    @field_validator("summary")
    @classmethod
    def _short(cls, summary: str) -> str:
        return _filled("summary", shortened(summary))


class Named(Name):
    """The entry of a community."""

    id: Number


class Output(BaseModel):
    communities: list[Named]

    @field_validator("communities", mode="before")
    @classmethod
    def _well_formed(cls, entries: Any) -> Any:
        """The entries that can be read; ValueError where none can."""
        if not isinstance(entries, list):
            return entries
        rows = [named for entry in entries if (named := _read(entry)) is not None]
        if not rows:
            raise ValueError("no entry has an id, a name and a summary")
        return rows


def matched(value: Input, output: Output) -> list[Named | None]:
    """The entry for each community, the first with its id; None where there is none."""
    by_id: dict[int, Named] = {}
    for named in output.communities:
        by_id.setdefault(named.id, named)
    return [by_id.get(community.id) for community in value.communities]


def plain(name: str) -> str:
    """Letters, marks, digits and hyphens of a name, at most `NAME_WORDS` words.

    >>> plain("**Born_in (Orsby)** – O'Dell's 東京-to ***")
    'Born in Orsby ODells 東京-to'
    """
    letters = "".join(
        c if unicodedata.category(c)[0] in "LMN" or c == "-" else " " for c in name.translate(_APOSTROPHES)
    )
    words = [word for word in letters.split() if any(map(str.isalnum, word)) or word == "-"]
    return " ".join(words[:NAME_WORDS]).strip(" -")


def shortened(summary: str) -> str:
    """One line of at most `WORDS` words."""
    return " ".join(summary.split()[:WORDS])[:CHARACTERS].strip()


_APOSTROPHES = str.maketrans("", "", "'’`")


def _filled(what: str, text: str) -> str:
    if not any(map(str.isalnum, text)):
        raise ValueError(f"the {what} holds no letter and no digit")
    return text


def _read(entry: Any) -> Named | None:
    try:
        return Named.model_validate(entry)
    except ValidationError:
        return None


STEP = Step.from_text("name_communities", Input, Output, max_tokens=2048, longest=1_200)
