"""Iterative methods: the loop over a backbone that is told what to find and an engine that is told what to say."""

from __future__ import annotations

import pytest
from tiny import QUESTIONS

import workbench as wb
from workbench import tokens
from workbench.errors import SettingError
from workbench.llm import Result
from workbench.llm.meter import Meter
from workbench.methods.base import Method
from workbench.methods.ircot import Appended, concludes, first_sentence
from workbench.methods.iterative import Thought
from workbench.records import Evidence, Passage, ranked

QUESTION = "Which lake does the river at Orsby flow into?"
SPECS = ("ircot", "irgs", "gcot", "tog")


class Told(Method):
    """A backbone: what it finds, by query; "p1" for any other."""

    name, paper, scale = "told", "none", "told"

    def __init__(self, index, finds=None, scales=None):
        super().__init__(index)
        self.finds, self.scales, self.asked = finds or {}, scales or {}, []

    def search(self, question, k, trace):
        self.asked.append(question)
        found = self.finds.get(question, {"p1": 1.0})
        passages = [self.index.passages.passages[self.index.passages.row[name]] for name in found]
        scale = self.scales.get(question, self.scale)
        return Evidence(question, self.label, scale, ranked(passages, list(found.values()))[:k])


class Script:
    """An engine that says one thing after the other; a text that begins with "!" is a failure."""

    name, workers = "script", 1

    def __init__(self, *says):
        self.says, self.asked, self.meter = list(says), [], Meter()

    def run(self, step, inputs, *, trace=None):
        self.asked += inputs
        said = self.says.pop(0)
        if isinstance(said, str) and said.startswith("!"):
            return [Result(None, said[1:])]
        return [Result(step.output(thought=said) if isinstance(said, str) else step.output(**said), parse="strict")]


def run(spec, index, *says, finds=None, scales=None, **settings):
    """(backbone, engine, evidence)"""
    backbone, engine = Told(index, finds, scales), Script(*says)
    return backbone, engine, wb.method(spec, index, engine, backbone=backbone, **settings).retrieve(QUESTION)


def generated(reasoning="It flows on.", answer="Lake Mira"):
    return {"reasoning": reasoning, "answer": answer}


def explored(*targets, sufficient=False):
    names = ("entity", "relation", "score")
    return {"sufficient": sufficient, "targets": [dict(zip(names, target)) for target in targets]}


MIRA, ALDRA, ORSBY = ("Lake Mira", "fed by", 0.1), ("River Aldra", "flows into", 0.6), ("Orsby", "lies on", 0.3)


# -- queries and stops -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "says", "queries"),
    [
        ("ircot", ["Orsby lies on a river.", "It is the Aldra."], ["Orsby lies on a river.", "It is the Aldra."]),
        ("ircot", ["Orsby lies on a river.", "So the answer is: Mira"], ["Orsby lies on a river."]),
        ("ircot", ["The answer is Lake Mira."], []),
        ("gcot", ["Where the Aldra ends is missing.", "Mira"], ["Where the Aldra ends is missing.", "Mira"]),
        ("gcot", ["so the answer is: Lake Mira"], []),
        ("irgs", [generated(), generated("Well.", "")], [f"{QUESTION} Lake Mira It flows on.", f"{QUESTION} Well."]),
        ("irgs", [generated("So the answer is: x", "x"), generated()],
         [f"{QUESTION} x So the answer is: x", f"{QUESTION} Lake Mira It flows on."]),  # it never stops early
        ("tog", [explored(MIRA, ALDRA), explored(ORSBY)],
         ["River Aldra flows into", "Lake Mira fed by", "Orsby lies on"]),
        ("tog", [explored(ORSBY), explored(ALDRA, sufficient=True)], ["Orsby lies on"]),
        ("tog", [explored(ORSBY), explored()], ["Orsby lies on"]),
        ("tog", [explored(("Aldra", "flows", 0.0), ("", " ", 0.9))], []),
        ("tog", [explored(MIRA, ALDRA, ORSBY, ("Quell", "stands", 0.2)), explored()],
         ["River Aldra flows into", "Orsby lies on", "Quell stands"]),  # three are explored
        ("tog[width=1]", [explored(MIRA, ALDRA), explored()], ["River Aldra flows into"]),
    ],
)  # fmt: skip
def test_which_queries_are_sent_and_when_it_stops(tiny_index, spec, says, queries):
    backbone, engine, evidence = run(spec, tiny_index, *says)
    assert backbone.asked == [QUESTION, *queries]
    assert engine.says == [] and len(engine.asked) == len(says) == len(evidence.trace.find("think"))
    assert not evidence.fallback


