"""The kinds of printed numbers, and how each is made of measurements: `sides` names them and `measurements_of` combines
them. Most are scores of one method; others are differences, gains in percent, win rates, shares of errors, hours or
lengths of contexts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from workbench.analyses.decomposition import kinds, routed
from workbench.analyses.depth import makespan
from workbench.evaluation.significance import Value, mean_of, mean_of_repeats, paired_test
from workbench.measures import is_known, needs_reader
from workbench.papers.placing import COVERAGE, COVERED, SEED, STATIC, Compared, Measured, by_question, of_both
from workbench.published import Paper

MEAN = "mean"  # of backbones, or of data sets, each of which counts the same
MEAN_OF_THREE = "mean of the three"  # what a column over all data sets is called
BASELINES = ("IRCOT", "GCOT", "TOG", "IRGS")  # of "Beyond Static Retrieval"
RIGHT = 0.5  # F1 from which an answer is right, in its figure 3: the figure does not say
SHARES = {"both": (1, 1), "only IRGS": (1, 0), "only Original": (0, 1), "neither": (0, 0)}
OVER_STATIC, OVER_BEST, SHARE = "gain over static, %", "gain over the best baseline, %", "share, %"
TOKENS, REDUCTION = "tokens of contexts", "reduction, %"
PARALLEL, WORKERS = " parallel", 8  # ends a method with so many questions in flight
ACCURACY, ABSTAINED = "accuracy:thesis", "abstained:thesis"
NEEDED = {  # the measure of a run that a number of a kind needs, where it is not the printed one
    SHARE: "f1", TOKENS: COVERAGE, REDUCTION: "f1", "share": ACCURACY, "time": "recall@5", "recomputed": ACCURACY,
}  # fmt: skip


class Side(NamedTuple):
    """A measurement that a number is made of, in the paper's names, and the measure that its run needs."""

    backbone: str
    method: str
    data: str
    measure: str


class Measurement(NamedTuple):
    """A printed number by measurements: of which method, the values of its questions with those that they are the
    difference from (None without), the methods whose conditions of which measure count, and p of the test against the
    baseline."""

    of: Measured
    values: Sequence[Value]
    base: Sequence[Value] | None
    sides: tuple[Measured, ...]
    measure: str
    p: float | None = None

    @property
    def mean(self) -> float:
        """Over the questions, of the means of their repeats; less that of the base."""
        return _mean(self.values) - _mean(self.base or ())


def sides(source: Paper, row: Any) -> list[Side]:
    """The measurements of a printed number, a row of `source.printed`; none if there is no such measure."""
    terms, measure = source.terms, NEEDED.get(row.kind, row.measure)
    if row.kind not in KINDS or not _is_measured(terms, measure):
        return []
    backbones = [term["called"] for term in terms["backbones"]] if row.backbone == MEAN else [row.backbone]
    data = row.data.partition(": ")[0]
    every = terms.get("mean_of", [*terms["data"]]) if row.data in (MEAN, MEAN_OF_THREE) else [data]
    return [
        Side(backbone, method, measured, measure)
        for backbone, measured in product(backbones, every)
        for method in _methods(source, row)
    ]


def _is_measured(terms: Mapping[str, Any], measure: str) -> bool:
    printed = (*terms.get("measured", {}), *terms["reader"].get("compared", ()))
    return measure in printed or is_known(measure.partition(COVERED)[0])


def _methods(source: Paper, row: Any) -> tuple[str, ...]:
    """`A - B, model` is a difference of two methods with one model, or with one each."""
    model = row.method.rpartition(", ")[2]
    if row.kind == "win":
        return source.compared(row.method)
    if row.kind == "recomputed":
        return tuple(f"{reader}, {model}" for reader in ("SPARQL", "Generic CoT", "Routing"))
    if row.kind == "difference":
        first, _, second = row.method.partition(" - ")
        return (first if ", " in first else f"{first}, {model}"), second
    of_kind = {OVER_STATIC: (row.method, STATIC), OVER_BEST: (row.method, *BASELINES), SHARE: ("IRGS", STATIC)}
    return of_kind.get(row.kind, (row.method.removesuffix(PARALLEL),))


def measurements_of(source: Paper, row: Any, measurements: Sequence[Measured]) -> Iterator[Measurement]:
    """The number by every choice of a measurement for each of its sides; of a mean by the first of each."""
    each = [[ours for ours in measurements if _is_at(ours, side, row.kind)] for side in sides(source, row)]
    if MEAN in (row.backbone, row.data) or row.data == MEAN_OF_THREE or row.kind.endswith("%"):
        each = [several[:1] for several in each]
    for chosen in product(*each) if each else ():
        yield from KINDS[row.kind](source, row, chosen, measurements)


