"""The journal: answers are on disk group by group; no stop, full disk or other engine makes one be paid for twice."""

from __future__ import annotations

import json
import resource

import pytest
from pydantic import BaseModel

from workbench.errors import DataError
from workbench.index import journal
from workbench.index.journal import Answer, Journal, StepJournal, by_rules, counts, request_key, reusable
from workbench.llm.engine import RulesEngine
from workbench.llm.meter import Meter
from workbench.llm.step import Result, Step
from workbench.rules import register

INPUTS = {f"k{n}": f"town {n} 東京" for n in range(7)}


class Output(BaseModel):
    text: str


STEP = Step("shout", Output, prompt=lambda text: [])
register(STEP, lambda text: Output(text=text.upper()))


class Model:
    """Answers in upper case; it may be stopped at a call, fail on some inputs, and give replies that were cut."""

    def __init__(self, name="openai:one", stop_at=None, fails=(), cuts=(), watch=None):
        self.name, self.stop_at, self.fails, self.cuts, self.watch = name, stop_at, fails, cuts, watch
        self.meter, self.calls = Meter(), []

    @property
    def asked(self) -> list[str]:
        return [text for call in self.calls for text in call]

    def run(self, step, inputs, *, trace=None):
        if len(self.calls) == self.stop_at:
            raise KeyboardInterrupt("stopped")
        self.calls.append(list(inputs))
        if self.watch:
            self.watch()
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


def stopped(folder, engine, old=None) -> StepJournal:
    with pytest.raises(KeyboardInterrupt):
        filled(folder, engine, old)
    return opened(folder, engine)


def part(folder):
    return folder / "answers.jsonl.part"


def settled(folder) -> bytes:
    assert not part(folder).exists()
    return (folder / "answers.jsonl").read_bytes()


@pytest.fixture
def whole(tmp_path) -> bytes:
    """The file of a build that nothing stopped."""
    filled(tmp_path / "whole", Model())
    return settled(tmp_path / "whole")


# -- on disk ----------------------------------------------------------------------------------------------------------


def test_each_group_is_on_disk_before_the_next_is_requested(tmp_path):
    lengths = []
    model = Model(watch=lambda: lengths.append(part(tmp_path).read_bytes().count(b"\n")))
    made = filled(tmp_path, model)
    assert lengths == [0, 2, 4, 6] and list(map(len, model.calls)) == [2, 2, 2, 1]
    rows = [json.loads(line) for line in settled(tmp_path).splitlines()]
    assert rows[0] == {
        "key": "k0", "made_by": "openai:one (shout v1)", "failure": None, "flaw": None,
        "output": {"text": "TOWN 0 東京"},
    }  # fmt: skip
    assert [row["key"] for row in rows] == list(INPUTS) == list(made.used) and made.asked == 7
    assert settled(tmp_path).isascii()


def test_the_file_holds_what_is_used_and_nothing_else(tmp_path):
    filled(tmp_path / "a", Model())
    made = filled(tmp_path / "b", model := Model(), tmp_path / "a", {"k3": INPUTS["k3"], "new": "x"})
    assert model.asked == ["x"] and made.asked == 1
    assert [json.loads(line)["key"] for line in settled(tmp_path / "b").splitlines()] == ["k3", "new"]


def test_one_input_under_two_names_is_requested_once(tmp_path):
    key = request_key("title", "text")
    assert key == request_key("title", "text") != request_key("titletext", "")
    made = opened(tmp_path, model := Model())
    for _ in range(2):
        made.run({key: "text"}, lambda group: model.run(STEP, group), "shout")
    assert model.asked == ["text"]


# -- stopped ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", range(4))
def test_a_build_killed_between_groups_resumes_at_the_next_one(tmp_path, whole, call):
    assert len(stopped(tmp_path, Model(stop_at=call)).known) == 2 * call
    made = filled(tmp_path, model := Model())
    assert model.asked == list(INPUTS.values())[2 * call :] and settled(tmp_path) == whole
    assert made.asked == 7, "the count does not depend on where the build was stopped"


def test_a_file_torn_at_any_byte_costs_the_torn_line_alone(tmp_path, whole):
    stopped(tmp_path, Model(stop_at=2))
    raw = part(tmp_path).read_bytes()
    for length in range(len(raw) + 1):
        part(tmp_path).write_bytes(raw[:length])
        filled(tmp_path, model := Model())
        assert settled(tmp_path) == whole and len(model.asked) == 7 - raw[:length].count(b"\n")
        (tmp_path / "answers.jsonl").unlink()


@pytest.mark.parametrize("tail", ["東".encode()[:2], b"\x00" * 4096, b"\xff\xfe", b'{"key": "k5", "made_by'])
def test_bytes_that_a_crash_left_behind_are_cut_off(tmp_path, whole, tail):
    stopped(tmp_path, Model(stop_at=2))
    part(tmp_path).write_bytes(part(tmp_path).read_bytes() + tail)
    filled(tmp_path, model := Model())
    assert len(model.asked) == 3 and settled(tmp_path) == whole


