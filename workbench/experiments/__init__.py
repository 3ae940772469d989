"""Evaluation over many questions: runs, comparisons of methods and readers, significance, and causes of wrong
answers."""

from workbench.experiments.diagnose import Diagnosis, diagnose
from workbench.experiments.evaluate import evaluate
from workbench.experiments.grid import Grid, grid
from workbench.experiments.run import Run
from workbench.experiments.significance import holm, mcnemar, paired_test
from workbench.experiments.verdict import Verdict

__all__ = [
    "Diagnosis", "Grid", "Run", "Verdict", "diagnose", "evaluate", "grid", "holm", "mcnemar", "paired_test",
]  # fmt: skip
