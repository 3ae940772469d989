"""Pages as the rules of answering read them: the names on a page, and which of them are the same."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from workbench.language.names import capitalised
from workbench.language.pipeline import parse
from workbench.language.quantities import Life, dates, life, numbers
from workbench.language.relations import kind_of, spoken, stem, words
from workbench.text import normalized

SURE = 0.7  # from which on a name is taken for another
_SMALL = words("the a an of at in on and for to de la du von van der")


@dataclass
class Span:
    """A possible answer. `label` is spaCy's where it has one; "title", "date", "number" or "noun" otherwise."""

    text: str
    label: str
    start: int  # tokens of the page
    end: int
    root: object = field(repr=False, default=None)


@dataclass
class Sentence:
    page: Page = field(repr=False)
    tokens: object = field(repr=False)  # spaCy Span
    spans: list[Span]
    stems: list[tuple[str, object]] = field(repr=False)  # (stem, token)
    plain: str = field(repr=False)  # plain words with a space on either side

    @cached_property
    def text(self) -> str:
        return " ".join(self.tokens.text.split())


@dataclass
class Page:
    number: int
    title: str
    doc: object = field(repr=False)
    sentences: list[Sentence] = field(default_factory=list, repr=False)
    plain: str = field(default="", repr=False)

    label: str = ""  # the title's own, where the first sentences of some page name it

    @cached_property
    def kind(self) -> str:
        """The kind of thing that the page is about, from its first sentence and its pronouns; "" if these do not
        tell."""
        return _kind(self)

    @cached_property
    def life(self) -> Life:
        return life(self.doc.text)

    @cached_property
    def families(self) -> frozenset[str]:
        """The stems of all words."""
        return frozenset(word_stem for sentence in self.sentences for word_stem, _ in sentence.stems)


class Pages(tuple[Page, ...]):
    """Pages in their order, which can be looked up by a name that they are about."""

    def __init__(self, _):
        self._pages_about: dict[str, list[Page]] = {}
        self._ends: dict[tuple[int, str], list[Page]] = {}  # by the first and the last word of a title, or of its town
        for page in self:
            for name_words in {plain(page.title), plain(page.title.split(", ")[0])} - {()}:
                for at in (0, -1):
                    self._ends.setdefault((at, name_words[at]), []).append(page)

    def about(self, name: str) -> list[Page]:
        """Those that are surely about a name; one name begins or ends the other, or it is another's."""
        if name not in self._pages_about:
            name_words = plain(name)
            ends = [self._ends.get((at, name_words[at]), ()) for at in (0, -1)] if name_words else []
            near = {page.number: page for pages_of_end in ends for page in pages_of_end}
            self._pages_about[name] = [near[at] for at in sorted(near) if about(near[at], name) >= SURE]
        return self._pages_about[name]


def pages(passages: Iterable[tuple[str, str]]) -> Pages:
    """The passages, parsed; a passage without a title is about the first name that stands in it."""
    return _pages(tuple((title, text) for title, text in passages))


@lru_cache(4)  # several Steps ask about the same passages one after the other
def _pages(passages: tuple[tuple[str, str], ...]) -> Pages:
    docs = parse([text for _, text in passages])
    pages = [_page(number, title, doc) for number, ((title, _), doc) in enumerate(zip(passages, docs))]
    _settle_labels(pages)
    return Pages(pages)


def _page(number: int, title: str, doc) -> Page:
    """What depends on the text alone is cached with its parse; labels are the page's own, because they are settled."""
    titles = doc.user_data.setdefault("titles", {})
    if title not in titles:
        titles[title] = title or _topic(doc), f" {' '.join(plain(f'{title} {doc.text}'))} "
    if "sentences" not in doc.user_data:
        doc.user_data["sentences"] = list(_sentences(doc))
    page = Page(number, titles[title][0], doc, plain=titles[title][1])
    for tokens, spans, stems, plain_words in doc.user_data["sentences"]:
        own = [Span(span.text, span.label, span.start, span.end, span.root) for span in spans]
        page.sentences.append(Sentence(page, tokens, own, stems, plain_words))
    return page


def _sentences(doc) -> Iterator[tuple]:
    """(tokens, spans, stems, plain words) of each."""
    spans = _spans(doc)
    for tokens in doc.sents:
        inside = [span for span in spans if tokens.start <= span.start and span.end <= tokens.end]
        stems = [
            (stem(word), token)
            for token in tokens
            if token.is_alpha and (not token.is_stop or token.pos_ in ("NOUN", "VERB", "NUM"))
            for word in dict.fromkeys((spoken(token), token.lemma_, token.lower_))
        ]
        yield tokens, inside, stems, f" {' '.join(plain(tokens.text))} "


def _settle_labels(pages: list[Page]) -> None:
    """Give each name one label: its most frequent one, because the label of a single mention is often wrong."""
    votes: dict[tuple[str, ...], Counter] = {}
    spans = [span for page in pages for sentence in page.sentences for span in sentence.spans
             if span.label not in ("noun", "date", "number")]  # fmt: skip
    for span in spans:
        votes.setdefault(plain(span.text), Counter())[span.label] += 1 if span.label else 0.5
    for span in spans:
        span.label = votes[plain(span.text)].most_common(1)[0][0]
    early = [span for page in pages for sentence in page.sentences[:2] for span in sentence.spans
             if span.label not in ("noun", "date", "number", "")]  # fmt: skip
    for page in pages:
        page.label = next((span.label for span in early if same(span.text, page.title) == 1.0), "")


