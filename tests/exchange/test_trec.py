"""TREC files: what is written is read back in the same order, by trec_eval as well; what is no run is refused with its
line."""

from __future__ import annotations

import gzip
from dataclasses import replace

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny import tiny_dataset

import workbench as wb
from workbench import exchange
from workbench.errors import DataError, SettingError
from workbench.exchange.trec import _run_lines, falling
from workbench.records import Question

QUESTIONS = [Question("q1", "one", support=("p1",)), Question("q2", "two", support=("p2", "p3"))]
PASSAGES = ["p1", "p2", "p3", "p4"]


@pytest.fixture
def read(tmp_path):
    def read(text, questions=QUESTIONS, passages=PASSAGES, **options):
        path = tmp_path / "theirs.run"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return exchange.read_run(path, questions, passages, **options)

    return read


def ids(ranked, question):
    return [passage for passage, _ in ranked.rankings[question]]


# -- there and back --------------------------------------------------------------------------------------------------

names = st.text(st.characters(codec="utf-8"), max_size=6)
HOSTILE = ["New York", "", "%", "100%", "a%20b", "a b", "tab\tid", "line\nid", "\ufeffbom", "\u3000", "\x00", "Æ", "#1"]


@given(
    st.lists(names | st.sampled_from(HOSTILE), unique=True, min_size=1, max_size=8).flatmap(
        lambda ids: st.tuples(
            st.just(ids), st.permutations(ids),
            st.lists(st.sampled_from([0.0, 1.0, -1.0, 1e-300, 1e300, 0.1, float("nan"), float("inf")]) | st.floats(),
                     min_size=len(ids), max_size=len(ids)),
        )
    ),
    names | st.sampled_from(HOSTILE), names | st.sampled_from(HOSTILE),
)  # fmt: skip
def test_any_ranking_comes_back_in_its_order(tmp_path_factory, drawn, question_id, tag):
    passages, order, scores = drawn
    path = tmp_path_factory.mktemp("trec") / "one.run"
    lines = _run_lines(question_id, list(zip(order, scores)), tag)
    path.write_text("".join(lines), encoding="utf-8", newline="")
    question = Question(question_id, "?")
    found = exchange.read_run(path, [question], passages)
    assert list(found) == [tag] and ids(found[tag], question_id) == list(order) and found[tag].notes == ()


@given(st.lists(st.floats() | st.sampled_from([0.0, 0.5, 1e-40, 3e38]), max_size=30))
def test_written_scores_fall_as_32_bit_floats(scores):
    made = np.array(falling(scores), dtype=np.float32)
    assert np.isfinite(made).all() and (np.diff(made) < 0).all()


def test_gold_comes_back(tmp_path):
    asked = [*QUESTIONS, Question("q 3", "three", support=("a b", "a%20b")), Question("q4", "four")]
    path = exchange.to_qrels(asked, tmp_path / "qrels.txt")
    assert path.read_text().splitlines()[-2:] == ["q%203 0 a%20b 1", "q%203 0 a%2520b 1"]
    bare = [replace(question, support=()) for question in asked]
    assert exchange.read_qrels(path, bare, [*PASSAGES, "a b", "a%20b"]) == asked


@pytest.fixture
def run(tiny_index, tmp_path):
    methods = {"dense": wb.method("dense", tiny_index), "bm25 [k1=2]": wb.method("bm25[k1=2]", tiny_index)}
    return wb.evaluate(tiny_dataset().questions, methods, out=tmp_path / "run", progress=False)


def test_a_run_is_measured_the_same_after_export_and_import(run, tiny_index, tmp_path):
    qrels, *files = exchange.to_trec(run, tmp_path / "trec")
    assert [file.name for file in files] == ["dense.run", "bm25_k1=2.run"]
    found = [one for file in files for one in wb.rankings(file, tiny_index, run.questions)]
    asked = exchange.read_qrels(qrels, run.questions, tiny_index.passages.row)
    assert [question.support for question in asked] == [question.support for question in run.questions]
    again = wb.evaluate(asked, found, out=tmp_path / "again", progress=False)
    assert again.methods == ["ranking[tag=dense]", "ranking[tag=bm25 [k1=2]]"]
    orders = [[[name for name, _ in row["ranking"]] for row in one.rows] for one in (run, again)]
    assert orders[0] == orders[1] and any(orders[0])
    columns = ["recall@1", "recall@5", "ndcg@10", "coverage", "context_tokens"]
    assert run.table()[columns].to_numpy().tolist() == again.table()[columns].to_numpy().tolist()
    measured = ir_measures.calc_aggregate(
        [ir_measures.nDCG @ 10], list(ir_measures.read_trec_qrels(str(qrels))),
        list(ir_measures.read_trec_run(str(files[0]))),
    )  # fmt: skip
    assert measured[ir_measures.nDCG @ 10] == pytest.approx(run.table().loc["dense", "ndcg@10"], abs=1e-9)