def test_the_step_sees_the_best_of_the_pool_and_what_was_said(tiny_index):
    finds = {QUESTION: {"p1": 0.9, "p2": 0.5, "p3": 0.4}, "Aldra?": {"p3": 0.95}}
    _, engine, _ = run("ircot", tiny_index, "Aldra?", "Mira?", finds=finds, shown=2)
    assert [[title for title, _ in value.passages] for value in engine.asked] == [
        ["Orsby", "River Aldra"], ["Lake Mira", "Orsby"],
    ]  # fmt: skip
    assert [value.thoughts for value in engine.asked] == [(), ("Aldra?",)]
    _, engine, _ = run("tog", tiny_index, explored(ORSBY), explored(), width=5)
    assert [(value.before, value.width) for value in engine.asked] == [((), 5), (("Orsby lies on",), 5)]


def test_rankings_meet_by_the_best_score(tiny_index):
    finds = {QUESTION: {"p1": 0.9, "p2": 0.5}, "Aldra?": {"p3": 0.7, "p2": 0.6, "p1": 0.1}}
    _, _, evidence = run("ircot", tiny_index, "Aldra?", "The answer is: Mira", finds=finds)
    assert evidence.ranking == [("p1", 0.9), ("p3", 0.7), ("p2", 0.6)]
    assert (evidence.scale, evidence.method) == ("told", "ircot[backbone=told]")


@pytest.mark.parametrize("spec", ["bm25", "hipporag2"])
@pytest.mark.parametrize("method", SPECS)
def test_without_rounds_it_is_the_static_system(tiny_index, method, spec):
    for question in QUESTIONS:
        static = wb.method(spec, tiny_index).retrieve(question.question)
        found = wb.method(f"{method}[backbone={spec},iterations=0]", tiny_index).retrieve(question.question)
        assert (found.passages, found.scale, found.fallback) == (static.passages, static.scale, static.fallback)


def test_a_query_is_the_whole_draft(tiny_index):
    """Of IRGS the answer comes before the reasoning, whose end is what an encoder or a cut to a few tokens takes."""
    reasoning = "The river flows on " * 40
    backbone, _, evidence = run("irgs", tiny_index, generated(reasoning, "Lake Mira"), generated())
    assert backbone.asked[1].startswith(f"{QUESTION} Lake Mira") and tokens.count(backbone.asked[1]) > 160
    assert "shortened" not in evidence.trace.find("think")[0].outputs
    backbone, _, _ = run("irgs", tiny_index, generated(reasoning, "Lake Mira"), generated(), query_tokens=20)
    assert "Lake Mira" in backbone.asked[1] and tokens.count(backbone.asked[1]) == 20


@pytest.mark.parametrize(("grounds", "says", "selected"), [
    (True, ["It is the Aldra.", "So the answer is: Mira"], 3), (True, ["One.", "Two."], None),
    (False, ["So the answer is: Mira"], None),
])  # fmt: skip
def test_what_a_sufficient_thought_rested_on_reaches_the_reader(tiny_index, grounds, says, selected):
    """A thought reads more passages than a reader, which was blind where the thought had rightly stopped."""
    _, _, evidence = run("ircot", tiny_index, *says, grounds=grounds, shown=3)
    assert evidence.selected == selected


