"""Trains the small checkpoints of GFM-RAG, among them the bundled one, from texts of this project alone.

    python benchmarks/gfm_mini.py FOLDER [--recipe NAME …] [--indexes DIR]

FOLDER/NAME becomes a checkpoint for each recipe; `mini` is the one in `workbench/methods/gfm_rag/mini/`. The sources
are the bundled corpus `meridian` (its text alone: its questions stay unseen) and invented worlds (`gfm_worlds.py`) with
their questions, indexed by rules with the encoder minilm. One thread; run nothing beside it.
"""

import argparse
import time
from pathlib import Path

from gfm_worlds import world

import workbench as wb
from workbench.methods.gfm_rag import GFMRAG
from workbench.methods.gfm_rag.training import Source, train

WORLDS = (1, 2, 3, 4)
RECIPES = {  # name -> (seeds of worlds, settings)
    "paths": ((), {"supported": 0, "kinds": ("path",)}),
    "sentences": ((), {"supported": 0, "kinds": ("path", "sentence")}),
    "bridges": ((), {"supported": 0}),
    "worlds": (WORLDS, {"supported": 0}),
    "mini": (WORLDS, {}),
}


def sources(worlds, indexes: Path) -> list[Source]:
    engine = wb.engine("rules")
    data = [wb.load("meridian"), *map(world, worlds)]
    built = [wb.Index.build(one, engine, indexes / one.name, layers=GFMRAG.layers) for one in data]
    return [Source(index, () if one.name == "meridian" else one.questions) for index, one in zip(built, data)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--recipe", nargs="+", default=["mini"], choices=RECIPES)
    parser.add_argument("--indexes", type=Path, default=Path("indexes"))
    given = parser.parse_args()
    for name in given.recipe:
        worlds, settings = RECIPES[name]
        made, begin = sources(worlds, given.indexes), time.perf_counter()
        done = train(made, given.folder / name, device="cpu", **settings)
        done.picture.save(given.folder / name / "training.png")
        print(done, f"in {time.perf_counter() - begin:.0f} s", flush=True)
