"""Estimates of a build or a run before it starts: calls, tokens, money and seconds per Step, from a sample."""

from workbench.evaluation.estimate.build import estimate_build, forecast_layers
from workbench.evaluation.estimate.ranges import Range, exactly, extrapolated, stratified
from workbench.evaluation.estimate.record import Cost, Estimate
from workbench.evaluation.estimate.run import estimate_run
from workbench.evaluation.estimate.unasked import Unasked
from workbench.index.extractions import ASSUMED

__all__ = [
    "ASSUMED",
    "Cost",
    "Estimate",
    "Range",
    "Unasked",
    "estimate_build",
    "estimate_run",
    "exactly",
    "extrapolated",
    "forecast_layers",
    "stratified",
]
