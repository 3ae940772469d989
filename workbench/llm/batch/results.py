"""Reads the results of batches into the recording. What is not an answer is kept apart with its reason, and the next
export requests it again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from workbench.display import tqdm
from workbench.errors import DataError, EngineRefused
from workbench.llm.batch.state import Pending, State, held
from workbench.llm.call import CallFailed, Reply, Request
from workbench.llm.endpoint import blot_of, reply_of, shortened
from workbench.llm.negotiation import Negotiation, Refused
from workbench.llm.parse import Reading
from workbench.llm.record import Recording
from workbench.llm.step import Step, known_steps
from workbench.places import write_atomically
from workbench.records import Record
from workbench.text import counted

T = TypeVar("T")

FAILURES = "failures.jsonl"
NO_RESULT = "no result of this request was read"
_NOTHING = "the line has neither an answer nor an error"
_UNKNOWN = "no request of this batch has this custom_id"
_SOME = 500  # results of one transaction


class Unanswered(Exception):
    """A line is no answer. `refusal` is what an endpoint says of a request that it does not take (HTTP 400)."""

    def __init__(self, why: str, refusal: Refused | None = None):
        super().__init__(why)
        self.refusal = refusal


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
        results = state.results(state.round)
        paths = [Path(file) for file in files] or sorted(results.glob("*.jsonl"))
        if not paths and not all(file.fetched for file in state.of_round):
            raise DataError(
                f"round {state.round} of {folder} has no results in {results}; fetch them, or name their files"
            )
        if absent := [path for path in paths if not path.is_file()]:
            raise DataError(f"{absent[0]} does not exist; name files of results in JSON Lines")
        with closing(Recording(state.store)) as store, closing(Pending(state.folder, store)) as pending:
            return _Reading(state, pending, blot_of(api_key=api_key)).of(paths, final, progress)


class _Reading:
    def __init__(self, state: State, pending: Pending, blot: Callable[[str], str]):
        self.state, self.pending, self.blot = state, pending, blot
        self.steps: dict[str, Step] = known_steps()
        self.agreed = {name: asking.negotiation for name, asking in state.asking.items()}
        self.strays: list[tuple[str, str]] = []  # lines that belong to no request, and why
        self.summary = Read(state.round)

    def of(self, paths: Sequence[Path], final: bool, progress: bool) -> Read:
        lines = (line for path in paths for line in _lines_of(path))
        for some in _chunks(tqdm(lines, desc="import", unit="result", disable=not progress)):
            self._take([(place, *_parsed(raw)) for place, raw in some])
        failed = self._failed()
        for some in _chunks(failed if final else ()):
            self.pending.answer({key: (CallFailed(why), False) for key, why in some})
        self.summary.final = final
        self._close(failed)
        return self.summary

    def _take(self, lines: Sequence[tuple[str, str, dict | str]]) -> None:
        """Read some results (place, key, record or what is wrong with the line), in one transaction."""
        keys = {key for _, key, _ in lines if key}
        pending, before = self.pending.find(keys), {row.key for row in self.pending.store.rows(keys)}
        outcomes, failures = dict[str, tuple[Reply, bool]](), dict[str, str]()
        for place, key, record in lines:
            if key in outcomes or (key in before and key not in pending):
                self.summary.repeated += 1
            elif isinstance(record, str) or key not in pending:
                self.strays.append((place, record if isinstance(record, str) else _UNKNOWN))
            else:
                try:
                    outcomes[key] = self._outcome(record, pending[key])
                except (Unanswered, CallFailed, EngineRefused) as error:
                    failures[key] = str(error)
        self.pending.fail(failures)
        self.pending.answer(outcomes)
        self.summary.answers += len(outcomes)
        self.summary.unreadable += sum(not good for _, good in outcomes.values())

    def _outcome(self, record: dict[str, Any], request: Request) -> tuple[Reply, bool]:
        """The reply to a request, and whether it can be read. Raises `Unanswered`, `CallFailed` or `EngineRefused` if
        there is none."""
        agreed = self.agreed.get(request.engine) or Negotiation()
        asking = self.state.asking.get(request.engine)
        dialect = asking.dialect if asking else agreed.dialect
        try:
            body = _body_of(record, self.blot)
        except Unanswered as error:
            if error.refusal is not None:
                agreed.learn(dialect, request, error.refusal)
            raise
        reply = _reply(body, self.blot)
        if reply.reasoning or reply.reasoning_tokens:
            agreed.reasons()
            if reply.finish == "length" and not dialect.reasons:
                raise Unanswered("reasoning took the tokens of the answer; it is given more")
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

    def _failed(self) -> list[tuple[str, str]]:
        """Key and reason of each request of the round without an answer, those of earlier imports among them."""
        refused = [file for file in self.state.of_round if file.errors]
        errors = "; ".join(f"{file.name}: {file.status}, {'; '.join(file.errors)}" for file in refused)
        missing = f"{NO_RESULT} ({errors})" if errors else NO_RESULT
        return [(key, why or missing) for key, why in self.pending.failed(self.state.round)]

    def _close(self, failed: Sequence[tuple[str, str]]) -> None:
        """Write the failures, and what was learned about the endpoint."""
        summary, file = self.summary, self.state.round_folder(self.state.round) / FAILURES
        summary.failed = dict(Counter(why for _, why in (*failed, *self.strays)))
        lines = [{"custom_id": key, "failure": why} for key, why in failed]
        lines += [{"custom_id": "", "failure": why, "in": place} for place, why in self.strays]
        if lines or file.exists():
            write_atomically(file, "".join(json.dumps(line) + "\n" for line in lines))
            summary.file = file
        learned = [name for name, agreed in self.agreed.items() if agreed.dialect != self.state.asking[name].dialect]
        for name in learned:
            self.state.asking[name].dialect = self.agreed[name].dialect
        summary.learned = tuple(learned)
        self.state.read = self.state.round
        self.state.save()


def _lines_of(path: Path) -> Iterator[tuple[str, bytes]]:
    """The lines of a file of results, of OpenAI's batch output, its file of errors, or `vllm run-batch`, with their
    places."""
    with path.open("rb") as file:
        yield from ((f"{path.name}, line {number}", raw) for number, raw in enumerate(file, 1) if raw.strip())


def _parsed(raw: bytes) -> tuple[str, dict[str, Any] | str]:
    """(key, record) of a line; without a key, what is wrong with it."""
    try:
        record = json.loads(raw)
    except (ValueError, RecursionError):
        return "", "the line is no JSON" + ("" if raw.endswith(b"\n") else ": the file is cut off here")
    key = record.get("custom_id") if isinstance(record, dict) else None
    return (key, record) if isinstance(key, str) and key else ("", "the line has no custom_id")


def _body_of(record: dict[str, Any], blot: Callable[[str], str]) -> dict[str, Any]:
    """The chat completion of a result."""
    response, error = record.get("response"), record.get("error")
    response = response if isinstance(response, dict) else {}
    status, body = response.get("status_code"), response.get("body")
    if status == 200 and not error and isinstance(body, dict) and "choices" in body:
        return body
    words, param = next((pair for pair in (_error(error), _error(body)) if pair[0]), (_NOTHING, ""))
    whole = blot(words)
    why = f"HTTP {status}: {shortened(whole)}" if isinstance(status, int) and status != 200 else shortened(whole)
    raise Unanswered(why, Refused(why, whole, blot(param)) if status in (400, 422) else None)


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
