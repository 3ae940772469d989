"""One hop: candidates for what stands in the requested relation to the given names, in some sentence of the pages.

    worth of a span = fit of its kind x presence of the names x (ground + relation words near it)

A sentence of a page is also about the page's title, which is itself a possible answer: "it was described by Ada Lind"
on the page Silverhask tells what Ada Lind described."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from workbench.language.names import RANKS
from workbench.language.questions import Hop, kin_of
from workbench.language.relations import KIN, LISTS, kind_of, relatedness, stem, words
from workbench.language.spans import Page, Pages, Sentence, Span, about, mentioned, plain, same

GROUND = 0.15  # what kind and names are worth together where no relation word stands near
NEAR = 0.06  # loss of a relation word's worth per word of distance
ELSEWHERE = 0.25  # worth of a relation word that stands on the page, but in another sentence
STRANGE = 0.45  # fit of a name with the label of another kind: labels err, on rare names most of all
HEAD = 0.5  # weight of the noun that names the kind asked for, against 1 for the other words
_FITS = {  # kind asked for -> label -> fit; names of other labels fit by STRANGE
    "person": {"PERSON": 1.0, "": 0.8, "title": 0.8, "noun": 0.1},
    "place": {"GPE": 1.0, "LOC": 1.0, "FAC": 1.0, "": 0.7, "title": 0.7, "noun": 0.1},
    "organisation": {"ORG": 1.0, "": 0.8, "title": 0.8, "FAC": 0.7, "noun": 0.1},
    "work": {"WORK_OF_ART": 1.0, "": 0.8, "title": 0.9, "ORG": 0.6, "noun": 0.1},
    "nationality": {"NORP": 1.0, "LANGUAGE": 1.0, "GPE": 0.6},
    "date": {"date": 1.0},
    "number": {"number": 1.0},
    "other": {"noun": 0.55, "title": 0.6, "": 0.6, "PERSON": 0.6, "ORG": 0.6, "GPE": 0.6, "WORK_OF_ART": 0.6,
              "date": 0.3, "number": 0.3},
}  # fmt: skip


@dataclass(frozen=True)
class Candidate:
    """A span that may be the answer of a hop, with its worth and the sentences that led to it."""

    text: str
    worth: float
    relation: float  # the share of the relation's words that stand near
    sentences: tuple[str, ...]
    page: Page | None = field(repr=False, compare=False, default=None)
    steps: float = 1.0  # how many worths are multiplied in `worth`; an inner hop counts half

    @property
    def confidence(self) -> float:
        """How well supported the span is: the worth of one hop of its chain (the geometric mean, which long and short
        chains have in common) and, as much, whether the last relation, the one asked for, is said at all."""
        return (self.worth ** (1 / self.steps) * self.relation) ** 0.5


def candidates(
    hop: Hop,
    names: Sequence[str],
    pages: Pages,
    barred: Sequence[str] = (),
    named: bool = False,
    core: Sequence[str] = (),
) -> list[Candidate]:
    """The spans that may be what the hop asks for, best first, each name once; `named` leaves out common nouns, dates
    and numbers, which lead nowhere, and sentences without any of the `core` words, if there are such, are left out."""
    stems = [(stem(word), HEAD if word == hop.head and kind_of(word) not in ("other", "person") else 1.0)
             for word in hop.words]  # fmt: skip
    best: list[Candidate] = []
    ranked = sorted(
        (candidate for page in pages for candidate in _on_page(hop, stems, names, page, pages, barred, named, core)),
        key=lambda candidate: -candidate.worth,
    )
    for candidate in ranked:
        if all(same(candidate.text, other.text) < 0.7 for other in best):
            best.append(candidate)
        if len(best) == 8:
            break
    return best


def _on_page(hop, stems, names, page: Page, pages, barred, named, core) -> Iterator[Candidate]:
    topical = {name: about(page, name) for name in names}
    on_page = {name: 0.35 * mentioned(page.plain, name) for name in names}
    if names and not any(topical.values()) and not any(on_page.values()):
        return
    life = page.life if names and max(topical.values()) >= 0.7 else None
    for sentence in page.sentences:
        if core and not any(relatedness(stem(word), word_stem) for word in core for word_stem, _ in sentence.stems):
            continue
        strengths = [max(0.9 * topical[name], mentioned(sentence.plain, name), on_page[name]) for name in names]
        presence = 0.5 * max(strengths) + 0.5 * sum(strengths) / len(strengths) if names else 0.5
        if not presence:
            continue
        for span in (*sentence.spans, _title(page, sentence)):
            if named and span.label in ("noun", "date", "number"):
                continue
            if any(same(span.text, name) >= 0.7 for name in (*names, *barred)) or not plain(span.text):
                continue
            fit = _fit(hop, span, sentence, pages)
            if not fit:
                continue
            relation = _relation(hop, stems, span, sentence, page, pages, names, life)
            worth = fit * presence * (GROUND + (1 - GROUND) * relation) * (0.98**page.number)
            yield Candidate(_answer(hop, span, page), worth, relation, (sentence.text,), page)


def _title(page: Page, sentence: Sentence) -> Span:
    return Span(page.title, "title", sentence.tokens.start, sentence.tokens.start + 1, None)


# Relation


def _relation(hop, stems, span: Span, sentence: Sentence, page: Page, pages, names, life) -> float:
    """The share of the hop's words that stand near the span, by weight."""
    if life is not None and span.label == "date":  # the brackets behind a name: born – died
        for date, word in ((life.born, "born"), (life.died, "die")):
            is_asked = any(relatedness(word_asked, stem(word)) for word_asked, _ in stems)
            if is_asked and date is not None and date.text == span.text and sentence is page.sentences[0]:
                return 1.0
    called = bool(hop.head) and hop.head not in KIN and _head_fit(hop.head, span, sentence, pages) > 1
    if all(weight == HEAD for _, weight in stems):  # only the kind is asked: the page's first sentence tells it
        return 0.8 if called else 0.7 if life is not None and sentence is page.sentences[0] else 0.3
    kin = kin_of(hop)
    if kin:
        return _kinship(kin, span, sentence, page, names)
    head = stem(hop.head) if called else ""
    near = [(0.8 if wanted == head else _nearest(wanted, span, sentence, page), weight) for wanted, weight in stems]
    return sum(worth * weight for worth, weight in near) / sum(weight for _, weight in near)