def test_a_ranking_with_a_passage_twice_is_not_written(run, tmp_path):
    run.rows[0]["ranking"] = [["p1", 1.0], ["p1", 0.5]]
    with pytest.raises(DataError, match=r"dense ranks the passage 'p1' twice for the question 'q1'"):
        exchange.to_trec(run, tmp_path / "trec")
    assert not (tmp_path / "trec" / "dense.run").exists()


def test_methods_get_files_of_their_own(run, tmp_path):
    row = run.config["methods"]["dense"]
    run.config["methods"] = dict.fromkeys(["A/b", "a b", "a_B-2", "..", "…" + "x" * 300], row)
    assert len({file.name.casefold() for file in exchange.to_trec(run, tmp_path)}) == 6
    assert all(file.parent == tmp_path and len(file.name) < 120 for file in exchange.to_trec(run, tmp_path))


# -- files of others -------------------------------------------------------------------------------------------------

PLAIN = "q1 Q0 p2 1 0.9 them\nq1 Q0 p1 2 0.7 them\nq2 Q0 p3 1 8 them\n"


@pytest.mark.parametrize(
    "text",
    [
        PLAIN, PLAIN.replace("\n", "\r\n"), "\ufeff" + PLAIN, PLAIN.replace(" ", "\t"), "\n" + PLAIN + "\n  \n",
        PLAIN.rstrip("\n"), gzip.compress(PLAIN.encode(), mtime=0), gzip.compress(("\ufeff" + PLAIN).encode(), mtime=0),
        "".join(reversed(PLAIN.splitlines(keepends=True))),  # the scores give the order, not the lines
    ],
)  # fmt: skip
def test_forms_of_the_same_file(read, text):
    (them,) = read(text).values()
    assert them.tag == "them" and dict(them.rankings) == {"q1": (("p2", 0.9), ("p1", 0.7)), "q2": (("p3", 8.0),)}


def test_several_systems_in_one_file(read):
    found = read(PLAIN + PLAIN.replace("them", "us").replace("p2", "p4"))
    assert list(found) == ["them", "us"] and ids(found["us"], "q1") == ["p4", "p1"]


def test_equal_scores(read):
    tied = "q1 Q0 p2 3 1 x\nq1 Q0 p1 2 1 x\nq1 Q0 p4 1 1 x\nq2 Q0 p1 0 2 x\nq2 Q0 p3 0 2 x\nq2 Q0 p2 0 2 x\n"
    (by_rank,) = read(tied).values()
    assert ids(by_rank, "q1") == ["p4", "p1", "p2"] and ids(by_rank, "q2") == ["p1", "p3", "p2"]
    assert by_rank.notes == ("2 questions with equal scores, ordered by rank",)


def test_what_is_missing_or_not_used_is_noted(read):
    (them,) = read("q1 Q0 p1 1 2 x\nother Q0 p9 1 1 x\nq1 Q0 p2 2 3 x\nq1 Q0 p3 3 1 x\n").values()
    assert ids(them, "q1") == ["p2", "p1", "p3"] and "q2" not in them.rankings
    assert them.notes == (
        "1 question of 2 without a ranking in the file: nothing is found",
        "1 question of the file not asked here: not used",
        "1 question whose ranks disagree with the scores: the scores count",
    )


def test_unknown_passages(read):
    text = PLAIN + "q2 Q0 p77 2 7 them\n"
    with pytest.raises(DataError, match=r"theirs.run, line 4: there is no passage 'p77' among 'p1', .*strict=False"):
        read(text)
    with pytest.raises(DataError, match="none of the passages is in the file, 'p1'"):
        read("q1 Q0 p77 1 7 x\n", strict=False)
    (them,) = read(text, strict=False).values()
    assert ids(them, "q2") == ["p3"] and them.notes[0].startswith("1 line with unknown passages left out")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q1 Q0 p1 1 0.5\n", "line 1 has 5 fields, where 6 are expected"),
        (PLAIN + "q1 Q0 New York 3 0.5 them\n", "line 4 has 7 fields.*a space within an id is written %20"),
        ("\n\nq1 Q0 p1 first 0.5 x\n", "line 3: the rank 'first' should be a whole number"),
        ("q1 Q0 p1 1 high x\n", "line 1: the score 'high' should be a finite number"),
        ("q1 Q0 p1 1 nan x\n", "the score 'nan'"),
        ("q1 Q0 p1 1 inf x\n", "the score 'inf'"),
        (PLAIN + "q1 Q0 p2 3 0.1 them\n", "line 4: the ranking of question and passage .*p2.* is already"),
        (b"q1 Q0 \xff 1 0.5 x\n", "line 1 is not UTF-8"),
        ("q1 Q0 p1 1 0.5 x\n".encode("utf-16"), "line 1 is not UTF-8"),
        ("", "none of the questions is in the file, 'q1', 'q2' \\(2\\)"),
        ("x9 Q0 p1 1 0.5 x\n", "none of the questions is in the file, .*it has 'x9'"),
        ("q1 Q0 p1 1 0.1 x\nq1 Q0 p2 2 0.4 x\n", "the scores of 'x' rise from each rank to the next, like distances"),
        (gzip.compress(PLAIN.encode(), mtime=0)[:30], "cannot be read"),
        (b"\x1f\x8bnonsense that is no gzip", "cannot be read"),
        (b"x" * (1 << 20) + b"x", "line 1 is longer than"),
    ],
)  # fmt: skip
def test_what_is_no_run_is_refused_with_its_line(read, text, said):
    with pytest.raises(DataError, match=rf"theirs\.run.*{said}"):
        read(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q1 0 p1\n", "line 1 has 3 fields, where 4 are expected: qid 0 passage relevance"),
        ("q1 0 p1 yes\n", "line 1: the relevance 'yes' should be a whole number"),
        ("q1 0 p1 1\nq1 0 p1 0\n", "line 2: the judgement of question and passage .*p1.* is already"),
        ("q1 0 p9 1\n", "line 1: there is no passage 'p9'"),
        ("q9 0 p1 1\n", "none of the questions is in the file"),
    ],
)
def test_what_is_no_gold_is_refused_with_its_line(tmp_path, text, said):
    (tmp_path / "qrels.txt").write_text(text)
    with pytest.raises(DataError, match=said):
        exchange.read_qrels(tmp_path / "qrels.txt", QUESTIONS, PASSAGES)


