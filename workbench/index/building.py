"""Bringing the layers of an index up to date: which there are, in what order they are built, and under which key each
stands.

The key of a layer says all that determines it. A layer that stands is left alone unless it is asked for; one that is
asked for is made where nothing stands under its key, and where a request failed it is asked again."""

from __future__ import annotations

import filecmp
import json
import platform
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import cache, partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zipfile import BadZipFile

import pyarrow as pa

from workbench.data import Dataset
from workbench.data.registry import options_of
from workbench.encoding import Encoder
from workbench.encoding import encoder as known_encoder
from workbench.errors import IndexFault, SettingError, has_extra
from workbench.index.journal import ending_where_most_fail
from workbench.index.layer import Build, Layer, describe
from workbench.index.store import Store, key_of
from workbench.index.usage import ARTICLES, metered
from workbench.llm.deferrals import Deferrals
from workbench.llm.engine import RulesEngine
from workbench.settings import settle

if TYPE_CHECKING:
    from workbench.llm.engine import Engine


class _Layers(Mapping[str, tuple[type[Layer], type]]):
    """Kind → (class, its settings), in the order in which they are built. The module of a kind, which has its name, is
    imported when it is looked up: an index costs the imports of the layers that it has."""

    def __init__(self, **classes: str):
        self._classes = classes

    def __getitem__(self, kind: str) -> tuple[type[Layer], type]:
        name = self._classes[kind]
        module = import_module(f"workbench.index.{kind}")
        return getattr(module, name), module.Settings

    def __contains__(self, kind: object) -> bool:
        return kind in self._classes

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._classes)

    def __len__(self) -> int:
        return len(self._classes)


LAYERS = _Layers(
    passages="PassagesLayer",
    extractions="ExtractionsLayer",
    facts="FactsLayer",
    synonyms="SynonymsLayer",
    relations="RelationsLayer",
    profiles="ProfilesLayer",
    resolved="ResolvedLayer",
    relabelled="RelabelledLayer",
    typed="TypedLayer",
    schema_graph="SchemaGraphLayer",
    tree="TreeLayer",
    communities="CommunitiesLayer",
    summaries="SummariesLayer",
    pieces="PiecesLayer",
    keywords="KeywordsLayer",
    skeleton="SkeletonLayer",
    entity_summaries="EntitySummariesLayer",
)
# What a file may raise that is not what was written, where nothing says what that was.
_UNREADABLE = (OSError, EOFError, ValueError, LookupError, TypeError, AttributeError, BadZipFile, pa.ArrowException)
# Layers whose key also says who made them or what the data brought: kind -> the layers below that they are made of; of
# profiles only those that the data brought, but for what is made of any (`OF_PROFILES`).
MADE_OF = {
    "extractions": ("passages",),
    "profiles": ("passages",),
    "resolved": ("passages", "profiles"),
    "relabelled": ("passages", "profiles", "resolved"),
    "schema_graph": ("passages", "profiles"),
    "tree": ("passages", "schema_graph"),
    "communities": ("passages", "facts", "profiles"),
    "summaries": ("passages",),
    "skeleton": ("pieces",),
    "entity_summaries": ("facts",),
}
OF_PROFILES = ("resolved", "relabelled")
OPTIONS = "options"  # in the manifest: those with which the data were loaded


def _facts_of(extraction: str | None) -> str:
    return f"the {extraction} facts" if extraction else "extracted facts"


def check_data(store: Store, manifest: Mapping, data: Dataset) -> None:
    """Raise :class:`IndexFault` if a folder holds the index of other data."""
    if manifest["layers"] and manifest["data"]["name"] != data.name:
        raise IndexFault(
            f"{store.folder} holds the index of {manifest['data']['name']!r}, not of {data.name!r}; "
            "choose another folder, or delete this one first"
        )
    if manifest["layers"] and (stands := manifest["data"].get("extraction")) != data.extraction:
        raise IndexFault(
            f"{store.folder} holds an index of {_facts_of(stands)}, not of {_facts_of(data.extraction)}; "
            "choose another folder, or delete this one first"
        )


def encoder_of(store: Store, manifest: Mapping) -> Encoder:
    """The encoder of the index in a folder; the usual one where there is none yet."""
    return made_with(store, manifest) if manifest["layers"] else known_encoder()


