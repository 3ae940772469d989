"""Brings the layers of an index up to date: which layers exist, in what order they are built, and the key of each.

The key of a layer says all that determines it. A layer that stands is left alone unless it is asked for; one that is
asked for is made where nothing stands under its key, and where a request failed it is asked again."""

from __future__ import annotations

import json
import platform
import shutil
from collections import UserDict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import cache, partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import pyarrow as pa

from workbench.data import Dataset, is_data
from workbench.data.registry import options_of
from workbench.encoding import Encoder
from workbench.encoding import encoder as known_encoder
from workbench.errors import IndexFault, SettingError, has_extra
from workbench.index.journal import ending_where_most_fail, is_rules
from workbench.index.layer import DESCRIPTION, Build, Layer, NoSettings, describe
from workbench.index.store import Store, key_of
from workbench.index.usage import ARTICLES, metered
from workbench.llm.deferrals import Deferrals
from workbench.settings import settle


class _Layers(UserDict[str, Any]):
    """Kind → (class, its settings), in the order in which they are built. The module of a kind, which has its name, is
    imported when it is looked up: an index costs the imports of the layers that it has."""

    def __getitem__(self, kind: str) -> tuple[type[Layer], type]:
        name = super().__getitem__(kind)
        module = import_module(f"workbench.index.{kind}")
        return getattr(module, name), getattr(module, "Settings", NoSettings)


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
    mentions="MentionsLayer",
    trigraph="TriGraphLayer",
    pieces="PiecesLayer",
    keywords="KeywordsLayer",
    skeleton="SkeletonLayer",
    entity_summaries="EntitySummariesLayer",
)
# Errors of reading a damaged file without a checksum.
_UNREADABLE = (OSError, EOFError, ValueError, LookupError, TypeError, AttributeError, BadZipFile, pa.ArrowException)
OPTIONS = "options"  # in the manifest: the options with which the data were loaded


def _facts_of(extraction: str | None) -> str:
    return f"the {extraction} facts" if extraction else "extracted facts"


def check_data(store: Store, manifest: Mapping, data: Dataset) -> None:
    """Raise :class:`IndexFault` if a folder holds the index of other data."""
    if manifest["layers"] and manifest["data"]["name"] != data.name:
        raise IndexFault(
            f"{store.folder} holds the index of {manifest['data']['name']!r}, not of {data.name!r}; "
            "choose another folder, or delete this one first"
        )
    if manifest["layers"] and (extraction := manifest["data"].get("extraction")) != data.extraction:
        raise IndexFault(
            f"{store.folder} holds an index of {_facts_of(extraction)}, not of {_facts_of(data.extraction)}; "
            "choose another folder, or delete this one first"
        )


def encoder_of(store: Store, manifest: Mapping) -> Encoder:
    """The encoder of the index in a folder; the default encoder if there is no index yet."""
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
            f"{store.folder} was encoded by {encoder['name']!r}, which cannot be loaded by name; "
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
    for kind in reversed([*LAYERS]):
        if kind in wanted:
            layer = LAYERS[kind][0]
            wanted |= {*layer.inputs, *({*layer.optional} & {*standing})}
    return [kind for kind in LAYERS if kind in wanted]


def write_layers(
    store: Store,
    manifest: dict,
    build: Build,
    wanted: Collection[str],
    settings: Mapping[str, Mapping],
) -> None:
    """Bring the layers that are present or `wanted` up to date, with what is below them and what the data bring; then
    name them all in the manifest, in one step. A layer has the settings given, by default those that it had. Where one
    is deferred, those that are not made of it are made, and none is named."""
    kinds = _with_brought(closure({*wanted, *manifest["layers"]}), build.data)
    chosen = {kind: named["settings"] for kind, named in manifest["layers"].items()} | dict(settings)
    deferrals, build.standing = Deferrals(), partial(_standing, store, manifest, build)
    for kind in kinds:
        layer = LAYERS[kind][0]
        if {*layer.inputs, *layer.optional, *layer.with_given} & {*kinds} <= build.named.keys():
            with deferrals:
                use(store, kind, _brought_up_to_date(store, manifest, kind, build, chosen.get(kind, {}), wanted), build)
    deferrals.end()
    named = _manifest_of(build, manifest)
    if named != manifest:
        store.write_manifest(named)
    store.prune(named)


