"""Replies written by hand: that each question ends as its file says, and what is refused."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace

import pytest
from pydantic import BaseModel

import workbench as wb
from workbench.errors import DataError, EngineError, RecordingMiss, SettingError
from workbench.experiments.worked import ending, followed
from workbench.llm.engine import no_model
from workbench.llm.step import Step
from workbench.llm.worked import Drafting, WorkedEngine, examples_in, stamp, worked_folder
from workbench.measures.em import exact_match
from workbench.methods.dotrag.dots import dots
from workbench.methods.iterative.replay import replay

FOLDER = worked_folder("meridian")
EXAMPLES = examples_in(FOLDER)
GOLD = {question.question: question.answers for question in wb.load("meridian").questions}
README = {"Who wrote the novel that the Skarne ferry is named after?": ("Odile Fenmarch",)}

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
    gold = (GOLD | README)[example.question]
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
    assert {example.question for example in EXAMPLES} <= (GOLD | README).keys()
    failing = {ask.reader: ask.fails for example in EXAMPLES for ask in example.asks if ask.fails}
    assert "chain is broken" in failing["direct[prompt=brief]"]
    assert any("compress=" in reader and "cut by compression" in why for reader, why in failing.items())
    for example in EXAMPLES:  # where one configuration fails, another one of the same question succeeds
        assert any(not ask.fails for ask in example.asks)


def test_a_configuration_is_found_by_question_and_method():
    engine, question = WorkedEngine(EXAMPLES), next(e for e in EXAMPLES if e.id == "mer-q02").question
    assert engine.written(question, "bdtr").answer == "1938"
    assert "no relation joins the ferry" in engine.written(question, "dotrag").fails
    assert engine.written(question, "dense") is engine.written("Who?", "bdtr") is None


def test_the_same_replies_give_the_same_bytes(meridian_curated, tmp_path):
    asked = [q for q in wb.load("meridian").questions if q.question in {e.question for e in EXAMPLES if "117" in e.id}]
    for name in ("one", "other"):
        engine = wb.engine("worked")
        method = wb.method("hipporag2", meridian_curated, engine)
        run = wb.evaluate(asked, [method], wb.reader("direct", engine), tmp_path / name, progress=False)
        assert run.table().loc["hipporag2", "em"] == 1
    for file in ("results.jsonl", "run.json", "usage.json", "table.csv"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "other" / file).read_bytes()
    for label in ("replies written by hand, not with a language model", "curated, by hand"):
        assert label in repr(run) and label in run._repr_html_()


def test_what_shows_says_whose_words_they_are(meridian_curated):
    example = next(example for example in EXAMPLES if example.id == "mer-q117")
    answer = followed(example, example.asks[0], meridian_curated, wb.engine("worked"))
    assert no_model(answer.engine) == "replies written by hand"
    assert "replies written by hand and no language model" in answer._repr_html_()
    for name, read in (("mer-q07", replay), ("mer-q03", dots)):
        example = next(example for example in EXAMPLES if example.id == name)
        method = wb.method(example.asks[-1].method, meridian_curated, wb.engine("worked"))
        evidence = method.retrieve(example.question)
        for shown in (evidence, read(evidence.trace)):
            assert "Steps by replies written by hand" in repr(shown)
            assert "Steps by replies written by hand" in shown._repr_html_()


def test_the_command_line_answers_a_worked_question(meridian_curated):
    from typer.testing import CliRunner

    from workbench.cli import app

    example = next(example for example in EXAMPLES if example.id == "mer-q117")
    words = ["ask", str(meridian_curated.folder), example.question, "--engine", "worked"]
    said = CliRunner().invoke(app, words)
    assert said.exit_code == 0 and "Fabian Osk (by replies written by hand, not by a language model)" in said.output


def test_a_question_without_replies_is_an_error_that_names_step_and_question(meridian_curated):
    hippo = wb.method("hipporag2", meridian_curated, wb.engine("worked"))
    with pytest.raises(RecordingMiss, match=r"'fact_filter': 'Question: Who built the viaduct\?'.* mer-q117,"):
        hippo.retrieve("Who built the viaduct?")
    example = next(example for example in EXAMPLES if example.id == "mer-q117")
    reader = wb.reader("direct[prompt=sparql]", wb.engine("worked"))
    with pytest.raises(RecordingMiss, match=r"'sparql_answer' about 'Who wrote the words .* that of mer-q117"):
        reader.read(example.question, hippo.retrieve(example.question))


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
    with pytest.raises(RecordingMiss, match="'choose': 'Question: What"):
        say(engine, replace(VALUE, question="What?"))


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


def test_wording_around_the_only_message_counts_and_the_input_does_not():
    def alone(words):
        content = words + " {}"
        return Step("one", Said, lambda value: [{"role": "user", "content": content.format(value.question)}])

    assert stamp(alone("Say"), Asked("Who?")) == stamp(alone("Say"), Asked("Where?"))
    assert stamp(alone("Say"), Asked("Who?")) != stamp(alone("Tell"), Asked("Who?"))


def test_two_replies_that_fit_alike_are_an_error(tmp_path):
    engine = engine_of(tmp_path, 'text = "one"', 'text = "other"')
    with pytest.raises(EngineError, match=r"q\.toml: several replies to 'choose' fit the same call"):
        say(engine)


def test_other_replies_are_another_engine(tmp_path):
    one = engine_of(tmp_path, 'text = "one"').name
    assert one != engine_of(tmp_path, 'text = "two"').name and one.startswith(f"worked:{tmp_path.name}#")


def test_the_rules_go_on_for_an_author_and_the_call_is_kept(meridian_curated):
    example = replace(next(example for example in EXAMPLES if example.id == "mer-q117"), replies=())
    drafting = Drafting([example])
    followed(example, example.asks[0], meridian_curated, drafting)
    filter_, answer = drafting.unwritten
    assert 'step = "fact_filter v' in filter_ and "skarne petrels" in filter_ and 'step = "answer v' in answer


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
