"""Graph-CoT on a graph that is known in full, with an engine whose turns are written down."""

import json

import pytest
from scripted import Scripted
from small import index_of
from tiny import TinyEncoder

import workbench as wb
from workbench import tokens
from workbench.data import Dataset, Extraction
from workbench.data.profiles import EntityProfile, Profiles
from workbench.llm.call import Reply
from workbench.llm.parse import parse
from workbench.methods.graph_cot import GraphActions
from workbench.records import Passage
from workbench.steps import exploring
from workbench.steps.exploring import Action

QUESTION = "Where was the founder of Kestrel born?"
STATED = {
    "founding": [("Kestrel", "founded by", "Nora")],
    "history": [("Kestrel", "founded by", "Nora")],
    "birth": [("Nora", "born in", "Orsby")],
    "taste": [("Nora", "likes", "Tea")],
    "nothing": [],
}


class Told(Scripted):
    """Gives its turns one by one: lists of actions, or an Exception for a reply that cannot be read."""

    def __init__(self, *turns):
        names = ("action", "argument", "type")
        super().__init__(graph_action=[
            turn if isinstance(turn, Exception)
            else {"thought": "…", "actions": [dict(zip(names, action)) for action in turn]}
            for turn in turns
        ])  # fmt: skip

    @property
    def turns(self):
        return self.inputs("graph_action")

    @property
    def seen(self):
        """The texts of all observations that the last prompt showed."""
        return [seen.text for turn in self.turns[-1].turns for seen in turn.observations]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return index_of(tmp_path_factory.mktemp("cot"), STATED)


def walk(index, engine, k=10, **settings):
    return wb.method("graph_cot", index, engine, **settings).retrieve(QUESTION, k)


def ends(found):
    (event,) = found.trace.find("rank passages")
    return event.inputs["end"], event.outputs["malformed"]


# -- the five actions -------------------------------------------------------------------------------------------------


def do(index, action, argument, type="", **limits):
    return GraphActions(index, **limits)(Action(action=action, argument=argument, type=type), QUESTION)


def test_what_each_action_shows(index, tiny_index):
    found = do(index, "find", "NORA")
    assert found.nodes[0] == "nora" and len(found.nodes) == 6
    assert do(index, "find", "Birth").text.split("passages: ")[1].startswith("birth (birth)")
    assert do(index, "read", "birth").text == "birth\nText of birth."
    assert do(index, "read", "nora").text == "A phrase; neighbours: 3 relation, 0 synonym, 4 context."
    relations = do(index, "neighbours", "kestrel", "relation")
    assert relations.text == "kestrel | founded by | nora [founding, history]"
    assert (relations.nodes, relations.facts[0].passages) == (("nora",), ("founding", "history"))
    assert do(index, "neighbours", "orsby", "context").text == "birth (birth)"
    assert do(index, "neighbours", "birth", "context").nodes == ("nora", "orsby")
    assert do(index, "neighbours", "birth", "relation").text == "no neighbours of type relation"
    assert do(tiny_index, "neighbours", "orsby harbour pier", "synonym").nodes == ("old orsby harbour pier",)


def test_long_passages_are_cut_and_descriptions_of_the_data_are_read(tmp_path):
    data = Dataset(
        "told", (Passage("p", "", "word " * 5_000),), (),
        (Extraction("p", (), (("Nora", "likes", "Tea"),), "by hand"),),
        profiles=Profiles((EntityProfile("Nora", "person", "A founder of stations.", ("p",)),), ()),
    )  # fmt: skip
    index = wb.Index.build(data, None, tmp_path, encoder=TinyEncoder(), progress=False)
    text = do(index, "read", "p", text_tokens=50).text
    assert text.endswith("(the rest is left out)") and tokens.count(text) < 65
    many = index_of(tmp_path / "many", {"p": [("Nora", "likes", f"thing {n:02}") for n in range(30)]})
    found = do(many, "neighbours", "nora", "relation", listed=20)
    assert found.text.endswith("… and 10 more") and len(found.nodes) == len(found.facts) == 20
    assert do(many, "count", "nora", "relation").text == "30"
    assert do(index, "read", "nora").text.startswith("A founder of stations. A phrase;")


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (("fly", "nora", ""), "no action 'fly'"),
        (("read", "Nora Whitlock", ""), "no node 'Nora Whitlock'"),
        (("neighbours", "nora", "friendship"), "no edge of type 'friendship'"),
        (("count", "nora", ""), "no edge of type ''"),
        (("find", " \n", ""), "find needs an argument"),
        (("__import__('os').system('true')", "x", ""), "no action"),
        (("read", "<script>\x00\ud800", ""), "no node"),
    ],
)
def test_what_cannot_be_done_is_told_and_counted(index, action, said):
    found = walk(index, engine := Told([action], [("finish", "", "")]))
    assert said in engine.seen[0] and ends(found) == ("finished", 1)


