"""What counts as the same code: files with what they import, and the functions and values that a notebook names."""

from __future__ import annotations

import importlib
import linecache
import sys
import textwrap
from functools import cached_property

import numpy as np
import pandas as pd
import pytest

from workbench import source

CODE = """
import re
from dataclasses import dataclass, field
from enum import Enum
from functools import wraps

import numpy as np

LIMIT, TABLE, PATTERN = 3, {"a": [1, 2], "b": {"x", "y", "z"}}, re.compile("a+")
WEIGHTS = np.arange(4.0)
calls, seen, counts = 0, [], {}

class Kind(Enum):
    ONE = 1

def helper(x, by=2):
    "Doubles."
    return x * by

def unused():
    return 1

def decorated(function):
    def wrapper(*args):
        return function(*args)
    return wrapper

@decorated
def shown(x):
    return x + 1

class Base:
    def other(self):
        return 1

class Scorer(Base):
    scale = 1.0

    def __init__(self, weight=1):
        self.weight = weight

    def score(self, x):
        return self.weight * x * self.scale

scorer = Scorer(2)

def main(x):
    global calls
    calls += 1
    seen.append(x)
    counts[x] = counts.get(x, 0) + 1
    inner = lambda y: y in {"p", "q"}
    return helper(x) + LIMIT + TABLE["a"][0] + WEIGHTS[0] + scorer.score(x) + shown(x), PATTERN, Kind.ONE, inner
"""


def cell(code: str, shown: bool = True, *run: str) -> dict:
    """The names of a notebook in which a cell has run, and then others. Without its source, the byte code counts."""
    name = f"<cell {hash(code)}>"
    if shown:
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    names = {"__name__": "__main__"}
    exec(compile(code, name, "exec"), names)
    for more in run:
        exec(more, names)
    return names


def units(code: str = CODE, shown: bool = True, *run: str) -> dict[str, str]:
    return source.depends(cell(code, shown, *run)["main"]).units


@pytest.mark.parametrize(
    ("old", "new", "unit"),
    [
        ("return x * by", "return x ** by", "helper"),
        ("by=2", "by=3", "helper"),
        ("LIMIT, TABLE, PATTERN = 3", "LIMIT, TABLE, PATTERN = 4", "LIMIT"),
        ("[1, 2]", "[1, 3]", "TABLE"),
        ('"z"}', '"w"}', "TABLE"),
        ('compile("a+")', 'compile("a*")', "PATTERN"),
        ("np.arange(4.0)", "np.arange(4.0) + 1", "WEIGHTS"),
        ("scale = 1.0", "scale = 2.0", "Scorer.scale"),
        ("self.weight * x", "self.weight + x", "Scorer.score"),
        ("return 1\n\nclass Scorer", "return 2\n\nclass Scorer", "Base.other"),
        ("Scorer(2)", "Scorer(3)", "Scorer.weight"),
        ("return function(*args)", "return function(*args[:1])", "decorated.<locals>.wrapper"),
        ("return x + 1", "return x + 2", "shown"),
        ("ONE = 1", "ONE = 2", "Kind.ONE"),
        ('{"p", "q"}', '{"p", "r"}', "main"),
    ],
)
def test_what_decides_a_result_changes_its_unit(old, new, unit):
    assert CODE.count(old) == 1
    for shown in (True, False):
        before, now = units(shown=shown), units(CODE.replace(old, new), shown)
        assert unit in source.changed(before, now), "with its source, and without"
    assert "unused" not in now and "python" in now and "numpy" in now


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"Doubles."', '"Twice."'),
        ("def unused():\n    return 1", "def unused():\n    return 2"),
        ("def helper", "# a comment\n\n\ndef helper"),
        ("calls, seen, counts = 0, [], {}", "calls, seen, counts = 7, [1, 2], {3: 4}"),
    ],
)
def test_what_does_not_leaves_it(old, new):
    assert CODE.count(old) == 1 and units(CODE.replace(old, new)) == units()
    assert units(CODE, True, "for x in range(3): main(x)") == units()


