"""The records of an estimate."""

from __future__ import annotations

from dataclasses import dataclass, field

from workbench.evaluation.estimate.ranges import NOTHING, Range, summed
from workbench.evaluation.estimate.unasked import Unasked
from workbench.llm.engine import Engine
from workbench.llm.meter import money, own_prices
from workbench.llm.step import Usage
from workbench.records import Record


@dataclass(frozen=True, slots=True, repr=False)
class Cost(Record):
    """The cost of a Step, or of work without a model; `money` in US dollars, and `batched` the same if what models are
    asked is asked in batches. None means unknown."""

    part: str
    step: str
    calls: Range = NOTHING
    prompt_tokens: Range | None = NOTHING
    completion_tokens: Range | None = NOTHING
    money: Range | None = NOTHING
    seconds: Range | None = NOTHING
    batched: Range | None = NOTHING

    def __post_init__(self) -> None:
        if self.money is None:  # a batch is a share of a price, and unknown with it
            object.__setattr__(self, "batched", None)


@dataclass(frozen=True, slots=True, repr=False)
class Estimate(Record):
    """The remaining cost of `what`. `measured` states the basis, `unknown` what is not included; `spent` is the cost of
    the sample."""

    what: str
    engine: str
    costs: tuple[Cost, ...]
    measured: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    spent: Usage = field(default_factory=Usage)

    @property
    def total(self) -> Cost:
        """The sum; a value unknown for one part is unknown for the sum."""
        names = ("calls", "prompt_tokens", "completion_tokens", "money", "seconds", "batched")
        return Cost("total", "", *(summed([getattr(cost, name) for cost in self.costs]) for name in names))


def estimate_of(
    what: str, engines: list[Engine], costs: list[Cost], measured: list[str], unknown: list[str], usages: list[Usage]
) -> Estimate:
    names = dict.fromkeys(engine.name for engine in engines)
    reasons = dict.fromkeys(engine.why for engine in engines if isinstance(engine, Unasked))
    measured = [*(f"no model was asked: {why}" for why in reasons), *measured]
    asking = [engine for engine in engines if engine.name != "rules"]
    spent = sum(usages, Usage()) if asking else Usage()
    if asking and spent.calls:
        odd = [f"{n:,} {how}" for n, how in ((spent.failed, "failed"), (spent.recorded, "were recorded before")) if n]
        cost = "" if spent.money is None else f", ${spent.money:.4f}"
        measured.append(f"the sample took {spent.calls:,} calls{cost}{''.join(f'; {part}' for part in odd)}")
    if spent.calls > spent.recorded:
        files = [engine.record for engine in asking if getattr(engine, "record", None)]
        measured.append(
            f"its answers are in {', '.join(map(str, dict.fromkeys(files)))} and are not asked for again"
            if files
            else "its answers are not kept, so they will be asked for again; give the engine record=FILE"
        )
    if spent.calls and not spent.prompt_tokens:
        unknown.append("not known: how many tokens the endpoint reads and writes, which it does not tell")
    if any(cost.money is None for cost in costs):
        unpriced = [name for name in names if name != "rules" and money(name, 0, 0) is None]
        if unpriced:
            unknown.append(f"not known: the price of {', '.join(unpriced)}, which is not in {own_prices()}")
    if any(cost.seconds is None for cost in costs) and spent.calls and spent.recorded == spent.calls:
        unknown.append("not known: how long an answer takes; all of the sample were recorded before")
    return Estimate(what, ", ".join(names), tuple(costs), tuple(measured), tuple(unknown), spent)


def sample_note(n: int, of: int, what: str, over: str, seed: int) -> str:
    return f"{n:,} of {of:,} {what} were asked, spread over {over} (seed {seed})"
