"""What an engine said of things, a line each, kept on disk while it is said: it is what costs the money.

Every finished group is on disk before the next is asked for, so a build that was stopped goes on behind it. A line of
the layer that stood is taken over if the engine at hand wrote it; with the engine `rules`, also if a model did; without
an engine, whoever wrote it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from tqdm.auto import tqdm

from workbench.index.layer import Layer
from workbench.index.store import cut_torn_line
from workbench.llm.engine import Engine, RulesEngine
from workbench.llm.step import Result, Step
from workbench.text import text_hash

T = TypeVar("T")

GROUP = 64  # inputs asked for together


class Line(NamedTuple):
    """What came of asking: `output` is that of the Step, or None with the `failure`; `flaw` is `cut` or `repaired`."""

    key: str
    made_by: str
    failure: str | None
    flaw: str | None
    output: dict | None


class Kept:
    """What an engine says of things, by the hash of what it is asked, kept in a file while it is said. `used` are the
    lines that were needed, in the order in which they were; `asked` counts those that the layer before did not have."""

    def __init__(self, name: str, folder: Path, engine: Engine | None, step: Step, old: Layer | None):
        self.path, self.part, self.engine = folder / name, folder / f"{name}.part", engine
        self.made_by = None if engine is None else f"{engine.name} ({step.identity})"
        before = self._good(_read(old.folder / name) if old else ())
        if self.part.exists():  # of a build that was stopped; at the very end, it has given the file its name
            cut_torn_line(self.part)
        self.known = before | self._good([*_read(self.path), *_read(self.part)])
        self.used: dict[str, Line] = {}
        self._before = before.keys()

    @property
    def asked(self) -> int:
        return len(self.used.keys() - self._before)

    def missing(self, keys: Iterable[str]) -> list[str]:
        return [key for key in keys if key not in self.known]

    def ask(self, inputs: Mapping[str, T], run: Callable[[Sequence[T]], Sequence[Result]], label: str | None) -> None:
        """Ask for what is not known, group by group; `label` is what the bar shows, None hides it."""
        missing = self.missing(inputs)
        hidden = label is None or not missing
        with self.part.open("a", encoding="ascii") as out, tqdm(total=len(missing), desc=label, disable=hidden) as bar:
            for start in range(0, len(missing), GROUP):
                group = missing[start : start + GROUP]
                for key, result in zip(group, run([inputs[key] for key in group])):
                    flaw = result.parse if result.parse in ("cut", "repaired") else None
                    output = result.value.model_dump() if result.value else None
                    self.known[key] = Line(key, self.made_by, result.failure, flaw, output)
                    out.write(_line(self.known[key]))
                out.flush()
                bar.update(len(group))
        self.used |= {key: self.known[key] for key in inputs}

    def settle(self) -> list[Line]:
        """Write the file: what is used, and nothing of what is not."""
        self.path.write_text("".join(map(_line, self.used.values())), encoding="ascii")
        self.part.unlink(missing_ok=True)
        return list(self.used.values())

    def _good(self, lines: Iterable[Line]) -> dict[str, Line]:
        return {line.key: line for line in lines if self._is_good(line)}

    def _is_good(self, line: Line) -> bool:
        """Whether it can be taken over. What a model wrote is not replaced by what the rules would say."""
        if self.engine is None:
            return True
        kept = line.made_by == self.made_by or (is_rules(self.engine) and not by_rules(line))
        return kept and line.failure is None


def said_of(*kept: Kept) -> dict:
    """What is worth saying of how the lines that were needed came about; their files are written."""
    lines = [line for file in kept for line in file.settle()]
    return {
        "made_by": sorted({line.made_by for line in lines}),
        "failures": sum(line.failure is not None for line in lines),
        "cut": sum(line.flaw == "cut" for line in lines),
        "repaired": sum(line.flaw == "repaired" for line in lines),
    }


def is_rules(engine: Engine | None) -> bool:
    return engine is not None and engine.name == RulesEngine.name


def by_rules(line: Line) -> bool:
    return line.made_by.startswith(f"{RulesEngine.name} (")


def key_of(*parts: Any) -> str:
    """The key of what is asked."""
    return text_hash(json.dumps(parts))


def _line(line: Line) -> str:
    return json.dumps(line._asdict()) + "\n"


def _read(path: Path) -> list[Line]:
    """The lines of a file; a last one that a killed process left unfinished does not count."""
    raw = path.read_bytes() if path.exists() else b""
    return [Line(**json.loads(line)) for line in raw[: raw.rfind(b"\n") + 1].splitlines()]
