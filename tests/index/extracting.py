"""A model that extracts: what layers of entities and relations are built with in tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from workbench.llm.call import Reply
from workbench.llm.meter import Meter
from workbench.llm.parse import parse
from workbench.llm.step import Result
from workbench.steps import summarising


class Extractor:
    """Replies to a passage or chunk by `reply`, or as `says` has it of those that hold some words; what it says goes
    through the parser. It fuses descriptions into "3 of NAME", fails at names of `fails_on`, and breaks off at a call.
    `calls` are the inputs of each call."""

    name = "openai:one"

    def __init__(
        self,
        reply: Callable[[Any], str],
        says: dict[str, str] | None = None,
        fails_on: Sequence[str] = (),
        fail_at: int | None = None,
    ):
        self.reply, self.says, self.fails_on, self.fail_at = reply, says or {}, fails_on, fail_at
        self.meter, self.calls = Meter(), list[list]()

    @property
    def asked(self) -> list:
        """Inputs in the order in which they were first asked about."""
        inputs = [value for call in self.calls for value in call if not isinstance(value, summarising.Fragments)]
        return [value for value in inputs if not value.found]

    @property
    def fused(self) -> list[summarising.Fragments]:
        return [value for call in self.calls for value in call if isinstance(value, summarising.Fragments)]

    def run(self, step, inputs, *, trace=None) -> list[Result]:
        if len(self.calls) == self.fail_at:
            raise KeyboardInterrupt("injected")
        self.calls.append(list(inputs))
        return [self._result(step, value) for value in inputs]

    def _result(self, step, value) -> Result:
        if isinstance(value, summarising.Fragments):
            if value.name in self.fails_on:
                return Result(None, failure="told to fail")
            return Result(step.output(description=f"{len(value.fragments)} of {value.name}"), parse="text")
        held = f"{value.title}\n{value.text}"
        text = next((said for words, said in self.says.items() if words in held), None)
        try:
            output, level = parse(step, Reply(self.reply(value) if text is None else text, finish="stop"))
        except ValueError as error:
            return Result(None, failure=str(error))
        return Result(output, parse=level)
