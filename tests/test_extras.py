"""Packages that only some features need: where one is missing, the message says which feature needs it and the command
that installs it, and everything else works."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest

import workbench as wb
from workbench import errors, notebooks
from workbench.cli import doctor
from workbench.errors import ClusterFault, EngineRefused, IndexFault
from workbench.index.building import versions

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OPTIONAL = PROJECT["optional-dependencies"]


@pytest.fixture
def without(monkeypatch):
    """Takes packages away, as if they were not installed."""

    def take_away(*names: str) -> None:
        for name in names:
            for module in errors.EXTRAS[name].packages.values():
                monkeypatch.setitem(sys.modules, module, None)
        versions.cache_clear()

    yield take_away
    versions.cache_clear()


def names(requirements) -> list[str]:
    return [re.split(r"[\[><=~! ]", one)[0] for one in requirements]


def test_the_table_of_extras_is_that_of_the_project():
    ours = {name: found for name, found in OPTIONAL.items() if name not in ("all", "dev", "docs")}
    assert ours.keys() == errors.EXTRAS.keys()
    for name, extra in errors.EXTRAS.items():
        assert list(extra.packages) == names(ours[name])
        assert not set(extra.packages) & set(names(PROJECT["dependencies"]))
    assert OPTIONAL["all"] == [f"hopscope[{','.join(sorted(ours))}]"]
    assert OPTIONAL["dev"][0] == "hopscope[all,docs]"


def test_no_package_of_an_extra_is_imported_with_a_module():
    """Only functions import them, after `require`."""
    optional = {module for extra in errors.EXTRAS.values() for module in extra.packages.values()}
    for path in sorted((ROOT / "workbench").rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            modules = [name.name for name in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {module.partition(".")[0] for module in modules} & optional, path


@pytest.mark.parametrize("name", errors.EXTRAS)
def test_a_missing_package_names_its_feature_and_its_command(name, without):
    without(name)
    with pytest.raises(EngineRefused) as told:
        errors.require_extra(name, EngineRefused, "do without")
    assert str(told.value).startswith(errors.EXTRAS[name].feature)
    assert str(told.value).endswith(f'pip install "hopscope[{name}]"; or do without')


def test_an_extra_is_there_with_all_of_its_packages(monkeypatch):
    assert errors.has_extra("cluster")
    monkeypatch.setitem(sys.modules, "cryptography", None)
    assert not errors.has_extra("cluster")
    told = r'^a cluster needs cryptography, which is not installed: pip install "hopscope\[cluster\]"$'
    with pytest.raises(ClusterFault, match=told):
        errors.require_extra("cluster", ClusterFault)
    finding = next(doctor.look(*check) for check in doctor.checks(Path()) if check[1] == "extra cluster")
    assert finding.mark == "optional" and "needs cryptography" in finding.found
    monkeypatch.setitem(sys.modules, "distributed", None)
    lacking = "a cluster needs distributed and cryptography, which are not installed"
    assert errors.lacking_extra("cluster").startswith(lacking)


def test_a_chroma_store_without_chromadb(tiny_index, without):
    without("chroma")
    with pytest.raises(IndexFault, match=r'Chroma store needs chromadb.*pip install "hopscope\[chroma\]"'):
        wb.method("dense[store=chroma]", tiny_index)


def test_a_notebook_leaves_out_what_lacks_its_package(tmp_path, without, workbench):
    """And says so; who asks for it all the same is told in its cell."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("raptor = True\nlimit = 1")])
    notebook.cells[0].metadata["tags"] = ["parameters"]
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, tmp_path / "01_one.ipynb")
    assert planned(tmp_path, {}) == {}
    without("raptor")
    assert planned(tmp_path, {}) == {"raptor": False}
    assert planned(tmp_path, {"raptor": True, "limit": 2}) == {"raptor": True, "limit": 2}
    said = workbench("run", "--notebooks", tmp_path, "--only", "02", code=1)
    assert "raptor=false, because a tree" in said.stderr and 'pip install "hopscope[raptor]"' in said.stderr


def planned(folder: Path, parameters: dict) -> dict:
    [(_, given)] = notebooks._planned(folder, parameters, None).values()
    return given
