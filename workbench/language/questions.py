"""Analysis of a question from its text: its kind, the kind of its answer, its names, and how its parts nest.

    Where was the director of "Dune Fever" born?
    asked: [born] wants a place  <-  [director] wants a person  <-  "Dune Fever"

The names are found first and stand in the parsed sentence as one invented name, because a parser stumbles over long
titles and not over "Where was the director of Alpha born?". A description (a noun with an article or an owner, with a
name below it) becomes a hop of its own; all else belongs to the hop whose clause it stands in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from workbench.language.names import AUXILIARY, WH, names_in
from workbench.language.pipeline import content_words, parse
from workbench.language.relations import COMPOSED, KIN, LISTS, kind_of, spoken, words
from workbench.text import storable

_LONGEST = 2_000  # characters of a question that are analysed
_DEEPEST = 6  # hops inside one another
_MASK = "Alpha"
_LIGHT = words(LISTS["questions"]["light"])  # verbs of little meaning
_TRANSPARENT = ("name", "title", "kind", "type", "term", "sort", "one", "part")  # "the name of the river": a river


@dataclass(frozen=True)
class Hop:
    """One thing to be found: it is a `wants` (a `head`, if a noun says so) that stands in the relation `words` to the
    `names` and to what the `inner` hops find."""

    words: tuple[str, ...] = ()
    wants: str = "other"
    head: str = ""
    names: tuple[str, ...] = ()
    inner: tuple[Hop, ...] = ()

    @property
    def depth(self) -> int:
        return 1 + max((hop.depth for hop in self.inner), default=0)

    def nested(self) -> Iterator[Hop]:
        """The hop and all that stand within it, from the outside in."""
        yield self
        for inner in self.inner:
            yield from inner.nested()


@dataclass(frozen=True)
class Analysis:
    """`kind` serves routing: single, bridge, comparison, inference (kin of kin), or none for an empty question.

    `wants` is the kind of answer: person, place, organisation, date, number, work, nationality, other, choice (of one
    of the `candidates`) or yes-no. A candidate that is described and not named stands in
    `sides` as a hop to be resolved. `direction` of a comparison is less, more, same or difference; its `dimension` is
    birth, death, life, start, age, an adjective of measure, number, or the noun that is to be shared."""

    kind: str
    wants: str
    head: str = ""
    names: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    sides: tuple[Hop, ...] = ()
    direction: str = ""
    dimension: str = ""
    asked: Hop = Hop()


def analyse(question: str, names_known: Iterable[str] = ()) -> Analysis:
    """The analysis of a question. `names_known` (titles of passages) are found in it in any case.

    >>> found = analyse("Where was the director of Dune Fever born?")
    >>> found.kind, found.wants, found.asked.words, found.asked.inner[0].names
    ('bridge', 'place', ('bear',), ('Dune Fever',))
    """
    question = " ".join(question[:_LONGEST].split())
    question = question.lower() if question.isupper() else question
    if not content_words(question):
        return Analysis("none", "other")
    spans = list(names_in(question, names_known))
    names = tuple(question[start:end].strip('"“”') for start, end in spans)
    masked, places = _masked(question, spans)
    (doc,) = parse([masked])
    tokens = {token.i: names[places[token.idx]] for token in doc if token.idx in places}
    asked_hop = _asked_hop(doc, tokens)
    described = _described(masked, names)
    wants, direction, dimension, candidates = _comparison(masked, described or _candidates(masked, names), asked_hop)
    candidates, sides = tuple(text for text, _ in candidates), tuple(side for _, side in candidates)
    if candidates and direction:
        kind = "comparison"
    elif any(word in COMPOSED for word in (token.lemma_.lower() for token in doc)) or "inlaw" in masked:
        kind = "inference"
    else:
        kind = "bridge" if asked_hop.depth > 1 else "single"
    return Analysis(
        kind, wants or asked_hop.wants, asked_hop.head, names, candidates, sides, direction, dimension, asked_hop
    )


@lru_cache(256)
def analysis_of(question: str) -> Analysis:
    """The analysis of a question, cached: a walk asks for it at every step."""
    return analyse(storable(question))


def start_names(question: str) -> tuple[str, ...]:
    """Where a walk over a graph starts: the names of a question, or all of it where it has none.

    >>> start_names("Where was the founder of Kestrel FM born?"), start_names("where is it?")
    (('Kestrel FM',), ('where is it?',))
    """
    return analysis_of(question).names or (question,)


# Names in the parsed sentence


def _masked(question: str, spans: Sequence[tuple[int, int]]) -> tuple[str, dict[int, int]]:
    """The question with each name replaced, and where the replacements start: character -> number of the name."""
    text, places, done = "", {}, 0
    for number, (start, end) in enumerate(spans):
        before = _plain(question[done:start])
        # A full name needs no article, which the parser would give to the word that follows.
        text += re.sub(r"\bthe $", "", before) if " " in question[start:end] else before
        places[len(text)] = number
        text += _MASK
        done = end
    text += _plain(question[done:])
    return _with_that(text, places)


def _with_that(text: str, places: dict[int, int]) -> tuple[str, dict[int, int]]:
    """Relative clauses opened by "that", for the parser: "the firm Alpha is part of" -> "the firm that Alpha is …"."""
    for match in reversed(list(_BARE_CLAUSE.finditer(text))):
        at = match.end(1)
        text = f"{text[:at]} that{text[at:]}"
        places = {place + 5 * (place > at): number for place, number in places.items()}
    return text, places


_BARE_CLAUSE = re.compile(
    rf"\b([Tt]he (?:\w+ )?\w+) {_MASK} (?:is|was|are|were)(?: \w+){{0,3}}? (?:from|of|in|on|for|at|by|after|to|with)"
    r"(?=\W*$| (?!the\b|an?\b|what\b|which\b|whom\b|this\b|that\b)[a-z])"
)


def _plain(text: str) -> str:
    text = re.sub(r"-in-law\b", "inlaw", re.sub(r"[\"“”]", "", text))
    return re.sub(r"\bbirth place\b", "birthplace", text)


# Hops


def _asked_hop(doc, names: dict[int, str]) -> Hop:
    """The hop whose answer is the question's, with the others inside it."""
    wh = _question_word(doc)
    start, heads = _asked_noun(wh) if wh is not None else (doc[:].root, ())
    heads = tuple(head for head in heads if head.i not in names)
    seen: set[int] = set()
    hop = _grow(start, names, seen, frozenset(token.i for token in heads), 0)
    late = _late_verb(doc)
    if late is not None:
        hop = _moved(hop, late.lemma_.lower())
    noun = heads[-1] if heads else None
    wants, head = _wants(wh, noun)
    rest = [token for token in doc if token.i not in seen]  # another sentence, which describes
    extra = _collect(rest, names)
    if extra.names:
        hop = replace(hop, inner=(*hop.inner, extra))
    if not hop.words and not hop.names and len(hop.inner) == 1:  # "where was the place of death of …"
        hop = _unfolded(hop.inner[0], wants)
        wants = wants if wants != "other" else hop.wants
        head = head or (hop.head if kind_of(hop.head) == wants else "")
    return _kin(replace(hop, wants=wants, head=head))


