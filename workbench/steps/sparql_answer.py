"""Step `sparql_answer`: the model writes the question as a small SPARQL query and follows it through the context to the
answer (the SPARQL chain of thought of "The Reasoning Bottleneck in Graph-RAG", arXiv 2603.14045, section 3.3). Nothing
is executed; the reader `sparql-exec` does that.

The three steps are those printed there. The companion code also shows an example of the syntax, and asks to follow the
chain and to answer in a few words; here the wording and the example of these are ours, and so is the sentence on
several things. `example=False` gives the printed template. As in the source, there is one user message, no system
message, and no warning about instructions in the context."""

from __future__ import annotations

from dataclasses import dataclass, fields

from workbench.llm.step import Message, Step
from workbench.steps.answer import Input as Asked
from workbench.steps.final_answer import CUE, SEVERAL, UNKNOWN, Output, read, shown
from workbench.steps.reading_mode import OWN_KNOWLEDGE, opened


@dataclass(frozen=True)
class Input(Asked):
    """`example`: whether the prompt has the companion code's addition, an example of the syntax."""

    example: bool = True

    @classmethod
    def of(cls, asked: Asked, example: bool) -> Input:
        return cls(**{field.name: getattr(asked, field.name) for field in fields(asked)}, example=example)


ROLE = "You are answering a multi-hop question using only the provided context."
_QUERY = (
    "Step 1: Write a simple SPARQL query (max 4 triple patterns, plain English predicates, NO URIs, NO FILTER, "
    "NO subqueries)."
)
_PRINTED = f"""{ROLE}

{_QUERY}
Step 2: Trace the variable bindings for each triple pattern through the context.
Step 3: Write {CUE} <your answer>. If the answer is not in the context, write {CUE} {UNKNOWN}."""

_COMPANION = f"""{ROLE}

{_QUERY}
For example, for "Which range does the longest tributary of the river at Alderby rise in?":
SELECT ?answer WHERE {{
  ?x "flows through" "Alderby" .
  ?x "has as its longest tributary" ?y .
  ?y "rises in" ?answer .
}}
Step 2: Follow the chain through the context, step by step: for each triple pattern, find what its variables stand for.
Step 3: Write {CUE} <your answer in a few words>. {SEVERAL} \
If the answer is not in the context, write {CUE} {UNKNOWN}."""

OPEN_CLAUSES = (("using only the", "using the"), (f"write {CUE} {UNKNOWN}.", f"{OWN_KNOWLEDGE}."))
_OPEN = {example: opened(text, *OPEN_CLAUSES) for example, text in ((True, _COMPANION), (False, _PRINTED))}


def prompt(value: Input) -> list[Message]:
    instructions = _COMPANION if value.example else _PRINTED
    return [{"role": "user", "content": shown(instructions, value.context, value.question)}]


def open_prompt(value: Input) -> list[Message]:
    return [{"role": "user", "content": shown(_OPEN[value.example], value.context, value.question)}]


STEP = Step("sparql_answer", Output, prompt, read=read, max_tokens=512, version=2, open=open_prompt)
