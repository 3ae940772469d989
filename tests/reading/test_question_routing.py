"""Options that every reader of a context has: prompts, routing, a second try, compression, layouts, a check."""

from __future__ import annotations

import pytest
from scripted import Scripted

import workbench as wb
from workbench.errors import SettingError
from workbench.reading.prompts import POLICY, heuristic
from workbench.records import (
    ContextEntity,
    ContextGraph,
    ContextRelation,
    Entity,
    Evidence,
    Passage,
    Triple,
    Unit,
    ranked,
)
from workbench.trace import Trace

PASSAGES = (
    Passage("p1", "Kestrel FM", "Kestrel FM is a radio station founded by Nora Whitlock."),
    Passage("p2", "Nora Whitlock", "Nora Whitlock was born in Alderby."),
    Passage("p3", "Tom Reed", "Tom Reed is a painter."),
)
QUESTION = "Where was the founder of Kestrel FM born?"
FACTS = (Triple("Kestrel FM", "founded by", "Nora Whitlock", ("p1",)),)


def evidence(context=None, selected=None) -> Evidence:
    scores = [3.0, 2.0, 1.0]
    return Evidence(
        QUESTION, "m", "x", ranked(PASSAGES, scores), ranked([Entity("Kestrel FM")], [1.0]), ranked(FACTS, [1.0]),
        selected=selected, context=context,
    )  # fmt: skip


FINAL = "FINAL ANSWER: "


def read(spec: str, **said):
    engine = Scripted(**said)
    trace = Trace()
    return wb.reader(spec, engine).read(QUESTION, evidence(), trace=trace), engine, trace


# Prompts


def test_the_readers_sparql_and_cot_are_direct_with_that_prompt_and_much_to_read():
    assert wb.reader("sparql").settings.prompt == "sparql" and wb.reader("cot").settings.prompt == "cot"
    for name in ("sparql", "cot"):
        settings = wb.reader(name).settings
        assert (settings.k, settings.budget) == (None, 12_000) and wb.reader(name).label == name
        assert len(wb.reader(name).context(evidence()).passages) == 3
    assert [p.id for p in wb.reader("cot[budget=40]").context(evidence()).passages] == ["p1", "p2"]


def test_the_router_has_so_many_tokens_and_the_word_alone_where_an_object_would_not_fit():
    """In the source they are five."""
    said = {"classify_question": ["comparison"], "stepwise_answer": [FINAL + "Oslo"]}
    for spec, tokens, labels in (("cot[route=true]", 32, True), ("cot[route=true,router_tokens=5]", 5, False)):
        _, engine, _ = read(spec, **said)
        step = engine.steps[0]
        assert (step.max_tokens, bool(step.labels), step.schema is not None) == (tokens, labels, labels)


def test_a_reply_without_an_answer_is_neither_failure_nor_abstention():
    answer, _, trace = read("cot[retry=sparql]", stepwise_answer=["Oslo, I think"])
    assert (answer.text, answer.abstained, answer.failure) == ("", False, None)
    assert answer.reading.flaw == "no answer line" and not answer.reading.retried
    assert next(iter(trace)).outputs["flaw"] == "no answer line"
    answer, _, _ = read("cot[extraction=thesis]", stepwise_answer=["Oslo, I think"])
    assert answer.text == "Oslo, I think" and answer.reading.flaw == "no answer line"  # and it is still counted
    answer, _, _ = read("direct[prompt=brief]", answer_briefly=["…Oslo, which lies on the"])
    assert (answer.text, answer.reading.flaw) == ("", "cut")


# Routing


@pytest.mark.parametrize(("kind", "prompt"), POLICY.items())
def test_the_kind_of_a_question_chooses_its_prompt(kind, prompt):
    step = {"sparql": "sparql_answer", "cot": "stepwise_answer"}[prompt]
    answer, engine, trace = read(
        "sparql[route=true]", classify_question=[f"{kind.title()}."], **{step: [FINAL + "Oslo"]}
    )
    assert engine.names == ["classify_question", step] and answer.text == "Oslo"
    assert (answer.reading.prompt, answer.reading.kind, answer.reading.invalid) == (prompt, kind, False)
    (event,) = [event for event in trace if event.step == "route"]
    assert event.outputs == {"kind": kind, "prompt": prompt}


