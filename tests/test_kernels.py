"""`workbench run`, stopped: it leaves no kernel, and no notebook that passes for executed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import psutil

from workbench.cli.stopping import SAID

ROOT = Path(__file__).parents[1]
CELLS = ("import os, time", "open('kernel', 'w').write(str(os.getpid()))\ntime.sleep(30)")


def gone(process: int) -> bool:
    for _ in range(100):  # 5 seconds
        if not psutil.pid_exists(process):
            return True
        time.sleep(0.05)
    return False


def test_stopped_in_a_cell(tmp_path):
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
