"""A verdict: named checks of measured against expected values, displayed, asserted and written as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.records import Record


@dataclass(frozen=True)
class Check:
    """`where`: the place of the claim in its source, such as `Table 5.6`; empty for a check without one."""

    name: str
    value: Any
    expected: str
    holds: bool
    where: str = ""

    def plain(self) -> dict[str, Any]:
        """For JSON; without an empty place."""
        return {name: value for name, value in vars(self).items() if name != "where" or value}


@dataclass(repr=False)
class Verdict(Record):
    """`verdict.check("recall above dense", 0.71, "> 0.65", lambda v: v > 0.65)`; `facts` are numbers without an
    expectation."""

    title: str
    checks: list[Check] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    def check(self, name: str, value: Any, expected: str, holds: Callable[[Any], bool], *, where: str = "") -> bool:
        result = bool(holds(value))
        self.checks.append(Check(name, _plain(value), expected, result, where))
        return result

    def none(self, name: str, count: int) -> bool:
        """Check that there are none of these."""
        return self.check(name, count, "0", lambda value: value == 0)

    def state(self, **facts: Any) -> None:
        self.facts |= {name: _plain(value) for name, value in facts.items()}

    @property
    def holds(self) -> bool:
        return all(check.holds for check in self.checks)

    def save(self, path: str | Path) -> Path:
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        content = {
            "title": self.title,
            "holds": self.holds,
            "checks": [check.plain() for check in self.checks],
            "facts": self.facts,
        }
        path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return path


def _plain(value: Any) -> Any:
    """The value for JSON, without NaN, which pandas uses for an undefined measure."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and value != value else value
