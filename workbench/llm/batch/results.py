"""Reads the results of batches into the recording. What is not an answer is kept apart with its reason, and the next
export requests it again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from workbench.display import tqdm
from workbench.errors import DataError, EngineRefused
from workbench.llm.batch.state import Pending, PendingRequest, State, held
from workbench.llm.call import CallFailed, Reply, Request
from workbench.llm.endpoint import blot_of, reply_of, shortened
from workbench.llm.negotiation import Negotiation, Refused
from workbench.llm.parse import Reading
from workbench.llm.record import Recording
from workbench.llm.step import Step, known_steps
from workbench.places import write_atomically
from workbench.records import Record
from workbench.text import counted, storable

T = TypeVar("T")

FAILURES = "failures.jsonl"
NO_RESULT = "no result of this request was read"
_NOTHING = "the line has neither an answer nor an error"
_SOME = 500  # results of one transaction


class Line(NamedTuple):
    """A line of a file of results. `custom_id` is empty where it names none; `body` is a chat completion, and None
    with a `failure`. `refusal` is what an endpoint says of a request that it does not take (HTTP 400)."""

    place: str
    custom_id: str
    body: dict[str, Any] | None
    failure: str = ""
    refusal: Refused | None = None


@dataclass(repr=False)
class Read(Record):
    """What became of the results of a round. `answers` are in the recording, and among them `unreadable` replies, which
    are failures of their inputs, as they are in a run that asks one by one. `failed` has the reasons of the others, and
    how many requests each stopped; `file` holds them, one a line. `learned` is how requests are sent otherwise from
    now on, because the endpoint did not take them."""

    round: int
    answers: int = 0
    unreadable: int = 0
    repeated: int = 0
    failed: dict[str, int] = field(default_factory=dict)
    file: Path | None = None
    learned: tuple[str, ...] = ()
    final: bool = False

    def __repr__(self) -> str:
        unreadable = f", {self.unreadable:,} of them unreadable" if self.unreadable else ""
        failed = sum(self.failed.values())
        lines = [f"{counted(self.answers, 'answer')}{unreadable}"]
        lines += [f"{failed:,} without one ({self.file})"] if failed else []
        lines += [f"{self.repeated:,} that the recording held before"] if self.repeated else []
        return f"Read(round {self.round}: {'; '.join(lines)})"


def read(
    folder: str | Path,
    files: Iterable[str | Path] = (),
    *,
    final: bool = False,
    api_key: str | None = None,
    progress: bool = True,
) -> Read:
    """Read the results of a folder's last round into its recording: `files`, by default those that `fetch` wrote.

    Failures stay out of the recording, so that the next export asks for them again; with `final` they are recorded as
    the outcome of their requests, and the work goes on without them. Reading a file twice changes nothing. `api_key`
    (OPENAI_API_KEY) is removed from all that is read. Raises :class:`DataError` for a file that cannot be read.
    """
    with held(folder):
        state = State.open(folder)
        paths = [Path(file) for file in files] or sorted(state.results().glob("*.jsonl"))
        if not paths and not all(file.fetched for file in state.of_round()):
            raise DataError(
                f"round {state.round} of {folder} has no results in {state.results()}; fetch them, or name their files"
            )
        if absent := [path for path in paths if not path.is_file()]:
            raise DataError(f"{absent[0]} does not exist; name files of results in JSON Lines")
        with closing(Recording(state.store)) as store, closing(Pending(state.folder, store)) as pending:
            return _Reading(state, pending, blot_of(api_key=api_key)).of(paths, final, progress)


class _Reading:
    def __init__(self, state: State, pending: Pending, blot: Callable[[str], str]):
        self.state, self.pending, self.blot = state, pending, blot
        self.steps: dict[str, Step] = known_steps()
        self.sent = {name: asking.dialect for name, asking in state.asking.items()}
        self.agreed = {name: asking.negotiation for name, asking in state.asking.items()}
        self.failures: dict[str, dict[str, str]] = {}  # custom_id, or place → line of the file
        self.summary = Read(state.round)

    def of(self, paths: Sequence[Path], final: bool, progress: bool) -> Read:
        lines = (line for path in paths for line in lines_of(path, self.blot))
        bar = tqdm(lines, desc="import", unit="result", disable=not progress)
        for some in _chunks(bar):
            self._take(some)
        self._missing()
        if final:
            self._settle()
        self._close()
        return self.summary

    def _take(self, lines: Sequence[Line]) -> None:
        """Read some results, in one transaction."""
        keys = list({line.custom_id for line in lines if line.custom_id})
        pending, before, outcomes = self.pending.find(keys), self.pending.answered(keys), {}
        for line in lines:
            key = line.custom_id
            if key in outcomes or (key in before and key not in pending):
                self.summary.repeated += 1
            elif key not in pending:
                self._fail(line.place, key, line.failure or "no request of this batch has this custom_id")
            elif (outcome := self._outcome(line, pending[key])) is not None:
                outcomes[key] = outcome
        self.pending.answer(outcomes)
        self.summary.answers += len(outcomes)
        self.summary.unreadable += sum(not good for _, good in outcomes.values())
        for key in outcomes:
            self.failures.pop(key, None)

    def _outcome(self, line: Line, pending: PendingRequest) -> tuple[Reply, bool] | None:
        """The reply to a request, and whether it can be read; None if there is none."""
        request, agreed = pending.request, self.agreed.get(pending.content["engine"]) or Negotiation()
        dialect = self.sent.get(request.engine, agreed.dialect)
        if line.refusal is not None:
            try:
                agreed.learn(dialect, request, line.refusal)
            except EngineRefused as error:
                return self._fail(line.place, pending.key, str(error))
        if line.body is None:
            return self._fail(line.place, pending.key, line.failure)
        try:
            reply = _reply(line.body, self.blot)
        except CallFailed as error:
            return self._fail(line.place, pending.key, str(error))
        if reply.reasoning or reply.reasoning_tokens:
            agreed.reasons()
            if reply.finish == "length" and not dialect.reasons:
                return self._fail(line.place, pending.key, "reasoning took the tokens of the answer; it is given more")
        return replace(reply, sent=agreed.sent(dialect, request)), self._good(request, reply)

    def _good(self, request: Request, reply: Reply) -> bool:
        """Whether the Step can read the reply; of one that is not known here, or a variant of one, whether it says
        anything: the run that asks reads it."""
        step = self.steps.get(request.step)
        if step is None or step.schema != request.schema:
            return bool(reply.text.strip())
        try:
            return Reading(step, request.messages)(reply)
        except ValueError:  # of the output's own checks, where a variant has the same schema
            return False

    def _fail(self, place: str, key: str, why: str) -> None:
        self.failures[key or place] = {"custom_id": key, "failure": why, "in": place}

    def _missing(self) -> None:
        """Note the requests of the round without an answer, including failures of earlier imports."""
        waiting = set(self.pending.keys(self.state.round))
        for line in _failures_before(self._file):
            if line["custom_id"] in waiting:
                self.failures.setdefault(line["custom_id"], line)
        errors = [
            f"{file.name}: {file.status}, {'; '.join(file.errors)}" for file in self.state.of_round() if file.errors
        ]
        why = f"{NO_RESULT} ({'; '.join(errors)})" if errors else NO_RESULT
        for key in sorted(waiting - self.failures.keys()):
            self.failures[key] = {"custom_id": key, "failure": why, "in": ""}

    def _settle(self) -> None:
        """The failures as outcomes of their requests."""
        waiting = set(self.pending.keys(self.state.round))
        failed = [(key, CallFailed(line["failure"])) for key, line in self.failures.items() if key in waiting]
        for some in _chunks(failed):
            self.pending.answer({key: (failure, False) for key, failure in some})
        self.summary.final = True

    @property
    def _file(self) -> Path:
        return self.state.round_folder() / FAILURES

    def _close(self) -> None:
        """Write the failures, and what was learned about the endpoint."""
        for line in self.failures.values():
            why = line["failure"]
            self.summary.failed[why] = self.summary.failed.get(why, 0) + 1
        text = "".join(json.dumps(line) + "\n" for line in self.failures.values())
        if text or self._file.exists():
            write_atomically(self._file, text)
            self.summary.file = self._file
        self.summary.learned = tuple(self._learned())
        self.state.read = self.state.round
        self.state.save()

    def _learned(self) -> Iterator[str]:
        for name, agreed in self.agreed.items():
            if agreed.dialect != self.state.asking[name].dialect:
                self.state.asking[name].dialect = agreed.dialect
                yield name


def lines_of(path: Path, blot: Callable[[str], str] = storable) -> Iterator[Line]:
    """The results of a file, of OpenAI's batch output, its file of errors, or `vllm run-batch`."""
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            if raw.strip():
                yield _line(f"{path.name}, line {number}", raw, blot)


