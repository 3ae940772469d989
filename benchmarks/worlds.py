"""What a generated world costs, and how difficult it is.

    python benchmarks/worlds.py one N [--seed S]              seconds, peak memory and bytes of a world of N passages
    python benchmarks/worlds.py hops N [--seed S] [--keep DIR]  all_gold@5 by hops: dense, and the gold decomposition

`hops` encodes the whole corpus with the bundled encoder. The decomposition has the passages that executing it on the
gold graph takes. With `--keep`, the world and its index stay in the folder, and the next call goes on from there.
"""

import argparse
import resource
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from statistics import fmean

import workbench as wb
from workbench.data.decompositions import execute, read_facts
from workbench.data.folder import question_files
from workbench.data.lines import rows
from workbench.measures.all_gold import all_gold

K = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("one", "hops"))
    parser.add_argument("passages", type=int)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--keep", type=Path, help="folder for the world and its index")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        (one if given.what == "one" else hops)(given.passages, given.seed, given.keep or Path(scratch))


def one(passages: int, seed: int, folder: Path) -> None:
    started = time.perf_counter()
    written = wb.world(folder / f"world-{passages}", passages=passages, seed=seed)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    size = sum(path.stat().st_size for path in written.rglob("*") if path.is_file())
    print(
        f"passages {passages:,}   seconds {seconds:.1f}   passages/s {passages / seconds:,.0f}   "
        f"peak {peak:,.0f} MB   bytes {size:,}"
    )


def hops(passages: int, seed: int, folder: Path) -> None:
    written = wb.world(folder / f"world-{passages}", passages=passages, seed=seed)
    index = wb.Index.build(written, folder=folder / f"index-{passages}", layers=["passages"])
    dense = wb.method("dense", index)
    asked = [row for path in question_files(written) for _, row in rows(path) if row["answers"]]
    facts = read_facts(written, asked)
    scores = defaultdict(list)
    for row in asked:
        ranking = [passage.id for passage, _ in dense.retrieve(row["question"], K).passages]
        followed = execute(row["decomposition"], facts).passages
        scores[row["hops"]].append((all_gold(ranking, row["support"], K), all_gold(followed, row["support"], K)))
    print(f"all_gold@{K}   questions   dense   decomposition")
    for count, found in sorted(scores.items()):
        means = [fmean(column) for column in zip(*found, strict=True)]
        print(f"{count} hops      {len(found):9}   {means[0]:5.3f}   {means[1]:13.3f}")


if __name__ == "__main__":
    main()
