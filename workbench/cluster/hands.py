"""What a worker receives: the work as a pickle in which large and secret objects are replaced by how to make them.

    engine, encoder        its SPEC and options, without key, recording and budget
    index                  its folder and the hash of its manifest
    method, reader         its class, settings, index and engine
    vectors on disk        the path of their file

A worker makes them again, once, and reads keys from its own environment. Folders are absolute, and every worker has to
see them under the same path."""

from __future__ import annotations

import io
import mmap
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

import cloudpickle
import numpy as np

from workbench.cluster.piece import Packed, conditions, opened_engine, reused
from workbench.encoding import ENCODERS, CachedEncoder, SentenceEncoder, cached
from workbench.encoding import encoder as known_encoder
from workbench.encoding.endpoint import EndpointEncoder
from workbench.errors import ClusterFault, EngineRefused, IndexFault, SettingError
from workbench.index import Index
from workbench.llm.call import open_address
from workbench.llm.engine import EngineBase, Recipe
from workbench.llm.engine import engine as known_engine
from workbench.llm.meter import Budget
from workbench.methods import Method
from workbench.methods.composite import Composite
from workbench.methods.ranking import Ranking
from workbench.settings import parse_spec
from workbench.text import text_hash

KEY, ADDRESS = "OPENAI_API_KEY", "OPENAI_BASE_URL"
SHORTEST = 8  # characters of a key that is looked for in what is sent; a placeholder may be part of any word


class WorkerSetup:
    """Work that is packed, with the engines and encoders behind endpoints that it asks, by key, and their budgets."""

    def __init__(self, work: Callable):
        self.engines: dict[str, Any] = {}
        self.budgets: list[Budget] = []
        self.packed = Packed(self._pickled(work), conditions())

    def _pickled(self, work: Callable) -> bytes:
        file = io.BytesIO()
        try:
            _Packer(file, self).dump(work)
        except (TypeError, AttributeError, RecursionError) as error:
            raise ClusterFault(f"the work cannot be sent to workers: {error}; do it without a cluster") from error
        content = file.getvalue()
        key = os.environ.get(KEY, "").strip()
        if len(key) >= SHORTEST and key.encode() in content:
            raise ClusterFault(
                f"the work contains the key in {KEY}, and keys are never sent to workers; remove it from questions "
                "and settings"
            )
        return content

    def ask(self, thing: Any) -> dict[str, Any]:
        """How a worker makes an engine, or an encoder behind an endpoint, again."""
        made_from = _sent(thing)
        store = getattr(thing, "store", None)
        record = None if store is None else str(store.made().absolute())
        limited = None if thing.budget is None else self._place(thing.budget)
        prompts = dict(getattr(thing, "prompts", {}))
        identity = (made_from["spec"], sorted(made_from["options"].items(), key=lambda pair: pair[0]), prompts, record)
        folder = getattr(thing, "folder", None)
        vectors = None if folder is None else str(folder.absolute())
        key = text_hash(repr((*identity, limited, vectors)))[:12]
        self.engines.setdefault(key, thing)
        return {**made_from, "key": key, "record": record, "limited": limited, "prompts": prompts, "vectors": vectors}

    def _place(self, budget: Budget) -> int:
        if not any(held is budget for held in self.budgets):
            self.budgets.append(budget)
        return next(place for place, held in enumerate(self.budgets) if held is budget)


class _Packer(cloudpickle.Pickler):
    def __init__(self, file: io.BytesIO, setup: WorkerSetup):
        super().__init__(file)
        self._setup = setup

    def reducer_override(self, thing: Any) -> Any:
        reduced = self._reduced(thing)
        return super().reducer_override(thing) if reduced is None else reduced

    def _reduced(self, thing: Any) -> tuple | None:
        if isinstance(thing, EngineBase):
            return _engine, (self._setup.ask(thing),)
        if isinstance(thing, EndpointEncoder):
            return _endpoint_encoder, (self._setup.ask(thing),)
        if isinstance(thing, SentenceEncoder):
            return _encoder, (_settings(thing),)
        if isinstance(thing, CachedEncoder):
            return cached, (thing.encoder,)
        if isinstance(thing, Index):
            return _index, (str(thing.folder.absolute()), _manifest(thing), _encoder_of(thing))
        if isinstance(thing, Method) and not isinstance(thing, Ranking):
            over = {thing.of: thing.given_parts} if isinstance(thing, Composite) else {}
            return _method, (type(thing), thing.index, thing.engine, {**parse_spec(thing.label)[1], **over})
        if _is_reader(thing):
            compress = {"compress": thing.compressor} if getattr(thing, "compressor", None) is not None else {}
            return _reader, (type(thing), thing.engine, thing.index, {**parse_spec(thing.label)[1], **compress})
        if isinstance(thing, PurePath) and not thing.is_absolute():
            return type(thing), (os.path.abspath(thing),)
        if isinstance(thing, np.memmap) and isinstance(thing.base, mmap.mmap):
            return _mapped, (os.path.abspath(thing.filename), thing.dtype.str, thing.offset, thing.shape)
        if all(hasattr(thing, name) for name in ("run", "meter")) and not isinstance(thing, type):
            raise _unknown(thing)
        return None


