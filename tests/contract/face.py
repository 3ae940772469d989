"""What users name: the package's own names, what is registered with its settings and defaults, verbs with their
options, fields of rows and columns of frames.

    python tests/contract/face.py      write face.json anew, after a change that is meant"""

from __future__ import annotations

import dataclasses
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import typer

ROOT = Path(__file__).parents[2]
sys.path[:0] = [] if "on_disk" in sys.modules else [str(ROOT / "tests")]

import on_disk  # noqa: E402

import workbench as wb  # noqa: E402
from workbench.cli.app import app  # noqa: E402
from workbench.measures import ANSWER, EVIDENCE, JOINT, NODES, RANKING  # noqa: E402
from workbench.methods import METHODS  # noqa: E402
from workbench.reading import READERS  # noqa: E402
from workbench.reading.compression import COMPRESSORS  # noqa: E402

FACE = Path(__file__).parent / "face.json"


def face(folder: Path) -> dict[str, Any]:
    run = on_disk.run(folder / "run", on_disk.build(folder / "index"))
    return {
        "names": sorted(wb.__all__),
        "methods": {name: _settings(METHODS[name]) for name in sorted(METHODS)},
        "readers": sorted(READERS),
        "compressors": sorted(COMPRESSORS),
        "measures": sorted([*(f"{name}@k" for name in (*RANKING, *JOINT)), *ANSWER, *EVIDENCE, *NODES]),
        "verbs": _verbs(typer.main.get_command(app)),
        "row": sorted(run.rows[0]),
        "frame": list(run.frame().columns),
        "table": list(run.table().columns),
    }


def _settings(method: Any) -> dict[str, str]:
    """Setting → its default, as text."""
    return {one.name: repr(one.default) for one in dataclasses.fields(method.Settings)}


def _verbs(group: Any, before: str = "") -> dict[str, list[str]]:
    found = {}
    for name, command in sorted(group.commands.items()):
        if hasattr(command, "commands"):
            found |= _verbs(command, f"{before}{name} ")
        else:
            found[before + name] = sorted(max(one.opts, key=len) for one in command.params)
    return found


def recorded() -> dict[str, Any]:
    return json.loads(FACE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        FACE.write_text(json.dumps(face(Path(place)), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
