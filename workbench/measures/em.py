"""em: 1 if the normalised answer equals a gold answer or alias, else 0 (SQuAD; as in HippoRAG 2's released code).

Normalisation: lower case, ASCII punctuation deleted, the words a, an, the deleted, white space collapsed.

A text with han or kana has no words between spaces. It is segmented as by MLQA (Lewis et al., ACL 2020; the mixed
segmentation of CMRC 2018, Cui et al., EMNLP 2019): each of these characters alone, all else between spaces, punctuation
of any script deleted, no articles.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Sequence

from workbench.text import apart, normalized, unspaced

_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(text: str) -> str:
    """
    >>> normalised("The  Beatles' (1968)"), normalised("《沙湖》，1889年。")
    ('beatles 1968', '沙 湖 1889 年')
    """
    if unspaced(text):
        lowered = normalized("NFKC", text).lower()
        return " ".join(apart("".join(" " if _is_mark(letter) else letter for letter in lowered)).split())
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text.lower().translate(_PUNCTUATION)).split())


def _is_mark(letter: str) -> bool:
    return letter in string.punctuation or unicodedata.category(letter)[0] == "P"


def exact_match(answer: str, gold: Sequence[str]) -> float:
    """The best over the gold answers; an abstention is an empty answer and matches none. Answers of which nothing is
    left ("The The", "A") are equal, as in the released code.

    >>> exact_match("the Eiffel Tower", ["Eiffel tower", "La tour Eiffel"]), exact_match("The The", ["the the"])
    (1.0, 1.0)
    """
    plain = normalised(answer)
    return float(bool(answer.strip()) and any(plain == normalised(right) for right in gold))
