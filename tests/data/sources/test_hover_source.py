"""HoVer's claims in the layout of CatRAG's files and of HoVer's own, on small files of invented content."""

from __future__ import annotations

import json

import pytest

from workbench.data import load
from workbench.data.registry import ENTRIES, find
from workbench.data.sources.entry import passage_id
from workbench.data.sources.hipporag import read, read_many_hops
from workbench.errors import DataError

CORPUS = [
    {"title": "Orsby", "text": "Orsby is a town. It lies on the Quell."},
    {"title": "Quell", "text": "The Quell is a river in Vell."},
    {"title": "Vell", "text": "Vell is a land."},
]
CONTEXT = [["Orsby", ["Orsby is a town.", "It lies on the Quell."]], ["Quell", ["The Quell is a river in Vell."]]]
IDS = [passage_id("hv", passage["title"], passage["text"]) for passage in CORPUS]
DEV = "hover_dev_release_v1.1"


def claim(number: int, **more) -> dict:
    return {
        "hover_id": f"u{number}", "claim": f"Town {number} lies in Vell.", "label": "SUPPORTED",
        "supporting_facts": [["Orsby", 1], ["Quell", 0], ["Orsby", 0]], "context": CONTEXT, **more,
    }  # fmt: skip


def official(number: int, hops: int, **more) -> dict:
    return {
        "uid": f"u{number}", "claim": f"Town {number} lies in Vell.", "label": "SUPPORTED", "num_hops": hops,
        "supporting_facts": [["Orsby", 1]], "hpqa_id": "5ab", **more,
    }  # fmt: skip


def write(folder, claims, dev=None):
    folder.mkdir(parents=True, exist_ok=True)
    files = {"hover_corpus": CORPUS, "hover": claims, **({} if dev is None else {DEV: dev})}
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def one(folder, **more):
    return read(write(folder, [claim(1, **more)]), "hover").questions[0]


def test_a_claim_is_the_question_and_its_label_the_answer(tmp_path):
    question = one(tmp_path, label="NOT_SUPPORTED", num_hops=3)
    assert (question.id, question.question) == ("u1", "Town 1 lies in Vell.")
    assert (question.answers, question.type, question.hops) == (("NOT_SUPPORTED",), "NOT_SUPPORTED", 3)


def test_the_sentences_of_a_gold_passage_are_joined_by_a_space_and_each_passage_counts_once(tmp_path):
    assert one(tmp_path).support == tuple(IDS[:2])


def test_the_claim_may_stand_as_a_question_with_its_answer_and_the_words_that_ask(tmp_path):
    row = {"question": "Verify the following claim: Orsby lies in Vell.", "answer": ["SUPPORTED"], "uid": "x"}
    row |= {"context": CONTEXT, "supporting_facts": [["Quell", 0]]}
    (question,) = read(write(tmp_path, [row]), "hover").questions
    assert (question.id, question.question, question.answers) == ("x", "Orsby lies in Vell.", ("SUPPORTED",))
    assert question.hops is None and question.support == (IDS[1],)


@pytest.mark.parametrize("field", ["context", "contexts"])
def test_passages_and_facts_may_be_objects(tmp_path, field):
    row = claim(1) | {"supporting_facts": [{"key": "Quell", "value": 0}]}
    del row["context"]
    (question,) = read(write(tmp_path, [row | {field: CORPUS}]), "hover").questions
    assert question.support == (IDS[1],), "the others of the context are no gold"


@pytest.mark.parametrize("label", ["Not supported", " NOT-SUPPORTED "])
def test_a_label_in_other_letters_is_the_same(tmp_path, label):
    question = one(tmp_path, label=label)
    assert (question.answers, question.type) == (("NOT_SUPPORTED",), "NOT_SUPPORTED")


@pytest.mark.parametrize("label", ["REFUTED", True])
def test_another_label_is_refused_with_what_was_expected(tmp_path, label):
    with pytest.raises(DataError, match=r"question 1: the label is .*SUPPORTED or NOT_SUPPORTED is expected"):
        one(tmp_path, label=label)


def test_hops_come_from_the_development_set_by_id_or_by_claim(tmp_path):
    renamed = claim(3, hover_id="other")
    dev = [official(1, 3), official(2, 4, claim="Worded otherwise."), official(3, 4, claim="Town 3  lies in Vell.")]
    found = read_many_hops(write(tmp_path, [claim(1, num_hops=2), claim(2), renamed], dev))
    assert [(question.id, question.hops) for question in found.questions] == [("u1", 3), ("u2", 4), ("other", 4)]
    assert len(found.passages) == 3 and found.notes == ()


def test_claims_of_two_hops_and_unknown_ones_are_left_out_and_counted(tmp_path):
    dev = [official(1, 3), official(2, 2), official(3, 2)]
    found = read_many_hops(write(tmp_path, [claim(n) for n in (1, 2, 3, 4)], dev))
    assert [question.id for question in found.questions] == ["u1"]
    assert found.notes == (
        "2 claims that HoVer counts as 2-hop are left out",
        "1 claims that HoVer's development set does not hold are left out",
    )


@pytest.mark.parametrize("row", [{"uid": "u1", "claim": "x"}, {"claim": "x", "num_hops": 3}, "u1", None])
def test_a_development_set_of_another_form_is_refused(tmp_path, row):
    with pytest.raises(DataError, match="claim 2: HoVer's fields uid, claim and num_hops are expected"):
        read_many_hops(write(tmp_path, [claim(1)], [official(1, 3), row]))


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HOPSCOPE_OFFLINE", "1")
    monkeypatch.delenv("HOPSCOPE_DATA", raising=False)


def test_both_are_named_and_the_sample_of_the_paper_says_what_is_not_known(nowhere):
    assert find("hover").id == find("hover/dev").id == "hover/dev/catrag-1000"
    many = find("hover/dev/3-4hop")
    assert many is ENTRIES["hover/dev/3-4hop-1000"] and (many.passages, many.questions) == (9440, 1000)
    assert [file.name for file in many.files] == ["hover.json", "hover_corpus.json", f"{DEV}.json"]
    with pytest.raises(DataError, match=r"could not be checked.*is the paper's word"):
        load("hover/dev/3-4hop")
