"""Checks that a configuration fits the windows of its models before anything is paid."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from typing import Any, get_type_hints

from workbench import tokens
from workbench.errors import SettingError
from workbench.llm.engine import Engine
from workbench.llm.window import OWN_TOKENS
from workbench.methods import Method
from workbench.reading.base import Reader
from workbench.steps import catalogue, judge

_LEAST = 16  # tokens of an answer
_USEFUL = 64  # tokens of a context, below which there is nothing to read


def fits(methods: Mapping[str, Method], reader: Reader | None, judging: Engine | None) -> list[str]:
    """What a known window will shorten, in words. Raises :class:`SettingError`, with all of them, for methods, readers
    and judges that cannot be asked at all. Engines whose window is unknown are not looked at."""
    steps = [(name, engine, method.steps) for name, method in methods.items() for engine in method.engines]
    steps += [(reader.label, reader.engine, reader.steps)] if reader else []
    steps += [("the judge", judging, (judge.STEP.name,))] if judging else []
    unfit = [message for name, engine, prompt in steps for message in _too_long(name, engine, prompt)]
    notes = []
    if reader is not None and (room := getattr(reader, "room", lambda question: None)("")) is not None:
        window = f"the window of {reader.engine.name} ({reader.engine.window:,} tokens)"
        if room < _USEFUL:
            unfit.append(f"{window} leaves {room:,} for a context beside the prompt of {reader.label} and its answer")
        elif longest := _longest(reader, methods, room):
            notes.append(f"contexts for {reader.label} are cut to the {room:,} tokens that {window} leaves: {longest}")
    if unfit:
        raise SettingError(
            f"this does not fit: {'; '.join(dict.fromkeys(unfit))}. Start the model with a longer window "
            "(local:…[context=…]), choose another, or leave these out; [window=…] corrects what a server says"
        )
    return notes


def check(methods: Mapping[str, Method], reader: Reader | None, judging: Engine | None) -> None:
    """As `fits`, with a warning about what is shortened."""
    for note in fits(methods, reader, judging):
        warnings.warn(note, stacklevel=3)


def _too_long(name: str, engine: Engine, steps: tuple[str, ...]) -> Iterator[str]:
    """Steps whose prompt alone, with nothing to ask about, fills the window."""
    window, known_steps = getattr(engine, "window", None), catalogue()
    for step in steps if window is not None else ():
        if step in known_steps:
            messages = known_steps[step].messages(_empty(known_steps[step].input))
            needed = int(sum(tokens.count(message["content"]) for message in messages) * OWN_TOKENS)
            if needed + _LEAST > window:
                yield f"{name} asks {step}, whose prompt takes {needed:,} tokens, of {window:,} of {engine.name}"


def _empty(kind: Any) -> Any:
    """A value of this type with as little in it as can be."""
    if is_dataclass(kind):
        return kind(**{name: _empty(of) for name, of in get_type_hints(kind).items()})
    return {str: "", bool: False, int: 1, float: 1.0}.get(kind, ())


def _longest(reader: Reader, methods: Mapping[str, Method], room: int) -> str:
    """Whose contexts may be longer than the room, in words."""
    inner = getattr(reader, "reader", reader)  # of a reader with shortened answers
    own = {
        "the reader": getattr(inner, "settings", None),
        **{name: method.settings for name, method in methods.items()},
    }
    budgets = {name: max(_budgets(settings), default=None) for name, settings in own.items()}
    over = [f"{name} lays out up to {budget:,}" for name, budget in budgets.items() if budget and budget > room]
    return ", ".join(over) or ("long passages" if budgets["the reader"] is None else "")


def _budgets(settings: Any) -> list[int]:
    """Tokens of a whole context, as readers and methods call them."""
    given = (getattr(settings, name, None) for name in ("budget", "tokens", "total_tokens"))
    return [budget for budget in given if budget is not None]
