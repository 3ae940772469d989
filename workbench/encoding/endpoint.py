"""Encoders behind an embeddings endpoint of OpenAI's form: `openai:text-embedding-3-small`.

store or recording ← budget ← retry ← endpoint, as for a chat engine (`workbench.llm.chat`). Texts are sent in batches,
but each is kept by itself, so that what is kept serves any batch size and any corpus that shares texts with the first.
"""

from __future__ import annotations

import inspect
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from workbench import places, tokens
from workbench.encoding import models
from workbench.encoding.store import ModelCheck, VectorStore
from workbench.errors import EngineError, SettingError
from workbench.llm.call import EMBEDDING, Call, CallFailed, EmbeddingRequest, Reply, Request, retrying
from workbench.llm.chat import Line, at_least_one, located
from workbench.llm.endpoint import decoded, embeddings
from workbench.llm.engine import Recipe, budget_of
from workbench.llm.meter import Budget, Meter, limited, money
from workbench.llm.record import Recording, recording_each, replaying
from workbench.llm.step import Usage
from workbench.records import Record
from workbench.text import storable
from workbench.threads import in_order

_MOST = 128_000_000  # bytes of an answer: some servers write vectors as decimal numbers
BLOCK = 512_000  # characters per block of an index build: enough texts for some requests at once


class Text(NamedTuple):
    """A text as sent: its cl100k tokens, and whether it was cut."""

    content: str
    tokens: int
    cut: bool


