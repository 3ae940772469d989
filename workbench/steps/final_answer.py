"""Replies in prose, and the answer that is read off them: how `answer_briefly`, `sparql_answer` and `stepwise_answer`
share it.

`thesis` reads as the code behind "The Reasoning Bottleneck in Graph-RAG" (arXiv 2603.14045): what stands
behind the last "FINAL ANSWER:", or else the whole reply, which is an abstention if it is one of six phrases. A reply
without the line then counts as right wherever the gold answer stands anywhere in it. `strict`, the default,
reads no answer off such a reply, nor off one that was cut before its answer was whole, and knows an abstention in other
words."""

from __future__ import annotations

import re
from typing import NamedTuple

from pydantic import BaseModel

from workbench.measures.abstained import is_abstention, is_abstention_thesis

EXTRACTIONS = ("strict", "thesis")
UNKNOWN = "I don't know"
CUE = "FINAL ANSWER:"
NO_LINE, CUT = "no answer line", "cut"  # flaws

_LINE = re.compile(r"FINAL\s*ANSWER\s*:\s*(.+)", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“”'‘’«]([^\"“”]*)[\"“”'’»]")
_STOP = re.compile(r"(?<!\b\w)\.$")  # not of an initial, as in "Washington, D.C."


class Output(BaseModel):
    reply: str


class Extracted(NamedTuple):
    """An answer as it was read. `flaw`: why none could be read off the reply; `thesis` gives a `text` all the same.
    `failure`: there is no reply, or none that can be read; `reply` is then what there is of it."""

    text: str = ""
    abstained: bool = False
    thought: str = ""
    flaw: str = ""
    failure: str | None = None
    reply: str = ""


def read(text: str) -> Output:
    return Output(reply=text)


def whole(reply: str, extraction: str = "strict", cut: bool = False) -> Extracted:
    """The whole reply as the answer. One that was cut is none, if strict."""
    text = reply.strip()
    if extraction == "thesis":
        return _extracted(text, is_abstention_thesis(text), flaw=CUT if cut else "")
    return Extracted(flaw=CUT, thought=text) if cut else _extracted(text, is_abstention(text))


def last_line(reply: str, extraction: str = "strict", cut: bool = False) -> Extracted:
    """What stands behind the last "FINAL ANSWER:": models may repeat the form they were given first.

    >>> last_line("FINAL ANSWER: <your answer>\\n...\\n**FINAL ANSWER:** Oslo.").text
    'Oslo'
    >>> last_line("It is Oslo.").text, last_line("It is Oslo.").flaw, last_line("It is Oslo.", "thesis").text
    ('', 'no answer line', 'It is Oslo.')
    """
    found = None
    for found in _LINE.finditer(reply):
        pass
    told = found[1].strip() if found else ""
    read = bool(told) and not told.startswith("<")
    flaw = "" if read else CUT if cut else NO_LINE
    thought = (reply[: found.start()] if read else reply).strip(" \t\r\n*#_")
    if extraction == "thesis":
        text = told if read else reply
        return _extracted(text, is_abstention_thesis(text), thought, flaw)
    if read and cut and not reply[found.end() :].strip(" \t*_`"):
        return Extracted(thought=thought, flaw=CUT)  # the answer itself may be unfinished
    if read:
        text = _bare(told)
        return _extracted(text, is_abstention(text), thought)
    if not cut and "\n" not in reply.strip() and is_abstention(reply):
        return Extracted(abstained=True)
    return Extracted(thought=thought, flaw=flaw)


def _extracted(text: str, abstained: bool, thought: str = "", flaw: str = "") -> Extracted:
    return Extracted("" if abstained else text, abstained, thought, flaw)


def _bare(text: str) -> str:
    """Without what models put around an answer: emphasis, quotation marks, a full stop."""
    text = _STOP.sub("", text.strip(" \t\r*_`")).strip(" \t\r*_`")
    quoted = _QUOTED.fullmatch(text)
    return _STOP.sub("", quoted[1].strip()) if quoted else text


def shown(instructions: str, context: str, question: str) -> str:
    """A message of the user: instructions, if there are any, then context and question below their labels."""
    return "\n\n".join([*[instructions] * bool(instructions), f"CONTEXT:\n{context}", f"QUESTION:\n{question}"])
