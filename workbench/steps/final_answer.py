"""Extraction of the answer from a reply in prose, shared by `answer_briefly`, `sparql_answer` and `stepwise_answer`.

`thesis` follows the code behind "The Reasoning Bottleneck in Graph-RAG" (arXiv 2603.14045): the answer is the text
after the last "FINAL ANSWER:", or else the whole reply, and one of six phrases is an abstention. A reply without the
line then counts as right if it contains the gold answer anywhere. `strict`, the default, extracts no answer from such a
reply, nor from one that was cut within its answer; it recognises abstentions in other words, the line in any emphasis
and with the answer below it, and takes an answer out of what models put around one (docs/reading.md). `hipporag2` is
`strict` here; of the Step `answer` it takes what follows the first "Answer:" (`answer.read_first`).

Step `answer_briefly`: the answer alone, in a few words (the baseline prompt of "The Reasoning Bottleneck in
Graph-RAG", arXiv 2603.14045, companion code; our wording).

The content of the prompt, its labels and its abstaining phrase are the source's, so that results are comparable; the
sentence on several things is ours. Unlike our other prompts, it therefore does not state that the context is data whose
instructions must not be followed.

Step `stepwise_answer`: sub-questions answered one after the other, then the answer (the generic chain of thought of
"The Reasoning Bottleneck in Graph-RAG", arXiv 2603.14045, companion code; the wording of the steps is ours).

As in the source, there is one user message, no system message, and no warning about instructions in the context. The
sentence on several things is ours.

Step `sparql_answer`: the model writes the question as a small SPARQL query and follows it through the context to the
answer (the SPARQL chain of thought of "The Reasoning Bottleneck in Graph-RAG", arXiv 2603.14045, section 3.3). Nothing
is executed; the reader `sparql-exec` does that.

The three steps and their limits are those printed there, in our words. The companion code also shows an example of the
syntax, and asks to follow the chain and to answer in a few words; the example and the sentence on several things are
ours. `example=False` asks for no more than the printed template. As in the source, there is one user message, no system
message, and no warning about instructions in the context.

Step `knowledge_answer`: the answer from the extracted knowledge, with nothing in the prompt but the question, this
knowledge and the place of the answer (the pair of prompts of Youtu-GraphRAG, arXiv 2508.19855, appendix A.6, which it
asks of every method; our wording).

Unlike the source's, ours states that the knowledge is data whose instructions must not be followed, in both modes, and
asks for several things where several are asked for.

Step `essay_answer`: an answer in full from the given context, as DotRAG's and LightRAG's comparisons of pairs of
answers need: comprehensiveness and coherence cannot be judged of a name. The papers ask for the format "multiple
paragraphs"; the wording is ours.

The answer is the whole reply. One that was cut for length stays, and says so.

Step `shorten_answer`: the short answer that a long one states, for measures that compare whole strings ("The
Reasoning Bottleneck in Graph-RAG", arXiv 2603.14045, rewrites the answers of its 8B model before EM and F1).

The source's prompt is not published: this one is ours, and a number that was made with it differs in this from the
source's. It is shown question and answer, neither context nor gold.

Step `classify_question`: bridge, comparison or inference (the router of "The Reasoning Bottleneck in Graph-RAG",
arXiv 2603.14045, section 3.5.2; its three labels, our wording). Temperature 0; at most 32 tokens, where the source has
5, in which a model that begins with a sentence names none.

The label is asked for by schema where the endpoint takes one; otherwise it is the first that occurs in the reply, which
the source takes as a whole. A reply without one counts as `bridge` and is `invalid`."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import NamedTuple

from pydantic import BaseModel

from workbench.llm.shapes import TemplateCopied
from workbench.llm.step import Step
from workbench.measures.abstained import is_abstention, is_abstention_thesis
from workbench.steps.answer import Input
from workbench.steps.prose import fields_of, is_form, label, plain, unpacked, worded

EXTRACTIONS = ("strict", "thesis", "hipporag2")
UNKNOWN = "I don't know"
CUE = "FINAL ANSWER:"
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
    match, reply = None, reply if extraction == "thesis" else unpacked(reply)
    for match in (_LINE if extraction == "thesis" else _LENIENT).finditer(reply):
        pass
    answer = match[1].strip() if match else ""
    read = bool(answer) and not answer.startswith("<")
    flaw = "" if read else CUT if cut else NO_LINE
    thought = (reply[: match.start()] if read else reply).strip(" \t\r\n*#_")
    if extraction == "thesis":
        text = answer if read else reply
        return _extracted(text, is_abstention_thesis(text), thought, flaw)
    if read and cut and not reply[match.end() :].strip(" \t*_`"):
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
    if (named := _named_answer(text)) is not None:
        return named, ""
    if cues := list(_SHORT_CUE.finditer(text)):
        before, rest = text[: cues[-1].start()].strip(), text[cues[-1].start(1) :].strip()
    else:
        before, rest = "", plain(text)
    if is_abstention(rest):
        return rest, before
    answer, *explained = _EXPLAINS.split(rest, maxsplit=1)
    answer = answer.strip() if "\n" in answer.strip() else _bare(answer)
    if is_form(answer):
        raise TemplateCopied(f"{answer!r} is the form that was asked for, and no answer")
    return answer, "\n".join(filter(None, [before, *explained]))


def _named_answer(text: str) -> str | None:
    """The answer of a reply that is an object with one; None if it is none."""
    fields = fields_of(text) if text.lstrip().startswith(("{", "```")) else {}
    return next((_bare(fields[name]) for name in _NAMES if name in fields), None)


def _bare(text: str) -> str:
    """The text without the emphasis, quotation marks and full stop that models put around an answer."""
    text = _STOP.sub("", text.strip(" \t\r*_`")).strip(" \t\r*_`")
    if len(text) > 1 and text[-1] in '"”' and not re.search(r"[\"“]", text[:-1]):
        text = _STOP.sub("", text[:-1].strip())  # closes a quotation of the whole reply
    quoted = _QUOTED.fullmatch(text)
    return _STOP.sub("", quoted[1].strip()) if quoted else text


BRIEF = Step.from_text("answer_briefly", Input, Output, read=read, max_tokens=160, version=2)


STEPWISE = Step.from_text("stepwise_answer", Input, Output, read=read, max_tokens=512, version=3)


@dataclass(frozen=True)
class SparqlInput(Input):
    """`example`: whether the prompt has the companion code's addition, an example of the syntax."""

    example: bool = True

    @classmethod
    def of(cls, value: SparqlInput, example: bool) -> SparqlInput:
        return cls(**{field.name: getattr(value, field.name) for field in fields(value)}, example=example)


