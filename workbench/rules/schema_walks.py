"""Rule body of `dot_rules`: a question read as a walk over a schema, from the anchor to what is asked for.

    Which actors play in what Ada Lind has directed?
    person <-[directed by]- movie -[starred actors]-> person

Every walk that the types allow is aligned with the question's words in the order of their distance from the anchor: the
word that stands nearest tells the first hop, what is asked for the last. What a walk explains counts for it; a hop
without a word, a word without its place in the walk, and every hop as such count against it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from operator import sub

from workbench.rules.path_judging import Hop, Walk, hop_in_words
from workbench.rules.schema_words import Lexicon, Relations, Types, lexicon, unnamed
from workbench.rules.sentences import Reading, Word, read
from workbench.steps.dot_rules import Input, Output, PaperOutput, checked

MOST = 8  # readings that are given
NEARLY = 0.1  # worth by which a reading may fall behind the best
DOUBT = 1.5  # what is added to it where the schema has none of the question's words
WORDS = 24  # that are read: the nearest to the anchor, and the last
FAN = 60  # hops from one type that are looked at, those that the words tell best
LOOKS = 3_000  # walks of one length that are looked at: as many shorter ones are carried on as give so many
HOP = 0.3  # cost of a hop
UNSAID = 1.0  # cost of a hop that no word tells
IMPLIED = 0.6  # share of that cost where a word tells the node that the hop leads to
BACK = 0.4  # that cost where the hop goes back by the relation that led there
SHARED = 0.1  # the same where the question says that something is shared
RETURN = 0.5  # cost of a node that such a way back leads to, if no word tells it and nothing is shared
LATE = 2  # times these two at the end of a walk, which a question seldom leaves unsaid
ALONE = 0.7  # cost of a walk without a way back where the question speaks of sharing
AGAIN = 0.5  # share of its worth that a second word for the same thing has
LEFT = 0.4  # share of its worth that a word costs which has no place in the walk
TURNED = 0.7  # cost of a first hop that makes the name act where it is acted upon, or the other way round
KIND = 1.0  # worth of ending at the kind of thing that is asked for
ASIDE = 0.5  # cost of ending at another type than that by whose name something is asked for
CALLED = 0.9  # worth of a noun from which on it is such a name
OTHER = 1.0  # cost of starting at another type than the anchor's: a name may be that of two things
_UNFIT = "no walk leads from the name by relations of the graph: its paths are judged by words"
_NEVER = -99.0


@dataclass(frozen=True)
class WalkedGraph:
    """What a graph says of walks in it: its types and relations, the greatest number of hops, and, unless that is not
    known, the hops that follow one another somewhere (`joins`) and those that leave an anchor (`begins`)."""

    types: Types
    relations: Relations
    hops: int
    joins: Collection[tuple[Hop, Hop]] = frozenset()
    begins: Collection[Hop] = ()

    @cached_property
    def words(self) -> Lexicon:
        return lexicon(tuple(self.types), tuple(self.relations))

    @cached_property
    def steps(self) -> dict[str, list[tuple[Hop, str]]]:
        """Type -> hops and the types they lead to. A relation without types joins every type with every other."""
        every = tuple(name for name, _, _ in self.types) or ("",)
        steps_from: dict[str, list[tuple[Hop, str]]] = {}
        for label, head, tail, _ in self.relations:
            for type_name in head or every:
                for other in tail or every:
                    steps_from.setdefault(type_name, []).append(((label, True), other))
                    steps_from.setdefault(other, []).append(((label, False), type_name))
        return steps_from

    def leaving(self, type_: str, before: Hop | None) -> list[tuple[Hop, str]]:
        """The steps from a type: after a hop, or from an anchor."""
        steps = self.steps.get(type_, [])
        if before is None:
            return [step for step in steps if step[0] in self.begins] if self.begins else steps
        return [step for step in steps if (before, step[0]) in self.joins] if self.joins else steps


def dot_rules(value: Input) -> Output:
    return checked(value, rules(value))


def dot_rules_paper(value: Input) -> PaperOutput:
    """The same, by the relations of the graph, which the prompt does not show."""
    rules_output = dot_rules(value)
    output = PaperOutput(**rules_output.model_dump(exclude={"initial_query"}))
    return output.saying(rules_output.beyond, rules_output.meets)


def rules(value: Input) -> Output:
    """The best walks, one a line, which `path_judging` reads back; empty where the schema allows none, and where the
    question wants what no walk expresses. Of several names, each has its walk."""
    concept = value.concept
    if beyond := read(value.question, concept, value.others).beyond:
        return _searched(f"no walk expresses the question, for {beyond}: its paths are judged by words")
    exact = [anchor for anchor in value.anchors if anchor[0].casefold() == concept.casefold()]
    starts = tuple(dict.fromkeys(type_ for _, type_, _ in exact or value.anchors))
    graph = WalkedGraph(value.types, value.relations, value.hops, value.joins, value.begins)
    best = walks(value.question, concept, starts, graph, value.others)
    name = exact[0][0] if exact else concept
    beginnings = [walk.upto(length) for walk in best for length in range(1, len(walk.hops))]
    wanted = dict.fromkeys(walk.from_(name) for walk in best)
    if any(len(walk.hops) > 1 and walk.types[-1] == walk.types[0] for walk in best):
        wanted[f"not {name} itself"] = None
    return Output(
        query_constraints="; ".join(wanted),
        intermediate_rules=list(dict.fromkeys(map(str, beginnings))),
        terminal_rules=list(dict.fromkeys(map(str, best))),
        allowed_types=list(dict.fromkeys(type_ for walk in best for type_ in walk.types)),
        initial_query=hop_in_words(name, best[0].hops[0], best[0].types[1]) if best else "",
    ).saying(_UNFIT if value.relations and not best else "", meets=_together(value) and bool(best))


def _together(value: Input) -> bool:
    """Must an answer satisfy what is said of several names: "by Ada and Tom", not "by Ada or Tom"?"""
    return bool(value.others) and not re.search(r"(?i)\bor\b", value.question)


def _searched(why: str) -> Output:
    """No rules of its own: the paths are judged by the words that they share with the question."""
    nothing = {"intermediate_rules": [], "terminal_rules": [], "allowed_types": []}
    return Output(query_constraints="", initial_query="", **nothing).saying(why)


def walks(
    question: str, concept: str, starts: Sequence[str], graph: WalkedGraph, others: tuple[str, ...] = ()
) -> list[Walk]:
    """The best readings of a question from a concept on, whose type is one of `starts`; further ones only where they
    are nearly as good, and the more of them the fewer of its words the schema has. `others`: its other names."""
    scored = scores(question, concept, starts, graph, others)
    nearly = NEARLY + DOUBT * graph.words.doubt(read(question, concept, others).orders[0])
    readings: dict[tuple[Hop, ...], list[Walk]] = {}
    for worth, walk in scored:
        if worth < scored[0][0] - nearly:
            break
        if len(readings) < MOST or walk.hops in readings:
            readings.setdefault(walk.hops, []).append(walk)
    return [walk for same in readings.values() for walk in same[:MOST]]


def scores(
    question: str, concept: str, starts: Sequence[str], graph: WalkedGraph, others: tuple[str, ...] = ()
) -> list[tuple[float, Walk]]:
    """(worth, walk) of every walk that was looked at, best first. A walk from a type that is not among `starts` costs
    more, because entities of one name share one type in the graph."""
    words, reading = graph.words, read(question, concept, others)
    aligned = {order.words: order for order in (_Aligned(order, reading, words) for order in reading.orders)}.values()
    best_of: dict[Walk, float] = {}
    for start in sorted(graph.steps, key=lambda start: start not in starts):
        cost = 0.0 if start in starts else OTHER
        if cost and best_of and max(best_of.values()) >= max(order.most for order in aligned) - cost:
            break
        for order in aligned:
            for worth, walk in _search(start, graph, order, cost):
                best_of[walk] = max(best_of.get(walk, _NEVER), worth)
    ranked = sorted(best_of.items(), key=lambda item: (-item[1], len(item[0].hops), item[0].hops, item[0].types))
    return [(worth, walk) for walk, worth in ranked]


class _Aligned:
    """The words that mean something in the schema, in one order; the asked one, if there is one, is the last."""

    def __init__(self, order: Sequence[Word], reading: Reading, words: Lexicon):
        near = [*order[: WORDS - 1], *order[WORDS - 1 :][-1:]]
        senses = [(word, sense) for word, sense in zip(near, words.senses(near)) if any(sense)]
        self.reading, self.lexicon = reading, words
        self.words = tuple(word for word, _ in senses)
        self.asks_type = bool(senses) and senses[-1][0].asked
        self.senses = [sense for _, sense in senses]
        self.called = max(self.senses[-1].types.values(), default=0.0) if self.asks_type else 0.0
        if self.called < CALLED:
            self.called = 0.0
        best = [max((*relations.values(), *types.values())) for relations, types in self.senses]
        self.left = [(1.0 if word.asked else LEFT) * worth for (word, _), worth in zip(senses, best)]
        self.rest = [sum(self.left[at:]) for at in range(len(best) + 1)]
        self.most = sum(best) + KIND - HOP  # no walk is worth more
        roles = dict(reading.roles)
        self.roles = [(words.labels(word), roles[word.at]) for word in self.words if word.at in roles]
        self.pivot = next((sense for word, sense in senses if word.at == reading.pivot), None)

    def gains(self, kind: int, name: str, last: bool) -> list[float]:
        """What each word gains by telling a relation (0) or a type (1); the asked one tells only a walk's end."""
        gains = [sense[kind].get(name, 0.0) for sense in self.senses]
        if self.asks_type and not last:
            gains[-1] = 0.0
        return gains

    def tells(self, label: str, type_: str = "") -> float:
        """How well any word tells a relation, or the type that it leads to."""
        worths = ((relations.get(label, 0.0), types.get(type_, 0.0)) for relations, types in self.senses)
        return max(map(max, worths), default=0.0)

    def ending(self, type_: str) -> float:
        """Whether a type is what is asked for: by its name, if the noun is one, and by the question word's kind."""
        return self._of_kind(type_) - (
            ASIDE * (self.called - self.senses[-1].types.get(type_, 0.0)) if self.called else 0
        )

    def _of_kind(self, type_: str) -> float:
        wants, kinds = self.reading.wants, self.lexicon.kinds
        if not wants or wants not in kinds.values() or (unnamed(type_) and kinds.get(type_) == "other"):
            return 0.0
        if kinds.get(type_) == "organisation" and wants == "person":
            return 0.0  # a firm may be who bought another
        return KIND if kinds.get(type_) == wants else -KIND

    def turned(self, hop: Hop) -> float:
        """What it costs that the first hop leaves the name on the other side than the words beside it say."""
        label, forward = hop
        acting = self.lexicon.acting.get(label)
        if acting is None:
            return 0.0
        wrong = [acts != (acting == forward) for relations, acts in self.roles if relations.get(label)]
        return TURNED if any(wrong) else 0.0

    def shares(self, hop: Hop, type_: str) -> bool:
        """Is a node from which a hop goes back what the question says to be shared?"""
        return self.pivot is None or hop[0] in self.pivot.relations or type_ in self.pivot.types


