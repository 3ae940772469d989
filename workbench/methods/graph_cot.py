"""Graph-CoT: a model thinks, acts in the graph and observes, until it finishes.

Follows "Graph Chain-of-Thought: Augmenting Large Language Models by Reasoning on Graphs" (arXiv 2404.07103) and its
code (PeterGriffinJin/Graph-CoT): five actions, several in a step, 15 steps, an end where the prompt passes 10,000
tokens, temperature 0. It acts in the index's own graph, whose nodes are phrases and passages; `gcot`, whose thoughts
are queries of a retriever, is the variant for any method.

The original answers and ranks no passages. Here, passages are ranked by their first use: a passage is used when it is
read, or when both ends of a fact that it states have been visited (the answer counts as visited). The model's output is
typed data here; the released code evaluates it as a program.

Actions in a graph: find a node, read it, list or count its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from workbench import tokens
from workbench.encoding.similarity import top
from workbench.index import Index
from workbench.llm.window import held
from workbench.methods.base import Method
from workbench.operators.linking import near
from workbench.operators.walk_distribution import with_dense_fill
from workbench.records import Entity, Evidence, Passage, Scored, Triple, ranked
from workbench.settings import Positive, validated
from workbench.steps.exploring import ACTIONS, STEP, TYPES, Action, Input, Observation, Turn
from workbench.text import PHRASE_RULES
from workbench.trace import Trace

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
        by_title: dict[str, list[int]] = {}
        for row, passage in enumerate(self._passages.passages):
            by_title.setdefault(passage.title.casefold().strip(), []).append(row)
        return by_title


def _malformed(text: str) -> Observation:
    return Observation(text, malformed=True)


def _line(passage: Passage) -> str:
    return f"{passage.id} ({passage.title})" if passage.title else passage.id


def _stated(fact: Triple) -> str:
    more = f", and {len(fact.passages) - SHOWN} more" if len(fact.passages) > SHOWN else ""
    return f"{' | '.join(fact.members)} [{', '.join(fact.passages[:SHOWN])}{more}]"


def _other(fact: Triple, name: str) -> str:
    return fact.object if fact.subject == name else fact.subject


FINISHED, STEPS, FULL, LOST = (
    "finished", "the limit of steps is reached", "the prompt is longer than its limit", "replies cannot be read",
)  # fmt: skip
LOOKS = ("read", "neighbours", "count")  # actions that look at a node


class Used(NamedTuple):
    """Rows in the order of first use: `passages` in groups that were used at once."""

    passages: list[list[int]]
    phrases: list[int]
    facts: list[int]

    def add(self, passages: Sequence[int]) -> None:
        present = {row for rows in self.passages for row in rows}
        if new := [row for row in passages if row not in present]:
            self.passages.append(new)


class GraphCoT(Method):
    """Thought, action, observation over the graph; passages in the order of their first use."""

    name = "graph_cot"
    paper = "Graph Chain-of-Thought (arXiv 2404.07103)"
    layers = ("passages", "facts", "synonyms")
    steps = ("graph_action",)
    scale = "use"  # 1 / place of the first use: 1, 1/2, 1/3 …; what is used at once shares a place

    @validated
    class Settings:
        """Defaults of the released code, where it has them.

        rounds             maximum number of thoughts
        prompt_tokens      the walk ends before a longer prompt (cl100k tokens), or one longer than the engine's window
        actions            actions executed per step
        listed             neighbours that one action lists
        text_tokens        tokens shown of a passage that is read
        dense_fill         whether the dense ranking follows the passages used"""

        rounds: Positive = 15
        prompt_tokens: Positive = 10_000
        actions: Positive = 10
        listed: Positive = 20
        text_tokens: Positive = 500
        dense_fill: bool = True

    @property
    def reads(self) -> tuple[str, ...]:
        return (*super().reads, *(("profiles",) if self.index.phrased else ()))

    def prepare(self) -> None:
        self._facts, self._passages = self.index.facts, self.index.passages
        self._passage_vectors = np.asarray(self._passages.vectors)
        self._act = GraphActions(self.index, self.settings.listed, self.settings.text_tokens)

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        turns, end = self.walk(question, trace)
        return self.rank(question, k, turns, end, trace)

    @property
    def longest(self) -> int:
        """cl100k tokens of a prompt: as set, or as many as the window of the engine holds beside an answer."""
        window = getattr(self.engine, "window", None)
        if window is None:
            return self.settings.prompt_tokens
        return min(self.settings.prompt_tokens, held(STEP, window))

    @property
    def limits(self) -> dict[str, int]:
        """Settings that the window of the engine makes smaller."""
        return {"prompt_tokens": self.longest} if self.longest < self.settings.prompt_tokens else {}

    def walk(self, question: str, trace: Trace) -> tuple[list[Turn], str]:
        """The turns, and why they ended. Two unreadable replies in a row also end the walk."""
        turns: list[Turn] = []
        for number in range(1, self.settings.rounds + 1):
            value = Input(question, tuple(turns))
            size = sum(tokens.count(message["content"]) for message in STEP.messages(value))
            if size > self.longest:
                return turns, FULL
            with trace.span("CHAIN", f"round {number}", round=number, prompt_tokens=size) as span:
                (result,) = self.engine.run(STEP, [value], trace=trace)
                turn = self.turn(question, result.value, result.failure, trace)
                span.set(malformed=_count_malformed([turn]))
            turns.append(turn)
            if any(action.action == "finish" for action in turn.actions):
                return turns, FINISHED
            if len(turns) > 1 and not turns[-1].actions and not turns[-2].actions:
                return turns, LOST
        return turns, STEPS

    def turn(self, question: str, value, failure: str | None, trace: Trace) -> Turn:
        """A reply with the observations of its actions. Actions after a finish are not executed."""
        if value is None or not value.actions:
            why = f"the reply could not be read: {failure}" if value is None else "the reply held no action"
            return Turn(value.thought if value else "", (), (Observation(why, malformed=True),))
        done, seen = [], []
        for action in value.actions[: self.settings.actions]:
            done.append(action)
            with trace.span("TOOL", "act", action=action.action, argument=action.argument, type=action.type) as span:
                seen.append(Observation("") if action.action == "finish" else self._act(action, question))
                span.set(observation=seen[-1].text, malformed=seen[-1].malformed)
            if action.action == "finish":
                break
        if len(done) == self.settings.actions < len(value.actions):
            note = f"only the first {len(done)} actions of a step are done"
            seen[-1] = seen[-1]._replace(text=f"{seen[-1].text}\n({note})")
        return Turn(value.thought, tuple(done), tuple(seen))

    def rank(self, question: str, k: int, turns: Sequence[Turn], end: str, trace: Trace) -> Evidence:
        """Passages by the place of their first use; the dense ranking if none was used."""
        used = self.used(turns)
        with trace.span("RERANKER", "rank passages", end=end) as span:
            cosines = self._passage_vectors @ self.index.encode_query(question, "passages")
            scores: dict[int, float] = {}
            for place, rows in enumerate(used.passages, 1):
                scores |= dict.fromkeys(rows, 1 / place)
            if scores:
                passages = with_dense_fill(self._passages.passages, scores, cosines, k, self.settings.dense_fill)
            else:
                best = top(cosines, k)
                passages = ranked([self._passages.passages[row] for row in best], cosines[best])
            span.set(used=min(len(scores), k), of=len(passages), malformed=_count_malformed(turns))
            span.score((passage.id, score) for passage, score in passages)
        return Evidence(
            question,
            self.label,
            self.scale if scores else "cosine",
            passages,
            entities=tuple(
                Scored(Entity(self._facts.phrases[row]), 1 / place) for place, row in enumerate(used.phrases, 1)
            ),
            facts=tuple(
                Scored(self._facts.triple(row, self._stated_in(row)), 1 / place)
                for place, row in enumerate(used.facts, 1)
            ),
            fallback=None if scores else f"dense ranking, because no passage was read and no fact followed ({end})",
        )

    def used(self, turns: Sequence[Turn]) -> Used:
        """The passages and facts that the turns used."""
        used = Used([], [], [])
        for name in self._looked_at(turns):
            if (passage := self._act.passage(name)) is not None:
                used.add([passage])
            elif (phrase := self._act.phrase(name)) is not None and phrase not in used.phrases:
                for before in used.phrases:
                    for fact in self._facts.between(before, phrase):
                        used.facts.append(fact)
                        used.add(self._facts.stating(fact).tolist())
                used.phrases.append(phrase)
        return used

    def _looked_at(self, turns: Sequence[Turn]) -> Iterator[str]:
        normalise = PHRASE_RULES[self._facts.metadata["settings"]["normalise"]]
        for turn in turns:
            for action, seen in zip(turn.actions, turn.observations):
                if action.action == "finish":
                    yield normalise(action.argument)
                elif action.action in LOOKS and not seen.malformed:
                    yield action.argument

    def _stated_in(self, fact: int) -> tuple[str, ...]:
        return tuple(self._passages.passages[row].id for row in self._facts.stating(fact))


def _count_malformed(turns: Sequence[Turn]) -> int:
    return sum(seen.malformed for turn in turns for seen in turn.observations)
