"""Habits of models, as a table: each against every Step. A reply is read right, or in part and counted as such, or it
fails; none is wrong in silence."""

from __future__ import annotations

import html
import json
import random
import re
import time
from collections.abc import Callable

import pytest
from test_steps_catalogue import input_of
from tiers import FULL

from workbench.llm.call import Reply
from workbench.llm.parse import Unreadable, parse
from workbench.steps import catalogue, reflect
from workbench.steps.final_answer import last_line, whole

STEPS = catalogue()
# Steps whose prompt shows no worked example.
SAID = {
    "answer_briefly": "Orsby",
    "shorten_answer": "Orsby",
    "knowledge_answer": "Orsby",
    "sparql_answer": 'SELECT ?x WHERE { ?x "lies on" "Aldra" . }\nIt is Orsby.\nFINAL ANSWER: Orsby',
    "stepwise_answer": "1. Which town lies on it? Orsby.\nFINAL ANSWER: Orsby",
    "classify_question": "comparison",
}
EXTRACTED = {
    "answer_briefly": whole, "shorten_answer": whole, "knowledge_answer": whole,
    "sparql_answer": last_line, "stepwise_answer": last_line,
}  # fmt: skip
DRAFT = {  # another reply, of which nothing may be taken
    "classify_question": "inference", "judge_answer": "0",
    "sparql_answer": "FINAL ANSWER: Draft", "stepwise_answer": "FINAL ANSWER: Draft",
    "answer": "Thought: Perhaps.\nAnswer: Draft", "verify_claim": "Thought: Perhaps.\nAnswer: NOT_SUPPORTED",
}  # fmt: skip
ONE_LABEL = {"classify_question", "judge_answer"}
FORMS = {
    "sparql_answer": "FINAL ANSWER: <the answer>", "stepwise_answer": "FINAL ANSWER: <the answer>",
    "answer": "Answer: <your answer>", "verify_claim": "Answer: <label>",
}  # fmt: skip


def asked(name: str) -> list[dict]:
    return STEPS[name].prompt(input_of(STEPS[name], "what was asked"))


def canonical(name: str) -> str:
    shown = [message["content"] for message in asked(name) if message["role"] == "assistant"]
    return SAID[name] if name in SAID else shown[0]


def is_json(name: str) -> bool:
    return STEPS[name].read is None or name == "schema_extraction"


def other(value, number=0.25):
    """Another value of the same shape, as in a draft."""
    if isinstance(value, dict):
        return {name: other(part) for name, part in value.items()}
    if isinstance(value, list):
        return [other(part) for part in value][:1]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return type(value)(number) if isinstance(value, float) else value + 1
    return value if value in LABELS else f"draft {value}" if value is not None else None


LABELS = {"complete", "partial", "irrelevant", "correct", "incorrect", "unknown", "find", "neighbours", "relation", ""}


def draft(name: str, text: str) -> str:
    if is_json(name):
        return json.dumps(other(json.loads(text)))
    return DRAFT.get(name, "A draft that says nothing yet.")


def cued(name: str, text: str) -> str:
    """A draft in the reply itself, where anything can tell it from the answer: in other prose nothing can."""
    return draft(name, text) if is_json(name) or (name in DRAFT and name not in ONE_LABEL) else ""


def keys(change: Callable[[str], str], own: bool = False) -> Callable[[str], str]:
    """JSON with other names of the fields; of `schema_extraction`, names are data below the first level."""

    def changed(value, depth=0):
        if isinstance(value, dict):
            return {change(k) if not own or depth == 0 else k: changed(v, depth + 1) for k, v in value.items()}
        return [changed(part, depth + 1) for part in value] if isinstance(value, list) else value

    return lambda text: json.dumps(changed(json.loads(text)))


def pretty(text: str) -> str:
    return json.dumps(json.loads(text), indent=2)


def lists(mark: Callable[[int], str]) -> Callable[[str], str]:
    """JSON in lines, with a mark before each member of a list."""

    def marked(text):
        number, lines = 0, []
        for line in pretty(text).splitlines():
            member = re.match(r'(\s+)(["\[{])', line) and not re.match(r'\s+"[^"]*":', line)
            number += bool(member)
            lines.append(re.sub(r"^(\s+)", rf"\g<1>{mark(number)} ", line) if member else line)
        return "\n".join(lines)

    return marked


