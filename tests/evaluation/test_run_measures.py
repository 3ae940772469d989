"""What a run says of its measures: the judge and its failures, abstention, coverage, and what the answers took."""

import pytest

import workbench as wb
from workbench.errors import EngineUnavailable, SettingError
from workbench.llm import Result
from workbench.llm.engine import note
from workbench.llm.meter import Meter
from workbench.llm.step import Usage
from workbench.measures import DEFAULT
from workbench.reading import render
from workbench.reading.direct import Direct
from workbench.reading.render import Contexts
from workbench.records import Question

QUESTIONS = (
    Question("held", "Which lake does the river at Orsby flow into?", ("Lake Mira",), support=("p1", "p2")),
    Question("other", "Where does the river end?", ("the Mira",), support=("p2",)),
    Question("wrong", "Where was the founder of Orsby born?", ("Quell",), support=("p4",)),
    Question("none", "Who painted the fog?"),
    Question("yes", "Is there fog?", ("yes",), support=("p8",)),
)


class Says:
    """Gives each question its own output; a text is that input's failure. `money` is the price of a call."""

    def __init__(self, said, *, name="says", money=0.25):
        self.said, self.name, self.money, self.meter, self.workers = said, name, money, Meter(), 1
        self.asked = []

    def run(self, step, inputs, *, trace=None):
        results = []
        for value in inputs:
            self.asked.append(value)
            said = self.said if isinstance(self.said, str | Exception) else self.said.get(value.question, self.said)
            if isinstance(said, BaseException):
                raise said
            usage = Usage(1, 10, 2, 0.1, self.money)
            given = {"failure": said} if isinstance(said, str) else {"value": step.output(**said)}
            results.append(Result(given.get("value"), given.get("failure"), usage=usage))
            self.meter.add(step.name, usage)
        note(trace, self.name, step, results)
        return results


def answers(**by_id):
    said = {q.question: {"thought": "", "answer": "", "abstained": True} for q in QUESTIONS}
    for question in QUESTIONS:
        if question.id in by_id:
            said[question.question] = {"thought": "", "answer": by_id[question.id], "abstained": False}
    return Says(said)


def verdict(said):
    return {"verdict": said, "reason": "because"}


@pytest.fixture
def ask(tiny_index, tmp_path):
    def ask(engine=None, out="run", reader=None, **settings):
        reader = reader or (wb.reader("direct", engine) if engine else None)
        return wb.evaluate(
            QUESTIONS, [wb.method("dense", tiny_index)], reader, tmp_path / out, progress=False, **settings
        )

    return ask


def column(run, measure):
    return {row["question_id"]: row["scores"][measure] for row in run.rows}


# -- joint success ----------------------------------------------------------------------------------------------------


def test_joint_success_needs_the_whole_chain_and_the_answer(ask):
    said = answers(held="in Lake Mira", other="the Miraculous", wrong="Orsby", none="Ada")
    run = ask(said, measures=["all_gold@8", "joint@8", "joint@1"])
    assert column(run, "all_gold@8") == {"held": 1, "other": 1, "wrong": 1, "none": None, "yes": 1}
    assert column(run, "joint@8") == {"held": 1, "other": 0, "wrong": 0, "none": None, "yes": 0}
    assert column(run, "joint@1")["held"] == 0, "two gold passages are not in the first one"
    assert run.counts().loc["dense", "joint@8"] == 4
    retrieval, answers_ = (next(line for line in repr(run).splitlines() if name in line) for name in ("all_g", "joint"))
    assert "joint" not in retrieval and "all_gold" not in answers_, "it stands among the answers"


# -- the judge --------------------------------------------------------------------------------------------------------


def test_the_judge_is_asked_what_the_heuristic_leaves_open_and_nothing_else(ask):
    judge = Says(verdict("correct"), name="openai:judge", money=None)
    run = ask(answers(held="in Lake Mira", other="that lake", wrong="Orsby", none="Ada"), judge=judge)
    assert [value.question for value in judge.asked] == [QUESTIONS[1].question, QUESTIONS[2].question]
    assert (judge.asked[0].gold, judge.asked[0].prediction) == (("the Mira",), "that lake")
    assert column(run, "accuracy:thesis") == {"held": 1, "other": 1, "wrong": 1, "none": 0, "yes": 0}
    assert column(run, "judged") == {"held": 0, "other": 1, "wrong": 1, "none": None, "yes": 0}
    row = run.rows[1]
    assert {**row["judge"], "key": ""} == {"verdict": "correct", "reason": "because", "failure": None, "key": ""}
    assert run.rows[0]["judge"] is None


def test_the_judge_is_named_metered_and_traced_and_no_part_of_the_cost(ask):
    run = ask(answers(other="that lake"), judge=Says(verdict("incorrect"), name="openai:judge", money=None))
    assert (run.config["judge"], run.config["prompts"].keys()) == ("openai:judge", {"answer", "judge"})
    row = run.rows[1]
    assert row["usage"]["judge"]["prompt_tokens"] == 10 and row["usage"]["judge"]["money"] is None
    assert (row["scores"]["tokens"], row["scores"]["cost"]) == (12, 0.25)
    events = run.trace("other", "dense").find("judge")
    assert [event.kind for event in events] == ["EVALUATOR", "LLM"] and events[0].outputs["verdict"] == "incorrect"
    table = run.table().loc["dense"]
    assert (table["judge"], table["judge_failures"], table["judged"]) == ("openai:judge", 0, 0.25)
    assert "judge" in {row["stage"] for row in run.seconds().to_dict("records")}
    for shown in (repr(run), run._repr_html_()):
        assert "judged by openai:judge" in shown


