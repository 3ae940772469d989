"""Replies that nobody asked for, to every Step of the catalogue.

Each is made of the valid reply of a trial's question (`tests/trial_questions.py`), or of nothing, and goes the way
of a server's answer: reasoning is cut off, the rest parsed, the outcome metered, recorded, traced and displayed. It
has to become an output of its Step that files can hold, or a counted failure, within a second of process time; and its
recording has to give the same outcome again."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from reply_texts import MARKUP, texts
from stopwatch import spent
from tally import Tally
from trial_questions import Question
from trials import checks_of, question_of_each_step

from workbench import tokens
from workbench.llm.call import Reply, Request
from workbench.llm.chat import ChatEngine
from workbench.llm.endpoint import reply_of
from workbench.llm.engine import engine
from workbench.llm.parse import LEVELS
from workbench.llm.record import Recording
from workbench.llm.step import Result, Step
from workbench.steps import catalogue
from workbench.text import storable
from workbench.trace import Trace

WHOLE = 10_000
SECONDS = 1.0  # of process time, for the longest way of one reply
_ENGINE = "openai:gpt-4o-mini"  # of which the price is known
_CHUNK = 100  # replies of a trace, and of a recording
_FINISHES = ("stop", "stop", "stop", "length", "content_filter", "tool_calls", "\ud800", None, 7)


def attack(count: int, seed: int, folder: Path) -> Tally:
    """`count` replies, shared out among the Steps."""
    rng, tally = random.Random(seed), Tally("replies")
    asked = list(_replies(count, rng))
    _Part(asked[:1], rng, folder / "first").tried()  # what is loaded once is no reply's time
    tokens.count("")
    for number, start in enumerate(range(0, count, _CHUNK)):
        part = asked[start : start + _CHUNK]
        tally += _Part(part, rng, folder / f"{number:03d}").tried()
    return tally


def _replies(count: int, rng: random.Random) -> Iterator[tuple[Step, Question, str]]:
    questions = question_of_each_step()
    made = {
        name: texts(one.reply, rng.choice(list(questions.values())).reply, count, rng)
        for name, one in questions.items()
    }
    names = list(questions)
    for number in range(count):
        name = names[number % len(names)]
        yield catalogue()[name], questions[name], next(made[name])


class _Part:
    """Some replies, with a recording and a trace."""

    def __init__(self, replies: Sequence[tuple[Step, Question, str]], rng: random.Random, folder: Path):
        self.replies, self.rng, self.folder, self.tally = replies, rng, folder, Tally("replies")
        self.store, self.trace = Recording(folder / "replies.sqlite"), Trace()
        self.store._connection.execute("PRAGMA synchronous = OFF")  # thousands of replies; power is not cut here
        self.text, self.calls = "", 0
        self.engine = ChatEngine(_ENGINE, self._answer, store=self.store, concurrency=1)

    def _answer(self, request: Request) -> Reply:
        """What a client makes of a server's answer."""
        self.calls += 1
        message = SimpleNamespace(content=self.text, reasoning_content=self.rng.choice([None, None, self.text[:100]]))
        choice = SimpleNamespace(message=message, finish_reason=self.rng.choice(_FINISHES))
        return reply_of(SimpleNamespace(choices=[choice]), 0.0, storable)

    def tried(self) -> Tally:
        before = [self._try(number, *one) for number, one in enumerate(self.replies)]
        self._files(before)
        self.store.close()
        return self.tally

    def _try(self, number: int, step: Step, question: Question, text: str) -> Result | None:
        self.text, self.engine.seed = text, number  # a request of its own, which no other reply answers
        calls, failed, asked = self.engine.meter.total.calls, self.engine.meter.total.failed, self.calls
        try:
            with spent() as taken:
                (result,) = self.engine.run(step, [question.input], trace=self.trace)
                shown = result._repr_html_()
                repr(result)
            used = self.engine.meter.total
            counted = used.calls - calls == self.calls - asked and (used.failed > failed or result.value is not None)
            wrong = (
                _wrong(step, question, result)
                or ("" if counted else "it is not counted")
                or ("its markup is not escaped" if MARKUP in shown else "")
                or (f"it took {taken.seconds:.1f} s" if taken.seconds > SECONDS else "")
            )
        except Exception as error:
            result, wrong = None, f"{type(error).__name__}: {error}"[:300]
        self.tally.judged(step.name, wrong and f"{wrong}; the reply {_brief(text)}")
        return result

    def _files(self, results: Sequence[Result | None]) -> None:
        """Trace and recording, read back."""
        try:
            path = self.trace.save(self.folder / "trace.jsonl")
            if Trace.open(path) != self.trace:
                raise AssertionError("the trace reads otherwise than it was")
            if MARKUP in self.trace._repr_html_():
                raise AssertionError("the trace shows markup that is not escaped")
            self.trace.frame().to_json()
        except Exception as error:
            self.tally.failed("lost", f"a trace: {type(error).__name__}: {error}"[:300])
        replay = engine(f"replay:{self.store.path}")
        for number, ((step, question, text), result) in enumerate(zip(self.replies, results)):
            replay.seed = number
            if result is None:
                continue
            (again,) = replay.run(step, [question.input])
            if (again.value, again.failure, again.text) != (result.value, result.failure, result.text):
                self.tally.failed("lost", f"{step.name}: the recording gives {again!r}; the reply {_brief(text)}"[:600])


def _wrong(step: Step, question: Question, result: Result) -> str:
    """What a result has that no outcome of a Step may have; empty if nothing."""
    if (result.value is None) == (result.failure is None):
        return "it is neither an output nor a failure"
    if result.value is None:
        json.dumps(result.failure, ensure_ascii=False).encode()
        return ""
    if not isinstance(result.value, step.output) or result.parse not in LEVELS:
        return f"it became {result.value!r}, read as {result.parse!r}"
    said = result.value.model_dump()
    json.dumps(said, ensure_ascii=False, allow_nan=False).encode()
    return _unbounded(said) or _checked(question, result.value)


def _unbounded(said: Any) -> str:
    """A number that is none, or that no array holds."""
    if isinstance(said, dict | list | tuple):
        inner = [*said.keys(), *said.values()] if isinstance(said, dict) else said
        return next(filter(None, map(_unbounded, inner)), "")
    if isinstance(said, float) and not math.isfinite(said):
        return f"it holds {said}"
    if isinstance(said, int) and not -(2**63) <= said < 2**63:
        return "it holds a whole number of more than 64 bits"
    return ""


def _checked(question: Question, value: Any) -> str:
    """Of Steps that bring a reply within what was asked: that they can, and how many they give."""
    for check in checks_of(catalogue()[question.step]):
        check(question.input, value)
    return ""


def _brief(text: str) -> str:
    return f"of {len(text):,} characters {text[:200]!r}"
