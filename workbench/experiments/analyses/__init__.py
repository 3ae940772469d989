"""What can be read off a run, an analysis a file: each is a function that gives a value which shows itself, with
`.frame()` for pandas and `.figure()` for paper.

They are those of "Beyond Static Retrieval", sections 2 and 4, of DotRAG, and of "The Reasoning Bottleneck in
Graph-RAG", which the docstrings name."""

from workbench.experiments.analyses.ablation import Ablation, ablation, ablation_specs, run_ablation
from workbench.experiments.analyses.at_equal_nodes import AtEqualNodes, at_equal_nodes
from workbench.experiments.analyses.base import Analysis
from workbench.experiments.analyses.by_hops import ByHops, by_hops
from workbench.experiments.analyses.by_kind import ByKind, by_kind
from workbench.experiments.analyses.complementarity import Complementarity, complementarity
from workbench.experiments.analyses.cost_quality import CostQuality, cost_quality
from workbench.experiments.analyses.cuts import Cuts, cuts
from workbench.experiments.analyses.decomposition import CoveredOnly, Decomposition, covered_only, decomposition
from workbench.experiments.analyses.promotion import Promotion, promotion
from workbench.experiments.analyses.quality_against_k import QualityAgainstK, quality_against_k
from workbench.experiments.analyses.recall_curve import RecallCurve, recall_curve
from workbench.experiments.analyses.rounds_curve import RoundsCurve, rounds_curve, rounds_specs, run_rounds
from workbench.experiments.analyses.running_time import RunningTime, running_time
from workbench.experiments.analyses.win_rate import WinRate, win_rate

__all__ = [
    "Ablation", "Analysis", "AtEqualNodes", "ByHops", "ByKind", "Complementarity", "CostQuality", "CoveredOnly", "Cuts",
    "Decomposition", "Promotion", "QualityAgainstK", "RecallCurve", "RoundsCurve", "RunningTime", "WinRate",
    "ablation", "ablation_specs", "at_equal_nodes", "by_hops", "by_kind", "complementarity", "cost_quality",
    "covered_only", "cuts", "decomposition", "promotion", "quality_against_k", "recall_curve", "rounds_curve",
    "rounds_specs", "run_ablation", "run_rounds", "running_time", "win_rate",
]  # fmt: skip
