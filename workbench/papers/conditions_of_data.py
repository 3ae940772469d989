"""Questions and corpus of a run, held against the data set that a paper used: a name and two numbers are easily shared,
so what they are is compared as well, where it is known of the data set itself."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.data.registry import find, load_entry
from workbench.data.sources import fetch
from workbench.errors import DataError
from workbench.index.building import OPTIONS
from workbench.index.store import key_of
from workbench.papers.condition import DIFFERS, Condition, Terms, held, of_data

if TYPE_CHECKING:
    from workbench.papers.tables import Measured


class Known(NamedTuple):
    """The fingerprint of a corpus and the hash of its questions, as `run.json` has them; None where not known."""

    passages: str | None = None
    questions: str | None = None


def known_of(terms: Terms, data: str) -> Known:
    """What is listed of a paper's data set, else what follows from its publisher's files where they are on this
    machine. Nothing is downloaded, and a folder that only has the name says nothing."""
    name, options = terms["data"][data], terms.get("options", {}).get(data, {})  # how the paper takes its data
    listed = Known(**terms.get("fingerprints", {}).get(name, {}))
    if None not in listed:
        return listed
    here = _here(name, tuple(sorted(options.items())), str(fetch.cache()), os.environ.get("HOPSCOPE_DATA"))
    return Known(*(one or other for one, other in zip(listed, here)))


@cache
def _here(name: str, options: tuple[tuple[str, Any], ...], *_places: str | None) -> Known:
    entry = find(name)
    if entry is None:
        return Known()
    try:
        data = load_entry(entry, offline=True, **dict(options))
    except DataError:  # not here, or not whole
        return Known()
    if data.origin is None or not data.origin.files:
        return Known()
    asked = [asdict(question) for question in data.questions]
    return Known(data.fingerprint, key_of(questions=asked) if asked else None)


def of_data_set(one: Measured, terms: Terms, measure: str) -> Iterator[Condition]:
    """Its name, its size, and what it holds."""
    config = one.run.config
    yield from (Condition("row", "", "", why) for why in one.place.why)
    name, expected = config["data"]["name"], terms["data"][one.place.data]
    yield held("split and corpus", expected, name, name == expected)
    for key, value in terms.get("options", {}).get(one.place.data, {}).items():  # as they were loaded
        ours = config["data"].get(OPTIONS, {}).get(key)
        yield held(f"{name}'s {key}", str(value), "" if ours is None else str(ours), ours == value)
    n = config["questions"]["n"] if one.place.hops is None else len(one.rows)
    corpus = one.layers.get("passages", {}).get("passages")
    numbers = (("questions", n), ("passages", corpus))
    counts = [_counted(what, ours, of_data(terms[what], one.place.data)) for what, ours in numbers]
    yield from counts
    if name == expected:
        yield from _contents(one, terms, [what for (what, _), count in zip(numbers, counts) if count.state != DIFFERS])


def _contents(one: Measured, terms: Terms, parts: Sequence[str]) -> Iterator[Condition]:
    """Whether questions and corpus are those of the data set whose name they have. Questions that were generated are
    nobody's."""
    data, config = one.place.data, one.run.config
    name, known = terms["data"][data], known_of(terms, data)
    ours = {"questions": config["questions"].get("hash"), "passages": config["data"].get("fingerprint")}
    for part in parts:
        what, theirs = f"which {part}", getattr(known, part)
        if part == "questions" and data in terms.get("generated", {}):
            continue
        if theirs is None:
            why = f"{what}: not held against {name}, which is not on this machine as its publisher gives it"
            yield Condition(what, name, str(ours[part]), why, open=True)
        else:
            yield held(what, f"{name} ({theirs})", ours[part] or "", ours[part] == theirs)


def _counted(what: str, ours: int | None, theirs: int | None) -> Condition:
    """A number on both sides, None where it is not said."""
    said = ("" if number is None else f"{number:,}" for number in (theirs, ours))
    return held(what, *said, ours == theirs is not None)
