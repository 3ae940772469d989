"""Stage 4, path aggregation: from the kept paths of all DOTs to the evidence for the answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import scipy.sparse as sp

from workbench import tokens
from workbench.methods.dotrag.parts import Dot, Ground, KeptPath, without_prefixes
from workbench.methods.dotrag.wording import Wording
from workbench.ranking.similarity import top
from workbench.records import Entity, Evidence, Passage, Path, Scored, Triple
from workbench.trace import Trace


def union(paths: Iterable[KeptPath], prefixes: str = "drop") -> list[KeptPath]:
    """The paths of all DOTs, best first. A path and its reverse, which two DOTs may find, are one, with the better
    verdict."""
    best: dict[tuple[int, ...], KeptPath] = {}
    for path in sorted(paths, key=lambda path: (path.rank, path.dot)):
        best.setdefault(min(path.nodes, path.nodes[::-1]), path)
    once = list(best.values())
    gone = without_prefixes(once) if prefixes == "drop" else {}
    return [path for path in once if path.id not in gone]


def aggregate(
    ground: Ground, question: str, label: str, dots: Sequence[Dot], kept: Iterable[KeptPath], k: int, trace: Trace
) -> Evidence:
    """The evidence: paths, best first; their entities and relations, each as sure as the best path that it is on; the
    passages of their entities, most similar to the question first.

    Where no path was kept: the anchors and their passages; with `without_paths=dense`, or in an empty graph, the
    passages of the whole index."""
    with trace.span("CHAIN", "aggregate") as span:
        wording = Wording(ground, question)
        paths = union(kept, ground.settings.prefixes)
        sure: dict[int, float] = {}  # entity → confidence of its best path
        for path in paths:
            for row in path.nodes:
                sure.setdefault(row, path.verdict.confidence)
        fallback = None
        if not paths:
            sure = {row: 0.0 for dot in dots for row in dot.rows}
            anywhere = not sure or ground.settings.without_paths == "dense"
            fallback = f"no path was kept: {'dense ranking' if anywhere else 'the passages of the anchors'}"
        passages = chunks(ground, question, list(sure) if paths or not anywhere else None, k)
        span.set(paths=[_traced(path, wording) for path in paths] if trace else [], no_paths=not paths)
        span.score((passage.id, score) for passage, score in passages)
    return Evidence(
        question,
        label,
        "cosine",
        passages,
        entities=tuple(Scored(_entity(ground, row), score) for row, score in sure.items()),
        facts=_facts(ground, paths, wording),
        paths=tuple(Scored(_record(ground, path, wording), path.verdict.confidence) for path in paths),
        selected=len(passages),
        fallback=fallback,
    )


def chunks(ground: Ground, question: str, entities: Sequence[int] | None, k: int) -> tuple[Scored[Passage], ...]:
    """The passages of these entities (of all, if None) by cosine with the question: at most `k` and at most `chunks`,
    of at most `chunk_tokens` cl100k tokens together."""
    passages, settings = ground.index.passages, ground.settings
    if entities is None:
        rows = np.arange(len(passages.passages))
    else:
        rows = _columns(ground.typed.stated, entities)
    cosines = passages.vectors[rows] @ ground.index.encode_query(question, "passages")
    spent, found = 0, []
    for at in top(cosines, min(k, settings.chunks)):
        passage = passages.passages[rows[at]]
        spent += tokens.count(passage.content + "\n\n")
        if spent > settings.chunk_tokens:
            break
        found.append(Scored(passage, float(cosines[at])))
    return tuple(found)


def _traced(path: KeptPath, wording: Wording) -> dict:
    verdict = path.verdict
    said = {"label": verdict.label, "confidence": verdict.confidence, "passage": path.passage}
    return {"id": path.id, "dot": path.dot, **wording.traced(path.nodes), **said}


def _entity(ground: Ground, row: int) -> Entity:
    typed = ground.typed
    return Entity(typed.names[row], typed.types[row], typed.descriptions[row])


def _facts(ground: Ground, paths: Sequence[KeptPath], wording: Wording) -> tuple[Scored[Triple], ...]:
    typed = ground.typed
    sure: dict[int, float] = {}
    for path in paths:
        for hop in wording.hops(path.nodes):
            for row in hop.relations:
                sure.setdefault(row, path.verdict.confidence)
    return tuple(
        Scored(
            Triple(typed.names[typed.sources[row]], wording.label(row), typed.names[typed.targets[row]],
                   _stating(ground, [row])), score)
        for row, score in sure.items()
    )  # fmt: skip


def _record(ground: Ground, path: KeptPath, wording: Wording) -> Path:
    """The relations of a hop stand in one string; one that is followed against its direction is marked with ⁻¹."""
    hops = wording.hops(path.nodes)
    relations = (" / ".join(label + ("" if forward else "⁻¹") for label, forward in hop.shown) for hop in hops)
    stated = _stating(ground, [row for hop in hops for row in hop.relations])
    return Path(tuple(wording.names(path.nodes)), tuple(relations), stated, path.verdict.label)


def _stating(ground: Ground, relations: Sequence[int]) -> tuple[str, ...]:
    """Ids of the passages that state one of the relations."""
    rows = _columns(ground.typed.relation_stated, relations)
    return tuple(ground.index.passages.passages[row].id for row in rows)


def _columns(table: sp.csr_array, rows: Iterable[int]) -> np.ndarray:
    """The columns in which some of these rows are not 0, ascending. Slicing the table costs a hundred times as much."""
    found = [table.indices[table.indptr[row] : table.indptr[row + 1]] for row in rows]
    return np.unique(np.concatenate(found)) if found else np.empty(0, dtype=np.int64)
