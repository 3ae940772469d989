"""The exit code of every verb: 0, 1 for an error or a result that is none, 2 for usage, 75 for a batch, 130 and 143 for
a signal (docs/engines.md). What a bad model makes of them is in `tests/llm/test_bad_model.py`, batches are in
`tests/llm/test_batch_rounds.py`, signals in `tests/test_stopping.py`."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from workbench.cli.app import app
from workbench.cli.shell import Output, verb
from workbench.errors import DataError, Deferred, EngineUnavailable

ROOT = Path(__file__).parents[1]


def commands() -> dict[str, typer.core.TyperCommand]:
    """Words → command, of all verbs."""
    whole = typer.main.get_command(app).commands
    groups = {name: one for name, one in whole.items() if hasattr(one, "commands")}
    plain = {name: one for name, one in whole.items() if name not in groups}
    return plain | {f"{name} {verb}": one for name, group in groups.items() for verb, one in group.commands.items()}


VERBS = commands()
EXITS_WITH_1 = {name for name, one in VERBS.items() if "code=" in inspect.getsource(inspect.unwrap(one.callback))}


def nothing(command, folder: Path) -> list[str]:
    """What a verb must be given, of which nothing exists."""
    words = []
    for one in command.params:
        if one.required:
            value = str(folder / "nothing")
            words += [value] if one.param_type_name == "argument" else [one.opts[0], value]
    return words


def test_an_option_that_does_not_exist(workbench):
    for name in VERBS.keys() - {"lab"}:  # which hands its words on to JupyterLab
        workbench(*name.split(), "--no-such-option", code=2)


def test_what_is_not_there(workbench, tmp_path, monkeypatch):
    """`world` writes what it is given."""
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    for name in VERBS.keys() - {"world"}:
        if words := nothing(VERBS[name], tmp_path):
            assert "Traceback" not in workbench(*name.split(), *words, code=1).output, name


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        (DataError("no"), 1),
        (EngineUnavailable("no"), 1),
        (OSError("the disk is full"), 1),
        (Deferred(3), 75),
        (KeyboardInterrupt(), 130),
        (Output({}, []), 0),
        (Output({}, [], code=1), 1),
        (None, 0),
    ],
    ids=repr,
)
def test_how_a_verb_ends(ending, code):
    app = typer.Typer()

    @verb(of=app)
    def some() -> Output | None:
        if isinstance(ending, BaseException):
            raise ending
        return ending

    assert CliRunner().invoke(app, []).exit_code == code


def test_the_document_says_every_code_and_which_verbs_end_with_1_after_their_work():
    section = (ROOT / "docs" / "engines.md").read_text(encoding="utf-8").partition("## Exit codes")[2]
    rows = [line.split("|")[1:-1] for line in section.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    assert {number for row in rows[1:] for number in re.findall(r"\d+", row[0])} == {"0", "1", "2", "75", "130", "143"}
    assert {verb for row in rows for verb in re.findall(r"`([a-z-]+)`", row[1])} == EXITS_WITH_1
