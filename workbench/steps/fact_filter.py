"""Step `fact_filter`: which candidate facts help to answer the question (the recognition memory of HippoRAG 2, arXiv
2502.14802).

The released prompt was tuned automatically and shows ten worked examples; ours is short, shows two, and asks for JSON
instead of field markers. Scores with it are therefore not comparable with those of the released prompt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from workbench.llm.shapes import Rows
from workbench.llm.step import Step

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


STEP = Step.from_text("fact_filter", Input, Output, max_tokens=512, version=2)
