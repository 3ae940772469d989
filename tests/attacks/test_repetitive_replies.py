"""Every reader of replies does work that grows with the length of a reply, not with its square: replies of one piece,
over and over, at a length and at four times that length."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from stopwatch import spent
from trials import checks_of, question_of_each_step

from workbench.llm import payloads
from workbench.llm.call import Reply
from workbench.llm.parse import parse
from workbench.llm.payloads import split
from workbench.measures.abstained import is_abstention
from workbench.methods.hipporag2 import HippoRAG2
from workbench.methods.ircot import concludes, first_sentence
from workbench.sparql.parsing import parse as parse_sparql
from workbench.steps import catalogue, prose
from workbench.steps.answer import read_first
from workbench.steps.final_answer import last_line, whole
from workbench.steps.reflect import reading
from workbench.text import unicode_phrase, words

pytestmark = pytest.mark.slow  # long replies to every Step

LENGTH = 10_000  # characters; four times as many are the longer reply
QUICK = 0.1  # seconds of process time for the longer reply that need no comparison
GROWTH = 8  # four is linear, sixteen is quadratic

# What stands before a row without end, and a piece of it, over which a search would go back and forth: blanks, marks,
# beginnings of what is sought. What stands behind it lets that fail.
ROWS = [
    *(("x", piece) for piece in (
        " ", "\n", " \n", "\n* ", "* ", "*\n", "\n---", "\n1.", '"', "'", "“", "`", "```", "(", "-", "|", ",", ";",
        ":", ".", "\\", '\\"', "<", "<|>", "<|#|>", "##", "entity ", "relation<|#|>", "no ", "not a ", "answer ",
        "answer:", "FINAL ", "the is ", "comparison\x00", "supported ", "1 ", "1", "sorry ", "\ni hope ", "</think>",
        "[/THINK]", "<|channel|>a", "\u0301\u0316", "?x ", "SELECT ?x ", "FROM a", "# ", "{ ",
    )),
    *(("", piece) for piece in ("- ", "* ", "\n* ", "</think>", "[/THINK]", "analysis", "```json\n", "not a ")),
    *(("- a", piece) for piece in ("\n", "\n* ")),
    *(("answer", piece) for piece in (" ", "\n", " *")),
    *(("entity<|>a<|>b", piece) for piece in (" ", "\n", '"', "\n1.", "```")),
    ("1", " "), ("...", " "), ("sure:", ": "), ("SELECT ?x WHERE { ?x ", "A of\n"), ("SELECT ?x WHERE { ?x ", '"a '),
]  # fmt: skip
BEHIND = "x!\n"
BROKEN = ('{"a" b}', '{"a": "b" c, ', "['a' ", '{"a"', "{a: b,}", '"\\"', '{"a\\', "[1,] ", "[ ", "```json\n[")


def _long(before: str, piece: str, length: int, behind: str = BEHIND) -> str:
    return before + (piece * (length // len(piece) + 1))[:length] + behind


def _grows(read: Callable[[str], Any], text_of: Callable[[int], str]) -> str:
    """How the time for a longer reply is out of proportion; empty if it is not."""
    longer = _seconds(read, text_of(4 * LENGTH))
    if longer <= QUICK or (longer := min(longer, _seconds(read, text_of(4 * LENGTH)))) <= QUICK:
        return ""
    shorter = _seconds(read, text_of(LENGTH))
    return f"{shorter:.3f} s, and {longer:.3f} s" if longer > GROWTH * shorter + QUICK else ""


def _seconds(read: Callable[[str], Any], text: str) -> float:
    with spent() as taken, suppress(ValueError):  # of which `Unreadable` is one
        read(text)
    return taken.seconds


def _reader(name: str) -> Callable[[str], Any]:
    """All that reads the reply of a Step, and looks at what it became."""
    step, question = catalogue()[name], question_of_each_step()[name]
    asked = step.prompt(question.input)
    checks = checks_of(step)

    def read(text: str) -> None:
        value, _ = parse(step, Reply(text), asked)
        for check in checks:
            check(question.input, value)

    return read


def _texts_inside(value: Any, piece: str) -> Iterator[Any]:
    """The value with the piece in place of each of its texts, one after another."""
    if isinstance(value, str):
        yield piece
    inside = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for key, one in inside:
        for changed in _texts_inside(one, piece):
            yield {**value, key: changed} if isinstance(value, dict) else [changed, *value[1:]]


PROSE = sorted(name for name, step in catalogue().items() if step.read)
FACTS = [("orsby", "lies on", "aldra"), ("nora", "born in", "orsby")]
OTHERS: dict[str, Callable[[str], Any]] = {
    "the whole reply as an answer": whole,
    "the whole reply of the thesis": partial(whole, extraction="thesis"),
    "the last line": last_line,
    "the last line, cut": partial(last_line, cut=True),
    "the first answer": read_first,
    "a reflection": reading,
    "a query of an agent": prose.query,
    "fields of an object": prose.fields_of,
    "SPARQL": parse_sparql,
    "an abstention": is_abstention,
    "a conclusion": concludes,
    "reasoning": split,
    "the name of a phrase": unicode_phrase,
    "words": words,
    "a fact that the filter named": lambda text: HippoRAG2.match(
        SimpleNamespace(settings=HippoRAG2.Settings()), [(text[at:], "is", "x") for at in range(12)], FACTS
    ),
}


@pytest.mark.parametrize("name", [*PROSE, *OTHERS])
def test_prose_is_read_in_time(name):
    read = OTHERS.get(name) or _reader(name)
    slow = {row: _grows(read, partial(_long, *row)) for row in ROWS}
    assert not any(slow.values()), {row: words for row, words in slow.items() if words}


@pytest.mark.parametrize("name", sorted(catalogue().keys() - set(PROSE)))
def test_json_is_read_in_time(name):
    """The row stands in the place of one text of a valid reply."""
    read, valid = _reader(name), json.loads(question_of_each_step()[name].reply)
    places = len(list(_texts_inside(valid, "")))

    def reply(at: int, piece: str, length: int) -> str:
        text = _long("a", piece, length)
        return json.dumps([*_texts_inside(valid, text)][at % places] if places else text, ensure_ascii=False)

    pieces = (" ", "-", "answer:", "\n* ", "\u0301\u0316")
    slow = {piece: _grows(read, partial(reply, at, piece)) for at, piece in enumerate(pieces)}
    assert not any(slow.values()), {piece: words for piece, words in slow.items() if words}


@pytest.mark.parametrize("before", ["", '{"x": [', "```json\n{"])
def test_broken_json_is_given_up_in_time(before):
    """The work of the repairer is bounded: it does not grow with a reply at all."""
    read = _reader("triples")
    for piece in BROKEN:
        for length in (payloads._MENDED - 200, 4 * LENGTH):
            assert _seconds(read, _long(before, piece, length)) < 1.0, piece
        fences = f"```json\n{_long(before, piece, 2_000)}```\n" * 40
        assert _seconds(read, fences) < 1.0, piece


def test_the_repairer_looks_at_each_character_a_few_times():
    """So that the bound on its work never meets an honest reply."""
    triples = [[f"Kestrel {at}", "founded by", 'Nora "Nell" Whitlock'] for at in range(140)]
    reply = json.dumps({"triples": triples}, indent=1)
    for broken in (reply.replace('"', "'"), reply.replace(",\n", "\n"), reply.replace("]", ",]"), reply[:-20]):
        (first, *_) = payloads.payloads(broken[: payloads._MENDED])
        assert first.level == "repaired" and len(first.value["triples"]) > 100


def test_the_repairer_gives_up_a_reply_that_it_reads_over_and_over(monkeypatch):
    """Quotes that only open: each might end anywhere."""
    looked = []
    look = payloads._Watched.__getitem__
    monkeypatch.setattr(payloads._Watched, "__getitem__", lambda text, key: looked.append(1) or look(text, key))
    text = "{“patterns“= [{“subject“= “Velling“, “object“= “?x“}], “wanted“= “?x“, “compare“= null}\n" * 110
    assert not [*payloads.payloads(text[: payloads._MENDED])]
    assert len(looked) <= 16 * payloads._MENDED


def test_of_a_long_thought_the_beginning_is_parsed():
    first_sentence("It is so.")  # what is loaded once is no reply's time
    assert _seconds(first_sentence, "Orsby lies on the Aldra and " * 5_000) < 3.0
    assert first_sentence("Orsby lies on the Aldra. " * 5_000) == "Orsby lies on the Aldra."


@pytest.mark.parametrize(
    ("text", "said"),
    [("br\u0131dge", "bridge"), ("not a bridge but a Comparison", "comparison"), ("no  **bridge**", None)],
)
def test_a_label_is_read_in_any_letters(text, said):
    assert prose.label(text, ("bridge", "comparison", "inference")) == said
