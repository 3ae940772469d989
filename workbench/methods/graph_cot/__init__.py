"""Graph-CoT: a model thinks, acts in the graph and observes, until it finishes.

Follows "Graph Chain-of-Thought: Augmenting Large Language Models by Reasoning on Graphs" (arXiv 2404.07103) and its
code (PeterGriffinJin/Graph-CoT): five actions, several in a step, 15 steps, an end where the prompt passes 10,000
tokens, temperature 0. It acts in the index's own graph, whose nodes are phrases and passages; `gcot`, whose thoughts
are queries of a retriever, is the variant for any method.

The original answers and ranks no passages. Here, passages are ranked by their first use: a passage is used when it is
read, or when both ends of a fact that it states have been visited (the answer counts as visited). The model's output is
typed data here; the released code evaluates it as a program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from workbench import tokens
from workbench.encoding.similarity import top
from workbench.llm.window import held
from workbench.methods.base import Method
from workbench.methods.graph_cot.actions import GraphActions
from workbench.operators.dense_fill import with_dense_fill
from workbench.records import Entity, Evidence, Scored, ranked
from workbench.settings import Positive, validated
from workbench.steps.graph_action import STEP, Input, Observation, Turn
from workbench.text import PHRASE_RULES
from workbench.trace import Trace

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
        known = {row for rows in self.passages for row in rows}
        if new := [row for row in passages if row not in known]:
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
                span.set(malformed=_malformed([turn]))
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
            span.set(used=min(len(scores), k), of=len(passages), malformed=_malformed(turns))
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


def _malformed(turns: Sequence[Turn]) -> int:
    return sum(seen.malformed for turn in turns for seen in turn.observations)
