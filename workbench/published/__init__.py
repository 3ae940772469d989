"""Published results: the papers' tables as CSV, the conditions of a comparison and the claims as TOML, and what an
audit of the printed numbers found (`findings.json`, by `tests/evaluation/test_published.py`)."""

from __future__ import annotations

import csv
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from workbench.errors import SettingError
from workbench.evaluation.verdict import Check, Verdict
from workbench.published.claims import check_claims

HERE = Path(__file__).parent
FINDINGS = HERE / "findings.json"


class Key(NamedTuple):
    """The identity of a score, in the paper's own names; `backbone` is empty for a method without one."""

    backbone: str
    method: str
    data: str
    measure: str


@dataclass(frozen=True)
class Paper:
    """`printed`: table, backbone, method, data, measure, value, kind (`score`, `win`, or the kind of the number), note
    (why it is not strictly comparable). `terms`: the TOML file, and the `fingerprints` of data sets."""

    name: str
    printed: pd.DataFrame
    terms: Mapping[str, Any]

    @property
    def scores(self) -> pd.DataFrame:
        """Measurable scores and win rates; the rest of `printed` is computed from them or depends on the machine."""
        return self.printed[self.printed["kind"].isin(["score", "win"])]

    @cached_property
    def rounding(self) -> dict[tuple[str, str], float]:
        """(table, measure, or what is said in percent) → half a unit of the last printed digit: a number stands for all
        that round to it."""
        digits: dict[tuple[str, str], int] = {}
        for row in self.printed.itertuples():
            key, printed = (row.table, stands_for(row)), len(f"{row.value!r}".partition(".")[2])
            digits[key] = max(printed, digits.get(key, 0))
        return {key: 0.5 * 10**-many for key, many in digits.items()}

    @property
    def values(self) -> dict[Key, float]:
        """Each score once, as in the first table that has it."""
        values: dict[Key, float] = {}
        for row in self.scores.itertuples():
            values.setdefault(Key(row.backbone, row.method, row.data, row.measure), row.value)
        return values

    @property
    def own_claims(self) -> Verdict:
        """Its claims by its own numbers, and what an audit of these found."""
        verdict = check_claims(self.terms["claims"], self.values, "The paper's claims, by its own tables")
        findings = _findings().get(self.name, {"checks": (), "facts": {}})
        checks = [*verdict.checks, *(Check(**check) for check in findings["checks"])]
        return Verdict(verdict.title, checks, dict(findings["facts"]))

    def compared(self, method: str) -> tuple[str, str]:
        """The two methods of a win rate; the printed name may leave out how the second begins.

        >>> paper("dotrag").compared("DotRAG over 6 iterations")
        ('DotRAG', 'DotRAG, 6 iterations')
        """
        first, _, second = method.partition(OVER)
        called = {term["called"] for term in self.terms["methods"]}
        return first, second if second in called else f"{first}, {second}"


def stands_for(row: Any) -> str:
    """The measure of a printed number, or what is said of it in percent; both have digits of their own."""
    return row.kind if row.kind.endswith("%") else row.measure


OVER = " over "  # between two methods whose answers are compared


def papers() -> list[str]:
    return sorted(path.stem for path in HERE.glob("*.toml"))


@cache
def paper(name: str) -> Paper:
    """The paper of this name; raises :class:`SettingError` with the known ones if there is none."""
    if name not in papers():
        raise SettingError(f"no paper is called {name!r}; there are {', '.join(papers())}")
    printed = pd.read_csv(HERE / f"{name}.csv", dtype={"table": str}, keep_default_na=False)
    terms = tomllib.loads((HERE / f"{name}.toml").read_text(encoding="utf-8"))
    return Paper(name, printed, terms | {"fingerprints": _fingerprints()})


@cache
def _findings() -> dict[str, dict[str, Any]]:
    """Paper → the checks and facts of an audit of its printed numbers."""
    return json.loads(FINDINGS.read_text("utf-8"))


@cache
def _fingerprints() -> dict[str, dict[str, str | None]]:
    """Our name of a data set → the fingerprint of its passages and the hash of its questions, as a run has them, of the
    publisher's files; None where these were not to be had."""
    with (HERE / "fingerprints.csv").open(encoding="utf-8", newline="") as rows:
        return {row.pop("name"): {part: value or None for part, value in row.items()} for row in csv.DictReader(rows)}
