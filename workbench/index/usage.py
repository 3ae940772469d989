"""The cost of building an index: calls, tokens and seconds, per layer and Step.

`usage.jsonl` in the folder of an index gets lines when a layer is built, and keeps those of earlier builds: it is a
bill, not a part of the index. No key and no hash covers it, because its seconds are the machine's. What a build asked
that was stopped is billed when its answers are found in the store of the engine, with the layer that is made of them;
what failed in it is billed at once, because it is asked for again. Rules ask no model: their calls have no tokens."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import DataError, Deferred
from workbench.index.journal import lines, read
from workbench.index.store import cut_torn_line
from workbench.llm.engine import Engine, RulesEngine
from workbench.llm.meter import Meter, collect
from workbench.llm.record import noted, used
from workbench.llm.step import Usage
from workbench.records import Record

if TYPE_CHECKING:
    import pandas as pd

FILE = "usage.jsonl"
ARTICLES = "articles"  # what a graph of triples is written into before it has layers (`textualise`)


@dataclass(frozen=True, slots=True)
class Spent:
    """A part of the construction of a layer: of an engine for a Step, or, with an empty Step, the seconds of the whole
    layer from begin to end, with encoding and arithmetic."""

    layer: str
    step: str
    engine: str
    usage: Usage

    @property
    def by_rules(self) -> bool:
        return self.engine == RulesEngine.name

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.layer, self.step, self.engine, self.usage + other.usage)


@dataclass(frozen=True, slots=True, repr=False)
class IndexUsage(Record):
    """`spent`: each layer, Step and engine once, summed over all builds, in the order of their first lines. `known` is
    whether there is a bill at all: an index of an earlier version has none. `recordings`: recording → keys of the
    requests that it answered."""

    folder: str
    spent: tuple[Spent, ...] = field(default=())
    known: bool = True
    recordings: Mapping[Path, Collection[str]] = field(default_factory=dict, hash=False)

    def of(self, layers: Iterable[str] | None = None, engines: Iterable[str] | None = None) -> Usage:
        """What models took for some layers, or for all; of some engines, or of all. `seconds` are those of their
        answers, one after another. Rules are no model."""
        layers, engines = (None if names is None else set(names) for names in (layers, engines))
        mine = (spent for spent in self.spent if spent.step and not spent.by_rules)
        mine = (spent for spent in mine if layers is None or spent.layer in layers)
        return sum((spent.usage for spent in mine if engines is None or spent.engine in engines), Usage())

    def seconds(self, layers: Iterable[str] | None = None) -> float | None:
        """Seconds from begin to end of each layer, summed over all builds; None if one of them was not recorded."""
        timed = {whole.layer: whole.usage.seconds for whole in self._wholes()}
        layers = list(timed) if layers is None else list(layers)
        return sum(timed[layer] for layer in layers) if {*layers} <= timed.keys() else None

    def _wholes(self) -> Iterator[Spent]:
        """One for each layer, whichever engines built it."""
        wholes: dict[str, Spent] = {}
        for spent in self.spent:
            if not spent.step:
                wholes[spent.layer] = wholes[spent.layer] + spent if spent.layer in wholes else spent
        yield from wholes.values()

    def rows(self) -> list[dict[str, Any]]:
        """layer, step, engine, calls, prompt_tokens, completion_tokens, seconds, money, failed, repaired, cut,
        recorded."""
        return [{"layer": s.layer, "step": s.step, "engine": s.engine, **s.usage.as_dict()} for s in self.spent]

    def frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(self.rows(), columns=["layer", "step", "engine", *Usage().as_dict()])


def usage_of(folder: Path) -> IndexUsage:
    """The bill of the index in a folder; raises :class:`DataError` for a damaged line."""
    path, sums = folder / FILE, {}
    try:
        parsed = read(path, lambda row: (_parsed(row), row))
    except DataError as error:
        what = str(error).partition(";")[0]
        raise DataError(f"{what}; delete this line, or the file: it is a bill, and no part of the index") from None
    for spent, _ in parsed:
        place = (spent.layer, spent.step, spent.engine)
        sums[place] = sums[place] + spent if place in sums else spent
    recordings = used((row for _, row in parsed), folder)
    return IndexUsage(str(folder), tuple(sums.values()), path.exists(), recordings)


@contextmanager
def metered(folder: Path, layer: str, engine: Engine | None, *, idle: bool = True) -> Iterator[None]:
    """Writes down what is asked within the block, and its seconds; of a block that ends by an error what failed, and of
    one that is deferred nothing. Nothing is written if nothing is asked and it is not to be when `idle`. Encoders
    behind an endpoint have meters of their own."""
    bill, started = _Bill(), time.perf_counter()
    path, of = folder / FILE, {"layer": layer, "engine": engine.name if engine else ""}
    try:
        with collect(bill):
            yield
    except Deferred:
        raise
    except BaseException:
        with suppress(OSError):  # the error that stopped the build is reported
            _write(path, of, bill.failed.steps, time.perf_counter() - started, bill.answers)
        raise
    if idle or bill.steps:
        _write(path, of, bill.steps, time.perf_counter() - started, bill.answers)


class _Bill(Meter):
    """A meter that counts the calls that failed apart."""

    def __init__(self):
        super().__init__()
        self.failed = Meter(apart=True)

    def add(self, step: str, usage: Usage) -> None:
        super().add(step, usage)
        if usage.failed:
            self.failed.add(step, usage)


def _write(path: Path, of: Mapping[str, str], steps: Mapping[str, Usage], seconds: float, answers: Any) -> None:
    spent = {**steps, "": Usage(seconds=seconds)}
    rows = [{**of, "step": step, **usage.as_dict()} for step, usage in spent.items()]
    if answers:
        rows[-1]["answers"] = noted(answers, path.parent.absolute())
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        cut_torn_line(path)
    with path.open("a", encoding="ascii") as out:
        out.write(lines(rows))


def _parsed(row: dict[str, Any]) -> Spent:
    usage = Usage(**{name: row.get(name, none) for name, none in asdict(Usage()).items()})
    return Spent(row["layer"], row["step"], row["engine"], usage)
