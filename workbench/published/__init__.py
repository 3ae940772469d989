"""Published results: the papers' tables as CSV, and the conditions of a comparison as TOML. A paper whose claims can be
checked against tables has a module of its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from workbench.evaluation.verdict import Verdict
from workbench.published import bdtr, catrag, dotrag, reasoning, youtu
from workbench.published.printed import HERE, OVER, Key, Paper, paper, papers, stands_for

__all__ = ["CLAIMS", "HERE", "OVER", "Key", "Paper", "bdtr", "catrag", "dotrag", "paper", "papers", "reasoning",
           "stands_for", "youtu"]  # fmt: skip

CLAIMS: Mapping[str, Callable[[Mapping, pd.DataFrame | None], Verdict]] = {
    "bdtr": bdtr.claims,
    "catrag": catrag.claims,
    "dotrag": dotrag.claims,
    "reasoning": reasoning.claims,
    "youtu": youtu.claims,
}
