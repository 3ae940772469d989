"""Step `fuse_descriptions`: one description of an entity or a relation from several (LightRAG, arXiv 2410.05779; our
wording). The fragments come from different passages and may concern two entities of one name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from workbench.llm.step import Step
from workbench.steps.prose import plain
from workbench.text import storable

LIMIT = 600  # cl100k tokens of a description


@dataclass(frozen=True)
class Input:
    """`kind` is `entity` or `relation`; the name of a relation contains both ends. `limit`: cl100k tokens of the
    requested description."""

    name: str
    kind: str
    fragments: tuple[str, ...]
    limit: int = LIMIT


class Output(BaseModel):
    description: str


def read(text: str) -> Output:
    """The reply on one line. A reply without a word is unreadable."""
    description = " ".join(storable(plain(text, "description", names=["description"])).split())
    if not any(map(str.isalnum, description)):
        raise ValueError("no word in the reply")
    return Output(description=description)


def derived(value: Input) -> dict[str, Any]:
    """`words` of English that the limit allows; `label`, before the name."""
    return {"words": value.limit * 3 // 4, "label": value.kind.capitalize()}


STEP = Step.from_text("fuse_descriptions", Input, Output, derived, read=read, max_tokens=LIMIT * 2)
