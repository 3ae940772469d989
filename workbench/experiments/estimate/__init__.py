"""Estimates of a build or a run before it starts: calls, tokens, money and seconds per Step, from a sample."""

from workbench.experiments.estimate.build import estimate_build, forecast_layers
from workbench.experiments.estimate.ranges import Range, exactly, extrapolated, stratified
from workbench.experiments.estimate.record import Cost, Estimate
from workbench.experiments.estimate.run import estimate_run
from workbench.experiments.estimate.unasked import Unasked
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
