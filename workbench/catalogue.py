"""What there is to choose from, a row each, read off the registries: methods, readers, compressors, measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from workbench import measures as measured
from workbench.measures.definitions import DEFINITIONS
from workbench.methods import METHODS
from workbench.reading import READERS
from workbench.reading.compression import COMPRESSORS
from workbench.settings import defaults

NONE = "–"


def methods() -> list[dict[str, str]]:
    """Every method: whose it is, the layers it needs, what it asks a model per question, its settings."""
    return [
        {
            "method": name,
            "paper": method.paper,
            "layers": ", ".join(method.layers) or "those of its backbone",
            "asks per question": ", ".join(method.steps) or "nothing",
            "profiles": ", ".join(method.profiles) or NONE,
            "settings": _settings(defaults(method)),
        }
        for name, method in METHODS.items()
    ]


def readers() -> list[dict[str, str]]:
    """Every reader: what it reads, what it asks a model by its default settings, whether it needs an index."""
    return [
        {
            "reader": name,
            "reads": _first_paragraph(reader),
            "asks": ", ".join(dict.fromkeys(reader.asked(reader.Settings()))),
            "needs": "an index" if reader.reads_index else NONE,
            "paper": reader.paper or NONE,
            "settings": _settings(defaults(reader)),
        }
        for name, reader in READERS.items()
    ]


def compressors() -> list[dict[str, str]]:
    """Every compressor; none asks a model."""
    return [
        {
            "compressor": name,
            "does": _first_paragraph(compressor),
            "asks": "nothing",
            "paper": compressor.paper or NONE,
            "settings": _settings(defaults(compressor)),
        }
        for name, compressor in COMPRESSORS.items()
    ]


def measures() -> list[dict[str, str]]:
    """Every measure: what it says, what it needs, whether it is measured unless others are named, whose it is."""
    default = {_base(name) for name in measured.DEFAULT}
    return [
        {
            "measure": name,
            "says": DEFINITIONS[name].says,
            "needs": need,
            "by default": "yes" if name in default else NONE,
            "source": DEFINITIONS[name].source or NONE,
        }
        for names, need in _KINDS
        for name in names
    ]


_KINDS: tuple[tuple[Iterable[str], str], ...] = (
    ([f"{name}@k" for name in measured.RANKING], "gold passages"),
    ([name for name in measured.ANSWER if name not in measured.JUDGED], "a reader"),
    (measured.JUDGED, "a reader and a judge, which asks judge"),
    (measured.EVIDENCE, NONE),
    (measured.NODES, "a graph, and answers that are a set of its nodes"),
)


def _base(name: str) -> str:
    base, at, _ = name.partition("@")
    return f"{base}@k" if at else base


def _settings(given: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in given.items()) or NONE


def _first_paragraph(thing: type) -> str:
    return " ".join((thing.__doc__ or "").partition("\n\n")[0].split())
