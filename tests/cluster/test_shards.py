"""Shards: parts done apart from each other, joined to the bytes of one build and one evaluation."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tiny import TinyEncoder, TinyEngine, files

import workbench as wb
from workbench import shards
from workbench.data import Dataset
from workbench.errors import IndexFault, SettingError
from workbench.evaluation.sharding import merge
from workbench.index import Index, journal, vectors
from workbench.index.sharding import build_shard
from workbench.records import Passage, Question
from workbench.shards import Shard
from workbench.testing import data as _hash_encoder  # noqa: F401 (registers it)

NAMES = ("Orsby", "Quell", "Tarn Hall", "Lake Mira", "Aldra")


def data(passages: int = 60) -> Dataset:
    texts = (f"{NAMES[at % 5]} {at} lies near {NAMES[at * 3 % 5]} {at // 2}." for at in range(passages))
    made = [Passage(f"p{at}", f"{NAMES[at % 5]} {at}", text) for at, text in enumerate(texts)]
    asked = [Question(f"q{at}", f"What lies near {NAMES[at % 5]} {at}?", ("Orsby",), "bridge", 2) for at in range(8)]
    return Dataset("made", tuple(made), tuple(asked))


def contents(folder: Path) -> dict[str, bytes]:
    """All files but those of shards, and those that hold seconds."""
    apart = ("timings.jsonl", "counted.json")
    found = files(folder).items()
    return {name: text for name, text in found if not name.startswith("shards/") and not name.endswith(apart)}


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch):
    monkeypatch.setattr(vectors, "BLOCK_CHARACTERS", 200)
    monkeypatch.setattr(journal, "GROUP", 4)


def built(folder: Path, engine=None, **given) -> Index:
    engine = engine or TinyEngine()
    return Index.build(data(), engine, folder, encoder=TinyEncoder(), progress=False, **given)


def build(folder: Path, shard: str, engine=None, **given):
    return build_shard(data(), engine or TinyEngine(), folder, shard, encoder=TinyEncoder(), progress=False, **given)


# -- builds -----------------------------------------------------------------------------------------------------------


def test_three_shards_of_a_build_make_the_index_of_one(tmp_path):
    one, engines, whole = built(tmp_path / "one"), [TinyEngine() for _ in range(3)], tmp_path / "made"
    for number in (2, 3, 1):
        done = build(whole, f"{number}/3", engines[number - 1])
        assert (list(done.parts), done.waiting) == (["passages", "extractions"], ("facts",))
    asked = [title for engine in engines for title in engine.asked]
    assert sorted(asked) == sorted(passage.title for passage in data().passages)
    assert max(len(engine.asked) for engine in engines) == 20
    assert set(merge(whole)) == {"passages", "extractions"}

    for number in (1, 2, 3):  # the second round, for what is made of all extractions
        silent = TinyEngine(fail_at=0)
        done = build(whole, f"{number}/3", silent)
        assert (list(done.parts), done.waiting) == (["facts"], ())
    assert set(merge(whole)) == set(merge(whole)) == {"facts"}

    def encodes_nothing(self, texts):
        raise AssertionError("all texts are encoded")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TinyEncoder, "encode", encodes_nothing)
        made = built(whole, TinyEngine(fail_at=0))
    assert contents(one.folder) == contents(made.folder)


def test_one_round_is_enough_if_the_rest_is_built_at_once(tmp_path):
    for number in (1, 2):
        build(tmp_path / "made", f"{number}/2")
    merge(tmp_path / "made")
    made = built(tmp_path / "made", TinyEngine(fail_at=0))
    assert contents(built(tmp_path / "one").folder) == contents(made.folder)


def test_a_stopped_shard_goes_on_and_is_missing_until_then(tmp_path):
    whole, stopped = tmp_path / "made", TinyEngine(fail_at=4)
    build(whole, "1/2")
    with pytest.raises(RuntimeError, match="injected"):
        build(whole, "2/2", stopped)
    with pytest.raises(SettingError, match=r"lacks 1 of 2 shards, which have not ended: --shard 2/2"):
        merge(whole)
    going_on = TinyEngine()
    build(whole, "2/2", going_on)
    assert len(stopped.asked) + len(going_on.asked) == 28  # seven groups of four, none twice
    merge(whole)
    assert contents(built(whole, TinyEngine(fail_at=0)).folder) == contents(built(tmp_path / "one").folder)


def test_new_passages_are_divided_over_an_index_that_stands(tmp_path):
    def grown(folder: Path, **given):
        return Index.build(data(80), TinyEngine(**given), folder, encoder=TinyEncoder(), progress=False)

    for name in ("one", "made"):
        built(tmp_path / name)
    for number in (1, 2):
        engine = TinyEngine()
        build_shard(data(80), engine, tmp_path / "made", f"{number}/2", encoder=TinyEncoder(), progress=False)
        assert 0 < len(engine.asked) < 20
    merge(tmp_path / "made")
    assert contents(grown(tmp_path / "one").folder) == contents(grown(tmp_path / "made", fail_at=0).folder)


@pytest.mark.parametrize(
    ("what", "given"),
    [("settings", {"settings": {"facts": {"normalise": "ascii"}}}), ("parts", {"layers": ["extractions"]})],
)
def test_shards_with_other_settings_are_refused(tmp_path, what, given):
    build(tmp_path / "made", "1/2")
    build(tmp_path / "made", "2/2", **given)
    with pytest.raises(SettingError, match=rf"shard 2/2 differs from shard 1/2 in {what}"):
        merge(tmp_path / "made")


@pytest.mark.parametrize("what", ["data", "versions", "package", "engine"])
def test_shards_of_other_data_versions_or_engines_are_refused(tmp_path, what):
    for number in (1, 2):
        build(tmp_path / "made", f"{number}/2")
    path = Shard(2, 2).folder(tmp_path / "made") / shards.FILE
    path.write_text(json.dumps({**json.loads(path.read_text()), what: "other"}))
    with pytest.raises(SettingError, match=rf'shard 2/2 differs from shard 1/2 in {what} \("other"; '):
        merge(tmp_path / "made")


def test_vectors_of_other_texts_are_refused(tmp_path):
    for number in (1, 2):
        build(tmp_path / "made", f"{number}/2")
    (rows,) = Shard(2, 2).folder(tmp_path / "made").glob("passages-*/*.rows.json")
    rows.write_text(json.dumps({**json.loads(rows.read_text()), "job": "other"}))
    with pytest.raises(IndexFault, match=r"the shards of vectors.npy in passages-.* encoded other texts"):
        merge(tmp_path / "made")


# -- evaluations ------------------------------------------------------------------------------------------------------


@pytest.fixture
def index(tmp_path) -> Index:
    return Index.build(data(), wb.engine("rules"), tmp_path / "index", encoder=TinyEncoder(), progress=False)


def evaluated(index: Index, out: Path, shard: str | None = None, **given):
    methods = [wb.method("bdtr[backbone=dense]", index), wb.method("bm25", index)]
    return wb.evaluate(data().questions, methods, wb.reader("direct[k=3]"), out, shard=shard, progress=False, **given)


def test_three_shards_of_an_evaluation_make_the_run_of_one(index, tmp_path):
    one = evaluated(index, tmp_path / "one")
    for number in (3, 1, 2):
        done = evaluated(index, tmp_path / "made", f"{number}/3")
        assert len(done.rows) == 2 * (2 if number == 3 else 3)
    made = merge(tmp_path / "made")
    assert len(made.rows) == 16
    assert contents(one.folder) == contents(made.folder)
    assert [(t["question_id"], t["method"]) for t in timings(one)] == [
        (t["question_id"], t["method"]) for t in timings(made)
    ]
    assert contents(merge(tmp_path / "made").folder) == contents(one.folder)
    shutil.rmtree(tmp_path / "made" / shards.FOLDER)
    assert evaluated(index, tmp_path / "made").notes == ()  # a run as any other


def timings(run) -> list[dict]:
    return [json.loads(line) for line in (run.folder / "timings.jsonl").read_text().splitlines()]


def test_an_unfinished_shard_is_missing(index, tmp_path):
    evaluated(index, tmp_path / "made", "1/3")
    with pytest.raises(SettingError, match=r"lacks 2 of 3 shards, which have not ended: --shard 2/3, 3/3"):
        merge(tmp_path / "made")


def test_runs_with_other_settings_are_refused(index, tmp_path):
    evaluated(index, tmp_path / "made", "1/2")
    evaluated(index, tmp_path / "made", "2/2", k=7)
    with pytest.raises(SettingError, match=r"shard 2/2 differs from shard 1/2 in k \(7; 20\)"):
        merge(tmp_path / "made")


def test_runs_over_other_questions_are_refused(index, tmp_path):
    evaluated(index, tmp_path / "made", "1/2")
    evaluated(index, tmp_path / "made", "2/2", limit=6)
    with pytest.raises(SettingError, match=r"shard 2/2 differs from shard 1/2 in questions"):
        merge(tmp_path / "made")


def test_another_run_in_the_folder_stays(index, tmp_path):
    evaluated(index, tmp_path / "made", k=7)
    before = contents(tmp_path / "made")
    for number in (1, 2):
        evaluated(index, tmp_path / "made", f"{number}/2")
    with pytest.raises(SettingError, match="holds another run than its shards make"):
        merge(tmp_path / "made")
    assert contents(tmp_path / "made") == before


def test_more_shards_than_questions(index, tmp_path):
    with pytest.raises(SettingError, match="there are 8 questions, and none for shard 9 of 9"):
        evaluated(index, tmp_path / "made", "9/9")


# -- both -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["0/3", "4/3", "3", "1/0", "a/b", "", "1/2/3"])
def test_a_spec_that_names_no_shard(spec):
    with pytest.raises(SettingError, match=r"the shard .* is none; write its number and how many there are"):
        Shard.parse(spec)


def test_a_folder_without_shards(tmp_path):
    with pytest.raises(SettingError, match="has no shards; make them with --shard 1/4"):
        merge(tmp_path)


def test_shards_of_different_numbers(index, tmp_path):
    for shard in ("1/2", "2/2", "1/3"):
        evaluated(index, tmp_path / "made", shard)
    with pytest.raises(SettingError, match="holds shards of 2 and of 3; delete the folders"):
        merge(tmp_path / "made")


def test_on_the_command_line(workbench, tmp_path, notes, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    asked = tmp_path / "questions.jsonl"
    asked.write_text("".join(json.dumps({"id": f"q{n}", "question": f"What is {n}?"}) + "\n" for n in range(4)))
    for number in (1, 2):
        said = workbench("index", notes, "--out", tmp_path / "made", "--encoder", "hash", "--shard", f"{number}/2")
        assert f"Shard {number} of 2" in said.output
    assert "passages, extractions; go on with `index`" in workbench("merge", tmp_path / "made").output
    workbench("index", notes, "--out", tmp_path / "made", "--encoder", "hash")
    for number in (1, 2):
        workbench("evaluate", tmp_path / "made", "-q", asked, "-m", "bm25", "-o", tmp_path / "run",
                  "--shard", f"{number}/2")  # fmt: skip
    assert "bm25" in workbench("merge", tmp_path / "run").output