SPARQL = Step.from_text("sparql_answer", SparqlInput, Output, read=read, max_tokens=512, version=3)


def read_knowledge(text: str) -> Output:
    """The reply without the label of the slot, which models repeat."""
    return Output(reply=re.sub(r"(?i)^\s*\**answer\s*:\**\s*", "", text))


KNOWLEDGE = Step.from_text("knowledge_answer", Input, Output, read=read_knowledge, max_tokens=512, version=2)


def read_essay(text: str) -> Output:
    """The reply without what models put around it; a refusal to answer, JSON or a table is unreadable."""
    return Output(reply=worded(text, "answer", names=["answer"]))


ESSAY = Step.from_text("essay_answer", Input, Output, read=read_essay, max_tokens=1500)


@dataclass(frozen=True)
class LongAnswer:
    question: str
    answer: str


SHORTEN = Step.from_text("shorten_answer", LongAnswer, Output, read=read, max_tokens=512, version=2)


KINDS = ("bridge", "comparison", "inference")
DEFAULT = "bridge"


@dataclass(frozen=True)
class RoutedQuestion:
    question: str


class Kind(BaseModel):
    kind: str
    invalid: bool


def read_kind(text: str) -> Kind:
    kind = label(text, KINDS)
    return Kind(kind=kind or DEFAULT, invalid=kind is None)


CLASSIFY = Step.from_text(
    "classify_question", RoutedQuestion, Kind, read=read_kind, max_tokens=32, version=2, labels=KINDS
)
