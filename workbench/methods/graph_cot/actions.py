"""Actions in a graph: find a node, read it, list or count its neighbours."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from workbench import tokens
from workbench.encoding.similarity import top
from workbench.index import Index
from workbench.operators.linking import near
from workbench.records import Passage, Triple
from workbench.steps.graph_action import ACTIONS, TYPES, Action, Observation

SHOWN = 3  # nodes that a keyword finds, of each kind; passages that are named with a fact


class GraphActions:
    """The actions over an index's graph. Lists are cut to `listed`, texts to `text_tokens`; the observation states what
    was left out.

    A node is a phrase as stored in the index, or the id of a passage."""

    def __init__(self, index: Index, listed: int = 20, text_tokens: int = 500):
        self.index, self.listed, self.text_tokens = index, listed, text_tokens
        self._facts, self._passages = index.facts, index.passages
        self._fact_vectors, self._passage_vectors = map(np.asarray, (self._facts.fact_vectors, self._passages.vectors))
        self._does: dict[str, Callable[[Action, str], Observation]] = {
            "find": self._find, "read": self._read, "neighbours": self._neighbours, "count": self._count,
        }  # fmt: skip

    def __call__(self, action: Action, question: str) -> Observation:
        """The observation of an action. An impossible action never raises; its observation, `malformed`, states the
        reason. Facts are listed by their similarity to the question."""
        if action.action not in self._does:
            return _malformed(f"there is no action {action.action!r}; the actions are {', '.join(ACTIONS)}")
        if not action.argument.strip():
            return _malformed(f"{action.action} needs an argument")
        if action.action != "find" and self._node(action.argument) is None:
            return _malformed(f"there is no node {action.argument!r}; find gives the names of nodes")
        if action.action in ("neighbours", "count") and action.type not in TYPES:
            return _malformed(f"there is no edge of type {action.type!r}; the types are {', '.join(TYPES)}")
        return self._does[action.action](action, question)

    def phrase(self, name: str) -> int | None:
        """The row of a phrase."""
        return self._facts.phrase_row.get(name)

    def passage(self, name: str) -> int | None:
        """The row of a passage, unless its id is also a phrase."""
        return None if name in self._facts.phrase_row else self._passages.row.get(name)

    def _node(self, name: str) -> int | None:
        row = self.phrase(name)
        return self.passage(name) if row is None else row

    def _find(self, action: Action, question: str) -> Observation:
        """Phrases: the exact one, then the closest vectors. Passages: those with exactly this title, then the
        closest."""
        phrases = [self._facts.phrases[link.phrase] for link in near(self.index, action.argument, SHOWN)]
        cosines = self._passage_vectors @ self.index.encode_query(action.argument, "passages")
        titled = self._titles.get(action.argument.casefold().strip(), [])
        rows = list(dict.fromkeys([*titled, *top(cosines, SHOWN).tolist()]))[:SHOWN]
        passages = [self._passages.passages[row] for row in rows]
        text = f"phrases: {'; '.join(phrases) or 'none'}. passages: {'; '.join(map(_line, passages))}"
        return Observation(text, (*phrases, *(passage.id for passage in passages)))

    def _read(self, action: Action, question: str) -> Observation:
        row = self.passage(action.argument)
        if row is not None:
            passage = self._passages.passages[row]
            text = tokens.cut(passage.content, self.text_tokens)
            left = "" if text == passage.content else " … (the rest is left out)"
            return Observation(text + left, (passage.id,))
        phrase = action.argument
        descriptions = [p.description for p in self._profiles(phrase) if p.description]
        counts = ", ".join(f"{len(self._of_type(phrase, type_, question)[0])} {type_}" for type_ in TYPES)
        text = " ".join([*descriptions, f"A phrase; neighbours: {counts}."])
        return Observation(tokens.cut(text, self.text_tokens), (phrase,))

    def _neighbours(self, action: Action, question: str) -> Observation:
        lines, nodes, facts = self._of_type(action.argument, action.type, question)
        if not lines:
            return Observation(f"no neighbours of type {action.type}")
        left = len(lines) - self.listed
        text = "\n".join(lines[: self.listed]) + (f"\n… and {left} more" if left > 0 else "")
        return Observation(text, tuple(nodes[: self.listed]), tuple(facts[: self.listed]))

    def _count(self, action: Action, question: str) -> Observation:
        return Observation(str(len(self._of_type(action.argument, action.type, question)[0])))

    def _of_type(self, name: str, type_: str, question: str) -> tuple[list[str], list[str], list[Triple]]:
        """(lines, other nodes, facts) of a node's edges of a type; relations are listed fact by fact."""
        phrase = self.phrase(name)
        if type_ == "relation":
            facts = [] if phrase is None else self._facts_of(phrase, question)
            return [_stated(fact) for fact in facts], [_other(fact, name) for fact in facts], facts
        row = self._passages.row[name] + len(self._facts.phrases) if phrase is None else phrase
        edges = self.index.graph.undirected[type_][[row]].tocoo()
        best = edges.col[np.lexsort((edges.col, -edges.data))].tolist()
        n = len(self._facts.phrases)
        if phrase is None or type_ == "synonym":
            phrases = [self._facts.phrases[other] for other in best]
            return phrases, phrases, []
        passages = [self._passages.passages[other - n] for other in best]
        return list(map(_line, passages)), [passage.id for passage in passages], []

    def _facts_of(self, phrase: int, question: str) -> list[Triple]:
        rows = self._facts.about(phrase)
        cosines = self._fact_vectors[rows] @ self.index.encode_query(question, "facts")
        return [
            self._facts.triple(rows[at], tuple(self._passages.passages[p].id for p in self._facts.stating(rows[at])))
            for at in top(cosines, len(rows))
        ]

    def _profiles(self, phrase: str):
        return self.index.phrased.of(phrase) if self.index.phrased else []

    @cached_property
    def _titles(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for row, passage in enumerate(self._passages.passages):
            found.setdefault(passage.title.casefold().strip(), []).append(row)
        return found


def _malformed(text: str) -> Observation:
    return Observation(text, malformed=True)


def _line(passage: Passage) -> str:
    return f"{passage.id} ({passage.title})" if passage.title else passage.id


def _stated(fact: Triple) -> str:
    more = f", and {len(fact.passages) - SHOWN} more" if len(fact.passages) > SHOWN else ""
    return f"{' | '.join(fact.members)} [{', '.join(fact.passages[:SHOWN])}{more}]"


def _other(fact: Triple, name: str) -> str:
    return fact.object if fact.subject == name else fact.subject
