"""BDTR: two complementary thoughts per round, then a chain of reasoning decides which documents come first.

Follows "Beyond Static Retrieval" (arXiv 2509.25530; no official code is known), Eq. 1 to 6 and Algorithm 1:

    for t in 1..R:  fast, slow = dual thoughts(question, pool)          DTR: dual-thought retrieval
                    pool = pool + search(fast) + search(slow)           Eq. 4, maximum of scores
    chain    = reasoning chain(question, pool)                          BGEC: bridge-guided evidence calibration
    promoted = verify(chain, best 50 of the pool)                       Eq. 5 (of the whole pool: `verified=none`)
    final    = promoted first; those with score >= mu + sigma stay      Eq. 6, at least 5

Eq. 6 uses scores, which promotion does not change: taken literally, it removes a promoted document with a low score
again and so undoes the promotion. `policy` selects the treatment, and `profile=paper` the literal one:

    keep     (default) promoted documents stay, whatever their score
    strict   Eq. 6 taken literally; they stay only if the set must be filled up to 5
    lift     a promoted document gets the highest score of the pool before mu and sigma are computed

The paper's ablation: `iterations=0` is BGEC alone, `bgec=false` DTR alone. `max_docs=5` is the fair comparison with
methods that read five. `verify_batch=1` verifies each document separately. `chain=after` writes the chain after the
loop, from the final pool (Algorithm 1), `chain=joint` together with the last thoughts, before their search (section
3.2), in one call less. Not implemented: the paper's prompts (shown only in part; ours replace them)."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import Any, Literal

from workbench.errors import SettingError
from workbench.llm.step import Result
from workbench.methods.base import CUT_TO_K
from workbench.methods.iterative import Iterative, Settings, Thought, contents, normal
from workbench.methods.iterative.events import Chain, Cut, Promotion, Verification
from workbench.methods.iterative.pool import Entry, Pool, scored
from workbench.records import Evidence
from workbench.settings import Positive, validated
from workbench.steps import dual_thoughts
from workbench.text import storable
from workbench.trace import Trace


@dataclass(frozen=True)
class Concluding(Thought):
    """The thought of the last round, which the `chain` of reasoning came with; None if the Step failed."""

    chain: dual_thoughts.Conclusion | None = None


class BDTR(Iterative):
    """Bridge-guided dual-thought retrieval."""

    name = "bdtr"
    paper = "Beyond Static Retrieval (BDTR, arXiv 2509.25530)"
    steps = ("dual_thoughts", "reasoning_chain", "verify")

    @validated
    class Settings(Settings):
        """The verifier sees the first `verified` documents of the pool (none: all), `verify_batch` at a time, and of
        each the first `words` (none: all); mu and sigma are those of the first `top_stat` scores; the final set has
        `min_docs` to `max_docs` documents (none: no upper limit). `thoughts`: together from one prompt (figure 8), or
        apart, each from its own (section 3.1), which takes a request more a round. `chain`: written after the last
        round, or jointly with its thoughts.

        Profile `paper`: Eq. 5 over the whole pool and whole documents, Eq. 6 to the letter."""

        profile: str = "workbench"
        bgec: bool = True
        thoughts: Literal["together", "apart"] = "together"
        chain: Literal["after", "joint"] = "after"
        policy: Literal["keep", "strict", "lift"] = "keep"
        verified: Positive | None = 50
        words: Positive | None = 150
        verify_batch: Positive = 25
        top_stat: Positive = 50
        min_docs: Positive = 5
        max_docs: Positive | None = None
        seed: int = 0

        def __post_init__(self):
            if self.chain == "joint" and not (self.bgec and self.iterations):
                raise SettingError(
                    "chain=joint writes the chain together with the thoughts of the last round, and iterations=0 has "
                    "no thoughts, bgec=false no chain; use chain=after"
                )
            if self.chain == "joint" and self.thoughts == "apart":
                raise SettingError(
                    "chain=joint writes the chain and both thoughts in one reply; with thoughts=apart use chain=after"
                )
            if self.max_docs is not None and self.max_docs < self.min_docs:
                raise SettingError(f"max_docs={self.max_docs}; it should be none or at least min_docs={self.min_docs}")

    profiles: Mapping[str, Mapping[str, Any]] = {
        "workbench": {},
        "paper": {"policy": "strict", "verified": None, "words": None},
    }

    def asked(self) -> tuple[str, ...]:
        apart = self.settings.thoughts == "apart"
        bgec, joint, rounds = self.settings.bgec, self.settings.chain == "joint", self.settings.iterations
        enabled = {
            "dual_thoughts": rounds > joint and not apart, "fast_thought": rounds and apart,
            "slow_thought": rounds and apart, "concluding_thoughts": joint, "reasoning_chain": bgec and not joint,
            "verify": bgec,
        }  # fmt: skip
        return tuple(name for name, is_asked in enabled.items() if is_asked)

    def think(self, question: str, best: Sequence[Entry], before: Sequence[Thought], trace: Trace) -> Thought:
        """DTR. If the Step fails, the queries are the question, and the question with the title of the best
        document."""
        tried = tuple((thought.texts["fast"], thought.texts["slow"]) for thought in before)
        joint = self.settings.chain == "joint" and len(before) + 1 == self.settings.iterations
        step = dual_thoughts.CONCLUDING if joint else dual_thoughts.STEP
        value = dual_thoughts.Input(question, contents(best), tried)
        result = self.apart(value, trace) if self.settings.thoughts == "apart" else self.ask(step, value, trace)
        if result.failure or not result.value.fast or normal(result.value.fast) == normal(result.value.slow):
            failure = result.failure or "it gave no two different queries"
            texts = {"fast": question, "slow": f"{question} {best[0].passage.title}" if best else question}
        else:
            failure, texts = None, {"fast": result.value.fast, "slow": result.value.slow}
        if joint:
            return Concluding(texts, tuple(texts.items()), failure=failure, chain=result.value)
        return Thought(texts, tuple(texts.items()), failure=failure)

    def apart(self, value: dual_thoughts.Input, trace: Trace) -> Result[dual_thoughts.Output]:
        """Both thoughts, each by its own Step; the failure if one of them is missing."""
        fast, slow = (self.ask(step, value, trace) for step in (dual_thoughts.FAST, dual_thoughts.SLOW))
        if failure := fast.failure or slow.failure:
            return Result(None, failure=failure)
        return Result(dual_thoughts.Output(fast=fast.value.query, slow=slow.value.query))

    def conclude(self, question: str, pool: Pool, thoughts: Sequence[Thought], k: int, trace: Trace) -> Evidence:
        """BGEC: chain, verifier, promotion, cut. The final set, meant for the reader, comes first in the ranking."""
        ranking = pool.ranked()
        if not self.settings.bgec or not ranking:
            return super().conclude(question, pool, thoughts, k, trace)
        chain = self.chain(question, ranking[: self.settings.shown], thoughts, trace)
        chosen, failed = self.verify(question, chain, ranking[: self.settings.verified], trace)
        with Promotion.open(trace) as write:
            order = promoted(ranking, chosen)
            write(moved=moves(ranking, order[: len(chosen)]))
        with Cut.open(trace) as write:
            cut = write(select(order, chosen, self.settings))
        order = promoted(order, cut.kept + cut.filled)
        notes = [f"the reasoning chain failed: {chain.failure}"] if chain.failure else []
        notes += [f"the verifier failed on {failed} batches"] if failed else []
        notes += [f"the final set of {cut.selected} passages is {CUT_TO_K}={k}"] if cut.selected > k else []
        return Evidence(
            question, self.label, pool.scale, scored(order[:k]), selected=min(k, cut.selected),
            fallback="; ".join(notes) or None,
        )  # fmt: skip

    def chain(self, question: str, best: Sequence[Entry], thoughts: Sequence[Thought], trace: Trace) -> Chain:
        """The chain of reasoning: that of the last thought, or of a Step of its own; if the Step fails, the thoughts
        replace it."""
        last = thoughts[-1] if thoughts else None
        texts = tuple(storable(text) for thought in thoughts for text in thought.texts.values())
        with Chain.open(trace) as write:
            if isinstance(last, Concluding):
                output, failure = last.chain, None if last.chain else last.failure
            else:  # also where the thoughts were given
                value = dual_thoughts.ChainInput(question, contents(best), texts)
                result = self.ask(dual_thoughts.CHAIN, value, trace)
                output, failure = result.value, result.failure
            output = output or dual_thoughts.Chain(chain=" ".join(texts), steps=list(texts), bridges=[])
            return write(**output.model_dump(include={"chain", "steps", "bridges"}), failure=failure or None)

    def verify(self, question: str, chain: Chain, best: Sequence[Entry], trace: Trace) -> tuple[set[str], int]:
        """The ids of the documents that support the chain, and the number of failed batches, which choose none."""
        with Verification.open(trace, passages=[entry.passage.id for entry in best]) as write:
            batches = self._batches(question, best)
            beginning = (question, chain.chain, tuple(chain.steps), tuple(chain.bridges))
            inputs = [dual_thoughts.VerifyInput(*beginning, contents(batch), self.settings.words) for batch in batches]
            results = self.engine.run(dual_thoughts.VERIFY, inputs, trace=trace)
            chosen = {
                batch[number - 1].passage.id
                for batch, result in zip(batches, results)
                for number in (result.value.documents if result.value else ())
                if 1 <= number <= len(batch)  # models invent numbers
            }
            failed = sum(result.failure is not None for result in results)
            write(selected=[entry.passage.id for entry in best if entry.passage.id in chosen], failures=failed)
        return chosen, failed

    def _batches(self, question: str, best: Sequence[Entry]) -> list[list[Entry]]:
        """The documents in shuffled batches, because a verifier prefers the first ones of a list."""
        shuffle, size = random.Random(storable(f"{self.settings.seed} {question}")).shuffle, self.settings.verify_batch
        batches = [list(best[start : start + size]) for start in range(0, len(best), size)]
        for batch in batches:
            shuffle(batch)
        return batches


def promoted(ranking: Sequence[Entry], chosen: Collection[str]) -> list[Entry]:
    """The ranking with the chosen documents first, otherwise in its order."""
    first = set(chosen)
    return sorted(ranking, key=lambda entry: entry.passage.id not in first)


def moves(ranking: Sequence[Entry], first: Sequence[Entry]) -> tuple[tuple[str, int, int], ...]:
    """(id, rank in `ranking`, rank in `first`) of the documents in `first`; ranks start at 1."""
    before = {entry.passage.id: rank for rank, entry in enumerate(ranking, 1)}
    return tuple((entry.passage.id, before[entry.passage.id], rank) for rank, entry in enumerate(first, 1))


def select(order: Sequence[Entry], chosen: Collection[str], settings: BDTR.Settings) -> Cut:
    """Eq. 6: the final set from the promoted order. With a (population) deviation of 0, no document passes by score."""
    scores = {entry.passage.id: entry.score for entry in order}
    ids = list(scores)
    if settings.policy == "lift":
        scores |= dict.fromkeys(scores.keys() & set(chosen), max(scores.values()))
    head = [scores[name] for name in ids[: settings.top_stat]]
    mu, sigma = fmean(head), pstdev(head)
    passed = {name for name, score in scores.items() if sigma and score >= mu + sigma}
    pass_or_chosen = passed | set(chosen) if settings.policy == "keep" else passed
    read = tuple(name for name in ids if name in pass_or_chosen)[: settings.max_docs]
    filled = tuple(name for name in ids if name not in pass_or_chosen)[: max(0, settings.min_docs - len(read))]
    ranking = tuple((entry.passage.id, entry.score) for entry in promoted(order, read + filled))
    return Cut(mu, sigma, mu + sigma, settings.policy, read, filled, len(read + filled), ranking)
