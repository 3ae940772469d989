"""Whether `workbench run --check` finds changes of results: planted one after the other, and harmless ones beside them.

    python benchmarks/regress_planted.py [NAME ...] [--list] [--baseline DIR] [--no-control]

Copies the tree to a temporary folder and checks every notebook that is used there once without any change, which must
find nothing. Then it makes each change in the copy, checks the one notebook that shows it, and takes it back. A planted
change has to be found, a harmless one must not be. Prints a line for each, with the first number that moved. Exits with
1 unless all is as it should be. Takes about a minute for each change. A change is found by a text that stands once
below its folder (`benchmarks/mutations.py`)."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from mutations import LEFT_OUT, ROOT, Outdated, place


class Planted(NamedTuple):
    """`old` stands once in the Python files below `folder` (or in that file) and becomes `new`, and the notebook whose
    name begins with `notebook` shows it, unless it is `harmless`, which changes no result."""

    name: str
    notebook: str
    folder: str
    old: str
    new: str
    harmless: bool = False


P = Planted
PLANTED = (
    P("a threshold", "01", "workbench/index", "products >= threshold", "products >= threshold + 0.02"),
    P("a prompt", "01", "workbench/steps/prompts/fact_filter.md", "copied exactly, best first.", "best first."),
    P("the prompt of an extraction", "01", "workbench/steps/prompts/triples.md",
      "You turn a passage into a knowledge graph", "You turn a passage into a graph"),
    P("the order of ties", "01", "workbench/methods/hipporag2.py", "key=lambda pair: (-pair[1], pair[0]))[:limit]",
      "key=lambda pair: (-pair[1], -pair[0]))[:limit]"),
    P("the rule of a measure", "01", "workbench/measures/ranking.py", "1 / log2(rank + 1) for rank in hits",
      "1 / rank for rank in hits"),
    P("a stop rule", "04", "workbench/methods/iterative", "if thought.done:\n", "if thought.done or number == 2:\n"),
    P("a default k", "01", "workbench/reading/direct.py", "k: base.Passages | None = 5", "k: base.Passages | None = 4"),
    P("a damping, by default", "01", "workbench/methods/hipporag2.py", 'damping: Damping = 0.5',
      'damping: Damping = 0.55'),
    P("a damping, behind its setting", "01", "workbench/operators", "after *= d\n",
      "after *= d + 0.02\n"),
    P("the order of chunks", "01", "workbench/reading/render.py", "for passage, _ in evidence.passages[:k])",
      "for passage, _ in evidence.passages[:k][::-1])"),
    P("a rule that abstains", "01", "workbench/rules/answering.py", "ENOUGH = 0.3", "ENOUGH = 0.35"),
    P("a seed", "02", "workbench/index", "GaussianMixture(size, random_state=how.seed)",
      "GaussianMixture(size, random_state=how.seed + 1)"),
    P("a cap of paths", "03", "workbench/methods/dotrag", "return paths[:cap]", "return paths[: cap - 1]"),
    P("a budget of tokens", "05", "workbench/reading/compression", "values = asdict(given)",
      'values = asdict(given) | {"budget": given.budget - 100}'),
    P("a weight of seeds", "06", "workbench/methods/catrag", "epsilon: NonNegative = 0.2",
      "epsilon: NonNegative = 0.3"),
    P("nothing: a comment and a docstring", "01", "workbench/methods/hipporag2.py", 'name = "hipporag2"\n',
      '# The name in every table.\n    name = "hipporag2"\n', harmless=True),
    P("nothing: another name of a variable", "01", "workbench/measures/ranking.py",
      "1 / log2(rank + 1) for rank in hits(", "1 / log2(place + 1) for place in hits(", harmless=True),
    P("nothing: the last bits of a sum", "01", "workbench/measures/ranking.py",
      "len(gold & set(ranking[:k])) / len(gold)", "len(gold & set(ranking[:k])) * (1 / len(gold))", harmless=True),
)  # fmt: skip


def check(tree: Path, only: str, baseline: Path) -> tuple[int, dict]:
    """(exit code, what is said as JSON) of a check of the notebooks in a tree."""
    command = [sys.executable, "-m", "workbench", "run", "--check", "--only", only, "--json"]
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [*command, "--baseline", str(baseline)], cwd=tree, env=environment, capture_output=True, text=True
    )
    if not done.stdout.startswith("{"):
        sys.exit(f"the check of {only} ended with {done.returncode}: {done.stderr[-800:]}")
    return done.returncode, json.loads(done.stdout)


def told(said: dict) -> str:
    """How much was found, and of it a number rather than a condition."""
    findings = [finding for one in said["notebooks"] for finding in one["findings"]]
    if not findings:
        return "nothing moved"
    first = next((one for one in findings if one["by"] is not None), findings[0])
    by = "" if first["by"] is None else f", by {first['by']:+.4g}"
    return f"{len(findings)} found: {first['kind']} {first['of']} {first['name']}{by}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these changes")
    parser.add_argument("--list", action="store_true", help="print them and where they are made")
    parser.add_argument("--baseline", type=Path, default=ROOT / "notebooks" / "baseline")
    parser.add_argument("--no-control", action="store_true", help="do not check the unchanged notebooks first")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - {one.name for one in PLANTED}:
        parser.error(f"no change is called {sorted(unknown)[0]!r}; --list shows them")
    chosen = [one for one in PLANTED if not arguments.names or one.name in arguments.names]
    places = {one.name: place(one) for one in chosen}
    if arguments.list:
        for one in chosen:
            print(f"{one.name:36} notebook {one.notebook}: {places[one.name].relative_to(ROOT)}")
        return 0
    right = {False: 0, True: 0}
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*LEFT_OUT))
        for number in () if arguments.no_control else sorted({one.notebook for one in chosen}):
            code, said = check(tree, number, arguments.baseline.resolve())
            print(f"unchanged, notebook {number}: {told(said)}", flush=True)
            if code:
                sys.exit("without a change something moved; accept it first, or mend it")
        for one in chosen:
            started, file = time.perf_counter(), place(one, tree)
            before = file.read_text(encoding="utf-8")
            file.write_text(before.replace(one.old, one.new), encoding="utf-8")
            try:
                code, said = check(tree, one.notebook, arguments.baseline.resolve())
            finally:
                file.write_text(before, encoding="utf-8")
            as_it_should = bool(code) != one.harmless
            right[one.harmless] += as_it_should
            outcome = ("kept" if one.harmless else "found") if as_it_should else "WRONG"
            print(f"{outcome:5} {time.perf_counter() - started:5.0f} s  {one.name}: {told(said)}", flush=True)
    harmless = sum(one.harmless for one in chosen)
    print(f"{right[False]} of {len(chosen) - harmless} found; {right[True]} of {harmless} harmless ones left alone")
    return int(sum(right.values()) < len(chosen))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Outdated as error:
        sys.exit(str(error))
