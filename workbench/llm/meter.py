"""The cost of a run per Step (calls, tokens, seconds and money), and a budget that stops it.

Prices are data with a date; an unknown price is unknown, not zero.

A budget is between the recording and the endpoint, so recorded answers cost nothing and do not count. A call starts
only while the totals of all answers so far are below every limit, and calls in flight may finish. Calls are counted
when they start and never exceed their limit. Money and tokens are known only after an answer, so they may exceed it by
the calls in flight at that moment: the engine's `concurrency`, or the `workers` of `evaluate`.
"""

from __future__ import annotations

import csv
import math
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench import tokens
from workbench.errors import BudgetSpent, DataError, Deferred, SettingError
from workbench.llm.call import Call, Reply, Request, model_of
from workbench.llm.step import Usage
from workbench.places import home
from workbench.records import Record

if TYPE_CHECKING:
    import pandas as pd

LIMITS = ("max_money", "max_tokens", "max_calls")
PRICES = Path(__file__).with_name("prices.csv")


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens, and the day from which they are valid; `batch` is the price of tokens of prompts
    and of completions in a batch, None where it is not known."""

    model: str
    prompt: float
    completion: float
    since: str
    batch: tuple[float, float] | None = None

    def of(self, prompt_tokens: int, completion_tokens: int, *, batch: bool = False) -> float | None:
        each = self.batch if batch else (self.prompt, self.completion)
        return each and (prompt_tokens * each[0] + completion_tokens * each[1]) / 1e6


def own_prices() -> Path:
    """The file for missing or different prices: `prices.csv` next to indexes and runs."""
    return home() / PRICES.name


def prices() -> Mapping[str, Price]:
    """Model → price: those that come with the workbench, overridden by those of `own_prices()`."""
    try:
        changed = (own := own_prices()).stat().st_mtime_ns
    except OSError:
        return _prices(PRICES, 0)
    return {**_prices(PRICES, 0), **_prices(own, changed)}


@cache
def _prices(path: Path, changed: int) -> Mapping[str, Price]:
    """`changed` invalidates the cache when the file is edited."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        read = [_price(row) for row in rows]
        numbers = [
            number_read for price in read for number_read in (price.prompt, price.completion, *(price.batch or ()))
        ]
        if not all(0 <= number < math.inf for number in numbers):
            raise ValueError("a price is negative or no number")
    except (KeyError, TypeError, ValueError, csv.Error) as error:
        raise DataError(
            f"{path} is no list of prices ({type(error).__name__}: {error}); its first line should be "
            "model,prompt,completion,since and each further one like gpt-4o-mini,0.15,0.60,2024-07-18; "
            "batch_prompt,batch_completion may follow"
        ) from None
    return {price.model: price for price in read}


def _price(row: Mapping[str, str]) -> Price:
    """Of a line, which may leave out what tokens cost in a batch."""
    batch = row.get("batch_prompt"), row.get("batch_completion")
    batch_price = (float(batch[0] or ""), float(batch[1] or "")) if any(batch) else None
    return Price(row["model"], float(row["prompt"]), float(row["completion"]), row["since"], batch_price)


def money(engine: str, prompt_tokens: int, completion_tokens: int, *, batch: bool = False) -> float | None:
    """US dollars, also of a `batch`: 0 for a model on this machine or replies written by hand, None if `prices()` has
    no price."""
    if engine.partition(":")[0] in ("local", "worked", "worked+rules"):
        return 0.0
    price = prices().get(model_of(engine))
    return price and price.of(prompt_tokens, completion_tokens, batch=batch)


class Meter(Record):
    """A tally per Step. `collect` opens a second one that counts only the calls of its block, in this thread; those of
    a meter that stands `apart` are not among them. `fingerprints`: engine → the configurations of its server that
    answered, as far as it says them. `answers` of one that collects: recording → keys of the requests that it
    answered."""

    def __init__(self, *, apart: bool = False):
        self._steps: dict[str, Usage] = {}
        self.fingerprints: dict[str, set[str]] = {}
        self.answers: dict[Path, set[str]] = {}
        self._apart, self._lock = apart, threading.Lock()

    def add(self, step: str, usage: Usage) -> None:
        with self._lock:
            self._steps[step] = self._steps.get(step, Usage()) + usage
        if not self._apart and (inner := _collecting.get()) is not None and inner is not self:
            inner.add(step, usage)

    def served(self, engine: str, fingerprint: str) -> None:
        """Note the configuration of the server that answered; nothing if it reports none."""
        if not fingerprint:
            return
        with self._lock:
            self.fingerprints.setdefault(engine, set()).add(fingerprint)
        if not self._apart and (inner := _collecting.get()) is not None and inner is not self:
            inner.served(engine, fingerprint)

    def answered(self, recording: Path, keys: Iterable[str]) -> None:
        """Note which answers of a recording were used, by the keys of their requests."""
        with self._lock:
            self.answers.setdefault(recording, set()).update(keys)

    @property
    def steps(self) -> Mapping[str, Usage]:
        return dict(self._steps)

    @property
    def total(self) -> Usage:
        return sum(self.steps.values(), Usage())

    def as_dict(self, *, seconds: bool = True) -> dict[str, dict]:
        """Step → usage; without `seconds`, only values that are equal in a replay."""
        rows = {step: usage.as_dict() for step, usage in sorted(self.steps.items())}
        left_out = set() if seconds else {"seconds", "recorded"}
        return {step: {name: row[name] for name in row if name not in left_out} for step, row in rows.items()}

    def frame(self) -> pd.DataFrame:
        import pandas as pd

        columns = dict.fromkeys([*Usage().as_dict(), *self.total.as_dict()])
        return pd.DataFrame(list(self.as_dict().values()), index=list(self.as_dict()), columns=list(columns))

    def __repr__(self) -> str:
        total = self.total
        cost = "price unknown" if total.money is None else f"${total.money:.4f}"
        odd = ((total.failed, "failed"), (total.repaired, "repaired"), (total.cut, "cut for length"))
        parts = [f"{number:,} {what}" for number, what in odd if number]
        parts += [f"{total.by_rules:,} by rules, since no reply was written for them"] if total.by_rules else []
        parts += [f"{total.reasoning_tokens:,} of the tokens for reasoning"] if total.reasoning_tokens else []
        parts += [f"{total.recorded:,} from a recording, which cost nothing now"] if total.recorded else []
        tokens = total.prompt_tokens + total.completion_tokens
        return f"Meter({total.calls:,} calls, {tokens:,} tokens, {cost}{''.join(f'; {part}' for part in parts)})"


