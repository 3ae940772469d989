"""Unpack a publisher's archive without trusting it."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import shutil
import tarfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from workbench.errors import DataError

SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
# zipfile raises RuntimeError for a member with a password, both raise ValueError for a name or a number that is none.
_DAMAGED = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, RuntimeError, OSError, ValueError,
    OverflowError,
)  # fmt: skip
_OPENED = {b"\x1f\x8b": gzip.open, b"BZ": bz2.open, b"\xfd7": lzma.open}  # by the first two bytes
MAX_BYTES, MAX_FILES, MAX_RATIO = 4_000_000_000, 100_000, 200
_HEADERS = 1000 * MAX_FILES  # bytes of a tar archive beside what is in its members


def unpack(archive: Path, folder: Path, max_bytes: int = MAX_BYTES) -> None:
    """Write the files of a zip or tar archive to a new folder, which appears only when it is complete.

    Raises :class:`DataError`, and leaves nothing behind, for a member outside the folder, for links and devices, for
    damaged archives, and for contents of more than `max_bytes`, 100,000 files or 200 times the archive's size.
    """
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    allowed = min(max_bytes, max(MAX_RATIO * archive.stat().st_size, 1_000_000))
    try:
        (_zip if archive.name.endswith(".zip") else _tar)(archive, part, allowed)
        part.replace(folder)
    except DataError:
        raise
    except _DAMAGED as error:
        raise DataError(f"{archive} cannot be unpacked ({type(error).__name__}: {error}); fetch it again") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _zip(archive: Path, folder: Path, allowed: int) -> None:
    with zipfile.ZipFile(archive) as packed:
        for number, member in enumerate(packed.infolist()):
            linked = (member.external_attr >> 16) & 0o170000 == 0o120000
            target = _target(archive, folder, member.filename, number, "a link" if linked else "")
            if not member.is_dir():
                with packed.open(member) as source:
                    allowed -= _copy(archive, source, target, allowed)


def _tar(archive: Path, folder: Path, allowed: int) -> None:
    with _decompressed(archive) as plain, tarfile.open(fileobj=_Limited(plain, archive, allowed), mode="r|") as packed:
        for number, member in enumerate(packed):
            other = "" if member.isfile() or member.isdir() else "a link or a device"
            target = _target(archive, folder, member.name, number, other)
            if member.isfile():
                allowed -= _copy(archive, packed.extractfile(member), target, allowed)


def _decompressed(archive: Path) -> BinaryIO:
    with archive.open("rb") as file:
        kind = file.read(2)
    return _OPENED.get(kind, io.open)(archive, "rb")


class _Limited:
    """A tar archive that ends with an error beyond the bytes that it may hold. The sizes are those of its headers,
    which tarfile believes: it reads a name of gigabytes into memory, and passes over what it does not unpack."""

    def __init__(self, plain: BinaryIO, archive: Path, allowed: int):
        self._plain, self._archive = plain, archive
        self._left = allowed + _HEADERS

    def read(self, size: int) -> bytes:
        block = self._plain.read(size)
        self._left -= len(block)
        if self._left < 0:
            raise _bomb(self._archive)
        return block


def _bomb(archive: Path) -> DataError:
    return DataError(
        f"{archive} unpacks to far more than its size, as a zip bomb does; fetch it again from its publisher"
    )


def _target(archive: Path, folder: Path, name: str, number: int, kind: str) -> Path:
    path = PurePosixPath(name.replace("\\", "/"))
    if kind:
        raise DataError(
            f"{archive}: the member {name!r} is {kind}, where only files are expected; fetch it again from its "
            "publisher"
        )
    if not path.parts or path.is_absolute() or ".." in path.parts or "\0" in name or ":" in "".join(path.parts[:1]):
        raise DataError(
            f"{archive}: the member {name!r} would be written outside the folder; fetch it again from its publisher"
        )
    if number >= MAX_FILES:
        raise DataError(f"{archive} has more than {MAX_FILES:,} members; fetch it again from its publisher")
    return folder / path


def _copy(archive: Path, source, target: Path, allowed: int) -> int:
    """Copy a member and return its actual size: a header may state a false one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with target.open("xb") as file:
        while block := source.read(1 << 20):
            written += len(block)
            if written > allowed:
                raise _bomb(archive)
            file.write(block)
    return written
