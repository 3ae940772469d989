"""Budgets shared by many processes: each piece of work gets a share of what is left, and returns what it did not spend.

The parts that are out never add up to more than what was left when they were given, so calls never exceed their limit,
and money and tokens by no more than the calls in flight, as in one process. A piece whose part was too small is done
again with another part, and is asked nothing twice: it is given what it was answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.llm.meter import LIMITS, Budget

Share = dict[str, Any]  # the limits of a part of a budget


class Allowance:
    """The parts of budgets that are out, by the number of the piece."""

    def __init__(self, budgets: Sequence[Budget]):
        self.budgets = budgets
        self._out: dict[int, tuple[Share, ...]] = {}

    def lend(self, number: int, places: int) -> tuple[Share, ...] | None:
        """The shares of the budgets for a piece, if `places` pieces run at once; None if it has to wait for another to
        end."""
        shares = tuple(self._share(at, budget, places) for at, budget in enumerate(self.budgets))
        if self._out and any(share and min(share.values()) <= 0 for share in shares):
            return None
        self._out[number] = shares
        return shares

    def back(self, number: int, spent: Sequence[tuple[float, int, int]] = ()) -> None:
        """Release the share of a finished or lost piece."""
        self._out.pop(number, None)
        for budget, (money, tokens, calls) in zip(self.budgets, spent):
            budget.add(money, tokens, calls)

    @property
    def is_spent(self) -> bool:
        return any(budget.is_spent for budget in self.budgets)

    def _share(self, at: int, budget: Budget, places: int) -> Share:
        made: Share = {}
        for name in LIMITS:
            if (limit := getattr(budget, name)) is None:
                continue
            out = sum(shares[at][name] for shares in self._out.values())
            left = max(0, limit - getattr(budget, name.removeprefix("max_")) - out)
            made[name] = left / places if name == "max_money" else min(left, max(1, left // places))
        return made