def test_a_long_thought_is_cut_to_its_first_64_tokens_and_the_trace_says_so(tiny_index):
    long = "The river flows on " * 40
    backbone, _, evidence = run("ircot", tiny_index, long, "So the answer is: Mira", query_tokens=64)
    assert long.startswith(backbone.asked[1]) and tokens.count(backbone.asked[1]) == 64
    first = evidence.trace.find("think")[0]
    assert first.outputs["texts"] == {"thought": long}  # recorded as it was said
    assert first.outputs["shortened"] == 1


@pytest.mark.parametrize(
    ("spec", "says"),
    [("ircot", ["Aldra?", " aldra "]), ("gcot", ["Aldra?", "ALDRA?"]), ("irgs", [generated(), generated()]),
     ("tog", [explored(ORSBY, ("orsby", "Lies on", 0.2)), explored(ORSBY)])],
)  # fmt: skip
def test_what_was_searched_for_is_not_searched_for_again(tiny_index, spec, says):
    backbone, _, _ = run(spec, tiny_index, *says)
    assert len(backbone.asked) == 2


@pytest.mark.parametrize("spec", SPECS)
def test_a_failed_step_costs_its_round_and_is_noted(tiny_index, spec):
    later = {"irgs": generated(), "tog": explored(ORSBY)}.get(spec, "Orsby lies on a river.")
    if spec in ("ircot", "gcot"):  # an empty thought is a failure too
        backbone, _, evidence = run(spec, tiny_index, " \n", "", finds={QUESTION: {}})
        assert backbone.asked == [QUESTION] and "round 1 failed" in evidence.fallback and evidence.passages == ()
    backbone, _, evidence = run(spec, tiny_index, "!the reply is empty", later)
    assert len(backbone.asked) == 2
    assert evidence.fallback == "the thought of round 1 failed: the reply is empty"
    assert evidence.trace.find("think")[0].outputs["failure"] == "the reply is empty"


@pytest.mark.parametrize(("profile", "asked"), [("adapted", [QUESTION]), ("original", [QUESTION] * 3)])
def test_an_empty_generation_is_the_question_again(tiny_index, profile, asked):
    backbone, _, evidence = run("irgs", tiny_index, generated(" ", ""), generated("", ""), profile=profile)
    assert backbone.asked == asked and evidence.passages and not evidence.fallback


def test_the_trace_of_a_round(tiny_index):
    _, _, evidence = run("tog", tiny_index, explored(ORSBY, ALDRA), explored())
    root, *others = evidence.trace.events
    rounds = [event for event in others if event.parent == root.id]
    assert [event.step for event in rounds] == ["round 0", "round 1", "round 2"]
    inside = [[event.step for event in others if event.parent == one.id] for one in rounds]
    assert inside == [["search", "pool"], ["think", "search", "search", "pool"], ["think"]]
    think = evidence.trace.find("think")[0]
    assert think.outputs["texts"] == {"targets": "River Aldra flows into (0.6)\nOrsby lies on (0.3)"}
    assert [event.inputs["origin"] for event in evidence.trace.find("search")] == ["question", "target", "target"]
    assert all(event.parent for event in evidence.trace.find("told"))  # the backbone's own event is inside


# -- thoughts by hand --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", SPECS)
def test_a_given_thought_takes_the_place_of_the_engine_s(tiny_index, spec):
    backbone, engine = Told(tiny_index), Script({"irgs": generated(), "tog": explored(ORSBY)}.get(spec, "Aldra?"))
    method = wb.method(spec, tiny_index, engine, backbone=backbone)
    hand = method.given([Thought({"thought": "By hand."}, (("thought", "By hand."),))])
    evidence = hand.retrieve(QUESTION)
    assert backbone.asked[:2] == [QUESTION, "By hand."] and len(backbone.asked) == 3
    assert [event.outputs["given"] for event in evidence.trace.find("think")] == [True, False]
    assert "by hand" in evidence.method and "by hand" not in method.label
    assert len(engine.asked) == 1


# -- scales and backbones ----------------------------------------------------------------------------------------------


