"""Step `write_article_paper`: `write_article` as DotRAG's figure 5 asks for it: its role, its inputs (the topic, the
names to be mentioned, the relations as JSON for information), its output and their order; the wording and the example
are ours. Facts from the web are allowed where there is a search, as there; nothing here offers one."""

from __future__ import annotations

import json

from workbench.llm.step import Message, Step, conversation
from workbench.llm.wording import texts
from workbench.steps.write_article import Input, Output, again, read

_SYSTEM = texts("write_article_paper")["system"]

_EXAMPLE = Input(
    "Night Ferry", "movie", (("Night Ferry", "directed_by", "Nora Whitlock"), ("Night Ferry", "has_genre", "Drama"))
)
_EXAMPLE_ARTICLE = """<Night Ferry> is a film of the genre [Drama].

It was [Nora Whitlock] who directed <Night Ferry>."""


def prompt(value: Input) -> list[Message]:
    return conversation(_SYSTEM, [(_asked(_EXAMPLE), _EXAMPLE_ARTICLE)], _asked(value))


def _asked(value: Input) -> str:
    names = dict.fromkeys(end for triple in value.triples for end in (triple[0], triple[2]) if end != value.topic)
    asked = (
        f"Topic: {value.topic}\nKind: {value.type}\nSupporting entities: {json.dumps(list(names), ensure_ascii=False)}"
        f"\nRelations: {json.dumps(value.triples, ensure_ascii=False)}"
    )
    return f"{asked}{again(value)}"


STEP = Step("write_article_paper", Output, prompt, read=read, max_tokens=1500)
