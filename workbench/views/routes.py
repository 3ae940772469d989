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

FUSED = "fused"  # the triples that fusion kept, listed beside the routes
BROUGHT, LINE = 8, 300  # triples of a route; characters of a thought
HAS = "has_attribute"
ROUND = ("round", "thought", "next query", "brought", "outcome")


@view.register
def whole(routes: Routes) -> Part | None:
    return group(routes_part(routes, FUSED, None), details("rounds", rounds_part(routes), open=True))


def stages(trace: Trace, passages: Mapping[str, Passage] | None = None) -> list[Stage]:
    """A reader of traces for a `StageStepper`: the sub-questions, then the rounds of the agent, each with the results
    of its queries."""
    routes = routed(trace)
    notes = notes_part(filter(None, (routes.fallback, routes.failure)), routes.failure)
    first = Stage("sub-questions", part=group(notes, _involved(routes), _searches(routes, FUSED, 0)))
    rounds = (
        Stage(f"round {step.number}", part=group(table(ROUND, [_round(step)], LINE), _searches(routes, FUSED, at)))
        for at, step in enumerate(routes.rounds, 1)
    )
    return [first, *rounds]


def route_names(routes: Routes) -> list[str]:
    """The routes that any query took, in their order."""
    return list(dict.fromkeys(route.route for search in routes.searches for route in search.routes))


def searches_of(routes: Routes, round: int | None) -> Sequence[Searched]:
    """The queries of a round, 0 for the sub-questions; all for None."""
    if round is None:
        return routes.searches
    if round == 0:
        return routes.sub_questions
    search = routes.rounds[round - 1].found
    return (search,) if search else ()


def brought(routes: Routes, route: str, round: int | None = None) -> list[str]:
    """The names at the ends of the triples that a route brought, or that fusion kept, each once, best first."""
    names: dict[str, float] = {}
    for search in searches_of(routes, round):
        for head, relation, tail, score in _triples(search, route):
            for name in (head,) if relation == HAS else (head, tail):
                names[name] = max(names.get(name, score), score)
    return sorted(names, key=lambda name: (-names[name], name))


def routes_part(routes: Routes, route: str, round: int | None) -> Part | None:
    """A question: what it involves, and for each query of a round what `route` brought, or what fusion kept of all."""
    return group(trace_heading(routes), _involved(routes), _searches(routes, route, round))


def rounds_part(routes: Routes) -> Part | None:
    """The agent's rounds: the first answer, then thoughts, queries and why it stopped."""
    if routes.answer is None and not routes.rounds:
        return quiet("no agent: the question was taken apart and searched once")
    first = (0, routes.answer or "no answer", "", "", "first answer")
    return table(ROUND, [first, *map(_round, routes.rounds)], LINE)


# -- parts -------------------------------------------------------------------------------------------------------------


def _involved(routes: Routes) -> Part | None:
    involved = routes.involved
    words = (
        ("entity types", involved.entity_types), ("relations", involved.relations),
        ("attributes", involved.attributes), ("filtered by", involved.matched),
    )  # fmt: skip
    listed = "; ".join(
        f"{name}: {', '.join(clean(entry, 60) for entry in entries)}" for name, entries in words if entries
    )
    return quiet(listed or "no type of the schema is involved")


def _searches(routes: Routes, route: str, round: int | None) -> Part | None:
    searches = group(*(_search(search, route) for search in searches_of(routes, round)))
    return searches or quiet("this round searched for nothing")


def _round(reflected: Reflected) -> tuple:
    count = counted(len(reflected.found.triples), "triple") if reflected.found else ""
    ended = f"answered: {clean(reflected.answer, 120)}" if reflected.answer else reflected.stopped or "goes on"
    return reflected.number, reflected.thought or reflected.failure or "", reflected.query, count, ended


def _search(search: Searched, route: str) -> Part | None:
    """One query: the triples of the route, with the routes that brought each and whether fusion kept it."""
    fused = {fact[:3] for fact in search.triples}
    by: dict[tuple, list[str]] = {}
    for taken in search.routes:
        for fact in taken.triples:
            by.setdefault(fact[:3], []).append(taken.route)
    rows = [
        (*fact, score, ", ".join(by.get(tuple(fact), ())), "kept" if tuple(fact) in fused else "–")
        for *fact, score in _triples(search, route)
    ]
    counts = ", ".join(f"{taken.route} {len(taken.triples)}" for taken in search.routes)
    passages = clean(", ".join(short(name, 40) for name, _ in search.passages[:BROUGHT]), 600)
    brought = faint(f"brought: {counts}; kept {len(search.triples)}")
    return group(
        line(strong(search.query, limit=300), tag(search.origin, limit=40), brought),
        *(_through(taken) for taken in search.routes if taken.route == route),
        long_table(["head", "relation", "tail", "score", "routes", "fusion"], rows, "triples", BROUGHT, 120),
        quiet(f"passages kept: {passages}"),
    )


def _through(taken: RouteTaken) -> Part | None:
    """The entities, communities or paths that the route went through."""
    filtered = " (the type filter changed their order)" if taken.filtered else ""
    listed = "; ".join(f"{short(name, 100)} {score:.2f}" for name, score in taken.through[:5])
    return quiet(f"through {clean(listed, 900)}{filtered}") if taken.through else None


def _triples(search: Searched, route: str) -> Facts:
    if route == FUSED:
        return search.triples
    return next((taken.triples for taken in search.routes if taken.route == route), ())
