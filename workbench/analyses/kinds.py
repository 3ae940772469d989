"""Results of methods and readers by kind of question: its type and its number of hops.

* `by_kind`: quality, with the difference to a baseline ("Beyond Static Retrieval", figures 2 and 6).
* `gains_by_kind`: what one reader gains over another, over the same questions and evidence ("The Reasoning Bottleneck
  in Graph-RAG", Tables 5.9 and 5.10).
* `by_hops`: the nodes retrieved from a graph (DotRAG, Table 2).
* `at_equal_nodes`: recall and precision of answers among the same number of nodes for every method (the measures of
  DotRAG, Table 2). Precision rewards a short list of nodes, so methods are compared at the length of one of them.

Whether two methods answer the same questions correctly ("Beyond Static Retrieval", figure 3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from workbench.analyses.base import (
    Analysis,
    Runs,
    among,
    cautions,
    cautions_of,
    kinds_among,
    known_methods,
    measured,
    paired,
    questions_of,
    runs_of,
    same_questions,
    unreachable,
)
from workbench.errors import SettingError
from workbench.evaluation.run import Run
from workbench.evaluation.significance import compared, corrected, mean_of, paired_test
from workbench.measures import NODES
from workbench.measures.ranking import node_f1, node_precision, node_recall
from workbench.records import Question

EVERY = "all"


def by_kind(
    run: Run,
    questions: Iterable[Question],
    baseline: str | None = None,
    *,
    measures: Sequence[str] = ("em", "f1", "recall@5"),
) -> Analysis:
    """Each method against the baseline (the first one), by the questions' `type` and by their `hops`. Measures missing
    from the run are omitted.

    Rows: by (type or hops), kind, method, measure, n, value, baseline, difference, low, high (95 %, paired bootstrap
    over the questions of the kind)."""
    gold = questions_of(run, questions)
    (baseline,) = known_methods(run, [baseline or run.methods[0]])
    kinds = list(kinds_among({"question_id": q.id, "type": q.type, "hops": q.hops} for q in gold.values()))
    if not kinds:
        raise SettingError(
            "no question has a type or a number of hops, so questions cannot be grouped; add 'type' or 'hops' to them"
        )
    rows: list[dict] = []
    for measure in measured(run, measures):
        scores = {method: run.scores(measure, method) for method in run.methods}
        for by, kind, ids in kinds:
            rows += _against_baseline(by, kind, ids, measure, scores, baseline)
    notes = (*cautions(run), *unreachable(run, measured(run, measures)))
    return Analysis(f"By kind of question, against {baseline}", tuple(rows), notes, draw="by_kind")


def _against_baseline(
    by: str, kind: str | int, ids: set[str], measure: str, scores: dict[str, dict[str, float]], baseline: str
) -> Iterator[dict]:
    base = among(scores[baseline], ids)
    for method, values in scores.items():
        mine = among(values, ids)
        yield {
            "by": by, "kind": str(kind), "method": method, "measure": measure, "n": len(mine),
            "value": mean_of(mine.values()), "baseline": mean_of(base.values()),
            **(paired(mine, base) if method != baseline else {"difference": None, "low": None, "high": None}),
        }  # fmt: skip


def gains_by_kind(
    runs: Runs,
    against: str | Mapping[str, str] | None = None,
    methods: Iterable[str] | None = None,
    *,
    measures: Iterable[str] = ("accuracy:thesis", "accuracy", "em", "f1"),
) -> Analysis:
    """Paired differences between the readers of a grid, or of several runs (label → run) of the same questions.
    `against` is the baseline of all (by default the first), or reader → its baseline, for those that are compared:
    `{"sparql+gw": "sparql", "brief+gw": "brief"}` is Table 5.10. Measures missing from a run are omitted.

    Rows: reader, against, method, measure, by (`all`, type, hops), kind, n, value, baseline, difference, low, high
    (95 %, paired bootstrap over the questions of the kind), p (paired randomisation test), mcnemar (its exact p, if all
    values are 0 or 1), p_holm (p corrected over the whole table)."""
    by_label, measures = runs_of(runs), tuple(measures)
    pairs = _pairs(by_label, against)
    methods = None if methods is None else list(methods)
    rows = [
        {"reader": ours, "against": base, "method": method, "measure": measure, **row}
        for ours, base in pairs
        for method in _methods(by_label[ours], by_label[base], methods)
        for measure in measures
        if measure in by_label[ours].measures and measure in by_label[base].measures
        for row in _gains(by_label[ours], by_label[base], method, measure)
    ]
    if not rows:
        raise SettingError(
            f"the runs of {', '.join(by_label)} have none of {', '.join(measures)} together; measure their answers by "
            "the same measures, or pass measures=…"
        )
    title = f"Gains by kind of question, against {', '.join(dict.fromkeys(base for _, base in pairs))}"
    return Analysis(title, corrected(rows), cautions_of(by_label), draw="gains_by_kind")


def _pairs(by_label: Mapping[str, Run], against: str | Mapping[str, str] | None) -> list[tuple[str, str]]:
    """(reader, its baseline); raises :class:`SettingError` unless both are known and were asked the same questions."""
    if against is None:
        against = next(iter(by_label), "")
    named = against if isinstance(against, Mapping) else {label: against for label in by_label if label != against}
    if unknown := [label for pair in named.items() for label in pair if label not in by_label]:
        raise SettingError(f"there is no reader {unknown[0]!r}; there are {', '.join(by_label)}")
    if not named:
        raise SettingError(
            "only one reader was given, and readers are compared; pass the runs of two readers, or a grid"
        )
    for ours, base in named.items():
        same_questions(by_label[ours], by_label[base])
    return list(named.items())


def _methods(ours: Run, base: Run, methods: list[str] | None) -> list[str]:
    if methods is None:
        return [name for name in ours.methods if name in base.methods]
    return [name for name in known_methods(ours, methods) if known_methods(base, [name])]


def _gains(ours: Run, base: Run, method: str, measure: str) -> Iterator[dict]:
    values, others = ours.scores(measure, method), base.scores(measure, method)
    mine = [row for row in ours.rows if row["method"] == method]
    for by, kind, ids in ((EVERY, EVERY, {row["question_id"] for row in mine}), *kinds_among(mine)):
        if comparison := compared(among(values, ids), others):
            yield {"by": by, "kind": str(kind), **comparison}


def by_hops(run: Run, methods: Iterable[str] | None = None) -> Analysis:
    """Means over the questions of 1, 2, 3 … hops. Compare precision only at similar `node_count`.

    Rows: hops, method, n (questions), the means of the run's measures of nodes, passages (mean number returned),
    failures."""
    names = measured(run, list(NODES))
    rows = []
    for hops in sorted({row.get("hops") for row in run.rows} - {None}):
        for method in known_methods(run, methods):
            mine = [row for row in run.rows if row["method"] == method and row.get("hops") == hops]
            rows.append(
                {
                    "hops": hops,
                    "method": method,
                    "n": sum(row["scores"][names[0]] is not None for row in mine),
                    **{name: mean_of(row["scores"][name] for row in mine) for name in names},
                    "passages": mean_of(len(row["ranking"]) for row in mine),
                    "failures": sum(row["failure"] is not None for row in mine),
                }
            )
    return Analysis("Nodes found, by hops", tuple(rows), tuple(cautions(run)), draw="by_hops")


def at_equal_nodes(
    run: Run, questions: Iterable[Question], reference: str | None = None, *, methods: Iterable[str] | None = None
) -> Analysis:
    """For each question the first n nodes of every method, n being how many `reference` returned (by default the first
    method of the run that is a `dotrag`). Passages do not count, so methods without nodes of their own are left out.

    Rows: hops, method, n (questions), and means: nodes (how many were compared), recall, precision, f1 (of the
    answers)."""
    reference = reference or next((name for name in run.methods if name.partition("[")[0] == "dotrag"), None)
    if reference is None:
        raise SettingError(
            f"the run {run.folder} has no method dotrag; name another method to count the nodes of: reference=…"
        )
    known_methods(run, [reference])
    by_id = questions_of(run, questions)
    gold = {id: question for id, question in by_id.items() if question.answer_set and question.answers}
    nodes_of = {(row["question_id"], row["method"]): list(dict.fromkeys(row["nodes"])) for row in run.rows}
    chosen = [name for name in known_methods(run, methods) if any(nodes_of.get((id, name)) for id in gold)]
    rows = []
    for hops in sorted({question.hops for question in gold.values()}, key=lambda hops: (hops is None, hops)):
        for name in chosen:
            pairs = [
                (nodes_of[id, name][: len(nodes_of[id, reference])], question.answers)
                for id, question in gold.items()
                if question.hops == hops and (id, name) in nodes_of and (id, reference) in nodes_of
            ]
            rows.append(
                {
                    "hops": hops,
                    "method": name,
                    "n": len(pairs),
                    "nodes": mean_of(len(nodes) for nodes, _ in pairs),
                    "recall": mean_of(node_recall(*pair) for pair in pairs),
                    "precision": mean_of(node_precision(*pair) for pair in pairs),
                    "f1": mean_of(node_f1(*pair) for pair in pairs),
                }
            )
    notes = [f"Of each question as many nodes as {reference} returned."]
    if without := [name for name in known_methods(run, methods) if name not in chosen]:
        notes.append(f"Without nodes of their own: {', '.join(without)}.")
    title = f"Answers among as many nodes as {reference} has"
    return Analysis(title, tuple(rows), (*cautions(run), *notes), draw="at_equal_nodes")


# -- complementarity --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False)
class Complementarity(Analysis):
    """Rows, one per rule of correctness: rule, n, both, only_a, only_b, neither (questions), union (the share that an
    oracle choosing between the two would answer correctly), phi (agreement, -1 to 1; None if one of them is always or
    never right), p (of the difference, paired test)."""

    a: str = ""
    b: str = ""


def complementarity(run: Run, a: str, b: str, *, other: Run | None = None, threshold: float = 0.5) -> Complementarity:
    """The methods `a` and `b` over the same questions; `b` belongs to the run `other` if one is given. An answer is
    correct with an F1 of at least `threshold`, or with an exact match; the paper does not say which. Without a reader,
    a question counts as correct if all gold passages are among the first five."""
    if not 0 < threshold <= 1:
        raise SettingError(f"threshold={threshold!r}; it should be above 0 and at most 1")
    second = other or run
    known_methods(run, [a]), known_methods(second, [b])
    same_questions(run, second)
    rules = {"f1": threshold, "em": 1.0} if "f1" in run.measures else {"all_gold@5": 1.0}
    rows = []
    for measure in measured(run, list(rules)):
        ours, theirs = run.scores(measure, a), second.scores(measure, b)
        pairs = [
            (ours[id] >= rules[measure], theirs[id] >= rules[measure]) for id in sorted(ours.keys() & theirs.keys())
        ]
        rule = measure if rules[measure] == 1 else f"{measure} ≥ {rules[measure]:g}"
        rows.append({"rule": rule, **_square(pairs)})
    notes = (*cautions(run), *unreachable(run, rules))
    return Complementarity(f"{a} and {b}", tuple(rows), notes, a, b, draw="complementarity")


def _square(pairs: list[tuple[bool, bool]]) -> dict[str, Any]:
    both, only_a, only_b, neither = (
        sum(pair == kind for pair in pairs) for kind in ((True, True), (True, False), (False, True), (False, False))
    )
    margins = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither)
    return {
        "n": len(pairs), "both": both, "only_a": only_a, "only_b": only_b, "neither": neither,
        "union": (both + only_a + only_b) / len(pairs) if pairs else None,
        "phi": (both * neither - only_a * only_b) / sqrt(margins) if margins else None,
        "p": paired_test(*zip(*pairs)) if pairs else None,
    }  # fmt: skip
