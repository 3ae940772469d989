"""The contribution of each part of BDTR: DTR alone, BGEC alone, both; the three policies of the cut; at most five
passages read ("Beyond Static Retrieval", Table 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.analyses.base import Analysis, cautions, known_methods, mean_of, measured, paired
from workbench.errors import SettingError
from workbench.evaluation.evaluate import evaluate
from workbench.evaluation.run import Run
from workbench.index import Index
from workbench.llm.engine import Engine
from workbench.methods import method
from workbench.reading.base import Reader
from workbench.records import Question
from workbench.settings import spec_of

MEASURES = ("em", "f1", "recall@5", "read")
VARIANTS: tuple[dict[str, Any], ...] = (
    {"bgec": False},
    {"iterations": 0},
    {},
    {"policy": "strict"},
    {"policy": "lift"},
    {"max_docs": 5},
)


def ablation_specs(backbone: str = "hipporag2") -> list[str]:
    """The SPECs: the backbone alone, DTR, BGEC, both, the two other policies, and both with five passages at most."""
    over = {"backbone": backbone}
    return [backbone, *(spec_of("bdtr", over | variant) for variant in VARIANTS)]


def run_ablation(
    questions: Sequence[Question],
    index: Index,
    engine: Engine | None = None,
    reader: Reader | None = None,
    out: str | Path | None = None,
    *,
    backbone: str = "hipporag2",
    **settings: Any,
) -> Analysis:
    """Evaluate the variants over a backbone. `out` and `settings` are those of `evaluate`; the same call resumes a
    stopped run."""
    methods = [method(spec, index, engine) for spec in ablation_specs(backbone)]
    return ablation(evaluate(questions, methods, reader, out, **settings), methods[0].label)


def ablation(run: Run, static: str | None = None) -> Analysis:
    """The run's variants of BDTR, each against `static`, by default the first method.

    Rows: variant, method, the means of the measures (`read`: passages read), gain (relative to static, in percent, of
    the first measure), difference, low, high (of the same, 95 %, paired bootstrap), n."""
    (static,) = known_methods(run, [static or run.methods[0]])
    labels = [name for name in run.methods if "bgec" in run.config["methods"][name]["settings"]]
    if not labels:
        raise SettingError(f"the run {run.folder} has no bdtr; see ablation_specs('hipporag2')")
    found = measured(run, MEASURES)
    base = run.scores(found[0], static)
    rows = []
    for label in dict.fromkeys([static, *labels]):
        scores = {measure: run.scores(measure, label) for measure in found}
        means = {measure: mean_of(values.values()) for measure, values in scores.items()}
        other = mean_of(base.values())
        against = label != static and means[found[0]] is not None and other
        rows.append(
            {
                "variant": "static" if label == static else variant(run.config["methods"][label]["settings"]),
                "method": label,
                **means,
                "gain": 100 * (means[found[0]] / other - 1) if against else None,
                **paired(scores[found[0]], base if label != static else {}),
                "n": len(scores[found[0]]),
            }
        )
    notes = [f"gain, difference, low and high are those of {found[0]}, against {static}."]
    if "read" in found:
        notes.append("Variants that read more have more to answer from: compare those that read alike.")
    return Analysis("Parts of BDTR", tuple(rows), (*cautions(run), *notes), draw="ablation")


def variant(settings: Mapping[str, Any]) -> str:
    """The variant that some settings of `bdtr` select, in the paper's terms.

    >>> variant({"bgec": False, "iterations": 2}), variant({"bgec": True, "iterations": 2, "policy": "lift"})
    ('DTR', 'BDTR, lift')
    """
    if not settings["bgec"]:
        return "DTR"
    parts = ["BGEC" if settings["iterations"] == 0 else "BDTR"]
    parts += [settings["policy"]] * (settings.get("policy", "keep") != "keep")
    limit = settings.get("max_docs")
    return ", ".join([*parts, *([f"at most {limit} read"] if limit is not None else [])])
