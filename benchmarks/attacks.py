"""How the product withstands attacks: kills, hostile servers, replies and inputs, damage; keys that must not leak.

    python benchmarks/attacks.py [NAME ...] [--seed 7] [--scale 1.0]

Each file `tests/attacks/NAME.py` makes one kind of attack, over every verb, layer, method and Step that is registered;
`make test-all` runs about a tenth of the same, with fixed seeds. Here a seed is drawn unless `--seed`
names one, and printed, so that what failed can be tried again. `--scale` multiplies the numbers of attempts. Exits with
1 unless everything held."""

from __future__ import annotations

import argparse
import importlib
import random
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
NAMES = ("kills", "servers", "replies", "inputs", "damage", "keys", "weights", "load")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--seed", type=int, default=random.randrange(10_000))
    parser.add_argument("--scale", type=float, default=1.0)
    asked = parser.parse_args()
    # In place of this file's folder, whose modules have names of folders of tests.
    sys.path[:1] = [str(TESTS), str(TESTS / "attacks"), str(TESTS / "llm")]
    print(f"seed {asked.seed}", flush=True)
    print(f"{'attack':10}{'tried':>8}{'lost':>6}{'crashed':>9}{'leaked':>8}{'seconds':>9}")
    failures = []
    for name in asked.names:
        attack, started = importlib.import_module(name), time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            tally = attack.attack(int(attack.WHOLE * asked.scale), asked.seed, Path(folder))
        seconds = time.perf_counter() - started
        print(f"{name:10}{tally.tried:8,}{tally.lost:6}{tally.crashed:9}{tally.leaked:8}{seconds:9.1f}", flush=True)
        failures += [f"{name}: {one}" for one in tally.failures]
    print(*failures, sep="\n")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
