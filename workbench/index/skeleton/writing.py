"""What an engine writes about the chunks of the skeleton: records of entities and relationships, and one description of
what several chunks describe (KET-RAG)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace

from workbench import tokens
from workbench.index.journal import StepJournal, request_key
from workbench.steps import fuse_descriptions, graph_records

WINDOW = 4000  # cl100k tokens of fragments that are fused at once


def records(
    journal: StepJournal, inputs: Sequence[graph_records.Input], gleanings: int
) -> Iterator[tuple[int, graph_records.Output]]:
    """(number, records) of each chunk that did not fail, made one after the other: those of all take much room."""
    keys = [request_key(asdict(value), gleanings) for value in inputs]
    answers = journal.run(
        dict(zip(keys, inputs)),
        lambda group: graph_records.extract(journal.engine, group, rounds=gleanings),
        "extract the skeleton",
    )
    outputs = ((at, answers[key].output) for at, key in enumerate(keys))
    return ((at, graph_records.Output(**output)) for at, output in outputs if output is not None)


def descriptions(journal: StepJournal, things: Iterable[fuse_descriptions.Input]) -> list[str]:
    """A description per thing. Several fragments are fused, in their order; those that do not fit into a request join
    its result in the next one. What cannot be fused stays one line per fragment."""
    found, several = [], {}
    for at, thing in enumerate(things):
        found.append("\n".join(thing.fragments))
        if len(thing.fragments) > 1:
            several[at] = thing
    left = {at: thing.fragments for at, thing in several.items()}
    failed = set()
    while open := {at: texts for at, texts in left.items() if len(texts) > 1 and at not in failed}:
        sizes = {at: _fitting(texts) for at, texts in open.items()}
        inputs = {at: replace(several[at], fragments=texts[: sizes[at]]) for at, texts in open.items()}
        keys = {at: request_key(asdict(value)) for at, value in inputs.items()}
        answers = journal.run(
            {keys[at]: value for at, value in inputs.items()},
            lambda group: journal.engine.run(fuse_descriptions.STEP, group),
            "fuse descriptions",
        )
        for at, key in keys.items():
            output = answers[key].output
            if output is None:
                failed.add(at)
            else:
                left[at] = (output["description"], *left[at][sizes[at] :])
    for at, texts in left.items():
        found[at] = "\n".join(texts)
    return found


def _fitting(fragments: Sequence[str]) -> int:
    """How many of the first fragments go into one request, at least two."""
    total = 0
    for number, fragment in enumerate(fragments):
        total += tokens.count(fragment)
        if number > 1 and total > WINDOW:
            return number
    return len(fragments)
