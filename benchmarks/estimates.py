"""What estimates say beforehand, against what recorded runs and builds really metered.

    python benchmarks/estimates.py runs|readers|builds [--index FOLDER] [--data meridian] [--questions 20] [--model …]
                                   [--only "hipporag2;dotrag"]

The model is imitated (`tests/imitated.py`): `plain` says what the rules would as a chat model says it, `wordy` thinks
aloud before, `sparing` leaves out a third of every list, so that its rounds, paths and merged records are others than
those of the rules. Requests and tokens are those of the real prompts and replies, money by the prices of gpt-4o-mini.
`runs` and `readers` ask `--questions` of the data, by every method of the catalogue and its main switches, or by every
reader with a judge; `builds` builds every layer that a model writes.

Each line has calls, tokens and money as metered, and estimated / metered. `!` marks ratios beyond a factor of 1.5, `*`
a metered value outside of the range that the estimate states, which for calls and prompts is a single number.
Exits with 1 if a ratio of calls or prompt tokens is beyond 1.5.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import workbench as wb
from workbench.evaluation.estimate import PASSAGES, Estimate, estimate_build, estimate_run, stratified
from workbench.index.building import LAYERS
from workbench.llm.step import Usage
from workbench.methods import METHODS
from workbench.reading import READERS

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from imitated import Imitated

WITHIN = 1.5
AMOUNTS = ("calls", "prompt_tokens", "completion_tokens", "money")
MODELS = {"plain": {}, "wordy": {"wordy": True}, "sparing": {"sparing": True}}
SWITCHES = (
    "hipporag2[profile=paper]", "bdtr[iterations=4]", "bdtr[backbone=dense]", "ircot[profile=original]",
    "ircot[iterations=4]", "irgs[iterations=4]", "gcot[iterations=4]", "tog[width=5]", "youtu[profile=released]",
    "youtu[agent=false]", "dotrag[profile=paper]", "dotrag[t_max=1]", "dotrag[stop_on_complete=true]",
    "catrag[profile=released]", "lightrag[mode=local]", "lightrag[mode=global]",
    "think_on_graph[depth=2]", "graph_cot[rounds=5]",
)  # fmt: skip
READING = (
    *(name for name in READERS if name != "sparql-exec"), "direct[rewrite=true]", "cot[check=true]",
    "direct[route=true]", "cot[compress=graph-walk[budget=4000]]", "sparql-exec", "direct[mode=open]",
)  # fmt: skip


def ratio(said: float, taken: float) -> float:
    return said / taken if taken else float(not said) or float("inf")


def ratios(estimate: Estimate, used: Usage, unless: str = "encoding") -> Mapping[str, tuple[float, bool]]:
    """Amount → (estimated / metered, whether the metered value lies in the stated range), of what a model is asked."""
    costs = [cost for cost in estimate.costs if cost.part != unless]
    found = {}
    for name in AMOUNTS:
        value, low, high = map(sum, zip(*(getattr(cost, name) for cost in costs if getattr(cost, name) is not None)))
        taken = getattr(used, name)
        found[name] = ratio(value, taken), low * 0.999 <= taken <= high * 1.001
    return found


def shown(found: Mapping[str, tuple[float, bool]]) -> str:
    """
    >>> shown({"calls": (1.0, True), "money": (1.6, False)})
    ' 1.00    1.60!*'
    """
    return " ".join(
        f"{value:5.2f}{' ' if beyond(value) is False else '!'}{' ' if held else '*'}" for value, held in found.values()
    ).rstrip()


def beyond(value: float) -> bool:
    return not 1 / WITHIN <= value <= WITHIN


def of_run(
    index: wb.Index, questions: list, method: str, reader: str | None, model: Callable[[], Imitated], judged: bool
) -> tuple[Usage, Mapping[str, tuple[float, bool]]]:
    engine = model()
    read = wb.reader(reader, engine, index=index) if reader else None
    arguments, judge = (questions, [wb.method(method, index, engine)], read), engine if judged else None
    estimate = estimate_run(*arguments, judge=judge)
    assert not engine.meter.total.calls, "nothing is asked"
    with tempfile.TemporaryDirectory() as folder:
        wb.evaluate(*arguments, Path(folder) / "run", judge=judge, progress=False)
    return engine.meter.total, ratios(estimate, engine.meter.total)


def of_builds(data, model: Callable[[], Imitated], folder: Path, only: list[str], sample: int) -> Iterator[tuple]:
    """Each layer that a model writes, with what is below it. All are estimated before any is built."""
    estimate = estimate_build(data, model(), sample, folder, layers=only or list(LAYERS))
    for kind in only or [kind for kind in LAYERS if kind in {cost.part for cost in estimate.costs}]:
        engine = model()
        wb.Index.build(data, engine, folder, layers=["passages", kind], keep_going=True, progress=False)
        for what, used in engine.meter.steps.items():
            if costs := [cost for cost in estimate.costs if (cost.part, cost.step) == (kind, what)]:
                yield f"{kind}: {what}", used, ratios(Estimate("", "", tuple(costs)), used)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("runs", "readers", "builds"))
    parser.add_argument("--index", type=Path, help="an index with the layers of the methods; else curated facts, rules")
    parser.add_argument("--data", default="meridian")
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--sample", type=int, default=PASSAGES, help="passages from which a build is estimated")
    parser.add_argument("--model", choices=MODELS, default="sparing")
    parser.add_argument("--only", type=lambda text: text.split(";"), default=[])
    given = parser.parse_args()
    data = wb.load(given.data)
    questions = stratified(data.questions, given.questions, lambda q: (q.hops or 0, q.type or "", q.id), 7)

    def model() -> Imitated:
        return Imitated(**MODELS[given.model])

    def found(folder: Path) -> Iterator[tuple]:
        if given.what == "builds":
            yield from of_builds(data, model, folder / "index", given.only, given.sample)
            return
        rules = wb.engine("rules")
        index = wb.Index.open(given.index) if given.index else wb.Index.build(
            data, rules, folder / "index", layers=list(LAYERS), extraction="curated" if data.offers else None
        )  # fmt: skip
        methods = given.only or [name for name in (*METHODS, *SWITCHES) if METHODS[name.partition("[")[0]].steps
                                 or given.only]  # fmt: skip
        specs = [(one, None) for one in methods] if given.what == "runs" else [
            ("graphrag" if one == "local" else "dense", one) for one in (given.only or READING)
        ]  # fmt: skip
        for method, reader in specs:
            yield reader or method, *of_run(index, questions, method, reader, model, judged=reader is not None)

    head = "calls  prompt  compl.  money"
    print(f"{'':38} {'calls':>6} {'prompt':>9} {'compl.':>8} {'US$':>8}   estimated: {head}")
    outside = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, used, near in found(Path(folder)):
            amounts = f"{used.calls:6,} {used.prompt_tokens:9,} {used.completion_tokens:8,} {used.money:8.4f}"
            print(f"{name:38} {amounts}  ", shown(near), flush=True)
            outside += any(beyond(near[name][0]) for name in ("calls", "prompt_tokens"))
    print(f"{outside} beyond a factor of {WITHIN}; the model is imitated ({given.model})")
    return int(outside > 0)


if __name__ == "__main__":
    sys.exit(main())
