"""Extraction of the answer from a reply in prose, shared by `answer_briefly`, `sparql_answer` and `stepwise_answer`.

`thesis` follows the code behind "The Reasoning Bottleneck in Graph-RAG" (arXiv 2603.14045): the answer is the text
after the last "FINAL ANSWER:", or else the whole reply, and one of six phrases is an abstention. A reply without the
line then counts as right if it contains the gold answer anywhere. `strict`, the default, extracts no answer from such a
reply, nor from one that was cut within its answer; it recognises abstentions in other words, the line in any emphasis
and with the answer below it, and takes an answer out of what models put around one (docs/reading.md). `hipporag2` is
`strict` here; of the Step `answer` it takes what follows the first "Answer:" (`answer.read_first`)."""

from __future__ import annotations

import re
from typing import NamedTuple

from pydantic import BaseModel

from workbench.llm.shapes import TemplateCopied
from workbench.measures.abstained import is_abstention, is_abstention_thesis
from workbench.steps.prose import fields_of, is_form, plain, unpacked

EXTRACTIONS = ("strict", "thesis", "hipporag2")
UNKNOWN = "I don't know"
CUE = "FINAL ANSWER:"
SEVERAL = "If several things are asked for, name them all, separated by semicolons."  # as the measures of sets read it
NO_LINE, CUT = "no answer line", "cut"  # flaws

_LINE = re.compile(r"FINAL\s*ANSWER\s*:\s*(.+)", re.IGNORECASE)
_LENIENT = re.compile(r"FINAL[\s_]*ANSWER[*_`]{0,3}\s*:[\s*_`#>]*(.*)", re.IGNORECASE)  # in any emphasis
_SHORT_CUE = re.compile(
    r"(?im)^(?:[^\S\n]|[*_#>`])*+(?:the\s+)?(?:final\s+)?answer(?:[*_`]{0,3}\s*|\s+is\s*):[\s*_`#>]*(.*)"
)
_EXPLAINS = re.compile(
    r"(?<!\s)(?:[^\S\n]*+\n){2}\s*+"  # from the first of the blanks in a row, so that they are passed once
    r"|(?<!\s)[^\S\n]*+\n(?=[\s*_]{0,20}(?:explanation|reason(?:ing)?|note|because|this|according"
    r"|the (?:context|passage|document|text|answer))\b)"
    r"|(?<=\w[.*])\s+(?=(?:This is|Explanation:|Note:|According to the|As stated|It is (?:stated|mentioned)"
    r"|The (?:contexts?|passages?|documents?|texts?) (?:states?|says?|mentions?|does|do))\b)",
    re.IGNORECASE,
)
_NAMES = ("final_answer", "answer", "short_answer")
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
    if cut:
        return Extracted(flaw=CUT, thought=text)
    try:
        answer, thought = _short(text)
    except ValueError:  # a form, a table or an object that names no answer
        return Extracted(flaw=NO_LINE, thought=text)
    return _extracted(answer, is_abstention(answer), thought)


def last_line(reply: str, extraction: str = "strict", cut: bool = False) -> Extracted:
    """The text after the last "FINAL ANSWER:": models may first repeat the form that they were given.

    >>> last_line("FINAL ANSWER: <your answer>\\n...\\n**FINAL ANSWER:** Oslo.").text
    'Oslo'
    >>> last_line("It is Oslo.").text, last_line("It is Oslo.").flaw, last_line("It is Oslo.", "thesis").text
    ('', 'no answer line', 'It is Oslo.')
    """
    found, reply = None, reply if extraction == "thesis" else unpacked(reply)
    for found in (_LINE if extraction == "thesis" else _LENIENT).finditer(reply):
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


def _short(text: str) -> tuple[str, str]:
    """(the answer of a reply that should be nothing else, what explains it). An abstention is left whole, since what
    follows one may be a guess.

    >>> _short("**Oslo**\\n\\nThe context says so."), _short("The answer is: Oslo."), _short("Oslo and Bergen")
    (('Oslo', 'The context says so.'), ('Oslo', ''), ('Oslo and Bergen', ''))
    """
    if (told := _told(text)) is not None:
        return told, ""
    if cues := list(_SHORT_CUE.finditer(text)):
        before, said = text[: cues[-1].start()].strip(), text[cues[-1].start(1) :].strip()
    else:
        before, said = "", plain(text)
    if is_abstention(said):
        return said, before
    answer, *explained = _EXPLAINS.split(said, maxsplit=1)
    answer = answer.strip() if "\n" in answer.strip() else _bare(answer)
    if is_form(answer):
        raise TemplateCopied(f"{answer!r} is the form that was asked for, and no answer")
    return answer, "\n".join(filter(None, [before, *explained]))


def _told(text: str) -> str | None:
    """The answer of a reply that is an object with one; None if it is none."""
    told = fields_of(text) if text.lstrip().startswith(("{", "```")) else {}
    return next((_bare(told[name]) for name in _NAMES if name in told), None)


def _bare(text: str) -> str:
    """The text without the emphasis, quotation marks and full stop that models put around an answer."""
    text = _STOP.sub("", text.strip(" \t\r*_`")).strip(" \t\r*_`")
    if len(text) > 1 and text[-1] in '"”' and not re.search(r"[\"“]", text[:-1]):
        text = _STOP.sub("", text[:-1].strip())  # closes a quotation of the whole reply
    quoted = _QUOTED.fullmatch(text)
    return _STOP.sub("", quoted[1].strip()) if quoted else text


def shown(instructions: str, context: str, question: str) -> str:
    """A user message: instructions, if any, then context and question below their labels."""
    return "\n\n".join([*[instructions] * bool(instructions), f"CONTEXT:\n{context}", f"QUESTION:\n{question}"])
