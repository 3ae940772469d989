"""Samples by name: the same questions for a name, whoever asks, and the corpus that belongs to them."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

from workbench.data import load, registry, sampling, write_folder
from workbench.data.registry import ENTRIES, find
from workbench.data.sampling import Sample, drawn, parse
from workbench.data.sources.entry import Copy
from workbench.data.sources.fetch import source_folder
from workbench.errors import DataError, SettingError
from workbench.records import Question

QUESTIONS = tuple(Question(f"q{number}", "?", ("x",)) for number in range(2417))
RECORDED = ["q456", "q102", "q1126", "q1003", "q914", "q571"]
HASH = "e535a0c07c826cda"


@pytest.fixture(autouse=True)
def nowhere(tmp_path, monkeypatch):
    """No data but what a test puts there, and no connection."""
    monkeypatch.setenv("HOPSCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HOPSCOPE_OFFLINE", "1")
    monkeypatch.delenv("HOPSCOPE_DATA", raising=False)


def ids(questions) -> list[str]:
    return [question.id for question in questions]


# -- the rule ---------------------------------------------------------------------------------------------------------


def test_what_a_name_stands_for_never_changes():
    """These ids are recorded: another rule, or another Python that draws otherwise, would be another data set."""
    found = drawn(QUESTIONS, Sample(500, 42), "musique/dev")
    assert len(set(ids(found))) == 500 and ids(found)[:6] == RECORDED
    said = sampling.described(found, Sample(500, 42), 2417)
    assert said == {"n": 500, "of": 2417, "seed": 42, "rule": sampling.RULE, "ids": HASH}
    assert eval(sampling.RULE, {"random": random, "seed": 42, "questions": QUESTIONS, "n": 500}) == list(found)


def test_so_many_of_each_number_of_hops_one_of_each_in_turn():
    hopped = [replace(question, hops=1 + (number > 20)) for number, question in enumerate(QUESTIONS[:60])]
    found = drawn(hopped, Sample(7, 42, per_hop=True), "my")
    assert [question.hops for question in found] == [1, 2] * 7 and len({*ids(found)}) == 14
    assert found[::2] == tuple(random.Random(42).sample(hopped[:21], 7))
    said = sampling.described(found, Sample(7, 42, per_hop=True), 60)
    assert said["rule"] == sampling.PER_HOP and parse("a/7-per-hop@42", "a") == ("a", Sample(7, 42, per_hop=True))
    with pytest.raises(DataError, match="my, of 1 hop, has 21 questions, so 22 cannot be drawn"):
        drawn(hopped, Sample(22, 1, per_hop=True), "my")
    with pytest.raises(DataError, match=r"my does not give the number of hops of every question.* as my/7@1"):
        drawn([*hopped, QUESTIONS[99]], Sample(7, 1, per_hop=True), "my")


def test_all_questions_may_be_drawn_and_no_more():
    assert sorted(ids(drawn(QUESTIONS[:5], Sample(5, 1), "x"))) == ids(QUESTIONS[:5])
    with pytest.raises(DataError, match="my has 5 questions, so 6 cannot be drawn from it; ask for at most 5"):
        drawn(QUESTIONS[:5], Sample(6, 1), "my")
    with pytest.raises(DataError, match="my has 0 questions, so 1 cannot be drawn from it; it is a corpus alone"):
        drawn((), Sample(1, 1), "my")


# -- names ------------------------------------------------------------------------------------------------------------


def test_a_sample_of_what_has_no_such_name_is_a_path(tmp_path, monkeypatch):
    assert parse("my/500@42", ["musique/dev"]) == ("my/500@42", None)
    (tmp_path / "my" / "500@42").mkdir(parents=True)
    (tmp_path / "my" / "500@42" / "corpus.jsonl").write_text('{"id": "a", "text": "b"}\n')
    monkeypatch.chdir(tmp_path)
    assert load("my/500@42").name == "500@42"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("musique/dev/0@42", "n is '0', where a whole number of at least 1"),
        ("musique/dev/0500@42", "n is '0500'.*without leading zeros"),
        ("musique/dev/500@", "the seed is '', where a whole number of at least 0"),
        ("musique/dev/500@x", "the seed is 'x'.* name a sample as musique/dev/500@42"),
        ("musique/5000@42", "musique/dev/hipporag-1000 has 1,000 questions, so 5,000 cannot be drawn"),
        ("ultradomain/cs/5@1", "ultradomain/cs has 0 questions.* load it by its own name"),
        ("musiqe/dev/500@42", "did you mean .*'musique/dev/500@42'"),
    ],
)
def test_what_is_wrong_with_a_name_is_said_before_anything_is_fetched(name, said):
    with pytest.raises(DataError, match=said):
        load(name)


def test_every_set_with_questions_has_samples():
    assert find("musique/20@0").id == "musique/dev/hipporag-1000/20@0"
    for name, whole in ENTRIES.items():
        if whole.questions:
            entry = find(f"{name}/20@0")
            assert (entry.id, entry.questions, entry.whole) == (f"{name}/20@0", 20, whole)
            assert source_folder(entry) == source_folder(whole)
            assert entry.passages == (None if entry.pooled else whole.passages)
            with pytest.raises(DataError, match="HOPSCOPE_DATA"):
                load(f"{name}/20@0")


def test_samples_of_the_bundled_corpus():
    whole, data = load("meridian"), load("meridian/12@3")
    assert data.name == "meridian/12@3" and data.passages == whole.passages and data.graph == whole.graph
    assert data.questions == drawn(whole.questions, Sample(12, 3), "meridian")
    assert data.origin.settings["of"] == len(whole.questions) and "seed=3" in repr(data.origin)
    with pytest.raises(SettingError, match="size: 'meridian/12@3' has passages of its own"):
        load("meridian/12@3", size=100)


# -- questions with their own paragraphs ------------------------------------------------------------------------------


def small(monkeypatch, count: int = 12):
    """MuSiQue's development set with `count` questions of three paragraphs, of which one belongs to all."""
    entry = ENTRIES["musique/dev"]
    files = (replace(entry.files[0], sha256=None),)
    monkeypatch.setitem(ENTRIES, entry.id, replace(entry, questions=count, files=files))
    source_folder(entry).mkdir(parents=True)
    rows = [
        {
            "id": f"2hop__{number}_{number}", "question": f"Where is {number}?", "answer": "there",
            "paragraphs": [
                {"idx": 0, "title": "All", "paragraph_text": "Of all.", "is_supporting": False},
                {"idx": 1, "title": f"Gold {number}", "paragraph_text": f"It is {number}.", "is_supporting": True},
                {"idx": 2, "title": "Other", "paragraph_text": f"Not {number}.", "is_supporting": False},
            ],
        }
        for number in range(count)
    ]  # fmt: skip
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (source_folder(entry) / "musique_ans_v1.0_dev.jsonl").write_text(text)


