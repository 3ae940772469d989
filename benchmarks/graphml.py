"""GraphML of a generated graph of 100,000 nodes: as `exchange.to_graphml` writes it, and through networkx.

python benchmarks/graphml.py           both, each in a process of its own
python benchmarks/graphml.py ours      one of them: ours or networkx
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp

from workbench.exchange.export import to_graphml
from workbench.records import Passage

PHRASES, PASSAGES, FACTS, SYNONYMS = 70_000, 30_000, 150_000, 100_000


def generated() -> SimpleNamespace:
    """What an export reads of an index."""
    draw = np.random.default_rng(0)
    phrases = [f"phrase number {row}" for row in range(PHRASES)]
    text = "some words of a passage " * 25
    subjects, objects = draw.integers(0, PHRASES, (2, FACTS))
    stating = draw.integers(0, PASSAGES, FACTS)
    ends = np.r_[stating, stating], np.r_[subjects, objects]
    context = sp.coo_array((np.ones(2 * FACTS), ends), shape=(PASSAGES, PHRASES)).tocsr()
    pairs = draw.integers(0, PHRASES, (2, SYNONYMS))
    graph = SimpleNamespace(
        phrases=PHRASES,
        context=context,
        passages_of=(context > 0).sum(axis=0),
        synonym=sp.coo_array((draw.random(SYNONYMS), tuple(pairs)), shape=(PHRASES, PHRASES)).tocsr(),
    )
    facts = SimpleNamespace(
        phrases=phrases,
        facts=[(phrases[a], f"relation {row % 500}", phrases[b]) for row, (a, b) in enumerate(zip(subjects, objects))],
        subjects=subjects,
        objects=objects,
        stating=lambda row: [stating[row]],
    )
    passages = SimpleNamespace(passages=[Passage(f"p{row}", f"Title {row}", text) for row in range(PASSAGES)])
    return SimpleNamespace(name="generated", phrased=None, facts=facts, passages=passages, graph=graph)


def memory() -> int:
    """The peak of this process, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def measure(writer: str) -> None:
    import networkx

    from workbench.index.networks import index_to_networkx

    index, before = generated(), memory()
    with tempfile.TemporaryDirectory() as folder:
        path, start = Path(folder) / "graph.graphml", time.perf_counter()
        if writer == "ours":
            to_graphml(index, path)
        else:
            networkx.write_graphml(index_to_networkx(index), path)
        seconds, size = time.perf_counter() - start, path.stat().st_size / 1e6
    print(f"{writer}: {seconds:.0f} s, {memory() - before:,} MB above {before} MB, file {size:.0f} MB")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(sys.argv[1])
    else:
        for name in ("ours", "networkx"):
            subprocess.run([sys.executable, __file__, name], check=True)
