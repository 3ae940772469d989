"""A question around one of its names: its words by their distance from it, and the type that it asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from workbench.language.pipeline import parse
from workbench.language.relations import kind_of, words
from workbench.text import storable

_LONGEST = 2_000  # characters of a question that are read
_MASK, _OTHER = "Alpha", "Omega"  # a parser stumbles over long titles and not over these
_KINDS = {"who": "person", "whom": "person", "whose": "person", "when": "date", "where": "place"}
ASKING = words("what which") | _KINDS.keys()
_SHARED = words("same share also together co common mutual both another other alongside")
_TELLING = words("name list tell find show give")
_LIGHT = words("make take get go put come become use see") | _TELLING
EMPTY = words("be have do")
_CLOSER = words("compound amod advmod prt prep acomp agent")  # dependents that belong to a word's phrase
_REACH = 3  # words that they may stand away
_TIMES = words("early late recent")
_RELATIVE = ASKING | {"that"}


@dataclass(frozen=True)
class Word:
    """A word at its place; `asked` if it names what is asked for, `light` if it means something only where a relation
    is called so. `particle` is the preposition behind it, or, if it `governs` the question word, the one before that
    ("to which port was Alpha headed"). `part`: where in `text` it stands, a light one with its particles and what tells
    it closer, "come from"."""

    at: int
    lemma: str
    light: bool
    asked: bool
    particle: str = ""
    text: str = ""
    part: tuple[int, int] = (0, 0)
    governs: bool = False

    @property
    def telling(self) -> bool:
        """Does it say something beyond what is called so? A light word does with what belongs to it: "come from"."""
        start, end = self.part
        return start < end and (not self.light or " " in self.text[start:end])


@dataclass(frozen=True)
class Reading:
    """`orders` are the ways to go through the words from the name outwards, the asked one at the end.

    `wants` is the kind of thing that the question word asks for ("" if that is open). `shared`: things are said to
    share something; `pivot` is the place of the noun for it (-1 if none stands there). `joined`: somebody does
    something with another. `roles`: places of words beside the name, and whether the name is what they speak of as
    acting ("directed by Ada", "the director Ada") or as acted upon ("the director of Dune Fever"). `beyond` says what
    the question wants that no walk from a name expresses ("" if nothing)."""

    orders: tuple[tuple[Word, ...], ...]
    wants: str
    shared: bool
    joined: bool
    pivot: int
    roles: tuple[tuple[int, bool], ...]
    beyond: str = ""


@lru_cache(256)
def read(question: str, name: str, others: tuple[str, ...] = ()) -> Reading:
    """The reading of a question around a name; a name that does not occur stands at the question's end. What stands
    nearer to one of the `others`, names as well, is said of that one, except what is asked for."""
    text = " ".join(storable(question)[:_LONGEST].split())
    for other in others:
        text, _ = _masked(text, storable(other), _OTHER)
    masked, start = _masked(text, storable(name))
    (doc,) = parse([masked])
    anchor = next((token for token in doc if token.idx == start), None)
    apart = [token for token in doc if others and token.text == _OTHER]
    asked_token, wants = _asked_token(doc, anchor)
    closing = _closing(doc, anchor)
    words = [
        _word(token, asked_token, anchor, closing)
        for token in doc
        if token.is_alpha and token != anchor and token not in apart and _telling(token, anchor)
    ]
    words = _of_own(words, anchor, apart)
    shared = [token for token in doc if token.lower_ in _SHARED or token.lemma_.lower() in _SHARED]
    joined = any(token.lower_ == "with" and token.i and token.nbor(-1).pos_ == "VERB" for token in doc)
    if anchor is None:
        orders, roles = [tuple(sorted(words, key=lambda word: (word.asked, -word.at)))], ()
    else:
        orders, roles = _orders(doc, anchor, words, closing), _roles(doc, anchor)
    return Reading(tuple(orders), wants, bool(shared), joined, _pivot(shared, asked_token), tuple(dict.fromkeys(roles)),
                   _beyond(doc, anchor, asked_token))  # fmt: skip


def _beyond(doc, anchor, asked_token: int) -> str:
    """Counts, comparisons and exclusions, by the words of English that stand for them. A superlative of time compares
    only if it is said of what is asked for: "the latest film" does, "the earliest ascents of mountains" are on the way.

    >>> read("How many films did Ada Lind direct?", "Ada Lind").beyond
    'it counts ("How many")'
    """
    text = doc.text
    for pattern, says in _BEYOND:
        if match := pattern.search(text):
            return f'{says} ("{match[0]}")'
    degrees = (
        token
        for token in doc
        if token.tag_ in _DEGREES
        and token.pos_ in ("ADJ", "ADV")
        and token != anchor
        and not _dates(token, asked_token)
    )
    return next((f'it compares ("{token.text}")' for token in degrees if not token.text[0].isupper()), "")


def _dates(token, asked_token: int) -> bool:
    """Does a superlative say when something else than what is asked for was?"""
    adjective = token.head if token.lower_ in ("most", "least") else token
    noun = adjective.head
    is_time = adjective.lemma_.lower() in _TIMES and adjective.dep_ == "amod"
    return is_time and noun.pos_ == "NOUN" and noun.i != asked_token


_DEGREES = ("JJR", "JJS", "RBR", "RBS")
_BEYOND = (
    (re.compile(r"(?i)\bhow (?:many|much|often)\b|\b(?:the|a) (?:total )?number of\b"), "it counts"),
    (re.compile(r"(?i)\b(?:other than|except(?: for)?|apart from|aside from|but not|besides)\b|\bnot\b|n[’']t\b"),
     "it leaves something out"),
    (re.compile(r"(?i)\b(?:than|compared (?:to|with)|the same (?:number|amount) of)\b"), "it compares"),
)  # fmt: skip


def _of_own(words: list[Word], anchor, apart) -> list[Word]:
    """The words that no other name stands nearer to, by steps in the parse, then by place."""
    if anchor is None or not apart:
        return words
    steps = {token: _steps(token) for token in (anchor, *apart)}

    def distance(word: Word, name) -> tuple[int, int]:
        return steps[name].get(word.at, len(anchor.doc)), abs(word.at - name.i)

    return [word for word in words if word.asked or min(steps, key=lambda name: distance(word, name)) == anchor]


def _masked(question: str, name: str, mask: str = _MASK) -> tuple[str, int]:
    """The question with the name replaced, and where; -1 if it does not occur."""
    exactly = rf"(?<!\w){re.escape(name)}(?!\w)"
    match = name.strip() and (re.search(exactly, question) or re.search(exactly, question, re.IGNORECASE))
    if not match:
        return question, -1
    return f"{question[: match.start()]}{mask}{question[match.end() :]}", match.start()


def _pivot(shared, asked_token: int) -> int:
    """The noun behind "same" or "share"."""
    after = (later for token in shared if token.lemma_.lower() in ("same", "share", "common")
             for later in token.doc[token.i + 1 : token.i + 4])  # fmt: skip
    return next((token.i for token in after if token.pos_ == "NOUN" and token.i != asked_token), -1)


def _telling(token, anchor) -> bool:
    if token.lemma_.lower() in EMPTY or token.lower_ in ASKING:
        return False
    return not token.is_stop or token.pos_ == "VERB" or token.lower_ == "about" or _authors(token, anchor)


def _authors(token, anchor) -> bool:
    """ "a film by Ada" is one that Ada made."""
    return token.lower_ == "by" and anchor is not None and token.i == anchor.i - 1 and token.nbor(-1).pos_ == "NOUN"


def _word(token, asked_token: int, anchor, closing: int) -> Word:
    if token.lower_ == "by":
        return Word(token.i, "make", True, False)
    lemma = token.lower_ if token.lower_ == "found" else token.lemma_.lower()  # what is asked is rarely who found
    light = token.pos_ == "VERB" and (lemma in _LIGHT or token.is_stop)
    particle = token.nbor().lower_ if token.i + 1 < len(token.doc) and token.nbor().pos_ == "ADP" else ""
    governed = _before_question(token.doc) if token.i == closing else ""
    own = _phrase(token, anchor) if light else token.doc[token.i : token.i + 1]
    part = own.start_char, own.end_char
    return Word(
        token.i, lemma, light, token.i == asked_token, governed or particle, token.doc.text, part, bool(governed)
    )


def _phrase(token, anchor):
    near = [
        child.i
        for child in token.children
        if child.dep_ in _CLOSER and abs(child.i - token.i) <= _REACH and child.lower_ not in ASKING
    ]
    part = token.doc[min([token.i, *near]) : max([token.i, *near]) + 1]
    return token.doc[token.i : token.i + 1] if anchor in part else part


# What is asked for


def _asked_token(doc, anchor) -> tuple[int, str]:
    """The place of the noun that is asked for (-1 if none) and the kind that the question word tells."""
    wh = next((token for token in doc if token.lower_ in ASKING and not _relative(token)), None)
    if wh is None and doc and doc[0].lower_ in _TELLING:
        wh = doc[0]
    if wh is None:
        return -1, ""
    noun = _noun_after(wh, anchor)
    wants = _KINDS.get(wh.lower_, "")
    if noun is not None and not wants and kind_of(noun.lemma_) in ("person", "date"):
        wants = kind_of(noun.lemma_)
    return (noun.i if noun is not None else -1), wants


def _noun_after(wh, anchor):
    """The last noun of the first run of nouns that belongs to a question word: "what film genre", "who are the actors",
    "who is listed as director"."""
    nouns: list = []
    linked = wh.lower_ in ("what", "which") or wh.lower_ in _TELLING
    for token in wh.doc[wh.i + 1 :]:
        noun = token.pos_ in ("NOUN", "PROPN") and token != anchor
        listed = token.pos_ == "VERB" and token.i + 1 < len(token.doc) and token.nbor().text == "as"
        if noun and linked:
            nouns.append(token)
        elif nouns or noun or token == anchor:
            break
        elif token.lemma_ == "be":
            linked = linked or wh.lower_ in ("who", "whom")
        elif not (token.pos_ in ("ADJ", "ADV", "DET") or token.text == "as" or listed):
            break
    return nouns[-1] if nouns else None


def _relative(token) -> bool:
    """Does a question word open a clause about the noun before it?"""
    clauses = (token.head, token.head.head)
    return token.i > 0 and token.nbor(-1).pos_ in ("NOUN", "PROPN") and any(c.dep_ in ("relcl", "acl") for c in clauses)


def _closing(doc, anchor) -> int:
    """The place of the main verb, or of the noun of the predicate, that closes a question in which the subject stands
    behind "be" or "do": "Where was the head of Alpha born?", "Which port is she who led Alpha a native of?" It
    belongs to the question word, however near to the name it stands. -1 if there is none."""
    auxiliary = _inverting(doc, anchor)
    if auxiliary is None:
        return -1
    between = doc[auxiliary.i + 1 : anchor.i]
    if any(token.lower_ in _RELATIVE and token.nbor(-1).pos_ in ("VERB", "ADP") for token in between[1:]):
        return -1  # the verb is said already: "were the films made that Alpha directed", "made in which Alpha plays"
    later = [token for token in doc[anchor.i + 1 :] if _telling(token, anchor) and token.pos_ in ("VERB", "NOUN")]
    subject = [token for token in between if token.pos_ != "DET" or token.lower_ in _RELATIVE]
    if subject and (subject[-1].lower_ in _RELATIVE or subject[-1].pos_ == "NOUN"):
        later = later[1:]  # the verb of "that Alpha joined"
    if not later:
        return -1
    verbs = [token for token in later if token.pos_ == "VERB"]
    participles = (
        ("VBN", "VBG") if subject else ("VBN", "VBG", "VBD")
    )  # a parser takes "was Alpha led" for a past tense
    if verbs and not _auxiliary_before(verbs[-1]) and (auxiliary.lemma_ == "do" or verbs[-1].tag_ in participles):
        return verbs[-1].i
    last = later[-1]
    stranded = last.pos_ == "NOUN" and last.i > anchor.i + 1 and last.i + 1 < len(doc) and last.nbor().pos_ == "ADP"
    return last.i if stranded else -1


def _auxiliary_before(verb) -> bool:
    """Has a verb an auxiliary of its own, so that the one before the subject is another's: "where Alpha was shown"?"""
    before = next((token for token in reversed(verb.doc[: verb.i]) if token.pos_ != "ADV"), None)
    return before is not None and before.pos_ == "AUX"