@pytest.mark.parametrize("label", ["I would say so", "!HTTP 400"])
def test_a_router_that_gives_no_kind_is_said_and_the_default_is_taken(label):
    answer, _, trace = read("cot[route=true]", classify_question=[label], sparql_answer=[FINAL + "Oslo"])
    assert (answer.reading.kind, answer.reading.invalid, answer.text) == ("bridge", True, "Oslo")
    (event,) = [event for event in trace if event.step == "route"]
    assert event.outputs["invalid"] is True


def test_an_abstention_asks_the_other_prompt_of_the_same_context_and_no_third():
    answer, engine, trace = read(
        "sparql[route=true]", classify_question=["bridge"], sparql_answer=[FINAL + "I don’t know"],
        stepwise_answer=[FINAL + "Alderby"],
    )  # fmt: skip
    assert engine.names == ["classify_question", "sparql_answer", "stepwise_answer"]
    assert engine.asked[1][1].context == engine.asked[2][1].context
    assert (answer.text, answer.reading.prompt, answer.reading.retried) == ("Alderby", "cot", True)
    assert [event.outputs for event in trace if event.step == "retry"] == [{"prompt": "cot"}]
    answer, engine, _ = read(
        "sparql[route=true]", classify_question=["comparison"], stepwise_answer=[FINAL + "unknown"],
        sparql_answer=[FINAL + "unknown"],
    )  # fmt: skip
    assert len(engine.names) == 3 and answer.abstained and answer.text == ""


def test_fair_arms_ask_again_without_routing_and_routing_can_do_without():
    answer, engine, _ = read("direct[prompt=brief,retry=brief]", answer_briefly=["I don't know", "Alderby"])
    assert (answer.text, answer.reading.retried, engine.names) == ("Alderby", True, ["answer_briefly"] * 2)
    answer, engine, _ = read("cot[retry=cot]", stepwise_answer=[FINAL + "unknown", FINAL + "unknown"])
    assert answer.abstained and answer.reading.retried
    answer, engine, _ = read(
        "cot[route=true,retry=none]", classify_question=["inference"], stepwise_answer=[FINAL + "unknown"]
    )
    assert answer.abstained and not answer.reading.retried and len(engine.names) == 2


@pytest.mark.parametrize(
    "question",
    [
        "Are both Orsby and Alderby in Norway?", "What do Ada Lind and Bo Rask have in common?",
        "Do they share a mother?", "Is it the same river?", "Has Orsby more inhabitants than Alderby?",
        "Which is older, Orsby or Alderby?", "Of A and B, who was born earlier?", "Of A and B, who died first?",
        "Of A and B, who lived longer?", "Between A and B, who won?", "Is either of them a painter?",
        "Which of these two is a lake?",
    ],
)  # fmt: skip
def test_the_heuristic_knows_comparisons_by_their_words(question):
    assert heuristic(question) == heuristic(question.upper()) == "comparison"
    assert {heuristic(other) for other in (QUESTION, "", "Who shared\x00 bothers?", "Where does it rise?")} == {
        "bridge"
    }
    answer, engine, _ = read("cot[route=true,router=heuristic]", sparql_answer=[FINAL + "Oslo"])
    assert engine.names == ["sparql_answer"] and answer.reading.kind == "bridge", "it routes without a call"


# Contexts

OWN = ContextGraph(
    (ContextEntity("KESTREL FM", "A station."), ContextEntity("NORA WHITLOCK", "Its founder.")),
    (ContextRelation("KESTREL FM", "NORA WHITLOCK", "founded by her"),),
    (Unit("0", "Nora Whitlock was born in Alderby.", "", ("p2",)),),
    (Unit("chunk_1", "Kestrel FM is a radio station.", "Kestrel FM", ("p1",)), Unit("chunk_2", "Fog.", "", ("p9",))),
)


