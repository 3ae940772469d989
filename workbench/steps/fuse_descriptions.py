"""Step `fuse_descriptions`: one description of an entity or a relation from several (LightRAG, arXiv 2410.05779; our
wording). The fragments come from different passages and may concern two entities of one name."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import BaseModel

from workbench.llm.step import Message, Step, conversation
from workbench.llm.wording import example, texts
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


_TEXTS = texts("fuse_descriptions")
_SYSTEM = _TEXTS["system"]

_EXAMPLE = example(_TEXTS["example"], tuple[str, str, str])
_EXAMPLE_ANSWER = (
    "Nora Whitlock is a broadcaster born in Alderby, who founded the community radio station Kestrel FM on 3 May 1994."
)


def prompt(value: Input) -> list[Message]:
    example = Input("Nora Whitlock", "entity", _EXAMPLE)
    system = _SYSTEM.format(words=value.limit * 3 // 4)
    return conversation(system, [(_asked(example), _EXAMPLE_ANSWER)], _asked(value))


def _asked(value: Input) -> str:
    fragments = "\n".join(json.dumps(fragment, ensure_ascii=False) for fragment in value.fragments)
    return f"{value.kind.capitalize()}: {value.name}\n\n{fragments}\n\nDescription:"


def read(text: str) -> Output:
    """The reply on one line. A reply without a word is unreadable."""
    description = " ".join(storable(plain(text, "description", names=["description"])).split())
    if not any(map(str.isalnum, description)):
        raise ValueError("no word in the reply")
    return Output(description=description)


STEP = Step("fuse_descriptions", Output, prompt, read=read, max_tokens=LIMIT * 2)
