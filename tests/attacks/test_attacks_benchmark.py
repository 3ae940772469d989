"""The script that makes all attacks finds them from any folder, and prints a line for each kind."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # a process that imports everything

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "attacks.py"


def test_it_runs_from_any_folder(tmp_path):
    """`servers` shares its server with the tests of engines, whose folder the script has to know as well."""
    asked = [sys.executable, SCRIPT, "weights", "servers", "--scale", "0.02", "--seed", "3"]
    done = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    seed, heading, *rows = (line.split() for line in done.stdout.splitlines() if line)
    assert seed == ["seed", "3"]
    assert heading[:5] == ["attack", "tried", "lost", "crashed", "leaked"]
    assert [row[0] for row in rows] == ["weights", "servers"]
    assert all(int(row[1]) > 0 and row[2:5] == ["0", "0", "0"] for row in rows)
