"""What a settings class and a SPEC accept, and how they refuse the rest."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from workbench.errors import SettingError
from workbench.settings import (
    Cosine,
    Number,
    Positive,
    Probability,
    Tokens,
    changed,
    defaults,
    parse_spec,
    settle,
    validated,
)


@validated
class Settings:
    count: Positive = 1
    cap: Positive | None = 5
    weight: Annotated[Number, Field(gt=0)] = 1.0
    damping: Annotated[Number, Field(ge=0, lt=1, title="probability of following an edge")] = 0.5
    floor: Cosine | None = None
    policy: Literal["keep", "drop"] = "keep"
    retry: Literal[None, "auto"] = None
    flag: bool = False
    names: Annotated[tuple[str, ...], Field(strict=False)] = ()

    def __post_init__(self):
        if self.cap is not None and self.cap < self.count:
            raise SettingError(f"cap={self.cap} is less than count={self.count}")


@validated
class More(Settings):
    tokens: Tokens = 100
    damping: Probability = 0.2


@validated
class Profiled(Settings):
    profile: str = "released"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"count": 0}, "count=0; it should be a whole number of at least 1"),
        ({"count": True}, "count=True; it should be a whole number of at least 1"),
        ({"count": "3"}, "count='3'; it should be a whole number of at least 1"),
        ({"count": 2.0}, "count=2.0; it should be a whole number of at least 1"),
        ({"count": np.int64(3)}, "count=np.int64(3); it should be a whole number of at least 1"),
        ({"cap": 0}, "cap=0; it should be none or a whole number of at least 1"),
        ({"weight": 0}, "weight=0; it should be a number above 0"),
        ({"weight": float("inf")}, "weight=inf; it should be a number above 0"),
        ({"weight": "2"}, "weight='2'; it should be a number above 0"),
        ({"damping": 1}, "damping=1; it should be a probability, from 0 to below 1"),
        ({"damping": float("nan")}, "damping=nan; it should be a probability, from 0 to below 1"),
        ({"damping": True}, "damping=True; it should be a probability, from 0 to below 1"),
        ({"floor": 1.5}, "floor=1.5; it should be none or a cosine, from -1 to 1"),
        ({"policy": "lose"}, "policy='lose' is unknown; choose one of keep, drop"),
        ({"policy": ["keep"]}, r"policy=['keep'] is unknown; choose one of keep, drop"),
        ({"retry": "never"}, "retry='never' is unknown; choose one of none, auto"),
        ({"flag": 1}, "flag=1; it should be true or false"),
        ({"names": "abc"}, "names='abc'; it should be a list"),
        ({"tokens": -1}, "tokens=-1; it should be a number of tokens of at least 0"),
        ({"count": 9}, "cap=5 is less than count=9"),
        ({"colour": "blue"}, "there is no setting 'colour'; there are count, cap, "),
    ],
)
def test_a_refusal_names_the_value_and_what_is_expected(given, said):
    with pytest.raises(SettingError) as refused:
        More(**given)
    assert str(refused.value).startswith(said)
    assert refused.value.__cause__ is None and refused.value.__suppress_context__


def test_values_stay_as_they_were_given():
    made = More(weight=2, damping=0, floor=1, names=["a", "b"])
    assert [repr(value) for value in (made.weight, made.damping, made.floor)] == ["2", "0", "1"]
    assert made.names == ("a", "b"), "a manifest gives a tuple back as a list"
    assert changed(made) == {"weight": 2, "damping": 0, "floor": 1, "names": ("a", "b")}


def test_unknown_names_and_profiles_list_the_known_ones():
    with pytest.raises(SettingError, match="mine has no setting 'colour'; it has count, cap, "):
        settle("mine", Settings, {"colour": "blue"})
    profiles = {"released": {"count": 2}, "paper": {"count": 3}}
    assert settle("mine", Settings, {}, profiles).count == 2
    assert settle("mine", Settings, {"count": 4}, profiles).count == 4
    with pytest.raises(SettingError, match="mine has no profile 'thesis'; it has released, paper"):
        settle("mine", Profiled, {"profile": "thesis"}, profiles)


def test_defaults_of_what_has_no_settings_class_are_those_of_its_constructor():
    class Plain:
        def __init__(self, *, budget: int = 300): ...

    class Typed:
        Settings = Settings

    assert defaults(Plain) == {"budget": 300} and defaults(Typed)["damping"] == 0.5


# -- SPECs ------------------------------------------------------------------------------------------------------------


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
def test_a_spec_is_read(spec, name, settings):
    assert parse_spec(spec) == (name, settings)


@pytest.mark.parametrize("spec", ["", "[a=1]", "x[a=1", "x a=1", "x[a]", "x[=1]", "x[a=1,a=2]", "x[a=[1]", "x]["])
def test_a_spec_that_is_none_is_refused(spec):
    with pytest.raises(SettingError):
        parse_spec(spec)


@given(st.text(max_size=30))
def test_no_text_fails_otherwise(text):
    with suppress(SettingError):
        parse_spec(text)
