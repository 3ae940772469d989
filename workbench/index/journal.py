"""The answers from which a layer is made: those of its previous version are reused, the rest is requested from an
engine.

They are in memory until the layer writes its files, each once and whole. What a model answers is in the store of its
engine before it is given (`llm/record.py`), so a build that is stopped asks for nothing twice; an engine without a
store loses the work of one layer. `extractions`, `communities` and `tree` narrow the rule by which a standing answer
is reused (`reusable`), each for a reason stated there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from workbench.errors import DataError, Deferred, MostFailed
from workbench.llm.deferrals import Deferrals
from workbench.llm.engine import UNREAD, Engine, RulesEngine, noting_unread
from workbench.llm.step import Result, Step
from workbench.llm.wording import worded
from workbench.spread import by_size, processes
from workbench.text import text_hash

if TYPE_CHECKING:
    from workbench.index.layer import Layer

_STEP = r"\w+ v\d+(?: file \w+(?: \w+ \d+% of [\w.-]+)?)?"
_SIGNED = re.compile(rf" \(({_STEP}(?:, {_STEP})*)\)$")  # the Steps of an engine, with their versions
GROUP = 64  # inputs requested together by each process
FEW = 3  # failures below this number never end a build
QUOTED = 200  # characters of a reply, or of a failure, that an error quotes

_checked: ContextVar[str | None] = ContextVar("checked", default=None)  # the layer whose failures may end the build


@contextmanager
def ending_where_most_fail(layer: str, keep_going: bool = False) -> Iterator[None]:
    """Journals within the block raise :class:`MostFailed` where most of the requests for `layer` fail; none does with
    `keep_going`."""
    token = _checked.set(None if keep_going else layer)
    try:
        yield
    finally:
        _checked.reset(token)


class Entry(Protocol):
    """One answer. `key` identifies what was requested, whatever the layer around it; `made_by` is the `maker`;
    `defects` has `cut` or `repaired` for each reply behind the answer that was less than whole; `row` is its line."""

    key: str
    made_by: str
    failure: str | None
    defects: Sequence[str]

    def row(self) -> dict[str, Any]: ...


T = TypeVar("T")
E = TypeVar("E", bound=Entry)


def reusable(entry: Entry, made_by: str | None) -> bool:
    """Whether an entry saves a request to the engine that signs as `made_by` (`maker`).

    It must have succeeded, and come from the same engine and Step version; the rules also accept what a model wrote.
    Without an engine (None) any entry counts, even a failure: nobody could retry it."""
    if made_by is None:
        return True
    same = entry.made_by == made_by or (by_rules(made_by) and not by_rules(entry.made_by))
    return same and entry.failure is None


def reusable_of_models(entry: Entry, made_by: str | None) -> bool:
    """For layers whose rules read more than the key: answers by rules are written anew, because they cost nothing."""
    return reusable(entry, made_by) and not by_rules(entry.made_by)


class Journal(Generic[E]):
    """Answers by key. `old` are the entries of the previous layer, of which the `reusable` ones are taken; `entries`
    are the answers at hand; `used` those that were asked for, in that order."""

    def __init__(
        self,
        made_by: str | None,
        old: Iterable[E] = (),
        *,
        reusable: Callable[[E, str | None], bool] = reusable,
        progress: bool = False,
    ):
        self.made_by, self.progress, self.used = made_by, progress, dict[str, E]()
        old = list(old)
        self.entries: dict[str, E] = {entry.key: entry for entry in old if reusable(entry, made_by)}
        self._reused, self._asked_before = {*self.entries}, {entry.key for entry in old if entry.made_by == made_by}
        self._requested, self._failed = 0, dict[str, E]()
        self._unread: dict[str, str] = {}  # reply → why it could not be read

    @property
    def requested(self) -> int:
        """How many of the entries used the previous layer did not have."""
        return len(self.used.keys() - self._reused)

    def missing(self, keys: Iterable[str]) -> list[str]:
        """The keys that need a request, in their order."""
        return [key for key in keys if key not in self.entries]

    def ask(
        self, inputs: Mapping[str, T], answer: Callable[[dict[str, T]], Iterable[E]], label: str = "", unit: str = "it"
    ) -> dict[str, E]:
        """An entry per input. What is not known is requested: `answer` gives one entry per input of a group. Where some
        of a group are deferred, the others are asked for alone, and `Deferred` is raised when all have been."""
        if missing := self.missing(inputs):
            self._request({key: inputs[key] for key in missing}, answer, label, unit)
        entries = {key: self.entries[key] for key in inputs}
        self.used |= entries
        self._check(entries)
        return entries

    def _request(self, inputs: dict[str, T], answer: Callable, label: str, unit: str) -> None:
        from workbench.display import tqdm

        self._requested += len(inputs)
        deferrals, items = Deferrals(), list(inputs.items())
        bar = tqdm(total=len(items), desc=label, unit=unit, disable=not self.progress)
        with bar, noting_unread(self._unread):
            for group in by_size(items, GROUP * processes()):
                try:
                    entries = list(answer(dict(group)))
                except Deferred:
                    entries = []
                    for item in group:
                        with deferrals:
                            entries += answer(dict([item]))
                self.entries |= {entry.key: entry for entry in entries}
                bar.update(len(entries))
        deferrals.end()

    def _check(self, answers: Mapping[str, E]) -> None:
        """Raise :class:`MostFailed` if more than half of the requests of this build failed, and with them more than
        half of the answers: of all, or of those for inputs that the layer did not have before.

        The second condition lets a layer of which a few inputs always fail be built and extended again."""
        self._failed |= {key: entry for key, entry in answers.items() if entry.failure is not None}
        layer = _checked.get()
        if layer is None or self.made_by is None or not _most(len(self._failed), self._requested):
            return
        new = self.used.keys() - self._asked_before
        if _most(len(self._failed), len(self.entries)) or _most(len(self._failed.keys() & new), len(new)):
            reasons = [str(entry.failure) for entry in self._failed.values()]
            raise MostFailed(_message_of_failures(layer, self.made_by, reasons, self._requested, self._unread))


@dataclass(frozen=True, slots=True)
class Answer:
    """The output of one Step, None with a `failure`; `flaw` is `cut` or `repaired`. It is kept as JSON, which takes a
    quarter of the room of its objects, and read each time anew."""

    key: str
    made_by: str
    failure: str | None
    flaw: str | None
    json: str | None

    @classmethod
    def of_row(cls, row: dict[str, Any]) -> Answer:
        output = row["output"]
        return cls(*(row[name] for name in _COLUMNS), None if output is None else json.dumps(output))

    @property
    def output(self) -> dict[str, Any] | None:
        return None if self.json is None else json.loads(self.json)

    @property
    def defects(self) -> tuple[str, ...]:
        return (self.flaw,) if self.flaw else ()

    def row(self) -> dict[str, Any]:
        return {**{name: getattr(self, name) for name in _COLUMNS}, "output": self.output}


_COLUMNS = ("key", "made_by", "failure", "flaw")


class StepJournal(Journal[Answer]):
    """The answers of one Step, in the file `name` of a layer's folder and of the folder of `old`."""

    def __init__(
        self,
        folder: Path,
        name: str,
        engine: Engine | None,
        step: Step,
        old: Layer | None,
        progress: bool = False,
        *,
        reusable: Callable[[Answer, str | None], bool] = reusable,
    ):
        before = read(old.folder / name, Answer.of_row) if old else ()
        super().__init__(engine and maker(engine, step), before, reusable=reusable, progress=progress)
        self.path, self.engine = folder / name, engine

    def run(
        self, inputs: Mapping[str, T], request: Callable[[list[T]], Sequence[Result]], label: str
    ) -> dict[str, Answer]:
        """`ask`, where `request` gives a Result per input."""

        def answer(group: dict[str, T]) -> Iterator[Answer]:
            for key, result in zip(group, request(list(group.values()))):
                output = json.dumps(result.value.model_dump()) if result.value else None
                yield Answer(key, self.made_by, result.failure, defect(result), output)

        return self.ask(inputs, answer, label)

    def settle(self) -> None:
        """Write the answers used."""
        write_lines(self.path, (entry.row() for entry in self.used.values()))


