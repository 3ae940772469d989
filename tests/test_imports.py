"""Imports point one way, and the picture of them in the documents is that of the code (docs/imports.py)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from scripts import loaded

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def tool():
    return loaded(DOCS / "imports.py", "imports_of_the_docs")


def test_every_part_has_a_row_and_imports_only_from_the_rows_above(tool):
    found = tool.imports()
    assert len(found) > 300 and {one.part for one in found} > {"methods", "index", "cli"}
    assert not [f"{one.file} imports {one.other}" for one in tool.upwards(found)]
    rows = [part for parts in tool.ORDER for part in parts]
    parts = {one.part for one in found} | {one.other for one in found}
    assert len(rows) == len(set(rows)) and parts <= set(rows) <= {path.stem for path in tool.PACKAGE.iterdir()}


def test_the_picture_is_that_of_the_code(tool):
    document = tool.DOCUMENT.read_text(encoding="utf-8")
    assert tool.drawn(document, tool.imports()) == document, "stale; run python docs/imports.py"


def test_an_import_that_points_upwards_is_found(tool, tmp_path):
    package = tmp_path / "workbench"
    for name, code in {
        "index/store.py": "import workbench.methods\nfrom workbench.llm import Step\n",
        "llm/step.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from workbench.index import Index\n",
        "graph/region.py": "try:\n    from workbench import sparql, load\nexcept ImportError:\n    pass\n",
        "methods/dense.py": "from workbench.index import Index\ndef f():\n    from workbench.reading import Reader\n",
        "records.py": "def show():\n    from workbench.views import html\n",
        "__init__.py": "from workbench.cli.app import app\n",
        "novel/new.py": "from workbench.errors import SettingError\n",
    }.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(code)
    found = tool.imports(package)
    assert {(one.file, one.other, one.lazy) for one in tool.upwards(found)} == {
        ("index/store.py", "methods", False),
        ("graph/region.py", "sparql", False),
        ("methods/dense.py", "reading", True),
        ("novel/new.py", "errors", False),
    }
    assert ("records.py", "views", True) in {(one.file, one.other, one.lazy) for one in found}


def test_the_picture_leaves_out_what_follows(tool):
    found = [
        tool.Import("methods", "index", "", False), tool.Import("methods", "llm", "", False),
        tool.Import("index", "llm", "", False), tool.Import("index", "errors", "", False),
        tool.Import("llm", "reading", "", True), tool.Import("llm", "trace", "", False),
    ]  # fmt: skip
    arrows = [line.strip() for line in tool.picture(found).splitlines() if "-->" in line]
    assert arrows == ["llm --> base", "index --> llm", "methods --> index"]
    with pytest.raises(SystemExit, match="has no lines"):
        tool.drawn("no marks here", found)


def test_each_module_of_tests_has_a_name_of_its_own():
    """Their folders are all on one path, so of two modules of a name each test would import the same."""
    names = Counter(path.name for path in Path(__file__).parent.rglob("*.py"))
    assert [name for name, count in names.items() if count > 1] == ["conftest.py"]
