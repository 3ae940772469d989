"""Estimates of evaluations."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from workbench import measures as measures_
from workbench import tokens
from workbench.encoding.endpoint import EndpointEncoder
from workbench.errors import SettingError
from workbench.evaluation.book import Cell, Standing
from workbench.evaluation.estimate.encoding import of_questions, unknown_of
from workbench.evaluation.estimate.loops import DECIDING
from workbench.evaluation.estimate.ranges import (
    Range,
    check_sample,
    exactly,
    extrapolated,
    latency_of,
    priced,
    share_of,
    stratified,
)
from workbench.evaluation.estimate.record import Cost, Estimate, estimate_of, sample_note
from workbench.evaluation.estimate.unasked import (
    MOST_REHEARSED,
    REHEARSED,
    SHORTER,
    Unasked,
    assumed,
    assumptions,
    rehearsing,
)
from workbench.evaluation.evaluate import Measures, Plan, asked_for, check_repeats, in_order
from workbench.evaluation.fitting import fits
from workbench.evaluation.run import repeat_folder
from workbench.index.forecast import prompt_tokens
from workbench.llm.engine import Engine, RulesEngine
from workbench.llm.meter import collect
from workbench.llm.step import Usage
from workbench.methods import Method
from workbench.reading.base import Reader
from workbench.records import Question
from workbench.steps import judge as judge_step

FEWEST, MOST = 4, 16  # questions of a sample whose size is not given
WITHIN = 1.5  # factor within which the tokens of every method should be known by then
TOKENS = ("prompt_tokens", "completion_tokens")
JUDGE = judge_step.STEP.name


def estimate_run(
    questions: Iterable[Question],
    methods: Mapping[str, Method] | Sequence[Method],
    reader: Reader | None = None,
    sample: int | None = None,
    judge: Engine | str | None = None,
    *,
    out: str | Path | None = None,
    measures: Measures = measures_.DEFAULT,
    k: int | None = None,
    budget: int | None = None,
    trace: str = "full",
    workers: int | None = None,
    limit: int | None = None,
    repeats: int = 1,
    seed: int = 0,
) -> Estimate:
    """The estimated cost of `evaluate` with the same arguments.

    Every method actually runs over `sample` questions, spread over hops, types and lengths, `workers` at a time. By
    default there are `FEWEST`, then twice as many, until the prompt and completion tokens of every method are known
    within a factor of `WITHIN` (the 95 % interval), or `MOST` were asked. Of `repeats`, the sample asks the first one
    that is missing, and the others are expected to be like it.

    Methods, reader and judge with an `Unasked` engine are estimated without a model, from the prompts for `sample`
    questions (`REHEARSED` by default, or with 0, then more in the same way); the estimate states what is measured and
    what is assumed. Existing rows in the folder `out` do not count. Like `evaluate`, it raises :class:`SettingError`
    for a folder with another run."""
    questions, methods = asked_for(questions, methods, limit, by="estimate_run")
    plan = Plan.of(methods, reader, judge, measures, k, budget, trace)
    unasked = [engine for engine in plan.engines if isinstance(engine, Unasked)]
    if sample is not None:
        check_sample(sample=sample, least=0 if unasked else 1)
    check_repeats(repeats)
    if unasked and (asked := [engine.name for engine in plan.engines if not isinstance(engine, Unasked | RulesEngine)]):
        raise SettingError(f"{asked[0]} can be asked and {unasked[0].name} cannot; estimate with one kind of both")
    shortened, workers = fits(plan.methods, plan.reader, plan.judge), workers or plan.workers
    plans = [plan.repeated(number) for number in range(repeats)]
    missing = [
        (question, name, part.repeat) for part in plans for question, name in _missing(part, questions, out, repeats)
    ]
    left = Counter(name for _, name, _ in missing)
    jobs: dict[Cell, Job] = {}  # the first repeat of each that is missing
    for job in missing:
        jobs.setdefault((job[0].id, job[1]), job)
    _warm(methods.values(), plan)
    before = {encoder: encoder.meter.total for encoder in _behind_endpoints(methods.values())}
    few, most = (REHEARSED, MOST_REHEARSED) if unasked else (FEWEST, MOST)
    asked: dict[Cell, _Measured] = {}
    chosen: list[Question] = []
    with rehearsing(unasked):
        for more in _batches(list(jobs.values()), methods, *((sample, sample) if sample else (few, most)), seed):
            ids = {question.id for question in more}
            now = {cell: job for cell, job in jobs.items() if cell[0] in ids}
            asked |= zip(
                now, in_order(lambda job: _measure(plans[job[2]], *job[:2]), list(now.values()), workers, plan.close)
            )
            chosen += more
            if all(_known(_of(asked, name), left[name], seed) for name in left):
                break
    swings = _swings(plans, jobs, asked, unasked, workers) if unasked else {}
    waiting = {question.id for question, _, _ in jobs.values()}
    limits = {step: limit for engine in unasked for step, limit in engine.limits.items()}
    costs, failed = [], sum(measured.failed for measured in asked.values())
    for name in left:
        costs += _costs_of(name, _of(asked, name), left[name], plan, workers, seed, limits, swings.get(name, {}))
    for encoder, was in before.items() if chosen else ():
        costs.append(of_questions(encoder, _since(was, encoder.meter.total), len(chosen), len(waiting)))
    measured = assumptions(unasked, len(chosen), len(waiting), seed) if unasked else []
    if chosen and not unasked:
        measured = [sample_note(len(chosen), len(waiting), "questions", "hops, types and lengths", seed)]
    measured += [f"{workers} questions are asked side by side, as in the sample"] if workers > 1 else []
    measured += [f"{failed} of {len(asked)} sampled questions failed"] if failed else []
    if repeats > 1:
        measured.append(f"each of {repeats} repeats is expected to ask as much as the sampled one")
        fixed = [name for name in methods if name not in plan.varying]
        measured += [f"{', '.join(fixed)} asks no model, so its first repeat stands for all"] if fixed else []
    standing = sum(len(questions) * len(part.methods) for part in plans) - len(missing)
    what = f"a run of {len(questions):,} questions and {len(methods)} methods" + (
        f", each asked {repeats} times" if repeats > 1 else ""
    ) + (f", of which {standing:,} rows are done" if standing else "")  # fmt: skip
    usages = (
        []
        if unasked
        else [usage for one in asked.values() for step, usage in one.steps.items() if not one.by_rules[step]]
    )
    measured += shortened
    unknown = ["not in it: loading the models", *["not known: how long an answer takes"] * bool(unasked)]
    unknown += [note for encoder in before for note in unknown_of(encoder)]
    for name in left:
        seen = {step for one in _of(asked, name) for step in one.steps}
        steps = {*methods[name].steps, *(plan.reader.steps if plan.reader else ())}
        unknown += [
            f"not known: how often {step} is asked for {name}, which the sample did not show"
            for step in sorted(steps - seen)
        ]
    return estimate_of(what, plan.engines, costs, measured, unknown, usages)


Job = tuple[Question, str, int]  # with the method, and the number of the repeat


def _missing(
    plan: Plan, questions: Sequence[Question], out: str | Path | None, repeats: int
) -> Iterable[tuple[Question, str]]:
    """What a repeat of the run has no row for."""
    if out is None:
        return [(question, name) for question in questions for name in plan.methods]
    if not plan.methods:
        return []
    config = plan.config(questions) if plan.repeat else plan.config(questions, repeats)
    return Standing.of(repeat_folder(Path(out), plan.repeat), config, plan.parts, questions).missing(
        questions, plan.methods
    )


def _batches(
    jobs: Iterable[Job], methods: Mapping[str, Method], few: int, most: int, seed: int
) -> Iterator[list[Question]]:
    """Questions to ask: `few`, then each time as many again as there were, up to `most`; every batch is spread. Those
    with a row of some method come last: a stopped run has begun one."""
    each = Counter(question.id for question, _, _ in jobs)
    waiting = {question.id: question for question, _, _ in jobs}
    while waiting and most > 0:
        whole = [question for name, question in waiting.items() if each[name] == len(methods)]
        pool = list(waiting.values()) if few >= len(waiting) or not whole else whole
        chosen = stratified(pool, min(few, most), lambda q: (q.hops or 0, q.type or "", len(q.question), q.id), seed)
        yield chosen
        few, most = len(each) - len(waiting) + len(chosen), most - len(chosen)
        for question in chosen:
            del waiting[question.id]


def _swings(
    plans: Sequence[Plan], jobs: Mapping[Cell, Job], asked: Mapping[Cell, _Measured], unasked: Sequence[Unasked],
    workers: int,
) -> dict[str, dict[tuple[str, str], tuple[float, float]]]:  # fmt: skip
    """Method → (Step, quantity) → the share of what the rules took that a model would take which ends every loop at
    once, and one which never does, over the first questions of the sample; of methods with such a loop."""
    ids = list(dict.fromkeys(question for question, _ in asked))[:FEWEST]
    now = [cell for cell in asked if cell[0] in ids and DECIDING.keys() & set(plans[0].methods[cell[1]].steps)]
    found: dict[str, dict[tuple[str, str], list[float]]] = {}
    for end in ("soonest", "latest"):
        with rehearsing(unasked, end):
            ended = dict(
                zip(now, in_order(lambda c: _measure(plans[jobs[c][2]], *jobs[c][:2]), now, workers, plans[0].close))
            )
        for name in {name for _, name in now}:
            pairs = [(asked[cell], ended[cell]) for cell in now if cell[1] == name]
            for step in {step for one, _ in pairs for step in one.steps}:
                for what in ("calls", *TOKENS):
                    was, would = (
                        sum(getattr(pair[side].steps.get(step, Usage()), what) for pair in pairs) for side in (0, 1)
                    )
                    found.setdefault(name, {}).setdefault((step, what), []).append(would / was if was else 1.0)
    return {
        name: {of: (min(1.0, *both), max(1.0, *both)) for of, both in of_name.items()}
        for name, of_name in found.items()
    }


def _of(asked: Mapping[Cell, _Measured], name: str) -> list[_Measured]:
    return [measured for (_, method), measured in asked.items() if method == name]


def _known(mine: Sequence[_Measured], left: int, seed: int) -> bool:
    """Whether the tokens of a method, in all its rows that are left, are known within a factor of `WITHIN`."""
    for what in TOKENS:
        values = [
            sum(getattr(used, what) for step, used in one.steps.items() if not one.by_rules[step]) for one in mine
        ]
        value, low, high = extrapolated(values, [1] * len(mine), left - len(mine), seed)
        if value and (not low or high is None or max(value / low, high / value) > WITHIN):
            return False
    return True


class _Measured(NamedTuple):
    """One question and method: usage per Step, the Steps that the rules ran, total seconds, whether it failed, and the
    tokens of a prompt for the judge with a gold answer."""

    steps: dict[str, Usage]
    by_rules: dict[str, bool]
    seconds: float
    failed: bool
    judged: int


def _measure(plan: Plan, question: Question, name: str) -> _Measured:
    started = time.perf_counter()
    with collect() as usage:
        outcome = plan.ask(question, name)
    seconds = time.perf_counter() - started
    gold = judge_step.Input(question.question, question.answers, next(iter(question.answers), ""))
    judged = prompt_tokens(judge_step.STEP, gold) if plan.judge else 0
    by_rules = {step: _engine_of(step, plan, name) == "rules" for step in usage.steps}
    return _Measured(dict(usage.steps), by_rules, seconds, outcome.row["failure"] is not None, judged)


def _engine_of(step: str, plan: Plan, method: str) -> str:
    if step in plan.methods[method].steps or plan.reader is None:
        return plan.methods[method].engine.name
    return plan.judge.name if plan.judge and step == JUDGE else plan.reader.engine.name


def _costs_of(
    name: str, mine: list[_Measured], left: int, plan: Plan, workers: int, seed: int, limits: Mapping[str, int],
    swing: Mapping[tuple[str, str], tuple[float, float]],
) -> list[Cost]:  # fmt: skip
    """A row per Step, and one for all other work: the method's own, the reader's, the measures'. `limits`: Step →
    maximum tokens of an answer, if its length is assumed; `swing`: what the ends of loops may make of a number."""
    costs, ones = [], [1] * len(mine)

    def whole(values: list[float]) -> Range:
        return extrapolated(values, ones, left - len(mine), seed)

    own = [measured.seconds for measured in mine]
    for step in sorted({step for measured in mine for step in measured.steps}):
        usages = [measured.steps.get(step, Usage()) for measured in mine]
        own = [seconds - usage.seconds for seconds, usage in zip(own, usages)]
        engine = _engine_of(step, plan, name)
        if step == JUDGE and plan.judge and engine != "rules":
            continue
        if engine == "rules":
            seconds = whole([usage.seconds for usage in usages])
            costs.append(Cost(name, step, seconds=seconds.times(1 / workers)))
            continue
        counts = {
            what: _swung(whole([getattr(usage, what) for usage in usages]), swing.get((step, what)))
            for what in ("calls", *TOKENS)
        }
        calls = counts["calls"]
        counted = any(usage.prompt_tokens for usage in usages)
        prompt, completion = (counts[what] if counted else None for what in TOKENS)
        if completion is not None and step in limits:
            completion = assumed(completion, calls, limits[step])
        latency = latency_of(usages, seed)
        seconds = latency and latency.times(calls).times(1 / workers)
        dollars = priced(engine, prompt, completion)
        costs.append(Cost(name, step, calls, prompt, completion, dollars.singly, seconds, dollars.batched))
    if plan.judge and plan.judge.name != "rules" and mine:
        costs += _judged(name, mine, left, plan.judge, workers, seed)
    return [*costs, Cost(name, "all else", seconds=whole([max(0.0, one) for one in own]).times(1 / workers))]


def _judged(name: str, mine: list[_Measured], left: int, judge: Engine, workers: int, seed: int) -> list[Cost]:
    """The row of the judge, who is asked about the answers that a heuristic leaves open: maybe none of a sample, and
    some of the run. One that is not asked would read a model's answers instead of the rules', which often abstain: it
    may be asked about any number of them. Without a request in the sample, its prompts are counted with a gold answer
    in place of the prediction, and its replies are assumed to be as long as that of the prompt's example."""
    usages = [measured.steps.get(JUDGE, Usage()) for measured in mine]
    known, unasked = sum(usages, Usage()), isinstance(judge, Unasked)
    if not (known.calls or unasked or left > len(mine)):
        return []
    open_ = share_of(sum(usage.calls > 0 for usage in usages), len(usages)).times(left - len(mine))
    calls = exactly(known.calls) + Range(open_.value, math.floor(open_.low), math.ceil(open_.high))
    calls = Range(calls.value, 0, left) if unasked else calls
    if known.calls and not known.prompt_tokens:
        return [Cost(name, JUDGE, calls, None, None, None, None, None)]
    measured = known.calls and not unasked
    prompt = calls.times(known.prompt_tokens / known.calls if known.calls else float(np.mean([m.judged for m in mine])))
    each = known.completion_tokens / known.calls if known.calls else _typical_reply()
    completion = calls.times(exactly(each) if measured else Range(each, each * SHORTER, judge_step.STEP.max_tokens))
    latency = latency_of(usages, seed)
    seconds = latency and latency.times(calls).times(1 / workers)
    dollars = priced(judge.name, prompt, completion)
    return [Cost(name, JUDGE, calls, prompt, completion, dollars.singly, seconds, dollars.batched)]


