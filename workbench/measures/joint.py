"""joint@k: 1 if every gold passage is among the first k and the answer contains a gold answer, else 0.

CatRAG calls it joint success rate (JSR) at k = 5. The containment test is that of its released code: texts are
normalised as for `em`, and the gold answer must occur at word boundaries, so that NOT_SUPPORTED does not contain
SUPPORTED. `accuracy` is the same test made strict; where they differ ("not Paris", abstentions, accents), `joint` does
as the released code. A question without gold passages or without a gold answer is undefined; there it counts as 0.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from workbench.measures.all_gold import all_gold
from workbench.measures.em import normalised


def joint(ranking: Sequence[str], support: Collection[str], answer: str, gold: Sequence[str], k: int) -> float:
    """`ranking`: passage ids, best first; `support`: ids of the gold passages; `gold`: answers and aliases.

    >>> joint(["a", "b"], ["b"], "in Paris", ["Paris"], k=2), joint(["a", "b"], ["b"], "in Paris", ["Paris"], k=1)
    (1.0, 0.0)
    >>> joint(["a"], ["a"], "NOT_SUPPORTED", ["SUPPORTED"], k=5)
    0.0
    """
    return float(bool(all_gold(ranking, support, k)) and contains(answer, gold))


def contains(answer: str, gold: Sequence[str]) -> bool:
    """Whether a gold answer occurs in the answer at word boundaries.

    >>> contains("It is The Eiffel  Tower!", ["eiffel tower"]), contains("1919", ["19"]), contains("x", ["the"])
    (True, False, False)
    """
    said = normalised(answer)
    wanted = filter(None, map(normalised, gold))
    return any(re.search(rf"(?<!\w){re.escape(right)}(?!\w)", said) for right in wanted)
