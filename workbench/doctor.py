"""What this machine has, what is missing, and the one command that mends it."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from workbench import threads
from workbench.records import Record

_INSTALL = "make setup"


@dataclass(frozen=True, repr=False)
class Finding(Record):
    """One thing looked at. `remedy` is empty where nothing needs to be done."""

    what: str
    found: str
    good: bool
    remedy: str = ""

    def __repr__(self) -> str:
        return f"{'✓' if self.good else '✗'} {self.what}: {self.found}" + (f" → {self.remedy}" if self.remedy else "")


def examine(folder: Path = Path()) -> list[Finding]:
    """All findings, in the order in which one would mend them. Nothing is downloaded and no endpoint is asked."""
    return [
        finding
        for look in (_python, _packages, _encoder, _language, _machine, _endpoint, _local_models, _places)
        for finding in look(folder)
    ]


def _python(_: Path) -> Iterable[Finding]:
    good = (3, 11) <= sys.version_info[:2] < (3, 13)
    yield Finding(
        "Python", platform.python_version(), good, "" if good else "use Python 3.11 or 3.12: make setup PY=python3.11"
    )


def _packages(_: Path) -> Iterable[Finding]:
    for name in (
        "numpy",
        "scipy",
        "pandas",
        "torch",
        "sentence-transformers",
        "spacy",
        "openai",
        "papermill",
        "jupyterlab",
        "chromadb",
    ):
        try:
            yield Finding(name, version(name), True)
        except PackageNotFoundError:
            yield Finding(name, "not installed", False, _INSTALL)


def _encoder(_: Path) -> Iterable[Finding]:
    def load() -> str:
        from workbench.encoding import encoder

        return f"{encoder().name}, {encoder().dimension} dimensions"

    yield _tried("encoder", load)


def _language(_: Path) -> Iterable[Finding]:
    def load() -> str:
        from workbench.rules.language import nlp

        return f"{nlp().meta['name']} {nlp().meta['version']}"

    yield _tried("English pipeline", load)


def _machine(folder: Path) -> Iterable[Finding]:
    yield Finding("cores", f"{threads.cores()} (WORKBENCH_THREADS sets another number)", True)
    free = shutil.disk_usage(folder).free / 2**30
    yield Finding(
        "free disk",
        f"{free:.1f} GiB",
        free > 2,
        "" if free > 2 else "an index of 10,000 passages takes about 0.2 GiB: free some space",
    )


def _endpoint(_: Path) -> Iterable[Finding]:
    """Whether a key is set; never the key."""
    has_key = bool(os.environ.get("OPENAI_API_KEY"))
    from workbench.llm.endpoint import where

    base = os.environ.get("OPENAI_BASE_URL")
    said = "set" if has_key else "not set: the engines `rules`, `local` and `replay` need none"
    yield Finding("OPENAI_API_KEY", said, True)
    yield Finding("endpoint", where(base), True)


def _local_models(_: Path) -> Iterable[Finding]:
    """What the engine `local` needs; it is an extra, so nothing is wrong where it is missing."""
    from workbench.errors import EngineRefused
    from workbench.llm.local import INSTALL, INSTALL_SMALL, model_file

    try:
        yield Finding("engine local", f"xllamacpp {version('xllamacpp')}", True)
    except PackageNotFoundError:
        yield Finding("engine local", "not installed", True, INSTALL)
    try:
        yield Finding("model local:smollm2", model_file("smollm2").name, True)
    except EngineRefused:
        yield Finding("model local:smollm2", "not installed", True, INSTALL_SMALL)


def _places(folder: Path) -> Iterable[Finding]:
    from workbench.data import BUNDLED, load

    for name in BUNDLED:
        yield _tried(
            f"data {name}",
            lambda name=name: f"{len(load(name).passages)} passages, {len(load(name).questions)} questions",
        )
    for place in ("indexes", "runs", "figures"):
        path = folder / place
        writable = os.access(path if path.exists() else folder, os.W_OK)
        yield Finding(f"folder {place}", str(path), writable, "" if writable else f"make {path.resolve()} writable")


def _tried(what: str, look: Callable[[], str]) -> Finding:
    try:
        return Finding(what, look(), True)
    except Exception as error:
        return Finding(what, f"{type(error).__name__}: {error}", False, _INSTALL)
