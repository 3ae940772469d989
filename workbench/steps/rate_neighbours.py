"""Step `rate_neighbours`: how useful each neighbour of an entity is for answering a question (Stage II of CatRAG's
dynamic edge weighting, arXiv 2602.01965, appendix; our wording).

The reply is one line per neighbour, as in the source, so that a reply which was cut still rates those before the cut.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pydantic import BaseModel

from workbench.llm.step import Step
from workbench.steps.prose import unpacked
from workbench.steps.summarising import statement
from workbench.text import unicode_phrase

HIGHEST = 10


@dataclass(frozen=True)
class Neighbour:
    """`facts` join it to the entity; `context` is what the graph says of it. The `similarity` of the best of these
    facts to the question is not shown to a model."""

    name: str
    facts: tuple[tuple[str, str, str], ...]
    context: str
    similarity: float = 0.0


@dataclass(frozen=True)
class Input:
    """`known` are the facts that were retrieved and kept for the question: they are trusted."""

    question: str
    known: tuple[tuple[str, str, str], ...]
    entity: str
    neighbours: tuple[Neighbour, ...]

    @property
    def statements(self) -> list[str]:
        """The known facts as words."""
        return list(map(statement, self.known))

    @property
    def rows(self) -> list[dict[str, str]]:
        """What is shown of each neighbour."""
        return [
            {"name": each.name, "facts": " ".join(map(statement, each.facts)), "context": each.context}
            for each in self.neighbours
        ]


class Rating(BaseModel):
    """A line of the reply. `score` is a whole number from 0 to 10."""

    number: int | None
    name: str
    score: int
    reason: str = ""


class Output(BaseModel):
    ratings: list[Rating]


_CUE = re.compile(r"^.*\banswer\s*:", re.IGNORECASE | re.DOTALL)
_LINE = re.compile(  # possessive where it can be: a row of blanks is passed once
    r"""^[\s*\-#>]*+(?:\d{1,3}[.)]\s++(?=\d{1,6}\s*+\())?   # marks of a list
        (?:(?P<number>\d{1,6})\s*+[.):]?\s*+)?              # its number
        (?:\((?P<name>.*)\)\s*+[*_]*+\s*+|(?P<bare>[^|:]*?))  # its name, as a rule in parentheses
        [:=]\s*+[*_]*+\s*+                                  # a colon
        (?P<score>-?\d{1,6}(?:\.\d{1,6})?)(?:\s*+/\s*+10)?   # the score
        \s*+[*_]*+\s*+(?:[|;,–—-]\s*+(?P<reason>.*))?$       # why""",
    re.VERBOSE,
)


def read(text: str) -> Output:
    """The lines that rate something; scores are rounded down and brought between 0 and 10. Text before a cue
    `Answer:` is ignored. Raises ValueError where no line rates anything.

    >>> read("1 (alderby): 9 | her birthplace\\n2 (1994): 12\\n- 3. night ferry: 2.5").ratings[2]
    Rating(number=3, name='night ferry', score=2, reason='')
    """
    lines = _CUE.sub("", unpacked(text[:100_000])).splitlines()
    ratings = [_rating(match) for line in lines if (match := _LINE.match(line[:2_000]))]
    if not ratings:
        raise ValueError("no line rates a neighbour: lines such as '1 (name): 7 | reason' were expected")
    return Output(ratings=ratings)


def _rating(match: re.Match) -> Rating:
    number, name = match["number"], match["name"] if match["name"] is not None else match["bare"].rstrip(" \t*_")
    score = min(HIGHEST, max(0, int(float(match["score"]))))
    return Rating(number=int(number) if number else None, name=name.strip(), score=score,
                  reason=(match["reason"] or "").strip())  # fmt: skip


def matched(value: Input, output: Output) -> list[Rating | None]:
    """The rating of each neighbour, None where there is none: by its number unless the name says otherwise, then by its
    name, then by a name that contains it or that it contains. The first line for a neighbour counts."""
    names = [unicode_phrase(neighbour.name) for neighbour in value.neighbours]
    ratings: list[Rating | None] = [None] * len(names)
    for rating in output.ratings:
        at = _place(rating, names)
        if at is not None and ratings[at] is None:
            ratings[at] = rating
    return ratings


def _place(rating: Rating, names: list[str]) -> int | None:
    name = unicode_phrase(rating.name)
    numbered = rating.number - 1 if rating.number and rating.number <= len(names) else None
    if name in names:
        return numbered if numbered is not None and names[numbered] == name else names.index(name)
    if numbered is not None:
        return numbered
    return next((at for at, other in enumerate(names) if name and other and (name in other or other in name)), None)


STEP = Step.from_text("rate_neighbours", Input, Output, read=read, max_tokens=1024)