def _with_brought(kinds: list[str], data: Dataset) -> list[str]:
    """The kinds, with the profiles that the data bring wherever there are facts or a schema graph; this is made of the
    extractions, too, which the data bring with them."""
    if data.profiles is None or not {"facts", "schema_graph"} & {*kinds}:
        return kinds
    return closure({*kinds, "profiles"} | ({"extractions"} if data.extractions and "schema_graph" in kinds else set()))


def _manifest_of(build: Build, before: Mapping) -> dict[str, Any]:
    """The manifest's entries for the layers of a build."""
    data, encoder_settings = build.data, getattr(build.encoder, "settings", None)
    made_by = (name for metadata in build.named.values() for name in metadata.get("made_by", ()))
    return {
        "format": before["format"],
        "data": {"name": data.name, "fingerprint": build.fingerprint}
        | ({"left_out": list(data.left_out)} if data.left_out else {})
        | ({"extraction": data.extraction} if data.extraction else {})
        | _made_how(data, before),
        "encoder": {"name": build.encoder.name} | ({"settings": encoder_settings} if encoder_settings else {}),
        "versions": versions(*made_by, layers=tuple(build.named)),
        "layers": build.named,
    }


def _made_how(data: Dataset, manifest: Mapping) -> dict[str, Any]:
    """The options with which the data were loaded, and the settings of their articles, where they have any; what the
    manifest says of data that do not say where they are from, since they are the index's own."""
    if data.origin is None:
        before = manifest.get("data") or {}
        return {name: before[name] for name in (OPTIONS, ARTICLES) if name in before}
    articles = data.origin.settings.get(ARTICLES)
    made_how = {OPTIONS: options_of(data), ARTICLES: articles if isinstance(articles, dict) else None}
    return {name: value for name, value in made_how.items() if value}


def use(store: Store, kind: str, key: str, build: Build) -> None:
    """Open a layer for those above it."""
    build.layers[kind] = opened_layer(store, kind, key, build.opened)
    build.named[kind] = {"key": key, **build.layers[kind].metadata}


def is_current(folder: Path, build: Build, kinds: Iterable[str], chosen: Mapping[str, Mapping]) -> bool:
    """Whether the index in a folder has all that a build would make of these kinds, and nothing in these failed."""
    store = Store(folder)
    layers = store.read_manifest()["layers"]
    for kind in kinds:
        key, _ = _keys(store, kind, _key(kind, build, _settings(kind, chosen.get(kind, {}))))
        named = layers.get(kind, {})
        if key is None or key != named.get("key") or named.get("failures"):
            return False
        use(store, kind, key, build)
    return True


def _brought_up_to_date(
    store: Store, manifest: dict, kind: str, build: Build, chosen: Mapping, wanted: Collection[str]
) -> str:
    """The key under which a layer stands, once it is made, and once what failed in it was asked for again. One that is
    not `wanted` stays as it is, whoever made it, if it is made of what there is now."""
    settings, layers = _settings(kind, chosen), manifest["layers"]
    if kind in layers and kind not in wanted and _is_made_of(kind, build, settings, layers):
        key = layers[kind]["key"]
        if store.path(kind, key).is_dir():  # a damaged one may have been deleted, as `_open` advises
            return key
    key, following = _keys(store, kind, _key(kind, build, settings))
    if key is None:
        _make(store, kind, following, build, settings, _old(store, manifest, kind, build))
        return following
    layer = opened_layer(store, kind, key, build.opened)
    by_model = build.engine is not None and not is_rules(build.engine)  # what the rules failed at they fail at again
    again = kind in wanted and layer.metadata.get("failures") and by_model
    return following if again and _make(store, kind, following, build, settings, layer, layer.files) else key


def _make(
    store: Store, kind: str, key: str, build: Build, settings: Any, old: Layer | None, present: Mapping | None = None
) -> bool:
    """Make a layer, unless its files equal those that are `present`. Returns whether it was made."""
    layer = LAYERS[kind][0]
    checked = ending_where_most_fail(kind, build.keep_going)
    with store.writing(kind, key) as folder, metered(store.folder, kind, build.engine), checked:
        files = describe(folder, settings, layer.build(folder, build, settings, old))
        if files == present:
            shutil.rmtree(folder)
    return files != present


def _key(kind: str, build: Build, settings: Any) -> str:
    """The key of a layer over the layers of `build`: the hash of everything that determines it."""
    layer = LAYERS[kind][0]
    below, made_by = _contents(kind, build.named), {"maker": layer.maker(build)} if layer.steps else {}
    of = {"encoder": build.encoder.name, **made_by, **layer.of_data(build, settings)}
    return key_of(kind=kind, settings=asdict(settings), below=below, **of)


