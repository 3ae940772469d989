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
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.measures.abstained import is_abstention
from workbench.measures.words import OPPOSITE, is_yes_no, places, words


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
