"""Chroma collections derived from an index: for metadata filters, for other programs, and as a server.

The matrices of the index stay the truth. Chroma's approximate neighbours differ from build to build and miss some
(measured: recall@100 of .73 on 100,000 vectors), so no method reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.errors import SettingError
from workbench.index.index import Index
from workbench.index.store import key_of
from workbench.text import text_hash

_COSINE = {"hnsw": {"space": "cosine"}}
KINDS = ("passages", "phrases", "facts")


def derive(index: Index, kinds: Sequence[str] = KINDS, client: Any = None):
    """Write the collections `<kind>` of an index into `client` (by default a folder `chroma/` beside the layers) and
    return the client.

    Ids: the passage's id, else the hash of the phrase or of the fact's text. A collection made from the same layer is
    left as it is; one made from an older state is brought up to date: what has gone is deleted, the rest written
    over."""
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise SettingError(f"{unknown[0]!r} cannot be derived; choose from {', '.join(KINDS)}")
    client = client or _local_client(index)
    for kind in kinds:
        ids, texts, vectors, metadata = _rows(index, kind)
        made_from = key_of(kind=kind, layers=index.manifest["layers"], encoder=index.manifest["encoder"]["name"])
        collection = client.get_or_create_collection(kind, embedding_function=None, configuration=_COSINE)
        if (collection.metadata or {}).get("made_from") == made_from:
            continue
        gone = sorted(set(collection.get(include=[])["ids"]) - set(ids))
        size = client.get_max_batch_size()
        for start in range(0, len(gone), size):
            collection.delete(ids=gone[start : start + size])
        for start in range(0, len(ids), size):
            part = slice(start, start + size)
            collection.upsert(
                ids=ids[part], documents=texts[part], metadatas=metadata[part], embeddings=np.asarray(vectors[part])
            )
        collection.modify(metadata={"made_from": made_from})  # last: a collection half written is written again
    return client


def _local_client(index: Index):
    import chromadb

    settings = chromadb.Settings(anonymized_telemetry=False)
    return chromadb.PersistentClient(path=str(index.folder / "chroma"), settings=settings)


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
