"""How long `import workbench` takes and how many modules it loads, against `import pandas`: the best of several fresh
interpreters. `all names` touches every public name as well, which imports the methods, the index and the experiments.

    python benchmarks/import_time.py [--repeats 5]
"""

from __future__ import annotations

import argparse
import subprocess
import sys

CODE = {
    "bare interpreter": "",
    "import pandas": "import pandas",
    "import workbench": "import workbench",
    "all names": "import workbench\nfor name in workbench.__all__: getattr(workbench, name)",
}
TIMED = "import sys, time; t = time.perf_counter(); exec(sys.argv[1]); print(time.perf_counter() - t, len(sys.modules))"


def measured(code: str, repeats: int) -> tuple[float, int]:
    """(seconds, modules) of the fastest run."""
    runs = (subprocess.check_output([sys.executable, "-c", TIMED, code], text=True).split() for _ in range(repeats))
    return min((float(seconds), int(modules)) for seconds, modules in runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    found = {name: measured(code, repeats) for name, code in CODE.items()}
    of_pandas = found["import pandas"]
    print(f"{'':<18}{'seconds':>9}{'x pandas':>10}{'modules':>9}{'x pandas':>10}")
    for name, (seconds, modules) in found.items():
        print(f"{name:<18}{seconds:9.2f}{seconds / of_pandas[0]:10.2f}{modules:9}{modules / of_pandas[1]:10.2f}")


if __name__ == "__main__":
    main()
