"""Evaluation over many questions: runs, grids, comparisons, significance, verdicts and estimates of cost."""

from workbench.evaluation.evaluate import evaluate
from workbench.evaluation.grid import Grid, grid
from workbench.evaluation.run import Run
from workbench.evaluation.significance import holm, mcnemar, paired_test
from workbench.evaluation.verdict import Verdict

__all__ = [
    "Grid", "Run", "Verdict", "evaluate", "grid", "holm", "mcnemar", "paired_test",
]  # fmt: skip
