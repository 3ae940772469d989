"""What importing the package loads: heavy libraries wait until something needs them."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("spacy", "torch", "transformers", "matplotlib", "ipywidgets", "scipy.stats", "bpe_openai")
CODE = """
import sys
import workbench as wb
at_once = len(sys.modules)
assert "workbench.methods" not in sys.modules and "pandas" not in sys.modules
for name in wb.__all__:
    assert getattr(wb, name) is not None and name in dir(wb)
wb.methods.METHODS, wb.experiments.identity, wb.records.Question
try:
    wb.no_such_name
except AttributeError as error:
    assert "no_such_name" in str(error)
else:
    raise AssertionError("a name that nobody defines")
print(at_once, *[name for name in sys.argv[1:] if name in sys.modules])
"""


def test_the_package_and_all_public_names_leave_heavy_libraries_out():
    done = subprocess.run([sys.executable, "-c", CODE, *HEAVY], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    at_once, *loaded = done.stdout.split()
    assert loaded == [] and int(at_once) < 100
