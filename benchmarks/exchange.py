"""The time to export an index, and networkx's to read it.

python benchmarks/exchange.py INDEX
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import networkx
import typer

import workbench as wb
from workbench import exchange


def main(folder: Path) -> None:
    index = wb.Index.open(folder)
    context, synonyms = index.graph.context.nnz, index.graph.synonym.nnz
    print(f"{len(index.facts.facts):,} facts, {context:,} context pairs, {synonyms:,} synonyms")
    with tempfile.TemporaryDirectory() as place:
        graphml, tables = Path(place) / "index.graphml", Path(place) / "tables"
        for what, job in (
            ("write GraphML", lambda: exchange.write(index, graphml)),
            ("networkx reads it", lambda: networkx.read_graphml(graphml)),
            ("write CSV", lambda: exchange.write(index, tables)),
        ):
            print(f"{what:18} {_seconds(job):6.1f} s")


def _seconds(job: Callable[[], object]) -> float:
    began = time.perf_counter()
    job()
    return time.perf_counter() - began


if __name__ == "__main__":
    typer.run(main)