def test_grades_become_gold_or_not(tmp_path):
    path = tmp_path / "qrels.txt"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbfq1 0 p1 0\r\nq1 0 p2 3\r\nq1 0 p9 0\r\nq1 0 p3 -1\r\nq1 0 p4 1\r\n"))
    first, second = exchange.read_qrels(path, QUESTIONS, PASSAGES)
    assert first.support == ("p2", "p4") and second.support == ()  # not judged: without gold
    path.write_text("q1 0 p9 1\n")
    assert exchange.read_qrels(path, QUESTIONS, PASSAGES, strict=False)[0].support == ()


# -- as a method -----------------------------------------------------------------------------------------------------

THEIRS = "q1 Q0 p3 1 3 colbert\nq1 Q0 p2 2 2 colbert\nq2 Q0 p4 1 1.5 colbert\n"


@pytest.fixture
def theirs(tmp_path):
    (tmp_path / "colbert.run").write_text(THEIRS)
    return tmp_path / "colbert.run"


def test_another_system_is_compared_with_ours(tiny_index, theirs, tmp_path):
    questions = tiny_dataset().questions
    (colbert,) = wb.rankings(theirs, tiny_index, questions)
    assert colbert.notes == ("colbert: 1 question of 3 without a ranking in the file: nothing is found",)
    run = wb.evaluate(
        questions, [wb.method("dense", tiny_index), colbert], wb.reader("direct"), tmp_path / "run",
        measures=["recall@2", "mrr@2", "coverage", "em"], progress=False,
    )  # fmt: skip
    assert run.scores("recall@2", "ranking[tag=colbert]") == {"q1": 0.5, "q2": 0.5}
    assert run.scores("mrr@2", "ranking[tag=colbert]") == {"q1": 0.5, "q2": 1.0}
    assert set(run.compare()["method"]) == {"ranking[tag=colbert]"}
    last = run.rows[-1]
    assert last["ranking"] == [] and last["failure"] is None and "no ranking" in last["fallback"]
    assert run.trace("q1", colbert.label)[0].scores == (("p3", 3.0), ("p2", 2.0))


def test_it_keeps_the_promises_of_a_method(tiny_index, theirs):
    questions = tiny_dataset().questions
    (colbert,) = wb.rankings(theirs, tiny_index, questions)
    evidence = colbert.retrieve(questions[0].question, k=1)
    assert evidence.ranking == [("p3", 3.0)] and evidence.passages[0].item == tiny_dataset().passage("p3")
    assert colbert.retrieve(questions[0].question, budget=1).passages == ()
    assert colbert.retrieve("  ").passages == ()
    with pytest.raises(SettingError, match=r"was read for 3 questions, and 'Which else\?' is not among them"):
        colbert.retrieve("Which else?")
    assert "colbert" in repr(colbert)


def test_rows_of_another_file_are_not_reused(tiny_index, theirs, tmp_path):
    questions = tiny_dataset().questions

    def measured():
        found = wb.rankings(theirs, tiny_index, questions)
        return wb.evaluate(questions, found, out=tmp_path / "run", measures=["mrr@5"], progress=False)

    assert measured().scores("mrr@5", "ranking[tag=colbert]")["q1"] == 0.5
    assert measured().notes == ()
    theirs.write_text(THEIRS.replace("p3 1 3", "p1 1 3"))
    again = measured()
    assert again.scores("mrr@5", "ranking[tag=colbert]")["q1"] == 1.0 and again.notes


def test_questions_of_the_same_text(tiny_index, theirs):
    one, two, _ = tiny_dataset().questions
    with pytest.raises(DataError, match="the questions 'q1' and 'q2' have the same text"):
        wb.rankings(theirs, tiny_index, [one, replace(two, question=one.question)])
    theirs.write_text("q1 Q0 p3 1 3 x\nq2 Q0 p3 1 3 x\n")
    (same,) = wb.rankings(theirs, tiny_index, [one, replace(two, question=one.question)])
    assert same.retrieve(one.question).ranking == [("p3", 3.0)]