def test_the_schema_names_the_actions_and_a_reply_may_name_others():
    """Refused as a whole, a reply would lose its good actions too."""
    assert exploring.STEP.schema["$defs"]["Action"]["properties"]["action"]["enum"] == list(exploring.ACTIONS)
    reply = Reply('{"thought": "", "actions": [{"action": "fly", "argument": 7, "type": ""}]}')
    value, level = parse(exploring.STEP, reply)
    assert (value.actions[0].action, value.actions[0].argument, level) == ("fly", "7", "strict")


# -- the loop ---------------------------------------------------------------------------------------------------------

WALK = (
    [("find", "Kestrel", "")],
    [("neighbours", "kestrel", "relation")],
    [("neighbours", "nora", "relation"), ("read", "taste", "")],
    [("finish", "Orsby", "")],
)


def test_passages_are_ranked_by_the_place_of_their_first_use(index):
    """Nora is looked at after Kestrel: the fact between them is used (founding and history state it); then taste is
    read; then the answer Orsby is joined to Nora (birth). Never used: nothing."""
    found = walk(index, Told(*WALK))
    scores = dict(found.ranking)
    assert scores.pop("nothing") <= 0
    assert scores == {"founding": 1, "history": 1, "taste": 1 / 2, "birth": 1 / 3}
    assert [name for name, _ in found.ranking][2:] == ["taste", "birth", "nothing"]
    assert [(fact.members, score) for fact, score in found.facts] == [
        (("kestrel", "founded by", "nora"), 1), (("nora", "born in", "orsby"), 1 / 2),
    ]  # fmt: skip
    assert [(e.name, s) for e, s in found.entities] == [("kestrel", 1), ("nora", 1 / 2), ("orsby", 1 / 3)]
    assert (found.scale, found.fallback, ends(found)) == ("use", None, ("finished", 0))


def test_each_prompt_shows_what_was_done_before(index):
    found = walk(index, engine := Told(*WALK), dense_fill=False)
    assert "nothing" not in dict(found.ranking), "without a tail only what was used is ranked"
    assert [len(value.turns) for value in engine.turns] == [0, 1, 2, 3]
    shown = json.loads(exploring.STEP.prompt(engine.turns[-1])[-1]["content"])
    assert shown["question"] == QUESTION
    assert shown["steps so far"][2]["observations"][1] == "taste\nText of taste."
    assert "nora | likes | tea [taste]" in shown["steps so far"][2]["observations"][0]


def test_actions_count_once_up_to_ten_a_step_and_none_behind_a_finish(index):
    taste, finish = ("read", "taste", ""), ("finish", "", "")
    found = walk(index, engine := Told([taste] * 12, [("read", "birth", ""), finish, ("read", "nothing", "")]))
    assert len(engine.seen) == 10 and "only the first 10" in engine.seen[-1]
    assert [event.inputs["action"] for event in found.trace.find("act")] == ["read"] * 11 + ["finish"]
    assert found.ranking[:2] == [("taste", 1), ("birth", 1 / 2)]
    found = walk(index, engine := Told(*[[taste]] * 20))
    assert ends(found) == ("the limit of steps is reached", 0) and len(engine.turns) == 15


# -- ends -------------------------------------------------------------------------------------------------------------


def test_it_ends_before_a_prompt_that_is_too_long(index):
    sizes = [sum(tokens.count(m["content"]) for m in exploring.STEP.messages(exploring.Input(QUESTION)))]
    found = walk(index, engine := Told(*[[("read", "taste", "")]] * 20), prompt_tokens=sizes[0] + 150)
    assert ends(found)[0] == "the prompt is longer than its limit" and 1 < len(engine.turns) < 15
    assert all(e.inputs["prompt_tokens"] <= sizes[0] + 150 for e in found.trace if e.step.startswith("round "))
    found = walk(index, engine := Told(), prompt_tokens=sizes[0] - 1)
    assert engine.turns == [] and "the prompt is longer" in found.fallback


def test_one_unreadable_reply_is_told_and_two_in_a_row_end_it(index):
    bad = ValueError("no JSON found")
    found = walk(index, engine := Told(bad, [("read", "taste", "")], bad, [], [("finish", "", "")]))
    assert ends(found) == ("replies cannot be read", 3) and len(engine.turns) == 4
    assert engine.seen == ["the reply could not be read: no JSON found", "taste\nText of taste.",
                           "the reply could not be read: no JSON found"]  # fmt: skip
    assert found.ranking[0] == ("taste", 1)


@pytest.mark.parametrize("answer", ["", "Zzyzx", "<script>alert(1)</script>", "\ud800", "1 + 1"])
def test_where_nothing_was_used_the_dense_ranking_answers(index, answer):
    found = walk(index, Told([("find", "Kestrel", "")], [("finish", answer, "")]))
    assert "no passage was read" in found.fallback and found.scale == "cosine"
    assert found.ranking == wb.method("dense", index).retrieve(QUESTION).ranking
