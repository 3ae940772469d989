"""The grid: every reader reads the same evidence, stopped and resumed, and nothing but seconds differs."""

from __future__ import annotations

import json
import shutil

import pytest

import workbench as wb
from workbench.errors import DataError, SettingError
from workbench.evaluation.book import Book
from workbench.evaluation.grid import Grid, grid
from workbench.evaluation.retrieved import Retrieved, evidence_of
from workbench.integrity import seal
from workbench.llm.meter import collect
from workbench.methods import Dense
from workbench.records import (
    ContextEntity,
    ContextGraph,
    ContextRelation,
    Evidence,
    Passage,
    Path,
    Scored,
    Triple,
    Unit,
)
from workbench.trace import Trace

READERS = {"one": "direct[k=1]", "five": "direct[k=5]"}


class Counting(Dense):
    """Says how often it was asked."""

    asked = 0

    def search(self, question, k, trace):
        type(self).asked += 1
        return super().search(question, k, trace)


class Stopped(Exception):
    pass


@pytest.fixture
def ask(tiny, tiny_index, tmp_path):
    def ask(out="grid", methods=("hipporag2", "dense"), readers=READERS, questions=tiny.questions, **settings):
        chosen = [wb.method(spec, tiny_index) if isinstance(spec, str) else spec for spec in methods]
        return grid(questions, chosen, readers, tmp_path / out, progress=False, **settings)

    return ask


def files(folder):
    """All that must not differ from run to run."""
    found = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    return {name: held for name, held in found.items() if not name.endswith(("timings.jsonl", ".seconds"))}


def test_a_run_per_reader_and_each_question_retrieved_once(ask, tiny, tiny_index):
    Counting.asked = 0
    made = ask(methods=(Counting(tiny_index),))
    assert Counting.asked == len(tiny.questions) == 3
    assert list(made.runs) == ["one", "five"] and made.readers == {"one": "direct[k=1]", "five": "direct"}
    for label, run in made.runs.items():
        assert run.config["reader"] == wb.reader(READERS[label]).label and len(run.rows) == 3
        assert run.trace("q1", "dense").events[0].step == "dense"
        assert {"dense", run.config["reader"]} <= {row["stage"] for row in run.seconds().to_dict("records")}
    one, five = (run.rows for run in made.runs.values())
    assert [row["ranking"] for row in one] == [row["ranking"] for row in five]


@pytest.mark.parametrize("lives", [0, 3, 7, 11])
def test_stopped_anywhere_and_taken_up_gives_the_same_bytes(ask, lives, monkeypatch):
    whole = files(ask("whole").folder)
    left = iter(range(lives))
    before = Book._write_files

    def write(*given):
        if next(left, None) is None:
            raise Stopped
        before(*given)

    monkeypatch.setattr(Book, "_write_files", write)
    with pytest.raises(Stopped):
        ask("cut")
    monkeypatch.undo()
    again = ask("cut")
    assert files(again.folder) == whole
    assert [len(run.rows) for run in again.runs.values()] == [6, 6]


def test_readers_methods_and_questions_are_added_and_nothing_else_is_asked(ask, tiny, tiny_index):
    Counting.asked = 0
    first = files(ask(methods=(Counting(tiny_index),), questions=tiny.questions[:2]).folder)
    more = ask(methods=(Counting(tiny_index),), questions=tiny.questions[:2], readers={**READERS, "two": "direct[k=2]"})
    assert Counting.asked == 2 and list(more.runs) == ["one", "five", "two"]
    held = files(more.folder)
    assert all(held[name] == content for name, content in first.items() if name != "grid.json")
    more = ask(methods=(Counting(tiny_index), "hipporag2"), readers={**READERS, "two": "direct[k=2]"})
    assert Counting.asked == 3 and files(more.folder) == files(
        ask("at once", methods=(Counting(tiny_index), "hipporag2"), readers={**READERS, "two": "direct[k=2]"}).folder
    )
    part = ask(methods=("hipporag2",), readers={"two": "direct[k=2]"}, questions=tiny.questions[1:])
    assert list(part.runs) == ["two"] and part.methods == ["hipporag2"] and len(part.runs["two"].rows) == 2
    assert list(Grid.open(part.folder).runs) == ["one", "five", "two"]


def test_what_would_be_another_grid_is_refused_and_nothing_changes(ask):
    whole = files(ask().folder)
    for changed, said in (({"k": 7}, r"\bk\b"), ({"readers": {"one": "direct[k=3]"}}, "reader 'one' is direct.k=1")):
        with pytest.raises(SettingError, match=said):
            ask(**changed)
    assert files(ask().folder) == whole


def test_readers_that_do_not_say_how_much_read_as_much(ask):
    made = ask(readers=["direct", "cot", "structured", "direct[k=1]"], methods=("dense",))
    assert list(made.readers) == ["direct[k=none,budget=12000]", "cot", "structured", "direct[k=1]"]
    assert list(ask("own", readers=["direct"], tokens=None).readers) == ["direct"]
    compared = made.compare("cot", ["accuracy"]).set_index("reader")
    assert compared["read_tokens"]["direct[k=none,budget=12000]"] == compared["against_tokens"].iloc[0]
    assert compared["read_tokens"]["direct[k=1]"] < compared["against_tokens"].iloc[0]


