"""Extraction of the answer from a reply in prose, shared by `answer_briefly`, `sparql_answer` and `stepwise_answer`.

`thesis` follows the code behind "The Reasoning Bottleneck in Graph-RAG" (arXiv 2603.14045): the answer is the text
after the last "FINAL ANSWER:", or else the whole reply, and one of six phrases is an abstention. A reply without the
line then counts as right if it contains the gold answer anywhere. `strict`, the default, extracts no answer from such a
reply, nor from one that was cut within its answer, and recognises abstentions in other words. `hipporag2` is `strict`
here; of the Step `answer` it takes what follows the first "Answer:" (`answer.read_first`)."""

from __future__ import annotations

import re
from typing import NamedTuple

from pydantic import BaseModel

from workbench.measures.abstained import is_abstention, is_abstention_thesis

EXTRACTIONS = ("strict", "thesis", "hipporag2")
UNKNOWN = "I don't know"
CUE = "FINAL ANSWER:"
NO_LINE, CUT = "no answer line", "cut"  # flaws

_LINE = re.compile(r"FINAL\s*ANSWER\s*:\s*(.+)", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“”'‘’«]([^\"“”]*)[\"“”'’»]")
_STOP = re.compile(r"(?<!\b\w)\.$")  # but not after an initial, as in "Washington, D.C."


class Output(BaseModel):
    reply: str


class Extracted(NamedTuple):
    """An extracted answer. `flaw` states why the reply has no readable answer; `thesis` gives a `text` nevertheless.
    `failure`: the reply is missing or unreadable; `reply` then holds what arrived."""

    text: str = ""
    abstained: bool = False
    thought: str = ""
    flaw: str = ""
    failure: str | None = None
    reply: str = ""


def read(text: str) -> Output:
    return Output(reply=text)


def whole(reply: str, extraction: str = "strict", cut: bool = False) -> Extracted:
    """The whole reply as the answer. With `strict`, a cut reply has none."""
    text = reply.strip()
    if extraction == "thesis":
        return _extracted(text, is_abstention_thesis(text), flaw=CUT if cut else "")
    return Extracted(flaw=CUT, thought=text) if cut else _extracted(text, is_abstention(text))


def last_line(reply: str, extraction: str = "strict", cut: bool = False) -> Extracted:
    """The text after the last "FINAL ANSWER:": models may first repeat the form that they were given.

    >>> last_line("FINAL ANSWER: <your answer>\\n...\\n**FINAL ANSWER:** Oslo.").text
    'Oslo'
    >>> last_line("It is Oslo.").text, last_line("It is Oslo.").flaw, last_line("It is Oslo.", "thesis").text
    ('', 'no answer line', 'It is Oslo.')
    """
    found = None
    for found in _LINE.finditer(reply):
        pass
    answer = found[1].strip() if found else ""
    read = bool(answer) and not answer.startswith("<")
    flaw = "" if read else CUT if cut else NO_LINE
    thought = (reply[: found.start()] if read else reply).strip(" \t\r\n*#_")
    if extraction == "thesis":
        text = answer if read else reply
        return _extracted(text, is_abstention_thesis(text), thought, flaw)
    if read and cut and not reply[found.end() :].strip(" \t*_`"):
        return Extracted(thought=thought, flaw=CUT)  # the answer itself may be unfinished
    if read:
        text = _bare(answer)
        return _extracted(text, is_abstention(text), thought)
    if not cut and "\n" not in reply.strip() and is_abstention(reply):
        return Extracted(abstained=True)
    return Extracted(thought=thought, flaw=flaw)


def _extracted(text: str, abstained: bool, thought: str = "", flaw: str = "") -> Extracted:
    return Extracted("" if abstained else text, abstained, thought, flaw)


def _bare(text: str) -> str:
    """The text without the emphasis, quotation marks and full stop that models put around an answer."""
    text = _STOP.sub("", text.strip(" \t\r*_`")).strip(" \t\r*_`")
    quoted = _QUOTED.fullmatch(text)
    return _STOP.sub("", quoted[1].strip()) if quoted else text


def shown(instructions: str, context: str, question: str) -> str:
    """A user message: instructions, if any, then context and question below their labels."""
    return "\n\n".join([*[instructions] * bool(instructions), f"CONTEXT:\n{context}", f"QUESTION:\n{question}"])
