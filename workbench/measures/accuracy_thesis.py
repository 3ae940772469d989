"""accuracy:thesis: a heuristic, then a judge for undecided answers ("The Reasoning Bottleneck in Graph-RAG", arXiv
2603.14045, section 4.5 and companion code).

    n(x)  NFKD, lower case, white space collapsed, the edge characters of the abstention rule stripped
    a(x)  NFKD, lower case, bracketed parts dropped, letters a-z, digits and spaces kept, white space collapsed
    1.  n(answer) is an abstention phrase         → wrong; right only if there is no gold answer
    2.  n(gold) in n(answer) or n(answer) in n(gold), as substrings, for some gold answer   → right
    3.  a(gold) = a(answer), or their last words are the same one of four characters or more → right
    4.  else the judge: right only if it replies `correct`; `unknown` and a failed judge are wrong

It keeps the source's flaws so that its numbers are comparable: "no" is in "know", "19" in "1919", an answer "a" in most
gold answers. There is one departure: an empty n(answer), n(gold) or a(x) matches nothing, while in the source the empty
string is in every gold answer (`docs/traps.md`, 2 and 3). Without gold, the judge is not called. A failed question is
wrong.

`accuracy:thesis:text` removes the articles from n(x) in stage 2, which the text claims and the code does not do.
`accuracy:heuristic` is stages 1 to 3 alone, with undecided answers wrong: the measure without a judge. `judged` is the
share of answers left to the judge, `judge_unknown` the share that it did not decide or failed on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.measures.abstained import EDGES, THESIS_PHRASES
from workbench.text import normalized

_BRACKETED = re.compile(r"\([^)]*\)|\[[^\]]*\]|\{[^}]*\}")
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NOT_KEPT = re.compile(r"[^a-z0-9 ]")


def heuristic(answer: str | None, gold: Sequence[str], articles: bool = True) -> bool | None:
    """Right, wrong, or None if the judge must decide. `answer` is None for an abstention without text; without
    `articles`, texts are compared without theirs.

    >>> heuristic("It was Paris", ["Paris"]), heuristic("Par", ["Paris"]), heuristic("J. Tolkien", ["John Tolkien"])
    (True, True, True)
    >>> heuristic("Tower of London", ["the Tower of the London"], articles=False)
    True
    >>> heuristic("not sure", ["Paris"]), heuristic("not sure", []), heuristic("...", ["Paris"])
    (False, True, False)
    >>> heuristic("the French capital", ["Paris"]) is None
    True
    """
    plain = None if answer is None else normalised(answer)
    if plain is None or plain in THESIS_PHRASES:
        return not gold
    if not gold or not plain:
        return False
    rights = map(normalised, gold)
    if not articles:
        plain, *rights = (" ".join(_ARTICLES.sub(" ", text).split()) for text in (plain, *rights))
    if plain and any(right and (right in plain or plain in right) for right in rights):
        return True
    return True if any(_alias(answer, right) for right in gold) else None


def accuracy_thesis(
    answer: str | None, gold: Sequence[str], verdict: str | None = None, articles: bool = True
) -> float:
    """`verdict` of the judge: `correct`, `incorrect`, `unknown`; None if it was not called. `articles`: `heuristic`.

    >>> accuracy_thesis("the French capital", ["Paris"], "correct"), accuracy_thesis("the French capital", ["Paris"])
    (1.0, 0.0)
    """
    decided = heuristic(answer, gold, articles)
    return float(verdict == "correct" if decided is None else decided)


def normalised(text: str) -> str:
    """n(x) of the source.

    >>> normalised(' "Paris,  France." ')
    'paris, france'
    """
    return " ".join(normalized("NFKD", text).lower().split()).strip(EDGES)


def _alias(answer: str, right: str) -> bool:
    """Stage 3. Abstaining gold answers do not match by their last word."""
    a, b = (
        " ".join(_NOT_KEPT.sub("", _BRACKETED.sub(" ", normalized("NFKD", text).lower())).split())
        for text in (answer, right)
    )
    if not a or not b:
        return False
    last = a.split()[-1]
    return a == b or (last == b.split()[-1] and len(last) >= 4 and normalised(right) not in THESIS_PHRASES)