_collecting: ContextVar[Meter | None] = ContextVar("collecting", default=None)


@contextmanager
def collect(meter: Meter | None = None) -> Iterator[Meter]:
    """A meter for the calls within the block, a new one by default: `with collect() as usage: …`. What a block asked
    that ends deferred is asked again with the replies, and counted then."""
    meter = Meter() if meter is None else meter
    token, counts = _collecting.set(meter), True
    try:
        yield meter
    except Deferred:
        counts = False
        raise
    finally:
        _collecting.reset(token)
        if counts and (outer := _collecting.get()) is not None:
            for step, usage in meter.steps.items():
                outer.add(step, usage)
            for engine, by_fingerprint in meter.fingerprints.items():
                for fingerprint in by_fingerprint:
                    outer.served(engine, fingerprint)
            for recording, keys in meter.answers.items():
                outer.answered(recording, keys)


def note_answer(recording: Path, key: str) -> None:
    """Note for the block that collects that a recording answered a request."""
    if (meter := _collecting.get()) is not None:
        meter.answered(recording, [key])


# -- budgets -----------------------------------------------------------------------------------------------------------


class Budget(Record):
    """Limits, and the amounts spent. Several engines may share one: `engine(…, budget=budget)`.

    `max_money` is in US dollars, `max_tokens` counts prompt and completion together; 0 allows recorded answers only.
    """

    def __init__(self, *, max_money: float | None = None, max_tokens: int | None = None, max_calls: int | None = None):
        self.max_money = _checked("max_money", max_money, int | float)
        self.max_tokens = _checked("max_tokens", max_tokens, int)
        self.max_calls = _checked("max_calls", max_calls, int)
        self.money, self.tokens, self.calls = 0.0, 0, 0
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Count a call that is about to start, or raise `BudgetSpent`."""
        with self._lock:
            self.check()
            self.calls += 1

    def check(self) -> None:
        """Raise `BudgetSpent` where a limit is reached."""
        for name, limit in self._reached():
            raise BudgetSpent(
                f"{name}={limit:,} is used up: {self}. What is done is kept; the same with a larger {name} goes on, "
                "and asks nothing twice that a recording holds (record=FILE)"
            )

    @property
    def is_spent(self) -> bool:
        return any(True for _ in self._reached())

    def _reached(self) -> Iterator[tuple[str, float]]:
        for name in LIMITS:
            limit, spent = getattr(self, name), getattr(self, name.removeprefix("max_"))
            if limit is not None and spent >= limit:
                yield name, limit

    def add(self, money: float, tokens: int, calls: int) -> None:
        """Count what another process spent of the budget."""
        with self._lock:
            self.money, self.tokens, self.calls = self.money + money, self.tokens + tokens, self.calls + calls

    def spend(self, engine: str, request: Request, reply: Reply) -> None:
        """Count an answer. Tokens that the endpoint does not report are counted here, as cl100k."""
        prompt, completion = reply.prompt_tokens, reply.completion_tokens
        if not prompt:
            prompt = sum(tokens.count(message["content"]) for message in request.messages)
            completion = completion or tokens.count(reply.text)
        with self._lock:
            self.tokens += prompt + completion
            self.money += money(engine, prompt, completion) or 0.0  # an unknown price is refused if money is limited

    def __repr__(self) -> str:
        spent = (f"${self.money:.4f}", f"{self.tokens:,} tokens", f"{self.calls:,} calls")
        limits = [getattr(self, name) for name in LIMITS]
        parts = [what + (f" of {limit:,}" if limit is not None else "") for what, limit in zip(spent, limits)]
        return f"Budget({', '.join(parts)})"


def limited(call: Call, budget: Budget, engine: str) -> Call:
    """The call, limited by the budget. `engine` names the model; its price must be known."""
    if budget.max_money is not None and money(engine, 0, 0) is None:
        model = engine.partition(":")[2]
        raise SettingError(
            f"max_money needs the price of {model!r}, which is not in {PRICES.name}: write the line "
            f"{model},PROMPT,COMPLETION,DATE (US dollars per million tokens; since when) under "
            f"model,prompt,completion,since into {own_prices()}, or use max_tokens or max_calls instead"
        )

    def wrapped(request: Request) -> Reply:
        budget.begin()
        reply = call(request)
        budget.spend(engine, request, reply)
        return reply

    return wrapped


def _checked(name: str, value: Any, kind: Any) -> Any:
    if value is not None and (isinstance(value, bool) or not isinstance(value, kind) or not 0 <= value < float("inf")):
        what = "a number of US dollars" if name == "max_money" else "a whole number"
        raise SettingError(f"{name}={value!r}; it should be {what} of at least 0")
    return value