def _kind(page: Page) -> str:
    page_words = page.plain.split()
    if page.life.born or sum(word in ("he", "she", "his", "her") for word in page_words) > max(2, len(page_words) / 40):
        return "person"
    for sentence in page.sentences[:1]:
        for token in sentence.tokens:
            if token.pos_ == "NOUN" and token.dep_ in ("attr", "appos", "conj", "ROOT", "nsubj", "pobj"):
                kind = kind_of(token.lemma_)
                if token.dep_ in ("attr", "appos", "ROOT") and kind != "other":
                    return kind
    return ""


def _topic(doc) -> str:
    return next(
        (doc.text[start:end] for start, end in capitalised(doc.text[:200]) if len(plain(doc.text[start:end]))), ""
    )


def _spans(doc) -> list[Span]:
    """Dates, numbers, named entities, capitalised names and noun phrases, the longest where names overlap."""
    text = doc.text
    spans: list[Span] = []
    for label, quantities in (("date", dates(text)), ("number", numbers(text))):
        for quantity in quantities:
            spans += _span(doc, text, quantity.start, quantity.end, label)
    names = [(ent.start_char, ent.end_char, ent.label_) for ent in doc.ents
             if ent.label_ not in ("DATE", "TIME", "CARDINAL", "QUANTITY", "ORDINAL", "PERCENT", "MONEY")]  # fmt: skip
    for match in re.finditer(r"\"([^\"]{2,80})\"|“([^”]{2,80})”", text):
        group = 1 if match[1] else 2
        names.append((*match.span(group), "WORK_OF_ART"))
    for sentence in doc.sents:
        shift = sentence.start_char
        for start, end in capitalised(sentence.text, sentence_start=False):
            if start or " " in sentence.text[start:end] or sentence[0].pos_ == "PROPN":  # not just the sentence's first
                names.append((start + shift, end + shift, ""))
    taken = [(date.start, date.end) for date in dates(text)]
    for start, end, label in sorted(names, key=lambda name: (name[0] - name[1], name[0], not name[2])):
        trimmed = re.match(r"(?:the|a|an)\s+", text[start:end], re.IGNORECASE)
        start += trimmed.end() if trimmed else 0
        end = start + len(re.sub(r"(?:['’]s?|[\s,;:])+$", "", text[start:end]))
        if start < end and all(end <= other or start >= last for other, last in taken) and plain(text[start:end]):
            taken.append((start, end))
            label = label or next((lab for s, e, lab in names if lab and start <= s and e <= end and e == end), "")
            spans += _span(doc, text, start, end, label)
    for chunk in doc.noun_chunks:
        begin = next((t.i for t in chunk if t.pos_ not in ("DET", "PRON", "PUNCT", "PART") and t.dep_ != "poss"), None)
        if begin is not None and chunk.root.pos_ == "NOUN":
            phrase = doc[begin : chunk.end]
            spans.append(Span(phrase.text, "noun", begin, chunk.end, chunk.root))
    return sorted(spans, key=lambda span: (span.start, -span.end))


def _span(doc, text: str, start: int, end: int, label: str) -> list[Span]:
    span = doc.char_span(start, end, alignment_mode="expand")
    return [] if span is None else [Span(text[start:end], label, span.start, span.end, span.root)]


@lru_cache(4096)
def plain(name: str) -> tuple[str, ...]:
    """The words of a name in the form in which it is recognised: without case, accents, brackets, article, marks or
    plural.

    >>> plain("The Châteaux d'Oex (Films)"), plain("Big Eyes")
    (('chateaux', 'd', 'oex'), ('big', 'eye'))
    """
    without = re.sub(r"\s*\([^)]*\)", "", name) if not name.startswith("(") else name
    folded = normalized("NFKD", without.casefold())
    folded = "".join(char for char in folded if not unicodedata.combining(char))
    words = re.findall(r"\w+", re.sub(r"['’]s\b", "", folded))
    words = [word[:-1] if len(word) > 3 and word[-1] == "s" != word[-2] else word for word in words]
    return tuple(words[1:] if len(words) > 1 and words[0] in ("the", "a", "an") else words)


@lru_cache(65536)
def same(name: str, other: str) -> float:
    """1 for one name, 0.7 where one ends the other, as a surname does, or is the other without "of
    …" behind it; else 0.

    >>> same("Karl Weiss", "Weiss"), same("University of Oslo", "Oslo")
    (0.7, 0.0)
    """
    short, long = sorted((plain(name), plain(other)), key=len)
    if short == long:
        return 1.0 if short else 0.0
    if not short or len("".join(short)) < 4 or 3 * len(short) < len(long):
        return 0.0
    if long[: len(short)] == short:
        return 0.7 if len(short) > 1 and long[len(short)] in _SMALL else 0.0
    rest = long[: -len(short)] if long[-len(short) :] == short else ()
    return 0.7 if rest and not set(rest) & _SMALL and not any(word.isdigit() for word in rest) else 0.0


def about(page: Page, name: str) -> float:
    """How surely a page is about a name. "Avon, Ohio" is about Avon."""
    town, *land = page.title.split(", ")
    if not land:
        return same(page.title, name)
    return 1.0 if plain(page.title) == plain(name) else 0.9 if plain(town) == plain(name) else 0.0


def mentioned(text: str, name: str) -> float:
    """How certainly a name occurs among plain words: 1 in full, 0.7 by its last word if it has several."""
    full = plain(name)
    if not full:
        return 0.0
    if f" {' '.join(full)} " in text:
        return 1.0
    last = full[-1]
    return 0.7 if 1 < len(full) < 4 and len(last) > 3 and not set(full) & _SMALL and f" {last} " in text else 0.0
