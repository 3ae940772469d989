"""The contribution of each round of an iterative method ("Beyond Static Retrieval", arXiv 2509.25530), from runs and
traces.

* `gains_over_static`: what iteration gains over its backbone alone, by data set (figure 1).
* `rounds_curve`: quality over the number of rounds, and how many questions stopped early (figure 4d).
* `promotion`: the rank of every gold passage after each round, and where it is lost. The source claims that coverage is
  already high, and that quality depends on bridge passages ranking first. The fate of a gold passage:

      read        the reader sees it: the method selected it, or it ranks among as many passages as the reader takes
      cut         it ranked high enough, or the verifier chose it, but the cut removed it
      sunk        found, but ranked too low at the end
      not found   by no query of any round

* `cuts`: how many passages pass the cut of BDTR, how often its lower bound decides, and how often a pool mixes scores
  on different scales. PageRank scores have a heavy tail: so few of them exceed mean plus deviation that the lower bound
  of five passages decides.

The contribution of each part of BDTR: DTR alone, BGEC alone, both; the three policies of the cut; at most five
passages read ("Beyond Static Retrieval", Table 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from workbench.analyses.base import (
    Analysis,
    Runs,
    cautions,
    cautions_of,
    frame_of,
    known_methods,
    measured,
    paired,
    questions_of,
    runs_of,
)
from workbench.display import tqdm
from workbench.errors import SettingError
from workbench.evaluation.run import Run
from workbench.evaluation.significance import compared, corrected, mean_of
from workbench.methods.iterative.replay import Replay, replay
from workbench.records import Question
from workbench.settings import parse_spec, spec_of

MEASURES = ("em", "f1", "recall@5")
DEPTHS = (5, 10, 50, 200)
FATES = ("read", "cut", "sunk", "not found")


def iterative_methods(run: Run, methods: Iterable[str] | None) -> list[str]:
    """The iterative ones among the methods, by default among all; raises :class:`SettingError` if there are none or the
    run has no traces."""
    chosen = [name for name in known_methods(run, methods) if "iterations" in run.config["methods"][name]["settings"]]
    if not chosen:
        raise SettingError(f"no method of the run {run.folder} works in rounds; it has {', '.join(run.methods)}")
    if run.config["trace"] == "off":
        raise SettingError(f"the run {run.folder} kept no traces; evaluate again with trace='ids' in another folder")
    return chosen


def replays(
    run: Run, method: str, gold: Mapping[str, Sequence[str]] | None = None, *, progress: bool = True
) -> dict[str, Replay]:
    """Question id → replay, for all questions or for those in `gold`, which gives the passages to mark.

    Empty if the run has no traces. A question that failed before its first result has no replay."""
    if run.config["trace"] == "off":
        return {}
    rows = [row for row in run.rows if row["method"] == method and (gold is None or row["question_id"] in gold)]
    by_question = {}
    for row in tqdm(rows, desc="traces", unit="question", disable=not progress):
        trace = run.trace(row["question_id"], method)
        if trace.find("pool"):
            wanted = gold[row["question_id"]] if gold else ()
            ids = [trace._keep(id) for id in wanted]  # a long id as its hash, at level `ids`
            by_question[row["question_id"]] = replay(trace, ids)
    return by_question


def gains_over_static(runs: Runs, *, measures: Iterable[str] = ("em", "f1")) -> Analysis:
    """Every method with a backbone against this backbone alone in the same run: a run for each data set, or a grid.
    Pass runs over several data sets by name: `{"musique": run, "2wiki": run}`. Measures missing from a run are omitted.

    Rows: run (its label), data, method, against, measure, n, value, baseline, difference, low, high (95 %, paired
    bootstrap over questions), p (paired randomisation test), mcnemar (its exact p, if all values are 0 or 1), p_holm (p
    corrected over the whole table)."""
    by_label, measures = runs_of(runs), tuple(measures)
    rows = [
        {"run": label, "data": run.config["data"]["name"], "method": method, "against": base, "measure": measure,
         **comparison}
        for label, run in by_label.items()
        for method, base in _iterative(run)
        for measure in measures
        if measure in run.measures and (comparison := compared(run.values(measure, method), run.values(measure, base)))
    ]  # fmt: skip
    if not rows:
        raise SettingError(
            f"no run of {', '.join(map(str, by_label))} has both a method and its backbone alone, with one of "
            f"{', '.join(measures)}; evaluate them together: wb.evaluate(questions, [ircot, hipporag2], reader)"
        )
    title = "Gains of iteration over the backbone alone"
    return Analysis(title, corrected(rows), cautions_of(by_label), draw="gains_over_static")


def _iterative(run: Run) -> Iterator[tuple[str, str]]:
    """(method, its backbone alone), as the run names them."""
    alone = {described["label"]: name for name, described in run.config["methods"].items()}
    for name, described in run.config["methods"].items():
        if (backbone := described["settings"].get("backbone")) in alone:
            yield name, alone[backbone]


def rounds_specs(spec: str = "ircot", rounds: Iterable[int] = range(5)) -> list[str]:
    """The SPEC of a method, once for each number of rounds.

    >>> rounds_specs("bdtr[backbone=raptor]", [0, 2])
    ['bdtr[backbone=raptor,iterations=0]', 'bdtr[backbone=raptor,iterations=2]']
    """
    name, settings = parse_spec(spec)
    return [spec_of(name, settings | {"iterations": number}) for number in rounds]


def rounds_curve(run: Run, *, progress: bool = True) -> Analysis:
    """The curve of every method of the run that counts iterations.

    Rows: method (without its iterations), iterations, the measures, stopped (questions whose thought ended the search),
    rounds (mean number of rounds that searched), n. `stopped` and `rounds` are None if the run has no traces."""
    described = {
        label: described for label, described in run.config["methods"].items() if "iterations" in described["settings"]
    }
    if not described:
        raise SettingError(
            f"no method of the run {run.folder} counts iterations; evaluate those of rounds_specs('ircot')"
        )
    rows = []
    for label, method_config in described.items():
        read = replays(run, label, progress=progress).values()
        rows.append(
            {
                "method": _family(method_config["label"]),
                "iterations": method_config["settings"]["iterations"],
                **{measure: mean_of(run.scores(measure, label).values()) for measure in measured(run, MEASURES)},
                "stopped": sum(replay.stopped is not None for replay in read) if read else None,
                "rounds": mean_of(sum(bool(each.searches) for each in replay.rounds[1:]) for replay in read),
                "n": sum(row["method"] == label for row in run.rows),
            }
        )
    rows.sort(key=lambda row: (row["method"], row["iterations"]))
    return Analysis("Quality over rounds", tuple(rows), tuple(cautions(run)), draw="rounds_curve")


def _family(label: str) -> str:
    """The label without its iterations; what follows a SPEC (thoughts by hand) stays."""
    spec, space, rest = label.partition(" ")
    name, settings = parse_spec(spec)
    return spec_of(name, {key: value for key, value in settings.items() if key != "iterations"}) + space + rest


@dataclass(frozen=True, slots=True, repr=False)
class Promotion(Analysis):
    """Rows: method, stage (a round, or the end after promotion and cut), gold (number of gold passages), first 5, first
    10 … (how many of them rank among the first 5, 10 …), found. `gold`: each gold passage with its rank at every stage
    and its fate."""

    gold: tuple[dict[str, Any], ...] = field(default=(), hash=False)

    def passages(self) -> pd.DataFrame:
        """One row per method and gold passage: question_id, method, passage, its rank at each stage (None: not
        found), fate."""
        return frame_of({**{k: v for k, v in row.items() if k != "ranks"}, **row["ranks"]} for row in self.gold)

    def fates(self) -> pd.DataFrame:
        """The number of gold passages of each method that were read, cut, sunk, not found."""
        counts: dict[str, dict[str, int]] = {}
        for row in self.gold:
            counts.setdefault(row["method"], dict.fromkeys(FATES, 0))[row["fate"]] += 1
        return frame_of({"method": method, **count} for method, count in counts.items())

    def tables(self) -> dict[str, pd.DataFrame]:
        return {"Gold passages by rank": self.frame(), "What became of them": self.fates()}


def promotion(
    run: Run,
    questions: Iterable[Question],
    methods: Iterable[str] | None = None,
    *,
    read: int | None = None,
    progress: bool = True,
) -> Promotion:
    """The ranks of every gold passage over the rounds of each iterative method, from the traces of the run. `read` is
    the number of passages that a reader takes if the method selects none: by default the `k` of the run's reader, or 5.
    After an early stop, ranks stay constant."""
    chosen = iterative_methods(run, methods)
    read = read or parse_spec(run.config["reader"] or "direct")[1].get("k", 5)
    gold = {id: question.support for id, question in questions_of(run, questions).items() if question.support}
    rows: list[dict] = []
    passages: list[dict] = []
    for label in chosen:
        by_question = replays(run, label, gold, progress=progress)
        rounds = max((len(replay.rounds) for replay in by_question.values()), default=0)
        stages = [f"round {number}" for number in range(rounds)]
        stages += ["end"] * any(replay.concludes for replay in by_question.values())
        mine = [
            {"question_id": id, "method": label, **way}
            for id, support in gold.items()
            for way in _ways(by_question.get(id), support, stages, rounds, read)
        ]
        rows += [_stage_row(label, stage, [way["ranks"][stage] for way in mine]) for stage in stages]
        passages += mine
    notes = list(cautions(run))
    if not gold:
        notes.append("No question has gold passages.")
    depths = {run.config["methods"][name]["settings"].get("depth") for name in chosen} - {None}
    notes.append(f"Each query fetched {' or '.join(map(str, sorted(depths)))} passages; beyond them none is found.")
    return Promotion("Gold passages through the rounds", tuple(rows), tuple(notes), tuple(passages), draw="promotion")


def _ways(
    replay: Replay | None, support: Sequence[str], stages: Sequence[str], rounds: int, read: int
) -> Iterator[dict]:
    """Rank at each stage and fate of a question's gold passages; none is found if the question failed."""
    for position, passage in enumerate(support):
        if replay is None:
            yield {"passage": passage, "ranks": dict.fromkeys(stages), "fate": "not found"}
            continue
        traced_id = replay.gold[position]
        ranks = replay.ranks([traced_id])[traced_id]
        pooled = list(ranks[: len(replay.rounds)])
        pooled += [pooled[-1]] * (rounds - len(pooled))
        ended = [ranks[-1]] * (len(stages) - rounds)
        yield {
            "passage": passage,
            "ranks": dict(zip(stages, pooled + ended, strict=True)),
            "fate": _fate(replay, traced_id, pooled, read),
        }


