"""Sentences and words of pieces: spaCy's rules for English, without a model.

They split most languages with spaces as well. Of han and kana, a sentence ends at its full stop, and a word is every
two neighbours (`text.terms`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

_UNSPACED_STOP = re.compile(r"[。！？][”’）」』】》]*(?=\S)")


@cache
def splitter():
    import spacy

    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    pipeline.max_length = 2**31
    return pipeline


@cache
def stop_words() -> frozenset[str]:
    """spaCy's English stop words, but for clitics such as `'s`, which are none in the source."""
    from spacy.lang.en.stop_words import STOP_WORDS

    return frozenset(filter(str.isalpha, STOP_WORDS))


def sentences(texts: Sequence[str]) -> Iterator[list[list[str]]]:
    """The sentences of each text, as lists of words and marks in the letters in which they are written."""
    for doc in splitter().pipe(map(_with_gaps, texts)):
        split = ([token.text for token in sentence if not token.is_space] for sentence in doc.sents)
        yield [words for words in split if words]


def _with_gaps(text: str) -> str:
    """A space after each full stop of han and kana, since these have none."""
    return text if text.isascii() else _UNSPACED_STOP.sub(r"\g<0> ", text)
