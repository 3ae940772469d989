"""Stores what this version keeps on disk, so that later versions are tested against it:

python tests/formats/make.py tests/formats/v2
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1])]

import on_disk  # noqa: E402

from workbench.evaluation import Run  # noqa: E402
from workbench.index import Index  # noqa: E402

FOLDERS = ("index", "run", "grid")
_THEN = (1980, 1, 1, 0, 0, 0)  # of every file in an archive, so that equal content has equal bytes


def make(target: Path) -> None:
    """Write `index.zip`, `run.zip`, `grid.zip`, `recording.sqlite`, and what they give: `expected.json`."""
    target.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        index = on_disk.build(place / "index")
        on_disk.run(place / "run", index)
        on_disk.grown(place / "grid", index, "direct", "direct[k=2]")
        on_disk.record(place / "recording.sqlite")
        (target / "expected.json").write_text(json.dumps(given(place), indent=1, ensure_ascii=False) + "\n")
        for name in FOLDERS:
            _pack(place / name, target / f"{name}.zip")
        shutil.copyfile(place / "recording.sqlite", target / "recording.sqlite")


def given(place: Path) -> dict[str, Any]:
    """What the things in a folder give to who asks them."""
    index, run = Index.open(place / "index"), Run(place / "run")
    store = on_disk.Recording(place / "recording.sqlite", create=False)
    found = {
        "passages": [passage.id for passage in index.passages.passages],
        "layers": {kind: index.layer(kind).hash for kind in index.manifest["layers"]},
        "rankings": on_disk.rankings(place / "index"),
        "answers": {f"{row['question_id']} {row['method']}": row["answer"] for row in run.rows},
        "scores": {f"{row['question_id']} {row['method']}": row["scores"] for row in run.rows},
        "contexts": [run.context(row) for row in run.rows],
        "events": [len(run.trace(row["question_id"], row["method"])) for row in run.rows],
        "grid": {label: len(one.rows) for label, one in on_disk.Grid(place / "grid").runs.items()},
        "replies": [store.get(request).text for request in on_disk.requests()],
        "window": store.window("openai:one"),
    }
    store.close()
    return json.loads(json.dumps(found))


def unpack(stored: Path, place: Path) -> None:
    """Put what is stored where it can be opened."""
    for name in FOLDERS:
        with zipfile.ZipFile(stored / f"{name}.zip") as archive:
            archive.extractall(place / name)
    shutil.copyfile(stored / "recording.sqlite", place / "recording.sqlite")


def _pack(folder: Path, target: Path) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), _THEN)
            archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED, 9)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
