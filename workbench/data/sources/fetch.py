"""Download a publisher's files into the cache: once, completely, and unchanged ever after."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
from pathlib import Path
from typing import BinaryIO

from filelock import FileLock

from workbench.data.origin import SourceFile
from workbench.data.sources import archive
from workbench.data.sources.entry import Entry, File
from workbench.errors import DataError
from workbench.places import page

TIMEOUT = (10.0, 30.0)  # seconds to connect; seconds without a byte
MAX_BYTES = 1_000_000_000  # of a file of unknown size


def cache() -> Path:
    """The folder of downloads: `HOPSCOPE_CACHE`, otherwise the user's cache folder."""
    if named := os.environ.get("HOPSCOPE_CACHE"):
        return Path(named).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("hopscope", appauthor=False))


def source_folder(entry: Entry) -> Path:
    """The folder of an entry's files; a sample has those of its whole data set."""
    return cache() / (entry.whole or entry).id / "source"


def is_offline(wanted: bool | None = None) -> bool:
    """The explicit setting, otherwise whether `HOPSCOPE_OFFLINE` is set to anything but 0."""
    return os.environ.get("HOPSCOPE_OFFLINE", "") not in ("", "0") if wanted is None else wanted


def fetch(entry: Entry, offline: bool | None = None, progress: bool = True) -> tuple[SourceFile, ...]:
    """Ensure that all files of an entry are in `source_folder`, downloading missing ones, and check every hash.

    If the publisher gives no hash, the hash of the first use is written next to the file and checked from then on. A
    file gets its name only when it is complete; a second process waits for the first. Raises :class:`DataError` with
    file, place and address if a file is missing and cannot be downloaded, or differs from its hash.
    """
    folder = source_folder(entry)
    missing = [file for file in entry.files if not (folder / file.name).exists()]
    if missing:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".lock"):
            _unpack(entry, folder)
            missing = [file for file in missing if not (folder / file.name).exists()]
            # Report files that only a user can provide before any download.
            missing.sort(key=lambda file: file.url is not None)
            for file in missing:
                if file.url is None:
                    raise DataError(_by_hand(entry, missing, "cannot be downloaded from one address"))
                if is_offline(offline):
                    raise DataError(_by_hand(entry, missing, "is not here, and offline is asked for"))
                _download(entry, file, folder, progress)
    return tuple(_checked(file, folder) for file in entry.files)


def _checked(file: File, folder: Path) -> SourceFile:
    path, record = folder / file.name, _record(folder / file.name)
    actual = _sha256(path)
    expected = file.sha256 or (record.read_text("utf-8").partition(" ")[0] if record.exists() else None)
    if expected is None:
        _note(path, actual)
    elif actual != expected:
        whose = "its publisher gives" if file.sha256 else f"{record.name} recorded at the first use"
        raise DataError(
            f"{path} has SHA-256 {actual}, not {expected} as {whose}; delete the file to have it downloaded again"
            + ("" if file.sha256 else f", and {record.name} too if the new file is right")
        )
    return SourceFile(file.name, actual, "publisher's hash" if file.sha256 else "hash recorded at the first use")


def _download(entry: Entry, file: File, folder: Path, progress: bool) -> None:
    import pooch
    import requests

    pooch.get_logger().setLevel(logging.WARNING)
    path, part = folder / file.name, folder / ".part"  # the lock is held, so an existing file is from a dead process
    shutil.rmtree(part, ignore_errors=True)
    limit = int(1.5e6 * file.megabytes) if file.megabytes else MAX_BYTES

    def limited(url: str, target: str, _) -> None:
        with open(target, "wb") as opened:
            pooch.HTTPDownloader(progressbar=progress, timeout=TIMEOUT)(url, _Limited(opened, limit, url), None)

    try:
        checksum = f"sha256:{file.sha256}" if file.sha256 else None
        pooch.retrieve(file.url, checksum, fname="file", path=part, downloader=limited)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not file.sha256 and not _record(path).exists():
            _note(path, _sha256(part / "file"))
        (part / "file").replace(path)
    except requests.RequestException as error:
        why = f"could not be downloaded ({type(error).__name__}: {error})"
        raise DataError(_by_hand(entry, [file], why)) from None
    except DataError:
        raise
    except ValueError:
        raise DataError(
            f"{file.url} has not the SHA-256 {file.sha256} that its publisher gives; nothing was kept. Try again; if "
            "it stays so, the file was changed or damaged on its way"
        ) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


class _Limited:
    """A file that accepts at most `limit` bytes."""

    def __init__(self, file: BinaryIO, limit: int, url: str):
        self.file, self.left, self.limit, self.url = file, limit, limit, url

    def write(self, block: bytes) -> None:
        self.left -= len(block)
        if self.left < 0:
            raise DataError(
                f"{self.url} sends more than the {self.limit:,} bytes expected; nothing was kept: fetch the file by "
                "hand"
            )
        self.file.write(block)

    def flush(self) -> None:
        self.file.flush()


def _unpack(entry: Entry, folder: Path) -> None:
    """Unpack an archive that a user put in place, and move the requested files to their expected places."""
    for packed in sorted(path for path in folder.iterdir() if path.name.endswith(archive.SUFFIXES)):
        unpacked = folder / f"{packed.name}.unpacked"
        shutil.rmtree(unpacked, ignore_errors=True)
        archive.unpack(packed, unpacked)
        for file in entry.files:
            for file_found in sorted(unpacked.rglob(file.name))[:1]:
                (folder / file.name).parent.mkdir(parents=True, exist_ok=True)
                file_found.replace(folder / file.name)
        shutil.rmtree(unpacked)


def _by_hand(entry: Entry, missing: list[File], why: str) -> str:
    places = "; ".join(
        f"{file.url or entry.page} → {source_folder(entry) / file.name} "
        f"({f'about {file.megabytes:g} MB' if file.megabytes else 'size not published'}, "
        f"SHA-256 {file.sha256 or 'not published'})"
        for file in missing
    )
    note = f" ({entry.note})" if entry.note else ""
    return (
        f"{entry.id}: {missing[0].name} {why}{note}. Fetch by hand and put in place: {places}. Or put a data folder "
        f"(corpus.jsonl …) into {cache() / entry.id}, or name one that holds it with HOPSCOPE_DATA; see "
        f"{page('data.md')}"
    )


def _record(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _note(path: Path, sha256: str) -> None:
    record = _record(path)
    part = record.with_name(f"{record.name}.{os.getpid()}.part")
    part.write_text(f"{sha256}  {path.name}\n", "utf-8")
    part.replace(record)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
