"""What a trace tells, as parts of a page: the records that are read off it, in their own display, and the drawings as
pictures that stand still. Where a widget has a slider, a part has steps, of which the page shows one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from workbench.errors import WorkbenchError
from workbench.methods.catrag.steering import steering
from workbench.methods.dotrag.dots import dots
from workbench.methods.gfm_rag.passing import passing
from workbench.methods.iterative.replay import replay
from workbench.methods.youtu.routed import routed
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
from workbench.views.stepped import stages_part
from workbench.views.trace import tree

Passages = Mapping[str, Passage]
Titled = tuple[str, Part | None]


def traced_parts(
    config: Mapping[str, Any], trace: Trace | None, question: Question, passages: Passages
) -> list[Titled]:
    """The parts of a question that a method answered: how it searched, what its query matched, and the trace itself."""
    if trace is None:
        return []
    titles = {name: Passage(name, passage.title, "") for name, passage in passages.items()}
    proof = proof_from_trace(trace)
    return [
        *_searched(config, trace, question, titles),
        *([("query", group(proof_part(proof), drawing_part(proof_drawing(proof))))] if proof else []),
        ("trace", tree(trace)),
    ]


def ranking_part(row: Mapping[str, Any], question: Question, passages: Passages) -> Part | None:
    """The ranked passages and the gold ones that are not among them, with the texts that are known."""
    marks = Marks(gold=question.answers)
    ranks = {name: rank for rank, (name, _) in enumerate(row["ranking"], 1)}
    ranked = [*row["ranking"], *((name, None) for name in question.support if name not in ranks)]

    def shown(name: str) -> Part:
        known, id = passages.get(name), spelt_out(name)
        unit = unit_line(Unit(id, known.text, known.title), marks) if known else id
        return words(unit, tag("gold") if name in question.support else None, limit=NAME)

    rows = [(str(ranks.get(name, "–")), shown(name), score) for name, score in ranked]
    read = row["read"] if row["selected"] is None else min(row["selected"], row["read"] or row["selected"])
    said = "" if read is None else f"the reader was shown the first {read}"
    return group(long_table(["", "passage", "score"], rows, "passages"), quiet(said))


def _searched(config: Mapping[str, Any], trace: Trace, question: Question, titles: Passages) -> Iterator[Titled]:
    name = config["label"].partition("[")[0]
    found = _SEARCHES.get(name) or (_REPLAY if "iterations" in config.get("settings", {}) else None)
    if found is None:
        return
    title, read, show = found
    try:
        yield title, show(read(trace, question.support), titles)
    except WorkbenchError as error:  # a method that failed or fell back, or hashes in the place of texts
        yield title, quiet(f"nothing to replay: {clean(error, 400)}")


# Method → title of its part, what reads a trace of it, what shows that.
_REPLAY = (
    "replay", replay, lambda shown, titles: group(replay_view.heading(shown), replay_view.stepped(shown, titles)),
)  # fmt: skip
_SEARCHES: dict[str, tuple[str, Callable, Callable]] = {
    "dotrag": (
        "DOTs", dots,
        lambda shown, titles: group(dots_view.heading(shown), dots_view.whole(shown, titles, drawn=True)),
    ),
    "catrag": ("steering", steering, steering_view.whole),
    "youtu": ("routes", routed, lambda shown, _: routes_view.whole(shown)),
    "gfm_rag": (
        "messages", passing,
        lambda shown, _: group(passing_view.heading(shown), stages_part(passing_view.stages(shown))),
    ),
}  # fmt: skip