def test_a_sample_brings_its_paragraphs_and_only_these(monkeypatch):
    small(monkeypatch)
    whole, data = load("musique/dev"), load("musique/dev/4@42")
    assert (len(whole.questions), len(whole.passages)) == (12, 25) and whole.origin.settings["repeated"] == 11
    assert data.name == "musique/dev/4@42" and ids(data.questions) == ids(drawn(whole.questions, Sample(4, 42), "x"))
    numbers = {question.id.rpartition("_")[2] for question in data.questions}
    texts = {"Of all.", *(f"It is {n}." for n in numbers), *(f"Not {n}." for n in numbers)}
    assert len(data.passages) == 9 and {passage.text for passage in data.passages} == texts
    known = {passage.id for passage in data.passages}
    assert all(len(question.support) == 1 and {*question.support} <= known for question in data.questions)
    assert {passage.id for passage in data.passages} <= {passage.id for passage in whole.passages}
    assert data.fingerprint != load("musique/dev/4@43").fingerprint != whole.fingerprint


def test_name_rule_seed_and_hash_travel_with_it(monkeypatch, tmp_path):
    small(monkeypatch)
    data = load("musique/dev/4@42")
    said = {name: data.origin.settings[name] for name in ("n", "of", "seed", "rule", "ids")}
    assert said == sampling.described(data.questions, Sample(4, 42), 12) and sampling.RULE in repr(data.origin)
    write_folder(data, tmp_path / "mine" / "musique" / "dev" / "4@42")
    monkeypatch.setenv("HOPSCOPE_DATA", str(tmp_path / "mine"))
    back = load("musique/dev/4@42")
    assert back.folder == tmp_path / "mine/musique/dev/4@42" and replace(back, folder=data.folder) == data
    assert load("musique/dev/4@43").folder == source_folder(ENTRIES["musique/dev"]), "which no folder holds"


