"""Generated worlds by name: `world[passages=10_000,seed=7]` is written into the cache at its first use."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

from workbench.data.sources.fetch import cache
from workbench.settings import changed, parse_spec, settle, spec_of

if TYPE_CHECKING:  # most data are no world
    from workbench.data.worlds import Dials

NAME = "world"
_NAMED = re.compile(rf"{NAME}(\[[^\]]*\])?")


def is_world(name: str) -> bool:
    """Whether a name is that of a world.

    >>> is_world("world"), is_world("world[seed=7]"), is_world("worlds"), is_world("./world")
    (True, True, False, False)
    """
    return _NAMED.fullmatch(name) is not None


def label(name: str) -> str:
    """The name of a world with the dials that are not at their defaults, in the order of :class:`Dials`.

    Raises :class:`SettingError` for a dial that is unknown or out of its bounds.
    """
    return spec_of(NAME, changed(_dials(name)))


def folders() -> Path:
    """Where the worlds are that have a name."""
    from workbench.data.worlds import VERSION

    return cache() / NAME / f"v{VERSION}"


def world_folder(name: str) -> Path:
    """The folder of a world in the cache, written if it is not there; a second process waits for the first."""
    from workbench.data.worlds import world

    dials = changed(_dials(name))
    folder = folders() / spec_of(NAME, dials)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_name(f"{folder.name}.lock")):
        return world(folder, **dials)


def _dials(name: str) -> Dials:
    from workbench.data.worlds import Dials

    return settle(NAME, Dials, parse_spec(name)[1])
