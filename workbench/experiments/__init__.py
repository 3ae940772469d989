"""Asking many questions, comparing methods, and saying what a number is worth."""

from workbench.experiments.evaluate import evaluate
from workbench.experiments.run import Run
from workbench.experiments.significance import holm, paired_test
from workbench.experiments.verdict import Verdict

__all__ = ["Run", "Verdict", "evaluate", "holm", "paired_test"]