def _nearest(wanted: str, span: Span, sentence: Sentence, page: Page) -> float:
    best = 0.0
    for word_stem, token in sentence.stems:
        alike = relatedness(wanted, word_stem)
        if alike:
            best = max(best, alike * (1 - min(0.75, NEAR * _distance(span, token))) * _role(span, token))
    if best < ELSEWHERE and any(relatedness(wanted, word_stem) for word_stem in page.families):
        best = ELSEWHERE
    return best


def _distance(span: Span, token) -> int:
    """Words between, or steps in the parse where these are fewer."""
    if span.label == "title":
        return 3  # the topic is never far
    if span.start <= token.i < span.end:
        return 0
    words = span.start - token.i - 1 if token.i < span.start else token.i - span.end
    return min(words, 2 * _steps(span.root, token))


def _steps(first, other) -> int:
    above = {token.i: step for step, token in enumerate((first, *first.ancestors))}
    for step, token in enumerate((other, *other.ancestors)):
        if token.i in above:
            return step + above[token.i]
    return 99


def _role(span: Span, token) -> float:
    """What hangs on the verb by a preposition ("founded by", "died in") is nearer to it than any distance says."""
    if span.root is None or token.pos_ != "VERB":
        return 1.0
    joint = span.root.head
    return 1.2 if joint.pos_ == "ADP" and joint.head == token else 1.0


