"""What must be equal in two processes for a piece to have the same result in both."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache

from workbench import source, threads
from workbench.errors import ClusterFault
from workbench.index.index import versions

THREADS = "threads"


def conditions() -> dict[str, str]:
    """The code of the package, the versions of what can change a result, and the number of torch's threads."""
    return {**_installed(), THREADS: str(threads.cores())}


def check(asked: Mapping[str, str]) -> None:
    """Compute with as many threads as `asked`, on which the last bits of vectors depend; raises :class:`ClusterFault`
    where this process has another version of something."""
    mine = _installed()
    if differing := [name for name, version in asked.items() if name != THREADS and mine.get(name) != version]:
        name = differing[0]
        raise ClusterFault(
            f"a worker has another version of {name} ({mine.get(name, 'none')}) than the process that asks "
            f"({asked[name]}), and its results may differ; install the same on all workers"
        )
    if asked[THREADS] != str(threads.cores()):
        os.environ["WORKBENCH_THREADS"] = asked[THREADS]


@cache
def _installed() -> dict[str, str]:
    return {**versions(), "hopscope's code": source.package_hash()}
