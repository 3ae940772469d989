"""The rows of `workbench list`: one per registered method, reader, compressor or measure.

`catalogue.json` has the rows of everything that comes with the workbench, so that a list loads none of it:

    python -m workbench.cli.catalogue    write the file; a test holds it against the registries
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from workbench.registry import GROUP, KINDS, Registry

NONE = "–"
STORED = Path(__file__).with_suffix(".json")
Row = dict[str, str]


def rows(kind: str) -> list[Row]:
    """The rows of a kind: of the file, unless a package adds to the kind or its registry is loaded already."""
    if KINDS[kind].place.partition(":")[0] in sys.modules or entry_points(group=f"{GROUP}.{kind}"):
        return _COMPUTED[kind]()
    return json.loads(STORED.read_text(encoding="utf-8"))[kind]


def methods() -> list[Row]:
    """Every method: its package, its layers, its Steps per question, its settings."""
    from workbench.methods import METHODS

    return _rows(
        METHODS,
        lambda name, method: {
            "method": name,
            "paper": method.paper,
            "layers": ", ".join(method.layers) or "those of its backbone",
            "asks per question": ", ".join(method.steps) or "nothing",
            "profiles": ", ".join(method.profiles) or NONE,
            "settings": _settings(method),
        },
    )


def readers() -> list[Row]:
    """Every reader: what it reads, its Steps with default settings, whether it needs an index."""
    from workbench.reading import READERS

    return _rows(
        READERS,
        lambda name, reader: {
            "reader": name,
            "reads": _first_paragraph(reader),
            "asks": ", ".join(dict.fromkeys(reader.asked(reader.Settings()))),
            "needs": "an index" if reader.reads_index else NONE,
            "paper": reader.paper or NONE,
            "settings": _settings(reader),
        },
    )


def compressors() -> list[Row]:
    """Every compressor; none asks a model."""
    from workbench.reading.compression import COMPRESSORS

    return _rows(
        COMPRESSORS,
        lambda name, compressor: {
            "compressor": name,
            "does": _first_paragraph(compressor),
            "asks": "nothing",
            "paper": compressor.paper or NONE,
            "settings": _settings(compressor),
        },
    )


def measures() -> list[Row]:
    """Every measure: its definition, what it needs, whether it is a default, its package."""
    from workbench import measures as measured
    from workbench.measures.definitions import definition

    default = {_base(name) for name in measured.DEFAULT}
    needs = {name: need for names, need in _needs(measured) for name in names}
    return _rows(
        {name: measured.EVIDENCE.get(name) for name in needs},
        lambda name, measure: {
            "measure": name,
            "says": definition(name, measure).says,
            "needs": needs[name],
            "by default": "yes" if name in default else NONE,
            "source": definition(name, measure).source or NONE,
        },
        measured.EVIDENCE,
    )


def _needs(measured: Any) -> tuple[tuple[Iterable[str], str], ...]:
    """(measures, what they need), of the module of measures."""
    of_claims = measured.graphrag_bench.JUDGED
    return (
        ([f"{name}@k" for name in measured.RANKING], "gold passages"),
        ([f"{name}@k" for name in measured.JOINT], "gold passages and a reader"),
        ([name for name in measured.ANSWER if name not in (*measured.JUDGED, *of_claims)], "a reader"),
        (measured.JUDGED, "a reader and a judge, which asks judge"),
        (of_claims, "a reader and a judge, which asks state_claims, support_claims, rate_context"),
        (measured.EVIDENCE, NONE),
        (measured.NODES, "a graph, and answers that are a set of its nodes"),
    )


_COMPUTED: dict[str, Callable[[], list[Row]]] = {
    "methods": methods, "readers": readers, "compressors": compressors, "measures": measures,
}  # fmt: skip


def stored() -> str:
    """What `catalogue.json` should hold; only where no package adds to a kind."""
    return json.dumps({kind: computed() for kind, computed in _COMPUTED.items()}, indent=1, ensure_ascii=False) + "\n"


def _rows(things: Mapping[str, Any], row: Callable[[str, Any], Row], registry: Registry | None = None) -> list[Row]:
    """A row for each thing, with its package if that is not ours."""
    registry = things if registry is None else registry
    packages = {name: registry.package(name) if name in registry else GROUP for name in things}
    foreign = {package for package in packages.values()} - {GROUP}
    origin = {name: {"package": packages[name] or NONE} if foreign else {} for name in things}
    return [row(name, thing) | origin[name] for name, thing in things.items()]


def _base(name: str) -> str:
    base, at, _ = name.partition("@")
    return f"{base}@k" if at else base


def _settings(thing: type) -> str:
    from workbench.settings import defaults

    return ", ".join(f"{key}={value}" for key, value in defaults(thing).items()) or NONE


def _first_paragraph(thing: type) -> str:
    return " ".join((thing.__doc__ or "").partition("\n\n")[0].split())


if __name__ == "__main__":
    STORED.write_text(stored(), encoding="utf-8")
