"""Step `fact_filter`: which candidate facts help to answer the question (the recognition memory of HippoRAG 2, arXiv
2502.14802).

The released prompt was tuned automatically and shows ten worked examples; ours is short, shows two, and asks for JSON
instead of field markers. Scores with it are therefore not comparable with those of the released prompt.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from workbench.llm.shapes import Rows
from workbench.llm.step import Message, Step, conversation
from workbench.llm.wording import texts

MOST = 4  # facts that the filter may return


@dataclass(frozen=True)
class Input:
    """Candidates best first, with their similarity to the question (which the prompt does not show)."""

    question: str
    facts: tuple[tuple[str, str, str], ...]
    similarities: tuple[float, ...]


class Output(BaseModel):
    """Years come as numbers from some models."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    facts: Annotated[Rows, Field(json_schema_extra={"maxItems": MOST})]


_SYSTEM = texts("fact_filter")["system"]

_EXAMPLES = (
    (
        "In which country was the founder of Kestrel FM born?",
        [
            ["kestrel fm", "founded by", "nora whitlock"],
            ["kestrel", "is", "falcon"],
            ["nora whitlock", "born in", "alderby"],
        ],
        [["kestrel fm", "founded by", "nora whitlock"], ["nora whitlock", "born in", "alderby"]],
    ),
    ("How deep is Lake Sorrow?", [["lake placid", "located in", "new york"]], []),
)


def prompt(value: Input) -> list[Message]:
    examples = ((_asked(q, candidates), json.dumps({"facts": kept})) for q, candidates, kept in _EXAMPLES)
    return conversation(_SYSTEM, examples, _asked(value.question, [list(fact) for fact in value.facts]))


def _asked(question: str, facts: list[list[str]]) -> str:
    return f"Question: {question}\nCandidate facts: {json.dumps(facts, ensure_ascii=False)}"


STEP = Step("fact_filter", Output, prompt, max_tokens=512, version=2)
