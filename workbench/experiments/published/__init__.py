"""What papers print: their tables as CSV, and what makes a number comparable with theirs as TOML. A paper with claims
that its tables can be asked about has a module of its name beside them."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from workbench.errors import SettingError
from workbench.experiments.published import bdtr, dotrag, reasoning
from workbench.experiments.verdict import Verdict

HERE = Path(__file__).parent
CLAIMS: Mapping[str, Callable[[Mapping, pd.DataFrame | None], Verdict]] = {
    "bdtr": bdtr.claims,
    "dotrag": dotrag.claims,
    "reasoning": reasoning.claims,
}


class Key(NamedTuple):
    """What a score belongs to, in the paper's own names; `backbone` is empty where a method has none."""

    backbone: str
    method: str
    data: str
    measure: str


@dataclass(frozen=True)
class Paper:
    """`printed`: table, backbone, method, data, measure, value, kind (`score`, or what else the number is), note (why
    it cannot be compared strictly). `terms`: the TOML file."""

    name: str
    printed: pd.DataFrame
    terms: Mapping[str, Any]

    @property
    def scores(self) -> pd.DataFrame:
        """What could be measured; the rest of `printed` is computed from it, or depends on the machine."""
        return self.printed[self.printed["kind"] == "score"]

    @property
    def values(self) -> dict[Key, float]:
        """Each score once, as the first table has it."""
        values: dict[Key, float] = {}
        for row in self.scores.itertuples():
            values.setdefault(Key(row.backbone, row.method, row.data, row.measure), row.value)
        return values


def papers() -> list[str]:
    return sorted(path.stem for path in HERE.glob("*.toml"))


@cache
def paper(name: str) -> Paper:
    """The paper of this name; :class:`SettingError` with the known ones if there is none."""
    if name not in papers():
        raise SettingError(f"no paper is called {name!r}; there are {', '.join(papers())}")
    printed = pd.read_csv(HERE / f"{name}.csv", dtype={"table": str}, keep_default_na=False)
    return Paper(name, printed, tomllib.loads((HERE / f"{name}.toml").read_text(encoding="utf-8")))
