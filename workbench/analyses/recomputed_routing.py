"""Routing by post-processing stored runs, as the companion write-up of "The Reasoning Bottleneck in Graph-RAG" makes
its numbers (Table 5.5): of each question the answer of the prompt that its kind is routed to; if that run abstained,
the other run's. No model is asked.

It is what a live run of `route=true` does, with the same answers for the same prompt: with sampling, the two agree in
distribution, not question by question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from workbench.analyses.base import Analysis, Runs, cautions_of, known_methods, mean_of, runs_of
from workbench.errors import SettingError
from workbench.evaluation.run import Run
from workbench.evaluation.significance import compared
from workbench.reading.routing import POLICY, other
from workbench.settings import parse_spec
from workbench.steps.final_answer import DEFAULT

ACCURACY = ("accuracy:thesis", "accuracy:heuristic", "accuracy")
RECOMPUTED = "routing, recomputed"


def recomputed_routing(
    runs: Runs,
    labels: str | Mapping[str, str],
    *,
    sparql: str = "sparql",
    cot: str = "cot",
    methods: Iterable[str] | None = None,
    measure: str | None = None,
) -> Analysis:
    """`sparql` and `cot` name the runs of the two prompts, of a grid or among several (label → run). `labels` names
    the run whose router's labels count, one of `route=true`, or is question id → kind. A question without a label is a
    bridge, as for the router. `measure` is by default the accuracy that the runs have (`ACCURACY`).

    Rows: method, configuration (either prompt alone, the run of the labels, the recomputed one), measure, n, accuracy,
    abstained (share), second (questions answered by the other run), unlabelled; and of the recomputed one against the
    configuration: difference, low, high (95 %, paired bootstrap), p (paired randomisation test)."""
    known = runs_of(runs)
    live = labels if isinstance(labels, str) else None
    for name in (sparql, cot, *([live] if live else [])):
        if name not in known:
            raise SettingError(f"there is no run of a reader {name!r}; there are {', '.join(known)}")
    prompts = {"sparql": known[sparql], "cot": known[cot]}
    _check(prompts, {sparql: known[sparql], cot: known[cot]}, known[live] if live else None)
    measure = _measure(measure, prompts.values())
    methods, rows = known_methods(prompts["sparql"], methods), []
    for method in methods:
        told = kinds(known[live], method) if live else labels
        taken = routed(prompts, method, told, measure)
        alone = {sparql: known[sparql], cot: known[cot]}
        if live and measure in known[live].measures and method in known[live].methods:
            alone[live] = known[live]
        for name, run in alone.items():
            rows.append(
                {"method": method, "configuration": name, **_row(_stored(run, method, measure), measure, taken)}
            )
        rows.append({"method": method, "configuration": RECOMPUTED, **_row(taken, measure, None)})
    return Analysis("Routing, recomputed from stored runs", tuple(rows), cautions_of(known), draw="recomputed_routing")


def _check(prompts: Mapping[str, Run], named: Mapping[str, Run], live: Run | None) -> None:
    """The runs must be of the same questions, and of one prompt each."""
    first = prompts["sparql"]
    for run in (prompts["cot"], *([live] if live else [])):
        if run.config["questions"] != first.config["questions"]:
            raise SettingError(f"the runs {first.folder} and {run.folder} were asked different questions")
    for label, run in named.items():
        given = parse_spec(run.config["reader"] or "")[1]
        if given.get("route") or given.get("retry") not in (None, "auto"):
            raise SettingError(
                f"the reader of the run {label!r} is {run.config['reader']}, which asks more than one prompt; routing "
                "is recomputed from runs of one prompt each, without route and retry"
            )


def _measure(measure: str | None, runs: Iterable[Run]) -> str:
    runs = list(runs)
    found = [one for one in ([measure] if measure else ACCURACY) if all(one in run.measures for run in runs)]
    if not found:
        asked = measure or f"any of {', '.join(ACCURACY)}"
        raise SettingError(f"the runs {' and '.join(str(run.folder) for run in runs)} do not both have {asked}")
    return found[0]


def kinds(run: Run, method: str) -> dict[str, str]:
    """Question id → the label that the router gave, if it was one."""
    known_methods(run, [method])
    readings = {row["question_id"]: row["reading"] or {} for row in run.rows if row["method"] == method}
    return {one: of["kind"] for one, of in readings.items() if of.get("kind") and not of.get("invalid")}


def _stored(run: Run, method: str, measure: str) -> dict[str, dict[str, Any]]:
    """Question id → its score, and whether it abstained."""
    return {
        row["question_id"]: {"score": row["scores"].get(measure), "abstained": bool(row["abstained"]), "second": None,
                             "unlabelled": None}
        for row in run.rows if row["method"] == method
    }  # fmt: skip


def routed(
    prompts: Mapping[str, Run], method: str, labels: Mapping[str, str], measure: str
) -> dict[str, dict[str, Any]]:
    """Question id → its score and whether it abstained, by the prompt that its label is routed to or, after an
    abstention, by the other; `prompts` are the runs of `sparql` and `cot`."""
    answers = {prompt: _stored(run, method, measure) for prompt, run in prompts.items()}
    if unknown := sorted({*labels.values()} - POLICY.keys()):
        raise SettingError(f"{unknown[0]!r} is no kind of question; there are {', '.join(POLICY)}")
    found = {}
    for one in answers["sparql"].keys() & answers["cot"].keys():
        prompt = POLICY[labels.get(one, DEFAULT)]
        second = answers[prompt][one]["abstained"]
        taken = answers[other(prompt) if second else prompt][one]
        found[one] = {**taken, "second": second, "unlabelled": one not in labels}
    return dict(sorted(found.items()))


def _row(
    answers: Mapping[str, Mapping[str, Any]], measure: str, routed: Mapping[str, Mapping[str, Any]] | None
) -> dict[str, Any]:
    scores = {one: of["score"] for one, of in answers.items() if of["score"] is not None}
    seconds, unlabelled = ([of[name] for of in answers.values()] for name in ("second", "unlabelled"))
    against = {}
    if routed is not None:
        ours = {one: of["score"] for one, of in routed.items() if of["score"] is not None}
        against = {
            name: value for name, value in compared(ours, scores).items() if name not in ("n", "value", "mcnemar")
        }
    return {
        "measure": measure, "n": len(answers), "accuracy": mean_of(scores.values()),
        "abstained": mean_of(float(of["abstained"]) for of in answers.values()),
        "second": None if None in seconds else sum(seconds),
        "unlabelled": None if None in unlabelled else sum(unlabelled),
        **{name: against.get(name) for name in ("difference", "low", "high", "p")},
    }  # fmt: skip
