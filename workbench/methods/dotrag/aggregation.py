"""Stage 4, path aggregation: from the kept paths of all DOTs to the evidence for the answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from workbench import tokens
from workbench.encoding.similarity import top
from workbench.layouts.evidence import chunk_of, relation_of
from workbench.methods.dotrag.events import Aggregation, JudgedPath, SelectedDot
from workbench.methods.dotrag.neighbourhood import DotContext, columns
from workbench.methods.dotrag.search import without_prefixes
from workbench.records import ContextEntity, ContextGraph, Entity, Evidence, Passage, Path, Scored, Triple
from workbench.trace import Trace


def union(
    paths: Iterable[JudgedPath], prefixes: str = "incomplete", reverses: bool = True, across: bool = True
) -> list[JudgedPath]:
    """The paths of all DOTs, best first; one that several DOTs found counts once, with the best verdict. With
    `reverses` so do a path and its reverse; with `across` the rule of `prefixes` also holds between DOTs, each of which
    has already applied it to its own paths."""
    best: dict[tuple[int, ...], JudgedPath] = {}
    for path in sorted(paths, key=lambda path: (path.order, path.dot)):
        best.setdefault(min(path.entities, path.entities[::-1]) if reverses else path.entities, path)
    once = list(best.values())
    gone = without_prefixes(once, prefixes) if across else {}
    return [path for path in once if path.id not in gone]


def meeting(paths_of_dots: Sequence[Sequence[JudgedPath]]) -> tuple[list[JudgedPath], str]:
    """Of the paths of several DOTs, the complete ones that end where complete ones of every other DOT end, and all that
    are not complete; all paths, and why, if there is no such end."""
    ends = [{path.entities[-1] for path in paths if path.complete} for paths in paths_of_dots]
    common = set.intersection(*ends)
    every = (path for paths in paths_of_dots for path in paths)
    remaining = [path for path in every if not (common and path.complete) or path.entities[-1] in common]
    return remaining, "" if common else "the complete paths of the DOTs have no end in common: all of them are kept"


def aggregate(
    context: DotContext,
    question: str,
    label: str,
    dots: Sequence[SelectedDot],
    paths_kept: Iterable[JudgedPath],
    k: int,
    trace: Trace,
) -> Evidence:
    """The evidence: paths, best first; their entities and relations, each with the confidence of the best path through
    it; the passages of their entities, most similar to the question first. Its context holds all of them, also the
    passages beyond `k`.

    If no path was kept: the anchors and their passages; with `without_paths=dense`, or in an empty graph, the passages
    of the whole index."""
    with Aggregation.open(trace) as write:
        settings = context.settings
        paths = union(paths_kept, settings.prefixes, settings.merge_reversed, settings.prefixes_across)
        confidence = best_confidence((path.entities, path) for path in paths)
        fallback, anywhere = None, False
        if not paths:
            confidence = {row: 0.0 for dot in dots for row in dot.rows}
            anywhere = not confidence or settings.without_paths == "dense"
            fallback = f"no path was kept: {'dense ranking' if anywhere else 'the passages of the anchors'}"
        chunks_found = chunks(context, question, None if anywhere else list(confidence))
        passages = chunks_found[:k]
        write(
            paths=[Aggregation.stored(path) for path in paths],
            no_paths=not paths,
            passages=tuple((passage.id, score) for passage, score in passages),
        )
    facts = _facts(context, paths)
    records = tuple(Scored(_record(context, path), path.confidence) for path in paths)
    entities = tuple(Scored(_entity(context, row), score) for row, score in confidence.items())
    return Evidence(
        question,
        label,
        "cosine",
        passages,
        entities=entities,
        facts=facts,
        paths=records,
        selected=len(passages),
        fallback=fallback,
        context=ContextGraph(
            tuple(ContextEntity(entity.name, entity.description, type=entity.type) for entity, _ in entities),
            tuple(relation_of(fact) for fact, _ in facts),
            chunks=tuple(chunk_of(passage) for passage, _ in chunks_found),
            paths=tuple(path for path, _ in records),
            layout="paths",
        ),
    )


def best_confidence(rows: Iterable[tuple[Iterable[int], JudgedPath]]) -> dict[int, float]:
    """Row → the confidence of the first path that it is on, for (rows, path), best paths first."""
    confidence: dict[int, float] = {}
    for some, path in rows:
        for row in some:
            confidence.setdefault(row, path.confidence)
    return confidence


def chunks(context: DotContext, question: str, entities: Sequence[int] | None) -> tuple[Scored[Passage], ...]:
    """The passages of these entities (of all, if None) by cosine with the question: at most `chunks`, of at most
    `chunk_tokens` cl100k tokens together."""
    passages, settings = context.index.passages, context.settings
    rows = np.arange(len(passages.passages)) if entities is None else columns(context.typed.stated, entities)
    cosines = passages.vectors[rows] @ context.encode_question(question)
    best = (Scored(passages.passages[rows[at]], float(cosines[at])) for at in top(cosines, settings.chunks))
    size = lambda chunk, _: tokens.count(chunk.item.content + "\n\n")  # noqa: E731
    chosen, _ = tokens.leading(best, size, settings.chunk_tokens)
    return tuple(chosen)


def _entity(context: DotContext, row: int) -> Entity:
    typed = context.typed
    return Entity(typed.names[row], typed.types[row], typed.descriptions[row])


def _facts(context: DotContext, paths: Sequence[JudgedPath]) -> tuple[Scored[Triple], ...]:
    confidence = best_confidence((rows, path) for path in paths for rows in path.facts)
    return tuple(Scored(_triple(context, row), score) for row, score in confidence.items())


def _triple(context: DotContext, row: int) -> Triple:
    typed = context.typed
    ends = typed.names[typed.sources[row]], typed.names[typed.targets[row]]
    return Triple(ends[0], context.label(row), ends[1], context.stating([row]), typed.relation_descriptions[row])


def _record(context: DotContext, path: JudgedPath) -> Path:
    """The path as a record. One string joins the relations of a hop; ⁻¹ marks a relation followed in reverse. Its text
    is the passage that was judged, if the graph describes one of its relations."""
    relations = (" / ".join(label + ("" if forward else "⁻¹") for label, forward in hop) for hop in path.relations)
    stated = context.stating(row for rows in path.facts for row in rows)
    described = any(context.typed.relation_descriptions[row] for rows in path.facts for row in rows)
    return Path(path.nodes, tuple(relations), stated, path.label, path.passage if described else "")
