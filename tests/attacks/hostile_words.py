"""Hostile words on the command line: each verb with each text of `hostile_texts` wherever it takes one."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from functools import partial
from pathlib import Path
from typing import Any

import click
import typer
from hostile_files import Attempt
from hostile_texts import TEXTS, harm_of_lines
from typer.testing import CliRunner, Result

from workbench.cli.app import app
from workbench.errors import WorkbenchError

# Verbs that serve, train or execute for minutes whatever they are given.
APART = {"lab", "run", "train", "doctor"}
# Verbs that change an index or a folder of their own, and are tried by themselves.
CHANGING = {"index", "insert", "delete", "batch", "train"}
_WITHOUT = {"NUL", "surrogate"}  # texts that no program is called with


def every_attempt() -> list[Attempt]:
    return [
        Attempt(f"workbench {' '.join(verb)}: {how}", partial(_call, verb, command, text))
        for verb, command in _verbs(typer.main.get_command(app))
        for how, text in TEXTS.items()
        if how not in _WITHOUT and command.params
    ]


def _verbs(group: click.Group, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, command in group.commands.items():
        if name in APART:
            continue
        if hasattr(command, "commands"):
            yield from _verbs(command, (*above, name))
        else:
            yield (*above, name), command


def _is_argument(one: click.Parameter) -> bool:
    return one.param_type_name == "argument"


def _call(verb: tuple[str, ...], command: click.Command, text: str, folder: Path) -> list[str]:
    """The verb with the text for all that it needs, and for one option more."""
    needed = [one for one in command.params if one.required]
    others = [one for one in command.params if not _is_argument(one) and not one.required and not one.is_flag]
    more = random.Random(f"{verb} {text}").sample(others, min(1, len(others)))
    words = [word for one in (*needed, *more) if not _is_argument(one) for word in (one.opts[0], text)]
    words += ["--", *(text for one in needed if _is_argument(one))]
    with chdir(folder):
        found = called(verb, words, folder / "home")
    return [*harm_of_lines(found.output.replace("\r", "")), *crash_of(found)]  # which progress has


def verbs_over(given: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """The verbs that need nothing but what is `given`, by the names of their parameters, with these words."""
    for verb, command in _verbs(typer.main.get_command(app)):
        needed = [one for one in command.params if one.required]
        if not needed or verb[0] in CHANGING or any(one.name not in given for one in needed):
            continue
        options = [one for one in command.params if not _is_argument(one) and (one.required or one.name == "to")]
        values = {**given, "to": given["to"] / verb[0]}
        words = [word for one in options for word in (one.opts[0], str(values[one.name]))]
        yield verb, [*words, "--", *(str(given[one.name]) for one in needed if _is_argument(one))]


def called(verb: Sequence[str], words: Sequence[str], home: Path) -> Result:
    return CliRunner().invoke(app, [*verb, *words], env={"WORKBENCH_HOME": str(home)})


def crash_of(found: Result) -> list[str]:
    if found.exception is None or isinstance(found.exception, SystemExit | WorkbenchError):
        return []
    return [f"crashed: {type(found.exception).__name__}: {found.exception}"[:500]]