def check_kinds(kinds: Iterable[str]) -> None:
    unknown = sorted(set(kinds) - LAYERS.keys())
    if unknown:
        raise SettingError(f"no layer is called {unknown[0]!r}; there are {', '.join(LAYERS)}")


def made_with(store: Store, manifest: Mapping) -> Encoder:
    """The encoder that a manifest names."""
    encoder = manifest["encoder"]
    if "settings" not in encoder:
        raise IndexFault(
            f"{store.folder} was encoded by {encoder['name']!r}, which is not one that can be loaded by name; "
            "pass it: Index.open(folder, encoder=…), Index.build(…, encoder=…)"
        )
    made = known_encoder(**encoder["settings"])
    check_made_by(store, manifest, made)
    return made


def check_made_by(store: Store, manifest: Mapping, encoder: Encoder) -> None:
    if encoder.name != manifest["encoder"]["name"]:
        raise IndexFault(
            f"{store.folder} was encoded by {manifest['encoder']['name']!r}, not by {encoder.name!r}; "
            "vectors of two encoders cannot be compared: open it without an encoder, or build another index"
        )


def closure(kinds: set[str], standing: Collection[str] = ()) -> list[str]:
    """The kinds and all below them, in building order; of the `standing` layers also those that they are made of in an
    index that has them."""
    check_kinds(kinds)
    wanted = set(kinds)
    for kind in reversed(LAYERS):
        if kind in wanted:
            layer = LAYERS[kind][0]
            wanted |= {*layer.needs, *(one for one in layer.where_standing if one in standing)}
    return [kind for kind in LAYERS if kind in wanted]


def write_layers(
    store: Store,
    manifest: dict,
    build: Build,
    kinds: list[str],
    chosen: Mapping[str, Mapping],
    asked: Collection[str],
) -> None:
    """Bring every layer up to date, then name them all in the manifest, in one step. Where one is deferred, those that
    are not made of it are made, and none is named."""
    written, deferrals, build.standing = {}, Deferrals(), partial(_standing, store, manifest, build)
    for kind in kinds:
        if deferrals.requests and not _below(kind, kinds) <= written.keys():
            continue
        settings = _settings(kind, LAYERS[kind][1], chosen.get(kind, {}))
        with deferrals:
            if kind not in asked and _unchanged(store, manifest, kind, build, _plain(settings)):
                key = manifest["layers"][kind]["key"]
            else:
                key = _key(kind, build, settings)
                key = _made(store, manifest, kind, key, build, settings, kind in asked)
            build.layers[kind] = opened_layer(store, kind, key, build.opened)
            written[kind] = {"key": key, **build.layers[kind].metadata}
            build.keys[kind] = _content(written[kind])
    deferrals.end()
    encoder_settings = getattr(build.encoder, "settings", None)
    named = {
        "format": manifest["format"],
        "data": {"name": build.data.name, "fingerprint": build.fingerprint}
        | ({"left_out": list(build.data.left_out)} if build.data.left_out else {})
        | ({"extraction": build.data.extraction} if build.data.extraction else {})
        | _made_how(build.data, manifest),
        "encoder": {"name": build.encoder.name} | ({"settings": encoder_settings} if encoder_settings else {}),
        "versions": versions(
            *(name for metadata in written.values() for name in metadata.get("made_by", ())), layers=tuple(kinds)
        ),
        "layers": written,
    }
    if named != manifest:
        store.write_manifest(named)
    store.prune(named)


def _made_how(data: Dataset, manifest: Mapping) -> dict[str, Any]:
    """The options with which the data were loaded, and the settings of their articles, where they have any; what the
    manifest says of data that do not say where they are from, since they are the index's own."""
    if data.origin is None:
        before = manifest.get("data") or {}
        return {name: before[name] for name in (OPTIONS, ARTICLES) if name in before}
    articles = data.origin.settings.get(ARTICLES)
    said = {OPTIONS: options_of(data), ARTICLES: articles if isinstance(articles, dict) else None}
    return {name: value for name, value in said.items() if value}


def _below(kind: str, kinds: Collection[str]) -> set[str]:
    """Those of the kinds that a layer may be made of."""
    layer = LAYERS[kind][0]
    return {*layer.needs, *layer.where_standing, *MADE_OF.get(kind, ())} & set(kinds)


