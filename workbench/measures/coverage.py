"""coverage: 1 if the retrieved context contains a gold answer or alias, else 0. It tells whether the reader could have
known the answer.

The context is the text before any compression (`workbench.evaluation.evaluate`). The measure comes from "The Reasoning
Bottleneck in Graph-RAG" (arXiv 2603.14045, section 4.5).

* `coverage`: some gold answer occurs at word boundaries. Undefined if a gold answer is yes or no, which nearly every
  text contains (`docs/traps.md`, 4), and without a gold answer.
* `coverage:substring`: the source's own: a gold answer, lower-cased and stripped, is a substring of the lower-cased
  context with collapsed white space. "no" is in "know" and "19" in "1919"; yes and no count.
* `coverage:bridge`: the answers of all steps of the decomposition occur at word boundaries, for the last one any alias;
  yes and no are not searched for. Undefined without a decomposition. The source has it for MuSiQue, with substrings.
* `coverage:titles`: the titles of all gold passages, without a bracketed suffix, and a gold answer other than yes or no
  occur at word boundaries: the source's for HotpotQA. Undefined without gold passages that have titles. Its third one,
  for 2Wiki, searches for the subjects and objects of evidence triples, which a question does not contain.
* `coverage:read`, `coverage:read:substring`: the first two on the text that the reader was shown, after compression.
  The compressor removed an answer that is covered but not read; this is not a failure of reasoning (`docs/traps.md`,
  14).

If the gold answers are a set, one of them is enough.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from workbench.measures.words import is_yes_no, places, words


def coverage(context: str, gold: Sequence[str]) -> float | None:
    """
    >>> coverage("Nora  Whitlock was born in Orsby.", ["Alderby", "orsby"]), coverage("Born in 1919.", ["19"])
    (1.0, 0.0)
    >>> coverage("I know it.", ["no"]) is None, coverage("她生于沙湖镇。", ["沙湖"])
    (True, 1.0)
    """
    if not gold or any(map(is_yes_no, gold)):
        return None
    return float(_any_in(gold, words_of(context)))


def coverage_substring(context: str, gold: Sequence[str]) -> float | None:
    """
    >>> coverage_substring("I  know it.", ["no"]), coverage_substring("Born in\\n1919.", ["in 19"])
    (1.0, 1.0)
    """
    text = " ".join(context.lower().split())
    sought = [right.lower().strip() for right in gold]
    return float(any(right and right in text for right in sought)) if gold else None


def coverage_bridge(context: str, gold: Sequence[str], steps: Sequence[str]) -> float | None:
    """`steps`: the answers of the decomposition in order.

    >>> coverage_bridge("Orsby was founded by Nora Whitlock.", ["Aldby", "Orsby"], ["Nora Whitlock", "Aldby"])
    1.0
    >>> coverage_bridge("Nora Whitlock was born in Orsby.", ["Orsby"], ["Kestrel FM", "Nora Whitlock", "Orsby"])
    0.0
    """
    sought = [[step] for step in steps[:-1]] + [[*steps[-1:], *gold]] if steps else []
    sought = [names for names in sought if not any(map(is_yes_no, names))]
    context_words = words_of(context)
    return float(all(_any_in(names, context_words) for names in sought)) if sought else None


def coverage_titles(context: str, gold: Sequence[str], titles: Sequence[str]) -> float | None:
    """`titles`: of the gold passages.

    >>> coverage_titles("Orsby lies on Lake Mira.", ["Lake Mira"], ["Orsby (town)"])
    1.0
    >>> coverage_titles("Orsby lies on Lake Mira.", ["yes"], ["Orsby", "Aldby"])
    0.0
    """
    if not gold or not titles or not all(map(str.strip, titles)):
        return None
    context_words = words_of(context)
    named = all(_any_in([_SUFFIX.sub("", title) or title], context_words) for title in titles)
    return float(named and (any(map(is_yes_no, gold)) or _any_in(gold, context_words)))


_SUFFIX = re.compile(r"\s*(?:\([^()]*\)|（[^（）]*）)\s*$")


@lru_cache(maxsize=32)
def words_of(context: str) -> list[str]:
    """Cached, because a context is long, and several measures search it, of several readers."""
    return words(context)


def _any_in(names: Sequence[str], context_words: list[str]) -> bool:
    return any(places(words(name), context_words) for name in names)
