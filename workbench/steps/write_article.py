"""Step `write_article`: an article on an entity of a graph, from its relations, with every name marked (DotRAG's
textualisation of MetaQA, first stage, figure 5; our wording). The prompt forbids facts beyond the relations, which
could not be checked and might contain answers."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import BaseModel

from workbench.language import verbalisation
from workbench.llm.step import Message, Step, conversation
from workbench.llm.wording import texts
from workbench.steps.prose import plain
from workbench.text import storable


@dataclass(frozen=True)
class Input:
    """`triples` (subject, relation, object) join the topic to each name that the article must mention. `relations` are
    (label, head types, tail types, definition).

    `earlier` is the article of an earlier reply, and `missing` the names that it does not mention as required."""

    topic: str
    type: str
    triples: tuple[verbalisation.Triple, ...]
    relations: verbalisation.Relations = ()
    earlier: str = ""
    missing: tuple[str, ...] = ()


class Output(BaseModel):
    text: str


_TEXTS = texts("write_article")
_SYSTEM = _TEXTS["system"]

_EXAMPLE = _TEXTS["example"]
_EXAMPLE_ARTICLE = """<Kestrel FM> is a station in [Alderby]. It was founded by [Nora Whitlock].

Among the programmes of <Kestrel FM> is [Night Ferry]."""


def prompt(value: Input) -> list[Message]:
    return conversation(_SYSTEM, [(_EXAMPLE, _EXAMPLE_ARTICLE)], _asked(value))


def _asked(value: Input) -> str:
    asked = f"Topic: {value.topic}\nType: {value.type}\nRelations: {json.dumps(value.triples, ensure_ascii=False)}"
    return f"{asked}{again(value)}"


def again(value: Input) -> str:
    """What is added where an earlier article lacks names; nothing at first."""
    if not value.missing:
        return ""
    return (
        f"\n\nYour article so far:\n{value.earlier or 'none'}\n\nIt lacks, in brackets and written exactly so: "
        f"{json.dumps(value.missing, ensure_ascii=False)}. Give the whole article again, with them."
    )


def read(text: str) -> Output:
    article = storable(plain(text, "article", names=["article", "text"]))
    if not any(map(str.isalnum, article)):
        raise ValueError("no word in the reply")
    return Output(text=article)


STEP = Step("write_article", Output, prompt, read=read, max_tokens=1500)
