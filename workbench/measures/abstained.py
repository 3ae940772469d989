"""abstained: 1 if no answer was given because the evidence does not hold it, else 0. A failure is not an abstention.

`abstained` combines the reader's own statement and `is_abstention` on the text. `abstained:answerable` and
`abstained:unanswerable` are the same over the questions with and without a gold answer: the first should be low, the
second high. `abstained:thesis` is the exact rule of "The Reasoning Bottleneck in Graph-RAG" (arXiv 2603.14045,
companion code): no answer at all, or the whole text is one of six phrases. It misses a typographic apostrophe and a
phrase with an explanation after it (`docs/traps.md`, 5); `is_abstention` does not.
"""

from __future__ import annotations

import re

from workbench.text import normalized

THESIS_PHRASES = ("i don't know", "i do not know", "unknown", "not sure", "cannot determine", "can't tell")
EDGES = " \t\r\n\f\v.?!:;\"'`~()[]{}"
_APOSTROPHES = str.maketrans(dict.fromkeys("\u2018\u2019\u02bc\u00b4\u0060", "'"))
_PHRASE = re.compile(
    r"(?:sorry, |unfortunately, )?(?:(?:based on|according to|from|given) [^,.]{1,60}, )?"
    r"(?:(?:it|this|that|the answer) is |i am |i'm |i )?"
    r"(?:unknown|unanswerable|not sure|(?:really )?(?:do not|don't) know"
    r"|(?:it |this )?(?:cannot|can't|can not|could not|couldn't)(?: be)?"
    r" (?:determined?|tell|told|say|said|answer(?:ed)?)"
    r"|(?:there is )?(?:not enough information|insufficient information|no information|no answer)"
    r"|not (?:stated|mentioned|given|specified|provided|found|known|available|disclosed|answerable|applicable)"
    r"|(?:the |these )?(?:provided |given )?(?:passages?|context|texts?|documents?|evidence)"
    r" (?:do not|don't|does not|doesn't) (?:say|state|mention|contain|provide|give|hold|include|specify))"
    r"(?P<rest>.*)"
)
# The whole of a short answer.
_ALONE = re.compile(
    r"(?:none|nothing|null|nil|n/?a|not applicable|none (?:given|stated|mentioned|provided|of the above|found)"
    r"|no (?:such )?(?:answer|information|data|mention|evidence|one is mentioned)(?: (?:is )?(?:given|found|available"
    r"|provided))?|unclear|undetermined|unspecified|undisclosed|indeterminate|inconclusive|(?:i )?abstain)"
)
# The same in German, French, Spanish, Chinese and Japanese, as the whole answer; prompts ask for the English word.
_ELSEWHERE = re.compile(
    r"unbekannt|(?:das )?weiss ich nicht|ich weiss (?:es )?nicht|nicht (?:bekannt|angegeben|genannt|beantwortbar)"
    r"|keine (?:antwort|angabe)|inconnue?|je ne sais pas|non précisé|desconocid[oa]|no (?:lo )?sé"
    r"|未知|不知道|不详|不清楚|无法(?:确定|回答|得知)|(?:文中)?(?:未提及|没有提到|没有说明)|没有答案|不明(?:です)?|[分わ]かりません"
)
# What may follow a phrase: the end of a sentence, or words about not knowing, unlike "Unknown Pleasures".
_GOES_ON = re.compile(
    r"$|[.;,!?]|\s*[\u2013\u2014]|\s-|\s*\((?:the|no|not|it)\b|\s*\([^()]*\b(?:not|no|none|cannot|missing|lacking|unavailable)\b"
    r"|\s+(?:because|since|as|based|from|given|in the|who|what|when|where|which|whether|if|the|this|that|any|about"
    r"|for|is given|is provided|is available|how (?:many|much|long|far|old|tall|high|deep))\b"
)
_BUT = re.compile(  # in the same sentence, or a guess right after it
    r"[^.;!?]*,\s*(?:but|however|though)\b"
    r"|\W*(?:but|however|probably|perhaps|maybe|possibly|my (?:best )?guess|i (?:would )?(?:guess|think|believe))\b"
)


def is_abstention(text: str | None) -> bool:
    """Whether a free text begins with a statement that it does not answer. Empty text is an abstention; a guess after
    the phrase is an answer.

    >>> [is_abstention(text) for text in (None, " ", "I don’t know", "I don't know. They are about fog.")]
    [True, True, True, True]
    >>> [is_abstention(text) for text in ("N/A", "unknown (no date is given)", "None but the Brave")]
    [True, True, False]
    >>> [is_abstention(text) for text in ("Das weiß ich nicht.", "无法确定。", "未知的海")]
    [True, True, False]
    >>> [is_abstention(text) for text in ("Unknown Pleasures", "I don't know, but I think Paris", "Paris, not sure")]
    [False, False, False]
    """
    plain = " ".join(normalized("NFKC", text or "").translate(_APOSTROPHES).casefold().split())
    plain = plain.strip(EDGES + "*_\u201c\u201d。")
    if not plain or _ALONE.fullmatch(plain) or _ELSEWHERE.fullmatch(plain):
        return True
    match = _PHRASE.match(plain)
    if not match:
        return False
    return bool(_GOES_ON.match(match["rest"])) and not _BUT.match(match["rest"])


def is_abstention_thesis(text: str | None) -> bool:
    """
    >>> [is_abstention_thesis(text) for text in (None, "(I don't  know.)", "I don’t know", "I don't know. No.", "")]
    [True, True, False, False, False]
    """
    return text is None or " ".join(text.lower().split()).strip(EDGES) in THESIS_PHRASES