def _line(place: str, raw: bytes, blot: Callable[[str], str]) -> Line:
    try:
        record = json.loads(raw)
    except (ValueError, RecursionError):
        torn = "" if raw.endswith(b"\n") else ": the file is cut off here"
        return Line(place, "", None, f"the line is no JSON{torn}")
    key = record.get("custom_id") if isinstance(record, dict) else None
    if not isinstance(key, str) or not key:
        return Line(place, "", None, "the line has no custom_id")
    key = blot(key)
    response, error = record.get("response"), record.get("error")
    status = response.get("status_code") if isinstance(response, dict) else None
    body = response.get("body") if isinstance(response, dict) else None
    if status == 200 and not error and isinstance(body, dict) and "choices" in body:
        return Line(place, key, body)
    words, param = next((message for message in (_error(error), _error(body)) if message[0]), (_NOTHING, ""))
    whole = blot(words)
    why = f"HTTP {status}: {shortened(whole)}" if isinstance(status, int) and status != 200 else shortened(whole)
    refusal = Refused(why, whole, blot(param)) if status in (400, 422) else None
    return Line(place, key, None, why, refusal)


def _chunks(lines: Iterable[T]) -> Iterator[list[T]]:
    lines = iter(lines)
    while some := list(islice(lines, _SOME)):
        yield some


def _error(error: Any) -> tuple[str, str]:
    """(the words of an error, wherever it has them; the argument that it names)."""
    if not isinstance(error, dict):
        return (error if isinstance(error, str) else ""), ""
    if isinstance(error.get("error"), dict | str):
        return _error(error["error"])
    words = [error[name] for name in ("code", "message") if isinstance(error.get(name), str)]
    return ": ".join(words), str(error.get("param") or "")


def _reply(body: dict[str, Any], blot: Callable[[str], str]) -> Reply:
    """The reply of a result. Raises `CallFailed` if it is not a completion."""
    from openai.types.chat import ChatCompletion

    try:
        completion = ChatCompletion.construct(**body)
    except (TypeError, ValueError, RecursionError) as error:
        raise CallFailed(f"the result is not a chat completion: {shortened(blot(str(error)))}") from None
    return reply_of(completion, 0.0, blot)


def _failures_before(path: Path) -> list[dict[str, str]]:
    """Those of an earlier import of the round, but for requests whose results were missing then."""
    if not path.exists():
        return []
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line["custom_id"] and not line["failure"].startswith(NO_RESULT)]