def _unfolded(hop: Hop, wants: str) -> Hop:
    """A description that the parser made of a whole question ("the painter of Alpha study") taken apart: its noun is
    of another kind than what is asked for, so that it describes, and the rest asks."""
    if wants in ("other", kind_of(hop.head)) or kind_of(hop.head) == "other" or len(hop.words) < 2:
        return hop
    inner = Hop((hop.head,), hop.wants, hop.head, hop.names[:1], hop.inner)
    return Hop(tuple(word for word in hop.words if word != hop.head), wants, "", hop.names[1:], (_kin(inner),))


def _late_verb(doc):
    """The participle that closes a question with "was", taken by the parser for a part of the subject: "In what town
    was the founder of Alpha born?"."""
    words = [token for token in doc if not token.is_punct]
    last = words[-1] if words else doc[0]
    if last.tag_ in ("VBN", "VBD") and last.dep_ == "acl" and last.head.head.lemma_ == "be" and not list(last.children):
        return last
    return None


def _moved(hop: Hop, word: str) -> Hop:
    """The hop with a word taken from its inner hops to itself."""

    def without(inner: Hop) -> Hop:
        return replace(inner, words=tuple(w for w in inner.words if w != word), inner=tuple(map(without, inner.inner)))

    return replace(hop, words=tuple(dict.fromkeys((*hop.words, word))), inner=tuple(map(without, hop.inner)))


