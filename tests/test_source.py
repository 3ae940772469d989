"""What counts as the same code: hashed is what runs, wherever it is defined and whatever was run before."""

from __future__ import annotations

import textwrap
from functools import cached_property, lru_cache, partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from workbench import source

CODE = """
import re
from dataclasses import dataclass, field
from enum import Enum

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

class Scorer:
    scale = 1.0

    def __init__(self, weight=1):
        self.weight = weight

    def score(self, x):
        return self.weight * x * self.scale

    def other(self):
        return "nobody asks"

scorer = Scorer(2)

def main(x):
    global calls
    calls += 1
    seen.append(x)
    counts[x] = counts.get(x, 0) + 1
    inner = lambda y: y in {"p", "q"}
    return helper(x) + LIMIT + TABLE["a"][0] + WEIGHTS[0] + scorer.score(x) + shown(x), PATTERN, Kind.ONE, inner
"""


def hash_of(code: str = CODE, *run: str) -> str:
    names = {"__name__": "__main__"}
    exec(compile(textwrap.dedent(code), "<cell>", "exec"), names)
    for more in run:
        exec(more, names)
    return source.hash_of(names["main"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return x * by", "return x ** by"),
        ("by=2", "by=3"),
        ("LIMIT, TABLE, PATTERN = 3", "LIMIT, TABLE, PATTERN = 4"),
        ("[1, 2]", "[1, 3]"),
        ('"z"}', '"w"}'),
        ('compile("a+")', 'compile("a*")'),
        ("np.arange(4.0)", "np.arange(4.0) + 1"),
        ("scale = 1.0", "scale = 2.0"),
        ("self.weight * x", "self.weight + x"),
        ("Scorer(2)", "Scorer(3)"),
        ("return function(*args)", "return function(*args[:1])"),
        ("return x + 1", "return x + 2"),
        ("ONE = 1", "ONE = 2"),
        ('{"p", "q"}', '{"p", "r"}'),
    ],
)
def test_what_decides_a_result_changes_its_hash(old, new):
    assert CODE.count(old) == 1
    assert hash_of(CODE.replace(old, new)) != hash_of()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"Doubles."', '"Twice."'),
        ("def unused():\n    return 1", "def unused():\n    return 2"),
        ('"nobody asks"', '"still nobody"'),
        ("def helper", "# a comment\n\n\ndef helper"),
        ("inner = lambda", "within = lambda"),
        ("calls, seen, counts = 0, [], {}", "calls, seen, counts = 7, [1, 2], {3: 4}"),
    ],
)
def test_what_does_not_leaves_it(old, new):
    code = CODE.replace(old, new)
    code = code.replace("Kind.ONE, inner", "Kind.ONE, within") if "within" in new else code
    assert code != CODE and hash_of(code) == hash_of()


def test_what_runs_before_leaves_it():
    assert hash_of(CODE, "for x in range(3): main(x)") == hash_of()


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
    before = source.hash_of(one, names=["get"])
    one.get(5)
    assert source.hash_of(one, names=["get"]) == before == source.hash_of(Cached(3), names=["get"])
    assert source.hash_of(Cached(4), names=["get"]) != before


def test_an_attribute_may_appear_while_others_are_looked_at():
    value = SimpleNamespace(first=1, second=2)
    for name, _ in source._state(value):
        setattr(value, f"behind_{name}", 3)
    assert value.behind_first == value.behind_second == 3


def test_wrapped_partial_and_closed_over_functions_are_followed():
    def made(by):
        @lru_cache
        def cached(x):
            return x + by

        return lambda x: partial(cached, 1)

    assert source.hash_of(made(1)) == source.hash_of(made(1)) != source.hash_of(made(2))


@pytest.mark.parametrize("array", [np.arange(3), pd.Series([0, 1, 2]), pd.DataFrame({"a": [0, 1, 2]})])
def test_arrays_count_by_what_they_hold(array):
    def with_(held):
        return lambda: held

    assert source.hash_of(with_(array)) == source.hash_of(with_(array.copy())) != source.hash_of(with_(array + 1))


def named_tuple(module, fields):
    names = {"__name__": module}
    exec(
        f"from typing import NamedTuple\nclass Found(NamedTuple):\n    {fields}\ndef make(*all): return Found(*all)",
        names,
    )
    return source.units(names["make"])


def test_named_tuples_of_one_name_are_apart_and_their_fields_count():
    one, other = named_tuple("one", "text: str"), named_tuple("other", "row: int; score: float = 0.0")
    assert {unit for unit in one.keys() & other.keys() if one[unit] != other[unit]} == set()
    assert one["one:Found"] != other["other:Found"]
    for fields in ("row: int", "row: int; score: float = 1.0", "at: int; score: float = 0.0"):
        assert source.changed(named_tuple("other", fields), other) == ["other:Found"]


def test_docstrings_of_outputs_are_not_shown_to_a_model_and_their_fields_count():
    def hashed(said: str, inner: str, label: str) -> str:
        names = {"__name__": "outputs"}
        code = (
            "from pydantic import BaseModel, Field\n"
            f"class Part(BaseModel):\n    {inner!r}\n    label: str = Field(description={label!r})\n"
            f"class Output(BaseModel):\n    {said!r}\n    parts: list[Part]\n"
            "def make(text): return Output.model_validate_json(text)"
        )
        exec(compile(code, "outputs.py", "exec", dont_inherit=True), names)
        return source.hash_of(names["make"])

    assert hashed("One.", "Two.", "a name") == hashed("Other.", "Another.", "a name")
    assert hashed("One.", "Two.", "a name") != hashed("One.", "Two.", "a kind")


def test_a_unit_is_named_and_a_change_points_at_it():
    names = [{"__name__": "__main__"} for _ in range(2)]
    for namespace, code in zip(names, (CODE, CODE.replace("x * by", "x + by"))):
        exec(compile(code, "<cell>", "exec"), namespace)
    before, now = (source.units(namespace["main"]) for namespace in names)
    assert source.changed(before, now) == ["__main__:helper"]
    assert "__main__:Scorer.score" in now and "__main__:Scorer.other" not in now and "numpy" in now
    assert "__main__:unused" not in now


def test_constants_of_a_module_count_each_by_itself(tmp_path, monkeypatch):
    import importlib

    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    first, _, _, last = found = [*_constants(tmp_path, importlib)]
    assert first == last and len(set(found)) == 3


def _constants(folder, importlib):
    for line in ("FIRST, SECOND = 1, 2", "FIRST, SECOND = 0, 2", "FIRST, SECOND = 1, 3", "FIRST, SECOND = 1, 2"):
        (folder / "of_constants.py").write_text(f"{line}  # {len(line)}")
        importlib.invalidate_caches()
        names = {"of_constants": importlib.reload(importlib.import_module("of_constants")), "__name__": "__main__"}
        exec("def main(): return of_constants.FIRST + of_constants.SECOND", names)
        units = source.units(names["main"])
        yield units["of_constants:FIRST"], units["of_constants:SECOND"]


def test_a_module_that_is_not_there_and_code_that_names_itself_end():
    def loop(x):
        import not_installed_anywhere  # noqa: F401

        return loop(x - 1) if x else loop

    assert source.hash_of(loop) == source.hash_of(loop)


def test_the_code_of_the_package_has_a_hash():
    assert len(source.package_hash()) == 12
