"""The reader `global`: which reports it reads and in what batches, what becomes of points, and what may fail."""

from __future__ import annotations

import pytest
from small import index_of
from tiny import TinyEncoder

import workbench as wb
from workbench import tokens
from workbench.errors import IndexFault, SettingError
from workbench.index import Index
from workbench.llm.step import Result
from workbench.reading.graphrag import Global
from workbench.records import Evidence
from workbench.steps import reporting
from workbench.trace import Trace

NOTHING = Evidence("?", "none", "none", ())


class Analysts:
    """A model: one list of (description, score) per call of the map, an answer for the reduce; None fails."""

    name = "openai:analysts"

    def __init__(self, points, answer: str | None = "Orsby", abstained: bool = False):
        self.points, self.answer, self.abstained = points, answer, abstained
        self.mapped, self.reduced = [], []

    def run(self, step, inputs, *, trace=None):
        if step is reporting.MAP:
            self.mapped += inputs
            return [self._map(points) for points in self.points[: len(inputs)]]
        assert step is reporting.REDUCE
        self.reduced += inputs
        if self.answer is None:
            return [Result(None, failure="reduce failed")]
        said = reporting.ReduceOutput(response="In full.", answer=self.answer, abstained=self.abstained)
        return [Result(said)]

    @staticmethod
    def _map(points) -> Result:
        if points is None:
            return Result(None, failure="map failed")
        return Result(reporting.MapOutput(points=[reporting.Point(description=d, score=s) for d, s in points]))


CLIQUES = {f"p{at}": [(f"{n}{at}", "knows", f"{m}{at}") for n in "abcde" for m in "abcde" if m < n] for at in range(9)}


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> Index:
    return index_of(tmp_path_factory.mktemp("cliques"), CLIQUES).ensure(["communities"], progress=False)


def two_calls(index: Index, engine) -> Global:
    """A reader that needs two calls to read the nine reports."""
    whole = wb.reader("global", index=index).context(NOTHING).tokens
    reader = wb.reader("global", engine, index=index, budget=whole * 2 // 3)
    assert len(reader.batches) == 2
    return reader


def test_it_reads_each_report_of_the_level_once_in_an_order_that_stays(index):
    reader = wb.reader("global[level=1]", index=index)
    titles = [title for batch in reader.batches for title, _ in batch.reports]
    assert sorted(titles) == sorted(report.title for report in index.communities.reports.values())
    assert reader.context(NOTHING).passages == () and titles[0] in reader.context(NOTHING).text
    again = wb.reader(reader.label, index=Index.open(index.folder, TinyEncoder()))
    assert again.batches == reader.batches and again.label == reader.label == "global[level=1]"
    assert "global[level=1]" in repr(reader)
    assert wb.reader("global", index=index, budget=5).reports == 0, "a longer report is not read"


@pytest.mark.parametrize("budget", [150, 300])
def test_no_call_reads_more_than_its_budget(index, budget):
    reader = wb.reader("global", index=index, budget=budget)
    assert reader.reports == 9 and len(reader.batches) > 1
    assert all(tokens.count(batch.context) <= budget for batch in reader.batches)


def test_points_go_to_the_reduce_best_first_without_those_that_say_nothing(index):
    engine = Analysts([[("low", 10), ("nothing", 0)], [("high", 90), ("middle", 10)]])
    answer = two_calls(index, engine).read("Where?", NOTHING)
    (asked,) = engine.reduced
    assert asked.points == ("high", "low", "middle")
    assert asked.context.startswith("-----Analyst 2-----\nImportance: 90\nhigh\n\n-----Analyst 1-----")
    assert all(value.question == "Where?" for value in engine.mapped)
    assert (answer.text, answer.thought, answer.reader) == ("Orsby", "In full.", two_calls(index, engine).label)
    assert answer.engine == "openai:analysts" and answer.passages == () and answer.failure is None


def test_points_beyond_the_budget_are_left_out(index):
    engine = Analysts([[(f"point {at} " + "word " * 100, 50) for at in range(40)]])
    reader = wb.reader("global", engine, index=index, budget=1500)
    reader.read("Where?", NOTHING)
    (asked,) = engine.reduced
    assert 0 < len(asked.points) < 40 and tokens.count(asked.context) <= 1500


def test_nothing_to_say_is_an_abstention_and_asks_no_reduce(index):
    engine = Analysts([[("nothing", 0)], []])
    answer = two_calls(index, engine).read("Where?", NOTHING)
    assert answer.abstained and answer.text == "" and answer.failure is None and engine.reduced == []
    answer = two_calls(index, Analysts([[("high", 90)], []], answer="Orsby", abstained=True)).read("?", NOTHING)
    assert answer.abstained and answer.text == ""


def test_open_asks_the_reduce_even_if_no_report_has_a_point(index):
    class Open(Analysts):
        def run(self, step, inputs, *, trace=None):
            if step.name != "global_reduce":
                return super().run(step, inputs, trace=trace)
            self.asked = [step.prompt(value) for value in inputs]
            return super().run(reporting.REDUCE, inputs, trace=trace)

    engine = Open([[("nothing", 0)]] * 9)
    reader = wb.reader("global[mode=open]", engine, index=index)
    answer = reader.read("Who?", NOTHING, trace=Trace("off"))
    assert (answer.text, answer.abstained, answer.reader) == ("Orsby", False, "global[mode=open]")
    ((system, *_, last),) = engine.asked
    assert "answer from your own knowledge" in system["content"] and last["content"] == "\n\nQuestion: Who?"
    assert [step.prompt for step in reader.reworded] == [reporting.REDUCE.open]


def test_an_analyst_may_fail_and_is_counted(index):
    trace = Trace()
    answer = two_calls(index, Analysts([None, [("high", 90)]])).read("Where?", NOTHING, trace=trace)
    assert answer.text == "Orsby" and trace.find("map")[0].outputs == {"points": 1, "failures": 1}


def test_when_all_fail_so_does_the_answer(index):
    answer = two_calls(index, Analysts([None, None])).read("Where?", NOTHING)
    assert (answer.text, answer.failure, answer.abstained) == ("", "map failed", False)
    answer = two_calls(index, Analysts([[("high", 90)], []], answer=None)).read("Where?", NOTHING)
    assert (answer.text, answer.failure) == ("", "reduce failed")


def test_by_rules_it_answers_or_abstains_and_repeats_itself(index):
    reader = wb.reader("global", index=index)
    for question in ("Whom does b3 know?", "東京?", "", "<script>alert(1)</script> \x00", "x" * 20_000):
        first = reader.read(question, NOTHING)
        assert first == reader.read(question, NOTHING) and first.failure is None


def test_it_needs_an_index_with_reports(tmp_path):
    with pytest.raises(SettingError, match="index=index"):
        wb.reader("global")
    with pytest.raises(SettingError, match="index=index"):
        wb.reader("global[index=none]")
    with pytest.raises(IndexFault, match="no report"):
        wb.reader("global", index=index_of(tmp_path, {"p": []}))


@pytest.mark.parametrize("setting", ["level=-1", "budget=0", "level=deep"])
def test_a_senseless_setting_is_refused(index, setting):
    with pytest.raises(SettingError, match=setting.partition("=")[0]):
        wb.reader(f"global[{setting}]", index=index)
