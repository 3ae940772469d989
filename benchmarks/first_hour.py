"""Every command of the README, the tutorial and the page on figures, as a newcomer runs them: in a fresh clone of this
checkout's last commit and in fresh environments, with an empty home. Prints the seconds and the exit code of each, and
ends with 1 if one fails. `make test` of the README is left out with --quick.

    python benchmarks/first_hour.py [--quick] [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]
from test_coming_from import blocks, papers_with_a_question  # noqa: E402

PAGES = ("README.md", "docs/tutorial.md", "docs/figure.md")
SERVES = re.compile(r"https?://\S+/lab\S*")  # what JupyterLab says once it is up
AS_ROOT = "--allow-root" if hasattr(os, "getuid") and os.getuid() == 0 else ""


def commands(page: str) -> list[str]:
    """The lines of a page's `sh` blocks, and its Python blocks as lines for the interpreter that has the package: each
    after those before it, since they are one session."""
    lines, session = [], ""
    for language, block in blocks(page):
        if language == "sh":
            lines += [line.partition("  #")[0].strip() for line in block.splitlines()]
        elif page != "README.md":  # whose blocks are for a notebook that is open
            session += block
            lines.append(f"python -c {shlex.quote(session)}")
    return lines


def served(command: str, folder: Path, environment: dict[str, str]) -> int:
    """0 once JupyterLab of the command says its address; then it is stopped."""
    command += f" LAB='--no-browser {AS_ROOT}'" if command.startswith("make") else f" -- --no-browser {AS_ROOT}"
    with subprocess.Popen(
        command, shell=True, cwd=folder, env=environment, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ) as lab:  # fmt: skip
        try:
            return 0 if any(SERVES.search(line) for line in lab.stdout) else lab.wait()
        finally:
            os.killpg(lab.pid, 15)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="without `make test`")
    parser.add_argument("--keep", type=Path, help="the folder of everything; a temporary one by default")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        return tried(chosen.keep or Path(temporary), chosen.quick)


def _named(command: str) -> str:
    """A command in a line; of Python its last one."""
    lines = command.splitlines()
    return f"python: {lines[-2][:92]}" if command.startswith("python -c") else lines[0][:100]


def tried(base: Path, quick: bool) -> int:
    other = base / "other"  # the environment that has only what `pip install` brings
    (base / "home").mkdir(parents=True)
    subprocess.run([sys.executable, "-m", "venv", other], check=True)
    environment = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "LANG"))}
    environment |= {"HOME": str(base / "home"), "PATH": f"{other / 'bin'}:/usr/local/bin:/usr/bin:/bin"}
    environment["PATH"] += f":{Path(sys.executable).resolve().parent}"  # python3.11, which make asks for
    folder, failed = base, 0
    for page in PAGES:
        for command in commands(page):
            if quick and command == "make test":
                continue
            started = time.perf_counter()
            if " lab" in command:
                code = served(command, folder, environment)
            else:
                command = command.replace("REPOSITORY", shlex.quote(str(ROOT)))
                code = subprocess.run(command, shell=True, cwd=folder, env=environment, check=False).returncode
            failed += code != 0
            print(f"{time.perf_counter() - started:8.1f} s  {code:3}  {_named(command)}", flush=True)
            if "&& cd " in command:
                folder = base / command.rpartition("cd ")[2]
                papers_with_a_question(folder / "my" / "papers")
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
