"""The facts that a query is carried out on: those of the retrieved graph, each with the passages that state it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from workbench.index import Index
from workbench.records import Evidence, Triple
from workbench.sparql.statements import lives
from workbench.text import unicode_phrase

MOST = 20_000  # facts; a context holds some thousands at most


def facts_of(evidence: Evidence, index: Index | None = None, passages: Collection[str] | None = None) -> list[Triple]:
    """Facts stated by the evidence's passages (of these only the ones named by `passages`, if it is given), those of
    the evidence itself and the relations of its context, each once and with the passages that state it, in this order.

    What the passages state is what was extracted from them, as it was spelled, and the dates of a life that stand in
    brackets behind a name, which extraction seldom says what they are; of an index with typed relations alone,
    these. A fact of the evidence that only other passages state does not count.
    """
    allowed = {passage.id for passage, _ in evidence.passages}
    context = evidence.context
    if context is not None:
        allowed |= {id for unit in (*context.chunks, *context.sources) for id in unit.passages}
    allowed = allowed if passages is None else set(passages)
    found: dict[tuple[str, ...], Triple] = {}
    for fact in _all(evidence, index, allowed):
        key = tuple(map(unicode_phrase, fact.members))
        if not key[0] or not key[2]:
            continue
        before = found.get(key)
        stated = tuple(dict.fromkeys((*(before.passages if before else ()), *fact.passages)))
        found[key] = Triple(*(before or fact).members, stated)
        if len(found) == MOST:
            break
    return list(found.values())


def _all(evidence: Evidence, index: Index | None, allowed: Collection[str]) -> Iterator[Triple]:
    if index is not None:
        layers = index.manifest["layers"]
        if "extractions" in layers:
            yield from _extracted(index, allowed)
        elif "typed" in layers:
            yield from _typed(index, allowed)
    given = [fact for fact, _ in evidence.facts]
    if evidence.context is not None and not given:  # else they are those of the context
        given = [Triple(r.source, r.description, r.target, r.passages) for r in evidence.context.relations]
    for fact in given:
        stated = tuple(id for id in fact.passages if id in allowed)
        if stated or not fact.passages:
            yield Triple(*fact.members, stated)


def _extracted(index: Index, allowed: Collection[str]) -> Iterator[Triple]:
    for row in sorted(index.passages.row[id] for id in allowed if id in index.passages.row):
        record = index.extractions.records[row]
        yield from (Triple(*members, (record.passage_id,)) for members in record.triples)
        yield from lives(index.passages.passages[row])


def _typed(index: Index, allowed: Collection[str]) -> Iterator[Triple]:
    typed, passages = index.typed, index.passages
    stated = typed.relation_stated.T.tocsr()
    for row in sorted(passages.row[id] for id in allowed if id in passages.row):
        for at in stated.indices[stated.indptr[row] : stated.indptr[row + 1]].tolist():
            source, target = typed.names[typed.sources[at]], typed.names[typed.targets[at]]
            label = typed.labels[at] or typed.relation_descriptions[at]
            yield Triple(source, label, target, (passages.passages[row].id,))
