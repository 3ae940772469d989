"""The output of an index build and of an evaluation that are killed repeatedly.

    python benchmarks/resume.py DATA --out FOLDER [--kills 20] [--seed 0] [--limit N]

Builds the index of DATA with rules and the encoder, undisturbed. Then builds it in other folders, in processes that get
SIGKILL at random moments and are restarted in the same folder until they end, until the requested number of kills is
reached. Then does the same for an evaluation (hipporag2, dense, bm25; reader, judge, traces and contexts on). Prints
the stage of each kill and whether every file is byte-identical to the undisturbed one, except a run's `timings.jsonl`
and an index's `usage.jsonl`, which hold seconds. Exits with 1 if one differs. FOLDER must not exist. Not for Windows,
which cannot fork.
"""

import argparse
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import workbench as wb
from workbench import tokens
from workbench.language.pipeline import parse


def serve(data: str, index: str, limit: int | None) -> None:
    """Load the slow parts, then fork a process for every job, so that the kills fall into the work."""
    dataset, engine, encoder = wb.load(data), wb.engine("rules"), wb.encoder()
    encoder.encode(["warm"]), parse(["Warm."]), tokens.count("warm")
    for line in sys.stdin:
        job, folder, after = json.loads(line)
        started = time.perf_counter()
        if not (child := os.fork()):
            if job == "index":
                wb.Index.build(dataset, engine, folder, encoder=encoder, progress=False)
            else:
                opened, reader = wb.Index.open(index, encoder), wb.reader("direct", engine)
                methods = [wb.method(name, opened, engine) for name in ("hipporag2", "dense", "bm25")]
                wb.evaluate(dataset.questions, methods, reader, folder, judge=engine, limit=limit, progress=False)
            os._exit(0)
        if after is not None:
            time.sleep(after)
            os.kill(child, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(json.dumps([status, time.perf_counter() - started]), flush=True)


class Forks:
    """The process that serves. It has one thread, because a process with several cannot be forked safely."""

    def __init__(self, *arguments: str):
        one = {"WORKBENCH_THREADS": "1", "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
        command = [sys.executable, __file__, "--serve", *arguments]
        self._process = subprocess.Popen(
            command, env={**os.environ, **one}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, job: str, folder: Path, after: float | None) -> tuple[int, float]:
        """Exit status and seconds of a job that is killed `after` this many seconds."""
        self._process.stdin.write(json.dumps([job, str(folder), after]) + "\n")
        self._process.stdin.flush()
        status, seconds = json.loads(self._process.stdout.readline() or "[1, 0]")
        if status not in (0, -signal.SIGKILL):
            raise SystemExit(f"the {job} failed by itself, with status {status}")
        return status, seconds


def kill_repeatedly(
    forks: Forks, job: str, out: Path, stage: Callable[[Path], str], kills: int, moments: random.Random
) -> dict:
    _, seconds = forks(job, out / "undisturbed", None)
    whole, landed, same = files(out / "undisturbed"), [], []
    for attempt in itertools.count():
        folder, status = out / str(attempt), None
        while status != 0:
            after = moments.uniform(0, seconds) if len(landed) < kills else None
            status, _ = forks(job, folder, after)
            landed += [stage(folder)] if status else []
            print(f"{job} {attempt}: {landed[-1] if status else 'ended'}", file=sys.stderr)
        same.append(files(folder) == whole)
        if len(landed) >= kills:
            break
    return {
        "seconds undisturbed": round(seconds, 2),
        "files": len(whole),
        "kills": len(landed),
        "landed": dict(Counter(landed).most_common()),
        "completed": len(same),
        "byte-identical": sum(same),
    }


def files(folder: Path) -> dict[str, bytes]:
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {name: content for name, content in found.items() if name not in ("timings.jsonl", "usage.jsonl")}


def stage_of_index(folder: Path) -> str:
    """The layer that was being built."""
    if (folder / "manifest.json").exists():
        return "after the manifest"
    parts = [path.name.partition("-")[0] for path in folder.glob("*.part")]
    return f"in {parts[0]}" if parts else "between layers"


def stage_of_run(folder: Path) -> str:
    """In quarters of the rows."""
    results = folder / "results.jsonl"
    if not results.exists() or not results.stat().st_size:
        return "before the first row"
    rows, config = results.read_bytes().count(b"\n"), json.loads((folder / "run.json").read_text(encoding="utf-8"))
    of = config["questions"]["n"] * len(config["methods"])
    return "in the summaries" if rows == of else f"in quarter {1 + 4 * rows // of} of the rows"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="a data folder, or a bundled name")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=int, help="questions")
    options = parser.parse_args()
    if options.out.exists():
        raise SystemExit(f"{options.out} exists; name a folder that does not, so that nothing is reused")
    moments, index = random.Random(options.seed), options.out / "index" / "undisturbed"

    forks = Forks(options.data, str(index), json.dumps(options.limit))
    done = {
        job: kill_repeatedly(forks, job, options.out / job, stage, options.kills, moments)
        for job, stage in (("index", stage_of_index), ("run", stage_of_run))
    }
    print(json.dumps({"data": Path(options.data).name, "seed": options.seed, **done}, indent=1))
    sys.exit(any(result["byte-identical"] != result["completed"] for result in done.values()))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(*sys.argv[2:4], json.loads(sys.argv[4]))
    else:
        main()
