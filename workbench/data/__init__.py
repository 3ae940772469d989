"""Data sets: the folder format, and the sets known by name."""

from __future__ import annotations

from pathlib import Path

from workbench.data.folder import Dataset, Extraction, read_folder
from workbench.data.graph import GoldGraph
from workbench.errors import DataError

BUNDLED = ("meridian",)
_HERE = Path(__file__).parent
_PLACES = (_HERE / "bundled", _HERE.parents[1] / "data")  # an installed package; a checkout

__all__ = ["BUNDLED", "Dataset", "Extraction", "GoldGraph", "load"]


def load(data: str | Path) -> Dataset:
    """A data set by name (`"meridian"`) or by folder; `docs/data.md` describes the folder."""
    if str(data) in BUNDLED:
        return read_folder(next(place / data for place in _PLACES if (place / data).is_dir()), name=str(data))
    folder = Path(data).expanduser()
    if not folder.is_dir():
        raise DataError(
            f"{str(data)!r} is neither a bundled data set ({', '.join(BUNDLED)}) nor a folder. "
            'A folder needs a corpus.jsonl with one {"id", "title", "text"} a line; see docs/data.md'
        )
    return read_folder(folder)
