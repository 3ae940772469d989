"""Analyses of a run, one per file: each is a function whose result displays itself, with `.frame()` for pandas and
`.figure()` for print.

They reproduce those of "Beyond Static Retrieval", CatRAG, DotRAG, "The Reasoning Bottleneck in Graph-RAG" and
Youtu-GraphRAG, as each docstring states."""

from workbench.experiments.analyses.ablation import ablation, ablation_specs, run_ablation
from workbench.experiments.analyses.at_equal_nodes import at_equal_nodes
from workbench.experiments.analyses.base import Analysis
from workbench.experiments.analyses.by_hops import by_hops
from workbench.experiments.analyses.by_kind import by_kind
from workbench.experiments.analyses.complementarity import Complementarity, complementarity
from workbench.experiments.analyses.construction_cost import ConstructionCost, construction_cost
from workbench.experiments.analyses.cost_quality import CostQuality, cost_quality, pareto, run_pareto
from workbench.experiments.analyses.cuts import Cuts, cuts
from workbench.experiments.analyses.decomposition import covered_only, decomposition
from workbench.experiments.analyses.gains_by_kind import gains_by_kind
from workbench.experiments.analyses.gains_over_static import gains_over_static
from workbench.experiments.analyses.hub_bias import HubBias, hub_bias, hub_bias_specs, run_hub_bias
from workbench.experiments.analyses.judge_check import JudgeCheck, judge_check
from workbench.experiments.analyses.judged_accuracy import JudgedAccuracy, judged_accuracy
from workbench.experiments.analyses.promotion import Promotion, promotion
from workbench.experiments.analyses.quality_against_k import quality_against_k
from workbench.experiments.analyses.recall_curve import recall_curve
from workbench.experiments.analyses.recomputed_routing import recomputed_routing
from workbench.experiments.analyses.rounds_curve import rounds_curve, rounds_specs, run_rounds
from workbench.experiments.analyses.running_time import running_time
from workbench.experiments.analyses.wall_clock import wall_clock
from workbench.experiments.analyses.win_rate import WinRate, win_rate

__all__ = [
    "Analysis", "Complementarity", "ConstructionCost", "CostQuality", "Cuts", "HubBias", "JudgeCheck", "JudgedAccuracy",
    "Promotion", "WinRate", "ablation", "ablation_specs", "at_equal_nodes", "by_hops", "by_kind", "complementarity",
    "construction_cost", "cost_quality", "covered_only", "cuts", "decomposition", "gains_by_kind", "gains_over_static",
    "hub_bias", "hub_bias_specs", "judge_check", "judged_accuracy", "pareto", "promotion", "quality_against_k",
    "recall_curve", "recomputed_routing", "rounds_curve", "rounds_specs", "run_ablation", "run_hub_bias", "run_pareto",
    "run_rounds", "running_time", "wall_clock", "win_rate",
]  # fmt: skip
