"""Questions for a corpus without any: which paths are asked about, and which replies are taken."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import pytest
from imitated import Imitated
from tiny import TinyEncoder, tiny_dataset

from workbench.data.folder import read_questions
from workbench.data.graph import EntityType, Schema
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.errors import EngineError, SettingError
from workbench.evaluation.asking import path_questions, persona_questions
from workbench.index import Index
from workbench.llm.meter import Meter
from workbench.llm.record import Recording
from workbench.llm.step import Result
from workbench.steps import corpus_questions

CHAIN = ["Marl Viaduct", "Ines Tolland", "Kestrel FM", "Nora Whitlock", "Alderby", "Lake Mira", "River Aldra", "Skarne"]


def data(names=CHAIN):
    """A chain: of its paths of three hops only those along it."""
    passages = tiny_dataset().passages[:2]
    seen = (passages[0].id,)
    entities = tuple(EntityProfile(name, "thing", f"{name} is here.", seen) for name in names)
    relations = tuple(RelationProfile(a, b, f"{a} leads to {b}.", passages=seen) for a, b in pairwise(names))
    schema = Schema((EntityType("thing", "what there is"),), (), description="Things in a row.")
    return replace(
        tiny_dataset(), name="chain", passages=passages, profiles=Profiles(entities, relations), extractions=None,
        questions=(), schema=schema,
    )  # fmt: skip


@pytest.fixture
def chain(tmp_path):
    return Index.build(data(), None, tmp_path / "index", encoder=TinyEncoder(), layers=["typed"], progress=False)


class Writer:
    """Replies that fit; `wrong` first replies do not."""

    workers = 1

    def __init__(self, wrong=0):
        self.name, self.meter, self.wrong, self.seen = "openai:writer", Meter(), wrong, []

    def run(self, step, inputs, *, trace=None):
        self.seen += [(step.name, value) for value in inputs]
        return [Result(step.output(**self._said(step, value)), parse="strict") for value in inputs]

    def _said(self, step, value):
        self.wrong -= 1
        many = 0 if self.wrong >= 0 else 1
        if step is corpus_questions.PATH:
            end = value.names[-1]
            said = [{"question": f"What is far {at} from {value.names[0]}?", "answer": end} for at in range(value.many)]
            return {"questions": said[: len(said) * many]}
        if step is corpus_questions.PERSONAS:
            tasks = [f"task {at}" for at in range(value.tasks)]
            return {"users": [{"user": f"user {at}", "tasks": tasks} for at in range(value.users)] * many}
        assert step is corpus_questions.TASKS
        return {"questions": [f"{value.user}, {value.task}: {at}?" for at in range(value.many)] * many}


# -- from paths -------------------------------------------------------------------------------------------------------


def test_paths_are_walks_of_three_hops_whose_ends_are_apart(chain, tmp_path):
    made = path_questions(chain, engine := Writer(), tmp_path / "out", paths=4, each=2, progress=False)
    asked = [value for _, value in engine.seen]
    assert len(made) == 8 and len({value.names for value in asked}) == 4
    for value in asked:
        places = [CHAIN.index(name) for name in value.names]
        assert len(places) == 4 and {abs(a - b) for a, b in pairwise(places)} == {1} and value.types == ("thing",) * 4
        assert f"{value.names[0]} leads to {value.names[1]}." in value.text or (
            f"{value.names[1]} leads to {value.names[0]}." in value.text
        )
    first = made[0]
    assert (first.id, first.hops, first.type) == ("chain-path01-1", 3, "path")
    assert first.start == asked[0].names[:1] and first.answers == asked[0].names[-1:]
    assert tuple(read_questions(tmp_path / "out" / "questions.jsonl")) == made
    said = json.loads((tmp_path / "out" / "made.json").read_text())
    assert said["made_by"] == "openai:writer (path_questions v1)" and said["paths"][0] == list(asked[0].names)


def test_names_that_give_each_other_away_are_no_path(tmp_path):
    names = ["Kestrel FM", "Nora", "Alderby", "Kestrel House", "Skarne"]
    index = Index.build(data(names), None, tmp_path / "index", encoder=TinyEncoder(), layers=["typed"], progress=False)
    made = path_questions(index, Writer(), tmp_path / "out", paths=2, each=1, progress=False)
    assert {(one.start[0], one.answers[0]) for one in made} == {("Nora", "Skarne"), ("Skarne", "Nora")}
    with pytest.raises(SettingError, match=r"has 2 paths of 3 hops .* and 9 are wanted.*fewer \(paths=2\)"):
        path_questions(index, Writer(), tmp_path / "more", paths=9, progress=False)


def test_paths_may_be_drawn_without_any_condition(tmp_path):
    """As the paper says no more than that they are drawn at random."""
    names = ["Nora", "Kestrel FM", "Kestrel House", "Skarne"]
    index = Index.build(data(names), None, tmp_path / "index", encoder=TinyEncoder(), layers=["typed"], progress=False)
    with pytest.raises(SettingError, match="has 0 paths of 3 hops with names that do not give each other away"):
        path_questions(index, Writer(), tmp_path / "apart", paths=2, each=1, progress=False)
    made = path_questions(index, Writer(), tmp_path / "out", paths=2, each=1, apart=False, progress=False)
    assert {(one.start[0], one.answers[0]) for one in made} == {("Nora", "Skarne"), ("Skarne", "Nora")}
    assert json.loads((tmp_path / "out" / "made.json").read_text())["apart"] is False


def test_a_reply_that_does_not_fit_is_asked_again_and_then_another_path_is_drawn(chain, tmp_path):
    made = path_questions(chain, engine := Writer(wrong=3), tmp_path / "out", paths=1, each=1, progress=False)
    assert len(made) == 1 and len(engine.seen) == 4
    objections = [value.objection for _, value in engine.seen]
    assert objections[0] == objections[3] == "" and "1 questions are wanted, and there are 0" in objections[1]
    assert engine.seen[3][1].names != engine.seen[0][1].names
    with pytest.raises(EngineError, match=r"for 0 of 1 paths of chain; what did not fit last: .* there are 0"):
        path_questions(chain, Writer(wrong=99), tmp_path / "never", paths=1, each=1, progress=False)


def test_the_same_call_asks_nothing_twice_and_writes_the_same(chain, tmp_path):
    engine = Imitated()
    engine.keep(Recording(tmp_path / "answers.sqlite"))
    made = path_questions(chain, engine, tmp_path / "out", paths=3, progress=False)
    asked, files = engine.meter.total.calls, sorted(path.name for path in (tmp_path / "out").iterdir())
    assert path_questions(chain, engine, tmp_path / "again", paths=3, progress=False) == made
    assert (engine.meter.total.recorded, engine.meter.total.calls) == (asked, 2 * asked)
    assert files == ["made.json", "questions.jsonl"]
    for name in files:
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


PATH = corpus_questions.PathInput(("Marl Viaduct", "Ines Tolland", "Kestrel FM", "Nora Whitlock"), ("",) * 4, "", 1)


@pytest.mark.parametrize(("question", "answer", "wrong"), [
    ("Who spoke first on what the designer of the Marl Viaduct paid for?", "Nora Whitlock", ""),
    ("Who spoke first on what the designer of the marl viaduct paid for?", "nora whitlock.", ""),
    ("Who spoke first on what its designer paid for?", "Nora Whitlock", "does not name the start, 'Marl Viaduct'"),
    ("Who spoke on Kestrel FM, of the Marl Viaduct?", "Nora Whitlock", "names 'Kestrel FM'"),
    ("What did Ines Tolland of the Marl Viaduct do?", "Nora Whitlock", "names 'Ines Tolland'"),
    ("Who is Ms Whitlock of the Marl Viaduct?", "Nora Whitlock", "holds the word 'whitlock' of the answer"),
    ("Who, by the Marl Viaduct?", "Ines Tolland", "the answer is 'Nora Whitlock', not 'Ines Tolland'"),
    ("Who, by the Marl Viaducts?", "Nora Whitlock", "does not name the start"),
])  # fmt: skip
def test_flaws_of_a_question_on_a_path(question, answer, wrong):
    output = corpus_questions.PathOutput(questions=[{"question": question, "answer": answer}])
    found = corpus_questions.path_flaw(PATH, output)
    assert wrong in found and bool(found) == bool(wrong)


def test_rules_fill_forms_and_say_so(chain, tmp_path):
    made = path_questions(chain, "rules", tmp_path / "out", paths=2, progress=False)
    assert len(made) == 10 and all(one.id.startswith("chain-rules-path") for one in made)
    assert "rules (path_questions v1)" in (tmp_path / "out" / "made.json").read_text()


# -- from personas ----------------------------------------------------------------------------------------------------


def test_125_questions_of_five_users_with_five_tasks_each(tmp_path):
    made = persona_questions(data(), engine := Writer(), tmp_path / "out", progress=False)
    assert len(made) == 125 == len({one.question for one in made}) == len({one.id for one in made})
    assert [name for name, _ in engine.seen] == ["personas"] + ["task_questions"] * 25
    assert engine.seen[0][1].description == "Things in a row." and engine.seen[0][1].titles
    assert (made[0].id, made[-1].id, made[0].answers) == ("chain-user1-task1-1", "chain-user5-task5-5", ())
    assert tuple(read_questions(tmp_path / "out" / "questions.jsonl")) == made
    assert len(json.loads((tmp_path / "out" / "made.json").read_text())["users"]) == 5


def test_replies_that_never_fit_are_an_error_that_says_which(tmp_path):
    with pytest.raises(
        EngineError, match=r"named no users and tasks for chain \(.*2 users are wanted, and there are 0"
    ):
        persona_questions(data(), Writer(wrong=3), tmp_path / "a", users=2, progress=False)

    class Mute(Writer):
        def _said(self, step, value):
            return {"questions": ["no"]} if step is corpus_questions.TASKS else super()._said(step, value)

    with pytest.raises(EngineError, match=r"for 2 of 2 tasks of chain; the first: .*5 questions are wanted"):
        persona_questions(data(), Mute(), tmp_path / "b", users=1, tasks=2, progress=False)


@pytest.mark.parametrize(("users", "wrong"), [
    ([("u", ["a", "b"]), ("v", ["a", "b"])], ""),
    ([("u", ["a", "b"])], "2 users are wanted, and there are 1"),
    ([("u", ["a", "b"]), ("v", ["a"])], "2 tasks are wanted of each user, and 'v' has 1"),
    ([("u", ["a", "b"]), ("u ", ["a", "b"])], "two users are the same"),
    ([("u", ["a", " "]), ("v", ["a", "b"])], "a user or a task is empty"),
    ([("u", ["a", "b"]), ("v", ["a", "a"])], "two tasks of 'v' are the same"),
])  # fmt: skip
def test_flaws_of_users_and_tasks(users, wrong):
    output = corpus_questions.PersonasOutput(users=[{"user": user, "tasks": tasks} for user, tasks in users])
    assert corpus_questions.personas_flaw(corpus_questions.PersonasInput("", (), 2, 2), output) == wrong
