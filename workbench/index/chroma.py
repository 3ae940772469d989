"""Chroma collections derived from an index: for other programs, for metadata filters, and for `dense[store=chroma]`.

They are in a folder `chroma/` beside the layers, or on a server (`chroma run --path DIR --port 8000`). The matrices of
the index stay the truth: Chroma's neighbours are approximate and differ from build to build, so no other method reads
them, and `agreement` measures how many of the exact ones they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.display import tqdm
from workbench.encoding.similarity import top
from workbench.errors import IndexFault, SettingError, require_extra
from workbench.index.index import Index
from workbench.index.store import key_of
from workbench.records import Record
from workbench.text import text_hash

KINDS = ("passages", "phrases", "facts")
_FOLDER = "chroma"  # in the folder of the index
_MARK = "hopscope"  # metadata: the hash of what was written of a row


def derive(index: Index, kinds: Sequence[str] = KINDS, client: Any = None, *, server: str = "", progress: bool = False):
    """Bring the collections of an index up to date and return the client: that of `server` (`host:port`), otherwise of
    the folder `chroma/` beside the layers. Their names are those of `collection_name`.

    Ids: the passage's id, else the hash of the phrase or of the fact's text. What has gone is deleted, what is new or
    has changed is written, and the rest stays as it is, unless another encoder made it."""
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise SettingError(f"{unknown[0]!r} cannot be derived; choose from {', '.join(KINDS)}")
    require_extra("chroma", IndexFault)
    from chromadb.errors import ChromaError

    try:
        client = client or client_of(index, server)
        for kind in kinds:
            _bring_up_to_date(client, index, kind, progress)
    except ChromaError as error:
        place = f"the Chroma server at {server}" if server else f"{index.folder / _FOLDER}"
        raise IndexFault(
            f"{place} cannot be used ({error}); it holds nothing but copies: where it is damaged, delete it, and the "
            "same command in a new process writes it again"
        ) from error
    return client


def client_of(index: Index, server: str = "") -> Any:
    """The client of a server `host:port`, or of the folder beside the layers."""
    require_extra("chroma", IndexFault)
    import chromadb

    settings = chromadb.Settings(anonymized_telemetry=False)
    if not server:
        return chromadb.PersistentClient(path=str(index.folder / _FOLDER), settings=settings)
    host, colon, port = server.rpartition(":")
    if not (host and colon and port.isdecimal()):
        raise SettingError(f"server={server!r}; it should be host:port, such as localhost:8000")
    try:
        return chromadb.HttpClient(host=host, port=int(port), settings=settings)
    except ValueError as error:  # the error of Chroma's client if no server answers
        raise IndexFault(
            f"no Chroma server answers at {server} ({error}); start one with: chroma run --path DIR --port {port}"
        ) from None


def collection_name(index: Index, kind: str) -> str:
    """Data set, encoder and kind, in the characters that Chroma allows: indexes may share a server."""
    made = text_hash(f"{index.name} {index.extraction} {index.manifest['encoder']['name']}")[:8]
    return f"{re.sub('[^A-Za-z0-9-]+', '-', index.name).strip('-') or 'index'}-{made}-{kind}"


class PassageStore:
    """The passages of an index in Chroma, brought up to date when it is opened."""

    def __init__(self, index: Index, server: str = "", client: Any = None):
        client = derive(index, ["passages"], client, server=server)
        self._collection = client.get_collection(collection_name(index, "passages"), embedding_function=None)
        self._row = index.passages.row

    def nearest(
        self, vector: np.ndarray, k: int, *, title: str = "", contains: str = ""
    ) -> tuple[np.ndarray, np.ndarray]:
        """(rows, cosines) of the at most k nearest passages that Chroma finds, best first, equal ones by row;
        optionally only those of a `title`, or whose title or text `contains` a string."""
        result = self._collection.query(
            query_embeddings=[np.asarray(vector)],
            n_results=min(k, self._collection.count()),
            where={"title": title} if title else None,
            where_document={"$contains": contains} if contains else None,
            include=["distances"],
        )
        rows = np.array([self._row[id] for id in result["ids"][0]], dtype=np.int64)
        cosines = 1 - np.array(result["distances"][0], dtype=np.float32)
        order = np.lexsort((rows, -cosines))
        return rows[order], cosines[order]


@dataclass(frozen=True, slots=True, repr=False)
class StoreAgreement(Record):
    """The share of the k nearest passages by exact search that a store finds: `shares`, one per question."""

    index: str
    store: str
    k: int
    shares: tuple[float, ...]

    @property
    def mean(self) -> float:
        return sum(self.shares) / len(self.shares)


def agreement(
    index: Index, questions: Sequence[str], k: int = 10, *, server: str = "", client: Any = None
) -> StoreAgreement:
    """Compare the passages nearest to the questions by exact search with those that Chroma finds. The collection is
    filled first."""
    if not questions:
        raise SettingError("agreement was given no questions; pass at least one text")
    store, shares = PassageStore(index, server, client), []
    for question in questions:
        vector = index.encode_query(question, "passages")
        exact = set(top(index.passages.vectors @ vector, k).tolist())
        shares.append(len(exact & set(store.nearest(vector, k)[0].tolist())) / len(exact))
    return StoreAgreement(index.name, f"chroma at {server}" if server else "chroma", k, tuple(shares))


def _bring_up_to_date(client: Any, index: Index, kind: str, progress: bool) -> None:
    made_from = key_of(kind=kind, layers=index.manifest["layers"], encoder=index.manifest["encoder"]["name"])
    collection = client.get_or_create_collection(
        collection_name(index, kind), embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )
    if (collection.metadata or {}).get("made_from") == made_from:
        return
    ids, texts, vectors, metadata = _rows(index, kind)
    marks = [text_hash(f"{text} {entry}") for text, entry in zip(texts, metadata)]
    held = collection.get(include=["metadatas"])
    marks_held = {id: entry.get(_MARK) for id, entry in zip(held["ids"], held["metadatas"])}
    changed = [row for row, id in enumerate(ids) if marks_held.get(id) != marks[row]]
    gone, size = sorted(marks_held.keys() - set(ids)), client.get_max_batch_size()
    for start in range(0, len(gone), size):
        collection.delete(ids=gone[start : start + size])
    with tqdm(total=len(changed), desc=f"store {kind}", unit="vector", disable=not progress) as bar:
        for start in range(0, len(changed), size):
            part = changed[start : start + size]
            collection.upsert(
                ids=[ids[row] for row in part],
                documents=[texts[row] for row in part],
                metadatas=[metadata[row] | {_MARK: marks[row]} for row in part],
                embeddings=np.asarray(vectors[part]),
            )
            bar.update(len(part))
    collection.modify(metadata={"made_from": made_from})  # last: a collection half written is gone on with


def _rows(index: Index, kind: str) -> tuple[list[str], list[str], np.ndarray, list[dict]]:
    """(ids, texts, vectors, metadata) of one collection."""
    if kind == "passages":
        passages = index.passages.passages
        return (
            [passage.id for passage in passages],
            [passage.content for passage in passages],
            index.passages.vectors,
            [{"title": passage.title} for passage in passages],
        )
    facts = index.facts
    if kind == "phrases":
        counts = index.graph.passages_of if "synonyms" in index.manifest["layers"] else np.zeros(len(facts.phrases))
        return (
            [text_hash(phrase) for phrase in facts.phrases],
            facts.phrases,
            facts.phrase_vectors,
            [{"passages": int(count)} for count in counts],
        )
    texts = [" ".join(fact) for fact in facts.facts]
    metadata = [dict(zip(("subject", "relation", "object"), fact)) for fact in facts.facts]
    return [text_hash(str(fact)) for fact in facts.facts], texts, facts.fact_vectors, metadata