def counts(entries: Iterable[Entry]) -> dict[str, Any]:
    """The makers of the entries, and the number of failed, cut and repaired ones, for the manifest of a layer."""
    entries = list(entries)
    defects = [defect for entry in entries for defect in entry.defects]
    return {
        "made_by": sorted({entry.made_by for entry in entries}),
        "failures": sum(entry.failure is not None for entry in entries),
        "cut": defects.count("cut"),
        "repaired": defects.count("repaired"),
    }


def read(path: Path, parse: Callable[[dict[str, Any]], E]) -> list[E]:
    """The entries of a file, none if there is no file; a last line that is not finished is ignored."""
    raw = path.read_bytes() if path.exists() else b""
    whole = raw[: raw.rfind(b"\n") + 1].splitlines()
    return [_parsed(line, parse, f"{path}, line {number}") for number, line in enumerate(whole, 1)]


def write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> str:
    """Write a file of entries whole, and give its text."""
    text = lines(rows)
    path.write_text(text, encoding="ascii")
    return text


def lines(rows: Iterable[dict[str, Any]]) -> str:
    """JSON Lines, in ASCII."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def maker(engine: Engine, *steps: Step) -> str:
    """How an engine signs its answers: its name, and the Steps with their versions, and wordings from files."""
    worded_steps = (worded(step, getattr(engine, "prompts", None)) for step in steps)
    return f"{engine.name} ({', '.join(step.identity for step in worded_steps)})"


def signed_by(made_by: str) -> tuple[str, str] | None:
    """The engine of a signature, and its Steps with their versions; None if the data brought the answers.

    >>> signed_by("openai:gpt-4o-mini (named_entities v2, triples v2)"), signed_by("openie.jsonl (gpt-4o-mini)")
    (('openai:gpt-4o-mini', 'named_entities v2, triples v2'), None)
    """
    match = _SIGNED.search(made_by)
    return match and (made_by[: match.start()], match[1])


def by_rules(made_by: str) -> bool:
    return made_by.partition(" ")[0] == RulesEngine.name


def is_rules(engine: Engine | None) -> bool:
    return engine is not None and engine.name == RulesEngine.name


def defect(result: Result) -> str | None:
    """`cut` or `repaired`, if the reply was less than whole."""
    return result.parse if result.parse in ("cut", "repaired") else None


def request_key(*parts: Any) -> str:
    """A key of the content of a request."""
    return text_hash(json.dumps(parts))


def _most(failed: int, of: int) -> bool:
    return failed >= FEW and 2 * failed > of


def _message_of_failures(
    layer: str, made_by: str, reasons: Sequence[str], requested: int, unread: Mapping[str, str]
) -> str:
    """The message of an error: how many failed, the first replies with what is wrong with them, what to do."""
    quoted = [f"{reply[:QUOTED]!r} ({why})" for reply, why in unread.items()]
    quoted = quoted or [reason[:QUOTED] for reason in dict.fromkeys(reasons)]
    what = f"{'replies' if unread else 'failures'}: {'; '.join(quoted[:UNREAD])}"
    return (
        f"layer {layer!r}: {len(reasons):,} of {requested:,} requests to {made_by} failed; the first {what}. What "
        "succeeded is in the engine's store, if it has one, and the same build asks only for the rest; to make the "
        "layer without what failed, pass keep_going=True (--keep-going)"
    )


def _parsed(line: bytes, parse: Callable[[dict[str, Any]], E], place: str) -> E:
    try:
        return parse(json.loads(line))
    except (ValueError, TypeError, KeyError) as error:
        wrong = f"not JSON ({error})" if isinstance(error, ValueError) else f"no line of this file ({error!r})"
        raise DataError(f"{place} is {wrong}; delete this line: the next build requests its content again") from None