def _fate(replay: Replay, passage: str, pooled: Sequence[int | None], read: int) -> str:
    """`pooled` are its ranks in the pools."""
    if not any(pooled):
        return "not found"
    high = pooled[-1] is not None and pooled[-1] <= read
    if replay.cut is None:
        return "read" if high else "sunk"
    if passage in (*replay.cut.kept, *replay.cut.filled):
        return "read"
    return "cut" if high or passage in replay.verified else "sunk"


def _stage_row(method: str, stage: str, ranks: Sequence[int | None]) -> dict[str, Any]:
    present = [rank for rank in ranks if rank is not None]
    within = {f"first {depth}": sum(rank <= depth for rank in present) for depth in DEPTHS}
    return {"method": method, "stage": stage, "gold": len(ranks), **within, "found": len(present)}


@dataclass(frozen=True, slots=True, repr=False)
class Cuts(Analysis):
    """Rows: method, n, mixed (share of questions with mixed scales), verified and dropped (mean numbers of passages
    that the verifier chose, and of these that the cut removed), read (mean number of passages for the reader), fewest,
    most, filled (share of questions where the bound decided). None for a method without a cut. `sizes`: method, read,
    questions."""

    sizes: tuple[dict[str, Any], ...] = field(default=(), hash=False)

    def tables(self) -> dict[str, pd.DataFrame]:
        return {"": self.frame(), "Passages chosen for the reader": frame_of(self.sizes)}


