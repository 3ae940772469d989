"""Pairs of placeholder and name, and letters, read off answers as models write them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench import measures
from workbench.measures import Outcome
from workbench.measures.anonyrag import letter_of, pairs
from workbench.records import Question, Reading

GOLD = "[PERSON#5] — Shi Jin | Jin; [PERSON#31] — Lu Zhishen; [LOCATION#26] — Mount Wutai"
QUESTION = Question("q", "Who is who?", (GOLD,), "reversion")
NAMES = {"PERSON#5": "Shi Jin", "PERSON#31": "Lu Zhishen", "LOCATION#26": "Mount Wutai"}
FORMS = {
    "lines": "\n".join(f"[{placeholder}] — {name}" for placeholder, name in NAMES.items()),
    "equals": "; ".join(f"{placeholder}={name}" for placeholder, name in NAMES.items()),
    "commas": ", ".join(f"{placeholder}: {name}" for placeholder, name in NAMES.items()),
    "json": json.dumps(NAMES),
    "indented json": json.dumps({f"[{placeholder}]": name for placeholder, name in NAMES.items()}, indent=1),
    "bullets": "Here they are:\n" + "\n".join(f"- **[{p}]**: *{name}*" for p, name in NAMES.items()),
    "numbers": "\n".join(f"{n}. `{p}` -> \"{name}\"" for n, (p, name) in enumerate(NAMES.items(), 1)),
    "table": "| placeholder | name |\n|---|---|\n" + "\n".join(f"| {p} | {name} |" for p, name in NAMES.items()),
    "prose": "[PERSON#5] is Shi Jin, [PERSON#31] is Lu Zhishen, and [LOCATION#26] is Mount Wutai.",
    "lower case": "person#5 → shi jin\nperson #31 → lu zhishen\nlocation#026 → mount wutai",
}  # fmt: skip


def measured(name, answer, question=QUESTION, **outcome):
    return measures.measure(name)(question, Outcome((), answer, **outcome))


@pytest.mark.parametrize("form", FORMS)
def test_pairs_are_read_however_they_are_written(form):
    assert measured("reversion_exact", FORMS[form]) == 1.0, pairs(FORMS[form])
    more = f"{FORMS[form]}\n[PERSON#7] — Song Jiang"
    assert measured("reversion_exact", more) == 0.0 and measured("reversion_recall", more) == 1.0


@pytest.mark.parametrize(
    ("answer", "precision", "recall", "f1"),
    [
        ("PERSON#5 — Jin", 1, 1 / 3, 1 / 2),  # another gold form
        ("PERSON#5 — Shi Jin; PERSON#31 — Song Jiang", 1 / 2, 1 / 3, 2 / 5),
        ("PERSON#5 — Shi Jin; PERSON#5 — Song Jiang", 1 / 2, 1 / 3, 2 / 5),  # both, to be sure
        ("PERSON#99 — Shi Jin", 0, 0, 0),
        ("PERSON#5 — Mount Wutai", 0, 0, 0),
        ("PERSON#5 — ; PERSON#31: ", 0, 0, 0),
        ("I do not know.", 0, 0, 0),
        ("", 0, 0, 0),
    ],
)
def test_precision_recall_and_f1_by_hand(answer, precision, recall, f1):
    found = [measured(f"reversion_{name}", answer) for name in ("precision", "recall", "f1", "exact")]
    assert found == pytest.approx([precision, recall, f1, 0.0])


def test_other_questions_have_neither_measure():
    other = Question("q", "Which scale is it?", ("C major",))
    assert measured("reversion_f1", "PERSON#1 — x", other) is None and measured("choice", "C", other) is None
    assert measured("choice", "C", Question("q", "?", ())) is None
    question = Question("q", "Who?", ('[BOOK#2] — Row K, Seat Nine; [SHIP#3] — the "Berengar"',))
    assert measured("reversion_exact", "BOOK#2: Row K, Seat Nine\nSHIP#3: Berengar", question) == 1.0
    assert measured("choice", "", Question("q", "?", ("A",)), reading=Reading("knowledge", flaw="cut")) == 0.0


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_is_read(answer, gold):
    assert isinstance(pairs(answer), frozenset) and letter_of(answer, gold) in (None, *"ABCDEFGH")
    value = measured("reversion_f1", answer, Question("q", "?", (gold,)))
    assert value is None or 0 <= value <= 1


OPTIONS = "Where?\nA. Halmery\nB. Upper Cassel\nC. Lower Cassel\nD. Orsby"


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("B", "B"), ("(B)", "B"), ("B.", "B"), ("**B**", "B"), ("B) Upper Cassel", "B"), ("Answer: B", "B"),
        ("The answer is (B).", "B"), ("option B", "B"), ("B\nbecause it is", "B"), ("Upper Cassel", "B"),
        ("It is in Orsby.", "D"), ("Cassel", None), ("A or B", None), ("A bridge", None), ("", None),
        ("Answer: A. Or rather, answer: B", None), ("Halmery or Orsby", None), ("I do not know", None),
    ],
)  # fmt: skip
def test_the_letter_of_an_answer(answer, letter):
    assert letter_of(answer, OPTIONS) == letter
    right = Question("q", OPTIONS, ("B",), "choice")
    assert measured("choice", answer, right) == float(letter == "B")
