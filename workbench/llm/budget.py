"""A budget: limits on money, tokens or calls that stop a run.

It is between the recording and the endpoint, so recorded answers cost nothing and do not count. A call starts only
while the totals of all answers so far are below every limit, and calls in flight may finish. Calls are counted when
they start and never exceed their limit. Money and tokens are known only after an answer, so they may exceed it by the
calls in flight at that moment: the engine's `concurrency`, or the `workers` of `evaluate`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from workbench import tokens
from workbench.errors import BudgetSpent, SettingError
from workbench.llm.call import Call, Reply, Request
from workbench.llm.meter import PRICES, money, own_prices
from workbench.records import Record

LIMITS = ("max_money", "max_tokens", "max_calls")


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
        """Count what another process spent of it."""
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
        said = [what + (f" of {limit:,}" if limit is not None else "") for what, limit in zip(spent, limits)]
        return f"Budget({', '.join(said)})"


def limited(call: Call, budget: Budget, engine: str) -> Call:
    """The call, limited by the budget. `engine` names the model, whose price must be known."""
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
        raise SettingError(f"{name}={value!r}; it should be {what} from 0 on")
    return value