def _is_at(measured: Measured, side: Side, kind: str) -> bool:
    """Whether a measurement is a side; the labels of the questions may come from either router."""
    method = measured.place.method.replace("Routing+GW", "Routing") if kind == "recomputed" else measured.place.method
    return (measured.place.backbone, method, measured.place.data) == side[:3]


# -- scores and differences -------------------------------------------------------------------------------------------

Chosen = tuple[Measured, ...]


def _score(source: Paper, row: Any, chosen: Chosen, measurements: Sequence[Measured]) -> Iterator[Measurement]:
    (measured,) = chosen
    if values := measured.values(row.measure):
        static = next((other for other in measurements if _is_baseline(source.terms, other, measured)), None)
        p = measured.p(row.measure, static) if static and static is not measured else None
        yield Measurement(measured, list(values.values()), None, chosen, row.measure, p)


def _is_baseline(terms: Mapping[str, Any], other: Measured, measured: Measured) -> bool:
    """Whether `other` is the baseline of `measured`: in the same run, or, if the reader determines the row, in a run of
    the same questions."""
    name = terms.get("baseline", STATIC)
    if "readers" not in terms:
        return other.run is measured.run and other.place[:3] == (measured.place.backbone, name, measured.place.data)
    model = measured.place.method.rpartition(", ")[2]
    same = other.run.config["questions"] == measured.run.config["questions"]
    rows = measured.place.method != "context" and (measured.place.backbone, f"{name}, {model}", measured.place.data)
    return same and other.place[:3] == rows and other.place.method != measured.place.method


def _difference(source: Paper, row: Any, chosen: Chosen, _: Any) -> Iterator[Measurement]:
    """Over the questions of both, of one type where the data are called `musique: 3-hop`; the mean of all data sets,
    each of which counts the same, where they are called `mean of the three`."""
    kind = row.data.partition(": ")[2]
    ours, base, p = [], [], None
    for measured, other in zip(chosen[::2], chosen[1::2]):
        types = {each["question_id"]: each.get("type") or f"{each.get('hops')}-hop" for each in measured.rows}
        of_kind = {question for question, type_ in types.items() if kind in ("", type_)}
        mine = {question: value for question, value in measured.values(row.measure).items() if question in of_kind}
        if not (pairs := of_both(mine, other.values(row.measure))):
            return
        ours.append([value for value, _ in pairs])
        base.append([value for _, value in pairs])
    if len(ours) == 1:
        p = paired_test(*([mean_of_repeats(value) for value in side[0]] for side in (ours, base)), seed=SEED)
    yield Measurement(chosen[0], _weighted(ours), _weighted(base), chosen, row.measure, p)


def _win(source: Paper, row: Any, chosen: Chosen, _: Any) -> Iterator[Measurement]:
    """The share of the questions on which a judge preferred the first method's answer, of the pairs on disk."""
    measured, other = chosen
    if measured.run is other.run:
        compared = (
            Compared(measured.run, measured.label, measured.place, other, True),
            Compared(other.run, other.label, other.place, measured, False),
        )
        if values := compared[0].values(row.measure):
            yield Measurement(compared[0], list(values.values()), None, compared, row.measure)


# -- shares, routing, hours -------------------------------------------------------------------------------------------


def _share_of_errors(source: Paper, row: Any, chosen: Chosen, _: Any) -> Iterator[Measurement]:
    """Of the wrong answers the share whose answer was in the context."""
    wrong = [each for each in chosen[0].every if each["scores"].get(ACCURACY) == 0]
    if values := by_question((each, each["scores"].get(COVERAGE)) for each in wrong):
        yield Measurement(chosen[0], list(values.values()), None, chosen, ACCURACY)


def _recomputed(source: Paper, row: Any, chosen: Chosen, _: Any) -> Iterator[Measurement]:
    """Routing from the runs of both prompts, and the labels that a run of the router gave to the same questions."""
    first, second, labels = chosen
    same = len({(side.label, str(side.run.config["questions"])) for side in chosen}) == 1
    if same and first.scores(ACCURACY) and second.scores(ACCURACY):
        answers = routed(
            {"sparql": first.run, "cot": second.run}, first.label, kinds(labels.run, labels.label), ACCURACY
        )
        of = "abstained" if row.measure == ABSTAINED else "score"
        if values := [float(answer[of]) for answer in answers.values() if answer[of] is not None]:
            yield Measurement(labels, values, None, chosen, ACCURACY)