class EndpointEncoder(Record):
    """Vectors of a model behind an endpoint, as unit rows. `meter` counts what they cost, a request as one call.

    An answer is kept whole or not at all: an unreadable one, too few vectors, another dimension or NaN raise an
    `EngineError`, and what was encoded before stays. Rows of a run share the vectors of questions through a cache, so
    these are no part of a row's usage. `folder` has the store of its vectors; without one, a recording holds them.
    """

    stored = False  # by the index: it does that itself, because vectors of questions are paid for as well
    block_characters = BLOCK

    def __init__(
        self,
        model: str,
        connect: Callable[[], Call],
        *,
        dimensions: int | None = None,
        max_tokens: int | None = None,
        instruction: models.Instruction = None,
        batch_size: int = 128,
        batch_tokens: int = 32_000,
        concurrency: int = 8,
        record: Recording | None = None,
        replay: Recording | None = None,
        folder: Path | None = None,
        budget: Budget | None = None,
        close: Callable[[], None] = lambda: None,
    ):
        facts = models.KNOWN.get(f"openai:{model}")
        self.engine, self.meter = f"openai:{model}", Meter(apart=True)
        self.dimensions = None if dimensions is None else at_least_one(dimensions=dimensions)
        self.max_tokens = facts.max_tokens if facts and max_tokens is None else max_tokens
        self.max_tokens is None or at_least_one(max_tokens=self.max_tokens)
        self.instruction = models.instruction_of(instruction)
        self.batch_size = at_least_one(batch_size=batch_size)
        self.batch_tokens = at_least_one(batch_tokens=batch_tokens)
        self.concurrency = at_least_one(concurrency=concurrency)
        self.name, self.settings = self._named(model)
        self._length = self.dimensions or (facts and facts.dimension)
        self._connect, self._record, self._replay, self.folder = connect, record, replay, folder
        self._close, self._lock, self._check = close, threading.Lock(), ModelCheck(self)
        self._call, self.budget = self._send, budget
        if budget is not None:
            self.limit(budget)
        self.live = False  # whether the endpoint has encoded in this process, and not only its store
        self.recipe: Recipe | None = None  # None: it was made otherwise than by `openai_encoder`
        weakref.finalize(self, close)

    def _named(self, model: str) -> tuple[str, dict[str, Any]]:
        """The name and the settings by which an index names the encoder: what changes vectors, and no address."""
        settings = {"dimensions": self.dimensions, "max_tokens": self.max_tokens}
        settings = {name: value for name, value in settings.items() if value is not None}
        label = f"[{','.join(f'{name}={value}' for name, value in settings.items())}]" if settings else ""
        name = f"openai:{model}{label}" + (f" {self.instruction!r}" if self.instruction else "")
        instructed = {"instruction": models.plain(self.instruction)} if self.instruction else {}
        return name, {"spec": f"openai:{model}", **settings, **instructed}

    def __repr__(self) -> str:
        return f"EndpointEncoder({self.name}: {self.meter!r})"

    @property
    def dimension(self) -> int:
        """Known, or learned from the store or the first vector."""
        if self._length is None and self._vectors is None:
            self.encode(["dimension"])
        return self._length

    def limit(self, budget: Budget) -> None:
        """Send requests only within the budget; recorded vectors do not count."""
        self._call = limited(self._call, budget, self.engine)

    def keep(self, store: Recording) -> None:
        """Store every vector in a recording; to be called before the first is asked for."""
        self._record = store

    @property
    def store(self) -> Recording | None:
        """The recording that keeps every vector, so that none is asked for twice."""
        return self._record

    @property
    def record(self) -> Path | None:
        """The file of that recording."""
        return None if self._record is None else self._record.path

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Unit rows, float32, shape (len(texts), dimension)."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        row = {text: position for position, text in enumerate(dict.fromkeys(texts))}
        return self._encode(list(map(self.sent, row)))[[row[text] for text in texts]]

    def _encode(self, texts: list[Text]) -> np.ndarray:
        """Vectors of the store, and of the endpoint those that it has not."""
        store, rows = self._vectors, np.full(len(texts), -1)
        if store is not None:
            rows = store.rows([text.content for text in texts])
        held, missing = np.flatnonzero(rows >= 0), np.flatnonzero(rows < 0)
        taken = store.take(rows[held]) if len(held) else None
        if taken is not None:
            self._check.taken(texts[held[0]].content, taken[0])
        if len(missing):
            self._check.settle(self.anew)
        batches = list(self._in_batches(texts[at] for at in missing))
        answered = list(in_order(self._batch, batches, self.concurrency, self.close))
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for at, parts in ((held, [] if taken is None else [taken]), (missing, answered)):
            if parts:
                vectors[at] = np.concatenate(parts)
        return vectors

    @property
    def _vectors(self) -> VectorStore | None:
        """The store; None while the dimension is unknown, and where a recording holds the vectors."""
        if self.folder is None:
            return None
        if self._length is None and len(stores := VectorStore.in_folder(self.folder, self.name)) == 1:
            self._length = stores[0].dimension
        return VectorStore(self.folder, self.name, self._length) if self._length else None

    def anew(self, text: str) -> np.ndarray:
        """The unit vector of a text as the endpoint gives it now, whatever is kept of it; it is not kept."""
        return self._read_all([self.sent(text)], self._ask)[0]

    def encode_query(self, text: str, task: str = "") -> np.ndarray:
        return self.encode([self.as_query(text, task)])[0]

    def as_query(self, text: str, task: str = "") -> str:
        return models.instructed(self.instruction, text, task)

    def batches(self, texts: Iterable[str]) -> list[list[Text]]:
        """The texts as they are sent, in their order, by request: `batch_size` texts and `batch_tokens` at most."""
        return list(self._in_batches(map(self.sent, texts)))

    def sent(self, text: str) -> Text:
        """Cut to `max_tokens`; a space in place of nothing, which endpoints refuse."""
        content = storable(text) or " "
        size = tokens.count(content)
        if self.max_tokens is None or size <= self.max_tokens:
            return Text(content, size, False)
        cut = tokens.cut(content, self.max_tokens)
        return Text(cut, tokens.count(cut), True)

    def close(self) -> None:
        """Abort requests in flight. A later use connects again."""
        self._close()

    def _in_batches(self, texts: Iterable[Text]) -> Iterator[list[Text]]:
        batch, size = [], 0
        for text in texts:
            if batch and (len(batch) == self.batch_size or size + text.tokens > self.batch_tokens):
                yield batch
                batch, size = [], 0
            batch.append(text)
            size += text.tokens
        if batch:
            yield batch

    def _batch(self, batch: Sequence[Text]) -> np.ndarray:
        vectors = self._read_all(batch, self._answers)
        if (store := self._vectors) is not None:
            if not len(store):
                self._check.passed()
            store.add([text.content for text in batch], vectors)
        return vectors

    def _read_all(self, batch: Sequence[Text], answers: Callable[[Sequence[Request]], Sequence[Reply]]) -> np.ndarray:
        """The unit vectors of one request."""
        requests = [EmbeddingRequest.of(self.engine, [text.content], self.dimensions) for text in batch]
        try:
            replies = answers(requests)
            vectors = np.stack([self._read(reply.text) for reply in replies]).astype(np.float64)
        except CallFailed as error:
            self.meter.add(EMBEDDING, Usage(calls=1, failed=1))
            raise EngineError(
                f"{self.name} gave no vectors: {error}. Run the same again: what is encoded is kept; if "
                "the server takes fewer or shorter texts at once, give batch_size= or max_tokens="
            ) from None
        self.meter.add(EMBEDDING, self._usage(batch, replies))
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)

    def _usage(self, batch: Sequence[Text], replies: Sequence[Reply]) -> Usage:
        read, recorded = sum(reply.prompt_tokens for reply in replies), all(reply.recorded for reply in replies)
        seconds = max(reply.seconds for reply in replies)
        cut = sum(text.cut for text in batch)
        return Usage(1, read, 0, seconds, money(self.engine, read, 0), cut=cut, recorded=int(recorded))

    @cached_property
    def _answers(self) -> Callable[[Sequence[Request]], Sequence[Reply]]:
        """A reply per request, from a recording or from the endpoint."""
        if self._replay is not None:
            replay = replaying(self._replay)
            return lambda requests: [replay(request) for request in requests]
        return recording_each(self._ask, self._record) if self._record is not None else self._ask

    def _send(self, request: Request) -> Reply:
        with self._lock:
            call = self._endpoint
        return call(request)

    @cached_property
    def _endpoint(self) -> Call:
        """Connected to when it is first needed: an index is opened, or estimated, without a key."""
        return self._connect()

    def _ask(self, requests: Sequence[EmbeddingRequest]) -> list[Reply]:
        """One request to the endpoint for all of them; its tokens are shared out by the length of the texts."""
        texts = [text for request in requests for text in request.texts]
        reply = self._call(EmbeddingRequest.of(self.engine, texts, self.dimensions))
        lines = reply.text.split("\n")
        self._read(lines[0])
        self.live = True
        shares = _shares(reply.prompt_tokens, [tokens.count(text) for text in texts])
        return [Reply(line, prompt_tokens=share, seconds=reply.seconds) for line, share in zip(lines, shares)]

    def _read(self, text: str) -> np.ndarray:
        """The vector of a reply, if it is as long as all others."""
        try:
            vector = decoded(text)
        except ValueError as error:
            raise CallFailed(f"no vector is recorded for this text ({error})") from None
        with self._lock:
            self._length = self._length or len(vector)
        if len(vector) != self._length:
            raise CallFailed(f"a vector of {len(vector)} dimensions, where others of this model have {self._length}")
        return vector


