"""Analyses of a run, one per file: each is a function whose result displays itself, with `.frame()` for pandas and
`.figure()` for print.

They reproduce those of "Beyond Static Retrieval", CatRAG, DotRAG, "The Reasoning Bottleneck in Graph-RAG" and
Youtu-GraphRAG, as each docstring states."""

from workbench.analyses.ablation import ablation, ablation_specs, run_ablation
from workbench.analyses.at_equal_nodes import at_equal_nodes
from workbench.analyses.base import Analysis
from workbench.analyses.by_hops import by_hops
from workbench.analyses.by_kind import by_kind
from workbench.analyses.complementarity import Complementarity, complementarity
from workbench.analyses.construction_cost import ConstructionCost, construction_cost
from workbench.analyses.cost_quality import CostQuality, cost_quality, pareto, run_pareto
from workbench.analyses.cuts import Cuts, cuts
from workbench.analyses.decomposition import covered_only, decomposition
from workbench.analyses.gains_by_kind import gains_by_kind
from workbench.analyses.gains_over_static import gains_over_static
from workbench.analyses.hub_bias import HubBias, hub_bias, hub_bias_specs, run_hub_bias
from workbench.analyses.judge_check import JudgeCheck, judge_check
from workbench.analyses.judged_accuracy import JudgedAccuracy, judged_accuracy
from workbench.analyses.promotion import Promotion, promotion
from workbench.analyses.quality_against_k import quality_against_k
from workbench.analyses.recall_curve import recall_curve
from workbench.analyses.recomputed_routing import recomputed_routing
from workbench.analyses.rounds_curve import rounds_curve, rounds_specs, run_rounds
from workbench.analyses.running_time import running_time
from workbench.analyses.wall_clock import wall_clock
from workbench.analyses.win_rate import WinRate, win_rate

__all__ = [
    "Analysis", "Complementarity", "ConstructionCost", "CostQuality", "Cuts", "HubBias", "JudgeCheck", "JudgedAccuracy",
    "Promotion", "WinRate", "ablation", "ablation_specs", "at_equal_nodes", "by_hops", "by_kind", "complementarity",
    "construction_cost", "cost_quality", "covered_only", "cuts", "decomposition", "gains_by_kind", "gains_over_static",
    "hub_bias", "hub_bias_specs", "judge_check", "judged_accuracy", "pareto", "promotion", "quality_against_k",
    "recall_curve", "recomputed_routing", "rounds_curve", "rounds_specs", "run_ablation", "run_hub_bias", "run_pareto",
    "run_rounds", "running_time", "wall_clock", "win_rate",
]  # fmt: skip