@pytest.mark.parametrize("what", ["seed", "ids", "origin"])
def test_a_folder_under_the_name_of_another_sample_is_not_taken_for_it(monkeypatch, what):
    small(monkeypatch)
    folder = write_folder(load("musique/dev/4@43"), registry.cache() / "musique" / "dev" / "4@42")
    origin, questions = folder / "origin.json", folder / "questions.jsonl"
    if what == "ids":
        origin.write_text(origin.read_text().replace('"seed": 43', '"seed": 42'))
        questions.write_text("".join(reversed(questions.read_text().splitlines(keepends=True))))
    elif what == "origin":
        origin.unlink()
    with pytest.raises(DataError, match=rf"does not hold musique/dev/4@42: .*'{'n' if what == 'origin' else what}' is"):
        load("musique/dev/4@42")


# -- a corpus of their own --------------------------------------------------------------------------------------------


def shared_corpus(folder, count: int):
    folder.mkdir(parents=True)
    (folder / "corpus.jsonl").write_text('{"id": "a", "text": "b"}\n{"id": "c", "text": "d"}\n')
    (folder / "questions.jsonl").write_text("".join(f'{{"id": "q{n}", "question": "?"}}\n' for n in range(count)))


def test_a_published_corpus_stays_whole(monkeypatch, tmp_path):
    entry = ENTRIES["popqa/hipporag-1000"]
    monkeypatch.setitem(ENTRIES, entry.id, replace(entry, passages=2, questions=9))
    shared_corpus(registry.cache() / entry.id, 9)
    whole, data = load("popqa"), load("popqa/3@5")
    assert data.passages == whole.passages and data.questions == drawn(whole.questions, Sample(3, 5), "x")
    assert data.name == "popqa/hipporag-1000/3@5" and data.fingerprint == whole.fingerprint
    assert data.origin.source == whole.origin.source and data.origin.settings["of"] == 9


def test_questions_on_triples_by_hops_as_in_metaqa(monkeypatch):
    entry = ENTRIES["metaqa/vanilla/test"]
    monkeypatch.setitem(ENTRIES, entry.id, replace(entry, triples=1, questions=12))
    folder = registry.cache() / entry.id
    folder.mkdir(parents=True)
    (folder / "triples.tsv").write_text("Ash\tdirected_by\tMira Pell\n")
    for hops in (1, 2, 3):
        lines = (f'{{"id": "{hops}-{n}", "question": "?", "topic_entity": "Ash"}}\n' for n in range(4))
        (folder / f"questions_{hops}hop.jsonl").write_text("".join(lines))
    data = load("metaqa/vanilla/test/2-per-hop@42")
    assert [question.hops for question in data.questions] == [1, 2, 3, 1, 2, 3]
    assert data.triples == load("metaqa/vanilla/test").triples and data.origin.settings["rule"] == sampling.PER_HOP
    kept = write_folder(data, folder / "2-per-hop@42")
    assert load("metaqa/vanilla/test/2-per-hop@42").folder == kept


def test_a_part_of_the_questions_has_no_samples(monkeypatch, tmp_path):
    """Drawn from 4 of 9, the same name would stand for other questions."""
    entry = ENTRIES["popqa/hipporag-1000"]
    changed = replace(entry, passages=2, questions=9, copies=(Copy("part", 2, 4, note="4 of the 9"),))
    monkeypatch.setitem(ENTRIES, entry.id, changed)
    shared_corpus(tmp_path / "mine" / "part", 4)
    monkeypatch.setenv("HOPSCOPE_DATA", str(tmp_path / "mine"))
    assert len(load("popqa").questions) == 4
    with pytest.raises(DataError, match=r"part holds 4 of the 9 questions of popqa/hipporag-1000.* with `limit`"):
        load("popqa/3@5")
