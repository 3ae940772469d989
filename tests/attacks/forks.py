"""A process that has imported the workbench, and a fork of it for each command line: importing takes seconds, and so
kills fall into the work. Asked for `anew`, the fork becomes the program as the shell starts it, which imports all.

A line in is {"words": ["index", "data"], "folder": "…", "said": "…", "anew": false}; two come out: the fork's process
id once signals cannot fall in front of what is ours, and then {"code": …, "ended": …, "whole": seconds}."""

from __future__ import annotations

import atexit
import gc
import json
import os
import signal
import ssl
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import certifi
import psutil
from tqdm import tqdm

TESTS = Path(__file__).parents[1]
# What the verbs load where they need it.
LOADED = """
    chromadb distributed igraph nbconvert openai openai.resources.chat pandas papermill pyarrow.parquet
    scipy.optimize scipy.sparse.csgraph scipy.stats torch torch._dynamo umap
    workbench.anonymity workbench.cli.app workbench.data.worlds workbench.exchange workbench.evaluation
    workbench.analyses.base workbench.evaluation.asking workbench.papers.reproduce
    workbench.evaluation.significance workbench.index
    workbench.notebooks.kernels workbench.llm.batch workbench.llm.chat workbench.llm.endpoint
    workbench.methods.gfm_rag.training workbench.testing workbench.views workbench.views.bundle
    workbench.views.training
"""


class Ended(NamedTuple):
    """How a command ended: its exit code (a signal's number, negative), the clock (`time.monotonic`), how long it
    took, and what it said on the error stream."""

    code: int
    ended: float
    whole: float
    said: str


@dataclass
class Forks:
    """The process. `begin` a command in a folder, then `end` gives how it ended; one at a time."""

    folder: Path

    def __enter__(self) -> Forks:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
        environment |= {"WORKBENCH_THREADS": "1", "OMP_NUM_THREADS": "1", "NO_PROXY": "127.0.0.1",
                        "NUMBA_DISABLE_JIT": "1",  # UMAP is compiled for 15 s, and few passages need none of it
                        "OPENAI_API_KEY": "none", "WORKBENCH_HOME": str(self.folder),
                        "WORKBENCH_ANSWERS": "answers.sqlite",  # of each command's folder
                        "WORKBENCH_VECTORS": "vectors",
                        "PYTHONPATH": os.pathsep.join([str(TESTS.parent), str(TESTS)])}  # fmt: skip
        self._said = self.folder / "said.txt"
        self._process = subprocess.Popen([sys.executable, __file__], env=environment, text=True,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
        assert self._process.stdout.readline() == "ready\n"
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()  # it holds nothing, and with all that it loaded it would take seconds to end
        self._process.communicate()

    def begin(self, words: list[str], folder: Path, anew: bool = False) -> int:
        """The process id of the command, which is that of its group, once it has begun."""
        asked = {"words": words, "folder": str(folder), "said": str(self._said), "anew": anew}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def end(self) -> Ended:
        ended = json.loads(self._process.stdout.readline())
        return Ended(**ended, said=self._said.read_text(encoding="utf-8", errors="replace"))

    def run(self, words: list[str], folder: Path, anew: bool = False) -> Ended:
        self.begin(words, folder, anew)
        return self.end()

    def left(self, seconds: float) -> list[str]:
        """What a command that has ended had started (workers, kernels) and still runs after so many seconds; it is
        killed."""
        found = [one for one in psutil.process_iter() if one.pid != self._process.pid and self._is_ours(one)]
        _, alive = psutil.wait_procs(found, timeout=max(0, seconds))
        told = []
        for one in alive:
            with suppress(psutil.Error):
                told.append(" ".join(one.cmdline()))
                one.kill()
        return told

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            return process.environ().get("WORKBENCH_HOME") == str(self.folder)
        except psutil.Error:
            return False


def serve() -> dict | None:
    """Fork for each command; gives it in the fork, and None at the end."""
    tqdm.set_lock(threading.RLock())  # forks share its own one, and one killed with it would leave all others waiting
    print("ready", flush=True)
    for line in sys.stdin:
        asked, (begun, begins) = json.loads(line), os.pipe()
        if not (child := os.fork()):
            os.close(begun)
            return {**asked, "begins": begins}
        os.close(begins)
        if not os.read(begun, 1):  # it became another program
            wait_for_handlers(child)
        os.close(begun)
        started = time.monotonic()
        print(child, flush=True)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        ended = time.monotonic()
        print(json.dumps({"code": code, "ended": ended, "whole": ended - started}), flush=True)
    return None


def wait_for_handlers(process: int) -> None:
    """Wait until a process sees to SIGINT and SIGTERM, or is gone."""
    mask = 1 << signal.SIGINT - 1 | 1 << signal.SIGTERM - 1
    with suppress(FileNotFoundError):
        while True:
            status = dict(line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines())
            if int(status["SigCgt"], 16) & mask == mask or status["State"].strip().startswith("Z"):
                return
            time.sleep(0.0005)


def be_a_command(asked: dict) -> None:
    """Become the command, as the shell starts it. Its end leaves out only that modules are taken apart one by one: with
    all that the process loaded this takes longer than most commands."""
    for number, path in ((0, os.devnull), (1, os.devnull), (2, asked["said"])):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
    os.setsid()  # as in a terminal, where Ctrl-C reaches what a command has started as well
    os.chdir(asked["folder"])
    if asked["anew"]:
        os.execv(sys.executable, [sys.executable, "-m", "workbench", *asked["words"]])
    sys.argv = ["workbench", *asked["words"]]
    from workbench.__main__ import main
    from workbench.cli.stopping import Stop

    begin = Stop.begin

    def begins(stop: Stop) -> None:
        begin(stop)
        os.write(asked["begins"], b".")  # not before: nothing of ours would have run

    Stop.begin = begins
    try:
        main()
    except SystemExit as end:
        threading._shutdown()  # these three are what the interpreter does before
        atexit._run_exitfuncs()
        sys.stdout.flush()
        os._exit(end.code or 0)


def warm() -> None:
    """Load what takes long. No pool of threads begins, which would not live in a fork."""
    for module in LOADED.split():
        import_module(module)
    load, public = ssl.SSLContext.load_verify_locations, certifi.where()  # of which nothing here needs any
    ssl.SSLContext.load_verify_locations = lambda self, file=None, *more: file == public or load(self, file, *more)
    from openai import OpenAI

    from workbench.tokens import count

    count("words")
    OpenAI(api_key="none").close()
    gc.freeze()  # a fork would copy each page that its collector visits


if __name__ == "__main__":
    warm()
    if (command := serve()) is not None:
        be_a_command(command)