def _hours(source: Paper, row: Any, chosen: Chosen, _: Any) -> Iterator[Measurement]:
    """Hours of retrieval for all questions, one after the other or laid out over `WORKERS`, or how many times faster
    these are. The values are each question's part."""
    (measured,) = chosen
    root, ids = measured.described["label"], {each["question_id"] for each in measured.rows}
    mine = [each for each in measured.run.timed if each["method"] == measured.label and each["question_id"] in ids]
    taken = [each["seconds"][root] for each in mine if root in each["seconds"]]
    retrieval = next((measure for measure in measured.run.measures if not needs_reader(measure)), None)
    if sum(taken) and retrieval is not None:
        lasts = makespan(taken, WORKERS if row.method.endswith(PARALLEL) else 1)
        of_one = [seconds * len(taken) / 3600 * lasts / sum(taken) for seconds in taken]  # whose mean is all hours
        values = [sum(taken) / lasts] * len(taken) if row.measure == "speed-up" else of_one
        yield Measurement(measured, values, None, chosen, retrieval)


# -- gains, lengths ---------------------------------------------------------------------------------------------------


def _gain(source: Paper, row: Any, chosen: Chosen, _: Any) -> Iterator[Measurement]:
    """100 (a/b - 1), the mean over backbones and data sets; b is the static method, or the best of the baselines.

    The interval is that of a difference of means, so each side is scaled until the difference is the gain and varies
    with its questions as a ratio does to the first order (delta method): 100 a_i / b, and 100 (a / b²) (b_i - b) + 100
    for means a and b."""
    ours, base, of = [], [], []
    for measured in (each for each in chosen if each.place.method == row.method):
        here = (measured.place.backbone, measured.place.data)
        others = [
            other for other in chosen if other is not measured and (other.place.backbone, other.place.data) == here
        ]
        best = max(others, key=lambda other: _mean(other.values(row.measure).values()))
        pairs = of_both(measured.values(row.measure), best.values(row.measure))
        a, b = (_mean(pair[side] for pair in pairs) for side in (0, 1))
        if not b:  # nothing in common, or nothing that a gain could be of
            return
        ours.append([[100 * v / b for v in mine] for mine, _ in pairs])
        base.append([[100 * (a / b**2 * (v - b) + 1) for v in theirs] for _, theirs in pairs])
        of += [measured, best]
    yield Measurement(of[0], _weighted(ours), _weighted(base), tuple(of), row.measure)


def _weighted(several: Sequence[Sequence[Value]]) -> list[Value]:
    """The questions of several data sets, weighted so that their mean is that of the means of the sets."""
    n = sum(map(len, several))
    return [[v * n / (len(several) * len(values)) for v in value] for values in several for value in values]


def _mean(values: Iterable[Value]) -> float:
    """Over the questions, of the means of their repeats; 0 without any."""
    return mean_of(map(mean_of_repeats, values)) or 0.0


def _share_of_questions(source: Paper, row: Any, chosen: Chosen, _: Any) -> Iterator[Measurement]:
    """The questions that both methods answer, one alone, or none, in percent."""
    values = [
        [100.0 * ((x >= RIGHT, y >= RIGHT) == SHARES[row.method]) for x, y in zip(ours, theirs)]
        for ours, theirs in of_both(*(measured.values("f1") for measured in chosen))
    ]
    if values:
        yield Measurement(chosen[0], values, None, chosen, "f1")


def _tokens(source: Paper, row: Any, chosen: Chosen, _: Any) -> Iterator[Measurement]:
    """The length of the context before compression, or by how much of it compression shortens it, in percent."""

    def value(whole: int | None, read: int | None) -> float | None:
        if not whole or row.kind == TOKENS:
            return whole or None
        return None if read is None else 100 * (1 - read / whole)

    several = [
        list(
            by_question(
                (each, value(each.get("context_tokens"), each.get("read_tokens"))) for each in measured.every
            ).values()
        )
        for measured in chosen
    ]
    if all(several):
        yield Measurement(chosen[0], _weighted(several), None, chosen, NEEDED[row.kind])


KINDS: Mapping[str, Callable[..., Iterator[Measurement]]] = {
    "score": _score, "win": _win, "difference": _difference, "share": _share_of_errors, "recomputed": _recomputed,
    "time": _hours, OVER_STATIC: _gain, OVER_BEST: _gain, SHARE: _share_of_questions, TOKENS: _tokens,
    REDUCTION: _tokens,
}  # fmt: skip
SCORES = ("score", "win", "difference", "share", "recomputed", "time")  # what a claim may be about
