"""The interface of an encoder, and a cache of its vectors.

Query-time encoding goes through `cached(encoder)`, which stores vectors by text. The last bits of a vector depend on
the other texts of its batch and on the number of threads, so the cache encodes each text alone, on one thread: its
vector is the same regardless of earlier requests (`benchmarks/query_cache.py` measures the cost).
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, runtime_checkable
from weakref import WeakValueDictionary

import numpy as np

KEPT = 64 << 20  # bytes of texts and vectors in a cache: about 35,000 questions of 384 dimensions


@runtime_checkable
class Encoder(Protocol):
    """The interface that the index requires. `name` identifies vectors: equal names must mean equal vectors.

    An index keeps what was encoded in the working folder (`store.py`). One that has `stored = False` is left out: plain
    arithmetic, which costs less than to look a text up, or one that keeps its vectors itself.
    """

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Unit rows, float32, shape (len(texts), dimension)."""
        ...

    def encode_query(self, text: str, task: str = "") -> np.ndarray:
        """One unit vector, float32, shape (dimension,). `task` names what is searched, for instructed encoders."""
        ...


@runtime_checkable
class Instructed(Protocol):
    """An encoder that exposes the text it encodes for a query, so a cache can detect that two queries are the same."""

    def as_query(self, text: str, task: str = "") -> str | None:
        """The text for which `encode` returns the vector of `encode_query`; None if there is none."""
        ...


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
        vectors = {text: self._vector(text) for text in dict.fromkeys(texts)}
        return np.stack([vectors[text] for text in texts])

    def encode_query(self, text: str, task: str = "") -> np.ndarray:
        """One read-only unit vector, float32, shape (dimension,)."""
        if isinstance(self.encoder, Instructed) and (instructed := self.encoder.as_query(text, task)) is not None:
            return self._vector(instructed)
        return self._cached((text, task), lambda: self.encoder.encode_query(text, task))

    def clear(self) -> None:
        """Forget all vectors."""
        with self._lock:
            self._vectors.clear()
            self._bytes = 0

    def _vector(self, text: str) -> np.ndarray:
        return self._cached((text, None), lambda: self.encoder.encode([text])[0])

    def _cached(self, key: tuple[str, str | None], encode: Callable[[], np.ndarray]) -> np.ndarray:
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
    noted: dict = {}
    token = _encoded.set(noted)
    try:
        yield noted
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
        cache = _caches.get(id(encoder))
        if cache is None:
            cache = _caches[id(encoder)] = CachedEncoder(encoder)
        return cache
