"""A trace as parts of a page: the records read from it, in their own display, and the drawings as static pictures.
Where a widget has a slider, a part has steps, of which the page shows one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from workbench.errors import WorkbenchError
from workbench.methods.catrag.steering import steering
from workbench.methods.dotrag.dots import dots
from workbench.methods.gfm_rag.passing import passing
from workbench.methods.iterative.replay import replay
from workbench.records import Passage, Question, Unit
from workbench.text import clean, spelt_out
from workbench.trace import Trace
from workbench.views import dots as dots_view
from workbench.views import passing as passing_view
from workbench.views import replay as replay_view
from workbench.views import routes as routes_view
from workbench.views import steering as steering_view
from workbench.views.contexts import Marks, unit_line
from workbench.views.drawing import drawing_part
from workbench.views.parts import NAME, Part, group, long_table, quiet, tag, words
from workbench.views.proofs import proof_drawing, proof_from_trace, proof_part
from workbench.views.stepped import stages_of, stages_part
from workbench.views.trace import tree

Passages = Mapping[str, Passage]
Titled = tuple[str, Part | None]


def traced_parts(
    config: Mapping[str, Any], trace: Trace | None, question: Question, passages: Passages
) -> list[Titled]:
    """The parts of a question that a method answered: how it searched, what its query matched, and the trace itself,
    which stands in stages for a method without a view of its own."""
    if trace is None:
        return []
    titles = {name: Passage(name, passage.title, "") for name, passage in passages.items()}
    proof = proof_from_trace(trace)
    query = [("query", group(proof_part(proof), drawing_part(proof_drawing(proof))))] if proof else []
    if searched := [*_searched(config, trace, question, titles)]:
        return [*searched, *query, ("trace", tree(trace))]
    stages = [*stages_of(trace, titles)]
    return [("stages", stages_part(stages)) if stages else ("trace", tree(trace)), *query]


def ranking_part(row: Mapping[str, Any], question: Question, passages: Passages) -> Part | None:
    """The ranked passages and the gold ones that are not among them, with the texts that are known."""
    marks = Marks(gold=question.answers)
    ranks = {name: rank for rank, (name, _) in enumerate(row["ranking"], 1)}
    ranked = [*row["ranking"], *((name, None) for name in question.support if name not in ranks)]

    def passage_words(name: str) -> Part:
        passage, id = passages.get(name), spelt_out(name)
        unit = unit_line(Unit(id, passage.text, passage.title), marks) if passage else id
        return words(unit, tag("gold") if name in question.support else None, limit=NAME)

    rows = [(str(ranks.get(name, "–")), passage_words(name), score) for name, score in ranked]
    read = row["read"] if row["selected"] is None else min(row["selected"], row["read"] or row["selected"])
    note = "" if read is None else f"the reader was shown the first {read}"
    return group(long_table(["", "passage", "score"], rows, "passages"), quiet(note))


def _searched(config: Mapping[str, Any], trace: Trace, question: Question, titles: Passages) -> Iterator[Titled]:
    name = config["label"].partition("[")[0]
    search = _SEARCHES.get(name) or (_REPLAY if "iterations" in config.get("settings", {}) else None)
    if search is None:
        return
    title, read, show = search
    try:
        yield title, show(read(trace, question.support), titles)
    except WorkbenchError as error:  # a method that failed or fell back, or hashes in the place of texts
        yield title, quiet(f"nothing to replay: {clean(error, 400)}")


# Method → the title of its part, its reader of traces, its view.
_REPLAY = (
    "replay", replay, lambda record, titles: group(replay_view.heading(record), replay_view.stepped(record, titles)),
)  # fmt: skip
_SEARCHES: dict[str, tuple[str, Callable, Callable]] = {
    "dotrag": (
        "DOTs", dots,
        lambda record, titles: group(dots_view.heading(record), dots_view.whole(record, titles, drawn=True)),
    ),
    "catrag": ("steering", steering, steering_view.whole),
    "youtu": ("routes", lambda trace, _: routes_view.stages(trace), lambda stages, _: stages_part(stages)),
    "gfm_rag": (
        "messages", passing,
        lambda record, _: group(passing_view.heading(record), stages_part(passing_view.stages(record))),
    ),
}  # fmt: skip