def _question_word(doc):
    """The question word of a sentence, not one that opens a relative clause."""
    candidates_found = []
    for token in doc:
        if token.lower_ not in WH:
            continue
        clause = token.head if token.dep_ != "det" else token.head.head
        relative = (
            token.i > 0
            and token.dep_ != "det"
            and any(step.dep_ in ("relcl", "acl", "advcl", "ccomp") for step in (clause, clause.head))
            and doc[token.i - 1].pos_ in ("NOUN", "PROPN", "PRON", "ADP", "PUNCT")
        )
        last = all(later.is_punct for later in doc[token.i + 1 :])
        worth = 3 * (token.i == 0 or doc[token.i - 1].text == "," or last) + 2 * (token.dep_ == "det") - 4 * relative
        candidates_found.append((-worth, token.i, token))
    return min(candidates_found)[2] if candidates_found else None


def _asked_noun(wh) -> tuple:
    """(where the asked hop starts, the nouns that name what is asked)."""
    noun = None
    if wh.lower_ in ("what", "which", "whose") and wh.dep_ in ("det", "poss") and wh.head.pos_ in ("NOUN", "PROPN"):
        noun = wh.head
    elif wh.lower_ in ("what", "which") and wh.i + 1 < len(wh.doc) and wh.nbor().pos_ == "NOUN":
        noun = wh.nbor()  # "in which league was …", where the parser misses that they belong together
    elif wh.lower_ in ("what", "who", "which") and wh.head.lemma_ == "be":
        noun = next(
            (
                child
                for child in wh.head.children
                if child.dep_ in ("nsubj", "attr") and child != wh and child.pos_ == "NOUN"
            ),
            None,
        )
    elif wh.lower_ == "how":
        noun = next((child for child in [wh.head, wh.head.head] if child.pos_ == "NOUN"), None)
    if noun is None:
        return wh, ()
    chain = [noun]
    while noun.lemma_.lower() in _TRANSPARENT:
        inner = [grand for child in noun.children if child.dep_ == "prep" and child.lower_ == "of"
                 for grand in child.children if grand.pos_ == "NOUN"]  # fmt: skip
        if not inner:
            break
        noun = inner[0]
        chain.append(noun)
    return wh, tuple(chain)


def _grow(start, names: dict[int, str], seen: set[int], heads: frozenset[int], depth: int) -> Hop:
    """The hop around a token: what can be reached in the parse without going into or out of a description."""
    seen.add(start.i)
    stack, own, inner = [start], [], []
    while stack:
        token = stack.pop()
        own.append(token)
        ways = [(child, False) for child in token.children]
        if token.head is not token:
            ways.append((token.head, True))
        for other, upward in ways:
            if other.i in seen:
                continue
            if depth < _DEEPEST and other.i not in heads and _opens(token, other, upward, names, seen):
                inner.append(other)
                seen.add(other.i)
            else:
                seen.add(other.i)
                stack.append(other)
    hop = _collect(sorted(own, key=lambda token: token.i), names)
    head = start.lemma_.lower() if start.pos_ == "NOUN" and start.i not in names else ""
    hops = tuple(
        _kin(_grow(token, names, seen, heads, depth + 1)) for token in sorted(inner, key=lambda token: token.i)
    )
    return replace(hop, wants=kind_of(head) if head else "other", head=head, inner=hops)


