"""Step `write_article_paper`: `write_article` as DotRAG's figure 5 asks for it: its role, its inputs (the topic, the
names to be mentioned, the relations as JSON for information), its output and their order; the wording and the example
are ours. Facts from the web are allowed where there is a search, as there; nothing here offers one."""

from __future__ import annotations

from typing import Any

from workbench.llm.step import Step
from workbench.steps.write_article import Input, Output, read


def derived(value: Input) -> dict[str, Any]:
    """`names` that the article must mention."""
    ends = (end for triple in value.triples for end in (triple[0], triple[2]))
    return {"names": list(dict.fromkeys(end for end in ends if end != value.topic))}


STEP = Step.from_text("write_article_paper", Input, Output, derived, read=read, max_tokens=1500)