def test_scales_that_differ_are_normalised_and_noted(tiny_index):
    finds = {QUESTION: {"p1": 0.03, "p2": 0.02, "p3": 0.01}, "Aldra?": {"p4": 9.0, "p3": 5.0}}
    _, _, evidence = run(
        "ircot", tiny_index, "Aldra?", "The answer is x", finds=finds, scales={QUESTION: "ppr", "Aldra?": "cosine"}
    )
    assert [name for name, _ in evidence.ranking] == ["p1", "p4", "p2", "p3"]
    assert [score for _, score in evidence.ranking] == pytest.approx([1, 1, 0.5, 0])
    assert evidence.scale == "minmax(cosine, ppr)" and "different scales" in evidence.fallback and evidence.mixed
    assert [event.outputs["mixed"] for event in evidence.trace.find("pool")] == [False, True]


def test_why_the_backbone_fell_back_is_told_for_every_round(tiny_index):
    class Falls(Told):
        def search(self, question, k, trace):
            return Evidence(question, self.label, self.scale, (), fallback=f"nothing for {question}")

    method = wb.method("ircot", tiny_index, Script("Aldra?", "Mira?"), backbone=Falls(tiny_index))
    said = method.retrieve(QUESTION).fallback
    assert said == f"nothing for {QUESTION}; round 1: nothing for Aldra?; round 2: nothing for Mira?"


def test_a_backbone_is_a_method_or_its_spec(tiny_index):
    inner = "hipporag2[damping=0.4]"
    written = wb.method(f"tog[backbone={inner}]", tiny_index)
    handed = wb.method("tog", tiny_index, backbone=wb.method(inner, tiny_index))
    assert written.label == handed.label == f"tog[backbone={inner}]"
    assert written.retrieve(QUESTION) == handed.retrieve(QUESTION)
    assert written.backbone.settings.damping == 0.4 and set(written.steps) == {"directions", "fact_filter"}


def test_an_iterative_method_may_run_over_another_but_not_over_itself(tiny_index):
    method = wb.method("gcot[backbone=ircot[backbone=dense,iterations=1]]", tiny_index)
    assert method.retrieve(QUESTION).passages and method.steps == ("missing_evidence", "next_thought")
    with pytest.raises(SettingError, match="another method"):
        wb.method("gcot[backbone=gcot[backbone=dense]]", tiny_index)


# -- what concludes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "thought",
    [
        "So the answer is: Lake Mira", "so the answer is Lake Mira.", "The answer is: 44", "THE ANSWER IS OSLO",
        "It flows into it. So the answer is: Mira", "It does.\nThe answer is “Fog”.", "**So the answer is:** Mira",
        "Therefore, the answer is Mira.", "The final answer: Mira", "Thought: So the answer is: Mira",
        "It flows into Lake Mira, so the answer is: Lake Mira", "So, the answer is: 東京", "So the answer is: Unst",
        'So the answer is: "Mira"',
    ],
)  # fmt: skip
def test_a_thought_that_gives_the_answer_concludes(thought):
    assert concludes(thought)


@pytest.mark.parametrize(
    "thought",
    [
        "", "Lake Mira", "So the answer is:", "So the answer is: …",
        'I am to begin with "So the answer is:" when I know it.', '"So the answer is:" comes at the end.',
        "The final step starts with So the answer is: and then a name.",
        "The answer is not in the documents.", "The answer is still unknown.", "So the answer is unclear.",
        "I need to know what the answer is.", "The answers are many.", "The answer island lies there.",
        "\n" * 50_000, "so " * 20_000, "The answer is" + " " * 50_000,
    ],
)  # fmt: skip
def test_a_thought_that_speaks_of_the_marker_does_not(thought):
    assert not concludes(thought)


# -- the originals -----------------------------------------------------------------------------------------------------

ORIGINAL = {"profile": "original"}


FACTS = [f"Fact {number}." for number in range(10)]


