"""The origin of wrong answers: retrieval, compression, or reading ("The Reasoning Bottleneck in Graph-RAG", arXiv
2603.14045).

    wrong = retrieval failures (wrong, not covered)
          + cut                (wrong, covered before compression but not after it)
          + reasoning failures (wrong, covered in the text that was read)
    correct = correct and covered + lucky (correct, not covered)

The source measures coverage only before compression, so it counts `cut` as reasoning failures.

Routing by post-processing stored runs, as the companion write-up of "The Reasoning Bottleneck in Graph-RAG" makes
its numbers (Table 5.5): of each question the answer of the prompt that its kind is routed to; if that run abstained,
the other run's. No model is asked.

It is what a live run of `route=true` does, with the same answers for the same prompt: with sampling, the two agree in
distribution, not question by question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from workbench import display
from workbench.analyses.base import (
    Analysis,
    Runs,
    cautions_of,
    known_methods,
    of_runs,
    runs_of,
    same_questions,
)
from workbench.errors import SettingError
from workbench.evaluation.run import Run, alike
from workbench.evaluation.significance import compared, mean_of
from workbench.reading.prompts import POLICY, other
from workbench.settings import parse_spec
from workbench.steps.final_answer import DEFAULT
from workbench.text import counted

AFTER = {"coverage": "coverage:read", "coverage:substring": "coverage:read:substring"}
EVERY = "all"


def decomposition(
    runs: Runs,
    methods: Iterable[str] | None = None,
    *,
    by: Iterable[str] = (EVERY,),
    measure: str = "accuracy",
    coverage: str = "coverage",
) -> Analysis:
    """The outcomes of the questions of a run, of several (label → run) or of a grid, counted over `by`: `all`, `type`,
    `hops`. An answer is right if it scores 1 in `measure`. Questions with undefined `coverage` (a gold yes or no, no
    gold) are excluded, and counted in the notes.

    Rows: reader, method, by (`all`, type or hops), kind, n, correct_covered, lucky, reasoning, cut, retrieval (numbers
    of questions), accuracy, coverage, reasoning_share (of the wrong answers, as the source counts, with `cut`),
    reasoning_share_read (without `cut`). `cut` is None if the run does not record the text that was read."""
    by, runs = tuple(by), runs_of(runs)
    if unknown := [name for name in by if name not in (EVERY, "type", "hops")]:
        raise SettingError(f"by={unknown[0]!r} is unknown; choose all, type or hops")
    rows, left_out = [], set()
    for reader, run, method in of_runs(runs, methods):
        judged = judgements(run, method, measure, coverage)
        left_out.add((len(judged), sum(row["method"] == method for row in run.rows)))
        for name in by:
            for kind in [None] if name == EVERY else sorted({row[name] for row in judged} - {None}, key=str):
                parts = _counted([row for row in judged if kind in (None, row.get(name))], run_cuts(run, coverage))
                rows.append({"reader": reader, "method": method, "by": name, "kind": kind and str(kind), **parts})
    notes = [_left_out(*pair, coverage) for pair in sorted(left_out) if pair[0] < pair[1]]
    draw = partial(display.picture, "decomposition", same=alike(runs), notes=notes)
    return Analysis("What became of the questions", tuple(rows), (*cautions_of(runs), *notes), draw=draw)


def _left_out(judged: int, total: int, coverage: str) -> str:
    questions = counted(total - judged, "question")
    return f"n is {judged:,} of {total:,}: {coverage} is not defined for {questions} (a gold yes or no, or no gold)."


def judgements(run: Run, method: str, measure: str, coverage: str) -> list[dict[str, Any]]:
    """A row for each question with a defined `coverage`: question_id, type, hops, right, covered, cut."""
    _check(run, measure, coverage)
    after = AFTER.get(coverage)
    rows = []
    for row in run.rows:
        scores = row["scores"]
        if row["method"] == method and scores.get(coverage) is not None and scores.get(measure) is not None:
            covered = scores[coverage] == 1
            cut = covered and after in run.measures and scores.get(after) == 0
            identity = {name: row[name] for name in ("question_id", "type", "hops")}
            rows.append({**identity, "right": scores[measure] == 1, "covered": covered, "cut": cut})
    return rows


def run_cuts(run: Run, coverage: str) -> bool:
    """Whether the run records what its reader's compressor cut; a reader without a compressor cuts nothing."""
    return AFTER.get(coverage) in run.measures or "compress=" not in (run.config["reader"] or "")


def covered_only(
    runs: Runs,
    methods: Iterable[str] | None = None,
    *,
    measures: Iterable[str] = ("accuracy", "f1", "em"),
    coverage: str = "coverage",
) -> Analysis:
    """Means over all questions, over those whose answer was retrieved, and over those whose answer was in the text that
    was read (Table 5.3 of the source has the second). A rate over covered questions is not a share of the coverage; do
    not compare the two.

    Rows: reader, method, measure, n, value (over all questions for which it is defined), covered_n, covered (over those
    whose answer was retrieved), read_n, read (over those whose answer was in the text that was read; None if
    unknown)."""
    measures, rows = tuple(measures), []
    for reader, run, method in of_runs(runs, methods):
        mine = [row["scores"] for row in run.rows if row["method"] == method]
        for measure in measures:
            _check(run, measure, coverage)
            after = AFTER.get(coverage)
            after = after if after in run.measures else coverage if run_cuts(run, coverage) else None
            whole = [scores[measure] for scores in mine if scores.get(measure) is not None]
            covered, read = (
                [s[measure] for s in mine if s.get(of) == 1 and s.get(measure) is not None] for of in (coverage, after)
            )
            rows.append(
                {
                    "reader": reader, "method": method, "measure": measure,
                    "n": len(whole), "value": mean_of(whole),
                    "covered_n": len(covered), "covered": mean_of(covered),
                    "read_n": len(read) if after else None, "read": mean_of(read),
                }
            )  # fmt: skip
    return Analysis(f"All questions, and those with {coverage}", tuple(rows), cautions_of(runs), draw="covered_only")