def test_tables_and_comparisons_are_paired(ask):
    made = ask()
    assert list(made.table().index) == [(r, m) for r in READERS for m in ("hipporag2", "dense")]
    assert len(made.frame()) == 12 and list(made.frame()["reader"].unique()) == list(READERS)
    beside = made.compare(measures=["accuracy"])
    assert beside[["reader", "method", "against"]].values.tolist() == [
        ["five", "hipporag2", "one / hipporag2"],
        ["five", "dense", "one / dense"],
    ]
    assert (beside["difference"] == beside["value"] - beside["baseline"]).all() and beside["mcnemar"].notna().all()
    assert len(made.compare(("one", "dense"), ["accuracy"])) == 3
    with pytest.raises(SettingError, match="no run of 'six'"):
        made.compare("six")


def test_readers_that_made_no_difference_share_a_row(ask, tiny):
    """The rules do not tell the prompts brief and cot apart; one passage is another text than five."""
    readers = {"brief": "direct[prompt=brief,k=5]", "cot": "direct[prompt=cot,k=5]", "one": "direct[prompt=brief,k=1]"}
    made = ask(methods=("dense",), readers=readers)
    assert [row["answer"] for row in made.runs["brief"].rows] == [row["answer"] for row in made.runs["cot"].rows]
    distinct = made.distinct()
    assert list(distinct.index) == [("brief, cot", "dense"), ("one", "dense")]
    assert distinct.loc[("one", "dense"), "f1"] == made.table().loc[("one", "dense"), "f1"]
    assert list(distinct.columns) == list(made.table().columns)


def test_readers_are_specs_or_values_and_go_by_their_labels(ask):
    made = ask(readers=["cot", wb.reader("direct[k=2]")])
    assert made.readers == {"cot": "cot", "direct[k=2]": "direct[k=2]"}
    with pytest.raises(SettingError, match="two readers are called"):
        ask("other", readers=["cot", "cot"])
    with pytest.raises(SettingError, match="given no reader; pass at least one"):
        ask("other", readers=[])
    with pytest.raises(SettingError, match="0 questions and 2 methods"):
        ask("other", questions=[])


def test_what_is_no_grid_is_refused(ask, tmp_path):
    with pytest.raises(SettingError, match="is not a grid"):
        Grid.open(tmp_path)
    made = ask()
    config = json.loads((made.folder / "grid.json").read_text())
    (made.folder / "grid.json").write_text(json.dumps(seal({**config, "format": 9})))
    with pytest.raises(DataError, match="upgrade"):
        Grid.open(made.folder)


def test_a_run_that_lost_its_configuration_is_named_and_none_that_has_not_begun(ask, tmp_path):
    made = ask()
    (made.runs["five"].folder / "run.json").unlink()
    with pytest.raises(SettingError, match=f"{made.runs['five'].folder} is not a run"):
        Grid(made.folder).table()
    ask()  # writes it again
    assert Grid(made.folder).table().equals(made.table())
    shutil.rmtree(made.runs["five"].folder)
    assert [*Grid(made.folder).runs] == ["one"]


def test_evidence_survives_the_disk():
    from dataclasses import asdict

    evidence = Evidence(
        "q\ud800?", "m", "ppr", (Scored(Passage("a", "A", "<b>\x00"), 0.1), Scored(Passage("b", "", "x"), 1 / 3)),
        facts=(Scored(Triple("s", "r", "o", ("a", "b")), 1.0),),
        paths=(Scored(Path(("s", "o"), ("r",), ("a",), "complete"), 0.5),), selected=1, fallback="none",
        context=ContextGraph(
            (ContextEntity("S", "d", 1, 2),), (ContextRelation("S", "O", "d", 2.0, passages=("a",)),),
            (Unit("0_1", "t", passages=("a", "b")),), (Unit("chunk_1", "t", "A", ("a",)),),
        ),
    )  # fmt: skip
    assert evidence_of(json.loads(json.dumps(asdict(evidence)))) == evidence


def test_what_is_kept_counts_as_asked_and_is_not_taken_for_other_limits(tiny_index, tmp_path):
    kept = Retrieved(wb.method("hipporag2", tiny_index), tmp_path)
    first = kept.retrieve("Where was Nora Whitlock born?", 2, trace=(one := Trace()))
    with collect() as usage:
        again = kept.retrieve("Where was Nora Whitlock born?", 2, trace=(two := Trace()))
    assert again == first and one == two and usage.steps["fact_filter"].calls == 1
    assert kept.holds("Where was Nora Whitlock born?", 2, None, "full")
    assert not kept.holds("Where was Nora Whitlock born?", 2, None, "ids")
    assert len(kept.retrieve("Where was Nora Whitlock born?", 3, trace=Trace()).passages) == 3