def _kinship(kin: tuple[str, str], span: Span, sentence: Sentence, page: Page, names) -> float:
    """How surely the span is the kin of the name: by a word of kinship between them, read in its direction."""
    relation, gender = kin
    best = 0.0
    for token in sentence.tokens:
        word = token.lemma_.lower()
        if word in KIN:
            kin_word, kin_gender = KIN[word]
        elif word in ("marry", "widow", "widower", "bear"):
            kin_word, kin_gender = ("child", "") if word == "bear" else ("spouse", "")
        else:
            continue
        if word == "bear" and "to" not in [child.lower_ for child in token.children]:
            continue
        distance = _distance(span, token)
        if span.label != "title" and token.i < span.start:
            between = [t.lemma_.lower() for t in page.doc[token.i + 1 : span.start]]
            if any(t in KIN for t in between):  # another word of kinship is nearer
                distance += 4
        if kin_word == relation and not (gender and kin_gender and gender != kin_gender):
            # the span is called so: "her father, X", "X, father of"
            worth = 0.9 if relation == "spouse" or span.label != "title" else 0.7
            if relation == "parent" and span.label != "title" and token.i < span.start and _of(token, span):
                worth = 0.2  # "father of X": X is the child
        elif {kin_word, relation} == {"parent", "child"} and not (
            span.label == "title" and not _named(sentence, names)
        ):
            # the name is called so: "son of X"
            directed = _named(sentence, names) and not _of_whom(token) if span.label == "title" else _of(token, span)
            worth = 1.0 if directed and (span.label == "title" or _before(token, sentence, page, names)) else 0.2
        else:
            continue
        best = max(best, worth * (1 - min(0.75, NEAR * distance)))
    return best


def _of(token, span: Span) -> bool:
    """Does the span hang on the token by "of" or "to", itself or joined by "and"?"""
    root = span.root
    for _ in range(4):
        if root.dep_ == "pobj" and root.head.lower_ in ("of", "to", "by"):
            return root.head.head == token or root.head.head in token.children or abs(root.i - token.i) < 6
        root = root.head
    return False


def _of_whom(token) -> bool:
    """Do the parents follow the word? "The son of A" tells A's child, "their son A" tells the parents'."""
    return any(child.lower_ in ("of", "to") for child in token.children)


def _before(token, sentence: Sentence, page: Page, names) -> bool:
    """Does the name stand before the word, or is the page about it? In "son of A and B" B is nobody's child."""
    before = f" {' '.join(plain(page.doc[sentence.tokens.start : token.i].text))} "
    return any(mentioned(before, name) or about(page, name) for name in names)


def _named(sentence: Sentence, names) -> bool:
    """Is a name there, if only by its first word, as families are listed?"""
    firsts = {plain(name)[0] for name in names if plain(name)}
    return any(mentioned(sentence.plain, name) for name in names) or bool(firsts & set(sentence.plain.split()))


# Kind


def _fit(hop: Hop, span: Span, sentence: Sentence, pages: Pages) -> float:
    """How well a span is of the kind asked for."""
    fits, label = _FITS.get(hop.wants, _FITS["other"]), span.label
    if label == "title":
        label = sentence.page.label or label
    named = label not in ("noun", "date", "number") and hop.wants not in ("date", "number", "nationality")
    fit = fits.get(label, STRANGE if named else 0.0)
    if named and hop.wants != "other":
        kind = next((page.kind for page in pages.about(span.text) if page.kind), "")
        fit = 1.0 if kind == hop.wants else 0.3 if kind else fit
    if not fit:
        return 0.0
    if hop.wants == "number":
        return fit * _unit_fit(hop, span, sentence)
    if hop.wants == "date":
        return fit * (1.0 if any(char.isdigit() for char in span.text) else 0.2)
    if (hop.wants == "person" and hop.head in KIN) or _gendered(hop):
        fit *= _gender_fit(hop, span, sentence, pages)
    if hop.head and hop.head not in KIN:
        fit *= _head_fit(hop.head, span, sentence, pages)
    return fit


