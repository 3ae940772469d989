"""Answers that are made short for EM and F1: what is measured of which text, and that nothing changes without it."""

from __future__ import annotations

import json

import pytest

import workbench as wb
from workbench.errors import SettingError
from workbench.evaluation.identity import of_reader
from workbench.llm import Result
from workbench.llm.engine import note
from workbench.llm.meter import Meter
from workbench.records import Answer, Question
from workbench.rules.answering import shorten_answer
from workbench.steps.final_answer import LongAnswer as Input

LONG = "The keeper of the lighthouse was Orsby, as the first passage says."


class Says:
    """Answers with a sentence, and makes it short to `short`; `asked` has the Steps."""

    name, workers = "says", 1

    def __init__(self, short="Orsby", answer=LONG):
        self.short, self.answer, self.asked, self.meter = short, answer, [], Meter()

    def run(self, step, inputs, *, trace=None):
        self.asked.append(step.name)
        if step.name == "shorten_answer":
            assert inputs[0].answer == self.answer, "neither context nor gold"
            results = [Result(None, failure="told to fail") if self.short is None else
                       Result(step.output(reply=self.short))]  # fmt: skip
        else:
            results = [Result(step.output(thought="", answer=self.answer, abstained=not self.answer))]
        note(trace, self.name, step, results)
        return results


@pytest.fixture
def ask(tiny_index, tmp_path):
    question = Question("q1", "Who kept the lighthouse?", ("Orsby",))
    counted = iter(range(9))

    def ask(spec, engine, **more):
        reader = wb.reader(spec, engine)
        out = more.pop("out", tmp_path / str(next(counted)))
        return wb.evaluate([question], [wb.method("dense", tiny_index)], reader, out, progress=False, **more)

    return ask


def scores(run):
    (row,) = run.rows
    return {name: row["scores"][name] for name in ("em", "f1", "accuracy")}


def test_em_and_f1_are_of_the_short_answer_and_accuracy_of_the_long_one(ask):
    plain, short = ask("direct", Says()), ask("direct[rewrite=true]", Says())
    assert scores(plain)["em"] == 0 and scores(plain)["f1"] < 0.5 and scores(plain)["accuracy"] == 1
    assert scores(short) == {"em": 1, "f1": 1, "accuracy": 1}
    (row,) = short.rows
    assert (row["answer"], row["short"]) == (LONG, "Orsby")
    wrong = ask("direct[rewrite=true]", Says("Meridian"))
    assert scores(wrong) == {"em": 0, "f1": 0, "accuracy": 1}, "the verdict is on the answer itself"


def test_measures_that_are_added_later_take_the_same_text(ask, tmp_path):
    first = ask("direct[rewrite=true]", Says(), measures=["accuracy"], out=tmp_path / "same")
    assert list(first.rows[0]["scores"]) == ["accuracy"]
    engine = Says()
    again = ask("direct[rewrite=true]", engine, measures=["accuracy", "em", "f1"], out=tmp_path / "same")
    assert scores(again)["em"] == 1 and not engine.asked, "nothing is asked twice"


def test_a_failed_rewriting_leaves_the_answer(ask):
    run = ask("direct[rewrite=true]", Says(None))
    assert "short" not in run.rows[0] and scores(run) == scores(ask("direct", Says())) and not run.rows[0]["failure"]
    trace = run.trace("q1", "dense")
    assert [event.outputs["failure"] for event in trace.events if event.step == "rewrite"] == ["told to fail"]
    engine = Says(answer="")  # an abstention is not rewritten
    run = ask("direct[rewrite=true]", engine)
    assert engine.asked == ["answer"] and run.rows[0]["abstained"] and "short" not in run.rows[0]


def test_without_it_a_reader_is_the_reader_that_it_was(ask):
    off = wb.reader("direct[rewrite=false]", Says())
    assert type(off) is type(wb.reader("direct")) and off.label == "direct"
    assert of_reader(off) == of_reader(wb.reader("direct", Says()))
    assert not [unit for unit in of_reader(off).units if "rewrit" in unit or "shorten" in unit]
    run = ask("direct", Says())
    assert "short" not in run.rows[0] and "shorten_answer" not in json.dumps(run.config)


@pytest.mark.parametrize("spec", ["sparql[rewrite=true]", "cot[compress=graph-walk[budget=60],rewrite=true]"])
def test_the_label_is_a_spec_of_the_same_reader(spec, tiny, tiny_index):
    reader = wb.reader(spec)
    assert reader.label == spec and wb.reader(reader.label).label == spec and repr(reader).startswith(spec)
    assert reader.steps[-1] == "shorten_answer" and wb.reader("direct", rewrite=True).label == "direct[rewrite=true]"
    question = tiny.questions[0].question
    evidence = wb.method("dense", tiny_index).retrieve(question, 5)
    answer = reader.read(question, evidence)
    assert isinstance(answer, Answer) and answer.reader == spec
    assert reader.contexts(evidence).shown.text, "the context is the reader's own"


def test_the_setting_is_part_of_the_identity():
    plain, short = (of_reader(wb.reader(spec, Says())) for spec in ("direct", "direct[rewrite=true]"))
    assert plain.key != short.key and set(short.description["prompts"]) == {"answer", "shorten_answer"}
    wide = of_reader(wb.reader("direct[mode=open,rewrite=true]", Says()))
    reworded = of_reader(wb.reader("direct[mode=open]", Says()))
    assert wide.description["prompts"]["answer"] == reworded.description["prompts"]["answer"]
    with pytest.raises(SettingError, match="rewrite='maybe'; it should be true or false"):
        wb.reader("direct[rewrite=maybe]")


@pytest.mark.parametrize(("question", "answer", "short"), [
    ("Who wrote it?", "Ada  Lind", "Ada Lind"),
    ("Which films did she make?", "Dune Fever; A Country Without Names", "Dune Fever; A Country Without Names"),
    ("Where was Ada Lind born?", "As the first of the passages says, Ada Lind was born in Oslo.", "Oslo"),
    ("Is Oslo larger than Bergen?", "Yes, Oslo is larger than Bergen by far.", "yes"),
    ("Which film did she make?", "No Country Without a Name was the film", "No Country Without a Name"),
])  # fmt: skip
def test_rules_read_the_short_answer_in_the_long_one(question, answer, short):
    assert shorten_answer(Input(question, answer)).reply == short