def _key(kind: str, build: Build, settings: Any) -> str:
    """The key of a layer over those that `build` has."""
    layer = LAYERS[kind][0]
    below = {needed: build.keys[needed] for needed in layer.needs}
    below |= {kind: build.keys[kind] for kind in layer.where_standing if kind in build.keys}
    return key_of(kind=kind, settings=asdict(settings), below=below, **layer.identity(build, settings))


class Place(NamedTuple):
    """Where a layer is: its settings, the key under which it stands, if it does, the one under which it is made next,
    and the layer that stood before."""

    settings: Any
    stands: str | None
    following: str
    old: Layer | None


def place_of_layer(store: Store, manifest: dict, kind: str, build: Build, chosen: Mapping) -> Place:
    """The place of a layer over those that `build` has."""
    settings = _settings(kind, LAYERS[kind][1], chosen)
    stands, following = tries(store, kind, _key(kind, build, settings))
    return Place(settings, stands, following, _old(store, manifest, kind, build, _plain(settings)))


def use(store: Store, kind: str, key: str, build: Build) -> None:
    """Open a layer for those above it."""
    build.layers[kind] = _open(store, kind, key)
    build.keys[kind] = _content({"key": key, **build.layers[kind].metadata})


def resumed(store: Store, kind: str, build: Build, settings: Any) -> Path:
    """The folder whose files a build of the layer would go on from: a stopped build's, or else the layer's own."""
    stands, following = tries(store, kind, _key(kind, build, settings))
    part = store.path(kind, f"{following}.part")
    return part if part.is_dir() or stands is None else store.path(kind, stands)


def _made(store: Store, manifest: dict, kind: str, key: str, build: Build, settings: Any, asked: bool) -> str:
    """The key under which the layer stands, once it is made, and once what failed in it was asked for again."""
    stands, following = tries(store, kind, key)
    if stands is None:
        _make(store, kind, following, build, settings, _old(store, manifest, kind, build, _plain(settings)))
        return following
    before = _open(store, kind, stands)
    if not (asked and before.metadata.get("failures") and _may_succeed(build.engine)):
        return stands
    _make(store, kind, following, build, settings, before, stands=store.path(kind, stands))
    return following if store.path(kind, following).exists() else stands


def _make(
    store: Store, kind: str, key: str, build: Build, settings: Any, old: Layer | None, stands: Path | None = None
) -> None:
    """Make a layer; one that holds what `stands` never gets its name, or a later build would find it."""
    checked = ending_where_most_fail(kind, build.keep_going)
    with store.writing(kind, key) as folder, metered(store.folder, kind, build.engine), checked:
        describe(folder, settings, LAYERS[kind][0].build(folder, build, settings, old))
        if stands is not None and _same(stands, folder):
            shutil.rmtree(folder)


def tries(store: Store, kind: str, key: str) -> tuple[str | None, str]:
    """The key under which a layer stands, if it does, and the one under which it is made next: `key` at first and, each
    time that what failed is asked for again, `key-2`, `key-3`, …, so that it stands until the next is whole."""
    ends = (folder.name.removeprefix(f"{kind}-{key}-") for folder in store.folder.glob(f"{kind}-{key}-*"))
    last = max((int(end) for end in ends if end.isdecimal()), default=0)
    if last:
        return f"{key}-{last}", f"{key}-{last + 1}"
    stands = (store.path(kind, key) / "layer.json").exists()
    return (key, f"{key}-2") if stands else (None, key)


def _may_succeed(engine: Engine | None) -> bool:
    """Whether asking again may help. What the rules failed at they fail at again."""
    return engine is not None and engine.name != RulesEngine.name


def _same(one: Path, other: Path) -> bool:
    """Whether two folders of a layer hold the same, whatever is said of how they were made."""
    names = sorted({path.name for folder in (one, other) for path in folder.iterdir()} - {"layer.json"})
    return filecmp.cmpfiles(one, other, names, shallow=False)[0] == names


