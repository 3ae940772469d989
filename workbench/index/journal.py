"""The journal of a layer: every answer that an engine was paid for, on disk before the next group is requested.

`extractions`, `profiles`, `summaries`, `communities`, `skeleton` and `textualise` share it. They differ in the line
that an answer becomes on disk and in the key by which it is found again. `extractions`, `communities` and `tree` narrow
the rule by which a standing answer is reused (`reusable`), each for a reason stated there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from workbench.errors import DataError, Deferred, MostFailed
from workbench.index.layer import Layer
from workbench.index.store import cut_torn_line, write_atomically
from workbench.llm.deferrals import Deferrals
from workbench.llm.engine import UNREAD, Engine, RulesEngine, noting_unread
from workbench.llm.meter import collect
from workbench.llm.step import Result, Step
from workbench.llm.wording import worded
from workbench.spread import by_size, processes
from workbench.text import text_hash

_STEP = r"\w+ v\d+(?: file \w+(?: \w+ \d+% of [\w.-]+)?)?"
_SIGNED = re.compile(rf" \(({_STEP}(?:, {_STEP})*)\)$")  # the Steps of an engine, with their versions
GROUP = 64  # inputs requested together by each process: the most that a killed build loses
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
    `defects` has `cut` or `repaired` for each reply behind the answer that was less than whole."""

    key: str
    made_by: str
    failure: str | None
    defects: Sequence[str]

    def row(self) -> dict[str, Any]:
        """The line on disk."""


T = TypeVar("T")
E = TypeVar("E", bound=Entry)


def reusable(entry: Entry, made_by: str | None) -> bool:
    """Whether an entry saves a request to the engine that signs as `made_by` (`maker`).

    It must have succeeded, and come from the same engine and Step version; the rules also accept what a model wrote.
    Without an engine (None) any entry counts, even a failure: nobody could retry it."""
    if made_by is None:
        return True
    return may_stand(entry.made_by, made_by) and entry.failure is None


def may_stand(before: str, made_by: str) -> bool:
    """Whether what was written by one maker stands when another would be asked now."""
    return before == made_by or (by_rules(made_by) and not by_rules(before))


