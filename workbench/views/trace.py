"""The view of a trace: a collapsible tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.display import text
from workbench.llm.engine import NO_MODEL, no_model
from workbench.text import clean, counted
from workbench.trace import Event, Trace, TraceDiff
from workbench.views.contexts import excerpt
from workbench.views.parts import NAME, Part, bad, details, faint, group, line, number, quiet, table, tag, view
from workbench.views.terminal import indented

SHOWN = 12  # scores of one event that a view lists
BEST = 3  # of them in a terminal
THOUGHT = 200  # characters of a thought around its answer
_NO_MODEL = {NO_MODEL["rules"]: "RULES", NO_MODEL["worked"]: "WRITTEN"}


@text.register
def _(trace: Trace) -> str:
    if not len(trace):
        return f"Trace (level {trace.level}, empty)"
    depth: dict[int | None, int] = {None: 0}
    lines = [f"Trace (level {trace.level}, {counted(len(trace), 'event')})"]
    for event in trace:
        depth[event.id] = depth[event.parent] + 1
        best = _best(event) if event.parent is not None else []  # the best scores of the root are the evidence
        lines += [part for line in (headline(event), *best) for part in indented(line, 2 * depth[event.id])]
    return "\n".join(lines)


@text.register
def _(event: Event) -> str:
    return "\n".join([headline(event), *_best(event)])


def headline(event: Event) -> str:
    """Kind, step, model and outputs of an event, on a line of a terminal."""
    outputs = ", ".join(f"{clean(name, 60)}={_output(event, name)}" for name in event.outputs)
    model = f" ({clean(engine, NAME)})" if (engine := _engine(event)) and not no_model(engine) else ""
    return f"{clean(kind(event), NAME)} {clean(event.step, NAME)}{model}" + (f": {outputs}" if outputs else "")


def kind(event: Event) -> str:
    """The kind of an event; `RULES`, or `WRITTEN` by hand, if no model answered a Step."""
    return _NO_MODEL.get(no_model(_engine(event)), event.kind)


def _engine(event: Event) -> str:
    """The name of the engine that answered a Step; empty for other events."""
    return str(event.inputs.get("engine") or "") if event.kind == "LLM" else ""


def _output(event: Event, name: str) -> str:
    """An output in few characters; of a thought those around the answer."""
    value, answer = event.outputs[name], event.outputs.get("answer")
    if name == "thought" and isinstance(value, str) and isinstance(answer, str):
        return str(excerpt(value, answer, THOUGHT if answer else 60))
    return clean(_short(value), 60)


def _best(event: Event) -> list[str]:
    """The best scores, if there are any, on a line of a terminal."""
    best = ", ".join(f"{clean(name, 60)} {number(score)}" for name, score in event.scores[:BEST])
    return [f"  · {best}"] if best else []


view.register(Trace, lambda trace: tree(trace))
view.register(Event, lambda event: _event(event))


@view.register
def _(diff: TraceDiff) -> Part | None:
    count = counted(len(diff.rows), "difference") if diff else "no difference"
    return group(line(count), table(["place", "what", "left", "right"], diff.rows, 300))


def tree(trace: Trace, open_depth: int = 1) -> Part | None:
    """All events as nested folds; the first `open_depth` levels are open."""
    return group(*_branches(trace, None, open_depth, {})) or quiet("nothing was recorded")


def _branches(trace: Trace, parent: int | None, open_depth: int, titles: Mapping[str, str]) -> Iterator[Part]:
    children: dict[int | None, list[Event]] = {}
    for event in trace:
        children.setdefault(event.parent, []).append(event)

    def branch(event: Event, depth: int) -> Part:
        inner = (branch(child, depth + 1) for child in children.get(event.id, ()))
        return _event(event, *inner, open=depth < open_depth, titles=titles)

    return (branch(event, 0) for event in children.get(parent, ()))


def within(trace: Trace, event: Event, titles: Mapping[str, str]) -> Part | None:
    """What an event says, with those inside it folded; what `titles` name is shown by its title."""
    return group(line(*_how(event)), *_tables(event, titles), *_branches(trace, event.id, 0, titles))


def _event(event: Event, *inner: Part, open: bool = False, titles: Mapping[str, str] = {}) -> Part:
    kind_of, *how = _how(event)
    return details([kind_of, clean(event.step, NAME), *how], *_tables(event, titles), *inner, open=open)


def _how(event: Event) -> list[Part | None]:
    return [
        tag(kind(event), limit=NAME),
        bad(event.failure, limit=200),
        faint(f"{event.seconds * 1000:,.1f} ms") if event.seconds is not None else None,
        faint(clean(_short(event.tokens), NAME), "tokens") if event.tokens else None,
    ]


def _tables(event: Event, titles: Mapping[str, str]) -> list[Part | None]:
    best = [(clean(titles.get(name) or name, NAME), score) for name, score in event.scores[:SHOWN]]
    return [
        table(["", ""], [*_rows("in", event.inputs), *_rows("out", event.outputs)]),
        table([f"best of {len(event.scores)}", "score"], best),
    ]


def _rows(side: str, values: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(f"{side}: {clean(name, NAME)}", _spelt(value)) for name, value in values.items()]


def _spelt(value: Any) -> str:
    """The same as `_short`, with the members of lists in a list apart by commas."""
    if not isinstance(value, list | tuple):
        return _short(value)
    members = (", ".join(map(_short, item)) if isinstance(item, list | tuple) else _short(item) for item in value)
    return " | ".join(members)


def _short(value: Any) -> str:
    """One line per member of a list, `name: value` for mappings, numbers in few digits."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_short(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return " | ".join(_short(item) for item in value)
    return number(value) if isinstance(value, float) else str(value)
