"""What a generated world costs, and how difficult it is.

    python benchmarks/worlds.py one N [--seed S]              seconds, peak memory, bytes of a world of N passages
    python benchmarks/worlds.py hops N [--seed S] [--keep DIR]  all_gold@5 and recall@5 by hops: dense, bm25, gold

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
from workbench.measures.ranking import all_gold, recall

K, METHODS = 5, ("dense", "bm25")


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
    started, before = time.perf_counter(), time.process_time()
    written = wb.world(folder / f"world-{passages}", passages=passages, seed=seed)
    seconds, own = time.perf_counter() - started, time.process_time() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    size = sum(path.stat().st_size for path in written.rglob("*") if path.is_file())
    print(
        f"passages {passages:,}   seconds {seconds:.1f}, of the processor {own:.1f}   "
        f"passages/s {passages / seconds:,.0f}   peak {peak:,.0f} MB   bytes {size:,}"
    )


def hops(passages: int, seed: int, folder: Path) -> None:
    written = wb.world(folder / f"world-{passages}", passages=passages, seed=seed)
    index = wb.Index.build(written, folder=folder / f"index-{passages}", layers=["passages"])
    methods = [wb.method(name, index) for name in METHODS]
    asked = [row for path in question_files(written) for _, row in rows(path) if row["answers"]]
    facts = read_facts(written, asked)
    scores = defaultdict(list)
    for row in asked:
        found = [[passage.id for passage, _ in method.retrieve(row["question"], K).passages] for method in methods]
        found.append(execute(row["decomposition"], facts).passages)
        scores[row["hops"]].append(
            [measure(ranking, row["support"], K) for measure in (all_gold, recall) for ranking in found]
        )
    columns = [f"{what} {name}" for what in ("all_gold", "recall") for name in (*METHODS, "decomposition")]
    print("hops questions " + "  ".join(columns))
    for count, rows_of in sorted(scores.items()):
        means = [fmean(column) for column in zip(*rows_of, strict=True)]
        print(f"{count:4} {len(rows_of):9} " + "  ".join(f"{mean:{len(one)}.3f}" for mean, one in zip(means, columns)))


if __name__ == "__main__":
    main()