def _unchanged(store: Store, manifest: dict, kind: str, build: Build, settings: dict) -> bool:
    """Whether the layer that stands was made of what there is now. Who made it does not matter."""
    layers = manifest["layers"]
    if kind not in MADE_OF or kind not in layers or getattr(build.data, kind, None) is not None:
        return False  # what the data bring may be other than before
    standing = {below: build.layers[below].metadata for below in build.layers}
    before, now = (
        {below: _content(said[below]) for below in MADE_OF[kind] if below in said and _counts(kind, below, said[below])}
        for said in (layers, {below: {**said, "key": build.keys[below]} for below, said in standing.items()})
    )
    same = before == now and layers[kind]["settings"] == settings
    return same and store.path(kind, layers[kind]["key"]).is_dir()  # `_open` advises to delete a damaged one


def _counts(kind: str, below: str, said: Mapping) -> bool:
    """Whether a layer above is made of this one where it stands: most are, of profiles, only of those that the data
    brought."""
    return below != "profiles" or kind in OF_PROFILES or bool(said.get("given"))


def _content(named: Mapping) -> str:
    """What stands for a layer in the keys of those above it."""
    return named.get("content", named["key"])


def _old(store: Store, manifest: dict, kind: str, build: Build, settings: dict) -> Layer | None:
    """The layer that the manifest names, if what it holds is of use for the one to be built."""
    if kind not in manifest["layers"]:
        return None
    same = {
        "encoder": manifest["encoder"]["name"] == build.encoder.name,
        "settings": manifest["layers"][kind]["settings"] == settings,
    }
    if not all(same[what] for what in LAYERS[kind][0].old_must_share):
        return None
    key = manifest["layers"][kind]["key"]
    # Where a damaged layer was deleted, as `_open` advises, its work is done again.
    return opened_layer(store, kind, key, build.opened) if store.path(kind, key).is_dir() else None


def _standing(store: Store, manifest: dict, build: Build) -> Iterator[Layer]:
    """The layers that the manifest names, if the same encoder made their vectors."""
    if manifest["layers"] and manifest["encoder"]["name"] == build.encoder.name:
        for kind, layer in manifest["layers"].items():
            if store.path(kind, layer["key"]).is_dir():  # a damaged one was deleted, as `_open` advises
                yield opened_layer(store, kind, layer["key"], build.opened)


def _open(store: Store, kind: str, key: str) -> Layer:
    if kind not in LAYERS:
        raise IndexFault(f"{store.folder} has a layer {kind!r} that this version does not know; upgrade hopscope")
    folder = store.path(kind, key)
    try:
        return LAYERS[kind][0](folder)
    except PermissionError as error:
        raise IndexFault(f"layer {kind!r} may not be read ({error}); allow it: chmod -R u+rX {folder}") from error
    except _UNREADABLE as error:
        raise IndexFault(
            f"layer {kind!r} in {folder} is damaged ({error or type(error).__name__}); delete this folder, and the "
            "command that built the index makes it again: everything else is reused"
        ) from error


def opened_layer(store: Store, kind: str, key: str, opened: Mapping[str, Layer]) -> Layer:
    layer = opened.get(kind)
    return layer if layer is not None and layer.folder == store.path(kind, key) else _open(store, kind, key)


def _settings(kind: str, settings_class: type, values: Mapping):
    return settle(f"layer {kind!r}", settings_class, values, getattr(settings_class, "profiles", {}))


def _plain(settings: Any) -> dict:
    """Settings as a manifest gives them back, with lists for tuples."""
    return json.loads(json.dumps(asdict(settings)))


@cache
def versions(*engines: str, layers: tuple[str, ...] = ()) -> dict[str, str]:
    """Versions that can change what a run, or an index of these `layers`, holds; of an extra, where it is installed: a
    replay needs no program for local models, and a tree of clusters is asked without UMAP."""
    names = ["hopscope", "numpy", "scipy", "torch", "sentence-transformers", "spacy"]
    names += ["scikit-learn"] if {"summaries", "tree"} & set(layers) else []
    names += ["umap-learn"] if "summaries" in layers and has_extra("raptor") else []
    names += ["igraph"] if {"communities", "skeleton"} & set(layers) else []
    if any(engine.startswith("local:") for engine in engines) and has_extra("local"):
        names.append("xllamacpp")
    return {"python": platform.python_version(), **{name: version(name) for name in names}}