@cache
def _typical_reply() -> int:
    """The tokens of the reply in the judge's own example."""
    return tokens.count(judge_step.STEP.prompt(judge_step.Input("", (), ""))[2]["content"])


def _swung(of: Range, swing: tuple[float, float] | None) -> Range:
    """The range, as much wider at either end."""
    if swing is None:
        return of
    return Range(of.value, *(end and end * share for end, share in zip(of[1:], swing)))


def _behind_endpoints(methods: Iterable[Method]) -> list[EndpointEncoder]:
    """The encoders of the methods' indexes that are asked over a network, each once."""
    encoders = {id(method.index.encoder): method.index.encoder for method in methods}
    return [encoder for encoder in encoders.values() if isinstance(encoder, EndpointEncoder)]


def _since(before: Usage, now: Usage) -> Usage:
    return Usage(now.calls - before.calls, now.prompt_tokens - before.prompt_tokens)


def _warm(methods: Iterable[Method], plan: Plan) -> None:
    """Load what is loaded once, so that it does not count in the time of a question."""
    for index in {id(method.index): method.index for method in methods}.values():
        if not isinstance(index.encoder, EndpointEncoder):
            index.encode_query("warm")
    tokens.count("warm")
    if any(engine.name == "rules" for engine in plan.engines):
        from workbench.language.pipeline import nlp

        nlp()