def _inverting(doc, anchor):
    """The auxiliary between the question word with its noun and a subject that holds the name."""
    wh = next((token for token in doc if token.lower_ in ASKING and not _relative(token)), None)
    if wh is None or anchor is None:
        return None
    for token in doc[wh.i + 1 : anchor.i]:
        if token.lemma_ in ("be", "do"):
            return token if token.nbor().pos_ in ("DET", "NOUN", "PROPN", "PRON", "ADJ") else None
        if token.pos_ not in ("NOUN", "PROPN", "ADJ", "ADP", "DET"):
            return None
    return None


def _before_question(doc) -> str:
    """The preposition before the question word: "to which"."""
    wh = next((token for token in doc if token.lower_ in ASKING and not _relative(token)), None)
    before = wh.nbor(-1) if wh is not None and wh.i else None
    return before.lower_ if before is not None and before.tag_ in ("IN", "TO") else ""


# Around the name


def _orders(doc, anchor, words: Sequence[Word], closing: int) -> Iterator[tuple[Word, ...]]:
    """By steps in the parse; and by place, first outwards on the side where nothing is asked, then on the other. What
    closes an inverted question comes last of all but what is asked for."""
    steps = _steps(anchor)
    wh = next((token.i for token in doc if token.lower_ in ASKING), len(doc))

    def closes(word: Word) -> bool:
        return 0 <= closing <= word.at

    def by_parse(word: Word):
        return word.asked, closes(word), steps.get(word.at, len(doc)), abs(word.at - anchor.i)

    def by_place(word: Word):
        called = word.at == anchor.i - 1 and doc[word.at].pos_ == "NOUN"  # the film Dune Fever
        return word.asked, closes(word), not called, (word.at > anchor.i) == (wh > anchor.i), abs(word.at - anchor.i)

    yield tuple(sorted(words, key=by_parse))
    yield tuple(sorted(words, key=by_place))


