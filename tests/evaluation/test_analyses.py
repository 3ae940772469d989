"""The analyses of a run, on runs and traces written by hand, and on small real ones."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest
from test_views import HOSTILE, UNSHOWABLE, Checked

import workbench as wb
from workbench import analyses
from workbench.analyses import (
    Analysis,
    Complementarity,
    CostQuality,
    Cuts,
    JudgedAccuracy,
    Promotion,
    WinRate,
)
from workbench.analyses.rounds import rounds_specs
from workbench.errors import SettingError
from workbench.evaluation import sums
from workbench.evaluation.run import Run, trace_name
from workbench.index.store import key_of
from workbench.llm import Result
from workbench.llm.meter import Meter
from workbench.methods import Dense
from workbench.records import Question
from workbench.trace import Trace

QUESTIONS = (
    Question("q1", "one?", ("1",), "bridge", 2, ("a", "b")),
    Question("q2", "two?", ("2",), "bridge", 2, ("c",)),
    Question("q3", "three?", ("3",), "comparison", 2, ("d",)),
    Question("q4", "four?", ("4",), "bridge", 3),
)
UNSAID = ("type", "hops", "key", "selected", "context", "retrieved", "context_tokens", "read", "read_tokens", "answer",
          "scored", "judge", "reading", "proof", "failure", "fallback")  # fmt: skip
BDTR = {"backbone": "dense", "iterations": 2, "depth": 200, "bgec": True, "policy": "keep", "max_docs": None}


def written(folder, methods, scores, *, questions=QUESTIONS, rankings=None, traces=None, **config) -> Run:
    """A run by hand. `methods`: label → settings; `scores`: label → measure → a value per question; `rankings`: label
    → ids per question; `traces`: label → a trace per question, or None."""
    (folder / "traces").mkdir(parents=True)
    said = {
        "format": sums.FORMAT,
        "data": {"name": "by hand", "fingerprint": ""},
        "questions": {"n": len(questions), "hash": key_of(questions=[asdict(question) for question in questions])},
        "engine": "openai:gpt-4o-mini",
        "methods": {
            label: {"label": label, "settings": settings, "layers": {}} for label, settings in methods.items()
        },
        "reader": "direct", "judge": None, "prompts": {}, "versions": {},
        "measures": list(dict.fromkeys(name for one in scores.values() for name in one)),
        "k": 20, "budget": None, "trace": "full", **config,
    }  # fmt: skip
    (folder / "checksums.json").unlink(missing_ok=True)
    (folder / "run.json").write_text(json.dumps(said))
    (folder / "checksums.json").unlink(missing_ok=True)
    with (folder / "results.jsonl").open("w") as out:
        for at, question in enumerate(questions):
            for label in methods:
                ids = rankings[label][at] if rankings else []
                row = dict.fromkeys(UNSAID) | {
                    "question_id": question.id, "method": label, "ranking": [[one, 1.0] for one in ids],
                    "scores": {name: values[at] for name, values in scores[label].items()},
                    "abstained": False, "nodes": [], "usage": {},
                }  # fmt: skip
                out.write(json.dumps(row) + "\n")
                if traces and traces[label][at]:
                    traces[label][at].save(folder / "traces" / trace_name(question.id, label))
    (folder / "questions.jsonl").write_text("".join(json.dumps(asdict(question)) + "\n" for question in questions))
    return Run(folder)


def iterative_trace(pools, *, done=False, verified=None, kept=(), filled=(), end=(), level="full") -> Trace:
    """A trace as iterative methods write it: a pool per round; `done`: one more round, whose thought stops; with
    `verified` a verifier, a promotion and a cut follow."""
    trace = Trace(level)
    with trace.span("CHAIN", "bdtr", question="?", k=20) as root:
        for number, pool in enumerate(pools):
            with trace.span("CHAIN", f"round {number}", round=number):
                if number:
                    with trace.span("CHAIN", "think", round=number) as span:
                        span.set(texts={"fast": "x"}, queries=[["fast", "x"]], done=False, given=False)
                with trace.span("CHAIN", "search", origin="question", query="x") as span:
                    span.set(scale="ppr", found=len(pool))
                with trace.span("CHAIN", "pool") as span:
                    span.set(size=len(pool), scale="ppr", mixed=False, risen={}, queries={})
                    span.score((one, 1 / rank) for rank, one in enumerate(pool, 1))
        if done:
            with trace.span("CHAIN", f"round {len(pools)}", round=len(pools)):  # noqa: SIM117
                with trace.span("CHAIN", "think", round=len(pools)) as span:
                    span.set(texts={"thought": "So the answer is: x"}, queries=[], done=True, given=False)
        if verified is not None:
            with trace.span("CHAIN", "reasoning chain") as span:
                span.set(chain="x", steps=["x"], bridges=[])
            with trace.span("RERANKER", "verify", passages=list(pools[-1])) as span:
                span.set(selected=list(verified), failures=0)
            with trace.span("RERANKER", "promote") as span:
                span.set(moved=[])
            with trace.span("RERANKER", "cut") as span:
                span.set(mu=0.5, sigma=0.1, threshold=0.6, policy="strict", kept=list(kept), filled=list(filled))
                span.score((one, 1 / rank) for rank, one in enumerate(end, 1))
        root.score((one, 1 / rank) for rank, one in enumerate(end or pools[-1], 1))
    return trace


@pytest.fixture
def two(tmp_path) -> Run:
    """Two methods over four questions, the last of which has no gold passages."""
    scores = {
        "static": {"em": [1, 0, 1, 0], "f1": [1, 0.5, 1, 0.4], "recall@5": [0.5, 0, 1, None]},
        "bdtr": {"em": [1, 1, 0, 1], "f1": [1, 1, 0, 1], "recall@5": [1, 1, 0, None]},
    }
    rankings = {"static": [["a", "x", "b"], ["x", "y", "z"], ["d"], ["x"]], "bdtr": [["b", "a"], ["c"], ["x"], []]}
    return written(tmp_path / "two", {"static": {}, "bdtr": BDTR}, scores, rankings=rankings, k=3)


# -- what no retrieval can reach ---------------------------------------------------------------------------------------


def test_questions_with_more_gold_passages_than_k_are_counted_where_the_measure_is_shown(tmp_path):
    questions = [replace(QUESTIONS[0], support=tuple("abcdef")), replace(QUESTIONS[1], support=tuple("abcde"))]
    scores = {name: {"all_gold@5": [0, 1], "joint@6": [1, 0], "recall@5": [5 / 6, 1]} for name in ("a", "b")}
    run = written(tmp_path / "many", {"a": {}, "b": {}}, scores, questions=questions)
    said = "all_gold@5 is 0 for 1 of 2 questions, which have more than 5 gold passages."
    assert said in repr(run) and said in run._repr_html_() and "joint@6 is 0" not in repr(run)
    assert said in analyses.complementarity(run, "a", "b").notes
    assert said in analyses.by_kind(run, questions, measures=["all_gold@5"]).notes
    assert said not in analyses.by_kind(run, questions, measures=["recall@5"]).notes


# -- by kind ----------------------------------------------------------------------------------------------------------


def test_differences_by_type_and_hops_by_hand(two):
    frame = analyses.by_kind(two, QUESTIONS).frame()
    rows = frame[(frame["method"] == "bdtr") & (frame["measure"] == "em")].set_index(["by", "kind"])
    assert rows["difference"].to_dict() == {
        ("type", "bridge"): pytest.approx(2 / 3), ("type", "comparison"): -1, ("hops", "2"): 0, ("hops", "3"): 1,
    }  # fmt: skip
    assert rows["n"].tolist() == [3, 1, 3, 1]
    assert rows.loc[("type", "bridge"), "value"] == 1 and rows.loc[("type", "bridge"), "baseline"] == 1 / 3
    assert rows[["low", "high"]].isna().all(axis=None), "too few questions of each kind for an interval"
    assert analyses.by_kind(two, QUESTIONS).figure(), "marks without intervals"
    assert frame[frame["method"] == "static"]["difference"].isna().all()
    recall = frame[(frame["measure"] == "recall@5") & (frame["by"] == "hops") & (frame["kind"] == "3")]
    assert recall["n"].tolist() == [0, 0] and recall["value"].isna().all(), "no gold passages, so not defined"


def test_the_questions_must_be_those_of_the_run(two, tmp_path):
    with pytest.raises(SettingError, match=r"'q1' .* not among the 1 given \(3 are missing\)"):
        analyses.by_kind(two, QUESTIONS[1:2])
    with pytest.raises(SettingError, match="but other texts, gold or types"):
        analyses.by_kind(two, [replace(QUESTIONS[0], type="other"), *QUESTIONS[1:]])
    analyses.by_kind(two, [*QUESTIONS, Question("more", "?")])
    bare = [replace(question, type=None, hops=None) for question in QUESTIONS]
    plain = written(tmp_path / "bare", {"a": {}}, {"a": {"em": [1, 1, 1, 1]}}, questions=bare)
    with pytest.raises(SettingError, match="cannot be grouped"):
        analyses.by_kind(plain, bare)


# -- recall over k ----------------------------------------------------------------------------------------------------


def test_recall_over_k_ends_where_the_rankings_do(two):
    curve = analyses.recall_curve(two, QUESTIONS, ks=[1, 2, 3, 5])
    values = {(row["method"], row["k"]): row["recall"] for row in curve.rows}
    assert [values["static", k] for k in (1, 2, 3)] == pytest.approx([0.5, 0.5, 2 / 3])
    assert values["static", 5] is None, "static may have had more than three"
    assert [values["bdtr", k] for k in (1, 2, 3, 5)] == pytest.approx([0.5, 2 / 3, 2 / 3, 2 / 3]), "it had no more"
    assert {row["n"] for row in curve.rows} == {3}
    assert curve.notes == ("The run ranked with k=3; for the rest of the curve evaluate again with k=5.",)
    assert analyses.recall_curve(two, QUESTIONS, ks=[1, 2], methods=["bdtr"]).notes == ()


def test_a_budget_ends_rankings_as_well(tmp_path):
    rankings = {"static": [["a", "x"], ["c"], ["d", "x"], ["x"]]}
    run = written(tmp_path / "run", {"static": {}}, {"static": {}}, rankings=rankings, budget=100)
    curve = analyses.recall_curve(run, QUESTIONS, ks=[1, 2])
    assert [row["recall"] for row in curve.rows] == [pytest.approx(2.5 / 3), None]
    assert "budget=100" in curve.notes[0]


# -- two methods over the same questions ------------------------------------------------------------------------------


def test_the_square_of_two_methods_by_hand(tmp_path):
    scores = {"a": {"em": [1, 0, 0, 0], "f1": [1, 0.5, 0, 0.4]}, "b": {"em": [1, 0, 1, 0], "f1": [1, 0, 1, 0.2]}}
    run = written(tmp_path / "run", {"a": {}, "b": {}}, scores)
    f1, em = analyses.complementarity(run, "a", "b").rows
    assert f1 == {"rule": "f1 ≥ 0.5", "n": 4, "both": 1, "only_a": 1, "only_b": 1, "neither": 1, "union": 0.75,
                  "phi": 0, "p": 1}  # fmt: skip
    assert (em["both"], em["only_a"], em["only_b"], em["neither"], em["union"]) == (1, 0, 1, 2, 0.5)
    assert em["phi"] == pytest.approx(2 / 12**0.5)  # (1·2 - 0·1) / √(1 · 3 · 2 · 2)
    strict = analyses.complementarity(run, "a", "b", threshold=1).rows[0]
    assert (strict["rule"], strict["only_a"]) == ("f1", 0)
    same = analyses.complementarity(run, "a", "a").rows[0]
    assert (same["phi"], same["p"]) == (1, 1)


def test_methods_of_two_runs_meet_if_the_questions_are_the_same(tmp_path):
    one = written(tmp_path / "one", {"a": {}}, {"a": {"all_gold@5": [1, 0, 1, None]}})
    two = written(tmp_path / "two", {"b": {}}, {"b": {"all_gold@5": [1, 1, 0, None]}})
    (row,) = analyses.complementarity(one, "a", "b", other=two).rows
    assert (row["rule"], row["n"], row["both"], row["only_a"], row["only_b"]) == ("all_gold@5", 3, 1, 1, 1)
    other = written(tmp_path / "other", {"b": {}}, {"b": {"em": [1]}}, questions=QUESTIONS[:1])
    with pytest.raises(SettingError, match="different questions"):
        analyses.complementarity(one, "a", "b", other=other)
    with pytest.raises(SettingError, match="threshold=0"):
        analyses.complementarity(one, "a", "a", threshold=0)


# -- gold passages through the rounds ---------------------------------------------------------------------------------

FAR = [f"x{n}" for n in range(1, 12)]  # eleven passages that are not gold


@pytest.fixture
def rounds(tmp_path) -> Run:
    """q1: a rises from 12 to 1 and is read; b, which the verifier chose, falls to the cut. q2: c is never found. q3
    stops early with d at 12. q4 has no gold."""
    traces = {
        "bdtr": [
            iterative_trace(
                [[*FAR, "a"], ["x1", "a", "x2", "x3", "x4", "x5", "b"], ["a", "x1", "x2", "x3", "x4", "x5", "b"]],
                verified=["a", "b"], kept=["a"], filled=["x1", "x2"],
                end=["a", "x1", "x2", "b", "x3", "x4", "x5"],
            ),
            iterative_trace([FAR, FAR, FAR], verified=[], filled=FAR[:5], end=FAR),
            iterative_trace([[*FAR, "d"]], done=True, verified=[], filled=FAR[:5], end=[*FAR, "d"]),
            iterative_trace([FAR, FAR, FAR], verified=[], filled=FAR[:5], end=FAR),
        ]
    }  # fmt: skip
    scores = {"bdtr": {"em": [1, 0, 1, 0], "recall@5": [0.5, 0, 0, None]}}
    return written(tmp_path / "rounds", {"bdtr": BDTR}, scores, traces=traces)


def test_the_way_of_every_gold_passage(rounds):
    found = analyses.promotion(rounds, QUESTIONS, progress=False)
    ways = found.passages().astype(object)
    ways = ways.where(ways.notna(), None).set_index("passage")
    assert {name: list(ways.loc[name, ["round 0", "round 1", "round 2", "end", "fate"]]) for name in "abcd"} == {
        "a": [12, 2, 1, 1, "read"],
        "b": [None, 7, 7, 4, "cut"],
        "c": [None, None, None, None, "not found"],
        "d": [12, 12, 12, 12, "sunk"],
    }
    frame = found.frame().set_index("stage")
    assert frame["first 5"].tolist() == [0, 1, 1, 2]
    assert frame["first 10"].tolist() == [0, 2, 2, 2]
    assert frame["first 50"].tolist() == frame["found"].tolist() == [2, 3, 3, 3]
    assert set(frame["gold"]) == {4}
    assert found.fates().to_dict("records") == [{"method": "bdtr", "read": 1, "cut": 1, "sunk": 1, "not found": 1}]
    assert "fetched 200 passages" in found.notes[-1]


def test_a_question_that_broke_found_nothing(tmp_path):
    broken = Trace()
    with broken.span("CHAIN", "ircot", question="?"):
        pass
    traces = {"ircot": [broken, broken, iterative_trace([["d"]]), broken]}
    run = written(tmp_path / "run", {"ircot": {"iterations": 2}}, {"ircot": {}}, traces=traces)
    assert analyses.promotion(run, QUESTIONS, progress=False).passages()["fate"].tolist() == [
        "not found", "not found", "not found", "read",
    ]  # fmt: skip


def test_long_ids_are_found_at_level_ids(tmp_path):
    long = "passage " * 20
    question = Question("q", "?", support=(long,))
    traces = {"ircot": [iterative_trace([["x", long]], level="ids")]}
    run = written(tmp_path / "run", {"ircot": {"iterations": 0}}, {"ircot": {}}, traces=traces, questions=[question],
                  trace="ids")  # fmt: skip
    (row,) = analyses.promotion(run, [question], progress=False).gold
    assert (row["passage"], row["ranks"]) == (long, {"round 0": 2})


def test_how_many_the_cut_lets_through(rounds):
    found = analyses.cuts(rounds, progress=False)
    assert found.rows == (
        {"method": "bdtr", "n": 4, "mixed": 0, "verified": 0.5, "dropped": 0.25, "read": 4.5, "fewest": 3, "most": 5,
         "filled": 1},
    )  # fmt: skip
    assert found.sizes == ({"method": "bdtr", "read": 3, "questions": 1}, {"method": "bdtr", "read": 5, "questions": 3})
    assert found.tables()["Passages chosen for the reader"]["questions"].sum() == 4


# -- rounds, parts and time -------------------------------------------------------------------------------------------


def test_curves_of_two_methods_and_of_a_run_without_traces(tmp_path):
    labels = [*rounds_specs("ircot[backbone=dense]", [2, 0]), *rounds_specs("bdtr", [1])]
    assert labels == ["ircot[backbone=dense,iterations=2]", "ircot[backbone=dense,iterations=0]", "bdtr[iterations=1]"]
    methods = {label: {"iterations": int(label[-2])} for label in labels}
    methods["bdtr (thoughts by hand)"] = {"iterations": 2}
    run = written(tmp_path / "run", methods, {label: {"em": [1, 0, 0, 0]} for label in methods}, trace="off")
    rows = analyses.rounds_curve(run).rows
    assert [(row["method"], row["iterations"]) for row in rows] == [
        ("bdtr", 1), ("bdtr (thoughts by hand)", 2), ("ircot[backbone=dense]", 0), ("ircot[backbone=dense]", 2),
    ]  # fmt: skip
    assert {(row["stopped"], row["rounds"]) for row in rows} == {(None, None)}
    analyses.rounds_curve(run).figure()
    with pytest.raises(SettingError, match="counts iterations"):
        analyses.rounds_curve(written(tmp_path / "static", {"dense": {}}, {"dense": {"em": [1, 1, 1, 1]}}))


def test_the_parts_of_bdtr_are_named_and_compared(tmp_path):
    variants = {
        "dense": {}, "bdtr[bgec=false]": BDTR | {"bgec": False}, "bdtr[iterations=0]": BDTR | {"iterations": 0},
        "bdtr": BDTR, "bdtr[policy=lift]": BDTR | {"policy": "lift"}, "bdtr[max_docs=5]": BDTR | {"max_docs": 5},
    }  # fmt: skip
    scores = {label: {"em": [1, 0, 0, at % 2], "f1": [1, 0, 0, 1], "read": [5, 5, 5, 5 + at]}
              for at, label in enumerate(variants)}  # fmt: skip
    found = analyses.ablation(written(tmp_path / "run", variants, scores))
    frame = found.frame()
    assert frame["variant"].tolist() == ["static", "DTR", "BGEC", "BDTR", "BDTR, lift", "BDTR, at most 5 read"]
    assert frame["read"].tolist() == [5, 5.25, 5.5, 5.75, 6, 6.25]
    assert frame.loc[1, ["em", "gain", "difference"]].tolist() == [0.5, 100, 0.25]
    assert frame.loc[2, ["em", "gain", "difference"]].tolist() == [0.25, 0, 0]
    assert frame.loc[0, ["gain", "difference", "low"]].isna().all()
    assert "of em, against dense" in found.notes[0]
    with pytest.raises(SettingError, match="no method bdtr"):
        analyses.ablation(written(tmp_path / "none", {"dense": {}}, {"dense": {"em": [1, 1, 1, 1]}}))


def test_seconds_by_what_they_went_into(rounds):
    with pytest.raises(SettingError, match=r"no timings\.jsonl"):
        analyses.running_time(rounds)
    stages = {
        "bdtr": 10.0, "bdtr / round 0": 3.0, "bdtr / round 0 / search": 2.5, "bdtr / round 0 / search / dense": 2.0,
        "bdtr / round 1 / think": 1.0, "bdtr / round 1 / search": 1.0, "bdtr / round 1 / search #2": 0.5,
        "bdtr / verify": 2.0, "bdtr / reasoning chain": 0.25, "direct": 7.0, "direct / think": 7.0,
    }  # fmt: skip
    timed = [{"question_id": "q1", "method": "bdtr", "seconds": stages},
             {"question_id": "q2", "method": "bdtr", "seconds": {"bdtr": 2.0}}]  # fmt: skip
    (rounds.folder / "timings.jsonl").write_text("".join(json.dumps(row) + "\n" for row in timed))
    (row,) = analyses.running_time(rounds).rows
    assert row == {"method": "bdtr", "n": 2, "seconds": 6, "median": 6, "p90": pytest.approx(9.2), "thinking": 1.625,
                   "searching": 2, "hours": 12 / 3600}  # fmt: skip


# -- how many to read -------------------------------------------------------------------------------------------------


class KnowsWhatItReads:
    """Answers with the last title that it is shown; fails on a question about fog."""

    name, workers = "reads", 2

    def __init__(self):
        self.meter = Meter()

    def run(self, step, inputs, *, trace=None):
        (value,) = inputs
        if "fog" in value.question:
            return [Result(None, failure="told to fail")]
        return [Result(step.output(thought="", answer=value.passages[-1][0], abstained=False))]


class Chooses(Dense):
    """Would have the reader read one passage; counts how often it is asked."""

    asked = 0

    def search(self, question, k, trace):
        self.asked += 1
        if "broken" in question:
            raise ZeroDivisionError
        return replace(super().search(question, k, trace), selected=1)


def test_the_same_evidence_is_read_to_every_depth(tiny_index):
    method = Chooses(tiny_index)
    ranking = [passage.title for passage, _ in method.retrieve("Which lake does the Aldra flow into?").passages]
    questions = [
        Question("first", "Which lake does the Aldra flow into?", (ranking[0],)),
        Question("third", "Which lake does the Aldra flow into?", (ranking[2],)),
        Question("fails", "What of the fog?", ("x",)),
        Question("breaks", "What is broken?", ("x",)),
        Question("no gold", "What?"),
    ]
    method.asked = 0
    found = analyses.quality_against_k(questions, method, KnowsWhatItReads(), [3, 1, 100], progress=False)
    assert method.asked == 4, "once a question, and not for one without an answer"
    frame = found.frame().set_index("k")
    assert frame.index.tolist() == [1, 3, 100]
    assert frame["em"].tolist() == [0.25, 0.25, 0]
    assert frame["read"].tolist() == [0.75, 2.25, 0.75 * len(tiny_index.passages.passages)], "of a corpus of eight"
    assert set(frame["failures"]) == {2} and set(frame["n"]) == {4}


# -- real ones --------------------------------------------------------------------------------------------------------


def test_rounds_and_parts_are_run(tiny, tiny_index, tmp_path):
    def run(specs, out):
        methods = [wb.method(spec, tiny_index) for spec in specs]
        return wb.evaluate(tiny.questions, methods, wb.reader("direct"), tmp_path / out, progress=False)

    first = analyses.rounds_curve(run(analyses.rounds_specs("bdtr[backbone=dense,bgec=false]", [0, 1]), "rounds"))
    assert [(row["iterations"], row["n"]) for row in first.rows] == [(0, 3), (1, 3)]
    assert first.rows[0]["rounds"] == 0
    parts = analyses.ablation(run(analyses.ablation_specs("dense"), "parts"))
    assert parts.frame()["variant"].tolist() == [
        "static", "DTR", "BGEC", "BDTR", "BDTR, strict", "BDTR, lift", "BDTR, at most 5 read",
    ]  # fmt: skip
    assert parts.rows[0]["read"] == parts.rows[-1]["read"] == 5
    assert "Made with rules" in parts.notes[0]
    found = analyses.promotion(Run(tmp_path / "parts"), tiny.questions, progress=False)
    assert len(found.gold) == 4 * 6 and not found.passages()["fate"].eq("not found").any(), "200 of 8 are fetched"


# -- how they look ----------------------------------------------------------------------------------------------------


def things(text: str) -> dict[str, Analysis]:
    """One of each, with the text wherever a text may stand."""
    kind = {"by": "type", "kind": text, "method": text, "measure": "em", "n": 3, "value": 0.5, "baseline": 0.25,
            "difference": 0.25, "low": 0.0, "high": 0.5}  # fmt: skip
    square = {"rule": text, "n": 4, "both": 1, "only_a": 1, "only_b": 1, "neither": 1, "union": 0.75, "phi": 0.0,
              "p": 1.0}  # fmt: skip
    stage = {"method": text, "stage": text, "gold": 9, "first 5": 1, "first 10": 2, "first 50": 3, "first 200": 4,
             "found": 5}  # fmt: skip
    gold = {"question_id": text, "method": text, "passage": text, "ranks": {text: 3}, "fate": "read"}
    curve = {"method": text, "iterations": 1, "em": 0.5, "recall@5": None, "stopped": None, "rounds": 1.0, "n": 3}
    part = {"variant": text, "method": text, "em": None, "f1": 0.5, "read": 5.0, "gain": None, "difference": None,
            "low": None, "high": None, "n": 3}  # fmt: skip
    time = {"method": text, "n": 3, "seconds": 1.0, "median": 1.0, "p90": 1.0, "thinking": 0.4, "searching": 0.5,
            "hours": 0.1}  # fmt: skip
    hop = {"hops": 2, "method": text, "n": 3, "node_recall": 0.5, "node_precision": 0.1, "node_f1": 0.2,
           "passages": 5.0, "failures": 0}  # fmt: skip
    equal = {"hops": 2, "method": text, "n": 3, "nodes": 4.0, "recall": 0.5, "precision": 0.25, "f1": 0.3}
    rate = {"hops": None, "dimension": text, "n": 3, "win_rate": 0.5, "low": 0.2, "high": 0.8, "failures": 1,
            "unanswered": 0}  # fmt: skip
    judgement = {"question_id": text, "hops": 2, "a_first": True, "winners": {text: "a"}, "reasons": {text: text},
                 "failure": text}  # fmt: skip
    judged = {"reader": text, "method": text, "over": "answerable", "n": 3, "accuracy": 0.5, "low": 0.2, "high": 0.8,
              "refused": 0.1, "failures": 1}  # fmt: skip
    parts = {"reader": text, "method": text, "by": "type", "kind": text, "n": 7, "correct_covered": 2, "lucky": 1,
             "reasoning": 1, "cut": None, "retrieval": 3, "accuracy": 0.4, "coverage": 0.4, "reasoning_share": 0.5,
             "reasoning_share_read": None}  # fmt: skip
    covered = {"reader": text, "method": text, "measure": "f1", "n": 3, "value": 0.5, "covered_n": 2, "covered": 0.6,
               "read_n": None, "read": None}  # fmt: skip
    paid = {"reader": text, "method": text, "n": 3, "quality": 0.5, "low": 0.4, "high": 0.6, "tokens": 9.0,
            "shown": 5.0, "money": 0.1, "cost": 0.1, "front": True}  # fmt: skip
    gain = {"reader": text, "against": text, "run": text, "data": text, "method": text, "measure": "em", "by": "type",
            "kind": text, "n": 3, "value": 0.5, "baseline": 0.25, "difference": 0.25, "low": 0.0, "high": 0.5,
            "p": 0.5, "mcnemar": None, "p_holm": 1.0}  # fmt: skip
    routed = {"method": text, "configuration": text, "measure": "accuracy", "n": 3, "accuracy": None, "abstained": 0.5,
              "second": 1, "unlabelled": None, "difference": None, "low": None, "high": None, "p": None}  # fmt: skip
    clock = {"method": text, "workers": 1, "n": 3, "hours": 0.1, "seconds": 9.0, "speed_up": 1.0, "waiting": 0.0}
    clocks = (clock, clock | {"workers": 8, "seconds": 2.0, "speed_up": None})
    notes = (text, text)
    by_kind = (kind, kind | {"kind": "b", "difference": 0.1 + 1e-17 + 0.2, "low": 0.3, "high": 0.3})
    curve_over_k = ({"method": text, "k": 5, "recall": 0.5, "n": 3}, {"method": text, "k": 9, "recall": None, "n": 3})
    to_depth = ({"k": 5, "em": 0.5, "f1": 0.5, "read": 5.0, "failures": 0, "n": 3},)
    cut = ({"method": text, "n": 3, "read": None},)
    sizes = ({"method": text, "read": 5, "questions": 3},)
    rates = (rate, rate | {"win_rate": None, "low": None, "high": None})
    costs = (paid, paid | {"front": False, "cost": None, "money": None})

    def plain(rows, draw) -> Analysis:
        return Analysis(text, rows, notes, draw=draw)

    return {
        "by_kind": plain(by_kind, "by_kind"),
        "recall_curve": plain(curve_over_k, "recall_curve"),
        "quality_against_k": plain(to_depth, "quality_against_k"),
        "rounds_curve": plain((curve,), "rounds_curve"),
        "complementarity": Complementarity(text, (square,), notes, text, text, draw="complementarity"),
        "gains_by_kind": plain((gain, gain | {"kind": "b", "by": "hops"}), "gains_by_kind"),
        "gains_over_static": plain((gain, gain | {"data": "b"}), "gains_over_static"),
        "recomputed_routing": plain((routed, routed | {"accuracy": 0.5}), "recomputed_routing"),
        "wall_clock": plain(clocks, "wall_clock"),
        "promotion": Promotion(text, (stage,), notes, (gold,), draw="promotion"),
        "cuts": Cuts(text, cut, notes, sizes, draw="cuts"),
        "ablation": plain((part,), "ablation"),
        "running_time": plain((time,), "running_time"),
        "by_hops": plain((hop, hop | {"hops": None, "node_recall": None}), "by_hops"),
        "at_equal_nodes": plain((equal, equal | {"hops": 3, "recall": None}), "at_equal_nodes"),
        "decomposition": plain((parts, parts | {"kind": None, "cut": 1}), "decomposition"),
        "covered_only": plain((covered, covered | {"read_n": 1, "read": 1.0}), "covered_only"),
        "cost_quality": CostQuality(text, costs, notes, draw="cost_quality"),
        "judged_accuracy": JudgedAccuracy(
            text,
            (judged, judged | {"accuracy": None, "low": None, "high": None}),
            notes,
            (judgement,),
            draw="judged_accuracy",
        ),
        "win_rate": WinRate(text, rates, notes, text, text, (judgement,), draw="win_rate"),
    }


NAMES = list(things("x"))


@pytest.mark.parametrize("text", [*HOSTILE, "".join(HOSTILE), "", "x" * 100_000], ids=range(len(HOSTILE) + 3))
def test_nothing_in_them_is_acted_upon(text):
    for name, thing in things(text).items():
        shown = thing._repr_html_()
        Checked(shown)
        assert not UNSHOWABLE.search(shown) and not UNSHOWABLE.search(repr(thing)), name
        assert len(shown) < 30_000 and len(repr(thing)) < 20_000, name


@pytest.mark.filterwarnings("ignore:Glyph .* missing from font")
@pytest.mark.parametrize("which", NAMES)
def test_figures_are_drawn_and_saved_with_the_same_bytes(which, tmp_path):
    thing = things("$x_{$ \\frac{1}{0}\x1b[2J\x00\u202e" + "x" * 1_000)[which]
    files = [thing.figure().save(tmp_path / f"{name}.png").read_bytes() for name in "ab"]
    assert files[0] == files[1] and len(files[0]) > 1_000


def test_a_value_compares_by_value_and_gives_its_frame(two):
    assert analyses.by_kind(two, QUESTIONS) == analyses.by_kind(two, QUESTIONS)
    long = Analysis("long", tuple({"method": "m", "k": k, "recall": 0.5, "n": 1} for k in range(1, 101)))
    assert len(long.frame()) == 100 and "40 more" in repr(long) and "40 more" in long._repr_html_()
    with pytest.raises(NotImplementedError, match="Analysis has no figure"):
        Analysis("plain", ()).figure()