class Journal(Generic[E]):
    """Answers by key, appended to the file `part` while they arrive and settled into `path` at the end.

    `parse` turns a line on disk into an entry; `old` are the entries of the layer that stood before. A journal touches
    the disk only in `ask` and `settle`. `known` are the entries that need no request; `used` those that were asked for,
    in that order. With `part` equal to `path`, the file grows in place and is never settled; its last line for a key
    counts."""

    def __init__(
        self,
        path: Path,
        parse: Callable[[dict[str, Any]], E],
        made_by: str | None,
        *,
        old: Iterable[E] = (),
        part: Path | None = None,
        reusable: Callable[[E, str | None], bool] = reusable,
        progress: bool = False,
    ):
        self.path, self.part = path, part or path.with_name(f"{path.name}.part")
        self.made_by, self.progress, self.used = made_by, progress, {}
        old = list(old)
        previous = {entry.key: entry for entry in old if reusable(entry, made_by)}
        self._asked_before = {entry.key for entry in old if entry.made_by == made_by}
        self._requested, self._failed = 0, dict[str, E]()
        self._unread: dict[str, str] = {}  # reply → why it could not be read
        # A build that was stopped at the very end has settled the file, but the layer does not stand yet.
        written = (entry for file in dict.fromkeys((path, self.part)) for entry in read(file, parse))
        self.known: dict[str, E] = previous | {e.key: e for e in written if reusable(e, made_by)}
        self._previous = previous.keys()

    @property
    def asked(self) -> int:
        """How many of the entries used the previous layer did not have: the same however often a build was stopped."""
        return len(self.used.keys() - self._previous)

    def missing(self, keys: Iterable[str]) -> list[str]:
        """The keys that need a request, in their order."""
        return [key for key in keys if key not in self.known]

    def ask(
        self, inputs: Mapping[str, T], answer: Callable[[dict[str, T]], Iterable[E]], label: str = "", unit: str = "it"
    ) -> dict[str, E]:
        """An entry per input. What is not known is requested: `answer` gives one entry per input of a group."""
        if missing := self.missing(inputs):
            self._request({key: inputs[key] for key in missing}, answer, label, unit)
        found = {key: self.known[key] for key in inputs}
        self.used |= found
        self._check(inputs)
        return found

    def _check(self, answered: Iterable[str]) -> None:
        """Raise :class:`MostFailed` if more than half of the requests of this build failed, and with them more than
        half of the answers: of all, or of those for inputs that the layer did not have before.

        The second condition makes the outcome the same however often a build was stopped, and lets a layer of which a
        few inputs always fail be built and extended again. Failures are never reused, so all are of this build."""
        layer, answers = _checked.get(), {key: self.known[key] for key in answered}
        self._failed |= {key: entry for key, entry in answers.items() if entry.failure is not None}
        if layer is None or self.made_by is None or not _most(len(self._failed), self._requested):
            return
        new = {*self.used, *answers} - self._asked_before
        if _most(len(self._failed), len(self.known)) or _most(len(self._failed.keys() & new), len(new)):
            reasons = [str(entry.failure) for entry in self._failed.values()]
            raise MostFailed(_said_of_failures(layer, self.made_by, reasons, self._requested, self._unread))

    def settle(self, text: str | None = None) -> str:
        """Replace the file by this text, by default the lines of the entries used, and give the text."""
        if text is None:
            text = lines(entry.row() for entry in self.used.values())
        write_atomically(self.path, text)
        self.part.unlink(missing_ok=True)
        return text

    def _request(self, inputs: dict[str, T], answer: Callable, label: str, unit: str) -> None:
        from tqdm.auto import tqdm

        self._requested += len(inputs)
        if self.part.exists():
            cut_torn_line(self.part)
        with (
            self.part.open("a", encoding="ascii") as out,
            tqdm(total=len(inputs), desc=label, unit=unit, disable=not self.progress) as bar,
            noting_unread(self._unread),
        ):
            deferrals = Deferrals()
            for group in _groups(inputs):
                entries = _answered(group, answer, deferrals)
                if self.part == self.path and deferrals.requests:
                    continue  # what is never settled stays in the order of the inputs
                out.write(lines(entry.row() for entry in entries))
                out.flush()
                self.known.update((entry.key, entry) for entry in entries)
                bar.update(len(entries))
        deferrals.end()


class Answer:
    """The output of one Step, as a line has it: `output` is None with a `failure`; `flaw` is `cut` or `repaired`.

    The output is kept as JSON, which takes a quarter of the room of its objects, and read each time anew."""

    __slots__ = ("_json", "failure", "flaw", "key", "made_by")

    def __init__(self, key: str, made_by: str, failure: str | None, flaw: str | None, output: dict[str, Any] | None):
        self.key, self.made_by, self.failure, self.flaw = key, made_by, failure, flaw
        self._json = None if output is None else json.dumps(output)

    @property
    def output(self) -> dict[str, Any] | None:
        return None if self._json is None else json.loads(self._json)

    @property
    def defects(self) -> tuple[str, ...]:
        return (self.flaw,) if self.flaw else ()

    def row(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("key", "made_by", "failure", "flaw", "output")}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Answer) and self.row() == other.row()

    def __repr__(self) -> str:
        return f"Answer({', '.join(f'{name}={value!r}' for name, value in self.row().items())})"


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
        before = read(old.folder / name, _answer) if old else ()
        made_by = engine and maker(engine, step)
        super().__init__(folder / name, _answer, made_by, old=before, reusable=reusable, progress=progress)
        self.engine = engine

    def run(
        self, inputs: Mapping[str, T], request: Callable[[list[T]], Sequence[Result]], label: str
    ) -> dict[str, Answer]:
        """`ask`, where `request` gives a Result per input."""

        def answer(group: dict[str, T]) -> Iterator[Answer]:
            for key, result in zip(group, request(list(group.values()))):
                output = result.value.model_dump() if result.value else None
                yield Answer(key, self.made_by, result.failure, defect(result), output)

        return self.ask(inputs, answer, label)