def test_the_state_that_code_changes_is_no_code_and_what_an_object_was_made_with_is():
    class Cached:
        def __init__(self, size):
            self.size, self.kept, self.first = size, {}, None

        @cached_property
        def whole(self):
            return self.size * 2

        def get(self, x):
            self.first = self.first or x
            self.kept[x] = self.whole
            return self.kept[x]

    one = Cached(3)
    before = source.depends(one).units
    one.get(5)
    assert source.depends(one).units == source.depends(Cached(3)).units == before
    (unit,) = source.changed(source.depends(Cached(4)).units, before)
    assert unit.endswith("Cached.size")


def test_wrapped_partial_and_closed_over_functions_are_followed():
    code = """
        from functools import lru_cache, partial
        def made(by):
            @lru_cache
            def cached(x):
                return x + by
            return lambda x: partial(cached, 1)
    """
    made = cell(textwrap.dedent(code))["made"]
    one, again, other = (source.depends(made(by)).units for by in (1, 1, 2))
    assert one == again != other


@pytest.mark.parametrize("array", [np.arange(3), pd.Series([0, 1, 2]), pd.DataFrame({"a": [0, 1, 2]})])
def test_arrays_count_by_what_they_hold(array):
    told = source._text_of_value
    assert told(array) == told(array.copy()) != told(array + 1)


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """Writes modules beside a notebook, and gives the units of a function that uses them."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(source, "_STARTED", float("inf"))  # what is written here was there before the process

    def written(**modules: str) -> dict[str, str]:
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(text)
        importlib.invalidate_caches()
        for name in filter(sys.modules.__contains__, modules):
            importlib.reload(sys.modules[name])
        return source.depends(cell("import own_first\ndef main(): return own_first.find()")["main"]).units

    yield written
    for name in [one for one in sys.modules if one.startswith("own_")]:
        del sys.modules[name]


FIRST = """
'''Of the user's.'''
from typing import TYPE_CHECKING
from own_second import LIMIT
import workbench as wb
if TYPE_CHECKING:
    from own_third import T
def find():
    from workbench.methods import hipporag2
    return wb.Index, LIMIT
"""


def test_a_file_counts_with_what_it_imports(beside):
    before = beside(own_second="LIMIT = 1", own_third="T = 1", own_first=FIRST)
    assert {"own_first.py", "own_second.py", "methods/hipporag2.py", "index/index.py"} <= before.keys()
    assert not any(unit.startswith(("own_third", "views/", "evaluation/", "methods/bm25")) for unit in before)
    assert beside(own_third="T = 2", own_first=FIRST.replace("Of the", "Of a") + "# a comment") == before
    assert source.changed(before, beside(own_second="LIMIT = 2")) == ["own_second.py"]


def test_a_file_that_was_edited_counts_once_it_is_loaded_again(beside, tmp_path, monkeypatch):
    before = beside(own_first="def find(): return 1")
    (tmp_path / "own_first.py").write_text("def find(): return 22")
    assert beside() == before
    assert source.changed(before, beside(own_first="def find(): return 22")) == ["own_first.py"]
    monkeypatch.setattr(source, "_STARTED", 0.0)
    monkeypatch.setattr(source, "_modules", {})
    one = beside()
    monkeypatch.setattr(source, "_modules", {})
    assert source.changed(one, beside()) == ["own_first.py"], "nobody knows whether what was loaded is what it holds"


def test_what_displays_evaluates_and_asks_is_no_part_of_a_method():
    reached = source.closure("workbench.methods.youtu", "workbench.index.index")
    assert {"workbench.methods.base", "workbench.index.store", "workbench.llm.payloads"} < reached
    apart = tuple(f"workbench.{one}." for one in ("views", "cli", "evaluation", "llm.chat", "data"))
    assert not [name for name in reached if f"{name}.".startswith(apart)]