def _steps(anchor) -> dict[int, int]:
    """Steps in the parse from a token to every other of its sentence."""
    distances, last = {anchor.i: 0}, [anchor]
    while last:
        reached = [(other, distances[token.i] + 1) for token in last for other in (*token.children, token.head)]
        last = [other for other, _ in reached if other.i not in distances]
        distances = {other.i: step for other, step in reversed(reached)} | distances
    return distances


def _roles(doc, anchor) -> Iterator[tuple[int, bool]]:
    after = doc[anchor.i + 1 :]
    if after and after[0].lower_ in ("'s", "’s", "'"):
        after = after[1:]
    if after and after[0].pos_ == "NOUN":  # Dune Fever actors
        yield after[0].i, False
        return
    if after and after[0].pos_ == "VERB":  # Ada directed films
        yield after[0].i, True
    before = doc[: anchor.i]
    if before and before[-1].pos_ == "NOUN":  # the director Ada
        yield before[-1].i, True
    rest = [token for token in before if not (token.pos_ in ("DET", "ADJ", "NOUN") and _only_nouns(token, anchor))]
    if rest and rest[-1].pos_ == "VERB":  # who founded Kestrel FM
        yield rest[-1].i, False
    elif rest and rest[-1].lower_ == "by":
        yield from [(token.i, True) for token in reversed(rest) if token.pos_ == "VERB"][:1]
    elif len(rest) > 1 and rest[-1].pos_ == "ADP" and rest[-2].pos_ == "NOUN":
        yield rest[-2].i, [token.lower_ for token in rest[-4:-2]] == ["co", "-"]  # its co-director is a director too


def _only_nouns(token, anchor) -> bool:
    """Does nothing but one noun phrase stand between a token and the name: "the film Dune Fever"?"""
    return all(between.pos_ in ("DET", "ADJ", "NOUN") for between in token.doc[token.i : anchor.i])
