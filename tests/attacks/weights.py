"""Changed weights: each file of the packaged models cut, flipped or gone. None is loaded, and the error names it."""

from __future__ import annotations

import importlib.util
import os
import random
import shutil
import tempfile
from pathlib import Path

from tally import Tally

from workbench import integrity as known
from workbench.errors import FileDamaged

WHOLE = 105


def attack(count: int, seed: int, folder: Path) -> Tally:
    """`count` changed files: every file that is loaded in turn, changed by chance."""
    tally, chance = Tally("weights"), random.Random(seed)
    for number in range(count):
        name, file = chosen()[number % len(chosen())]
        with tempfile.TemporaryDirectory(dir=folder) as inside:
            copy = copied(name, Path(inside))
            how = changed(copy / file, chance)
            wrong = "lost: not noticed"
            try:
                known.check_weights(name, copy)
            except FileDamaged as error:
                told = str(copy / file) in str(error) and "pip install" in str(error)
                wrong = "" if told else f"lost: says only {error}"
            except Exception as error:
                wrong = f"{type(error).__name__}: {error}"
            tally.judged(f"{name}: {file} {how}", wrong)
    return tally


def chosen() -> list[tuple[str, str]]:
    """(weights, file) of all that is installed here."""
    return [(name, file) for name, file, _ in known.installed_weights()]


def copied(name: str, folder: Path) -> Path:
    """The folder of some weights, as links: 90 MB are not copied for one changed byte elsewhere."""
    source, target = known.WEIGHTS[name].place, folder / "weights"
    linked = importlib.util.find_spec(known.WEIGHTS[name].package) is not None and _same_disk(source, folder)
    shutil.copytree(source, target, copy_function=os.link if linked else shutil.copyfile)
    return target


def _same_disk(one: Path, other: Path) -> bool:
    return one.stat().st_dev == other.stat().st_dev


def changed(path: Path, chance: random.Random) -> str:
    """Change a file, which may be a link to the real one, and say how."""
    how = chance.choice(("cut", "flipped", "removed"))
    raw = bytearray(path.read_bytes())
    path.unlink()
    if how == "cut":
        path.write_bytes(raw[: chance.randrange(len(raw))])
    elif how == "flipped":
        raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
        path.write_bytes(raw)
    return how
