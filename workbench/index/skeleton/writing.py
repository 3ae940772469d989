"""What an engine says of the chunks of the skeleton: records of entities and relationships, and one description of what
several describe (KET-RAG, spec 3.4). `kept.py` keeps it on disk while it is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

from workbench import tokens
from workbench.index.kept import Kept, key_of
from workbench.steps import fuse_descriptions, graph_records

WINDOW = 4000  # cl100k tokens of fragments that are fused at once


def records(
    kept: Kept, inputs: Sequence[graph_records.Input], gleanings: int, progress: bool
) -> list[tuple[int, graph_records.Output]]:
    """(number, what was read) of each chunk that did not fail."""
    keys = [key_of(asdict(value), gleanings) for value in inputs]
    kept.ask(
        dict(zip(keys, inputs)),
        lambda group: graph_records.extract(kept.engine, group, rounds=gleanings),
        "extract the skeleton" if progress else None,
    )
    outputs = [kept.used[key].output for key in keys]
    return [(at, graph_records.Output(**output)) for at, output in enumerate(outputs) if output is not None]


def descriptions(kept: Kept, things: Sequence[fuse_descriptions.Input], progress: bool) -> list[str]:
    """A description per thing: of several fragments one that is put together from them, in their order; what does not
    fit into a request joins what came of it in the next. What cannot be fused stays a line for each."""
    left = {at: thing.fragments for at, thing in enumerate(things)}
    failed = set()
    while open := {at: told for at, told in left.items() if len(told) > 1 and at not in failed}:
        sizes = {at: _fitting(told) for at, told in open.items()}
        inputs = {at: replace(things[at], fragments=told[: sizes[at]]) for at, told in open.items()}
        keys = {at: key_of(asdict(value)) for at, value in inputs.items()}
        kept.ask(
            {keys[at]: value for at, value in inputs.items()},
            lambda group: kept.engine.run(fuse_descriptions.STEP, group),
            "fuse descriptions" if progress else None,
        )
        for at, key in keys.items():
            output = kept.used[key].output
            if output is None:
                failed.add(at)
            else:
                left[at] = (output["description"], *left[at][sizes[at] :])
    return ["\n".join(left[at]) for at in range(len(things))]


def _fitting(fragments: Sequence[str]) -> int:
    """How many of the first fragments go into one request, at least two."""
    total = 0
    for number, fragment in enumerate(fragments):
        total += tokens.count(fragment)
        if number > 1 and total > WINDOW:
            return number
    return len(fragments)
