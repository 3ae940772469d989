"""Accuracy and refusals of the modes `reject` and `open`, by answerable and not: `python benchmarks/modes.py OUT`.

The bundled corpus, the method `dense`, the engine `rules`."""

from __future__ import annotations

import sys
from pathlib import Path

import workbench as wb

PROMPTS = ("brief", "sparql", "knowledge")
SHOWN = ["accuracy", "f1", "abstained:answerable", "abstained:unanswerable"]


def main(out: Path) -> None:
    data = wb.load("meridian")
    index = wb.Index.build(data, wb.engine("rules"), out / "index", layers=["passages"], progress=False)
    readers = [f"direct[prompt={prompt},mode={mode}]" for prompt in PROMPTS for mode in ("reject", "open")]
    grid = wb.grid(data.questions, [wb.method("dense", index)], readers, out=out / "grid", progress=False)
    print(grid.table()[SHOWN].round(3).to_string())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
