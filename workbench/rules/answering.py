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
from workbench.steps import answer as answering
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


def answer(value: answering.Input) -> answering.Output:
    """Where paths are complete, all of their ends; else what the passages say."""
    if value.ends:
        return answering.Output(thought="The complete paths end there.", answer=", ".join(value.ends), abstained=False)
    return short_answer(value.question, value.passages, value.mode)


def answer_briefly(value: answering.Input) -> Reply:
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


def short_answer(question: str, passages: Passages, mode: str = "reject") -> answering.Output:
    """A short answer with the sentences it was read in, or none."""
    best = _best(question, tuple((title, text) for title, text in passages))
    if isinstance(best, str):
        return _abstain(best)
    thought = " → ".join(dict.fromkeys(best.sentences))
    if best.confidence < ENOUGH and mode == "reject":
        return _abstain(f"too little ground for “{best.text}” in: {thought}")
    return answering.Output(thought=f"read in: {thought}", answer=best.text, abstained=False)


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
    options = [
        _joined(candidate, before)
        for way, names, before in ways
        for candidate in candidates(
            way, (*way.names, *names), read, barred, depth > 0, hop.words if way is flat else ()
        )
    ]
    return sorted(options, key=lambda candidate: -candidate.worth)


def _joined(candidate: Candidate, before: Candidate, inner: bool = False) -> Candidate:
    """A hop after what was found before it. An inner hop counts half: what it found shows again in the outer one."""
    half = 0.5 if inner else 1.0
    worth, steps = before.worth * candidate.worth**half, before.steps + candidate.steps * half
    return replace(candidate, worth=worth, steps=steps, sentences=(*before.sentences, *candidate.sentences))


def _flat(hop: Hop) -> Hop:
    """The hop with the words and names of its inner hops as its own."""
    words, names = list(hop.words), list(hop.names)
    for inner in map(_flat, hop.inner):
        words += inner.words
        names += inner.names
    return Hop(tuple(dict.fromkeys(words)), hop.wants, hop.head, tuple(dict.fromkeys(names)))


def _abstain(why: str) -> answering.Output:
    return answering.Output(thought=why, answer="", abstained=True)


# -- comparisons ------------------------------------------------------------------------------------------------------

_START = frozenset(map(stem, words("release publish found form establish open start create premiere build debut")))
_PLACES = ("GPE", "NORP", "LOC")


def _compare(analysis: Analysis, pages: Pages) -> Candidate | None:
    """The answer to a comparison; None where a side cannot be read."""
    named, sides = [], []
    for candidate, hop in zip(analysis.candidates, analysis.sides):
        described = bool(hop.words or hop.inner)
        candidates = chain(hop, pages, ())[:3] if described else [Candidate(candidate, 1.0, 1.0, ())]
        candidates = [candidate for candidate in candidates if _page(candidate.text, pages) is not None]
        if not candidates:
            return None
        named.append(candidates[0].text)
        page, sentences = (_page(named[-1], pages), ()) if described else _side(candidate, analysis, pages)
        sides.append((page, (*candidates[0].sentences, *sentences)))
    if any(page is None for page, _ in sides):
        return None
    if analysis.direction == "same":
        return _shared(analysis, pages, [page for page, _ in sides], [sentences for _, sentences in sides])
    read = [_value(analysis, page) for page, _ in sides]
    if any(value is None for value in read):
        return None
    sentences = tuple(item for (_, evidence), (_, sentence) in zip(sides, read) for item in (*evidence, sentence))
    values = [value for value, _ in read]
    if analysis.direction == "difference":
        return Candidate(f"{abs(_plain(values[0]) - _plain(values[1])):g}", 1.0, 1.0, sentences)
    pick = max if analysis.direction == "more" else min
    best = values.index(pick(values))
    if analysis.wants == "yes-no":
        return Candidate("yes" if best == 0 and values[0] != values[1] else "no", 1.0, 1.0, sentences)
    return Candidate(named[best], 1.0, 1.0, sentences)


def _plain(value) -> float:
    return float(value[0]) if isinstance(value, tuple) else float(value)


def _side(candidate: str, analysis: Analysis, pages: Pages) -> tuple[Page | None, tuple[str, ...]]:
    """The page about a candidate, or about the person the question reaches through it ("the director of …")."""
    role = _via(analysis)
    if not role:
        return _page(candidate, pages), ()
    for option in candidates(Hop((role,), "person", role, (candidate,)), (candidate,), pages, analysis.candidates)[:3]:
        page = _page(option.text, pages)
        if page is not None:
            return page, option.sentences
    return None, ()


def _via(analysis: Analysis) -> str:
    """The noun of a person that stands between the candidates and what is compared."""
    if any(hop.words or hop.inner for hop in analysis.sides):
        return ""
    words = [word for hop in analysis.asked.nested() for word in hop.words]
    heads = {analysis.head} if analysis.head and analysis.wants == "choice" and not analysis.asked.inner else set()
    return next(
        (word for word in words if kind_of(word) == "person" and word not in heads and _role(word, analysis)), ""
    )


def _role(word: str, analysis: Analysis) -> bool:
    """ "director" in "has the director born first"; not "director" in "which director was born first"."""
    return word != analysis.head or (analysis.dimension in ("birth", "death", "life") and bool(analysis.asked.inner))


