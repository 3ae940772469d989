"""The measures of GraphRAG-Bench (arXiv 2506.05690) in a run: by a judge whose words are known, by hand."""

from __future__ import annotations

import json

import pytest
from by_hand import QUESTIONS, RunByHand
from tiny import TinyEncoder, tiny_dataset

import workbench as wb
from workbench.errors import SettingError
from workbench.evaluation.claims import judged
from workbench.llm.call import Reply
from workbench.llm.chat import ChatEngine
from workbench.measures import GRAPHRAG_BENCH, Outcome, measure
from workbench.measures.graphrag_bench import LEVELS
from workbench.papers.tables import NOT_COMPARABLE, tables
from workbench.records import Question
from workbench.steps import claims
from workbench.trace import Trace

ANSWER, GOLD, CONTEXT = "Nora founded it. She sang.", "Nora founded it in Orsby.", "Nora founded the station."
CLAIMS = {ANSWER: ("a1", "a2", "a3"), GOLD: ("g1", "g2")}
SUPPORTED = {(CLAIMS[ANSWER], GOLD): [1, 2], (CLAIMS[GOLD], ANSWER): [2, 9], (CLAIMS[ANSWER], CONTEXT): [1],
             (CLAIMS[GOLD], CONTEXT): [1, 2, 2]}  # fmt: skip


class Judge:
    """Says what stands above; `breaks` is a Step that fails."""

    name = "by hand"

    def __init__(self, breaks: str = ""):
        self.breaks, self.asked = breaks, []

    def run(self, step, values, *, trace=None):
        from workbench.llm import Result

        (value,) = values
        self.asked.append((step.name, value))
        if step.name == self.breaks:
            return [Result(None, failure="no reply")]
        if step is claims.STATE:
            return [Result(claims.Claims(claims=list(CLAIMS[value.text])))]
        if step is claims.SUPPORT:
            return [Result(claims.Supported(supported=SUPPORTED[value.claims, value.text]))]
        return [Result(claims.Rating(rating=1))]


def said(judge, names, answer=ANSWER, **of):
    outcome = Outcome([], answer, shown=CONTEXT, context=CONTEXT, **of)
    return judged(judge, Question("q", "?", (GOLD,)), outcome, names, lambda a, b: 0.5, Trace("off"))


def test_each_measure_by_hand():
    """Two of three claims of the answer are right and one of two gold claims is missing: FC = 4 / (4 + 1 + 1)."""
    judge = Judge()
    assert said(judge, GRAPHRAG_BENCH[1:]) == {
        "answer_accuracy": pytest.approx(0.75 * 4 / 6 + 0.25 * 0.5), "faithfulness": pytest.approx(1 / 3),
        "evidence_coverage": 0.5, "evidence_recall": 1.0, "context_relevance": 0.5, "failure": None,
    }  # fmt: skip
    assert len(judge.asked) == len(set(judge.asked)) == 7, "what several measures rest on is asked once"
    judge = Judge()
    said(judge, ["evidence_coverage"])
    assert [name for name, _ in judge.asked] == ["state_claims", "support_claims"], "and nothing else"


def test_a_failed_step_leaves_undefined_what_rests_on_it():
    found = said(Judge("rate_context"), GRAPHRAG_BENCH[1:])
    assert found["context_relevance"] is None and found["evidence_recall"] == 1.0
    assert found["failure"] == "rate_context: no reply"
    found = said(Judge("state_claims"), GRAPHRAG_BENCH[1:])
    assert [name for name, value in found.items() if value is not None] == ["context_relevance", "failure"]


def test_no_answer_states_nothing():
    judge = Judge()
    found = said(judge, GRAPHRAG_BENCH[1:4], "", abstained=True)
    assert found == {"answer_accuracy": 0.0, "faithfulness": None, "evidence_coverage": 0.0, "failure": None}
    assert [name for name, _ in judge.asked] == ["state_claims"]


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_has_its_own_measures(level):
    outcome = Outcome([], "Orsby", claims=dict.fromkeys(GRAPHRAG_BENCH[1:], 0.5))
    values = {name: measure(name)(Question("q", "?", ("Orsby",), type=level), outcome) for name in GRAPHRAG_BENCH}
    assert {name for name, value in values.items() if value is not None} == set(LEVELS[level])
    failed = Outcome([], "", failed=True)
    assert measure("answer_accuracy")(Question("q", "?", ("Orsby",), type=level), failed) == 0


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench") / "index"
    return wb.Index.build(tiny_dataset(), None, folder, encoder=TinyEncoder(), layers=["passages"], progress=False)