def _counted(judged: list[Mapping[str, Any]], cuts_known: bool) -> dict[str, Any]:
    """The source's two-by-two table, with cut answers separate."""
    n = len(judged)
    right_covered = sum(row["right"] and row["covered"] for row in judged)
    lucky = sum(row["right"] and not row["covered"] for row in judged)
    cut = sum(not row["right"] and row["cut"] for row in judged)
    reasoning = sum(not row["right"] and row["covered"] and not row["cut"] for row in judged)
    retrieval = sum(not row["right"] and not row["covered"] for row in judged)
    wrong = n - right_covered - lucky
    return {
        "n": n,
        "correct_covered": right_covered,
        "lucky": lucky,
        "reasoning": reasoning,
        "cut": cut if cuts_known else None,
        "retrieval": retrieval,
        "accuracy": (right_covered + lucky) / n if n else None,
        "coverage": (right_covered + reasoning + cut) / n if n else None,
        "reasoning_share": (reasoning + cut) / wrong if wrong else None,
        "reasoning_share_read": reasoning / wrong if wrong and cuts_known else None,
    }


def _check(run: Run, *names: str) -> None:
    if missing := [name for name in names if name not in run.measures]:
        raise SettingError(
            f"the run {run.folder} does not have {missing[0]}; it has {', '.join(run.measures)}. Evaluate with "
            f"measures=[…, {missing[0]!r}] and a reader"
        )


# -- recomputed routing -----------------------------------------------------------------------------------------------

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
    by_reader = runs_of(runs)
    live = labels if isinstance(labels, str) else None
    for name in (sparql, cot, *([live] if live else [])):
        if name not in by_reader:
            raise SettingError(f"no run has the reader {name!r}; choose one of {', '.join(by_reader)}")
    prompts = {"sparql": by_reader[sparql], "cot": by_reader[cot]}
    _check_prompts(prompts, {sparql: by_reader[sparql], cot: by_reader[cot]}, by_reader[live] if live else None)
    measure = _measure(measure, prompts.values())
    methods, rows = known_methods(prompts["sparql"], methods), []
    for method in methods:
        live_labels = kinds(by_reader[live], method) if live else labels
        taken = routed(prompts, method, live_labels, measure)
        alone = {sparql: by_reader[sparql], cot: by_reader[cot]}
        if live and measure in by_reader[live].measures and method in by_reader[live].methods:
            alone[live] = by_reader[live]
        for name, run in alone.items():
            rows.append(
                {"method": method, "configuration": name, **_row(_stored(run, method, measure), measure, taken)}
            )
        rows.append({"method": method, "configuration": RECOMPUTED, **_row(taken, measure, None)})
    return Analysis(
        "Routing, recomputed from stored runs", tuple(rows), cautions_of(by_reader), draw="recomputed_routing"
    )


def _check_prompts(prompts: Mapping[str, Run], named: Mapping[str, Run], live: Run | None) -> None:
    """The runs must be of the same questions, and of one prompt each."""
    same_questions(*prompts.values(), *([live] if live else []))
    for label, run in named.items():
        given = parse_spec(run.config["reader"] or "")[1]
        if given.get("route") or given.get("retry") not in (None, "auto"):
            raise SettingError(
                f"the reader of the run {label!r} is {run.config['reader']}, which uses more than one prompt; routing "
                "is recomputed from runs of one prompt each, without route and retry"
            )


def _measure(measure: str | None, runs: Iterable[Run]) -> str:
    runs = list(runs)
    shared = [name for name in ([measure] if measure else ACCURACY) if all(name in run.measures for run in runs)]
    if not shared:
        wanted = measure or f"any of {', '.join(ACCURACY)}"
        raise SettingError(
            f"the runs {' and '.join(str(run.folder) for run in runs)} do not both have {wanted}; evaluate both with "
            f"it: measures=[…, {measure or ACCURACY[0]!r}]"
        )
    return shared[0]


def kinds(run: Run, method: str) -> dict[str, str]:
    """Question id → the label that the router gave, if it was one."""
    known_methods(run, [method])
    readings = {row["question_id"]: row["reading"] or {} for row in run.rows if row["method"] == method}
    return {question: of["kind"] for question, of in readings.items() if of.get("kind") and not of.get("invalid")}


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
        raise SettingError(f"{unknown[0]!r} is not a kind of question; choose one of {', '.join(POLICY)}")
    taken_by_question = {}
    for question in answers["sparql"].keys() & answers["cot"].keys():
        prompt = POLICY[labels.get(question, DEFAULT)]
        second = answers[prompt][question]["abstained"]
        taken = answers[other(prompt) if second else prompt][question]
        taken_by_question[question] = {**taken, "second": second, "unlabelled": question not in labels}
    return dict(sorted(taken_by_question.items()))


def _row(
    answers: Mapping[str, Mapping[str, Any]], measure: str, routed: Mapping[str, Mapping[str, Any]] | None
) -> dict[str, Any]:
    scores = {question: of["score"] for question, of in answers.items() if of["score"] is not None}
    seconds, unlabelled = ([of[name] for of in answers.values()] for name in ("second", "unlabelled"))
    against = {}
    if routed is not None:
        ours = {question: of["score"] for question, of in routed.items() if of["score"] is not None}
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