def cuts(run: Run, methods: Iterable[str] | None = None, *, progress: bool = True) -> Cuts:
    """The cuts of each iterative method, from the traces of the run."""
    rows: list[dict] = []
    sizes: list[dict] = []
    for label in iterative_methods(run, methods):
        read = list(replays(run, label, progress=progress).values())
        rows.append({"method": label, "n": len(read), **_cut_row(read)})
        counted = Counter(_read(replay) for replay in read if replay.cut)
        sizes += [{"method": label, "read": size, "questions": counted[size]} for size in sorted(counted)]
    return Cuts("What the cut lets through", tuple(rows), tuple(cautions(run)), tuple(sizes), draw="cuts")


def _cut_row(replays_of_cuts: Sequence[Replay]) -> dict[str, float | int | None]:
    cut = [replay for replay in replays_of_cuts if replay.cut]
    read = [_read(replay) for replay in cut]
    left_out = [set(replay.verified) - {*replay.cut.kept, *replay.cut.filled} for replay in cut]
    return {
        "mixed": mean_of(any(each.mixed for each in replay.rounds) for replay in replays_of_cuts),
        "verified": mean_of(len(replay.verified) for replay in cut),
        "dropped": mean_of(map(len, left_out)),
        "read": mean_of(read),
        "fewest": min(read, default=None),
        "most": max(read, default=None),
        "filled": mean_of(bool(replay.cut.filled) for replay in cut),
    }


def _read(replay: Replay) -> int:
    return len(replay.cut.kept) + len(replay.cut.filled)


# -- ablation ---------------------------------------------------------------------------------------------------------

COMPARED = ("em", "f1", "recall@5", "read")
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


def ablation(run: Run, static: str | None = None) -> Analysis:
    """The run's variants of BDTR, each against `static`, by default the first method.

    Rows: variant, method, the means of the measures (`read`: passages read), gain (relative to static, in percent, of
    the first measure), difference, low, high (of the same, 95 %, paired bootstrap), n."""
    (static,) = known_methods(run, [static or run.methods[0]])
    labels = [name for name in run.methods if "bgec" in run.config["methods"][name]["settings"]]
    if not labels:
        raise SettingError(f"the run {run.folder} has no method bdtr; evaluate those of ablation_specs('hipporag2')")
    shared = measured(run, COMPARED)
    base = run.scores(shared[0], static)
    rows = []
    for label in dict.fromkeys([static, *labels]):
        scores = {measure: run.scores(measure, label) for measure in shared}
        means = {measure: mean_of(values.values()) for measure, values in scores.items()}
        other = mean_of(base.values())
        against = label != static and means[shared[0]] is not None and other
        rows.append(
            {
                "variant": "static" if label == static else variant(run.config["methods"][label]["settings"]),
                "method": label,
                **means,
                "gain": 100 * (means[shared[0]] / other - 1) if against else None,
                **paired(scores[shared[0]], base if label != static else {}),
                "n": len(scores[shared[0]]),
            }
        )
    notes = [f"gain, difference, low and high are those of {shared[0]}, against {static}."]
    if "read" in shared:
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
