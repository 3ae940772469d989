"""What estimates say beforehand, against what recorded runs and builds really metered.

    python benchmarks/estimates.py runs|readers|builds [--index FOLDER] [--data meridian] [--questions 20] [--model …]
                                   [--only "hipporag2;dotrag"]

The model is imitated (`tests/imitated.py`): `plain` says what the rules would as a chat model says it, `wordy` thinks
aloud before, `sparing` leaves out a third of every list, so that its rounds, paths and merged records are others than
those of the rules. Requests and tokens are those of the real prompts and replies, money by the prices of gpt-4o-mini.
`runs` and `readers` ask `--questions` of the data, by every method of the catalogue and its main switches, or by every
reader with a judge; `builds` builds every layer that a model writes, with a sample of 8.

Each line has calls, tokens and money as metered, and estimated / metered: for a sample (`asked`: its size chosen by the
estimate), and for runs without a request (`unasked`). `!` marks ratios beyond a factor of 1.5, `*` a metered value that
lies outside of the range that the estimate states. Exits with 1 if a ratio of `asked` is beyond 1.5.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import workbench as wb
from workbench.evaluation.estimate import Estimate, Unasked, estimate_build, estimate_run, stratified
from workbench.index.index import LAYERS
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
        value, low, high = map(sum, zip(*(getattr(cost, name) for cost in costs)))
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
) -> tuple[Usage, dict[str, Mapping[str, tuple[float, bool]]]]:
    def arguments(engine):
        read = wb.reader(reader, engine, index=index) if reader else None
        return questions, [wb.method(method, index, engine)], read

    def estimated(engine) -> Estimate:
        return estimate_run(*arguments(engine), judge=engine if judged else None)

    engine = model()
    with tempfile.TemporaryDirectory() as folder:
        made, judge = arguments(engine), engine if judged else None
        wb.evaluate(*made, Path(folder) / "run", judge=judge, progress=False)
    used = engine.meter.total
    return used, {
        "asked": ratios(estimated(model()), used),
        "unasked": ratios(estimated(Unasked(engine.name)), used),
    }


def of_builds(data, model: Callable[[], Imitated], folder: Path, only: list[str]) -> Iterator[tuple]:
    """Each layer that a model writes, with what is below it. All are estimated before any is built."""
    asked = Unasked("openai:gpt-4o-mini")
    forecasts = estimate_build(data, asked, 0, folder, layers=list(LAYERS))
    writing = [kind for kind in LAYERS if kind in {cost.part for cost in forecasts.costs}]
    kinds = only or ["extractions", *writing]
    estimate = estimate_build(data, model(), 8, folder, layers=kinds)
    for kind in kinds:
        engine, part = model(), "extraction" if kind == "extractions" else kind
        wb.Index.build(data, engine, folder, layers=["passages", kind], progress=False)
        for what, used in engine.meter.steps.items():
            mine = {
                name: [cost for cost in found.costs if (cost.part, cost.step) == (part, what)]
                for name, found in (("asked", estimate), ("unasked", forecasts))
            }
            if mine["asked"]:
                yield (f"{kind}: {what}", used, {
                    name: ratios(Estimate("", "", tuple(costs)), used) for name, costs in mine.items() if costs
                })  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("runs", "readers", "builds"))
    parser.add_argument("--index", type=Path, help="an index with the layers of the methods; else curated facts, rules")
    parser.add_argument("--data", default="meridian")
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--model", choices=MODELS, default="sparing")
    parser.add_argument("--only", type=lambda text: text.split(";"), default=[])
    given = parser.parse_args()
    data = wb.load(given.data)
    questions = stratified(data.questions, given.questions, lambda q: (q.hops or 0, q.type or "", q.id), 7)

    def model() -> Imitated:
        return Imitated(**MODELS[given.model])

    def found(folder: Path) -> Iterator[tuple]:
        if given.what == "builds":
            yield from of_builds(data, model, folder / "index", given.only)
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
    print(f"{'':38} {'calls':>6} {'prompt':>9} {'compl.':>8} {'US$':>8}   asked: {head}    unasked: {head}")
    outside = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, used, sides in found(Path(folder)):
            amounts = f"{used.calls:6,} {used.prompt_tokens:9,} {used.completion_tokens:8,} {used.money:8.4f}"
            print(f"{name:38} {amounts}  ", "   ".join(f"{shown(side):32}" for side in sides.values()), flush=True)
            outside += any(beyond(value) for value, _ in sides["asked"].values())
    print(f"{outside} beyond a factor of {WITHIN} with a sample; the model is imitated ({given.model})")
    return int(outside > 0)


if __name__ == "__main__":
    sys.exit(main())
