"""Shards: parts of a build or an evaluation that are done apart from each other, such as by the tasks of an array job.

Each writes a folder of its own, `shards/03-of-16` in the folder of the whole, and `merge` puts them together
(`workbench.index.sharding`, `workbench.evaluation.sharding`; docs/cluster.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from workbench.errors import DataError, SettingError

T = TypeVar("T")
FOLDER, FILE = "shards", "shard.json"  # in the folder of the whole; in that of a shard, when its part is done


class Shard(NamedTuple):
    """The part with this `number`, from 1 on, `of` so many."""

    number: int
    of: int

    @classmethod
    def parse(cls, spec: str | Shard) -> Shard:
        """
        >>> Shard.parse("3/16").name
        '03-of-16'
        """
        if isinstance(spec, Shard):
            return spec
        found = re.fullmatch(r"(\d+)/(\d+)", spec)
        shard = cls(int(found[1]), int(found[2])) if found else cls(0, 0)
        if not 1 <= shard.number <= shard.of:
            raise SettingError(f"the shard {spec!r} is none; write its number and how many there are: 1/16 to 16/16")
        return shard

    @property
    def name(self) -> str:
        return f"{self.number:0{len(str(self.of))}}-of-{self.of}"

    def folder(self, whole: Path) -> Path:
        return whole / FOLDER / self.name

    def part(self, items: Sequence[T]) -> Sequence[T]:
        """Every so manyth of the items, so that parts are alike."""
        return items[self.number - 1 :: self.of]


class Waiting(Exception):
    """A shard has done its part of something that it cannot go on without the others'."""


_dividing: ContextVar[Shard | None] = ContextVar("dividing", default=None)


@contextmanager
def dividing(shard: Shard) -> Iterator[None]:
    """Encoding and Steps within the block do the part of a shard. It ends without an error where that is not all."""
    token = _dividing.set(shard)
    try:
        yield
    except Waiting:
        pass
    finally:
        _dividing.reset(token)


def divided() -> Shard | None:
    """The shard whose part is done; None if all is."""
    return _dividing.get()


def done(whole: Path) -> dict[Shard, dict[str, Any]]:
    """Shard → what it said when its part was done (`FILE`), of all shards of a folder. Raises :class:`SettingError` if
    there are none, if some are missing or not done, or if they are parts of different numbers of shards;
    :class:`DataError` for a damaged file."""
    said = {}
    for path in sorted((whole / FOLDER).glob(f"*/{FILE}")):
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            said[Shard(told.pop("number"), told.pop("of"))] = told
        except (ValueError, KeyError, AttributeError) as error:
            raise DataError(f"{path} is damaged ({error}); run this shard again") from None
    if not said:
        raise SettingError(f"{whole} has no shards; make them with --shard 1/4, 2/4, … of `index` or `evaluate`")
    if len(sizes := {shard.of for shard in said}) > 1:
        counts = " and of ".join(map(str, sorted(sizes)))
        raise SettingError(f"{whole / FOLDER} holds shards of {counts}; delete the folders of those that are not meant")
    (size,) = sizes
    if missing := [number for number in range(1, size + 1) if Shard(number, size) not in said]:
        which = ", ".join(f"{number}/{size}" for number in missing[:10]) + (" …" if len(missing) > 10 else "")
        raise SettingError(f"{whole} lacks {len(missing)} of {size} shards, which have not ended: --shard {which}")
    return dict(sorted(said.items()))


def check_alike(said: Mapping[Shard, Mapping[str, Any]], names: Sequence[str]) -> None:
    """Raise :class:`SettingError` where shards were made under different conditions."""
    first, *others = said
    for shard in others:
        if differing := [name for name in names if said[shard].get(name) != said[first].get(name)]:
            what = differing[0]
            raise SettingError(
                f"shard {shard.number}/{shard.of} differs from shard {first.number}/{first.of} in {what} "
                f"({_short(said[shard].get(what))}; {_short(said[first].get(what))}); run one of them again"
            )


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:79]}…"
