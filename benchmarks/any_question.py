"""Executes the notebooks for questions drawn by a seed, and prints which fail.

    python benchmarks/any_question.py [--questions 10] [--seed 0] [--engines worked rules endpoint] [--only 06]
    python benchmarks/any_question.py --ids mer-q07

A notebook fails where a cell raises, its verdict included. `endpoint` is a server on this machine that fills whatever
schema it is asked for with words of the prompt: it knows nothing, so what it is asked and how its replies are read is
tested, and not what it says. Everything is made in a folder for each engine, below a temporary one or `--home`.
Notebooks that have no parameter `question` are executed once for each engine. Exits with 1 if one failed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("MPLBACKEND", "Agg")

from IPython.core.interactiveshell import InteractiveShell
from papermill import inspect_notebook
from papermill.iorw import load_notebook_node
from papermill.parameterize import parameterize_notebook

import workbench as wb
from workbench import notebooks

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from llm.chat_server import ChatServer, completion, question

ENGINES = ("worked", "rules", "endpoint")
LIMIT = 4  # questions of the studies at the end of a notebook, which are the same whatever is asked


class Outcome(NamedTuple):
    """A notebook that was executed: `failure` names the cell and its error, and is empty where all went well."""

    notebook: str
    engine: str
    question: str
    seconds: float
    failure: str

    def __str__(self) -> str:
        ended = f"FAILED {self.failure}" if self.failure else "ok"
        return f"{self.notebook} {self.engine} {self.question or '-'}: {ended} ({self.seconds:.0f} s)"


def drawn(count: int, seed: int, data: str = "meridian") -> list[str]:
    """Ids of questions of a data set."""
    ids = [one.id for one in wb.load(data).questions]
    return random.Random(seed).sample(ids, min(count, len(ids)))


def planned(engines: list[str], questions: list[str], only: str | None) -> Iterator[tuple[Path, str, str]]:
    """(notebook, engine, question), by notebook, so that what a notebook builds is there for the next question."""
    for path in notebooks.find(only=only):
        asks = "question" in inspect_notebook(str(path))
        for engine in engines:
            yield from ((path, engine, one) for one in (questions if asks else [""]))


def execute(path: Path, engine: str, asked: str, url: str = "") -> Outcome:
    """Execute a notebook in this process, below the home of the workbench; what its cells show is made and dropped."""
    known = inspect_notebook(str(path))
    given: dict[str, Any] = {"engine": engine, "limit": LIMIT}
    if asked:
        given["question"] = asked
    if engine == "endpoint":  # its facts would be no facts, so those that the data bring are taken
        given |= {"engine": f"openai:scripted@{url}", "extraction": "curated", "index": str(wb.home() / "endpoint")}
    parameters = {name: value for name, value in given.items() if name in known}
    started, failure = time.perf_counter(), _failure(path, parameters)
    return Outcome(path.stem, engine, asked, time.perf_counter() - started, failure)


def _failure(path: Path, parameters: dict[str, Any]) -> str:
    shell, node = InteractiveShell.instance(), parameterize_notebook(load_notebook_node(str(path)), parameters)
    shell.reset(new_session=False)
    quiet = io.StringIO()
    for number, cell in enumerate(node.cells):
        if cell.cell_type != "code":
            continue
        with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
            result = shell.run_cell(cell.source)
        if error := result.error_before_exec or result.error_in_exec:
            return f"cell {number}: {type(error).__name__}: {error}"
    return ""


def reply(asked: dict) -> tuple[int, dict, Any]:
    """A chat model's answer that fits what is asked for and is made of the names in the prompt."""
    said = _names(question(asked))
    form = asked.get("response_format", {}).get("json_schema")
    return completion(json.dumps(_fitting(form["schema"], said, form["schema"])) if form else f"The answer is: {said}")


def _names(prompt: str) -> str:
    """The first name in the line that asks."""
    lines = [line for line in prompt.splitlines() if "?" in line] or prompt.splitlines()
    found = re.findall(r"[A-Z]\w+(?: [A-Z]\w+)*", lines[-1].partition(" ")[2]) if lines else []
    return found[0] if found else "nothing"


def _fitting(schema: dict, text: str, whole: dict) -> Any:
    """A value of a part of the schema `whole`, in which every text is this one."""
    if "$ref" in schema:
        return _fitting(whole["$defs"][schema["$ref"].rpartition("/")[2]], text, whole)
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return _fitting(schema["anyOf"][0], text, whole)
    match schema["type"]:
        case "object":
            return {name: _fitting(part, text, whole) for name, part in schema["properties"].items()}
        case "array":
            return [_fitting(schema["items"], text, whole)] * max(1, schema.get("minItems", 1))
        case "string":
            return text
        case other:
            return {"integer": 1, "number": 1, "boolean": True, "null": None}[other]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ids", nargs="+", help="these questions instead of drawn ones")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--only", help="notebooks whose name begins so, such as 06")
    parser.add_argument("--home", type=Path, help="folder for indexes, runs and figures")
    given = parser.parse_args()
    os.environ["OPENAI_API_KEY"] = "none"
    server, outcomes = ChatServer(reply), []
    with tempfile.TemporaryDirectory() as folder:
        home, chosen = (given.home or Path(folder)).resolve(), given.ids or drawn(given.questions, given.seed)
        for path, engine, asked in planned(given.engines, chosen, given.only):
            os.environ["WORKBENCH_HOME"] = str(home / engine)  # the grid of notebook 05 is of one engine
            outcomes.append(execute(path, engine, asked, server.url))
            print(outcomes[-1], flush=True)
    server.stop()
    failed = [one for one in outcomes if one.failure]
    print(f"{len(failed)} of {len(outcomes)} notebooks failed, on {', '.join(chosen)}")
    print(*failed, sep="\n")
    return min(1, len(failed))


if __name__ == "__main__":
    sys.exit(main())
