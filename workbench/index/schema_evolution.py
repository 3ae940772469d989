"""How the schema of the layer `schema_graph` grows with what passages ask for (Youtu-GraphRAG, section 3.1, Eq. 3).

The paper admits a new type whose agreement with the schema reaches μ, without saying how that is measured; the released
code admits whatever the model proposes. Both are policies here, and the measure is ours:

    confidence(x) = min(1, support(x) / s) · max(similarity(x, types of its kind), score(x))

with support the number of passages that ask for x, s the support that counts in full, the cosine of the name to the
nearest name of the schema, and the mean of the scores that the engine gave. An engine that gives no score counts as
sure (1): then the support alone decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Literal, NamedTuple

import numpy as np

from workbench.data.graph import Attribute, EntityType, Relation, Schema
from workbench.steps.schema_extraction import KINDS, Kind, ProposalRecord
from workbench.text import normal_form

Policy = Literal["off", "llm", "gated"]
_MAKE = {
    "entity_types": lambda name: EntityType(name, ""),
    "relations": lambda name: Relation(name, "", (), ()),
    "attributes": lambda name: Attribute(name, "", (), "text"),
}


class Proposal(NamedTuple):
    """A type that passages (ids, in the order of the corpus) asked for. `confidence` is that of the boundary at which
    it was admitted, else of the last one."""

    kind: Kind
    name: str
    passages: tuple[str, ...]
    confidence: float
    admitted: bool


@dataclass
class _Candidate:
    kind: Kind
    name: str
    passages: dict[str, None] = field(default_factory=dict)
    scores: list[float | None] = field(default_factory=list)
    confidence: float = 0.0
    admitted: bool = False


class Evolution:
    """The schema, and what was proposed for it. `ask` in the order of the corpus, `admit` after each batch.

    `encode` gives unit vectors of names; it is asked where a score was below 1."""

    def __init__(
        self, seed: Schema, policy: Policy, mu: float, support: int, encode: Callable[[Sequence[str]], np.ndarray]
    ):
        self.schema, self.policy, self.mu, self.support, self._encode = seed, policy, mu, support, encode
        self.known = dict.fromkeys(KINDS, 0)  # proposals of what the seed has
        self.scored = False  # whether an engine gave any score
        self._seed = {kind: forms(seed, kind) for kind in KINDS}
        self._candidates: dict[tuple[Kind, str], _Candidate] = {}

    def ask(self, passage: str, proposed: Iterable[ProposalRecord]) -> None:
        """Note what a passage proposes; what the seed has in some spelling is counted alone."""
        for record in proposed:
            form = normal_form(record.name)
            if not form or form in self._seed[record.kind]:
                self.known[record.kind] += bool(form)
                continue
            found = self._candidates.setdefault((record.kind, form), _Candidate(record.kind, record.name))
            if passage not in found.passages:
                found.passages[passage] = None
                found.scores.append(record.score)
                self.scored |= record.score is not None

    def admit(self) -> None:
        """Take over what the policy admits, in the order in which it was first proposed."""
        before = self.schema
        for found in self._candidates.values():
            if not found.admitted:
                found.confidence = self._confidence(found, before)
                found.admitted = self.policy == "llm" or (self.policy == "gated" and found.confidence >= self.mu)
                if found.admitted:
                    names = (*getattr(self.schema, found.kind), _MAKE[found.kind](found.name))
                    self.schema = replace(self.schema, **{found.kind: names})

    def proposals(self) -> list[Proposal]:
        """In the order in which they were first made."""
        return [
            Proposal(found.kind, found.name, tuple(found.passages), round(found.confidence, 6), found.admitted)
            for found in self._candidates.values()
        ]

    def counts(self) -> dict[Kind, dict[str, int]]:
        """Of each kind how many were admitted and rejected, and how often something known was proposed."""
        found = {kind: {"admitted": 0, "rejected": 0, "known": self.known[kind]} for kind in KINDS}
        for one in self._candidates.values():
            found[one.kind]["admitted" if one.admitted else "rejected"] += 1
        return found

    def _confidence(self, found: _Candidate, schema: Schema) -> float:
        score = fmean(1.0 if one is None else one for one in found.scores)
        sure = score if score >= 1 else max(score, self._similarity(found, schema))
        return min(1.0, len(found.passages) / self.support) * sure

    def _similarity(self, found: _Candidate, schema: Schema) -> float:
        """The cosine of a name to the nearest of its kind; 0 where there is none."""
        names = sorted(forms(schema, found.kind))
        vectors = self._encode([normal_form(found.name), *names])
        return max(0.0, float((vectors[1:] @ vectors[0]).max())) if names else 0.0


def forms(schema: Schema, kind: Kind) -> dict[str, str]:
    """Normal form → name of the types of a kind; the first of several spellings."""
    found: dict[str, str] = {}
    for one in getattr(schema, kind):
        found.setdefault(normal_form(one.name), one.name)
    return found
