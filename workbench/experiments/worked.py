"""The configurations that a file of worked replies was written for (`llm/worked.py`), asked."""

from __future__ import annotations

from workbench.index import Index
from workbench.llm.engine import Engine
from workbench.llm.worked import Ask, Example
from workbench.methods import method
from workbench.reading import reader
from workbench.records import Answer

K = 10  # passages that are retrieved, as `workbench ask` does


def followed(example: Example, ask: Ask, index: Index, engine: Engine) -> Answer:
    """The answer of a configuration to the question of a file."""
    evidence = method(ask.method, index, engine).retrieve(example.question, K)
    return reader(ask.reader, engine, index=index).read(example.question, evidence)


def ending(answer: Answer) -> str:
    """What an `Ask` calls the answer."""
    return answer.text or ("(abstained)" if answer.abstained else f"(failed: {answer.failure})")
