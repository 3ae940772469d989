"""The iterative retrievals of a run, read from its traces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tqdm.auto import tqdm

from workbench.analyses.base import known_methods
from workbench.errors import SettingError
from workbench.evaluation.run import Run
from workbench.methods.iterative.replay import Replay, replay
from workbench.trace import Trace


def iterative_methods(run: Run, methods: Iterable[str] | None) -> list[str]:
    """The iterative ones among the methods, by default among all; raises :class:`SettingError` if there are none or the
    run has no traces."""
    chosen = [name for name in known_methods(run, methods) if "iterations" in run.config["methods"][name]["settings"]]
    if not chosen:
        raise SettingError(f"no method of the run {run.folder} works in rounds; it has {', '.join(run.methods)}")
    if run.config["trace"] == "off":
        raise SettingError(f"the run {run.folder} kept no traces; evaluate again with trace='ids' in another folder")
    return chosen


def replays(
    run: Run, method: str, gold: Mapping[str, Sequence[str]] | None = None, *, progress: bool = True
) -> dict[str, Replay]:
    """Question id → replay, for all questions or for those in `gold`, which gives the passages to mark.

    Empty if the run has no traces. A question that failed before its first result has no replay."""
    if run.config["trace"] == "off":
        return {}
    rows = [row for row in run.rows if row["method"] == method and (gold is None or row["question_id"] in gold)]
    found = {}
    for row in tqdm(rows, desc="traces", unit="question", disable=not progress):
        trace = run.trace(row["question_id"], method)
        if trace.find("pool"):
            wanted = gold[row["question_id"]] if gold else ()
            found[row["question_id"]] = replay(trace, [_kept(trace, one) for one in wanted])
    return found


def _kept(trace: Trace, passage: str) -> str:
    """An id as stored in the trace: a long one as its hash at level `ids`."""
    return trace._keep(passage)
