"""What Youtu-GraphRAG (arXiv 2508.19855) prints in figures: the tokens of construction and of communities, and Figure 6
rebuilt from them and Table 1."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from workbench.published import paper

TERMS = paper("youtu").terms
OURS = "Youtu-GraphRAG"
MODEL = TERMS["models"][-1]["called"]  # of the figures
TOP20, TOP20_REJECT = "top-20 accuracy, open", "top-20 accuracy, reject"
DATA, QUESTIONS = tuple(TERMS["data"]), TERMS["questions"]  # of GraphRAG-Bench their number is not given
REJECT = tuple(TERMS["measured"][TOP20_REJECT]["data"])  # the others are printed in open mode only
PARETO = ("LightRAG", "LGraphRAG", "HippoRAG1", "HippoRAG2")  # of Figure 6, as Figure 5 calls them
NAMES = {"LGraphRAG": "GraphRAG", "HippoRAG1": "HippoRAG-IRCOT"}  # in the tables

Values = Mapping[tuple[str, str, str, str], float]


class Printed:
    """The printed numbers: `at(…)` one of them, `of(…)` those of a table or of kinds, as rows."""

    def __init__(self, frame: pd.DataFrame):
        self.rows = list(frame.itertuples())
        self._values = {(row.table, row.method, row.data, row.measure): row.value for row in self.rows}

    def at(self, table: str, method: str, data: str, measure: str, default: float | None = None) -> float | None:
        return self._values.get((table, method, data, measure), default)

    def of(self, *names: str) -> list:
        return [row for row in self.rows if row.table in names or row.kind in names]

    def tokens(self, method: str, data: str) -> float | None:
        """Tokens of construction and of communities (Figures 5a and 5b); communities cost a method that is not in 5b
        none."""
        built = self.at("figure 5a", method, data, "construction tokens")
        return None if built is None else built + self.at("figure 5b", method, data, "community tokens", 0)


def figure_6(values: Values, printed: Printed, data: str) -> dict[str, tuple[float, float]]:
    """Method → (tokens of construction and communities, accuracy), rebuilt from Figure 5 and Table 1: reject mode for
    the data sets that have it, open mode for the others."""
    return {name: (printed.tokens(name, data), accuracy(values, name, data)) for name in (*PARETO, OURS)}


def accuracy(values: Values, method: str, data: str) -> float:
    """Top-20 accuracy, in reject mode where it is printed."""
    return values[MODEL, NAMES.get(method, method), data, mode(data)]


def mode(data: str) -> str:
    return TOP20_REJECT if data in REJECT else TOP20
