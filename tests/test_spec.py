from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import SettingError
from workbench.settings import parse_spec


@pytest.mark.parametrize(
    ("spec", "name", "settings"),
    [
        ("dense", "dense", {}),
        ("hipporag2[]", "hipporag2", {}),
        ("hipporag2[damping=0.5,linking_top_k=5]", "hipporag2", {"damping": 0.5, "linking_top_k": 5}),
        ("x[a=true,b=none,c=identity]", "x", {"a": True, "b": None, "c": "identity"}),
        ("bdtr[backbone=raptor[k=3,l=4],iterations=2]", "bdtr", {"backbone": "raptor[k=3,l=4]", "iterations": 2}),
    ],
)
def test_reads(spec, name, settings):
    assert parse_spec(spec) == (name, settings)


@pytest.mark.parametrize("spec", ["", "[a=1]", "x[a=1", "x a=1", "x[a]", "x[=1]", "x[a=1,a=2]", "x[a=[1]", "x]["])
def test_refuses(spec):
    with pytest.raises(SettingError):
        parse_spec(spec)


@given(st.text(max_size=30))
def test_never_fails_otherwise(text):
    with suppress(SettingError):
        parse_spec(text)
