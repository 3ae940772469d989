"""Ctrl-C and SIGTERM end a command at once, whatever it makes of the interrupt."""

import os
import signal
import subprocess
import sys
import textwrap
import time
import tomllib
from pathlib import Path

import pytest

from workbench.cli.stopping import SAID

ROOT = Path(__file__).parents[1]
BEGIN = """
    import ctypes, sys, threading, time
    from contextlib import suppress
    from workbench.cli import stopping

    with stopping.stoppable():
        print("begun", flush=True)
"""
WORK = {
    "waits": "time.sleep(30)",
    "makes another error of it": """
        try:
            time.sleep(30)
        except KeyboardInterrupt:
            raise ValueError("another") from None
    """,
    "swallows it": """
        stopping.GRACE = 0.1
        while True:
            with suppress(KeyboardInterrupt):
                time.sleep(30)
    """,
    "destroys something meanwhile": """
        stopping.GRACE = 0.1

        class Held:
            def __del__(self):
                time.sleep(30)

        Held()
        time.sleep(30)
    """,
    "leaves a thread that waits": """
        stopping.GRACE = 0.1
        threading.Thread(target=time.sleep, args=(30,)).start()
        time.sleep(30)
    """,
    "computes in C": """
        stopping.GRACE = 0.1
        while True:
            ctypes.CDLL(None).usleep(500_000)
    """,
}


def begun(work: str) -> subprocess.Popen:
    script = textwrap.dedent(BEGIN) + textwrap.indent(textwrap.dedent(work), "    ")
    process = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)  # fmt: skip
    assert process.stdout.readline() == "begun\n"
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
@pytest.mark.parametrize("work", WORK)
def test_a_command_ends_and_says_what_goes_on(work, number):
    process = begun(WORK[work])
    process.send_signal(number)
    said = process.communicate(timeout=20)[1]
    assert process.returncode == 128 + number
    assert said.strip() == SAID


def test_a_second_signal_does_not_wait():
    process = begun(WORK["swallows it"].replace("0.1", "60"))
    process.send_signal(signal.SIGINT)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=20)[1].strip() == SAID and process.returncode == 130


@pytest.mark.parametrize(("work", "code"), [("pass", 0), ("sys.exit(3)", 3), ("raise ValueError('wrong')", 1)])
def test_what_nobody_stops_ends_as_it_does(work, code):
    process = begun(work)
    said = process.communicate(timeout=20)[1]
    assert process.returncode == code and SAID not in said


def program() -> list[str]:
    """What pip installs as `workbench`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, name = project["scripts"]["workbench"].partition(":")
    return ["-c", f"import sys; from {module} import {name}; sys.exit({name}())"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
@pytest.mark.parametrize("words", [program(), ["-m", "workbench"]], ids=["installed", "module"])
def test_the_program_ends_so_while_it_is_loaded(tmp_path, words, number):
    (tmp_path / "typer.py").write_text("import time\nprint('begun', flush=True)\ntime.sleep(30)\n")
    process = subprocess.Popen([sys.executable, *words, "methods"], cwd=ROOT, text=True,
                               env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    assert process.stdout.readline() == "begun\n"
    process.send_signal(number)
    assert process.communicate(timeout=20)[1].strip() == SAID and process.returncode == 128 + number