def test_a_layout_of_the_method_s_own_is_read_whole_unless_passages_are_asked_for():
    found = evidence(OWN)
    context = wb.reader("direct[k=1,budget=5]").context(found)
    assert context.text.startswith("-----Entities-----") and context.graph == OWN
    assert [passage.id for passage in context.passages] == ["p1", "p9", "p2"]
    assert context.passages[0] is PASSAGES[0] and context.passages[1].text == "Fog."
    assert context.texts[-1] == ("", "Nora Whitlock was born in Alderby.")
    assert wb.reader("direct[layout=passages]").context(found) == wb.reader("direct").context(evidence())


@pytest.mark.parametrize("spec", ["direct", "local", "structured", "cot", "direct[layout=graph]"])
def test_any_reader_reads_a_compressed_context_and_keeps_the_whole(spec):
    plain = wb.reader(spec)
    reader = wb.reader(spec, compress=wb.reading.compression.GraphWalk(budget=60))
    found, trace = evidence(), Trace()
    assert reader.uncompressed(found) == plain.context(found)
    context = reader.context(found)
    assert context.text == context.compressed.text and context.tokens == context.compressed.tokens <= 60
    answer = reader.read(QUESTION, found, trace=trace)
    assert answer.reading.compressor == "graph-walk[budget=60]" and answer.reading.tokens == context.tokens
    assert answer.passages == tuple(passage.id for passage in context.passages)
    root, event = list(trace)[:2]
    assert (root.inputs["tokens"], event.step) == (plain.context(found).tokens, "compress")
    assert event.outputs["tokens"] == context.tokens and event.outputs["compressor"] == "graph-walk[budget=60]"


# Settings


@pytest.mark.parametrize(
    "label",
    [
        "cot[route=true,retry=none]", "direct[prompt=brief,retry=brief,extraction=thesis,temperature=0.3]",
        "sparql[compress=graph-walk[budget=2000],route=true,router=heuristic]", "direct[prompt=sparql-thesis,k=none]",
        "local[prompt=cot,budget=900,entities=5]", "structured[retry=cot,layout=tables]", "cot[compress=graph-walk]",
        "direct", "structured", "local", "direct[mode=open]", "direct[k=3,rewrite=true]", "essay",
    ],
)  # fmt: skip
def test_a_label_builds_the_reader_again(label):
    assert wb.reader(wb.reader(label).label).label == wb.reader(label).label == label


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        ("direct[prompt=wise]", "prompt"), ("direct[retry=other]", "retry"), ("direct[router=dice]", "router"),
        ("direct[extraction=loose]", "extraction"), ("direct[route=maybe]", "route"), ("cot[temperature=hot]", "temp"),
        ("cot[temperature=-1]", "temp"), ("direct[layout=x]", "layout"), ("cot[compress=zip]", "zip"),
        ("cot[compress=7]", "compressor"), ("direct[budget=0]", "budget"), ("direct[colour=red]", "colour"),
        ("global[colour=red]", "index"), ("direct[route=true,prompt=cot]", "route"), ("cot[check=true]", "index=index"),
        ("structured[layout=x]", "layout"), ("structured[entities=2]", "entities"), ("structured[paths=-1]", "paths"),
        ("structured[relations=0.9]", "relations"), ("structured[budget=1.5]", "budget"),
        ("local[reports=2]", "reports"),
        ("local[sources=-1]", "sources"), ("local[sources=0.9]", "sources"), ("local[entities=1.5]", "entities"),
        ("direct[k=0]", "k="), ("sparkle", "direct"), ("direct[mode=closed]", "mode"),
        ("direct[rewrite=maybe]", "rewrite"),
        ("sparql-exec", "index=index"), ("global", "index=index"),
    ],
)  # fmt: skip
def test_a_senseless_setting_is_refused_by_its_name(spec, named):
    with pytest.raises(SettingError, match=named):
        wb.reader(spec)


def test_an_answer_is_checked_against_the_facts_of_an_index(tiny_index):
    found = wb.method("hipporag2", tiny_index).retrieve("Which lake does the River Aldra flow into?", k=8)
    answer = wb.reader("direct[check=true]", index=tiny_index).read(found.question, found)
    assert answer.text and answer.proof.answer == answer.text
    assert answer.proof.mark in ("verified", "contradicted", "unsupported")
    assert wb.reader("direct[check=true]", index=tiny_index).reads == ("passages", "extractions", "facts")
    assert wb.reader("direct", index=tiny_index).read(found.question, found).proof is None
