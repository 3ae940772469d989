"""Step `sparql_answer`: the model writes the question as a small SPARQL query and follows it through the context to the
answer (the SPARQL chain of thought of "The Reasoning Bottleneck in Graph-RAG", arXiv 2603.14045, section 3.3). Nothing
is executed; the reader `sparql-exec` does that.

The three steps and their limits are those printed there, in our words. The companion code also shows an example of the
syntax, and asks to follow the chain and to answer in a few words; the example and the sentence on several things are
ours. `example=False` asks for no more than the printed template. As in the source, there is one user message, no system
message, and no warning about instructions in the context."""

from __future__ import annotations

from dataclasses import dataclass, fields

from workbench.llm.step import Step
from workbench.steps.answer import Input as Asked
from workbench.steps.final_answer import Output, read


@dataclass(frozen=True)
class Input(Asked):
    """`example`: whether the prompt has the companion code's addition, an example of the syntax."""

    example: bool = True

    @classmethod
    def of(cls, asked: Asked, example: bool) -> Input:
        return cls(**{field.name: getattr(asked, field.name) for field in fields(asked)}, example=example)


STEP = Step.from_text("sparql_answer", Input, Output, read=read, max_tokens=512, version=3)