def _search(start: str, graph: WalkedGraph, aligned: _Aligned, cost: float) -> Iterator[tuple[float, Walk]]:
    """Every walk from a type with its worth, less the cost of beginning there. `worths[n]` is that of the best
    alignment of the first n words."""

    @cache
    def onwards(type_: str, before: Hop | None):
        return sorted(graph.leaving(type_, before), key=lambda step: -aligned.tells(step[0][0], step[1]))[:FAN]

    begin = [-cost] + [_NEVER] * len(aligned.left)
    called = _with_element(begin, aligned.gains(1, start, False), aligned.left)
    last = [(Walk((start,), ()), list(map(max, begin, called)))]
    for length in range(1, graph.hops + 1):
        reached = []
        for walk, worths in last:
            for hop, type_ in onwards(walk.types[-1], *walk.hops[-1:] or (None,)):
                if cost and length == 1 and not aligned.tells(hop[0]):
                    continue  # only the words around a name can make it another thing
                longer = Walk((*walk.types, type_), (*walk.hops, hop))
                yield _ended(longer, worths, aligned), longer
                if length < graph.hops:
                    reached.append((longer, _longer(longer, worths, aligned, last=False)))
        widest = max((len(onwards(walk.types[-1], walk.hops[-1])) for walk, _ in reached), default=0)
        last = sorted(reached, key=lambda item: -max(item[1]))[: LOOKS // max(1, widest)]


def _longer(walk: Walk, worths: list[float], aligned: _Aligned, last: bool) -> list[float]:
    """The worths with the walk's last hop and the node it leads to."""
    back, shared = _goes_back(walk, len(walk.hops) - 1), aligned.reading.shared or aligned.reading.joined
    unsaid = (SHARED if shared else BACK) * (LATE if last else 1) if back else UNSAID
    unreached = RETURN if back and not last and not shared else 0.0
    named = _with_element(worths, aligned.gains(0, walk.hops[-1][0], last), aligned.left)
    gains = aligned.gains(1, walk.types[-1], last)
    return [
        max(reached, first - unreached, implied - IMPLIED * unsaid, none - unsaid - unreached)
        for reached, first, implied, none in zip(
            _with_element(named, gains, aligned.left), named, _with_element(worths, gains, aligned.left), worths
        )
    ]


def _with_element(worths: list[float], gains: list[float], left: Sequence[float]) -> list[float]:
    """The worths with one more element, which one or several of the words evoke."""
    longer, taken, untaken = [], _NEVER, _NEVER
    for at, before in enumerate(worths):
        if at:
            gain, cost = gains[at - 1], left[at - 1]
            taken += AGAIN * gain if gain else -cost
            if gain and untaken + gain > taken:
                taken = untaken + gain
            untaken -= cost
        if before > untaken:
            untaken = before
        longer.append(taken)
    return longer


def _ended(walk: Walk, worths: list[float], aligned: _Aligned) -> float:
    worths = _longer(walk, worths, aligned, last=True)
    best = max(map(sub, worths, aligned.rest))
    alone = aligned.reading.shared and not any(
        _goes_back(walk, at) and aligned.shares(walk.hops[at], walk.types[at]) for at in range(1, len(walk.hops))
    )
    cost = HOP * len(walk.hops) + (ALONE if alone else 0.0) + aligned.turned(walk.hops[0])
    return best - cost + aligned.ending(walk.types[-1])


def _goes_back(walk: Walk, at: int) -> bool:
    """Does a hop go back by the relation that led there?"""
    label, forward = walk.hops[at]
    return at > 0 and walk.hops[at - 1] == (label, not forward)
