"""Whether a file is a prompt that a source prints, by invented prompts: no source's text is here."""

from __future__ import annotations

import importlib.util
import json
import random
import re
from collections import Counter
from pathlib import Path

import pytest

from workbench import published
from workbench.llm import fingerprints
from workbench.llm.fingerprints import judged, printed, printed_prompts, read
from workbench.llm.wording import fields_of_input
from workbench.steps import catalogue

FERRY = """You plan the crossing of a ferry, from what the harbour-master wrote down.

1. Read the log: {log}
2. Name every berth that is free at noon, and no other one.
3. If the log does not tell, say so; do not guess.

Question: {question}
Reply with JSON: {"berths": ["…"]}"""
SIGNAL = """Say which of the signals at the harbour is lit tonight, and answer from the list of signals alone.
Where two of them are lit, name the one that stands closer to the open sea, in a single word of plain English.
Signals: {list}
Answer:"""
OPEN = SIGNAL.replace("\nSignals", " Where the list is silent, answer from memory.\nSignals")
SHORT = "Which {a}? Reply in one word."
TEXTS = {"ferry": FERRY, "signal": SIGNAL, "open": OPEN, "short": SHORT}
OURS = {id: printed(text) for id, text in TEXTS.items()}


def said(text: str, id: str) -> str:
    return judged(text, OURS)[id].label


def test_layout_signs_capitals_and_names_of_placeholders_do_not_matter():
    typed = re.sub(r"\{(log|question)\}", "<it>", FERRY).replace("\n", " ").replace("harbour-m", "harbour-\nm")
    assert said(typed.upper().replace('"', "“"), "ferry") == "same"
    assert said(f"Be kind. {FERRY} Thank you, harbour!", "ferry") == "holds"
    assert said(FERRY.replace("{log}", ""), "ferry") != "same"


def test_a_slip_of_the_pen_is_told_from_a_prompt_that_differs_by_a_clause():
    assert said(FERRY.replace("berth", "bertth", 1), "ferry") == "damaged"
    assert said(SIGNAL.replace("Say", "Sqy"), "signal") == "unsure"  # for it has most of the other
    assert said(OPEN, "signal") != "same" and said(OPEN, "open") == "same"
    assert said("You sail. " + FERRY[: len(FERRY) // 2], "ferry") == "part"
    assert said("Nothing of the kind, whatever is asked of the pilot and the crew.", "ferry") == "other"


def variants(rng: random.Random):
    """Texts that have the prompts whole, damaged, cut, mixed, and none of them."""
    for text in TEXTS.values():
        yield text
        yield f"{text} ¤ {{x}} <y>"
        yield f"Before {text} after"
        for share in (0.2, 0.4, 0.6, 0.9):
            yield text[: int(len(text) * share)]
        for slips in (1, 2, 6):
            letters = list(text)
            for at in rng.sample(range(len(letters)), slips):
                letters[at] = rng.choice("abcxyzß½{}[]<>\\ ")
            yield "".join(letters)
    yield f"{SIGNAL}\n{OPEN}\n{FERRY}"
    yield ""


def test_the_verdicts_are_those_of_the_reference(shared):
    """Of the script that lies beside the fingerprints that were taken from the papers."""
    spec = importlib.util.spec_from_file_location("reference", shared / "reference" / "prompts" / "fingerprint.py")
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    theirs = {
        id: {
            "characters": len(reference.normalised(text)),
            "fingerprint": reference.fingerprint(text),
            "sketch": reference.sketch(text),
        }
        for id, text in TEXTS.items()
    }
    assert {id: sorted(one.sketch) for id, one in OURS.items()} == {id: one["sketch"] for id, one in theirs.items()}
    seen = Counter()
    for text in (one for seed in range(40) for one in variants(random.Random(seed))):
        assert fingerprints.normal(text) == reference.normalised(text), text
        ours = {id: (one.label, one.share) for id, one in judged(text, OURS).items()}
        assert ours == reference.judged(text, theirs), text
        seen.update(verdict for verdict, _ in ours.values())
    assert set(seen) == {"same", "holds", "damaged", "unsure", "part", "other"}


def test_the_hashes_are_those_that_were_taken_from_the_papers(shared):
    taken = json.loads((shared / "reference" / "prompts" / "prompts.json").read_text("utf-8"))
    for id, one in printed_prompts().items():
        row = taken[id]
        assert (one.characters, one.fingerprint, sorted(one.sketch)) == (
            row["characters"], row["fingerprint"], sorted({*row["sketch"]}),
        ), id  # fmt: skip


def test_each_is_of_a_step_and_of_one_paper():
    steps = {step.file for step in catalogue().values()}
    steps |= {step.opened.file for step in catalogue().values() if step.open}
    assert {step for one in printed_prompts().values() for step in one.steps} <= steps
    named = [id for name in published.papers() for id in published.paper(name).terms["prompts"]["source"]]
    assert sorted(named) == sorted(printed_prompts())


def test_the_docs_say_of_each_where_it_stands_and_what_its_file_has():
    """Its place, the Step that the method under the paper's profile asks, and fields that this Step's input has."""
    page = (Path(__file__).parents[2] / "docs" / "engines.md").read_text(encoding="utf-8")
    row = re.compile(r"^\|[^|]*\| `([\w.-]+)` \(([^|]*)\) \| `([\w.]+)` \| (.*) \|$", re.MULTILINE)
    told = {id: rest for id, *rest in row.findall(page)}
    assert told.keys() == printed_prompts().keys()
    for id, (place, file, fields) in told.items():
        assert printed_prompts()[id].place.split(", ")[0] in place and file in printed_prompts()[id].steps
        has = fields_of_input(catalogue()[file.partition(".")[0]])
        assert fields == "the same" or {*re.findall(r"\{([\w.]+)\}", fields)} <= has, id


@pytest.mark.parametrize("text", ["answer v2 file 0123456789ab", "answer v2", "answer v2 0123456789ab"])
def test_a_name_without_a_verdict_is_read_as_such(text):
    assert read(text) == (text, None)
