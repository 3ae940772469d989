"""Places of the workbench's files, default folders of answers and vectors, locks of folders, and atomic writes."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from workbench.text import text_hash

PACKAGE = Path(__file__).parent
ROOT = PACKAGE.parent  # of a checkout; of an installed package, a folder that is not ours
LONGEST = 200  # bytes of a folder's name; file systems take 255
_mine: set[Path] = set()  # folders that this process holds the lock of
_NOT_IN_A_NAME = re.compile(r'[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff<>:"\\|?*]')
_RESERVED = {"CON", "PRN", "AUX", "NUL", *(f"{port}{number}" for port in ("COM", "LPT") for number in range(1, 10))}


def home() -> Path:
    """`WORKBENCH_HOME`, otherwise the working folder, or the project's folder if that is its `notebooks` or `lab`.

    JupyterLab starts a kernel in the notebook's folder, papermill in the project's: both should find the same index.
    """
    if named := os.environ.get("WORKBENCH_HOME"):
        return Path(named).expanduser()
    here = Path.cwd()
    beside_notebooks = here.name in ("notebooks", "lab") and (here.parent / "notebooks").is_dir()
    return here.parent if beside_notebooks else here


def answers() -> Path:
    """The file of paid answers: `WORKBENCH_ANSWERS`, otherwise `answers.sqlite` in `home`."""
    named = os.environ.get("WORKBENCH_ANSWERS")
    return Path(named).expanduser() if named else home() / "answers.sqlite"


def vectors() -> Path:
    """The folder of stored vectors: `WORKBENCH_VECTORS`, otherwise `vectors` beside `answers`."""
    named = os.environ.get("WORKBENCH_VECTORS")
    return Path(named).expanduser() if named else answers().with_name("vectors")


def folder_name(name: str) -> str:
    """A name as a folder below another one. `/` divides, as in `musique/dev`; a name that would lead elsewhere, that
    some system cannot hold, or that is too long for one, is mended and told apart by its hash.

    >>> folder_name("musique/dev/500@42"), folder_name("../notes")
    ('musique/dev/500@42', '_/notes-6e6b14de0d97')
    """
    held = (_NOT_IN_A_NAME.sub("_", part).encode()[:LONGEST].decode(errors="ignore") for part in name.split("/"))
    parts = [part.rstrip(". ") or "_" for part in held]
    mended = "/".join(part + "_" * (part.partition(".")[0].upper() in _RESERVED) for part in parts)
    return mended if mended == name else f"{mended}-{text_hash(name)[:12]}"


def bundled(name: str) -> Path | None:
    """The folder of a data set that comes with the workbench; None for others."""
    return _ours(f"data/bundled/{name}", f"data/{name}") if Path(name).name == name else None


def notebooks() -> Path:
    """The folder of the numbered notebooks that come with the workbench, with their baselines."""
    return _ours("lessons/notebooks", "notebooks") or ROOT / "notebooks"


def page(name: str) -> Path:
    """A page of the documentation, such as `data.md`, where a message can send its reader."""
    return (_ours("docs", "docs") or ROOT / "docs") / name


def is_checkout() -> bool:
    """Whether the package runs from the project's folder, and not from where pip installed it."""
    return (ROOT / "Makefile").exists()


def _ours(packaged: str, beside: str) -> Path | None:
    """A folder that a wheel has in the package and a checkout beside it."""
    return next((place for place in (PACKAGE / packaged, ROOT / beside) if place.is_dir()), None)


@contextmanager
def locked(folder: Path, taken: Exception) -> Iterator[None]:
    """Hold the lock of a folder. A second process does not wait: it raises `taken`. A killed one holds it no longer."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        held = FileLock(folder / ".lock").acquire(timeout=0)
    except Timeout:
        raise taken from None
    place = folder.resolve()
    with held:
        _mine.add(place)
        try:
            yield
        finally:
            _mine.discard(place)


def link(source: Path, target: Path, name: str) -> None:
    """A hard link to a file of one folder in another, or a copy if the disk has no links."""
    if (source / name).exists() and not (target / name).exists():
        try:
            os.link(source / name, target / name)
        except OSError:
            part = target / f"{name}.tmp"
            shutil.copyfile(source / name, part)
            os.replace(part, target / name)  # a killed process leaves no partial file under this name


def is_locked(folder: Path) -> bool:
    """Whether another process holds the lock of a folder. Without permission to write there, the answer is no."""
    if folder.resolve() in _mine or not (folder / ".lock").exists():
        return False
    try:
        with FileLock(folder / ".lock", timeout=0):
            return False
    except Timeout:
        return True
    except OSError:
        return False


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace a file in one step; a crash or a full disk leaves the old one. Text is written as UTF-8."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)
        flush(temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def flush(path: Path) -> None:
    """Wait until a file, or the listing of a folder, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
