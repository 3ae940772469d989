"""What a user's type checker sees: checked by mypy (`make types`), and never run."""

from pathlib import Path
from typing import Any, Literal, assert_type

import pandas as pd

import workbench as wb
from workbench.data import Dataset
from workbench.encoding import Encoder
from workbench.index import Index
from workbench.llm import Engine, Result, Step
from workbench.methods import Method
from workbench.operators.checkup import Checkup
from workbench.reading import Reader
from workbench.records import Answer, Evidence, Passage, Question, Scored
from workbench.registry import Registry
from workbench.settings import validated
from workbench.trace import Trace
from workbench.views.explorer import Explorer

data = wb.load("meridian")
assert_type(data, Dataset)
assert_type(data.passages, tuple[Passage, ...])
assert_type(data.questions, tuple[Question, ...])

engine = wb.engine("rules")
assert_type(engine, Engine)
index = wb.Index.build(data, engine, Path("indexes/meridian"))
assert_type(index, Index)
assert_type(wb.Index.open("indexes/meridian"), Index)
assert_type(wb.encoder("minilm"), Encoder)

method = wb.method("hipporag2[damping=0.6]", index, engine)
assert_type(method, Method)
evidence = method.retrieve("Who built the viaduct?", k=5)
assert_type(evidence, Evidence)
assert_type(evidence.trace, Trace | None)
for passage, score in evidence.passages:
    assert_type(passage, Passage)
    assert_type(score, float)
assert_type(evidence.passages, tuple[Scored[Passage], ...])

reader = wb.reader("direct", engine)
assert_type(reader, Reader)
answer = reader.read(evidence.question, evidence)
assert_type(answer, Answer)
assert_type(answer.text, str)

run = wb.evaluate(data.questions, [method], reader)
assert_type(run, wb.Run)
assert_type(run.table(), pd.DataFrame)
assert_type(wb.checkup(index), Checkup)
assert_type(wb.explore(index, "lanthorn bridge"), Explorer)
assert_type(wb.home(), Path)
assert_type(wb.methods.METHODS, Registry[type[Method]])


@wb.register
class Own(Method):
    """A method of one's own keeps its type when it is registered."""

    name = "own"
    paper = "none"
    scale = "none"

    @validated
    class Settings:
        depth: int = 2
        policy: Literal["keep", "drop"] = "keep"

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        return Evidence(question, self.label, self.scale, ())


assert_type(Own(index).retrieve("?"), Evidence)
assert_type(Own.Settings(depth=3).policy, Literal["keep", "drop"])


def asked(step: Step, inputs: list[Any]) -> list[Result]:
    return engine.run(step, inputs)


print(wb.no_such_name)  # type: ignore[attr-defined]
wb.method(3, index)  # type: ignore[arg-type]
print(data.pasages)  # type: ignore[attr-defined]
evidence.passages = ()  # type: ignore[misc]
Own.Settings(deep=3)  # type: ignore[call-arg]
