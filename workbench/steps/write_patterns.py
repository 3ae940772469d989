"""Step `write_patterns`: a question as triple patterns, to be executed on the retrieved facts (ours; the SPARQL chain
of thought of the thesis writes patterns too, but executes none).

The context shows the wording of the facts; the rule body takes names from its titles and otherwise uses only the
question."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from workbench.llm.shapes import Blank
from workbench.llm.step import Message, Step, conversation
from workbench.llm.wording import texts

MOST = 4  # patterns of a query, as the prompt of the thesis has it
BY = ("earlier", "later", "more", "less", "same", "difference")
LONGEST = 12_000  # characters of the context that are shown: wordings, not evidence


@dataclass(frozen=True)
class Input:
    """`titles` of the passages in the context are names that the rule body knows."""

    question: str
    context: str
    titles: tuple[str, ...] = ()


class TriplePattern(BaseModel):
    subject: str
    predicate: str
    object: str


class Compare(BaseModel):
    """See `sparql.query.Comparison`."""

    by: Literal[BY]
    of: list[str]
    pick: list[str]


class Output(BaseModel):
    """No patterns: the question cannot be put in them."""

    patterns: list[TriplePattern]
    wanted: Blank
    compare: Compare | None = None


_TEXTS = texts("write_patterns")
_SYSTEM = _TEXTS["system"]

_CONTEXT = _TEXTS["context"]


def _example(patterns: list[tuple[str, str, str]], wanted: str, compare: dict | None = None) -> str:
    told = [dict(zip(("subject", "predicate", "object"), members)) for members in patterns]
    return json.dumps({"patterns": told, "wanted": wanted, "compare": compare})


_EXAMPLES = [
    (
        f"{_CONTEXT}\n\nQuestion: In which town was the founder of Kestrel FM born?",
        _example([("Kestrel FM", "founded by", "?x"), ("?x", "born in", "?answer")], "?answer"),
    ),
    (
        f"{_CONTEXT}\n\nQuestion: Is Kestrel FM older than Radio Plover?",
        _example(
            [("Kestrel FM", "founded", "?x"), ("Radio Plover", "founded", "?y")],
            "?x",
            {"by": "earlier", "of": ["?x", "?y"], "pick": ["yes", "no"]},
        ),
    ),
]


def prompt(value: Input) -> list[Message]:
    return conversation(_SYSTEM, _EXAMPLES, f"{value.context[:LONGEST]}\n\nQuestion: {value.question}")


STEP = Step("write_patterns", Output, prompt, max_tokens=384, most=8, longest=200)