def _opens(token, other, upward: bool, names: dict[int, str], seen: set[int]) -> bool:
    """Does the way from token to other lead into a description: a definite noun with a name below it?"""
    if other.pos_ != "NOUN" or other.i in names:
        return False
    if upward:
        below = {inside.i for inside in token.subtree}
        return token.dep_ in ("relcl", "acl") and any(i not in below and i not in seen for i in names)
    if token.dep_ in ("compound", "appos") or other.dep_ in ("compound", "npadvmod", "appos"):
        return False
    if any(child.i in names and child.dep_ in ("appos", "compound") for child in other.children):
        return False  # "the composer Alpha" is Alpha
    nested = [child for child in other.children if child.dep_ in ("prep", "relcl", "acl", "poss", "appos", "nmod")]
    definite = any(child.dep_ in ("det", "poss") for child in other.children) or any(
        child.dep_ in ("relcl", "acl", "appos") for child in nested
    ) or kind_of(other.lemma_) in ("person", "place", "organisation")  # fmt: skip
    return definite and any(inside.i in names and inside.i not in seen for child in nested for inside in child.subtree)


def _collect(tokens: Iterable, names: dict[int, str]) -> Hop:
    tokens = list(tokens)
    words = [
        spoken(token)
        for token in tokens
        if token.i not in names
        and token.pos_ in ("NOUN", "VERB", "ADJ", "ADV", "PROPN", "NUM")
        and token.lower_ not in WH
        and len(token.text) > 1
        and token.text != _MASK
        and _tells(token)
        and not _names_kind(token, names)
    ]
    return Hop(tuple(dict.fromkeys(words)), names=tuple(dict.fromkeys(names[t.i] for t in tokens if t.i in names)))


def _tells(token) -> bool:
    """Does the word say something of its own? Stop lists hold verbs and nouns that do ("own", "serious", "first")."""
    if token.lower_ in ("first", "last", "most"):
        return True
    if token.pos_ == "VERB":
        return token.lemma_.lower() not in _LIGHT
    return bool(content_words(token.lemma_))


def _names_kind(token, names: dict[int, str]) -> bool:
    """Whether a noun distinguishes a name ("film" in "the director of film X") and is no relation."""
    return token.pos_ == "NOUN" and token.i + 1 in names and (
        token.dep_ == "compound" or any(child.i == token.i + 1 for child in token.children)
    )  # fmt: skip


def _kin(hop: Hop) -> Hop:
    """Kin of kin as two hops: the maternal grandfather is the father of the mother."""
    for word in hop.words:
        plain = re.sub(r"inlaw$", "-in-law", word)
        if plain not in COMPOSED:
            continue
        outer, inner = COMPOSED[plain]
        if inner == "parent":
            inner = "mother" if "maternal" in hop.words else "father" if "paternal" in hop.words else "parent"
        nearer = Hop((inner,), "person", inner, hop.names, hop.inner)
        return Hop((outer,), hop.wants, outer, (), (nearer,))
    return hop


def kin_of(hop: Hop) -> tuple[str, str] | None:
    """(relation, gender) if the hop asks for kin and nothing else."""
    kin = [word for word in hop.words if word in KIN]
    return KIN[kin[0]] if len(kin) == len(hop.words) == 1 and hop.wants in ("person", "other") else None


def _wants(wh, noun) -> tuple[str, str]:
    """(kind of the answer, noun that names it)."""
    head = noun.lemma_.lower() if noun is not None else ""
    if wh is None:
        return "other", ""
    if wh.lower_ == "how":
        return "number", head or next((token.lemma_ for token in [wh.head] if token.pos_ in ("ADJ", "ADV")), "")
    if wh.lower_ == "when":
        return "date", ""
    if wh.lower_ == "where":
        return "place", ""
    if wh.lower_ in ("who", "whom", "whose") and (noun is None or wh.lower_ == "whose"):
        return "person", ""
    kind = kind_of(head) if head else "other"
    if wh.lower_ in ("who", "whom"):
        return "person", re.sub("inlaw$", "-in-law", head)
    return kind, head


# Comparisons


_IN_TIME, _MORE, _LESS = (words(LISTS["questions"][name]) for name in ("in_time", "more", "less"))
_MEASURED = LISTS["questions"]["measured"]
_LOOSE = words("first last before after most more recently")  # these compare only where "or" sets a choice
_STARTS = re.compile(
    r"\b(releas|found|form|open|publish|establish|start|came out|come out|creat|built|premier|debut|launch|issu)"
)