def _head_fit(head: str, span: Span, sentence: Sentence, pages: Pages) -> float:
    """Is the span called what the question calls it: in its name, beside its name, or where its page begins?"""
    wanted = stem(head)
    if any(relatedness(wanted, stem(word)) == 1 for word in plain(span.text)):
        return 0.6 if span.label == "noun" else 1.4
    if span.label != "title":
        doc = sentence.tokens.doc
        after = doc[span.end : span.end + 6]
        described = after and (after[0].is_punct or after[0].pos_ == "AUX")  # "Euphoria, a band", "Euphoria is a band"
        beside = [*doc[max(0, span.start - 1) : span.start], *(after if described else after[:1])]
        if any(token.is_alpha and stem(token.lemma_) == wanted for token in beside):
            return 1.3
    for page in pages.about(span.text):
        if page.sentences:
            first = page.sentences[0]
            return 1.35 if any(relatedness(wanted, word_stem) for word_stem, _ in first.stems) else 0.7
    return 0.85


def _gendered(hop: Hop) -> bool:
    kin = kin_of(hop)
    return kin is not None and bool(kin[1])


def _gender_fit(hop: Hop, span: Span, sentence: Sentence, pages: Pages) -> float:
    kin = kin_of(hop) or KIN.get(hop.head)
    if not kin or not kin[1]:
        return 1.0
    gender = _gender(span, sentence, pages)
    if not gender:  # "the son of A and B": he comes first
        return 0.95 if (kin[1] == "f") == (span.root is not None and span.root.dep_ == "conj") else 0.7
    return 1.0 if gender == kin[1] else 0.25


_TITLES = {gender: words(titles) for gender, titles in LISTS["hops"]["titles"].items()}


def _gender(span: Span, sentence: Sentence, pages: Pages) -> str:
    """m, f or "" as titles beside the name and the pronouns of its own page say."""
    for page in pages.about(span.text):
        words = page.plain.split()
        his, her = sum(w in ("he", "his", "him") for w in words), sum(w in ("she", "her", "hers") for w in words)
        if his != her:
            return "m" if his > her else "f"
    doc = sentence.tokens.doc
    near = {token.lower_ for token in doc[max(0, span.start - 1) : span.end]}
    for gender, titles in _TITLES.items():
        if near & titles:
            return gender
    return ""


_UNITS: dict[str, str] = LISTS["hops"]["measured"]
_MEASURES: dict[str, str] = LISTS["hops"]["units"]


def measures(adjective: str, lasts: bool = True) -> list[str]:
    """The units of an adjective, none for one that is not measured; what `lasts` is long in time too."""
    kind = _UNITS.get(adjective)
    return (_MEASURES[kind].split() if kind else []) + (
        _MEASURES["time"].split() if adjective == "long" and lasts else []
    )


def _unit_fit(hop: Hop, span: Span, sentence: Sentence) -> float:
    """Numbers are asked for by what they count: the unit named, a measure that fits the adjective, or the head noun."""
    doc = sentence.tokens.doc
    after = [token.lower_ for token in doc[span.end : span.end + 3] if token.text != "-"]
    units = measures(hop.head, lasts=not any(inner.wants == "place" for inner in hop.inner))
    if units:
        return 1.2 if after and after[0] in units else 0.3
    if hop.head:
        wanted = stem(hop.head)
        return 1.3 if any(stem(word) == wanted for word in after) else 0.6
    return 1.0


# Answer


def _answer(hop: Hop, span: Span, page: Page) -> str:
    """The span as a short answer: a name without its rank, a year where the year is asked for, a measure with its
    unit."""
    if span.label == "title":
        return page.title.split(" (")[0].split(", ")[0] if hop.wants == "place" else page.title.split(" (")[0]
    text = " ".join(span.text.split())
    if hop.wants == "person":
        rank, *name = text.split()
        return " ".join(name) if rank in RANKS and len(name) > 1 and name[0] not in ("of", "and") else text
    if hop.wants == "date" and hop.head in ("year", "decade"):
        years = [word for word in text.replace(",", " ").split() if len(word) == 4 and word.isdigit()]
        return years[0] if years else text
    if hop.wants == "number" and hop.head in _UNITS:  # "how far in miles" has the unit already
        unit = page.doc[span.end].text if span.end < len(page.doc) else ""
        redundant = stem(unit) in map(stem, hop.words) or unit.lower() not in " ".join(_MEASURES.values()).split()
        return text if redundant else f"{text} {unit}"
    return text
