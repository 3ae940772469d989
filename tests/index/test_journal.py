"""The journal: which answers are reused, which are requested, and what is said of them."""

from __future__ import annotations

import json

import pytest
from pydantic import BaseModel

from workbench.errors import DataError, Deferred
from workbench.index import journal
from workbench.index.journal import (
    Answer,
    StepJournal,
    by_rules,
    counts,
    reusable,
    reusable_of_models,
)
from workbench.llm.step import Result, Step

INPUTS = {f"k{n}": f"town {n} 東京" for n in range(7)}


class Output(BaseModel):
    text: str


STEP = Step("shout", Output, prompt=lambda text: [])


class Model:
    """Answers in upper case; it fails on some inputs, defers others, and gives replies that were cut."""

    def __init__(self, name="openai:one", fails=(), cuts=(), defers=()):
        self.name, self.fails, self.cuts, self.defers = name, fails, cuts, defers
        self.calls: list[list[str]] = []

    @property
    def asked(self) -> list[str]:
        return [text for call in self.calls for text in call]

    def run(self, step, inputs, *, trace=None):
        if waiting := [text for text in inputs if text in self.defers]:
            raise Deferred(len(waiting))
        self.calls.append(list(inputs))
        return [
            Result(None, failure="told to fail") if text in self.fails
            else Result(Output(text=text.upper()), parse="cut" if text in self.cuts else "strict")
            for text in inputs
        ]  # fmt: skip


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    monkeypatch.setattr(journal, "GROUP", 2)


class Old:
    """A layer that stands in a folder."""

    def __init__(self, folder):
        self.folder = folder


def opened(folder, engine, old=None) -> StepJournal:
    folder.mkdir(exist_ok=True)
    return StepJournal(folder, "answers.jsonl", engine, STEP, old and Old(old))


def filled(folder, engine, old=None, inputs=INPUTS) -> StepJournal:
    """A journal that has asked for everything, and is settled."""
    made = opened(folder, engine, old)
    made.run(inputs, lambda group: engine.run(STEP, group), "shout")
    made.settle()
    return made


def settled(folder) -> bytes:
    return (folder / "answers.jsonl").read_bytes()


def test_inputs_are_requested_in_groups_and_the_file_holds_a_line_for_each(tmp_path):
    made = filled(tmp_path, model := Model())
    assert list(map(len, model.calls)) == [2, 2, 2, 1]
    rows = [json.loads(line) for line in settled(tmp_path).splitlines()]
    assert rows[0] == {
        "key": "k0", "made_by": "openai:one (shout v1)", "failure": None, "flaw": None,
        "output": {"text": "TOWN 0 東京"},
    }  # fmt: skip
    assert [row["key"] for row in rows] == list(INPUTS) == list(made.used) and made.requested == 7
    assert settled(tmp_path).isascii()


def test_the_file_holds_what_is_used_and_nothing_else(tmp_path):
    filled(tmp_path / "a", Model())
    made = filled(tmp_path / "b", model := Model(), tmp_path / "a", {"k3": INPUTS["k3"], "new": "x"})
    assert model.asked == ["x"] and made.requested == 1
    assert [json.loads(line)["key"] for line in settled(tmp_path / "b").splitlines()] == ["k3", "new"]


def test_what_is_deferred_holds_up_nothing_else(tmp_path):
    made, model = opened(tmp_path, None), Model(defers=(INPUTS["k2"], INPUTS["k6"]))
    with pytest.raises(Deferred) as deferred:
        made.run(INPUTS, lambda group: model.run(STEP, group), "shout")
    assert deferred.value.requests == 2 and len(made.entries) == len(model.asked) == 5
    assert made.missing(INPUTS) == ["k2", "k6"]


def test_a_damaged_line_is_named_with_the_remedy(tmp_path):
    filled(tmp_path / "whole", Model())
    path, whole = tmp_path / "whole" / "answers.jsonl", settled(tmp_path / "whole")
    for old, new in ((b'{"key": "k1"', b'{"key": k1'), (b'"key": "k1"', b'"name": "k1"')):
        path.write_bytes(whole.replace(old, new))
        with pytest.raises(DataError, match=r"answers.jsonl, line 2 is no.*delete this line"):
            opened(tmp_path / "next", Model(), tmp_path / "whole")
    path.write_bytes(b"".join(line + b"\n" for line in path.read_bytes().splitlines() if b"k1" not in line))
    filled(tmp_path / "next", model := Model(), tmp_path / "whole")  # as the message says
    assert model.asked == [INPUTS["k1"]] and settled(tmp_path / "next") == whole


# -- reused -----------------------------------------------------------------------------------------------------------

OTHERS = {"model": "openai:one", "another model": "openai:two", "rules": "rules"}


@pytest.mark.parametrize(
    ("first", "then", "asked"),
    [
        ("model", "model", 0),
        ("model", "another model", 7),
        ("model", "rules", 0),  # the rules do not replace what a model wrote
        ("rules", "model", 7),
        ("rules", "rules", 0),
    ],
)
def test_whose_answers_are_reused(tmp_path, first, then, asked):
    filled(tmp_path / "a", Model(OTHERS[first]))
    made = filled(tmp_path / "b", model := Model(OTHERS[then]), tmp_path / "a")
    assert len(model.asked) == made.requested == asked
    assert counts(made.used.values())["made_by"] == [f"{OTHERS[then if asked else first]} (shout v1)"]


def test_a_version_of_the_step_is_a_maker_and_a_layer_may_want_models_alone():
    one, rules = (Answer("k", f"{name} (shout v1)", None, None, "{}") for name in ("openai:one", "rules"))
    assert not reusable(one, "openai:one (shout v2)") and not reusable(rules, "rules (shout v2)")
    assert reusable(rules, rules.made_by) and not reusable_of_models(rules, rules.made_by)
    assert reusable_of_models(one, one.made_by) and reusable_of_models(one, rules.made_by)
    assert by_rules("rules (shout v1)") and not by_rules("rulesy (shout v1)")


@pytest.mark.parametrize("name", ["openai:one", "rules"])
def test_failures_are_retried_and_successes_are_not(tmp_path, name):
    failing = (INPUTS["k1"], INPUTS["k6"])
    made = filled(tmp_path / "a", first := Model(name, fails=failing))
    assert counts(made.used.values())["failures"] == 2 and len(first.asked) == 7, "one request each within a build"
    made = filled(tmp_path / "b", second := Model(name), tmp_path / "a")
    assert second.asked == list(failing) and made.requested == 2
    filled(tmp_path / "fresh", Model(name))
    assert settled(tmp_path / "b") == settled(tmp_path / "fresh")


def test_makers_failures_and_defects_are_counted(tmp_path):
    made = filled(tmp_path / "a", Model(fails=(INPUTS["k1"],), cuts=(INPUTS["k2"], INPUTS["k3"])))
    expected = {"made_by": ["openai:one (shout v1)"], "failures": 1, "cut": 2, "repaired": 0}
    assert counts(made.used.values()) == expected
    assert counts(opened(tmp_path / "b", Model(), tmp_path / "a").entries.values())["cut"] == 2, "also once read back"
    more = [*made.used.values(), Answer("x", "rules (shout v1)", None, "repaired", "{}")]
    assert counts(more) == expected | {"made_by": ["openai:one (shout v1)", "rules (shout v1)"], "repaired": 1}
    assert counts([]) == {"made_by": [], "failures": 0, "cut": 0, "repaired": 0}
