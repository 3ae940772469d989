"""For authors of worked replies (data/meridian/worked): what is missing, stale or idle, and how each question ends.

    python benchmarks/worked.py INDEX [ID …]            the calls without a reply, as entries to be completed
    python benchmarks/worked.py INDEX [ID …] --stamp    put the stamps of today's prompts where other ones stand

INDEX is an index on curated facts; layers that it lacks are added with the rules:
`workbench index meridian --extraction curated --layers facts,synonyms,typed --out INDEX`. Where no reply stands, the
rules go on, so later calls may change once it is written. Read a reply again before you stamp it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import workbench as wb
from workbench.evaluation.endings import ending, followed
from workbench.llm.step import Result, Step
from workbench.llm.worked import FOLDER, Example, WorkedEngine, Written, examples_in, stamp, worked_folder


class Drafting(WorkedEngine):
    """`unwritten` keeps the calls that rules answered, `stale` the (old, new) stamps of replies to other
    prompts, which are given all the same, and `used` the replies that were given."""

    def __init__(self, examples: Iterable[Example], folder: str | Path = FOLDER):
        super().__init__(examples, folder)
        self.unwritten: list[str] = []
        self.stale: list[tuple[str, str]] = []
        self.used: set[Written] = set()

    def _by_rules(self, step: Step, inputs: Sequence[Any]) -> list[Result]:
        results = super()._by_rules(step, inputs)
        self.unwritten += [_draft(step, value, result) for value, result in zip(inputs, results)]
        return results

    def _use(self, found: Written, now: str) -> None:
        self.used.add(found)
        if found.stamp != now:
            self.stale.append((found.stamp, now))


def _draft(step: Step, value: Any, by_rules: Result) -> str:
    """What an author needs: the input, and the beginning of an entry."""
    said = by_rules.failure or by_rules.value.model_dump_json()
    shown = "\n".join(f"# {line}" for line in step.prompt(value)[-1]["content"].splitlines())
    return f"{shown}\n# rules: {said}\n[[reply]]\nstep = {json.dumps(stamp(step, value))}\ntext = '''\n'''\n"


def worked(example: Example, index: wb.Index, folder: Path, restamp: bool) -> int:
    """Follow all configurations of a file; how many things are left to do."""
    engine, left = Drafting([example], folder), 0
    for ask in example.asks:
        before = len(engine.unwritten)
        answer = followed(example, ask, index, engine)
        said = ending(answer)
        ends = "as written" if said == ask.answer else f"NOT {ask.answer!r}"
        print(f"{example.id} {ask.method} {ask.reader}: {said!r}, {ends}; {len(engine.unwritten) - before} missing")
        left += said != ask.answer
    for draft in dict.fromkeys(engine.unwritten):
        print(f"\n{draft}")
    path = folder / f"{example.id}.toml"
    for old, new in dict.fromkeys(engine.stale):
        print(f"{path.name}: {old!r} is now {new!r}")
        if restamp:
            path.write_text(path.read_text("utf-8").replace(f'"{old}"', f'"{new}"'), "utf-8")
    idle = [reply for reply in example.replies if reply not in engine.used]
    for reply in idle:
        print(f"{example.id}: no call asks for the reply to {reply.stamp}: {reply.text[:70]!r}")
    return left + len(engine.unwritten) + len(idle)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", metavar="INDEX")
    parser.add_argument("ids", nargs="*", metavar="ID")
    parser.add_argument("--stamp", action="store_true")
    parser.add_argument("--data", default="meridian", help="a data set, or a folder of replies")
    given = parser.parse_args()
    folder = worked_folder(given.data)
    examples = [one for one in examples_in(folder) if not given.ids or one.id in given.ids]
    index, rules = wb.Index.open(given.index), wb.engine("rules")
    for ask in dict.fromkeys(ask.method for example in examples for ask in example.asks):
        index = wb.method(ask, index, rules).index  # with the layers that it needs
    return sum(worked(example, index, folder, given.stamp) for example in examples)


if __name__ == "__main__":
    sys.exit(min(1, main()))
