"""What came of an attack: how many attempts, and how many of them the product did not withstand."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Tally:
    """`lost`: work or answers gone or wrong without a word; `crashed`: an error that is not one of ours, or a hang;
    `leaked`: a key in a file, message, log or page. `failures` names each with what provoked it."""

    attack: str
    tried: int = 0
    lost: int = 0
    crashed: int = 0
    leaked: int = 0
    failures: list[str] = field(default_factory=list)

    def withstood(self) -> None:
        self.tried += 1

    def failed(self, how: str, what: str) -> None:
        """One attempt more, which the product did not withstand: `how` is "lost", "crashed" or "leaked"."""
        self.tried += 1
        setattr(self, how, getattr(self, how) + 1)
        self.failures.append(f"{how}: {what}")

    def judged(self, what: str, wrong: str) -> None:
        """One attempt more: `wrong` is empty, or says "lost: …" or "leaked: …", or of what the product crashed."""
        how, _, said = wrong.partition(": ")
        if not wrong:
            self.withstood()
        elif how in ("lost", "leaked", "crashed"):
            self.failed(how, f"{what}: {said}"[:600])
        else:
            self.failed("crashed", f"{what}: {wrong}"[:600])

    @property
    def holds(self) -> bool:
        return not self.failures

    def __add__(self, other: Tally) -> Tally:
        counts = {name: getattr(self, name) + getattr(other, name) for name in ("tried", "lost", "crashed", "leaked")}
        return Tally(self.attack, **counts, failures=[*self.failures, *other.failures])
