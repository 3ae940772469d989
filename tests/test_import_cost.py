"""What importing the package, and what a verb, loads: heavy libraries wait until something needs them."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tiny import TinyEncoder, tiny_dataset

from workbench.index import Index

HEAVY = ("spacy", "torch", "transformers", "matplotlib", "ipywidgets", "scipy.stats", "bpe_openai")
MODELS = ("torch", "transformers", "sentence_transformers", "spacy", "thinc", "sklearn", "openai")
FRAMES = ("pandas", "scipy", "matplotlib", "ipywidgets", "networkx", "numba", "bm25s", "bpe_openai", "IPython")
ARRAYS = ("numpy", "pyarrow", "workbench.index", "workbench.methods.base", "workbench.evaluation")
CODE = """
import sys
import workbench as wb
at_once = len(sys.modules)
assert "workbench.methods" not in sys.modules and "pandas" not in sys.modules
for name in wb.__all__:
    assert getattr(wb, name) is not None and name in dir(wb)
wb.methods.METHODS, wb.evaluation.identity, wb.records.Question
try:
    wb.no_such_name
except AttributeError as error:
    assert "no_such_name" in str(error)
else:
    raise AssertionError("a name that nobody defines")
print(at_once, *[name for name in sys.argv[1:] if name in sys.modules])
"""
VERB = """
import sys
from workbench.cli.app import app
heavy, words = sys.argv[1].split(","), sys.argv[2:]
try:
    app(words)
except SystemExit as end:
    assert not end.code, end.code
print("LOADED", *[name for name in heavy if name in sys.modules])
"""


def loaded(code: str, *words: str) -> list[str]:
    """What the last line says that a new process prints."""
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1].split()


def test_the_package_and_all_public_names_leave_heavy_libraries_out():
    at_once, *found = loaded(CODE, *HEAVY)
    assert found == [] and int(at_once) < 100


@pytest.mark.parametrize("words", [["--help"], ["methods"], ["ask", "--help"]])
def test_what_only_lists_loads_neither_arrays_nor_models(words):
    assert loaded(VERB, ",".join((*MODELS, *FRAMES, *ARRAYS)), *words) == ["LOADED"]


def test_bm25_over_an_index_loads_no_models_and_no_data_frames(tmp_path):
    index = Index.build(tiny_dataset(), None, tmp_path / "index", encoder=TinyEncoder(), progress=False)
    words = ["ask", str(index.folder), "Which lake does the river flow into?", "-m", "bm25", "-r", "none"]
    assert loaded(VERB, ",".join(MODELS), *words) == ["LOADED"]
    assert loaded(VERB, ",".join((*MODELS, *FRAMES)), *words) == ["LOADED"]  # by then the scores are kept


def test_the_packaged_encoder_and_token_counts_need_no_library_around_them():
    code = "import sys; import workbench as wb; wb.encoder().encode(['fog']); wb.tokens.count('fog')"
    code += "; print('LOADED', *[name for name in sys.argv[1:] if name in sys.modules])"
    assert loaded(code, "transformers", "sentence_transformers", "sklearn", "bpe_openai", "pandas") == ["LOADED"]