def _is_reader(thing: Any) -> bool:
    return not isinstance(thing, type) and all(
        hasattr(thing, name) for name in ("read", "contexts", "label", "engine", "index", "Settings")
    )


def _unknown(thing: Any) -> SettingError:
    return SettingError(
        f"{getattr(thing, 'name', thing)!r} was not made from a SPEC, so a worker cannot recreate it; use "
        "wb.engine(SPEC) or wb.encoder(SPEC), or work without a cluster"
    )


# -- engines, and encoders behind endpoints ----------------------------------------------------------------------------


def _sent(thing: Any) -> dict[str, Any]:
    """The SPEC and options of an engine as they are sent, with absolute files, and whether a worker must know the
    address by itself. Raises :class:`SettingError` for what only this process knows."""
    recipe: Recipe | None = thing.recipe
    if recipe is None and thing.name == "rules":
        recipe = Recipe("rules")
    if recipe is None:
        raise _unknown(thing)
    if recipe.key_given:
        raise SettingError(
            f"the key of {thing.name} was passed as api_key=…, and keys are never sent to workers; set {KEY} in their "
            "environment and leave api_key= out"
        )
    if recipe.login_given:
        raise SettingError(
            f"the address of {thing.name} holds a login, and logins are never sent to workers; set it as {ADDRESS} in "
            "their environment and in this one, and leave it out of the SPEC"
        )
    kind, _, rest = recipe.spec.partition(":")
    options = dict(recipe.options)
    if kind == "openai":
        return {"spec": recipe.spec, **_addressed(options)}
    if rest and Path(rest).expanduser().exists():
        rest = os.path.abspath(Path(rest).expanduser())
    return {"spec": f"{kind}:{rest}" if rest else kind, "options": options, "own_address": False}


def _addressed(options: dict[str, Any]) -> dict[str, Any]:
    """The options with the address; one of the environment that holds a login a worker must have in its own."""
    address = options.get("base_url") or os.environ.get(ADDRESS) or ""
    secret = open_address(address) != address
    if options.get("replay"):
        options["replay"] = os.path.abspath(options["replay"])
    sent = {"base_url": address} if address and not secret else {}
    return {"options": options | sent, "own_address": secret}


def _engine(made_from: Mapping[str, Any]) -> Any:
    return _opened(made_from, known_engine)


def _endpoint_encoder(made_from: Mapping[str, Any]) -> Any:
    encoder = _opened(made_from, known_encoder)
    encoder.folder = made_from["vectors"] and Path(made_from["vectors"])
    return encoder


def _opened(made_from: Mapping[str, Any], make: Callable[..., Any]) -> Any:
    if made_from["own_address"] and not os.environ.get(ADDRESS):
        raise EngineRefused(
            f"a worker has no {ADDRESS} in its environment, and addresses are not sent; set it there and restart the "
            "worker"
        )
    record = made_from["record"] and Path(made_from["record"])
    prompts = {"prompts": made_from["prompts"]} if made_from["prompts"] else {}

    def made() -> Any:
        return make(made_from["spec"], **made_from["options"], **prompts)

    return opened_engine(made_from["key"], made, record, made_from["limited"])


# -- what is on disk, and what is made over it -------------------------------------------------------------------------


def _settings(encoder: SentenceEncoder) -> dict[str, Any]:
    names = ("dtype", "max_tokens", "instruction", "passage", "pooling", "device", "batch_tokens", "remote_code")
    spec = os.path.abspath(encoder.model) if Path(encoder.model).is_dir() else encoder.model
    return {"spec": spec, **{name: getattr(encoder, name) for name in (*names, "offline")}}


def _encoder(settings: Mapping[str, Any]) -> Any:
    return known_encoder(**settings)


def _encoder_of(index: Index) -> Any:
    """The encoder of an index, if it is in use, or if it was registered here alone, so that a worker does not know it
    by its name."""
    spec = index.manifest["encoder"].get("settings", {}).get("spec", "")
    return index.encoder if spec in ENCODERS else index.encoder_in_use


def _manifest(index: Index) -> str:
    return text_hash(repr(index.manifest))


def _index(folder: str, manifest: str, encoder: Any) -> Index:
    """The index of a folder, opened once for all work over it."""

    def opened() -> Index:
        index = Index.open(folder, encoder)
        if _manifest(index) != manifest:
            raise IndexFault(
                f"a worker and the process that asks find different indexes in {folder}; the folder must be one that "
                "all workers see, and must not be built while it is asked"
            )
        return index

    return reused(f"index {folder} {manifest} {getattr(encoder, 'name', '')}", opened)


def _method(kind: type[Method], index: Index, engine: Any, settings: Mapping[str, Any]) -> Method:
    return kind(index, engine, **settings)


def _reader(kind: type, engine: Any, index: Index | None, settings: Mapping[str, Any]) -> Any:
    return kind(engine, index=index, **settings)


def _mapped(file: str, dtype: str, offset: int, shape: Sequence[int]) -> np.ndarray:
    return np.memmap(file, dtype=dtype, mode="r", offset=offset, shape=tuple(shape))
