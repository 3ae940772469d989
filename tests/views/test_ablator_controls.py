"""The ablation widget without a browser: functions move the controls, controls move what is shown, errors are said."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_views import HOSTILE, UNSHOWABLE, Checked

import workbench as wb
from workbench.errors import SettingError
from workbench.llm.engine import RulesEngine
from workbench.llm.step import Result
from workbench.reading.render import Context
from workbench.records import Answer, Compressed, Evidence, Question, Reading
from workbench.views.ablator import Attempt, Setting

LAKE, FOUNDER, FOG = ("q1", "q2", "q3")


class Counting(RulesEngine):
    """Rules that remember which Steps they were asked, and may be told to fail."""

    def __init__(self):
        super().__init__()
        self.asked, self.failing = [], ""

    def run(self, step, inputs, *, trace=None):
        self.asked.append(step.name)
        if step.name == self.failing:
            return [Result(None, failure="the <model> is out") for _ in inputs]
        return super().run(step, inputs, trace=trace)


@pytest.fixture
def engine():
    return Counting()


@pytest.fixture
def ablator(tiny, tiny_index, engine):
    return wb.ablate(tiny_index, tiny.questions, engine=engine, check=False)


def controls(ablator) -> dict:
    return {name: control.value for name, control in ablator._controls.items()}


def test_it_starts_with_the_first_question_and_the_first_method_that_is_built(ablator, tiny):
    assert ablator.answer.question == tiny.questions[0].question
    assert controls(ablator) == {
        "method": "hipporag2", "prompt": "sparql", "retry": "none", "compress": "graph-walk", "budget": 4_000,
        "route": False, "check": False,
    }  # fmt: skip
    assert [option for option in ablator._controls["method"].options] == ["hipporag2", "dense"]
    assert ablator._question_box.value == "q1: Which lake does the river at Orsby flow into?"
    assert "by rules, no language model" in ablator._head.html
    assert "<div class='beside'>" in ablator._context.html
    assert repr(ablator).startswith("Ablator with hipporag2: Answer to 'Which lake")


def test_ask_moves_the_controls_and_leaves_the_others(ablator, engine):
    found = ablator.ask(FOUNDER, method="dense", prompt="cot", budget=500)
    assert found is ablator.answer and found.question == "Where was the founder of Orsby born?"
    assert found.reading.prompt == "cot" and found.reading.compressor == "graph-walk[budget=500]"
    assert controls(ablator) | {"method": "dense", "prompt": "cot", "budget": 500} == controls(ablator)
    full = ablator.ask(compress="")
    assert full.reading.prompt == "cot" and full.reading.compressor == ""
    assert "<div class='beside'>" not in ablator._context.html and ablator._controls["budget"].disabled
    asked = len(engine.asked)
    ablator.ask(compress="graph-walk")
    assert len(engine.asked) == asked  # it was asked with this before


def test_controls_ask(ablator):
    ablator._question_box.value = "q2: Where was the founder of Orsby born?"
    assert ablator.answer.question == "Where was the founder of Orsby born?"
    ablator._controls["compress"].value = ""
    assert ablator.answer.reading.compressor == ""
    ablator._controls["compress"].value = "similarity"
    ablator._controls["budget"].value = 250
    assert ablator.answer.reading.compressor.startswith("similarity[budget=250")
    ablator._controls["route"].value = True
    assert ablator.answer.reading.kind and ablator._controls["prompt"].disabled
    ablator._question_box.value = "Who founded Orsby?"
    assert ablator.answer.question == "Who founded Orsby?" and ablator._question_box.value == "Who founded Orsby?"
    assert ablator.setting.budget == 250 and ablator._message.html == ""


def test_a_context_can_be_compressed_otherwise_without_asking_again(ablator, engine):
    before, asked = ablator.answer, len(engine.asked)
    made = ablator.compressed(budget=60)
    assert isinstance(made, Compressed) and made.budget == 60 and made.tokens <= 60
    assert "budget 60" in ablator._context.html
    assert ablator.answer is before and len(engine.asked) == asked
    assert ablator.compressed("similarity").compressor.startswith("similarity")
    assert ablator.compressed() == ablator.attempt.shown.compressed


def test_the_query_behind_the_answer_is_carried_out_on_demand(ablator):
    assert ablator.proof is None and ablator._prove.layout.display is None
    proof = ablator.prove()
    assert proof is ablator.proof and proof.answer == ablator.answer.text
    assert ablator._tabs.selected_index == 1 and ablator._prove.layout.display == "none"
    assert (proof.query or proof.flaw)[:10] in " ".join(Checked(ablator._proof.html).shown)
    ablator.ask(FOG)
    assert ablator.proof is None and ablator._proof.html == "" and ablator._picture.children == ()


def test_with_check_it_is_carried_out_with_each_answer(ablator):
    ablator._controls["check"].value = True
    assert ablator.proof is ablator.answer.proof and ablator.proof is not None
    ablator.ask(prompt="sparql-exec")
    assert ablator.proof is ablator.answer.proof and ablator.proof is not None


def test_ticked_it_is_carried_out_whatever_the_answer_is_and_offers_no_button(ablator, engine):
    """An abstention has no answer to check, but the query is asked for."""
    engine.failing = "sparql_answer"
    answer = ablator.ask(FOUNDER, check=True)
    assert not answer.text and answer.proof is None
    assert ablator.proof is not None and ablator._proof.html != "" and ablator._prove.layout.display == "none"
    ablator._controls["check"].value = False
    assert ablator.proof is None and ablator._prove.layout.display is None


def test_a_compressed_context_says_its_length_as_the_heading_does(ablator):
    full, compressed = ablator.attempt.full, ablator.attempt.shown.compressed
    assert full.tokens != compressed.tokens_before
    assert f"the full context ({full.tokens:,} tokens)" in ablator._head.html
    assert f"{full.tokens:,} (as tables {compressed.tokens_before:,})" in ablator._context.html
    ablator.compressed(budget=60)
    assert f"{full.tokens:,} (as tables" in ablator._context.html


def test_everything_that_was_tried_on_a_question_is_listed(ablator):
    ablator.ask(compress="")
    ablator.ask(prompt="cot")
    assert ablator._tried.html.count("<tr>") == 1 + 3
    tried = ablator.tried()
    assert list(tried["prompt"]) == ["sparql", "sparql", "cot"] and list(tried["compressed by"])[1:] == ["", ""]
    assert set(tried["outcome"]) == {ablator.attempt.verdict}
    assert tried["tokens"].iloc[-1] == ablator.attempt.shown.tokens
    ablator.ask(FOUNDER)
    assert ablator._tried.html.count("<tr>") == 1 + 1


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"method": "bm25"}, "'bm25' is not among the methods hipporag2, dense"),
        ({"colour": 1}, "the setting 'colour' cannot be changed"),
        ({"prompt": "limerick"}, "prompt='limerick' is unknown"),
        ({"compress": "zip"}, "no compressor is called 'zip'"),
        ({"budget": 0}, "budget=0"),
    ],
)
def test_what_cannot_be_asked_leaves_all_as_it_is(ablator, setting, said):
    before = ablator.attempt, controls(ablator)
    with pytest.raises(SettingError, match=said):
        ablator.ask(**setting)
    assert (ablator.attempt, controls(ablator)) == before


def test_what_a_control_cannot_do_is_said_and_undone(tiny, tiny_index, engine):
    ablator = wb.ablate(tiny_index, tiny.questions, engine=engine, compressors=("graph-walk", "zip"), check=False)
    ablator._controls["compress"].value = "zip"
    assert "SettingError: no compressor is called &#x27;zip&#x27;" in ablator._message.html
    assert controls(ablator)["compress"] == "graph-walk" == ablator.setting.compress


def test_a_failure_of_the_engine_is_text(ablator, engine):
    engine.failing = "sparql_answer"
    answer = ablator.ask(FOUNDER)
    assert answer.failure == "the <model> is out"
    assert "the &lt;model&gt; is out" in ablator._head.html and ablator._message.html == ""


def test_another_budget_than_those_proposed_becomes_one_of_them(ablator):
    ablator.ask(budget=777)
    assert controls(ablator)["budget"] == 777
    assert list(ablator._controls["budget"].options) == sorted(ablator._controls["budget"].options)


def test_without_questions_it_asks_about_the_index(tiny_index, engine):
    ablator = wb.ablate(tiny_index, engine=engine, compress="", check=False)
    assert ablator.answer.question == "What is Orsby?"
    assert ablator.attempt.verdict == ""


def test_without_a_method_it_says_so(tiny_index, engine):
    with pytest.raises(SettingError, match="no method to ask"):
        wb.ablate(tiny_index, engine=engine, methods=[])


def test_a_page_without_a_kernel_shows_the_same(ablator):
    ablator.prove()
    shown = ablator._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in shown
    for part in (ablator.answer.text or "abstained", "<b>compressed</b>"):
        assert part in shown["text/html"]


@pytest.mark.parametrize("text", [one for one in HOSTILE if "\ud800" not in one])
def test_no_question_is_acted_upon(tiny_index, engine, text):
    ablator = wb.ablate(tiny_index, [Question(text, text, (text,))], engine=engine, check=True)
    ablator.ask(f"Is {text} in Orsby?")
    for part in (ablator._head, ablator._context, ablator._proof, ablator._trace, ablator._tried, ablator._message):
        Checked(part.html or "<p></p>")
        assert not UNSHOWABLE.search(part.html)


# -- what became of a question -----------------------------------------------------------------------------------------

WITH, WITHOUT = Context("Nora was born in Orsby.", 6, ()), Context("Nora was born.", 4, ())
CASES = [
    ("Orsby", False, WITH, WITH, "right"),
    ("Orsby", False, WITHOUT, WITHOUT, "right, though the context does not hold the answer"),
    ("Quell", False, WITHOUT, WITHOUT, "retrieval failure: the answer is not in the context"),
    ("Quell", False, WITH, WITHOUT, "lost in compression: the answer was in the full context"),
    ("Quell", False, WITH, WITH, "reasoning failure: the answer is in the context"),
    ("", True, WITH, WITH, "reasoning failure: the answer is in the context"),
]


@pytest.mark.parametrize(("said", "abstained", "full", "shown", "verdict"), CASES)
def test_the_verdict_says_where_it_went_wrong(said, abstained, full, shown, verdict):
    question = Question("q", "Where was Nora born?", ("Orsby",))
    answer = Answer(question.question, said, abstained, reading=Reading("cot"))
    attempt = Attempt(
        question, Setting("dense"), Evidence(question.question, "dense", "cosine", ()), full, shown, answer
    )
    assert attempt.verdict == verdict
    assert attempt._replace(question=replace(question, answers=())).verdict == ""


def test_a_gold_yes_is_no_matter_of_the_context():
    question = Question("q", "Is Nora from Orsby?", ("yes",))
    answer = Answer(question.question, "no", reading=Reading("cot"))
    attempt = Attempt(question, Setting("dense"), Evidence("", "", "", ()), WITH, WITH, answer)
    assert attempt.verdict == "wrong"
