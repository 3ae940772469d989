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
from pydantic import BaseModel
from test_steps_catalogue import MAKE

from workbench.llm.call import Reply
from workbench.llm.parse import Copied, Unreadable, parse
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
    "sparql_answer": "FINAL ANSWER: <your answer>", "stepwise_answer": "FINAL ANSWER: <your answer>",
    "answer": "Answer: <your answer>", "verify_claim": "Answer: <label>",
}  # fmt: skip


def asked(name: str) -> list[dict]:
    return STEPS[name].prompt(MAKE[name]("what was asked"))


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
        return [nulled(part) for part in value] if isinstance(value, list) else None if isinstance(value, str) else value

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
    text = canonical(name)
    in_json, in_prose, *finish = HABITS[habit]
    said = {
        "form alone": lambda: form(name) or "<your answer>",
        "form, then the answer": lambda: f"{form(name) or FORMS.get(name, '')}\n\n{text}",
        "the example's reply": lambda: text,
        "draft, then the answer": lambda: f"{cued(name, text)}\n\nNo, this is better:\n\n{text}" if cued(name, text) else text,
        "thinking with a draft": lambda: f"<think>{draft(name, text)} or so.</think>{text}",
        "draft, then an answer that is cut": lambda: (
            f"{draft(name, text) if is_json(name) else ''}\n\nBetter:\n{text[: len(text) * 2 // 3]}"
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
@pytest.mark.parametrize("habit", HABITS)
def test_a_reply_is_read_right_or_fails(habit, name):
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
