"""The view of a question's routes through the knowledge tree: what each brought, what fusion kept, and the rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.methods.youtu.routed import Facts, Reflected, Routes, RouteTaken, Searched, routed
from workbench.records import Passage
from workbench.text import clean, counted, short
from workbench.trace import Trace
from workbench.views.parts import Part, details, faint, group, line, long_table, quiet, strong, table, tag, view
from workbench.views.records import notes_part, trace_heading
from workbench.views.stepped import Stage

FUSED = "fused"  # what fusion kept, beside the routes themselves
BROUGHT, LINE = 8, 300  # triples of a route; characters of a thought
HAS = "has_attribute"
ROUND = ("round", "thought", "next query", "brought", "outcome")


@view.register
def whole(shown: Routes) -> Part | None:
    return group(routes_part(shown, FUSED, None), details("rounds", rounds_part(shown), open=True))


def stages(trace: Trace, passages: Mapping[str, Passage] | None = None) -> list[Stage]:
    """The sub-questions, then the rounds of the agent, each with what its queries brought: a reader of traces for a
    `StageStepper`."""
    shown = routed(trace)
    notes = notes_part(filter(None, (shown.fallback, shown.failure)), shown.failure)
    first = Stage("sub-questions", part=group(notes, _involved(shown), _searches(shown, FUSED, 0)))
    rounds = (
        Stage(f"round {one.number}", part=group(table(ROUND, [_round(one)], LINE), _searches(shown, FUSED, at)))
        for at, one in enumerate(shown.rounds, 1)
    )
    return [first, *rounds]


def route_names(shown: Routes) -> list[str]:
    """The routes that any query took, in their order."""
    return list(dict.fromkeys(route.route for one in shown.searches for route in one.routes))


def searches_of(shown: Routes, round: int | None) -> Sequence[Searched]:
    """The queries of a round, 0 for the sub-questions; all for None."""
    if round is None:
        return shown.searches
    if round == 0:
        return shown.sub_questions
    found = shown.rounds[round - 1].found
    return (found,) if found else ()


def brought(shown: Routes, route: str, round: int | None = None) -> list[str]:
    """The names at the ends of the triples that a route brought, or that fusion kept, each once, best first."""
    names: dict[str, float] = {}
    for one in searches_of(shown, round):
        for head, relation, tail, score in _triples(one, route):
            for name in (head,) if relation == HAS else (head, tail):
                names[name] = max(names.get(name, score), score)
    return sorted(names, key=lambda name: (-names[name], name))


def routes_part(shown: Routes, route: str, round: int | None) -> Part | None:
    """A question: what it involves, and for each query of a round what `route` brought, or what fusion kept of all."""
    return group(trace_heading(shown), _involved(shown), _searches(shown, route, round))


def rounds_part(shown: Routes) -> Part | None:
    """The agent's rounds: the first answer, then thoughts, queries and why it stopped."""
    if shown.answer is None and not shown.rounds:
        return quiet("no agent: the question was taken apart and searched once")
    first = (0, shown.answer or "no answer", "", "", "first answer")
    return table(ROUND, [first, *map(_round, shown.rounds)], LINE)


# -- parts -------------------------------------------------------------------------------------------------------------


def _involved(shown: Routes) -> Part | None:
    involved = shown.involved
    words = (
        ("entity types", involved.entity_types), ("relations", involved.relations),
        ("attributes", involved.attributes), ("filtered by", involved.matched),
    )  # fmt: skip
    said = "; ".join(f"{name}: {', '.join(clean(one, 60) for one in found)}" for name, found in words if found)
    return quiet(said or "no type of the schema is involved")


def _searches(shown: Routes, route: str, round: int | None) -> Part | None:
    searches = group(*(_search(one, route) for one in searches_of(shown, round)))
    return searches or quiet("this round searched for nothing")


def _round(one: Reflected) -> tuple:
    found = counted(len(one.found.triples), "triple") if one.found else ""
    ended = f"answered: {clean(one.answer, 120)}" if one.answer else one.stopped or "goes on"
    return one.number, one.thought or one.failure or "", one.query, found, ended


def _search(one: Searched, route: str) -> Part | None:
    """One query: the triples of the route, with the routes that brought each and whether fusion kept it."""
    kept = {fact[:3] for fact in one.triples}
    by: dict[tuple, list[str]] = {}
    for taken in one.routes:
        for fact in taken.triples:
            by.setdefault(fact[:3], []).append(taken.route)
    rows = [
        (*fact, score, ", ".join(by.get(tuple(fact), ())), "kept" if tuple(fact) in kept else "–")
        for *fact, score in _triples(one, route)
    ]
    counts = ", ".join(f"{taken.route} {len(taken.triples)}" for taken in one.routes)
    passages = clean(", ".join(short(name, 40) for name, _ in one.passages[:BROUGHT]), 600)
    brought = faint(f"brought: {counts}; kept {len(one.triples)}")
    return group(
        line(strong(one.query, limit=300), tag(one.origin, limit=40), brought),
        *(_through(taken) for taken in one.routes if taken.route == route),
        long_table(["head", "relation", "tail", "score", "routes", "fusion"], rows, "triples", BROUGHT, 120),
        quiet(f"passages kept: {passages}"),
    )


def _through(taken: RouteTaken) -> Part | None:
    """The entities, communities or paths that the route went through."""
    filtered = " (the type filter changed their order)" if taken.filtered else ""
    listed = "; ".join(f"{short(name, 100)} {score:.2f}" for name, score in taken.through[:5])
    return quiet(f"through {clean(listed, 900)}{filtered}") if taken.through else None


def _triples(one: Searched, route: str) -> Facts:
    if route == FUSED:
        return one.triples
    return next((taken.triples for taken in one.routes if taken.route == route), ())