@pytest.mark.parametrize(
    ("says", "queries"),
    [
        (
            [
                "Orsby lies on the Aldra. This is the second sentence.",
                "So it is the Aldra.",  # a conclusion: the sentence before is the query, which was asked
                "I wonder where the Aldra ends.",
                "1990 - 1950 = 40.",
                "The answer is Lake Mira. And more.",
            ],
            ["Orsby lies on the Aldra.", "I wonder the Aldra ends."],
        ),
        (["Thus it flows.", ""], ["lake does the river at Orsby flow into?"]),  # back to the question
        (["Aldra.", " "], ["Aldra."]),  # an empty sentence ends it
        (FACTS, FACTS),  # and so does the tenth
    ],
)
def test_ircot_original_searches_by_its_last_telling_sentence_without_question_words(tiny_index, says, queries):
    backbone, engine, evidence = run("ircot", tiny_index, *says, **ORIGINAL)
    assert backbone.asked == [QUESTION, *queries] and engine.says == [] and not evidence.fallback


def test_ircot_original_appends_six_a_query(tiny_index):
    finds = {
        QUESTION: {f"p{number}": 1 / number for number in range(1, 9)},
        "Fog.": {"p8": 90.0, "p1": 80.0, "p7": 70.0},
    }
    _, _, evidence = run("ircot", tiny_index, "Fog.", "", finds=finds, **ORIGINAL)
    assert [name for name, _ in evidence.ranking] == ["p1", "p2", "p3", "p4", "p5", "p6", "p8", "p7"]
    assert [score for _, score in evidence.ranking] == [1 / place for place in range(1, 9)]
    assert evidence.scale == "rank" and not evidence.fallback


def test_appended_passages_have_an_end_and_no_near_duplicates():
    text = "Orsby lies on the River Aldra, which flows into Lake Mira. "
    passages = [Passage("a", "Orsby", text), Passage("b", "Orsby", text + "!"), Passage("c", "Quell", text)]
    passages += [Passage(f"d{number}", f"Page {number}", str(number) * 50) for number in range(20)]
    pool = Appended(5)
    pool.merge(Evidence("q", "told", "told", ranked(passages, range(30, 30 - len(passages), -1))), 0)
    pool.merge(Evidence("r", "told", "told", ranked(passages[-1:], [99])), 1)
    assert [entry.passage.id for entry in pool.ranked()] == ["a", "c", "d0", "d1", "d2"]
    assert (pool.scale, pool.mixed) == ("rank", False)


def test_first_sentence():
    assert first_sentence("One fact. Another.") == "One fact." and first_sentence(" \n") == ""
    assert first_sentence("Mr. Weiss was born. He died.") == "Mr. Weiss was born."


def test_irgs_original_replaces_the_ranking_and_may_come_back_to_a_query(tiny_index):
    one, other = f"{QUESTION} x One.", f"{QUESTION} x Two."
    finds = {QUESTION: {"p1": 0.9}, one: {"p2": 0.5, "p3": 0.4}, other: {"p4": 0.1}}
    says = [generated("One.", "x"), generated("Two.", "x"), generated("One.", "x")]
    backbone, engine, evidence = run("irgs", tiny_index, *says, finds=finds, iterations=3, **ORIGINAL)
    assert engine.asked[1].passages == tuple((p.title, p.text) for p in tiny_index.passages.passages[1:3])
    assert evidence.ranking == [("p2", 0.5), ("p3", 0.4)] and backbone.asked == [QUESTION, one, other, one]
    _, _, evidence = run("irgs", tiny_index, generated("Two.", "x"), "!broken", finds=finds, **ORIGINAL)
    assert evidence.ranking == [("p4", 0.1)] and "round 2 failed: broken" in evidence.fallback


@pytest.mark.parametrize(("spec", "backbone"), [("ircot", "bm25"), ("irgs", "dense")])
def test_a_profile_has_its_own_backbone_which_a_setting_replaces(tiny_index, spec, backbone):
    original = wb.method(f"{spec}[profile=original]", tiny_index)
    assert original.backbone.name == original.settings.backbone == backbone
    other = wb.method(f"{spec}[profile=original,backbone=hipporag2]", tiny_index)
    assert other.backbone.name == "hipporag2" and other.scale == ("rank" if spec == "ircot" else "ppr")
    assert original.retrieve(QUESTION).scale == original.scale
