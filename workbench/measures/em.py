"""em: 1 if the normalised answer equals a gold answer or alias, else 0 (SQuAD; as in HippoRAG 2's released code).

Normalisation: lower case, ASCII punctuation deleted, the words a, an, the deleted, white space collapsed.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(text: str) -> str:
    """
    >>> normalised("The  Beatles' (1968)")
    'beatles 1968'
    """
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(answer: str, gold: Sequence[str]) -> float:
    """The best over the gold answers; an abstention is an empty answer and matches none. Answers of which nothing is
    left ("The The", "A") are equal, as in the released code.

    >>> exact_match("the Eiffel Tower", ["Eiffel tower", "La tour Eiffel"]), exact_match("The The", ["the the"])
    (1.0, 1.0)
    """
    plain = normalised(answer)
    return float(bool(answer.strip()) and any(plain == normalised(right) for right in gold))
