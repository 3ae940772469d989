"""BDTR: two complementary thoughts a round, then a chain of reasoning decides which documents come first.

Follows "Beyond Static Retrieval" (the paper; no official code is known), Eq. 1 to 6 and Algorithm 1:

    for t in 1..R:  fast, slow = dual thoughts(question, pool)          DTR: dual-thought retrieval
                    pool = pool + search(fast) + search(slow)           Eq. 4, maximum of scores
    chain    = reasoning chain(question, pool)                          BGEC: bridge-guided evidence calibration
    promoted = verify(chain, best 50 of the pool)                       Eq. 5
    final    = promoted first; those with score >= mu + sigma stay      Eq. 6, at least 5

Eq. 6 looks at scores, and promotion does not change scores: taken at its word, a promoted document with a low score is
thrown away again, which would undo what the module is for. `policy` says what is done:

    keep     (default) promoted documents stay, whatever their score
    strict   Eq. 6 to the letter; they stay only where the set must be filled up to 5
    lift     a promoted document gets the highest score of the pool before mu and sigma are computed

The paper's ablation: `iterations=0` is BGEC alone, `bgec=false` DTR alone. `max_docs=5` is the fair row beside methods
that read five. `verify_batch=1` asks for every document alone. Left out: the prompts (shown only in part; ours are our
own), and the chain made jointly with the last thoughts, as the text has it (Algorithm 1 makes it after the loop)."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from statistics import fmean, pstdev
from typing import Literal, NamedTuple

from workbench.errors import SettingError
from workbench.methods.iterative import Iterative, Settings, Thought, contents, normal
from workbench.methods.iterative.pool import Entry, Pool, scored
from workbench.records import Evidence
from workbench.settings import Positive, validated
from workbench.steps import dual_thoughts, reasoning_chain, verify
from workbench.text import storable
from workbench.trace import Trace


class BDTR(Iterative):
    """Bridge-guided dual-thought retrieval."""

    name = "bdtr"
    paper = "Beyond Static Retrieval (BDTR)"
    steps = ("dual_thoughts", "reasoning_chain", "verify")

    @validated
    class Settings(Settings):
        """`verified` documents of the pool are shown to the verifier, `verify_batch` at a time; mu and sigma are those
        of the first `top_stat` scores; the final set has `min_docs` to `max_docs` documents (none: no upper limit)."""

        bgec: bool = True
        policy: Literal["keep", "strict", "lift"] = "keep"
        verified: Positive = 50
        verify_batch: Positive = 25
        top_stat: Positive = 50
        min_docs: Positive = 5
        max_docs: Positive | None = None
        seed: int = 0

        def __post_init__(self):
            if self.max_docs is not None and self.max_docs < self.min_docs:
                raise SettingError(
                    f"max_docs={self.max_docs}; it should be none or a whole number from min_docs={self.min_docs} on"
                )

    def think(self, question: str, shown: Sequence[Entry], before: Sequence[Thought], trace: Trace) -> Thought:
        """DTR. Where the Step fails, the question is asked again with the title of the best document."""
        tried = tuple((thought.texts["fast"], thought.texts["slow"]) for thought in before)
        result = self.ask(dual_thoughts.STEP, dual_thoughts.Input(question, contents(shown), tried), trace)
        if result.failure or not result.value.fast or normal(result.value.fast) == normal(result.value.slow):
            why = result.failure or "it gave no two different queries"
            texts = {"fast": question, "slow": f"{question} {shown[0].passage.title}" if shown else question}
        else:
            why, texts = None, {"fast": result.value.fast, "slow": result.value.slow}
        return Thought(texts, tuple(texts.items()), failure=why)

    def conclude(self, question: str, pool: Pool, thoughts: Sequence[Thought], k: int, trace: Trace) -> Evidence:
        """BGEC: chain, verifier, promotion, cut. The reader is meant to see the final set, which leads the ranking."""
        ranking = pool.ranked()
        if not self.settings.bgec or not ranking:
            return super().conclude(question, pool, thoughts, k, trace)
        said, failure = self.chain(question, ranking[: self.settings.shown], thoughts, trace)
        chosen, failed = self.verify(question, said, ranking[: self.settings.verified], trace)
        with trace.span("RERANKER", "promote") as span:
            order = promoted(ranking, chosen)
            was = {entry.passage.id: rank for rank, entry in enumerate(ranking, 1)}
            span.set(moved=[[e.passage.id, was[e.passage.id], now] for now, e in enumerate(order[: len(chosen)], 1)])
        with trace.span("RERANKER", "cut") as span:
            cut = select(order, chosen, self.settings)
            span.set(mu=cut.mu, sigma=cut.sigma, threshold=cut.mu + cut.sigma, policy=self.settings.policy)
            span.set(kept=list(cut.kept), filled=list(cut.filled), selected=len(cut.kept) + len(cut.filled))
            ids = {*cut.kept, *cut.filled}
            order.sort(key=lambda entry: entry.passage.id not in ids)  # the final set leads the rest
            span.score((entry.passage.id, entry.score) for entry in order)
        notes = [f"the reasoning chain failed: {failure}"] * bool(failure)
        notes += [f"the verifier failed on {failed} batches"] * bool(failed)
        return Evidence(
            question, self.label, pool.scale, scored(order[:k]), selected=min(k, len(ids)),
            fallback="; ".join(notes) or None,
        )  # fmt: skip

    def chain(
        self, question: str, shown: Sequence[Entry], thoughts: Sequence[Thought], trace: Trace
    ) -> tuple[reasoning_chain.Output, str | None]:
        """The chain of reasoning, and why there is none: then the thoughts stand for it."""
        said = tuple(storable(text) for thought in thoughts for text in thought.texts.values())
        with trace.span("CHAIN", "reasoning chain") as span:
            asked = reasoning_chain.Input(question, contents(shown), said)
            result = self.ask(reasoning_chain.STEP, asked, trace)
            chain = result.value or reasoning_chain.Output(chain=" ".join(said), steps=list(said), bridges=[])
            span.set(**chain.model_dump(), **({"failure": result.failure} if result.failure else {}))
        return chain, result.failure

    def verify(
        self, question: str, chain: reasoning_chain.Output, shown: Sequence[Entry], trace: Trace
    ) -> tuple[set[str], int]:
        """The ids of the documents that support the chain, and how many batches failed, which choose none."""
        with trace.span("RERANKER", "verify", passages=[entry.passage.id for entry in shown]) as span:
            shuffle = random.Random(storable(f"{self.settings.seed} {question}")).shuffle
            size = self.settings.verify_batch
            batches = [list(shown[start : start + size]) for start in range(0, len(shown), size)]
            for batch in batches:  # the first ones of a list are chosen more often
                shuffle(batch)
            told = (question, chain.chain, tuple(chain.steps), tuple(chain.bridges))
            results = self.engine.run(verify.STEP, [verify.Input(*told, contents(b)) for b in batches], trace=trace)
            chosen = {
                batch[number - 1].passage.id
                for batch, result in zip(batches, results)
                for number in (result.value.documents if result.value else ())
                if 1 <= number <= len(batch)  # a number that stands for nothing chooses nothing
            }
            failed = sum(result.failure is not None for result in results)
            span.set(selected=[e.passage.id for e in shown if e.passage.id in chosen], failures=failed)
        return chosen, failed


class Cut(NamedTuple):
    """Eq. 6: ids of the documents that are kept, and of those that fill the set up, each in promoted order."""

    mu: float
    sigma: float
    kept: tuple[str, ...]
    filled: tuple[str, ...]


def promoted(ranking: Sequence[Entry], chosen: Collection[str]) -> list[Entry]:
    """The chosen documents first; by score in either part."""
    return sorted(ranking, key=lambda entry: entry.passage.id not in chosen)


def select(order: Sequence[Entry], chosen: Collection[str], settings: BDTR.Settings) -> Cut:
    """The final set from the promoted order. Population deviation; where it is 0 nothing passes by its score."""
    scores = {entry.passage.id: entry.score for entry in order}
    if settings.policy == "lift":
        scores |= dict.fromkeys(scores.keys() & set(chosen), max(scores.values()))
    head = [scores[entry.passage.id] for entry in order[: settings.top_stat]]
    mu, sigma = fmean(head), pstdev(head)
    passed = {one for one, score in scores.items() if sigma and score >= mu + sigma}
    kept = passed | set(chosen) if settings.policy == "keep" else passed
    ids = [entry.passage.id for entry in order]
    final = [one for one in ids if one in kept][: settings.max_docs]
    filled = [one for one in ids if one not in kept][: max(0, settings.min_docs - len(final))]
    return Cut(mu, sigma, tuple(final), tuple(filled))
