"""Step `answer`: a short answer from the passages, after a thought (the reader of HippoRAG 2, arXiv 2502.14802; our
wording).

The answer follows the last "Answer:", in whatever emphasis, in the same line or below; the released code splits at the
first one, which cuts off thoughts that contain the word (`read_first`). Unlike the released prompt, ours lets the model
say that the passages do not contain the answer.

Step `verify_claim`: whether passages support a claim, after a thought (the reader of CatRAG for HoVer, arXiv
2602.01965; our wording, with two worked examples as in the source).

As in HoVer, a claim that the passages contradict and one that they do not settle have the same label. A reply whose
last "Answer:" is not followed by one of the labels is unreadable."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from workbench.llm.shapes import TemplateCopied
from workbench.llm.step import Step
from workbench.measures.abstained import is_abstention
from workbench.steps.prose import fields_of, is_form, unpacked

# `reject` answers from the context or refuses; `open` falls back on the model's knowledge (Youtu-GraphRAG, appendix
# A.6: a pair of prompts that are the same but for this clause, so that their difference is that of the clause).
Mode = Literal["reject", "open"]
UNKNOWN = "unknown"
_MARKS = ' \t\r*`"“”'  # that models put around an answer
_CUE = re.compile(r"(?i)\banswer(?:[*_`]{0,3}\s*|\s+is\s*):[*_`]{0,3}")
_THOUGHT = re.compile(r"(?i)\A[\s*_#]*thought[*_`]{0,3}\s*:[*_`]{0,3}\s*")


@dataclass(frozen=True)
class Input:
    """`context` is the rendered evidence. For the rule body: `passages`, the same as (title, text), and `ends`, the
    last nodes of the paths that were judged complete, `mode`."""

    question: str
    context: str
    passages: tuple[tuple[str, str], ...]
    ends: tuple[str, ...] = ()
    mode: Mode = "reject"


class Output(BaseModel):
    """`abstained` is true where the passages do not hold the answer; `answer` is then empty."""

    thought: str
    answer: str
    abstained: bool


def read(text: str) -> Output:
    """The text after the last `Answer:`. A reply without the cue is unreadable, not an answer as a whole.

    >>> read("Thought: She was.\\n**Answer:**\\nAlderby.").answer, read("Answer: not mentioned").abstained
    ('Alderby', True)
    """
    thought, rest = after_cue(text)
    answer = rest.strip(_MARKS).rstrip(".").strip(_MARKS)
    if is_form(answer):
        raise TemplateCopied(f"{answer!r} is the form that was asked for, and no answer")
    abstained = is_abstention(answer)
    return Output(thought=thought, answer="" if abstained else answer, abstained=abstained)


def after_cue(text: str, without: str = "no 'Answer:' in the reply") -> tuple[str, str]:
    """(what stands before the last `Answer:`, the first line of what follows); ValueError without that cue. An object
    with an answer counts as well."""
    inner = unpacked(text)
    text = inner if _CUE.search(inner) else text
    fields, cues = fields_of(text), list(_CUE.finditer(text))
    if "answer" in fields and (not cues or text.lstrip().startswith(("{", "[", "```"))):
        return fields.get("thought", ""), fields["answer"]
    if not cues:
        raise ValueError(without)
    lines = (line.strip(_MARKS) for line in text[cues[-1].end() :].split("\n"))
    thought = text[: cues[-1].start()].strip().strip("*_#").strip()
    return _THOUGHT.sub("", thought).strip(), next(filter(None, lines), "")


def read_first(text: str) -> Output:
    """As HippoRAG 2's code reads it: what stands between the first `Answer:` and the next, to the letter, or else the
    whole reply. A thought that contains the word is taken for the answer; there is no abstention, so what says that it
    is unknown is an answer like any other."""
    before, *after = text.split("Answer:")
    thought = before.removeprefix("Thought:").strip() if after else ""
    return Output(thought=thought, answer=after[0].strip() if after else text, abstained=False)


STEP = Step.from_text("answer", Input, Output, read=read, max_tokens=512, version=3)


SUPPORTED, NOT_SUPPORTED = "SUPPORTED", "NOT_SUPPORTED"


class Judgement(BaseModel):
    thought: str
    label: Literal["SUPPORTED", "NOT_SUPPORTED"]


_LABEL = re.compile(r"[\W_]*(?P<not>not[\s_-]*)?supported(?:[\W_]*$|[.;:])", re.IGNORECASE)


def read_claim(text: str) -> Judgement:
    """The label after the last `Answer:`, however it is spelt.

    >>> read_claim("Thought: No passage names it.\\nAnswer: **Not supported**").label
    'NOT_SUPPORTED'
    """
    thought, rest = after_cue(text, f"no 'Answer: {SUPPORTED}' and no 'Answer: {NOT_SUPPORTED}' in the reply")
    match = _LABEL.match(rest)
    if match is None:
        raise ValueError(f"no 'Answer: {SUPPORTED}' or {NOT_SUPPORTED} in the reply, which answers {rest[:80]!r}")
    return Judgement(thought=thought, label=NOT_SUPPORTED if match["not"] else SUPPORTED)


CLAIM = Step.from_text("verify_claim", Input, Judgement, read=read_claim, max_tokens=512)
