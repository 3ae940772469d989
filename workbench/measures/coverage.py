"""coverage: 1 where the retrieved context holds a gold answer or alias, else 0: could the reader have known?

The context is the text before any compression (`workbench.experiments.evaluate` says which). The measure comes from
"The Reasoning Bottleneck in Graph-RAG" (arXiv 2603.14045, section 4.5).

* `coverage`: some gold answer occurs at word boundaries. Not defined where a gold answer is yes or no, which nearly
  every text holds, nor where there is none.
* `coverage:substring`: the source's own: a gold answer, lower-cased and stripped, is a substring of the lower-cased
  context with its spaces made one. "no" is in "know" and "19" in "1919"; yes and no count.
* `coverage:bridge`: the answers of all steps of the decomposition occur at word boundaries, the last one or an alias of
  it; yes and no are no step to be found. Not defined without a decomposition. The source has it for MuSiQue, with
  substrings.
* `coverage:titles`: the titles of all gold passages, without a bracketed suffix, and a gold answer that is not yes or
  no occur at word boundaries: the source's for HotpotQA. Not defined without gold passages that have titles. Its
  third one, for 2Wiki, looks for the subjects and objects of evidence triples, which a question does not hold.
* `coverage:read`, `coverage:read:substring`: the first two on what the reader was shown: after compression. What falls
  between the two was cut by the compressor, and is no failure of reasoning.

Where the gold answers are a set, one of them is enough."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from workbench.measures.words import is_yes_no, places, words


def coverage(context: str, gold: Sequence[str]) -> float | None:
    """
    >>> coverage("Nora  Whitlock was born in Orsby.", ["Alderby", "orsby"]), coverage("Born in 1919.", ["19"])
    (1.0, 0.0)
    >>> coverage("I know it.", ["no"]) is None
    True
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
    """`steps`: the answers of the decomposition in their order.

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


_SUFFIX = re.compile(r"\s*\([^()]*\)\s*$")


@lru_cache(maxsize=8)
def words_of(context: str) -> list[str]:
    """Kept, since a context is long and several measures look into it."""
    return words(context)


def _any_in(names: Sequence[str], context_words: list[str]) -> bool:
    return any(places(words(name), context_words) for name in names)