def _keys(store: Store, kind: str, key: str) -> tuple[str | None, str]:
    """The key of the present layer, if there is one, and the key under which it is made next.

    Each has two names, `key` and `key-2`, so that it stands until another, for which what failed was asked again, is
    whole. Where both are whole, that with fewer failures is the later one."""
    whole = [name for name in (key, f"{key}-2") if (store.path(kind, name) / DESCRIPTION).exists()]
    if len(whole) > 1:
        whole.sort(key=lambda name: _open(store, kind, name).metadata.get("failures", 0))
    present = whole[0] if whole else None
    return present, f"{key}-2" if present == key else key


def _contents(kind: str, named: Mapping[str, Mapping]) -> dict[str, str]:
    """Kind → content of the layers from which a layer is made, as far as a manifest names them."""
    layer = LAYERS[kind][0]
    given = layer.with_given if named.get("profiles", {}).get("given") else ()
    below = [kind for kind in (*layer.inputs, *layer.optional, *given) if kind in named]
    return {kind: named[kind].get("content", named[kind]["key"]) for kind in below}


def _is_made_of(kind: str, build: Build, settings: Any, named: Mapping[str, Mapping]) -> bool:
    """Whether the layer that a manifest names has all that determines it now, but for who made it. What the data bring
    may be other than before."""
    plain = json.loads(json.dumps(asdict(settings)))  # with lists for tuples
    same = named[kind]["settings"] == plain and _contents(kind, named) == _contents(kind, build.named)
    return same and getattr(build.data, kind, None) is None


def _old(store: Store, manifest: dict, kind: str, build: Build) -> Layer | None:
    """The layer that the manifest names, if the next build can reuse its content: not vectors of another encoder, but
    answers."""
    if kind not in manifest["layers"]:
        return None
    same_encoder = manifest["encoder"]["name"] == build.encoder.name
    key = manifest["layers"][kind]["key"]
    # Where a damaged layer was deleted, its work is done again.
    of_use = (same_encoder or LAYERS[kind][0].steps) and store.path(kind, key).is_dir()
    return opened_layer(store, kind, key, build.opened) if of_use else None


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
        raise IndexFault(f"layer {kind!r} cannot be read ({error}); allow it: chmod -R u+rX {folder}") from error
    except _UNREADABLE as error:
        raise IndexFault(
            f"layer {kind!r} in {folder} is damaged ({error or type(error).__name__}); delete this folder, and the "
            "command that built the index makes it again: everything else is reused"
        ) from error


def opened_layer(store: Store, kind: str, key: str, opened: Mapping[str, Layer]) -> Layer:
    layer = opened.get(kind)
    return layer if layer is not None and layer.folder == store.path(kind, key) else _open(store, kind, key)


def opened_layers(store: Store, opened: Mapping[str, Layer]) -> tuple[dict, dict[str, Layer]]:
    """The manifest and the layers that it names. What another process replaces meanwhile is read again."""
    while True:
        manifest = store.read_manifest()
        if not manifest["layers"]:
            raise _no_index(store.folder)
        try:
            return manifest, {kind: _named(store, kind, named, opened) for kind, named in manifest["layers"].items()}
        except IndexFault:
            if store.read_manifest() == manifest:
                raise


def _no_index(folder: Path) -> IndexFault:
    if is_data(folder):
        return IndexFault(
            f"{folder} holds data, not an index; build an index with wb.Index.build({str(folder)!r}, engine) or "
            f"`workbench index {folder}`, which says where it is, and name that folder"
        )
    return IndexFault(
        f"{folder} holds no index (no manifest.json that names a layer); build one with "
        f"wb.Index.build(data, engine, {str(folder)!r}) or `workbench index DATA --out {folder}`"
    )


def _named(store: Store, kind: str, named: Mapping, opened: Mapping[str, Layer]) -> Layer:
    """The layer that the manifest names, taken from `opened` if it is there."""
    layer = opened_layer(store, kind, named["key"], opened)
    if {"key": named["key"], **layer.metadata} != named:
        raise IndexFault(
            f"{layer.folder} is not the layer {kind!r} that {store.manifest_path} names; delete this folder, and the "
            "command that built the index makes it again"
        )
    return layer


def _settings(kind: str, values: Mapping) -> Any:
    settings_class = LAYERS[kind][1]
    return settle(f"layer {kind!r}", settings_class, values, getattr(settings_class, "profiles", {}))


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