def _comparison(masked: str, candidates: tuple, asked_hop: Hop) -> tuple[str, str, str, tuple]:
    """(kind of answer if the form of the question says it, direction, dimension, candidates)."""
    lowered = masked.lower()
    yes_no = lowered.split()[0].strip(",") in AUXILIARY and not any(
        f" {word} " in f" {lowered}" for word in ("which", "whose")
    )
    wants = "yes-no" if yes_no else ""
    tokens = re.findall(r"[a-z-]+", lowered)
    turned = [word for word in tokens if word in _MORE or word in _LESS]
    if len(candidates) < 2:
        return wants, "", "", ()
    if "common" in tokens or "same" in tokens or "both" in tokens:
        shared = re.search(r"\bsame (?:\w+ )?(\w+)", lowered)
        return wants, "same", shared[1] if shared else "", candidates
    if not turned or not (yes_no or " or " in lowered or asked_hop.wants == "number" or turned[-1] not in _LOOSE):
        return wants, "", "", ()
    direction, word = "more" if turned[-1] in _MORE else "less", turned[-1]
    dimension = _dimension(lowered, word)
    if re.search(
        r"\bby how (many|much)\b|\bhow (many|much) \w+ (older|younger|longer|more|taller|later|earlier)", lowered
    ):
        return "number", "difference", dimension, candidates
    return wants or "choice", direction, dimension, candidates


def _dimension(lowered: str, word: str) -> str:
    if re.search(r"\b(die|died|dies|death|outlive|outlived)\b", lowered):
        return "death"
    if re.search(r"\b(born|birth)\b", lowered):
        return "birth"
    if re.search(r"\b(live|lived|life)\b", lowered) and word in ("longer", "longest", "shorter", "shortest"):
        return "life"
    if _STARTS.search(lowered):
        return "start"
    return "age" if word in _IN_TIME else _MEASURED.get(word, "number")


def _candidates(masked: str, names: tuple[str, ...]) -> tuple[tuple[str, Hop], ...]:
    """The names that are set beside each other: "A or B", "A and B", "is A older than B"."""
    at = [match.start() for match in re.finditer(rf"\b{_MASK}\b", masked)]
    for joint in (r"\bor\b", r"\band\b", r"\bthan\b|\boutlive[sd]?\b|\bpredates?\b"):
        for first, second in zip(range(len(at)), range(1, len(at))):
            between = masked[at[first] + len(_MASK) : at[second]]
            if re.search(joint, between) and len(between) < 60 and not masked[: at[first]].endswith("between "):
                return tuple((name, Hop(names=(name,))) for name in names[first : second + 1])
    return ()


_SIDES = (  # forms of a comparison between descriptions
    r"^(?:of|between) (.+?) (?:and|or) (.+?), (?:which|who|whose|what)\b",
    r"[,:] (?:that of )?(.+?),? or (?:that of )?([^,]+?)\W*$",
    r"^(?:was|were|is|are|did|do|does) (.+?) (?:\w+ ){0,2}?(?:before|after|earlier than|later than) (.+?)\W*$",
    r"^(?:is|are|was|were|did|do|does|has|have) (.+?) "
    r"(?:outlive|predate|(?:an? |the )?(?:\w+ )?\w+er (?:\w+ )?than)\w* (.+?)\W*$",
)


def _described(masked: str, names: tuple[str, ...]) -> tuple[tuple[str, Hop], ...]:
    """The two sides of a comparison, of which one at least is described: "the composer of A" against "B"."""
    for form in _SIDES:
        match = re.search(form, masked, re.IGNORECASE)
        if not match or _MASK not in match[1] or _MASK not in match[2]:
            continue
        sides = []
        for group in (1, 2):
            before = masked[: match.start(group)].count(_MASK)
            inside = names[before : before + match[group].count(_MASK)]
            (doc,) = parse([match[group]])
            masks = [token.i for token in doc if token.text == _MASK]
            hop = _grow(doc[:].root, dict(zip(masks, inside)), set(), frozenset(), 0)
            named = not hop.words and not hop.inner
            sides.append((inside[0] if named else match[group].replace(_MASK, inside[0]), hop))
        if any(hop.words or hop.inner for _, hop in sides) and all(hop.names or hop.inner for _, hop in sides):
            return tuple(sides)
    return ()