def nulls(text: str) -> str:
    def nulled(value):
        if isinstance(value, dict):
            return {name: nulled(part) for name, part in value.items()}
        if isinstance(value, list):
            return [nulled(part) for part in value]
        return None if isinstance(value, str) else value

    return json.dumps(nulled(json.loads(text)))


def same(text: str) -> str:
    return text


def around(before: str, behind: str = "") -> tuple:
    return (lambda text: before + text + behind,) * 2


# name → (what becomes of JSON, what becomes of prose, how the reply ends)
HABITS: dict[str, tuple] = {
    "as asked": (same, same),
    "fenced": around("```json\n", "\n```"),
    "fenced without a language": around("```\n", "\n```"),
    "fence that is not closed": around("```json\n"),
    "preamble": around("Sure! Here is the answer:\n\n"),
    "preamble and fence": around("Here is what you asked for:\n```json\n", "\n```\nLet me know if you need more."),
    "postscript": around("", "\n\nI hope this helps! Let me know if you need anything else."),
    "bold": (lambda t: f"**{t}**", lambda t: f"**{t}**"),
    "bold label": around("**Answer:**\n"),
    "quoted": (lambda t: f"“{t}”", lambda t: f'"{t}"'),
    "in an element": around("<pre>", "</pre>"),
    "thinking": around("<think>\nLet me see {what} [1] says.\n</think>\n\n"),
    "thinking begun in the prompt": around("Let me see.\n</think>\n"),
    "BOM": around("\ufeff"),
    "CRLF": (lambda t: pretty(t).replace("\n", "\r\n"), lambda t: t.replace("\n", "\r\n") + "\r\n"),
    "HTML entities": (lambda t: html.escape(t), lambda t: html.escape(t)),
    "capital keys": (keys(str.upper, own=True), lambda t: t),
    "keys as titles": (keys(lambda k: k.replace("_", " ").title(), own=True), same),
    "wrapped": (lambda t: f'{{"result": {t}}}', lambda t: json.dumps({"result": t})),
    "JSON in a string": (lambda t: json.dumps(t), lambda t: json.dumps(t)),
    "in a list of one": (lambda t: f"[{t}]", lambda t: json.dumps([t])),
    "trailing commas": (lambda t: re.sub(r"\n(\s*[}\]])", r",\n\1", pretty(t)), same),
    "single quotes": (lambda t: repr(json.loads(t)), lambda t: f"'{t}'"),
    "smart quotes": (lambda t: re.sub(r'"([^"\\]*)"', r"“\1”", t), lambda t: f"“{t}”"),
    "unquoted keys": (lambda t: re.sub(r'"([a-z_]+)":', r"\1:", t), same),
    "comments": (lambda t: re.sub(r",\n", ", // as asked\n", pretty(t)), same),
    "ellipsis": (lambda t: re.sub(r"\n(\s*\])", r",\n...\n\1", pretty(t)), same),
    "form alone": (None, None),
    "form, then the answer": (None, None),
    "the example's reply": (None, None),
    "numbering": (lists(lambda number: f"{number}."), lambda t: f"1. {t}"),
    "bullets": (lists(lambda number: "-"), lambda t: f"- {t}"),
    "repeated": (lambda t: f"{t}\n{t}", lambda t: t),
    "draft, then the answer": (None, None),
    "thinking with a draft": (None, None),
    "draft, then an answer that is cut": (None, None, "length"),
    "cut": (lambda t: t[: len(t) * 2 // 3], lambda t: t[: len(t) * 2 // 3], "length"),
    "cut early": (lambda t: t[: len(t) // 3], lambda t: t[: len(t) // 3], "length"),
    "cut and not said": (lambda t: t[: len(t) * 2 // 3], lambda t: t),
    "null": (nulls, lambda t: "null"),
    "empty object": (lambda t: "{}", lambda t: "{}"),
    "table": (lambda t: "| a | b |\n|---|---|\n| 1 | Draft |", lambda t: "| a | b |\n|---|---|\n| 1 | Draft |"),
    "refusal": (lambda t: "I'm sorry, but I can't help with that.", lambda t: "I’m sorry, but I can’t help with that."),
    "nothing": (lambda t: " \n", lambda t: " \n"),
}  # fmt: skip


def form(name: str) -> str:
    """The form of the answer as the instructions show it."""
    system = next((m["content"] for m in asked(name) if m["role"] == "system"), "")
    return system.rpartition("Reply with JSON only: ")[2] if "Reply with JSON only: " in system else ""


def reply_of(habit: str, name: str) -> Reply:
    text, before = canonical(name), cued(name, canonical(name))
    in_json, in_prose, *finish = HABITS[habit]
    said = {
        "form alone": lambda: form(name) or "<your answer>",
        "form, then the answer": lambda: f"{form(name) or FORMS.get(name, '')}\n\n{text}",
        "the example's reply": lambda: text,
        "draft, then the answer": lambda: f"{before}\n\nNo, this is better:\n\n{text}" if before else text,
        "thinking with a draft": lambda: f"<think>{draft(name, text)} or so.</think>{text}",
        "draft, then an answer that is cut": lambda: (
            (f"{draft(name, text)}\n\nBetter:\n" if is_json(name) else "") + text[: len(text) * 2 // 3]
        ),
    }.get(habit, lambda: (in_json if is_json(name) else in_prose)(text))()
    return Reply(said, *finish)


def read(name: str, reply: Reply, messages=()):
    """(what a method gets of a reply, whether it is counted as less than was asked for)."""
    value, level = parse(STEPS[name], reply, messages)
    if name in EXTRACTED:
        extracted = EXTRACTED[name](value.reply, cut=level == "cut")
        if extracted.flaw or extracted.abstained:
            raise Unreadable(extracted.flaw or "abstained")
        return extracted.text, level in ("cut", "repaired")
    if name == "reflect":
        reading = reflect.reading(value.reply)
        if not reading.marked and level == "cut":
            raise Unreadable("cut before its marker")
        return reading._asdict(), level == "cut"
    if getattr(value, "invalid", False):
        raise Unreadable("no label")
    counted = level in ("cut", "repaired") or getattr(value, "repaired", False)
    counted = counted or getattr(value, "skipped", 0) or getattr(value, "dropped", 0)
    thought = {"thought"} if name in ("answer", "verify_claim") else set()  # whatever led to the answer
    dumped = value.model_dump(exclude={*thought, "skipped", "dropped", "complete", "repaired", "shortened"})
    return dumped, bool(counted)


def is_part(got, wanted) -> bool:
    """Whether it holds nothing that the whole does not: a list some members, a text its beginning."""
    if isinstance(wanted, dict) and isinstance(got, dict):
        return all(name in wanted and is_part(part, wanted[name]) for name, part in got.items())
    if isinstance(wanted, list | tuple) and isinstance(got, list | tuple):
        return all(any(is_part(part, one) for one in wanted) for part in got)
    if isinstance(wanted, str) and isinstance(got, str):
        return wanted.startswith(got)
    return got == wanted or not got


def bare(value):
    """Without differences that mean nothing: space, final stop and letters of a query that was in emphasis."""
    if isinstance(value, dict):
        return {name: bare(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [bare(part) for part in value]
    return " ".join(value.split()) if isinstance(value, str) else value


@pytest.mark.parametrize("name", STEPS)
def test_a_reply_is_read_right_or_fails(name):
    for habit in HABITS:
        read_right_or_fails(habit, name)


def read_right_or_fails(habit: str, name: str) -> None:
    copied = habit in ("form alone", "the example's reply")
    messages = asked(name) if copied or habit == "form, then the answer" else ()
    if habit == "form, then the answer":  # the real prompt, with an input that holds the names of the answer
        messages = [*messages[:-1], {**messages[-1], "content": json.dumps(canonical(name)) + canonical(name)}]
    wanted, _ = read(name, Reply(canonical(name)))
    try:
        got, counted = read(name, reply_of(habit, name), messages)
    except Unreadable:
        return
    if copied:
        assert habit == "the example's reply" and not names_in(canonical(name)), got
        return
    if habit in ("null", "empty object") and is_part(got, wanted):
        return  # a text that may be empty, or nothing at all
    assert bare(got) == bare(wanted) or (counted and is_part(bare(got), bare(wanted))), (reply_of(habit, name), got)


def names_in(text: str) -> bool:
    """Whether an example's reply is betrayed by a name: a yes, a score or a number is not."""
    return bool(re.search(r"(?i)kestrel|whitlock|alderby|viaduct|norway", text))


def test_the_table_is_as_large_as_it_says():
    assert len(HABITS) >= 25 and len(STEPS) >= 45


# -- reasoning --------------------------------------------------------------------------------------------------------

TAGS = {
    "think": "<think>{}</think>", "thinking": "<thinking>{}</thinking>", "reasoning": "<reasoning>{}</reasoning>",
    "Magistral": "[THINK]{}[/THINK]", "begun in the prompt": "{}</think>",
    "gpt-oss": "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>",
}  # fmt: skip
BORN = {"triples": [["Ada", "born in", "Orsby"]], "dropped": 0}
WORDS = [
    "Orsby", "Aldra", "lies on", "perhaps", "so {maybe}", "[1]", "or [2, 3]", "the form is", "no:", "wait", "{", "}",
]  # fmt: skip


@pytest.mark.parametrize("family", TAGS)
def test_a_draft_in_reasoning_is_never_taken(family):
    """The first object of a reply used to win, in silence."""
    reply = TAGS[family].format('{"query": "a draft"} or "b"?') + '{"query": "the answer"}'
    value, level = parse(STEPS["fallback_query"], Reply(reply))
    assert (value.query, level) == ("the answer", "strict")


@pytest.mark.full
def test_of_replies_with_reasoning_around_them_none_gives_a_wrong_object():
    """Drafts in tags, in prose and in fences, the form, brackets of prose, then the answer, then words behind it."""
    chance, started, read_right = random.Random(7), time.process_time(), 0
    steps = {name: (step, canonical(name)) for name, step in STEPS.items() if step.read is None}
    wanted = {name: parse(step, Reply(text))[0] for name, (step, text) in steps.items()}
    count = 5_000 if FULL else 500
    for _ in range(count):
        name = chance.choice([*steps])
        step, text = steps[name]
        said = [_thought(chance, name, text) for _ in range(chance.randrange(4))]
        answer = chance.choice(["{}", "```json\n{}\n```", "Answer: {}", "**{}**", "So:\n{}\n"]).replace("{}", text)
        reasoning = " ".join(said)
        if chance.random() < 0.6:
            reasoning = chance.choice([*TAGS.values()]).format(reasoning)
        behind = chance.choice(["", "", "\nI hope this helps.", "\nThat follows from [1] and {2}."])
        try:
            got, _ = parse(step, Reply(f"{reasoning}\n{answer}{behind}"))
        except Unreadable:
            continue
        assert got == wanted[name], (name, reasoning, answer)
        read_right += 1
    assert read_right > 0.98 * count, read_right
    assert time.process_time() - started < 30


def _thought(chance: random.Random, name: str, text: str) -> str:
    words = " ".join(chance.choices(WORDS, k=chance.randrange(1, 8)))
    put = chance.choice(["", draft(name, text), f"```json\n{draft(name, text)}\n```", form(name)])
    return f"{words} {put} {chance.choice(WORDS)}."


# -- lists that are cut -----------------------------------------------------------------------------------------------

CUT = [
    ("choose_relations", '{"choices": [{"number": 1, "score": 0.7}, {"number": 2, "sc', 1),
    ("directions", '{"sufficient": false, "targets": [{"entity": "A", "relation": "b", "score": 1}, {"entity": "C', 1),
    ("find_names", '{"names": [{"name": "A", "type": "person"}, {"name": "Nor', 1),
    ("link_names", '{"groups": [["A", "B"], ["C", "D', 1),
    ("describe_relations", '{"descriptions": [{"id": 1, "description": "x"}, {"id": 2, "descr', 1),
    ("fact_filter", '{"facts": [["a", "b", "c"], ["a", "b', 1),
    ("triples", '{"triples": [["a", "b", "c"], ["a", "b', 1),
    ("named_entities", '{"named_entities": ["Ada", "Nora Whi', 1),
    ("global_map", '{"points": [{"description": "x", "score": 1}, {"desc', 1),
    ("graph_action", '{"thought": "t", "actions": [{"action": "find", "argument": "x", "type": ""}, {"act', 1),
    ("select_regions", '{"anchors": [{"span": "A", "description": "x", "type": null}, {"span": "B', 1),
    ("reasoning_chain", '{"chain": "c", "steps": ["One.", "Tw', 1),
    ("sub_questions", '{"sub_questions": ["Who?", "Whe', 1),
    ("keywords", '{"high_level": ["a", "b', 1),
    ("dot_rules", '{"query_constraints": "q", "intermediate_rules": ["a", "b', 1),
    ("verify", '{"documents": [2, 1', 1),
]


@pytest.mark.parametrize("finish", ["length", "stop"])
@pytest.mark.parametrize(("name", "text", "members"), CUT, ids=[name for name, *_ in CUT])
def test_the_finished_members_of_a_cut_list_are_kept(name, text, members, finish):
    """Some lost the whole reply to its last member."""
    value, level = parse(STEPS[name], Reply(text, finish))
    found = next(part for part in value.model_dump().values() if isinstance(part, list))
    assert level == ("cut" if finish == "length" else "repaired")
    assert len(found) == members if finish == "length" else len(found) in (members, members + 1)


def test_a_draft_is_not_taken_for_an_answer_that_is_cut():
    with pytest.raises(Unreadable):
        parse(STEPS["fallback_query"], Reply('{"query": "a draft"} Better: {"query": ', "length"))


# -- single habits ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("triples", '{"triples": ["Ada", "born in", "Orsby"]}', BORN),
        ("triples", '{"triples": [{"subject": "Ada", "predicate": "born in", "object": "Orsby"}]}', BORN),
        ("fact_filter", '{"facts": [{"head": "a", "relation": "b", "tail": "c"}]}', {"facts": [["a", "b", "c"]]}),
        ("verify", '{"documents": ["[2]", "Document 3", 4]}', {"documents": [2, 3, 4]}),
        ("verify", '{"documents": "[2, 3]"}', {"documents": [2, 3]}),
        ("fallback_query", '{"query": "**Thought:** \\"Where was Ada born?\\""}', {"query": "Where was Ada born?"}),
        ("fallback_query", '{"query": "Nothing is missing."}', {"query": ""}),
        ("fallback_query", '{"query": "\\"null\\""}', {"query": ""}),
        ("enough", "Yes, they do.", {"enough": True}),
        ("enough", "**No**", {"enough": False}),
        ("judge", '{"Verdict": "**Correct.**", "reason": null}', {"verdict": "correct", "reason": ""}),
    ],
)
def test_what_models_write_is_brought_into_shape(name, text, wanted):
    assert parse(STEPS[name], Reply(text))[0].model_dump() == wanted


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("fallback_query", '{"query": "…"}'),
        ("fallback_query", '{"query": "<the query>"}'),
        ("dual_thoughts", '{"fast": "Where was Ada born?", "slow": "..."}'),
        ("judge", '{"verdict": "correct" | "incorrect" | "unknown", "reason": "It is so."}'),
        ("answer", "Thought: …\nAnswer: <your answer>"),
        ("summarise", "<your summary>"),
    ],
)
def test_a_form_that_was_not_filled_in_is_no_answer(name, text):
    with pytest.raises(Unreadable):
        parse(STEPS[name], Reply(text))


@pytest.mark.parametrize("query", ["I'm sorry, but I can't help with that.", "{}", "| place | city |", '["a", "b"]'])
def test_a_refusal_or_a_table_inside_json_is_no_query(query):
    with pytest.raises(Unreadable):
        parse(STEPS["fallback_query"], Reply(json.dumps({"query": query})))
    verdict = {"id": "a", "label": "partial", "confidence": 1, "justification": "", "next_question": query}
    verdicts = [verdict, verdict | {"id": "b", "next_question": "Where was Ada born?"}]
    value, level = parse(STEPS["judge_paths"], Reply(json.dumps({"verdicts": verdicts})))
    assert ([verdict.id for verdict in value.verdicts], level) == (["b"], "repaired")


def test_a_null_in_one_verdict_does_not_cost_it():
    said = {"id": "[a]", "label": "Complete", "confidence": 1, "justification": None, "next_question": None}
    (verdict,) = parse(STEPS["judge_paths"], Reply(json.dumps({"verdicts": [said]})))[0].verdicts
    assert (verdict.id, verdict.label, verdict.next_question) == ("a", "complete", "")


def test_a_text_that_the_grammar_ended_is_called_cut():
    step = STEPS["fallback_query"]
    assert parse(step, Reply(json.dumps({"query": "x" * step.longest})))[1] == "cut"
    assert parse(step, Reply(json.dumps({"query": "x" * (step.longest + 1)})))[1] == "strict"
