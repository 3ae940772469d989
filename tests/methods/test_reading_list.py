"""How much one must read for a method, counted on packages written by hand."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from reading_list import TARGETS, Package

FILES = {
    "methods/__init__.py": "from toy.methods.other import Other\nMETHODS = [Other]\n",
    "methods/one.py": (
        "from toy.graph import walk\nfrom toy.graph.seeds import unused, used\nfrom toy.index import Index\n"
        "from toy.methods import METHODS\nimport toy.ranking.top\n\nLIMIT = 3\n\n"
        "class One:\n    def search(self):\n        from toy.steps.ask import STEP\n"
        "        return walk.go(LIMIT), used(), Index, METHODS, STEP\n"
    ),
    "methods/other.py": "class Other: ...\n",
    "graph/__init__.py": "",
    "graph/walk.py": "from toy.graph.deep import go as deeper\ndef go(n):\n    return deeper(n)\n",
    "graph/deep.py": "def go(n):\n    return n\n",
    "graph/seeds.py": "from toy.graph.never import never\ndef used(): ...\ndef unused():\n    never()\n",
    "graph/never.py": "def never(): ...\n",
    "steps/ask.py": "STEP = 1\n",
    "index.py": "class Index: ...\n",
    "ranking/top.py": "def top(): ...\n",
}


@pytest.fixture
def package(tmp_path):
    for name, text in FILES.items():
        (tmp_path / "toy" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "toy" / name).write_text(text)
    return Package(tmp_path / "toy")


def test_files_with_what_is_needed_and_no_others(package):
    found = package.reading_list("toy.methods.one.One")
    names = {file.relative_to(package.root).as_posix(): lines for file, lines in found.items()}
    assert names == {"methods/one.py": 12, "graph/walk.py": 3, "graph/deep.py": 2, "graph/seeds.py": 4,
                     "steps/ask.py": 1}  # fmt: skip


def test_a_name_that_is_not_there_is_told(package):
    with pytest.raises(SystemExit, match=r"no toy\.methods\.one\.Two"):
        package.reading_list("toy.methods.one.Two")


@pytest.mark.parametrize("target", TARGETS)
def test_the_methods_of_the_table_can_be_measured(target):
    assert Package(Path(__file__).parents[2] / "workbench").reading_list(target)
