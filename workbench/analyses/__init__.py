"""Analyses of runs: each is a function whose result displays itself, with `.frame()` for pandas and
`.figure()` for print.

They reproduce those of "Beyond Static Retrieval", CatRAG, DotRAG, "The Reasoning Bottleneck in Graph-RAG" and
Youtu-GraphRAG, as each docstring states."""

from workbench.analyses.base import Analysis
from workbench.analyses.construction_cost import ConstructionCost, construction_cost
from workbench.analyses.cost_quality import CostQuality, cost_quality, pareto
from workbench.analyses.decomposition import covered_only, decomposition, recomputed_routing
from workbench.analyses.depth import quality_against_k, recall_curve, running_time, wall_clock
from workbench.analyses.hub_bias import HubBias, hub_bias, hub_bias_specs, run_hub_bias
from workbench.analyses.judging import JudgeCheck, JudgedAccuracy, WinRate, judge_check, judged_accuracy, win_rate
from workbench.analyses.kinds import Complementarity, at_equal_nodes, by_hops, by_kind, complementarity, gains_by_kind
from workbench.analyses.rounds import (
    Cuts,
    Promotion,
    ablation,
    ablation_specs,
    cuts,
    gains_over_static,
    promotion,
    rounds_curve,
    rounds_specs,
)

__all__ = [
    "Analysis", "Complementarity", "ConstructionCost", "CostQuality", "Cuts", "HubBias", "JudgeCheck", "JudgedAccuracy",
    "Promotion", "WinRate", "ablation", "ablation_specs", "at_equal_nodes", "by_hops", "by_kind", "complementarity",
    "construction_cost", "cost_quality", "covered_only", "cuts", "decomposition", "gains_by_kind", "gains_over_static",
    "hub_bias", "hub_bias_specs", "judge_check", "judged_accuracy", "pareto", "promotion", "quality_against_k",
    "recall_curve", "recomputed_routing", "rounds_curve", "rounds_specs", "run_hub_bias", "running_time", "wall_clock",
    "win_rate",
]  # fmt: skip
