"""Rule bodies of `answer`, `answer_briefly`, `knowledge_answer`, `global_reduce` and `shorten_answer`: the hops of a
question resolved from the inside out.

    Where was the director of "Dune Fever" born?  ->  director of "Dune Fever": Ada Lind  ->  Ada Lind born: Oslo

`questions.analyse` says what is asked and how it nests; `hops.candidates` finds what one hop asks for; here they are
joined: a few values for each inner hop, each tried in the outer one, the best chain wins. A comparison reads one date
or number for each candidate, a question for what is shared the first sentences about both. An answer with less
ground than ENOUGH is none: the rules abstain. They have no knowledge of their own; in the mode `open` the best value
that they found is the answer, whatever its ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from workbench.language.questions import Hop, analyse, kin_of
from workbench.language.spans import Pages, pages
from workbench.rules import comparing
from workbench.rules.hops import Candidate, candidates
from workbench.steps import answer as asked
from workbench.steps import final_answer, reporting
from workbench.steps.final_answer import UNKNOWN
from workbench.steps.final_answer import Output as Reply

Passages = Sequence[tuple[str, str]]

# Ground below which an answer is none. Over questions of three public data sets and the bundled corpus, read with their
# gold passages and again without those that hold the answer, it costs about one right answer in ten and refuses about
# seven in ten of those that cannot be answered, on the half of the questions that was looked at while these rules were
# written and on the other (`benchmarks/reading.py`).
ENOUGH = 0.3
BREADTH = 3  # values of an inner hop that are tried in the outer one
KEPT = 1024  # questions whose answers are kept: several prompts and readers ask the same of the same passages
FEW = 5  # words of an answer that is short already
FLAT = 0.6  # worth of a hop read as one with its inner hops, against one resolved step by step


def answer(value: asked.Input) -> asked.Output:
    """Where paths are complete, all of their ends; else what the passages say."""
    if value.ends:
        return asked.Output(thought="The complete paths end there.", answer=", ".join(value.ends), abstained=False)
    return short_answer(value.question, value.passages, value.mode)


def answer_briefly(value: asked.Input) -> Reply:
    return Reply(reply=answer(value).answer or UNKNOWN)


def knowledge_answer(value: asked.Input) -> Reply:
    return answer_briefly(value)


def global_reduce(value: reporting.ReduceInput) -> reporting.ReduceOutput:
    """Short answers are read from the points as from passages without titles."""
    output = short_answer(value.question, [("", point) for point in value.points], value.mode)
    return reporting.ReduceOutput(response=output.thought, answer=output.answer, abstained=output.abstained)


def shorten_answer(value: final_answer.LongAnswer) -> Reply:
    """A few words are short enough, and so are several things of a few words each; of more, what is read in them as in
    a passage, whatever its ground."""
    words = value.answer.split()
    if all(len(thing.split()) <= FEW for thing in value.answer.split(";")):
        return Reply(reply=" ".join(words))
    leading = words[0].strip(".,;:!").lower()
    if leading in ("yes", "no") and analyse(value.question, []).wants == "yes-no":
        return Reply(reply=leading)
    return Reply(reply=short_answer(value.question, [("", value.answer)], "open").answer or " ".join(words))


def short_answer(question: str, passages: Passages, mode: str = "reject") -> asked.Output:
    """A short answer with the sentences it was read in, or none."""
    best = _best(question, tuple((title, text) for title, text in passages))
    if isinstance(best, str):
        return _abstain(best)
    thought = " → ".join(dict.fromkeys(best.sentences))
    if best.confidence < ENOUGH and mode == "reject":
        return _abstain(f"too little ground for “{best.text}” in: {thought}")
    return asked.Output(thought=f"read in: {thought}", answer=best.text, abstained=False)


@lru_cache(KEPT)
def _best(question: str, passages: tuple[tuple[str, str], ...]) -> Candidate | str:
    """The best candidate, however low its confidence, or why there is none."""
    analysis = analyse(question, [title for title, _ in passages])
    if analysis.kind == "none" or not passages:
        return "nothing is asked, or nothing is there to read"
    read = pages(passages)
    if analysis.direction:
        best = comparing.compare(analysis, read, chain)
    elif analysis.wants == "yes-no":
        best = None
    else:
        best = next(iter(chain(analysis.asked, read, analysis.names)), None)
    return replace(best, page=None) if best else "no span of the kind asked for stands near the question's words"


def chain(hop: Hop, read: Pages, barred: Sequence[str], depth: int = 0) -> list[Candidate]:
    """What a hop and the hops inside it find, best first."""
    ways: list[tuple[Hop, tuple[str, ...], Candidate]] = [(hop, (), Candidate("", 1.0, 1.0, (), steps=0.0))]
    flat = None
    for inner in hop.inner:
        values = chain(inner, read, barred, depth + 1)[:BREADTH]
        ways = [(way, (*names, value.text), _joined(value, before, inner=True))
                for way, names, before in ways for value in values]  # fmt: skip
        ways = sorted(ways, key=lambda way: -way[2].worth)[: BREADTH**2]  # many descriptions beside each other
    if hop.inner and not any(map(kin_of, (hop, *hop.inner))):  # the father of the mother is never the father
        flat = _flat(hop)
        ways.append((flat, (), Candidate("", FLAT, 1.0, (), steps=0.0)))
    found = [
        _joined(one, before)
        for way, names, before in ways
        for one in candidates(way, (*way.names, *names), read, barred, depth > 0, hop.words if way is flat else ())
    ]
    return sorted(found, key=lambda one: -one.worth)


def _joined(one: Candidate, before: Candidate, inner: bool = False) -> Candidate:
    """A hop after what was found before it. An inner hop counts half: what it found shows again in the outer one."""
    half = 0.5 if inner else 1.0
    worth, steps = before.worth * one.worth**half, before.steps + one.steps * half
    return replace(one, worth=worth, steps=steps, sentences=(*before.sentences, *one.sentences))


def _flat(hop: Hop) -> Hop:
    """The hop with the words and names of its inner hops as its own."""
    words, names = list(hop.words), list(hop.names)
    for inner in map(_flat, hop.inner):
        words += inner.words
        names += inner.names
    return Hop(tuple(dict.fromkeys(words)), hop.wants, hop.head, tuple(dict.fromkeys(names)))


def _abstain(why: str) -> asked.Output:
    return asked.Output(thought=why, answer="", abstained=True)