def openai_encoder(
    model: str,
    *,
    dimensions: int | None = None,
    max_tokens: int | None = None,
    instruction: models.Instruction = None,
    batch_size: int = 128,
    batch_tokens: int = 32_000,
    concurrency: int = 8,
    timeout: float = 120.0,
    attempts: int = 5,
    record: str | Path | None = None,
    replay: str | Path | None = None,
    budget: Budget | None = None,
    max_money: float | None = None,
    max_calls: int | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
) -> EndpointEncoder:
    """`model` or `model@base_url`. Every vector is kept in the working folder (`workbench.places.vectors`), or in the
    file `record`, and never requested again; with `replay=FILE` vectors come from there alone, without a network or a
    key."""
    recipe = Recipe.of(f"openai:{model}", locals())
    model, url = located(model, base_url, such_as="text-embedding-3-small")
    if record and replay:
        raise SettingError("record= keeps what an endpoint answers, replay= asks none: give one of them")
    line, limits = Line(), {"budget": budget, "max_money": max_money, "max_calls": max_calls}
    budget = budget_of({name: limit for name, limit in limits.items() if limit is not None})

    def connect() -> Call:
        call = embeddings(url, api_key, timeout=timeout, http_client=line.client(most=_MOST))
        return line.asking(retrying(call, attempts=attempts, sleep=line.sleep))

    made = EndpointEncoder(
        model, connect, dimensions=dimensions, max_tokens=max_tokens, instruction=instruction, batch_size=batch_size,
        batch_tokens=batch_tokens, concurrency=concurrency, record=Recording(record) if record else None,
        replay=Recording(replay, create=False) if replay else None,
        folder=None if record or replay else places.vectors(), budget=budget, close=line.close,
    )  # fmt: skip
    made.recipe = recipe
    return made


OPTIONS = tuple(inspect.signature(openai_encoder).parameters)[1:]


def _shares(total: int, sizes: Sequence[int]) -> list[int]:
    """A whole number divided in proportion to sizes; the parts add up to it.

    >>> _shares(10, [1, 1, 2])
    [2, 3, 5]
    """
    whole, shares, so_far = max(1, sum(sizes)), [], 0
    for size in sizes:
        so_far += size
        shares.append(total * so_far // whole - sum(shares))
    return shares
