"""Matching of triple patterns with facts, and joins.

Softly: a fact is worth its relation's similarity x that of its ends to the pattern's terms, or to what these are bound
to, x how well a value is of the kind asked for. Patterns are joined in the order of what is bound, constants first, and
of the partial bindings the best `BEAM` are kept, so that the work grows with patterns x BEAM x facts and no further.

Exactly: the labels, normalised, go to pyoxigraph as nodes of our own making, with a query of our own making. What it
finds is complete up to `EXACT` bindings and stands before all else. Where the join could grow beyond `LARGEST` rows, it
is left to the beam."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
import pyoxigraph as ox

from workbench.encoding.similarity import top
from workbench.records import Binding, Match, Passage, Pattern, Proof, Scored, Triple
from workbench.sparql.facts import stated
from workbench.sparql.query import Query, compared
from workbench.sparql.similarity import Names, NameSimilarity, alike, expects, fits, fold

LEAST = 0.35  # score below which a fact does not match
BEAM = 64  # partial bindings that are kept
WIDTH = 16  # facts that extend one partial binding
BINDINGS = 50  # bindings of a proof
EXACT = 1_000  # bindings that pyoxigraph is asked for
LARGEST = 1_000_000  # rows of an exact join that are risked
MOST = 8  # patterns
STATED = 0.65  # worth of a relation that the passage tells and the fact does not
READ = 400  # facts that are read again for one pattern and what is bound


@dataclass(frozen=True)
class _Partial:
    """A partial binding: variable → name, and the matches so far."""

    values: tuple[tuple[str, str], ...] = ()
    matches: tuple[Match, ...] = ()
    score: float = 1.0
    worth: float = 1.0  # all scores multiplied: what orders those whose worst is equal

    def value(self, term: str) -> str | None:
        """What a term stands for; None for a variable that is not bound."""
        return dict(self.values).get(term) if term.startswith("?") else term

    @property
    def rank(self) -> tuple:
        facts = tuple(match.fact.members for match in self.matches)
        return (-round(self.score, 9), -round(self.worth, 9), self.values, facts)


def execute(
    query: Query,
    facts: Sequence[Triple],
    similarity: NameSimilarity | None = None,
    passages: Mapping[str, Passage] | None = None,
    loose: float = 0.0,
) -> Proof:
    """The query carried out on facts; neither the order of the patterns nor that of the facts changes what is found.

    `passages`, by id: where a fact whose relation has other words is read again. `loose` is what any relation
    is worth that joins the right ends: 0 for a query that answers, more where a given answer is looked for."""
    if query.flaw or not query.patterns:
        return Proof(str(query), query.patterns, query.wanted, flaw=query.flaw or "there is no pattern to carry out")
    if len(query.patterns) > MOST:
        return Proof(str(query), query.patterns, query.wanted, flaw=f"more than {MOST} patterns")
    graph = _Graph(facts, similarity or NameSimilarity(), query.patterns, passages or {}, loose)
    order, partials, broken = graph.join(query.patterns)
    whole = partials if broken is None else ()
    by_key = {_key(each.values): Binding(each.values, each.matches, each.score) for each in whole}
    by_key |= {_key(binding.values): binding for binding in graph.exactly(order)}
    broken = None if by_key else broken
    bindings = sorted(by_key.values(), key=lambda b: (-round(b.score, 9), -worth(b), b.values))[:BINDINGS]
    return Proof(
        query=str(query),
        patterns=tuple(order),
        wanted=query.wanted,
        compare=str(query.compare or ""),
        bindings=tuple(bindings),
        partial=partials[0].matches if broken is not None and partials else (),
        broken=broken,
        answers=answers(query, bindings),
    )


def worth(binding: Binding) -> float:
    """All scores multiplied: what orders bindings whose worst is equal."""
    return round(prod(match.score for match in binding.matches), 9)


def _key(values: Iterable[tuple[str, str]]) -> tuple:
    return tuple(sorted((name, fold(value)) for name, value in values))


def answers(query: Query, bindings: Sequence[Binding]) -> tuple[Scored[str], ...]:
    """Values of the variable asked for, or what comparing makes of each binding; best first, each once."""
    if query.compare:
        values = compared(query.compare, bindings)
    else:
        values = [(dict(binding.values)[query.wanted], binding.score) for binding in bindings]
    scored: list[Scored[str]] = []
    for value, score in values:
        if not any(alike(value, other) >= 0.95 for other, _ in scored):
            scored.append(Scored(value, float(score)))
    return tuple(scored)


class _Graph:
    """Facts as rows of relations and names, and what each pattern is worth on them."""

    def __init__(
        self,
        facts: Sequence[Triple],
        similarity: NameSimilarity,
        patterns: Sequence[Pattern],
        passages: Mapping[str, Passage],
        loose: float,
    ):
        self.passages, self.loose = passages, loose
        self.constants = [t for p in patterns for t in (p.subject, p.object) if not t.startswith("?")]
        self._stated: dict[tuple[Pattern, int, bool], float] = {}
        self.facts = sorted(facts, key=lambda fact: (fact.members, fact.passages))
        self.similarity = similarity
        relations = sorted({fact.relation for fact in self.facts})
        names = sorted({end for fact in self.facts for end in (fact.subject, fact.object)})
        self.names = Names(names, similarity)
        row = {name: at for at, name in enumerate(names)}
        self.subjects = np.array([row[fact.subject] for fact in self.facts], dtype=np.int64)
        self.objects = np.array([row[fact.object] for fact in self.facts], dtype=np.int64)
        at = {relation: number for number, relation in enumerate(relations)}
        self.relation = np.array([at[fact.relation] for fact in self.facts], dtype=np.int64)
        self._both = ((self.subjects, self.objects), (self.objects, self.subjects))
        subjects = {pattern.subject for pattern in patterns}
        self.kinds = {
            p: np.array([fits(expects(p.predicate) or ("thing" if p.object in subjects else ""), n) for n in names])
            for p in patterns
        }
        self.worth = {pattern: self._worth(pattern, relations) for pattern in patterns}
        self._matching = {p: int((self.scores(p, _Partial())[0] >= LEAST).sum()) for p in patterns}

    def _worth(self, pattern: Pattern, relations: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """What the relation of each fact is worth, straight and turned."""
        if pattern.predicate.startswith("?"):  # any relation
            flat = np.ones(len(self.facts))
            return flat, flat
        straight, turned = (row[self.relation] for row in self.similarity.relations(pattern.predicate, relations))
        return straight, turned

    def scores(self, pattern: Pattern, partial: _Partial) -> tuple[np.ndarray, np.ndarray]:
        """(score of each fact, whether it is turned), given what is bound; both of length n."""
        subject, other = partial.value(pattern.subject), partial.value(pattern.object)
        straight, turned = (
            self._read_again(pattern, relation, ends, back)
            for relation, ends, back in zip(
                self.worth[pattern],
                (self._ends(pattern, subject, other, *ends) for ends in self._both),
                (False, True),
            )
        )
        return np.maximum(straight, turned), turned > straight

    def _ends(self, pattern: Pattern, subject: str | None, other: str | None, subjects, objects) -> np.ndarray:
        """What the ends of each fact are worth as subject and object of a pattern, float (n,)."""
        worth = self.kinds[pattern][objects] if pattern.object.startswith("?") else np.ones(len(self.facts))
        if subject is not None:
            worth = worth * self.names.like(subject)[subjects]
        if other is not None:
            worth = worth * self.names.like(other)[objects]
        if subject is None and pattern.subject == pattern.object:
            worth = worth * np.array([alike(fact.subject, fact.object) for fact in self.facts])
        return worth

    def _read_again(self, pattern: Pattern, relation: np.ndarray, ends: np.ndarray, turned: bool) -> np.ndarray:
        """Relation x ends; where the ends fit and the relation does not, what the passages make of it."""
        if self.passages:
            weak = np.flatnonzero((relation < STATED) & (ends >= LEAST / STATED))
            if 0 < len(weak) <= READ:
                relation = relation.copy()
                for row in weak.tolist():
                    relation[row] = max(relation[row], self.loose, STATED * self._reread(pattern, row, turned))
        return relation * ends

    def _reread(self, pattern: Pattern, row: int, turned: bool) -> float:
        key = (pattern, row, turned)
        if key not in self._stated:
            fact = self.facts[row]
            read = (stated(pattern, fact, turned, self.passages[id]) for id in fact.passages if id in self.passages)
            self._stated[key] = max(read, default=0.0)
        return self._stated[key]

    # -- the join -----------------------------------------------------------------------------------------------------

    def join(self, patterns: Sequence[Pattern]) -> tuple[list[Pattern], list[_Partial], int | None]:
        """(patterns as they were joined, partial bindings best first, number of the pattern that nothing matches)."""
        left, order, partials, broken = sorted(set(patterns), key=_members), [], [_Partial()], None
        bound: set[str] = set()
        while left:
            pattern = min(left, key=lambda pattern: (*self._selective(pattern, bound), pattern.members))
            left.remove(pattern)
            order.append(pattern)
            bound |= {term for term in (pattern.subject, pattern.object, pattern.predicate) if term.startswith("?")}
            if broken is None:
                longer = self._extended(pattern, partials)
                partials, broken = (longer, None) if longer else (partials, len(order))
        return order, partials, broken

    def _selective(self, pattern: Pattern, bound: set[str]) -> tuple[int, int]:
        """Fewer is better: ends that are not bound yet, then facts that match by themselves."""
        free = {term for term in (pattern.subject, pattern.object) if term.startswith("?") and term not in bound}
        return len(free), self._matching[pattern]

    def _extended(self, pattern: Pattern, partials: Sequence[_Partial]) -> list[_Partial]:
        by_variables: dict[tuple, _Partial] = {}
        for partial in partials:
            scores, turned = self.scores(pattern, partial)
            for row in top(scores, WIDTH):
                if scores[row] < LEAST:
                    break
                longer = self._with(partial, pattern, int(row), float(scores[row]), bool(turned[row]))
                if self._returns(longer):
                    continue
                key = _key(longer.values)
                if key not in by_variables or longer.rank < by_variables[key].rank:
                    by_variables[key] = longer
        return sorted(by_variables.values(), key=lambda partial: partial.rank)[:BEAM]

    def _returns(self, partial: _Partial) -> bool:
        """Whether the last match, if its labels do not agree, takes a fact a second time or leads back to a name that
        the query begins at: the mother of someone's wife is not that someone."""
        *before, last = partial.matches
        if last.exact:
            return False
        values, ends = dict(partial.values), (last.pattern.subject, last.pattern.object)
        values_found = [values[term] for term in ends if term.startswith("?")]
        return any(match.fact == last.fact for match in before) or any(
            alike(value, name) >= 0.85 for value in values_found for name in self.constants
        )

    def _with(self, partial: _Partial, pattern: Pattern, row: int, score: float, turned: bool) -> _Partial:
        fact = self.facts[row]
        ends = (fact.object, fact.subject) if turned else (fact.subject, fact.object)
        values = dict(partial.values)
        for term, value in zip((pattern.subject, pattern.object, pattern.predicate), (*ends, fact.relation)):
            if term.startswith("?"):
                values.setdefault(term, value)
        score = min(1.0, score)
        match = Match(pattern, fact, score, not turned and self._labels_agree(pattern, fact, values), turned)
        return _Partial(
            tuple(sorted(values.items())), (*partial.matches, match), min(partial.score, score), partial.worth * score
        )

    def _labels_agree(self, pattern: Pattern, fact: Triple, values: dict[str, str]) -> bool:
        ends = zip((pattern.subject, pattern.object), (fact.subject, fact.object))
        return fold(fact.relation) in _labels(pattern.predicate, values) and all(
            fold(values.get(term, term)) == fold(end) for term, end in ends
        )

    # -- exactly ------------------------------------------------------------------------------------------------------

    def exactly(self, patterns: Sequence[Pattern]) -> list[Binding]:
        """Bindings under which the labels agree, as pyoxigraph finds them."""
        nodes: dict[str, ox.NamedNode] = {}
        labels = {label for p in patterns for label in _labels(p.predicate, {})}
        free = any(p.predicate.startswith("?") for p in patterns)
        some = (fact for fact in reversed(self.facts) if free or fold(fact.relation) in labels)
        by_label = {tuple(map(fold, fact.members)): fact for fact in some}

        def node(label: str) -> ox.NamedNode:
            return nodes.setdefault(label, ox.NamedNode(f"urn:label:{len(nodes)}"))

        store = ox.Store()
        store.extend(ox.Quad(*map(node, members), ox.DefaultGraph()) for members in by_label)
        label = {made.value: text for text, made in nodes.items()}
        variables = {
            term: f"?v{at}"
            for at, term in enumerate(sorted({t for p in patterns for t in p.members if t.startswith("?")}))
        }
        lines, rows = [], []
        for pattern in patterns:
            ways = [[variables[t]] if t in variables else _bound_or_known(t, nodes) for t in _ends(pattern)]
            if not all(ways):
                return []
            lines.append(" ".join("|".join(way) for way in ways) + " .")
            rows.append(self._many(pattern, by_label))
        if prod(rows) > LARGEST:
            return []
        chosen = " ".join(variables.values()) or "*"
        solutions = store.query(f"SELECT DISTINCT {chosen} WHERE {{ {' '.join(lines)} }} LIMIT {EXACT}")
        bindings = []
        for solution in solutions:
            values = {term: label[solution[name[1:]].value] for term, name in variables.items()}
            matches = tuple(Match(p, fact, 1.0, True) for p in patterns if (fact := _fact(p, values, by_label)))
            spelt = {t: s for m in matches for t, s in zip(m.pattern.members, m.fact.members) if t in variables}
            bindings.append(Binding(tuple(sorted(spelt.items())), matches, 1.0))
        return bindings

    def _many(self, pattern: Pattern, by_label: dict) -> int:
        """How many facts have the labels of a pattern's constants."""
        wanted = [None if t.startswith("?") else set(_labels(t, {})) for t in _ends(pattern)]
        return sum(all(w is None or part in w for w, part in zip(wanted, members)) for members in by_label)


def _members(pattern: Pattern) -> tuple[str, str, str]:
    return pattern.members


_ends = _members


def _labels(term: str, values: dict[str, str]) -> list[str]:
    """The labels that a relation or a name may have."""
    return [fold(way) for way in values.get(term, term).split("|") if fold(way)]


def _bound_or_known(term: str, nodes: dict[str, ox.NamedNode]) -> list[str]:
    return [str(nodes[label]) for label in _labels(term, {}) if label in nodes]


def _fact(pattern: Pattern, values: dict[str, str], by_label: dict) -> Triple | None:
    ways = [[values[term]] if term in values else _labels(term, {}) for term in pattern.members]
    return next((by_label[members] for members in product(*ways) if members in by_label), None)