@pytest.mark.parametrize("said", ["unreadable: no JSON found", ValueError("tripped")])
def test_a_judge_that_fails_says_unknown_and_is_counted(ask, said):
    run = ask(answers(other="that lake"), judge=Says(said))
    assert run.rows[1]["judge"]["verdict"] == "unknown" and run.rows[1]["judge"]["failure"]
    assert run.rows[1]["failure"] is None, "the answer did not fail"
    table = run.table().loc["dense"]
    assert (table["judge_failures"], table["judge_unknown"], table["failures"]) == (1, 0.25, 0)
    assert column(run, "accuracy:thesis")["other"] == 0


def test_a_judge_that_is_gone_stops_the_run_which_goes_on_later(ask):
    said = answers(held="Lake Mira", other="that lake")
    with pytest.raises(EngineUnavailable):
        ask(said, judge=Says(EngineUnavailable("gone"), name="j"))
    run = ask(said, judge=Says(verdict("correct"), name="j"))
    assert [value.question for value in said.asked].count(QUESTIONS[0].question) == 1
    assert column(run, "accuracy:thesis")["other"] == 1


def test_without_a_judge_the_table_says_so(ask):
    run = ask(answers(other="that lake"), measures=("accuracy", "accuracy:thesis"))
    assert run.measures == ["accuracy", "accuracy:heuristic"] and run.config["judge"] is None
    assert "judge" not in run.table() and "without its judge" in repr(run)
    with pytest.raises(SettingError, match="needs a judge"):
        ask(answers(), "other", measures=("judged",))


def test_what_cannot_be_measured_is_refused_before_any_question(ask, tmp_path):
    with pytest.raises(SettingError, match="a judge was given but no reader"):
        ask(judge="rules")
    with pytest.raises(SettingError, match=r"no measure is called 'rouge'"):
        ask(answers(), measures=("em", "rouge"))
    assert not (tmp_path / "run").exists()


def test_a_judge_by_spec_is_labelled_as_rules(ask):
    run = ask(answers(other="that lake"), judge="rules")
    assert run.rows[1]["judge"]["reason"].startswith("rules:")
    assert "no language model" in repr(run)


# -- coverage ---------------------------------------------------------------------------------------------------------


class Compressing(Direct):
    """Shows the first passage; starts from three."""

    def contexts(self, evidence):
        return Contexts(render(evidence, 3), lambda _: render(evidence, 1))


def test_coverage_is_measured_on_what_a_reader_starts_from(ask, tiny_index):
    evidence = wb.method("dense", tiny_index).retrieve(QUESTIONS[0].question, 20)
    shown, all_of_it = render(evidence, 5), render(evidence)
    run, alone = ask(answers(), measures=DEFAULT), ask(out="alone")
    assert run.context(run.rows[0]) == shown.text
    assert (run.rows[0]["context_tokens"], alone.rows[0]["context_tokens"]) == (shown.tokens, all_of_it.tokens)
    assert column(alone, "coverage") == {"held": 1, "other": 1, "wrong": 1, "none": None, "yes": None}
    compressed = ask(out="compressed", reader=Compressing(answers(), k=3))
    assert compressed.context(compressed.rows[0]) == render(evidence, 1).text
    assert compressed.rows[0]["context_tokens"] == render(evidence, 3).tokens
    assert column(compressed, "coverage")["held"] == 1


# -- what it took -----------------------------------------------------------------------------------------------------


def test_an_unknown_price_is_unknown_as_a_whole(ask):
    said = answers(held="Lake Mira")
    run = ask(said)
    assert run.table().loc["dense", ["tokens", "cost"]].tolist() == [12, 0.25]
    said.money = None
    unknown = ask(said, "unknown")
    assert unknown.table()["cost"].isna().all() and unknown.scores("cost", "dense") == {}
    assert "price of a model is not in prices.csv" in repr(unknown)
    assert "prices.csv" not in repr(run)
    assert ",,5,0" in (unknown.folder / "table.csv").read_text(), "an empty cell, not a zero"


def test_seconds_are_shown_and_never_in_what_must_not_differ(ask):
    run = ask(answers())
    shown = run.table(seconds=True).loc["dense", "seconds"]
    stages = run.seconds()
    roots = stages[~stages["stage"].str.contains(" / ")]
    assert shown == pytest.approx(roots["seconds"].sum() / 5) and shown > 0
    assert "seconds" not in run.table() and "seconds" not in (run.folder / "table.csv").read_text()
    assert "seconds" in repr(run) and "seconds" in run._repr_html_()
    for name in ("timings.jsonl", "checksums.json"):  # as in a run that was kept without its seconds
        (run.folder / name).unlink()
    assert run.table(seconds=True)["seconds"].isna().all()
