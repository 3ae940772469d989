"""Rule bodies of `answer`, `answer_briefly`, `knowledge_answer`, `global_reduce` and `shorten_answer`: the hops of a
question resolved from the inside out.

    Where was the director of "Dune Fever" born?  ->  director of "Dune Fever": Ada Lind  ->  Ada Lind born: Oslo

`questions.analyse` says what is asked and how it nests; `hops.candidates` finds what one hop asks for; here they are
joined: a few values for each inner hop, each tried in the outer one, the best chain wins. A comparison reads one date
or number for each candidate, a question for what is shared the first sentences about both. An answer with less
ground than ENOUGH is none: the rules abstain. They have no knowledge of their own; in the mode `open` the best value
that they found is the answer, whatever its ground."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from workbench.language.quantities import dates, numbers
from workbench.language.questions import Analysis, Hop, analyse, kin_of
from workbench.language.relations import kind_of, relatedness, stem, words
from workbench.language.spans import Page, Pages, about, pages, plain
from workbench.rules.hops import Candidate, candidates, measures
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


knowledge_answer = answer_briefly


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
        best = _compare(analysis, read)
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


# -- comparisons ------------------------------------------------------------------------------------------------------

_START = frozenset(map(stem, words("release publish found form establish open start create premiere build debut")))
_PLACES = ("GPE", "NORP", "LOC")


def _compare(asked: Analysis, pages: Pages) -> Candidate | None:
    """The answer to a comparison; None where a side cannot be read."""
    named, sides = [], []
    for candidate, hop in zip(asked.candidates, asked.sides):
        described = bool(hop.words or hop.inner)
        found = chain(hop, pages, ())[:3] if described else [Candidate(candidate, 1.0, 1.0, ())]
        found = [one for one in found if _page(one.text, pages) is not None]
        if not found:
            return None
        named.append(found[0].text)
        page, sentences = (_page(named[-1], pages), ()) if described else _side(candidate, asked, pages)
        sides.append((page, (*found[0].sentences, *sentences)))
    if any(page is None for page, _ in sides):
        return None
    if asked.direction == "same":
        return _shared(asked, pages, [page for page, _ in sides], [sentences for _, sentences in sides])
    read = [_value(asked, page) for page, _ in sides]
    if any(value is None for value in read):
        return None
    sentences = tuple(one for (_, evidence), (_, sentence) in zip(sides, read) for one in (*evidence, sentence))
    values = [value for value, _ in read]
    if asked.direction == "difference":
        return Candidate(f"{abs(_plain(values[0]) - _plain(values[1])):g}", 1.0, 1.0, sentences)
    pick = max if asked.direction == "more" else min
    best = values.index(pick(values))
    if asked.wants == "yes-no":
        return Candidate("yes" if best == 0 and values[0] != values[1] else "no", 1.0, 1.0, sentences)
    return Candidate(named[best], 1.0, 1.0, sentences)


def _plain(value) -> float:
    return float(value[0]) if isinstance(value, tuple) else float(value)


def _side(candidate: str, asked: Analysis, pages: Pages) -> tuple[Page | None, tuple[str, ...]]:
    """The page about a candidate, or about the person the question reaches through it ("the director of …")."""
    role = _via(asked)
    if not role:
        return _page(candidate, pages), ()
    for found in candidates(Hop((role,), "person", role, (candidate,)), (candidate,), pages, asked.candidates)[:3]:
        page = _page(found.text, pages)
        if page is not None:
            return page, found.sentences
    return None, ()


def _via(asked: Analysis) -> str:
    """The noun of a person that stands between the candidates and what is compared."""
    if any(hop.words or hop.inner for hop in asked.sides):
        return ""
    words = [word for hop in asked.asked.nested() for word in hop.words]
    heads = {asked.head} if asked.head and asked.wants == "choice" and not asked.asked.inner else set()
    return next((word for word in words if kind_of(word) == "person" and word not in heads and _role(word, asked)), "")


def _role(word: str, asked: Analysis) -> bool:
    """ "director" in "has the director born first"; not "director" in "which director was born first"."""
    return word != asked.head or (asked.dimension in ("birth", "death", "life") and bool(asked.asked.inner))


def _page(name: str, pages: Pages) -> Page | None:
    return max(pages.about(name), key=lambda page: (about(page, name), -page.number), default=None)


def _value(asked: Analysis, page: Page):
    """(what is compared, the sentence it stands in) or None."""
    dimension = asked.dimension
    if dimension == "age":
        dimension = "birth" if page.life.born else "start"
    if dimension in ("birth", "death", "life"):
        born, died = _day(page, "born"), _day(page, "die")
        if dimension == "life":
            both = born and died
            return (tuple(d - b for d, b in zip(died[0], born[0])), born[1]) if both else None
        return born if dimension == "birth" else died
    if dimension == "start":
        return _start(page)
    return _number(asked, page)


def _day(page: Page, word: str):
    date = page.life.born if word == "born" else page.life.died
    if date is not None:
        return date.when, page.sentences[0].text
    for sentence in page.sentences:
        if any(relatedness(stem(word), word_stem) for word_stem, _ in sentence.stems):
            found = [date for date in dates(sentence.tokens.text) if date.when[0]]
            at = re.search(r"\bborn\b" if word == "born" else r"\b(died|death|killed|dead)\b", sentence.tokens.text)
            if found and at:
                return min(
                    found, key=lambda date: (date.start < at.start(), abs(date.start - at.start()))
                ).when, sentence.text
    return None


def _start(page: Page):
    """The date beside a word of beginning, else the first year of the page."""
    first = None
    for sentence in page.sentences:
        found = [date for date in dates(sentence.tokens.text) if date.when[0]]
        if not found:
            continue
        first = first or (found[0].when, sentence.text)
        starts = [token.idx - sentence.tokens.start_char for word_stem, token in sentence.stems if word_stem in _START]
        if starts:
            near = min(found, key=lambda date: min(abs(date.start - start) for start in starts))
            return near.when, sentence.text
    return first


def _number(asked: Analysis, page: Page):
    """The number nearest to a word of the question, or the first that is counted in what the question names."""
    words = {stem(word) for hop in asked.asked.nested() for word in hop.words}
    units = measures(asked.dimension)
    best = None
    for sentence in page.sentences:
        for number in numbers(sentence.tokens.text):
            if units and number.unit not in units:
                continue
            near = [
                abs(token.idx - sentence.tokens.start_char - number.start)
                for word_stem, token in sentence.stems
                if any(relatedness(word, word_stem) for word in words)
            ]
            rank = (min(near, default=500), sentence.tokens.start)
            if best is None or rank < best[0]:
                best = rank, number.value, sentence.text
    return (best[1], best[2]) if best else None


# What is shared


def _shared(asked: Analysis, pages: Pages, sides: Sequence[Page], evidence) -> Candidate | None:
    sentences = tuple(sentence for one in evidence for sentence in one)
    sentences += tuple(page.sentences[0].text for page in sides if page.sentences)
    if asked.dimension and asked.wants == "yes-no":
        values = [_values(asked, page, pages) for page in sides]
        if not all(values):
            return None
        return Candidate("yes" if _any_alike(values) else "no", 0.6, 1.0, sentences)
    if asked.wants == "yes-no":
        words = [stem(word) for hop in asked.asked.nested() for word in hop.words]
        if not words:
            return None
        shared = [all(any(relatedness(word, one) for s in page.sentences[:2] for one, _ in s.stems) for word in words)
                for page in sides]  # fmt: skip
        return Candidate("yes" if all(shared) else "no", 0.6, 1.0, sentences)
    return _in_common(asked, sides, sentences)


def _values(asked: Analysis, page: Page, pages: Pages) -> list[str]:
    """What a page says of the thing that is to be the same."""
    kind = kind_of(asked.dimension)
    if asked.dimension in ("country", "nationality", "state") or kind not in ("place", "organisation", "person"):
        return _places(page, asked.dimension)
    asked_words = [word for hop in asked.asked.nested() for word in hop.words if word != asked.dimension] or ["born"]
    if page.kind == "person" and kind == "place" and not {"live", "die", "study"} & set(asked_words):
        asked_words = ["born"]  # to come from a place
    found = candidates(Hop(tuple(asked_words), kind, asked.dimension), (page.title,), pages, asked.candidates)
    return [one.text for one in found if one.page is page][:1]


def _places(page: Page, dimension: str) -> list[str]:
    """Names of places and peoples in the first sentences; of "town, province, country" the last for a country."""
    found = []
    for sentence in page.sentences[:2]:
        spans = [span for span in sentence.spans if span.label in _PLACES]
        row: list[str] = []
        for index, span in enumerate(spans):
            row.append(span.text)
            if index + 1 < len(spans) and spans[index + 1].start - span.end <= 1:
                continue
            if dimension in ("country", "nationality"):
                found.append(row[-1])
            else:  # "Oslo, Viken, Norway": the wider land is not what is asked
                found += row[:-1] if len(row) > 2 else row
            row = []
    return found


def _any_alike(values: Sequence[list[str]]) -> bool:
    """Do all sides hold one value? "Italy" and "Italian" are one by their first letters."""

    def alike(one: str, other: str) -> bool:
        a, b = "".join(plain(one)), "".join(plain(other))
        return a == b or (len(a) > 3 and len(b) > 3 and a[:4] == b[:4])

    return any(all(any(alike(value, other) for other in side) for side in values[1:]) for value in values[0])


def _in_common(asked: Analysis, sides: Sequence[Page], sentences: tuple[str, ...]) -> Candidate | None:
    """The name or noun that both first sentences hold."""
    firsts = [page.sentences[0] for page in sides if page.sentences]
    if len(firsts) < 2:
        return None
    for label in (("NORP",), ("noun",)):
        for span in firsts[0].spans:
            if span.label in label and all(f" {' '.join(plain(span.text))} " in other.plain for other in firsts[1:]):
                return Candidate(span.text, 0.5, 1.0, sentences)
    return None
