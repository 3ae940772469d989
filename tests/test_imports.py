"""Imports point one way, in no circle, and the picture of them in the documents is that of the code."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from scripts import loaded

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def tool():
    return loaded(DOCS / "imports.py", "imports_of_the_docs")


@pytest.fixture(scope="module")
def all_imports(tool):
    return tool.imports()


def package(folder: Path, files: dict[str, str]) -> Path:
    """A package of this name below the folder, with these files."""
    root = folder / "workbench"
    for name, code in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(code)
    return root


def test_every_part_has_a_row_and_imports_only_from_the_rows_above(tool, all_imports):
    found = all_imports
    parts = {part for one in found for part in one.parts} - {""}
    assert len(found) > 2_700 and parts > {"methods", "index", "cli"}
    assert not [f"{one.module} imports {one.other}" for one in tool.upwards(found)]
    rows = [part for parts in tool.ORDER for part in parts]
    assert len(rows) == len(set(rows)) and parts <= set(rows) <= {path.stem for path in tool.PACKAGE.iterdir()}


def test_no_files_import_each_other(tool, all_imports):
    assert not tool.circles(all_imports)


def test_the_picture_is_that_of_the_code(tool, all_imports):
    document = tool.DOCUMENT.read_text(encoding="utf-8")
    assert tool.drawn(document, all_imports) == document, "stale; run python docs/imports.py"


def test_an_import_that_points_upwards_is_found(tool, tmp_path):
    root = package(tmp_path, {
        "__init__.py": "from workbench.cli.app import app\n",
        "cli/app.py": "",
        "errors.py": "",
        "index/__init__.py": "",
        "index/store.py": "import workbench.methods.dense\nfrom workbench.llm import step\n",
        "llm/step.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from workbench.index import Index\n",
        "methods/dense.py": "from workbench.index import Index\ndef f():\n    from workbench.reading import Reader\n",
        "novel/new.py": "from workbench.errors import SettingError\n",
        "operators/region.py": "try:\n    from workbench import sparql, load\nexcept ImportError:\n    pass\n",
        "reading/__init__.py": "",
        "sparql/__init__.py": "import workbench\n",
    })  # fmt: skip
    found = tool.imports(root)
    assert set(tool.upwards(found)) == {
        ("index.store", "methods.dense"),
        ("methods.dense", "reading"),
        ("novel.new", "errors"),
        ("operators.region", "sparql"),
    }
    assert {("", "cli.app"), ("sparql", ""), ("operators.region", ""), ("index.store", "llm.step")} < set(found)


def test_a_circle_through_a_function_is_found(tool, tmp_path):
    root = package(tmp_path, {
        "records.py": "class Record:\n    def show(self):\n        from workbench.views import render\n",
        "views/__init__.py": "from workbench.views import render\n",
        "views/render.py": "from workbench.records import Record\n",
        "text.py": "from importlib import import_module\nrecords = import_module('workbench.records')\n",
        "llm/step.py": "from workbench import text\nfrom workbench.records import Record\n",
    })  # fmt: skip
    assert tool.circles(tool.imports(root)) == [["records", "views.render"]]


def test_the_picture_leaves_out_what_follows(tool):
    found = [
        tool.Import("methods.dense", "index"), tool.Import("index.store", "llm.step"),
        tool.Import("methods", "llm"), tool.Import("index", "errors"), tool.Import("llm.call", "trace"),
        tool.Import("llm.call", "llm.step"), tool.Import("", "methods"),
    ]  # fmt: skip
    arrows = [line.strip() for line in tool.picture(found).splitlines() if "-->" in line]
    assert arrows == ["llm --> base", "index --> llm", "methods --> index"]
    with pytest.raises(SystemExit, match="has no lines"):
        tool.drawn("no marks here", found)


def test_each_module_of_tests_has_a_name_of_its_own():
    """Their folders are all on one path, so of two modules of a name each test would import the same."""
    names = Counter(path.name for path in Path(__file__).parent.rglob("*.py"))
    assert [name for name, count in names.items() if count > 1] == ["conftest.py"]