def test_a_run_asks_a_judge_only_for_the_measures_that_need_one(index, tmp_path):
    """Rules as judge, labelled as such; a second call asks nothing anew, and one without these measures asks less."""
    methods, reader = [wb.method("dense", index)], wb.reader("direct", index=index)
    questions = tiny_dataset().questions
    with pytest.raises(SettingError, match="faithfulness needs a judge"):
        wb.evaluate(questions, methods, reader, tmp_path / "none", measures=["faithfulness"], progress=False)
    run = wb.evaluate(
        questions, methods, reader, tmp_path / "run", measures=["em", *GRAPHRAG_BENCH], judge="rules", progress=False
    )
    assert run.judge == "rules" and all("evidence_recall" in row["scores"] for row in run.rows)
    assert all(row["claims"]["key"] and row["claims"]["failure"] is None for row in run.rows)
    assert {"state_claims", "support_claims", "rate_context"} <= run.rows[0]["usage"].keys()
    before = (run.folder / "results.jsonl").read_bytes()
    wb.evaluate(
        questions, methods, reader, tmp_path / "run", measures=["em", *GRAPHRAG_BENCH], judge="rules", progress=False
    )
    assert (run.folder / "results.jsonl").read_bytes() == before


def test_a_run_that_was_judged_otherwise_gets_claims_later(index, tmp_path):
    """The requests of a model as judge are counted by Step, and none is made twice."""
    calls = []

    def reply(request):
        calls.append(request)
        text = request.messages[0]["content"]
        form = {"claims": ["x"]} if "into claims" in text else {"supported": [1]} if "numbered claims" in text else (
            {"rating": 2} if "You rate" in text else {"verdict": "unknown", "reason": ""})  # fmt: skip
        return Reply(json.dumps(form))

    judge = ChatEngine("openai:scripted", reply, concurrency=1)
    args = tiny_dataset().questions[:1], [wb.method("dense", index)], wb.reader("direct", index=index), tmp_path / "run"
    wb.evaluate(*args, measures=["em"], judge=judge, progress=False)
    asked = len(calls)
    run = wb.evaluate(*args, measures=["em", "evidence_recall", "context_relevance"], judge=judge, progress=False)
    (row,) = run.rows
    assert (row["scores"]["evidence_recall"], row["scores"]["context_relevance"]) == (1.0, 1.0)
    used = {name: row["usage"][name]["calls"] for name in ("state_claims", "support_claims", "rate_context")}
    assert used == {"state_claims": 1, "support_claims": 1, "rate_context": 1} and len(calls) == asked + 3


def test_the_published_tables_take_each_level_apart():
    """100 questions of two levels: the cell of a level has the mean of its own questions, and says why it differs."""
    levels, values = ("Fact Retrieval", "Creative Generation"), [0.0, 1.0] * 50
    run = RunByHand(
        {"dense": {}}, {"dense": {"answer_accuracy": values}}, questions=QUESTIONS[:100], judge="openai:gpt-4o-mini",
        data={"name": "graphrag-bench/novel", "fingerprint": ""}, rows=lambda at, label: {"type": levels[at % 2]},
    )  # fmt: skip
    found = tables("graphrag_bench", [run])
    cells = {cell.measure: cell for cell in found.cells if cell.ours is not None}
    assert {name: (cell.ours, cell.n, cell.published) for name, cell in cells.items()} == {
        "ACC, Fact Retrieval": (0.0, 50, 0.5876), "ACC, Creative Generation": (1.0, 50, 0.4152),
    }  # fmt: skip
    for cell in cells.values():
        assert (cell.verdict, cell.backbone, cell.method) == (NOT_COMPARABLE, "GPT-4o-mini", "RAG (w/o rerank)")
        assert any(why.startswith("measure: answer_accuracy: claims by three requests") for why in cell.why)
    assert {cell.table for cell in tables("youtu", [run]).cells if cell.ours is not None} == set(), "another benchmark"
