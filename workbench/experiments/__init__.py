"""Asking many questions, comparing methods and readers, and saying what a number is worth and why answers are wrong."""

from workbench.experiments.diagnose import Diagnosis, diagnose
from workbench.experiments.evaluate import evaluate
from workbench.experiments.grid import Grid, grid
from workbench.experiments.run import Run
from workbench.experiments.significance import holm, mcnemar, paired_test
from workbench.experiments.verdict import Verdict

__all__ = [
    "Diagnosis", "Grid", "Run", "Verdict", "diagnose", "evaluate", "grid", "holm", "mcnemar", "paired_test",
]  # fmt: skip