def _page(name: str, pages: Pages) -> Page | None:
    return max(pages.about(name), key=lambda page: (about(page, name), -page.number), default=None)


def _value(analysis: Analysis, page: Page):
    """(what is compared, the sentence it stands in) or None."""
    dimension = analysis.dimension
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
    return _number(analysis, page)


def _day(page: Page, word: str):
    date = page.life.born if word == "born" else page.life.died
    if date is not None:
        return date.when, page.sentences[0].text
    for sentence in page.sentences:
        if any(relatedness(stem(word), word_stem) for word_stem, _ in sentence.stems):
            dates_found = [date for date in dates(sentence.tokens.text) if date.when[0]]
            at = re.search(r"\bborn\b" if word == "born" else r"\b(died|death|killed|dead)\b", sentence.tokens.text)
            if dates_found and at:
                return min(
                    dates_found, key=lambda date: (date.start < at.start(), abs(date.start - at.start()))
                ).when, sentence.text
    return None


def _start(page: Page):
    """The date beside a word of beginning, else the first year of the page."""
    first = None
    for sentence in page.sentences:
        dates_found = [date for date in dates(sentence.tokens.text) if date.when[0]]
        if not dates_found:
            continue
        first = first or (dates_found[0].when, sentence.text)
        starts = [token.idx - sentence.tokens.start_char for word_stem, token in sentence.stems if word_stem in _START]
        if starts:
            near = min(dates_found, key=lambda date: min(abs(date.start - start) for start in starts))
            return near.when, sentence.text
    return first


def _number(analysis: Analysis, page: Page):
    """The number nearest to a word of the question, or the first that is counted in what the question names."""
    words = {stem(word) for hop in analysis.asked.nested() for word in hop.words}
    units = measures(analysis.dimension)
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


def _shared(analysis: Analysis, pages: Pages, sides: Sequence[Page], evidence) -> Candidate | None:
    sentences = tuple(sentence for part in evidence for sentence in part)
    sentences += tuple(page.sentences[0].text for page in sides if page.sentences)
    if analysis.dimension and analysis.wants == "yes-no":
        values = [_values(analysis, page, pages) for page in sides]
        if not all(values):
            return None
        return Candidate("yes" if _any_alike(values) else "no", 0.6, 1.0, sentences)
    if analysis.wants == "yes-no":
        words = [stem(word) for hop in analysis.asked.nested() for word in hop.words]
        if not words:
            return None
        stems = [{other for sentence in page.sentences[:2] for other, _ in sentence.stems} for page in sides]
        shared = [all(any(relatedness(word, other) for other in of_page) for word in words) for of_page in stems]
        return Candidate("yes" if all(shared) else "no", 0.6, 1.0, sentences)
    return _in_common(analysis, sides, sentences)


def _values(analysis: Analysis, page: Page, pages: Pages) -> list[str]:
    """What a page says of the thing that is to be the same."""
    kind = kind_of(analysis.dimension)
    if analysis.dimension in ("country", "nationality", "state") or kind not in ("place", "organisation", "person"):
        return _places(page, analysis.dimension)
    asked_words = [word for hop in analysis.asked.nested() for word in hop.words if word != analysis.dimension] or [
        "born"
    ]
    if page.kind == "person" and kind == "place" and not {"live", "die", "study"} & set(asked_words):
        asked_words = ["born"]  # to come from a place
    options = candidates(Hop(tuple(asked_words), kind, analysis.dimension), (page.title,), pages, analysis.candidates)
    return [candidate.text for candidate in options if candidate.page is page][:1]


def _places(page: Page, dimension: str) -> list[str]:
    """Names of places and peoples in the first sentences; of "town, province, country" the last for a country."""
    places_found = []
    for sentence in page.sentences[:2]:
        spans = [span for span in sentence.spans if span.label in _PLACES]
        row: list[str] = []
        for index, span in enumerate(spans):
            row.append(span.text)
            if index + 1 < len(spans) and spans[index + 1].start - span.end <= 1:
                continue
            if dimension in ("country", "nationality"):
                places_found.append(row[-1])
            else:  # "Oslo, Viken, Norway": the wider land is not what is asked
                places_found += row[:-1] if len(row) > 2 else row
            row = []
    return places_found


def _any_alike(values: Sequence[list[str]]) -> bool:
    """Do all sides hold one value? "Italy" and "Italian" are one by their first letters."""

    def alike(name: str, other: str) -> bool:
        a, b = "".join(plain(name)), "".join(plain(other))
        return a == b or (len(a) > 3 and len(b) > 3 and a[:4] == b[:4])

    return any(all(any(alike(value, other) for other in side) for side in values[1:]) for value in values[0])


def _in_common(analysis: Analysis, sides: Sequence[Page], sentences: tuple[str, ...]) -> Candidate | None:
    """The name or noun that both first sentences hold."""
    firsts = [page.sentences[0] for page in sides if page.sentences]
    if len(firsts) < 2:
        return None
    for label in (("NORP",), ("noun",)):
        for span in firsts[0].spans:
            if span.label in label and all(f" {' '.join(plain(span.text))} " in other.plain for other in firsts[1:]):
                return Candidate(span.text, 0.5, 1.0, sentences)
    return None
