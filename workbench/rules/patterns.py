"""Rule body of `write_patterns`: a question as triple patterns, one for each hop, chained by variables.

    Where was the director of "Dune Fever" born?
    SELECT ?answer WHERE { "Dune Fever" director ?x . ?x "born in" ?answer . }

`questions.analyse` says what is asked and how it nests. Here each hop becomes a pattern for each name and each inner
hop that it hangs on, with a predicate in plain English made of its words and of what it wants. A comparison becomes a
pattern for either side and a `Comparison`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count

from workbench.language.pipeline import content_words, parse
from workbench.language.quantities import MEASURES
from workbench.language.questions import Analysis, Hop, analyse
from workbench.language.relations import LISTS, kind_of, relatedness, spoken, stem, words
from workbench.records import Pattern
from workbench.sparql.query import ANSWER, MOST, Comparison, Query
from workbench.steps.write_patterns import Compare, Input, Output, TriplePattern

LONGEST = 2_000  # characters of a question that are read


def write(question: str, names: Iterable[str] = ()) -> str:
    """SPARQL for a question; empty where it names nothing to begin at, or asks what patterns cannot say. `names`
    (titles of passages) are found in it whatever their case.

    >>> print(write("Where was the director of Dune Fever born?"))
    SELECT ?answer WHERE {
      "Dune Fever" "director" ?x1 .
      ?x1 "born in" ?answer .
    }
    """
    return str(query(question, names))


def write_patterns(value: Input) -> Output:
    """No patterns where the question cannot be written in them."""
    made = query(value.question, value.titles)
    patterns = [TriplePattern(subject=p.subject, predicate=p.predicate, object=p.object) for p in made.patterns]
    compare = made.compare and Compare(by=made.compare.by, of=list(made.compare.of), pick=list(made.compare.pick))
    return Output(patterns=patterns, wanted=made.wanted, compare=compare)


def query(question: str, names: Iterable[str] = ()) -> Query:
    """The patterns of a question, or a flaw that says why it has none."""
    analysis = analyse(question, names)
    if analysis.kind == "none":
        return Query(flaw="nothing is asked")
    writer = _Writer(question)
    if analysis.direction:
        return writer.comparison(analysis)
    if analysis.wants == "yes-no":
        return Query(flaw="a question for yes or no is answered by patterns only where it compares")
    return _checked(Query(tuple(writer.patterns(analysis.asked, ANSWER)), ANSWER))


def _checked(query: Query) -> Query:
    if not query.patterns:
        return Query(flaw="the question names nothing that a pattern could begin at")
    if len(query.patterns) > MOST:
        return Query(flaw=f"the question takes {len(query.patterns)} patterns; at most {MOST} are written")
    return query


class _Writer:
    """Writes the patterns of one question: fresh variables, and its verbs with their participles."""

    def __init__(self, question: str):
        self.fresh = (f"?x{number}" for number in count(1))
        (doc,) = parse([question[:LONGEST]])
        self.verbs = {spoken(token): _participle(token) for token in doc if token.pos_ == "VERB"}

    def patterns(self, hop: Hop, value_term: str) -> Iterator[Pattern]:
        """What must hold of `value_term`, the innermost hops first; a description that names nothing says nothing."""
        for inner in hop.inner:
            variable = next(self.fresh)
            below = list(self.patterns(inner, variable))
            if below:
                yield from below
                yield Pattern(variable, predicate(hop, self.verbs), value_term)
        for name in filter(content_words, hop.names):
            yield Pattern(name, predicate(hop, self.verbs), value_term)

    def comparison(self, analysis: Analysis) -> Query:
        """Both sides by one predicate; what is compared without being one value each is no pattern."""
        label, via = self._value(analysis), _via(analysis)
        if not label:
            return Query(flaw=f"comparing by {analysis.dimension or 'what both are'!r} is not written in patterns")
        patterns: list[Pattern] = []
        values, picked = [], []
        for candidate, side in zip(analysis.candidates[:2], analysis.sides):
            who = candidate
            if side.words or side.inner:
                who = next(self.fresh)
                patterns += self.patterns(side, who)
            picked.append(who)
            if via:
                patterns.append(Pattern(who, via, who := next(self.fresh)))
            values.append(next(self.fresh))
            patterns.append(Pattern(who, label, values[-1]))
        by, pick = analysis.direction, tuple(picked)
        if analysis.dimension in _IN_TIME:
            by = {"less": "earlier", "more": "later"}.get(by, by)
        if by == "difference" or analysis.wants == "yes-no":
            pick = () if by == "difference" else ("yes", "no")
        return _checked(Query(tuple(patterns), values[0], Comparison(by, tuple(values), pick)))

    def _value(self, analysis: Analysis) -> str:
        """The predicate of what is compared; empty where that is not one value, as the length of a life."""
        dimension = analysis.dimension
        content = [word for hop in analysis.asked.nested() for word in hop.words if word != analysis.head]
        if dimension == "start":
            starts = [stem(word) for word in _IN_TIME["start"].split("|")]
            verb = next((w for w in content if w in self.verbs and any(relatedness(stem(w), s) for s in starts)), "")
            return self.verbs.get(verb, _IN_TIME["start"])
        if dimension in ("", "life"):
            return ""
        if dimension in _IN_TIME or dimension in MEASURES:
            return _IN_TIME.get(dimension) or MEASURES[dimension]
        if analysis.direction == "same":
            if kind_of(dimension) != "place":
                return dimension
            verb = next((self.verbs[word] for word in content if word in self.verbs), "")
            return f"{verb} in" if verb else "born in|located in"
        return _joined([MEASURES.get(word, word) for word in content], self.verbs)


# Comparisons


_IN_TIME = {"birth": "date of birth", "death": "date of death", "age": "date of birth|founded|opened|built|published",
            "start": "founded|opened|built|published|released"}  # fmt: skip


def _via(analysis: Analysis) -> str:
    """The noun of a person that stands between the candidates and what is compared: "whose designer was born first"."""
    if any(side.words or side.inner for side in analysis.sides) or analysis.dimension not in ("birth", "death"):
        return ""
    named = set(analysis.names) - set(analysis.candidates)
    words_said = [word for hop in analysis.asked.nested() for word in hop.words]
    people = [word for word in words_said if kind_of(word) == "person" and word != analysis.head]
    return people[0] if people and not named and analysis.wants != "yes-no" else ""


# Predicates


_ANYONE = words("man woman person people boy girl one someone child time thing")
_LONGEST = 5  # words of a predicate
_OF_DATES = {"bear": "date of birth", "die": "date of death"}


def predicate(hop: Hop, verbs: Mapping[str, str]) -> str:
    """The relation of a hop in plain English, as "born in", "designed by", "mother". `verbs`: lemma → participle.

    >>> verbs = {"design": "designed", "bear": "born"}
    >>> predicate(Hop(("man", "design"), "person", "man"), verbs), predicate(Hop(("town", "bear"), "place"), verbs)
    ('designed by', 'born in')
    >>> predicate(Hop(("bear",), "date"), verbs), predicate(Hop(("tall",), "number", "tall"), verbs)
    ('date of birth', 'height')
    """
    content = [word for word in hop.words if word not in _ANYONE]
    if hop.wants == "number":
        counted = [MEASURES.get(word, word) for word in content or hop.words]
        measured = any(kind_of(word) == "number" or word in MEASURES.values() for word in counted)
        return _joined(counted, verbs) if measured else f"number of {_joined(counted, verbs)}".removesuffix(" of ")
    if hop.wants in ("place", "organisation", "work", "date", "other"):  # "town" in "which town was she born in"
        content = [w for w in content if w != hop.head and (hop.wants == "other" or kind_of(w) != hop.wants)] or content
    if hop.wants == "date":
        return next((_OF_DATES[word] for word in content if word in _OF_DATES), "") or f"date {_joined(content, verbs)}"
    relation = _joined(content, verbs)
    if hop.wants == "person" and (not relation or any(word in verbs for word in content)):
        return f"{relation} by".strip()
    if hop.wants == "place" and any(word in verbs for word in content):
        return f"{relation} in"
    return relation or "is"


def _joined(content: Sequence[str], verbs: Mapping[str, str]) -> str:
    """Nouns as they are, then what is done."""
    nouns = [re.sub("inlaw$", "-in-law", word) for word in content if word not in verbs]
    return " ".join([*nouns, *(verbs[word] for word in content if word in verbs)][:_LONGEST])


_IRREGULAR: dict[str, str] = LISTS["patterns"]["irregular"]


def _participle(token) -> str:
    """The past participle of a verb, with its particle."""
    base = token.lemma_.lower()
    particle = next((child.lower_ for child in token.children if child.dep_ == "prt"), "")
    if token.tag_ == "VBN":
        done = token.lower_
    elif base in _IRREGULAR:
        done = _IRREGULAR[base]
    elif re.search("[^aeiou]y$", base):
        done = base[:-1] + "ied"
    else:
        done = base + ("d" if base.endswith("e") else "ed")
    return f"{done} {particle}".strip()
