"""Shards of a build: each encodes its part of the texts and extracts its part of the passages.

    build_shard(data, engine, "indexes/wiki", "3/16")   # 16 times, in any order, on any machine
    merge("indexes/wiki")
    Index.build(data, engine, "indexes/wiki")           # finds all of that done

A shard is a build into a folder of its own in which layers stay parts. Facts are made of all extractions, so that their
vectors need a second round: the same shards after a merge. Layers above are made by the last call, with a cluster if
need be. A text is encoded in the block in which one build would encode it, hence the same bytes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from workbench import shards, source
from workbench.data import Dataset, load
from workbench.data.curated import extracted
from workbench.encoding import Encoder
from workbench.encoding import encoder as known_encoder
from workbench.errors import SettingError
from workbench.index.index import (
    DEFAULT_LAYERS,
    LAYERS,
    Place,
    check_data,
    closure,
    encoder_of,
    place_of,
    place_of_layer,
    use,
    versions,
)
from workbench.index.journal import ending_where_most_fail
from workbench.index.layer import Build, describe
from workbench.index.store import Store, write_atomically
from workbench.index.usage import FILE as BILL
from workbench.index.usage import metered
from workbench.index.vectors import join
from workbench.llm.engine import Engine
from workbench.llm.spreading import spread_out
from workbench.places import link
from workbench.records import Record
from workbench.shards import Shard, check_alike, dividing
from workbench.spread import Workers, over

DIVIDED = ("passages", "extractions", "facts")
ALIKE = ("data", "encoder", "engine", "settings", "versions", "package", "parts", "waiting")
COUNTED = "counted.json"  # which bills of shards are in that of the index


@dataclass(frozen=True, repr=False)
class ShardBuilt(Record):
    """What a shard did. `parts`: layer → key, of which it has its part; `waiting`: layers that need these whole."""

    folder: str
    shard: Shard
    parts: Mapping[str, str]
    waiting: tuple[str, ...]

    def __repr__(self) -> str:
        did = ", ".join(self.parts) or "nothing, since all of it is there"
        then = f"; {', '.join(self.waiting)}: after the merge, in a second round" if self.waiting else ""
        return f"Shard {self.shard.number} of {self.shard.of} in {self.folder}: its part of {did}{then}"


def build_shard(
    data: Dataset | str | Path,
    engine: Engine | None = None,
    folder: str | Path | None = None,
    shard: Shard | str = "1/1",
    *,
    encoder: Encoder | str | None = None,
    layers: Iterable[str] | None = None,
    extraction: str | None = None,
    settings: Mapping[str, Mapping] | None = None,
    keep_going: bool = False,
    cluster: Workers | str | None = None,
    progress: bool = True,
) -> ShardBuilt:
    """Do one part of what `Index.build` with the same arguments would do. Stopped, the same call goes on.

    Raises :class:`SettingError` for a graph of triples without passages, whose texts have to be written first."""
    shard, data = Shard.parse(shard), data if isinstance(data, Dataset) else load(data)
    data = extracted(data, extraction)
    if not data.passages:
        raise SettingError(f"{data.name!r} has no passages to divide; build it once without shards, which writes them")
    whole = Store(folder or place_of(data))
    own = Store(shard.folder(whole.folder))
    with own.lock(), over(cluster):
        (own.folder / shards.FILE).unlink(missing_ok=True)
        manifest = whole.read_manifest()
        check_data(whole, manifest, data)
        encoder = known_encoder(encoder) if isinstance(encoder, str) else encoder
        build = Build(data, encoder or encoder_of(whole, manifest), spread_out(engine), progress, keep_going=keep_going)
        chosen = {**{kind: one["settings"] for kind, one in manifest["layers"].items()}, **(settings or {})}
        parts: dict[str, str] = {}
        waiting = []
        for kind in (one for one in closure(set(layers or DEFAULT_LAYERS)) if one in DIVIDED):
            if not set(LAYERS[kind][0].needs) <= build.layers.keys():
                waiting.append(kind)
                continue
            place = place_of_layer(whole, manifest, kind, build, chosen.get(kind, {}))
            if _did_part(whole, own, shard, build, kind, place):
                parts[kind] = place.following
        said = {
            "number": shard.number, "of": shard.of, "data": {"name": data.name, "fingerprint": data.fingerprint},
            "encoder": build.encoder.name, "engine": engine.name if engine else None, "settings": settings or {},
            "versions": versions(), "package": source.package_hash(), "parts": parts, "waiting": waiting,
        }  # fmt: skip
        write_atomically(own.folder / shards.FILE, json.dumps(said, indent=1, ensure_ascii=False) + "\n")
    return ShardBuilt(str(whole.folder), shard, parts, tuple(waiting))


def _did_part(whole: Store, own: Store, shard: Shard, build: Build, kind: str, place: Place) -> bool:
    """Do the part of a layer; where all of it is there, from an earlier round, open it, and say that no part was."""
    if place.stands is not None:
        use(whole, kind, place.stands, build)
        return False
    if not own.path(kind, place.following).is_dir():
        part, metadata = own.path(kind, f"{place.following}.part"), None
        part.mkdir(parents=True, exist_ok=True)
        _begin_with(whole.path(kind, f"{place.following}.part"), part)
        checked = ending_where_most_fail(kind, build.keep_going)
        with dividing(shard), metered(own.folder, kind, build.engine), checked:
            metadata = LAYERS[kind][0].build(part, build, place.settings, place.old)
        if metadata is None or not _has_all(part, shard):
            return True
        describe(part, place.settings, metadata)
        os.replace(part, own.path(kind, place.following))
    use(own, kind, place.following, build)
    return False


def _has_all(part: Path, shard: Shard) -> bool:
    """Whether no vectors are those of the shard alone."""
    return all((part / f"{file.name.split('.')[0]}.npy").exists() for file in part.glob(f"*.{shard.name}.npy"))


def _begin_with(merged: Path, part: Path) -> None:
    """What an earlier round has merged. Vectors that are whole are not written again, so that a link will do."""
    for file in merged.iterdir() if merged.is_dir() else ():
        target = part / file.name
        if file.suffix == ".part":
            write_atomically(target, _lines([one for one in (target, file) if one.exists()]))
        elif not target.exists():
            link(merged, part, file.name)


def merge(folder: str | Path) -> dict[str, str]:
    """Put the parts of all shards of a build where `Index.build` goes on from them; layer → key of those that were put
    together, or had been before. Raises :class:`SettingError` if a shard is missing, or was made otherwise."""
    whole = Store(folder)
    said = shards.done(whole.folder)
    check_alike(said, ALIKE)
    parts: dict[str, str] = next(iter(said.values()))["parts"]
    with whole.lock():
        for kind, key in parts.items():
            if not whole.path(kind, key).is_dir():
                folders = {one.name: Store(one.folder(whole.folder)).path(kind, f"{key}.part") for one in said}
                _merge(whole.path(kind, f"{key}.part"), folders)
        _count(whole.folder, said)
    return parts


def _merge(target: Path, parts: Mapping[str, Path]) -> None:
    """Journals line by line, each line once; vectors row by row. `parts`: name of a shard → its folder."""
    target.mkdir(parents=True, exist_ok=True)
    for name in sorted({file.name for part in parts.values() for file in part.glob("*.jsonl.part")}):
        write_atomically(target / name, _lines([part / name for part in parts.values() if (part / name).exists()]))
    vectors = (file for name, part in parts.items() for file in part.glob(f"*.{name}.npy"))
    for stem in sorted({file.name.split(".")[0] for file in vectors}):
        if not (target / f"{stem}.npy").exists():
            join(target / f"{stem}.npy", [part / f"{stem}.{name}.npy" for name, part in parts.items()])


def _lines(files: Iterable[Path]) -> bytes:
    """The lines of journals, each once."""
    whole = (file.read_bytes().rpartition(b"\n") for file in files)
    return b"".join(dict.fromkeys(line for text, end, _ in whole for line in (text + end).splitlines(keepends=True)))


def _count(whole: Path, said: Iterable[Shard]) -> None:
    """Add the bills of shards to that of the index, each line once."""
    path = whole / COUNTED
    counted = json.loads(path.read_text()) if path.exists() else {}
    for shard in said:
        bill = shard.folder(whole) / BILL
        lines = bill.read_bytes().splitlines(keepends=True) if bill.exists() else []
        with (whole / BILL).open("ab") as out:
            out.write(b"".join(lines[counted.get(shard.name, 0) :]))
        counted[shard.name] = len(lines)
    write_atomically(path, json.dumps(counted) + "\n")


def is_of_build(folder: Path) -> bool:
    """Whether the shards in a folder are those of a build."""
    return any("parts" in one for one in shards.done(Path(folder)).values())