def test_what_is_written_behind_a_torn_line_is_whole_when_the_build_stops_again(tmp_path, whole):
    stopped(tmp_path, Model(stop_at=1))
    part(tmp_path).write_bytes(part(tmp_path).read_bytes()[:-9])
    assert list(stopped(tmp_path, Model(stop_at=1)).known) == ["k0", "k1", "k2"]
    filled(tmp_path, model := Model())
    assert model.asked == list(INPUTS.values())[3:] and settled(tmp_path) == whole


def test_a_line_damaged_within_the_file_is_named_with_the_remedy(tmp_path, whole):
    path = tmp_path / "whole" / "answers.jsonl"
    for old, new in ((b'{"key": "k1"', b'{"key": k1'), (b'"key": "k1"', b'"name": "k1"')):
        path.write_bytes(whole.replace(old, new))
        with pytest.raises(DataError, match=r"answers.jsonl, line 2 is no.*delete this line"):
            opened(tmp_path / "whole", Model())
    path.write_bytes(b"".join(line + b"\n" for line in path.read_bytes().splitlines() if b"k1" not in line))
    filled(tmp_path / "whole", model := Model())  # as the message says
    assert model.asked == [INPUTS["k1"]] and settled(tmp_path / "whole") == whole


def test_a_full_disk_loses_nothing_that_was_written(tmp_path, whole):
    """The limit on the size of a file stops a write in the middle of a line, as a full disk does."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (500, limits[1]))
        with pytest.raises(OSError, match="too large"):
            filled(tmp_path, first := Model())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert len(first.calls) > 1 and not part(tmp_path).read_bytes().endswith(b"\n")
    kept = part(tmp_path).read_bytes().count(b"\n")
    filled(tmp_path, second := Model())
    assert kept >= 2 and len(second.asked) == 7 - kept and settled(tmp_path) == whole


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
    assert len(model.asked) == made.asked == asked
    assert counts(made.used.values())["made_by"] == [f"{OTHERS[then if asked else first]} (shout v1)"]


def test_another_version_of_the_step_is_another_maker(tmp_path):
    assert not reusable(Answer("k", "openai:one (shout v1)", None, None, {}), "openai:one (shout v2)")
    assert not reusable(Answer("k", "rules (shout v1)", None, None, {}), "rules (shout v2)")
    assert by_rules("rules (shout v1)") and not by_rules("rulesy (shout v1)")


@pytest.mark.parametrize("name", ["openai:one", "rules"])
def test_failures_are_retried_and_successes_are_not(tmp_path, name):
    failing = (INPUTS["k1"], INPUTS["k6"])
    made = filled(tmp_path / "a", first := Model(name, fails=failing))
    assert counts(made.used.values())["failures"] == 2 and len(first.asked) == 7, "one request each within a build"
    made = filled(tmp_path / "b", second := Model(name), tmp_path / "a")
    assert second.asked == list(failing) and made.asked == 2
    filled(tmp_path / "fresh", Model(name))
    assert settled(tmp_path / "b") == settled(tmp_path / "fresh")


def test_a_layer_may_narrow_what_is_reused(tmp_path):
    filled(tmp_path, RulesEngine())
    for narrow, missing in ((reusable, 0), (lambda entry, made_by: not by_rules(entry.made_by), 7)):
        made = Journal(tmp_path / "answers.jsonl", lambda row: Answer(**row), "rules (shout v1)", reusable=narrow)
        assert len(made.missing(INPUTS)) == missing


def test_the_last_line_of_a_key_counts_where_a_file_grows_in_place(tmp_path):
    path = tmp_path / "texts.jsonl"

    def grown(model) -> Journal:
        made = Journal(path, lambda row: Answer(**row), model.name, part=path)

        def write(group):
            for key, result in zip(group, model.run(STEP, list(group.values()))):
                yield Answer(key, model.name, result.failure, None, result.value and result.value.model_dump())

        made.ask(INPUTS, write)
        return made

    grown(Model(fails=tuple(INPUTS.values())[:3]))
    made = grown(model := Model())
    assert len(model.asked) == 3 and path.read_bytes().count(b"\n") == 10
    assert not any(entry.failure for entry in made.used.values()) and grown(again := Model()) and again.asked == []


# -- counted ----------------------------------------------------------------------------------------------------------


def test_makers_failures_and_defects_are_counted(tmp_path):
    made = filled(tmp_path, Model(fails=(INPUTS["k1"],), cuts=(INPUTS["k2"], INPUTS["k3"])))
    expected = {"made_by": ["openai:one (shout v1)"], "failures": 1, "cut": 2, "repaired": 0}
    assert counts(made.used.values()) == expected
    assert counts(opened(tmp_path, Model()).known.values())["cut"] == 2, "and are so again once read back"
    more = [*made.used.values(), Answer("x", "rules (shout v1)", None, "repaired", {})]
    assert counts(more) == {
        "made_by": ["openai:one (shout v1)", "rules (shout v1)"],
        "failures": 1,
        "cut": 2,
        "repaired": 1,
    }
    assert counts([]) == {"made_by": [], "failures": 0, "cut": 0, "repaired": 0}