def counts(entries: Iterable[Entry]) -> dict[str, Any]:
    """Who made the entries, and how many are not what was wanted: what a manifest says of a layer."""
    entries = list(entries)
    defects = [defect for entry in entries for defect in entry.defects]
    return {
        "made_by": sorted({entry.made_by for entry in entries}),
        "failures": sum(entry.failure is not None for entry in entries),
        "cut": defects.count("cut"),
        "repaired": defects.count("repaired"),
    }


def read(path: Path, parse: Callable[[dict[str, Any]], E]) -> list[E]:
    """The entries of a file, none if there is no file; a last line that a killed process left unfinished is ignored."""
    raw = path.read_bytes() if path.exists() else b""
    whole = raw[: raw.rfind(b"\n") + 1].splitlines()
    return [_parsed(line, parse, f"{path}, line {number}") for number, line in enumerate(whole, 1)]


def lines(rows: Iterable[dict[str, Any]]) -> str:
    """JSON Lines, in ASCII."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def maker(engine: Engine, *steps: Step) -> str:
    """How an engine signs its answers: its name, and the Steps with their versions, and wordings from files."""
    asked = (worded(step, getattr(engine, "prompts", None)) for step in steps)
    return f"{engine.name} ({', '.join(step.identity for step in asked)})"


def signed_by(made_by: str) -> tuple[str, str] | None:
    """The engine of a signature, and its Steps with their versions; None if the data brought the answers.

    >>> signed_by("openai:gpt-4o-mini (named_entities v2, triples v2)"), signed_by("openie.jsonl (gpt-4o-mini)")
    (('openai:gpt-4o-mini', 'named_entities v2, triples v2'), None)
    """
    found = _SIGNED.search(made_by)
    return found and (made_by[: found.start()], found[1])


def by_rules(made_by: str) -> bool:
    return made_by.partition(" ")[0] == RulesEngine.name


def is_rules(engine: Engine | None) -> bool:
    return engine is not None and engine.name == RulesEngine.name


def defect(result: Result) -> str | None:
    """`cut` or `repaired`, if the reply was less than whole."""
    return result.parse if result.parse in ("cut", "repaired") else None


def request_key(*parts: Any) -> str:
    """A key for what is requested."""
    return text_hash(json.dumps(parts))


def _answer(row: dict[str, Any]) -> Answer:
    return Answer(**row)


def _most(failed: int, of: int) -> bool:
    return failed >= FEW and 2 * failed > of


def _said_of_failures(
    layer: str, made_by: str, reasons: Sequence[str], requested: int, unread: Mapping[str, str]
) -> str:
    """The message of an error: how many failed, the first replies with what is wrong with them, what to do."""
    quoted = [f"{reply[:QUOTED]!r} ({why})" for reply, why in unread.items()]
    quoted = quoted or [reason[:QUOTED] for reason in dict.fromkeys(reasons)]
    return (
        f"layer {layer!r}: {len(reasons):,} of {requested:,} requests to {made_by} failed; the first "
        f"{'replies' if unread else 'failures'}: {'; '.join(quoted[:UNREAD])}. What succeeded is kept, and the same "
        "build asks only for the rest; to make the layer without what failed, pass keep_going=True (--keep-going)"
    )


def _answered(group: dict[str, T], answer: Callable[[dict[str, T]], Iterable[E]], deferrals: Deferrals) -> list[E]:
    """An entry per input; of a group of which some are deferred, those of the others, each asked for alone."""
    try:
        with collect():
            return list(answer(group))
    except Deferred as deferred:
        if deferred.requests >= len(group):  # all of them
            deferrals.requests += deferred.requests
            return []
    entries: list[E] = []
    for key, value in group.items():
        with deferrals, collect():
            entries += answer({key: value})
    return entries


def _groups(inputs: dict[str, T]) -> Iterator[dict[str, T]]:
    items = list(inputs.items())
    return map(dict, by_size(items, GROUP * processes()))


def _parsed(line: bytes, parse: Callable[[dict[str, Any]], E], place: str) -> E:
    try:
        return parse(json.loads(line))
    except (ValueError, TypeError, KeyError) as error:
        wrong = f"not JSON ({error})" if isinstance(error, ValueError) else f"no line of this file ({error!r})"
        raise DataError(f"{place} is {wrong}; delete this line: the next build requests its content again") from None
