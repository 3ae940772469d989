"""The reflection loop: a first answer, then rounds that either give the answer or say what to search for next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from workbench.llm.engine import Engine
from workbench.methods.iterative import normal
from workbench.methods.youtu.events import Initial, Round
from workbench.steps import answer as answering
from workbench.steps import reflect
from workbench.text import storable
from workbench.trace import Trace


class Knowledge(NamedTuple):
    """The evidence so far as a Step sees it: one text, and its passages as (title, text) for the rules."""

    text: str
    passages: tuple[tuple[str, str], ...]


class Reflection:
    """One question's loop over an engine. `released`: a round sees the last query instead of the question and not what
    was searched; only a reply that is the last query ends the loop, spelled as it is."""

    def __init__(self, engine: Engine, question: str, searched: Sequence[str], released: bool, trace: Trace):
        self.engine, self.trace, self.released = engine, trace, released
        self.question = self.query = storable(question)
        self.searched, self.thoughts, self.notes = [storable(query) for query in searched], [], []

    def run(self, steps: int, knowledge: Callable[[], Knowledge], search: Callable[[str, str], None]) -> None:
        """At most so many rounds. `search(query, origin)` adds to the knowledge."""
        self.answer(knowledge())
        for number in range(1, steps + 1):
            with Round.open(self.trace, round=number) as write:
                thought = self.think(number, knowledge(), last=number == steps)
                if thought.stopped in ("", LAST):
                    search(thought.query, f"round {number}")
                write(thought)
            if thought.stopped:
                return

    def answer(self, known: Knowledge) -> None:
        """The first thought: an answer from the evidence of the decomposition."""
        with Initial.open(self.trace) as write:
            value = answering.Input(self.question, known.text, known.passages)
            (result,) = self.engine.run(answering.STEP, [value], trace=self.trace)
            text = result.value.answer or result.value.thought if result.value else ""
            write(answer=text, failure=result.failure or None)
        if result.failure:
            self.notes.append(f"the initial answer failed: {result.failure}")
        self.thoughts += [text] if text else []

    def think(self, number: int, known: Knowledge, last: bool) -> Round:
        """One request, and what its reply decides."""
        asked = self.query if self.released else self.question
        searched = () if self.released else tuple(self.searched)
        value = reflect.Input(asked, self.query, known.text, known.passages, tuple(self.thoughts), searched, number)
        (result,) = self.engine.run(reflect.STEP, [value], trace=self.trace)
        if result.failure:
            self.notes.append(f"round {number} of the reflection failed: {result.failure}")
            return Round(number, stopped=FAILED, failure=result.failure)
        reply = result.value.reply
        self.thoughts.append(reply)
        read = reflect.reading(reply, released=self.released)
        if not (read.done or read.marked):
            self.notes.append(f"the reply of round {number} has no marker, and is the query itself")
        stopped = self._stopped(read, last)
        if stopped in ("", LAST):
            self.query = storable(read.query)
            self.searched.append(self.query)
        return Round(number, reply, read.answer, read.query, read.marked, stopped)

    def _stopped(self, read: reflect.Reflection, last: bool) -> str:
        if read.done:
            return ANSWERED
        if not read.query:
            return EMPTY
        if self.released:
            repeated = read.query == self.query
        else:
            repeated = normal(read.query) in map(normal, (self.query, *self.searched))
        return REPEATED if repeated else LAST if last else ""


ANSWERED, EMPTY, REPEATED, FAILED, LAST = "answered", "empty", "repeated", "failed", "last round"
