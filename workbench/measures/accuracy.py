"""accuracy: 1 if the answer contains a gold answer, else 0.

The containment test of CatRAG's joint success rate (as in its released code: the gold answer occurs in the predicted
one at word boundaries), over the words of `workbench.measures.words`, made strict:

* gold in answer, never answer in gold: "Columbus" is not "Columbus, Ohio", and an empty answer contains nothing;
* an abstention is wrong; without a gold answer it is right, and everything else is wrong;
* an answer to a gold yes or no must begin with it: "no" is neither in "know" nor in "There is no doubt: yes";
* an occurrence right after "not" does not count;
* if the gold answers are a set (`answer_set`), one of them is enough, as with Hits@1.

Limits: an answer that lists candidates contains the right one, so compare with `em` and `f1`; and another wording of a
right answer is wrong, which `accuracy:thesis` leaves to a judge. HippoRAG 2, CatRAG and the thesis have no unanswerable
questions; over questions with an answer, the measure is what they call accuracy.

accuracy:thesis: a heuristic, then a judge for undecided answers ("The Reasoning Bottleneck in Graph-RAG", arXiv
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

from workbench.measures.abstained import EDGES, THESIS_PHRASES, is_abstention
from workbench.measures.words import OPPOSITE, is_yes_no, places, words
from workbench.text import normalized


def accuracy(answer: str | None, gold: Sequence[str]) -> float:
    """`answer`: None for an abstention; `gold`: answers and aliases, empty if the question has none.

    >>> accuracy("He was born in New  York City.", ["Big Apple", "new york"])
    1.0
    >>> accuracy("1919", ["19"]), accuracy("", ["Paris"]), accuracy("York", ["New York"])
    (0.0, 0.0, 0.0)
    >>> accuracy("Not Paris", ["Paris"]), accuracy("not Paris but Paris, Texas", ["Paris"])
    (0.0, 1.0)
    >>> accuracy("No, he did not.", ["no"]), accuracy("I know: yes", ["no"]), accuracy("yes or no", ["yes"])
    (1.0, 0.0, 0.0)
    >>> accuracy("I don’t know.", ["Paris"]), accuracy("I don’t know.", []), accuracy("Paris", []), accuracy(None, [])
    (0.0, 1.0, 0.0, 1.0)
    """
    abstains = answer is None or is_abstention(answer)
    if abstains or not gold:
        return float(abstains and not gold)
    given = words(answer)
    return float(any(_begins_with(right, given) if is_yes_no(right) else _holds(words(right), given) for right in gold))


def _begins_with(right: str, given: list[str]) -> bool:
    """The first word, unless the next one revokes it, as in "yes or no"."""
    (wanted,) = words(right)
    other = OPPOSITE[wanted]
    return given[:1] == [wanted] and given[1:2] != [other] and given[1:3] not in (["or", other], ["and", other])


def _holds(right: list[str], given: list[str]) -> bool:
    return any(given[at - 1 : at] != ["not"] for at in places(right, given))


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
