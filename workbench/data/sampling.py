"""Samples of questions by name: `<data set>/<n>@<seed>`, as in `musique/dev/500@42`, and with so many of each number of
hops `<data set>/<n>-per-hop@<seed>`.

`RULE` draws them from the questions in the order of the source. The thesis "The Reasoning Bottleneck in Graph-RAG"
(sections 4.1, 4.6) names 500 questions and the seed 42 and not the call, so whether its questions are these is unknown;
the hash of the drawn ids settles it for anyone who has its list. Changing the rule changes what a name stands for.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from workbench.errors import DataError
from workbench.records import Passage, Question
from workbench.text import counted

RULE = "random.Random(seed).sample(questions, n)"
PER_HOP = f"{RULE} of each number of hops, smallest first and with one generator; then one of each in turn"
_NAMED = re.compile(r"(?P<of>.+)/(?P<n>[^/@]*?)(?P<each>-per-hop)?@(?P<seed>[^/@]*)")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")


@dataclass(frozen=True, slots=True)
class Sample:
    """`n` questions of a data set, or of each number of hops, drawn with a seed; as text the last part of the name."""

    n: int
    seed: int
    per_hop: bool = False

    def __str__(self) -> str:
        return f"{self.n}{'-per-hop' if self.per_hop else ''}@{self.seed}"

    @property
    def rule(self) -> str:
        return PER_HOP if self.per_hop else RULE


def parse(name: str, names: Collection[str]) -> tuple[str, Sample | None]:
    """The data set and the sample that a name states; no sample if it names none of the known data sets.

    >>> parse("musique/dev/500@42", ["musique/dev"]), parse("my/500@42", ["musique/dev"])
    (('musique/dev', Sample(n=500, seed=42, per_hop=False)), ('my/500@42', None))

    Raises :class:`DataError` if n or the seed is not a number as it is written here.
    """
    match = _NAMED.fullmatch(name)
    if not match or match["of"] not in names:
        return name, None
    for what, number in (("n", match["n"]), ("the seed", match["seed"])):
        if not _NUMBER.fullmatch(number) or (what, number) == ("n", "0"):
            least = "1" if what == "n" else "0"
            raise DataError(
                f"{name!r}: {what} is {number!r}, where a whole number of at least {least}, without leading zeros, is "
                f"expected; name a sample as {match['of']}/500@42, which is n@seed"
            )
    return match["of"], Sample(int(match["n"]), int(match["seed"]), bool(match["each"]))


def drawn(questions: Iterable[Question], sample: Sample, name: str) -> tuple[Question, ...]:
    """The questions of a sample of the data set `name`, in the order in which they are drawn; the same for the same
    questions in the same order. Raises :class:`DataError` if there are fewer than n, or some without a number of hops
    where it matters."""
    questions, generator = tuple(questions), random.Random(sample.seed)
    if not sample.per_hop:
        enough(len(questions), sample, name)
        return tuple(generator.sample(questions, sample.n))
    hops = {question.hops for question in questions}
    if not hops or None in hops:
        raise DataError(
            f"{name} does not give the number of hops of every question, so {str(sample)!r} cannot be drawn from it; "
            f"name a sample of all as {name}/{sample.n}@{sample.seed}"
        )
    by_hops = [[question for question in questions if question.hops == many] for many in sorted(hops)]
    for some in by_hops:
        enough(len(some), sample, f"{name}, of {counted(some[0].hops, 'hop')},")
    return tuple(chain.from_iterable(zip(*(generator.sample(some, sample.n) for some in by_hops))))


def enough(count: int, sample: Sample, name: str) -> None:
    """Raise :class:`DataError` if the data set `name`, which has `count` questions, has fewer than the sample."""
    if count < sample.n:
        remedy = f"ask for at most {count:,}" if count else "it is a corpus alone, so load it by its own name"
        raise DataError(f"{name} has {counted(count, 'question')}, so {sample.n:,} cannot be drawn from it; {remedy}")


def pooled(
    passages: Iterable[Passage], paragraphs: Mapping[str, Collection[str]], questions: Iterable[Question]
) -> tuple[Passage, ...]:
    """The corpus of some questions that bring their own `paragraphs` (question id → ids of passages): these, each once,
    in the order of the whole corpus."""
    passage_ids = {passage for question in questions for passage in paragraphs[question.id]}
    return tuple(passage for passage in passages if passage.id in passage_ids)


def described(questions: Collection[Question], sample: Sample, of: int) -> dict[str, Any]:
    """What travels with a sample in the settings of its origin: n, of how many, seed, rule, and the first 16 hex digits
    of SHA-256 of the drawn ids, one a line."""
    ids = hashlib.sha256("\n".join(question.id for question in questions).encode()).hexdigest()[:16]
    return {"n": sample.n, "of": of, "seed": sample.seed, "rule": sample.rule, "ids": ids}
