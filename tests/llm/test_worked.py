"""Replies written by hand: that each question ends as its file says, and what is refused."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from pydantic import BaseModel
from scripts import loaded

import workbench as wb
from workbench.errors import DataError, EngineError, RecordingMiss, SettingError
from workbench.evaluation import identity
from workbench.evaluation.endings import ending, followed
from workbench.llm.engine import no_model
from workbench.llm.step import Step
from workbench.llm.worked import WorkedEngine, examples_in, stamp, worked_folder
from workbench.measures.answers import exact_match
from workbench.methods.catrag.replies import KeptReplies
from workbench.methods.dotrag.dots import dots
from workbench.methods.iterative.replay import replay
from workbench.records import Question
from workbench.views.session import Live
from workbench.views.widget import question_box

Drafting = loaded(Path(__file__).parents[2] / "benchmarks" / "worked.py", "benchmarks_worked").Drafting
FOLDER = worked_folder("meridian")
EXAMPLES = examples_in(FOLDER)
GOLD = {question.question: question.answers for question in wb.load("meridian").questions}
OWN = {  # that of the README, and one of notebook 04
    "Who wrote the novel that the Skarne ferry is named after?": ("Odile Fenmarch",),
    "Whom did the director who filmed the novel that the Skarne ferry is named after consider a sentimentalist?":
        ("Corentin Vaux",),
}  # fmt: skip

# -- the bundled replies ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def index(meridian_curated, tmp_path_factory):
    """The curated facts with the layers of all configurations, by rules."""
    index = wb.Index.open(shutil.copytree(meridian_curated.folder, tmp_path_factory.mktemp("worked") / "index"))
    for method in dict.fromkeys(ask.method for example in EXAMPLES for ask in example.asks):
        index = wb.method(method, index, wb.engine("rules")).index
    return index


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.id)
def test_a_question_ends_as_its_file_says(example, index):
    """Every call has its reply, written for today's prompt; every reply has its call; the answer is right, or the file
    says why it is not."""
    engine, drafting = WorkedEngine(EXAMPLES), Drafting([example])
    gold = (GOLD | OWN)[example.question]
    for ask in example.asks:
        answer = followed(example, ask, index, engine)
        assert ending(answer) == ask.answer and answer.engine == engine.name
        assert bool(exact_match(answer.text, gold)) == (not ask.fails), (ask, gold)
        assert followed(example, ask, index, drafting).text == answer.text
    assert not drafting.unwritten and not drafting.stale
    assert [reply for reply in example.replies if reply not in drafting.used] == []
    assert engine.meter.total.calls > 0 and engine.meter.total.money == 0 == engine.meter.total.failed


def test_there_are_ten_questions_two_of_which_show_how_reading_fails():
    assert len(EXAMPLES) >= 10 and all(len(example.shows) > 40 for example in EXAMPLES)
    assert {example.question for example in EXAMPLES} <= (GOLD | OWN).keys()
    failing = {ask.reader: ask.fails for example in EXAMPLES for ask in example.asks if ask.fails}
    assert "chain is broken" in failing["direct[prompt=brief]"]
    assert any("compress=" in reader and "cut by compression" in why for reader, why in failing.items())
    for example in EXAMPLES:  # where one configuration fails, another one of the same question succeeds
        assert any(not ask.fails for ask in example.asks)


def test_what_shows_says_whose_words_they_are(meridian_curated):
    example = next(example for example in EXAMPLES if example.id == "mer-q117")
    answer = followed(example, example.asks[0], meridian_curated, wb.engine("worked"))
    assert list(map(no_model, answer.engines)) == ["replies written by hand"]
    assert "replies written by hand and no language model" in answer._repr_html_()
    for name, read in (("mer-q07", replay), ("mer-q03", dots)):
        example = next(example for example in EXAMPLES if example.id == name)
        method = wb.method(example.asks[-1].method, meridian_curated, wb.engine("worked"))
        evidence = method.retrieve(example.question)
        for shown in (evidence, read(evidence.trace)):
            assert "Steps by replies written by hand" in repr(shown)
            assert "Steps by replies written by hand" in shown._repr_html_()


def test_rules_answer_what_has_no_reply_and_every_part_says_who_answered(meridian_curated):
    engine, rules, question = wb.engine("worked"), wb.engine("rules"), "Who built the viaduct?"
    evidence, by_rules = (wb.method("hipporag2", meridian_curated, one).retrieve(question) for one in (engine, rules))
    assert evidence.ranking == by_rules.ranking and evidence.trace.engines == ("rules",)
    assert engine.meter.steps["fact_filter"].by_rules == engine.meter.total.calls == 1
    assert "by rules" in repr(engine.meter) and "by_rules" not in rules.meter.as_dict()["fact_filter"]
    answer = wb.reader("direct", engine).read(question, evidence)
    assert answer.engine == engine.name and answer.engines == ("rules",)
    assert "direct, rules and no language model" in repr(answer) and "written by hand" not in repr(answer)


def test_layers_are_built_by_rules_and_say_so(tiny, tiny_encoder, tmp_path):
    bare = replace(tiny, extractions=None)
    by_worked, by_rules = (
        wb.Index.build(bare, wb.engine(name), tmp_path / name, encoder=tiny_encoder, progress=False)
        for name in ("worked", "rules")
    )
    assert KeptReplies(wb.engine("worked")).builder.name == "rules" and wb.engine("rules").builder.name == "rules"
    key, made_by = (by_worked.manifest["layers"]["extractions"][name] for name in ("key", "made_by"))
    assert made_by == by_rules.manifest["layers"]["extractions"]["made_by"] and made_by[0].startswith("rules (")
    assert key == by_rules.manifest["layers"]["extractions"]["key"]


def test_lists_of_questions_mark_those_with_worked_replies(tiny_index):
    known, other = next(e for e in EXAMPLES if e.id == "mer-q07").question, "Who built the viaduct?"
    questions = [Question("a", known), Question("b", other)]
    for engine in (wb.engine("worked"), KeptReplies(wb.engine("worked"))):
        session = Live(tiny_index, questions, {"dense": "dense"}, engine)
        assert question_box(questions, session.label).options == (f"a: {known} · worked replies", f"b: {other}")
        assert session.find(f"a: {known} · worked replies") == questions[0]
    assert Live(tiny_index, questions, {"dense": "dense"}, wb.engine("rules")).label(questions[0]) == f"a: {known}"


def test_a_row_depends_on_the_rules_as_on_the_prompts(meridian_curated):
    of = {
        name: set(identity.of_method(wb.method("hipporag2", meridian_curated, wb.engine(name))).units)
        for name in ("worked", "rules")
    }
    assert of["rules"] < of["worked"] and {"prompt of fact_filter", "rule of fact_filter"} <= of["worked"]


# -- files ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Thing:
    name: str
    text: str


@dataclass(frozen=True)
class Asked:
    question: str
    things: tuple[Thing, ...] = ()


class Said(BaseModel):
    said: str


def _prompt(value: Asked, system: str = "Choose.") -> list[dict[str, str]]:
    listed = "\n".join(f"{thing.name}: {thing.text}" for thing in value.things)
    return [{"role": "system", "content": system}, {"role": "user", "content": f"{listed}\nQuestion: {value.question}"}]


STEP = Step("choose", Said, _prompt, read=lambda text: Said(said=text))
STAMP = stamp(STEP, Asked("?"))
VALUE = Asked("Who?", (Thing("b", "born in Orsby"), Thing("a", "a town"), Thing("c", "no use")))
HEAD = 'question = "Who?"\nshows = "s"\n[[ask]]\nmethod = "dense"\nreader = "direct"\nanswer = "x"\n'


def engine_of(tmp_path, *replies: str) -> WorkedEngine:
    (tmp_path / "q.toml").write_text(HEAD + "".join(f'[[reply]]\nstep = "{STAMP}"\n{reply}\n' for reply in replies))
    return wb.engine(f"worked:{tmp_path}")


def say(engine, value=VALUE, step=STEP) -> str:
    (result,) = engine.run(step, [value])
    return result.value.said


def test_a_reply_goes_by_what_its_author_saw(tmp_path):
    engine = engine_of(
        tmp_path, 'text = "any"', 'given = ["Orsby"]\ntext = "with"', 'lacking = ["Orsby"]\ntext = "without"'
    )
    assert say(engine) == "with"
    assert say(engine, replace(VALUE, things=())) == "without"
    (result,) = engine.run(STEP, [replace(VALUE, question="What?")])
    assert "has no rule body" in result.failure


def test_a_list_is_answered_item_by_item_in_any_order(tmp_path):
    items = '{ has = "Orsby", say = "{number} ({name})" }, { has = "town", say = "{number}: {text}" }'
    engine = engine_of(tmp_path, f'each = "things"\ntext = "[{{each}}]"\nof = [{items}]')
    assert say(engine) == "[1 (b), 2: a town]"
    assert say(engine, replace(VALUE, things=VALUE.things[::-1])) == "[2: a town, 3 (b)]"


def test_a_changed_prompt_breaks_its_replies_and_the_error_says_which(tmp_path):
    engine = engine_of(tmp_path, 'text = "any"')
    reworded = replace(STEP, prompt=lambda value: _prompt(value, "Choose one."))
    for changed in (reworded, replace(STEP, version=2)):
        with pytest.raises(RecordingMiss, match=r"q\.toml: the reply to 'choose' was written for 'choose v1 \w+'"):
            say(engine, step=changed)
    again = Drafting(engine.examples)
    assert say(again, step=reworded) == "any" and [old for old, _ in again.stale] == [STAMP]


def test_two_replies_that_fit_alike_are_an_error(tmp_path):
    engine = engine_of(tmp_path, 'text = "one"', 'text = "other"')
    with pytest.raises(EngineError, match=r"q\.toml: several replies to 'choose' fit the same call"):
        say(engine)


@pytest.mark.parametrize(
    "text",
    ["", "question = 1", HEAD, HEAD + '[[reply]]\nstep = "s"', HEAD + '[[reply]]\nstep = "s"\ntext = "{each}"',
     HEAD + '[[reply]]\nstep = "s"\ntext = "t"\nunknown = "u"', HEAD + '[[reply]]\nstep = "s"\ntext = 1', "\0", "[["],
)  # fmt: skip
def test_a_file_that_holds_no_replies_is_named(tmp_path, text):
    (tmp_path / "q.toml").write_text(text)
    with pytest.raises(DataError, match=r"q\.toml holds no worked replies"):
        wb.engine(f"worked:{tmp_path}")


def test_a_folder_without_replies_is_named(tmp_path):
    with pytest.raises(SettingError, match="holds no worked replies: it needs TOML files"):
        wb.engine(f"worked:{tmp_path}")
    with pytest.raises(SettingError, match="has no option 'record'"):
        wb.engine("worked", record="x")
