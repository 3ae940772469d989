"""Ctrl-C and SIGTERM end a command at once, whatever it makes of the interrupt."""

import os
import signal
import subprocess
import sys
import textwrap
import time
import tomllib
from pathlib import Path

import nbformat
import psutil
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


@pytest.mark.parametrize(
    ("work", "number"), [*((work, signal.SIGINT) for work in WORK), ("waits", signal.SIGTERM)], ids=str
)
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


@pytest.mark.parametrize(("work", "code"), [("sys.exit(3)", 3), ("raise ValueError('wrong')", 1)])
def test_what_nobody_stops_ends_as_it_does(work, code):
    process = begun(work)
    said = process.communicate(timeout=20)[1]
    assert process.returncode == code and SAID not in said


def program() -> list[str]:
    """What pip installs as `workbench`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, name = project["scripts"]["workbench"].partition(":")
    return ["-c", f"import sys; from {module} import {name}; sys.exit({name}())"]


@pytest.mark.parametrize(
    ("words", "number"),
    [(program(), signal.SIGINT), (["-m", "workbench"], signal.SIGTERM)],
    ids=["installed", "module"],
)
def test_the_program_ends_so_while_it_is_loaded(tmp_path, words, number):
    (tmp_path / "typer.py").write_text("import time\nprint('begun', flush=True)\ntime.sleep(30)\n")
    process = subprocess.Popen([sys.executable, *words, "methods"], cwd=ROOT, text=True,
                               env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    assert process.stdout.readline() == "begun\n"
    process.send_signal(number)
    assert process.communicate(timeout=20)[1].strip() == SAID and process.returncode == 128 + number


CELLS = ("import os, time", "open('kernel', 'w').write(str(os.getpid()))\ntime.sleep(30)")


def gone(process: int) -> bool:
    for _ in range(100):  # 5 seconds
        if not psutil.pid_exists(process):
            return True
        time.sleep(0.05)
    return False


def test_a_run_of_notebooks_that_is_stopped_in_a_cell_leaves_no_kernel(tmp_path):
    """And no notebook that passes for executed."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in CELLS])
    (tmp_path / "notebooks").mkdir()
    nbformat.write(notebook, tmp_path / "notebooks" / "01.ipynb")
    words = ["run", "--notebooks", "notebooks", "-o", "executed"]
    with (tmp_path / "said").open("w") as said:
        process = subprocess.Popen([sys.executable, "-m", "workbench", *words], cwd=tmp_path, stderr=said,
                                   env={**os.environ, "PYTHONPATH": str(ROOT)})  # fmt: skip
    kernel = tmp_path / "kernel"
    while not (kernel.exists() and kernel.read_text()):
        assert process.poll() is None, (tmp_path / "said").read_text()
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=20) == 128 + signal.SIGTERM
    assert gone(int(kernel.read_text()))
    told = (tmp_path / "said").read_text()
    assert SAID in told and "Traceback" not in told
    assert not list((tmp_path / "executed").iterdir())
