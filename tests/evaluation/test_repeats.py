"""Repeats: the same questions with other seeds are one run, which stops, grows and replays as a run does."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest
from test_bundle import questions as shown_in
from tiny import files

import workbench as wb
from workbench.errors import EngineUnavailable, SettingError
from workbench.evaluation import sums
from workbench.evaluation.run import HYPOTHESES
from workbench.llm.call import Reply
from workbench.llm.chat import ChatEngine, replay_engine
from workbench.llm.record import Recording


def same_always(folder):
    return {name: content for name, content in files(folder).items() if "timings.jsonl" not in name}


class Scripted:
    """Answers by question and seed: right for an even sum of the two. `seen`: (Step, seed) of each request."""

    def __init__(self, lives=10**9, fingerprint=lambda seed: ""):
        self.seen, self.lives, self.fingerprint = [], lives, fingerprint

    def __call__(self, request):
        self.lives -= 1
        if self.lives < 0:
            raise EngineUnavailable("gone")
        self.seen.append((request.step, request.seed))
        asked = request.messages[-1]["content"]
        if request.step == "fact_filter":
            said = json.dumps({"facts": []})
        else:
            said = f"Thought: x\nAnswer: {'Lake Mira' if (len(asked) + request.seed) % 2 else 'Orsby'}"
        return Reply(said, prompt_tokens=10, completion_tokens=2, fingerprint=self.fingerprint(request.seed))

    @property
    def seeds(self):
        return Counter(seed for _, seed in self.seen)


@pytest.fixture
def ask(tiny, tiny_index, tmp_path):
    questions = [replace(one, answers=("Lake Mira",)) for one in tiny.questions]

    def ask(repeats=1, out="run", call=None, methods=("hipporag2", "dense"), engine=None, asked=questions, **settings):
        engine = engine or ChatEngine(
            "openai:scripted", call or Scripted(), concurrency=1, seed=settings.pop("seed", 0)
        )
        chosen = [wb.method(spec, tiny_index, engine) for spec in methods]
        return wb.evaluate(
            asked, chosen, wb.reader("direct", engine), tmp_path / out, repeats=repeats, progress=False, **settings
        )

    return ask


# -- one run ----------------------------------------------------------------------------------------------------------


def test_each_repeat_asks_with_another_seed_and_the_scores_are_their_means(ask):
    call = Scripted()
    run = ask(5, call=call)
    assert call.seeds.keys() == {0, 1, 2, 3, 4} and len(set(call.seeds.values())) == 1
    for method in run.methods:
        assert all(sorted(each) in ([0, 0, 0, 1, 1], [0, 0, 1, 1, 1]) for each in run.values("em", method).values())
        for question, mean in run.scores("em", method).items():
            values = [row["scores"]["em"] for one in run.repeated for row in one.rows
                      if (row["question_id"], row["method"]) == (question, method)]  # fmt: skip
            assert len(values) == 5 and mean == pytest.approx(sum(values) / 5)
    table = run.table()
    assert table.loc["dense", "em"] == pytest.approx(sum(run.scores("em", "dense").values()) / 3)
    assert set(table["repeats"]) == {5} and set(table["questions"]) == {3}
    assert len(run.frame()) == 5 * 2 * 3 and sorted(set(run.frame()["repeat"])) == [0, 1, 2, 3, 4]
    usage = json.loads((run.folder / "usage.json").read_text())
    assert usage["dense"]["answer"]["calls"] == 15, "the run cost what all repeats cost"


def test_the_first_repeat_is_the_run_without_repeats_byte_for_byte(ask):
    one, five = (same_always(ask(n, out=str(n)).folder) for n in (1, 5))
    for word in (b'"repeats"', b'"repeat"', b'"seeds"', b'"fingerprints"'):
        assert word not in one["run.json"] + one["results.jsonl"]
    assert five["results.jsonl"].startswith(one["results.jsonl"]), "the rows of the other repeats follow"
    derived = {"run.json", "results.jsonl", "table.csv", "usage.json", "checksums.json"}
    assert {name: five[name] for name in one if name not in derived} == {
        name: content for name, content in one.items() if name not in derived
    }
    config = json.loads(five["run.json"])
    assert config.pop("repeats") == 5 and config == json.loads(one["run.json"])


def test_growing_from_one_to_three_to_five_asks_only_what_is_missing(ask):
    whole = same_always(ask(5, out="whole").folder)
    for repeats, new in ((1, {0}), (3, {1, 2}), (5, {3, 4}), (5, set()), (2, set())):
        call = Scripted()
        run = ask(repeats, call=call)
        assert set(call.seeds) == new and run.repeats == repeats
        assert {len(each) for each in run.values("em", "dense").values()} == {repeats}
    assert same_always(run.folder) == whole
    assert wb.Run(run.folder).repeats == 5, "the folder keeps what was paid for"


@pytest.mark.parametrize("lives", [1, 20, 44])
def test_stopped_in_the_middle_of_repeats_it_goes_on_to_the_same_bytes(ask, lives):
    whole = Scripted()
    expected = same_always(ask(5, out="whole", call=whole).folder)
    first, rest = Scripted(lives), Scripted()
    with pytest.raises(EngineUnavailable):
        ask(5, call=first)
    run = ask(5, call=rest)
    assert same_always(run.folder) == expected
    assert len(first.seen) + len(rest.seen) <= len(whole.seen) + 1, "at most the question under way is asked again"


def test_questions_and_methods_are_added_to_all_repeats(ask, tiny):
    asked = [replace(one, answers=("Lake Mira",)) for one in tiny.questions]
    whole = same_always(ask(3, out="whole").folder)
    ask(3, methods=("hipporag2",), asked=asked[:1])
    ask(3, methods=("hipporag2",), asked=asked)
    assert same_always(ask(3).folder) == whole


def test_rows_of_changed_code_are_no_repeats_of_the_new_ones(ask, tiny_index, monkeypatch):
    ask(3)
    monkeypatch.setattr(tiny_index.passages, "hash", "other")
    call = Scripted()
    run = ask(1, call=call)
    assert set(call.seeds) == {0}, "the repeats were not asked for"
    again = wb.Run(run.folder)
    assert {len(each) for each in again.values("em", "dense").values()} == {1}, "no mean over two versions"
    assert again.table().loc["dense", "repeats"] == 1
    (before,) = (run.folder / "before").iterdir()
    assert wb.Run(before).table().loc["dense", "repeats"] == 3


def test_measures_and_gold_that_change_are_measured_in_all_repeats_without_a_call(ask, tiny):
    ask(3)
    call = Scripted()
    asked = [replace(one, answers=("Orsby",)) for one in tiny.questions]
    run = ask(1, call=call, asked=asked, measures=["em", "accuracy"])
    assert not call.seen
    whole = wb.Run(run.folder)
    assert {len(each) for each in whole.values("em", "dense").values()} == {3}
    right = [row["answer"] == "Orsby" for one in whole.repeated for row in one.rows if row["method"] == "dense"]
    assert whole.table().loc["dense", "em"] == pytest.approx(sum(right) / 9)


# -- what cannot vary -------------------------------------------------------------------------------------------------


def test_rules_are_asked_once_and_the_record_says_so(ask):
    run = ask(5, engine=wb.engine("rules"))
    assert len(sums.read_rows(run.folder / "results.jsonl")) == len(run.rows)
    frame = run.intervals(["em"])
    assert set(frame["deviation"]) == {0} and all(frame["deterministic"]) and set(frame["repeats"]) == {5}
    assert all(run.deterministic(method) for method in run.methods)
    assert "deterministic" in repr(run) and "deterministic" in run._repr_html_()
    assert {len(each) for each in run.values("em", "dense").values()} == {1}


def test_of_a_reader_by_rules_only_methods_with_a_model_are_repeated(tiny, tiny_index, tmp_path):
    call = Scripted()
    engine = ChatEngine("openai:scripted", call, concurrency=1)
    methods = [wb.method(name, tiny_index, engine) for name in ("hipporag2", "dense")]
    run = wb.evaluate(tiny.questions, methods, wb.reader("direct"), tmp_path / "run", repeats=3, progress=False)
    assert [one.methods for one in run.repeated] == [["hipporag2", "dense"], ["hipporag2"], ["hipporag2"]]
    assert [run.deterministic(name) for name in run.methods] == [False, True]
    assert set(call.seeds) == {0, 1, 2} and all(step == "fact_filter" for step, _ in call.seen)


def test_a_bundle_shows_each_repeat_of_a_question(ask, tmp_path):
    """With its answer, scores, cause and trace; the first one is in the list."""
    run = ask(3)
    folder = wb.bundle(run, out=tmp_path / "bundle", progress=False)
    differing = 0
    for question, one in zip(run.questions, shown_in(folder), strict=True):
        for method, cell in zip(run.methods, one["cells"], strict=True):
            rows = [next(row for row in again.rows if (row["question_id"], row["method"]) == (question.id, method))
                    for again in run.repeated]  # fmt: skip
            times = [cell, *cell["repeats"]]
            assert [time["answer"] for time in times] == [row["answer"] for row in rows]
            assert [time["scores"]["em"] for time in times] == [row["scores"]["em"] for row in rows]
            assert all((time["cause"] is None) == (time["scores"]["accuracy"] == 1) for time in times)
            assert all({"trace", "stages"} & dict(time["parts"]).keys() for time in times)
            differing += len({time["answer"] for time in times}) > 1
    assert differing, "or nothing is shown that the first one does not show"
    assert "asked up to 3 times" in (folder / "index.html").read_text()
    alone = wb.bundle(wb.Run(run.folder, repeats=1), out=tmp_path / "alone", progress=False)
    assert not any("repeats" in cell for one in shown_in(alone) for cell in one["cells"])


# -- seeds, recordings, servers ---------------------------------------------------------------------------------------


def test_a_run_says_its_seeds_and_does_not_pass_for_one_with_others(ask):
    call = Scripted()
    run = ask(2, call=call, seed=7)
    assert set(call.seeds) == {7, 8}
    assert run.config["seeds"] == {"openai:scripted": [7]}
    with pytest.raises(SettingError, match="the seed of openai:scripted: 7, now 0"):
        ask(2, seed=0)


def test_a_replay_of_a_recording_of_repeats_gives_the_same_bytes(ask, tmp_path):
    file, store = str(tmp_path / "replies.sqlite"), Recording(tmp_path / "replies.sqlite")
    call = Scripted(fingerprint=lambda seed: "fp")
    live = ask(3, out="live", engine=ChatEngine("openai:scripted", call, store=store, concurrency=1))
    assert same_always(ask(3, out="replayed", engine=replay_engine(file)).folder) == same_always(live.folder)
    again = Scripted()
    ask(3, out="again", engine=ChatEngine("openai:scripted", again, store=store, concurrency=1))
    assert not again.seen, "the recording keeps repeats apart, and has them all"


def test_a_server_that_changes_within_a_run_is_noted(ask):
    steady = ask(2, out="steady", call=Scripted(fingerprint=lambda seed: "fp_a"))
    assert steady.notes == () and steady.rows[0]["fingerprints"] == {"openai:scripted": ["fp_a"]}
    run = wb.Run(ask(2, call=Scripted(fingerprint=lambda seed: f"fp_{seed}")).folder)
    (note,) = run.notes
    assert "server of openai:scripted changed" in note and "fp_0 in 6 rows, fp_1 in 6 rows" in note
    assert note in repr(run) and note in run._repr_html_()


def test_a_method_that_asks_in_threads_of_its_own_is_counted_and_has_the_seed_of_its_repeat(tiny, tiny_index):
    from workbench.llm.call import repeating
    from workbench.llm.meter import collect

    call = Scripted()
    engine = ChatEngine("openai:scripted", call, concurrency=4)
    with repeating(3), collect() as usage:
        wb.method("catrag", tiny_index, engine).retrieve(tiny.questions[0].question)
    assert {seed for _, seed in call.seen} == {3}
    assert usage.total.calls == len(call.seen) > 1


# -- grids, lists, command line ---------------------------------------------------------------------------------------


def test_in_a_grid_all_readers_read_the_evidence_of_their_repeat(tiny, tiny_index, tmp_path):
    call = Scripted()
    engine = ChatEngine("openai:scripted", call, concurrency=1)
    methods = [wb.method(name, tiny_index, engine) for name in ("hipporag2", "dense")]
    readers = {"short": wb.reader("direct[k=1]", engine), "long": wb.reader("direct[k=3]", engine)}
    made = wb.grid(tiny.questions, methods, readers, tmp_path / "grid", repeats=3, progress=False)
    filtered = Counter(seed for step, seed in call.seen if step == "fact_filter")
    assert filtered.keys() == {0, 1, 2} and set(filtered.values()) == {filtered[0]} and filtered[0] <= 3
    assert set(made.table()["repeats"]) == {3}
    before = len(call.seen)
    wb.grid(tiny.questions, methods, readers, tmp_path / "grid", repeats=3, progress=False)
    assert len(call.seen) == before


def test_a_comparison_pairs_the_means_of_questions_and_tests_hypotheses_only(ask):
    frame = ask(3).compare("dense")
    assert set(frame["measure"]) == set(HYPOTHESES), "no cost, no tokens in the family of tests"
    (row,) = frame[frame["measure"] == "em"].to_dict("records")
    run = wb.Run(ask(3).folder)
    ours, base = (run.scores("em", name) for name in ("hipporag2", "dense"))
    assert row["difference"] == pytest.approx(sum(ours[one] - base[one] for one in ours) / 3)
    assert row["low"] != row["low"] or row["low"] is None, "three questions have no interval"
    assert set(ask(3).compare("dense", ["tokens"])["measure"]) == {"tokens"}, "unless asked for"
