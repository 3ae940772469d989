"""Texts to unit vectors.

An encoder is anything with a `name`, a `dimension`, `encode(texts)` and `encode_query(text, task)`. `models.py` wraps a
sentence-transformers model, `endpoint.py` a model behind an HTTP endpoint, and `store.py` keeps vectors by text. Index
layers are built with an encoder itself; query-time encoding goes through `cached(encoder)` (`caching.py`).
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from workbench.encoding import models
from workbench.encoding.caching import CachedEncoder, Encoder, Instructed, cached, noting_reuse
from workbench.encoding.models import SentenceEncoder
from workbench.errors import SettingError
from workbench.registry import Registry
from workbench.settings import check_names, parse_spec

__all__ = [
    "ENCODERS", "CachedEncoder", "Encoder", "Instructed", "SentenceEncoder", "asks_endpoint", "cached", "encoder",
    "noting_reuse",
]  # fmt: skip


def encoder(spec: str = "minilm", **settings: Any) -> Encoder:
    """The encoder of a SPEC: `minilm`, `minilm[dtype=bfloat16]`, a hub name, a folder, a registered one, or
    `openai:MODEL[@BASE_URL]`, a model behind an endpoint. The same SPEC returns the same object, so a model is loaded
    once. docs/encoders.md lists the settings."""
    if asks_endpoint(spec):
        return _endpoint_encoder(spec, settings)
    name, given = parse_spec(spec)
    if name in ENCODERS:
        return _registered(ENCODERS[name], **given, **settings)
    chosen = {**_DEFAULTS, **given, **settings}
    if chosen.keys() != _DEFAULTS.keys():
        raise SettingError(f"an encoder has the settings {', '.join(_DEFAULTS)}; got {', '.join(chosen)}")
    if not isinstance(chosen["instruction"], str | None):
        chosen["instruction"] = models.instruction_of(chosen["instruction"])  # which can be hashed
    return _encoder(name, **chosen)


def asks_endpoint(spec: str) -> bool:
    """Whether the encoder of a SPEC sends texts to an endpoint, so that it has a price, a budget and recordings."""
    return spec.startswith(_ENDPOINT)


_ENDPOINT = "openai:"
_DEFAULTS = {
    name: setting.default for name, setting in inspect.signature(SentenceEncoder).parameters.items() if name != "model"
}

# Of notebooks and other packages: what makes an encoder of settings.
ENCODERS: Registry[Callable[..., Encoder]] = Registry(
    "encoders", taken=lambda name: name == "minilm" or asks_endpoint(name)
)


def _endpoint_encoder(spec: str, settings: Mapping[str, Any]) -> Encoder:
    from workbench.encoding.endpoint import OPTIONS
    from workbench.llm.engine import split_spec

    bare, given = split_spec(spec)
    chosen = {**given, **settings}
    check_names("the encoder 'openai'", OPTIONS, chosen)  # names alone: a value may be a key
    if not isinstance(chosen.get("instruction"), str | None):
        chosen["instruction"] = models.instruction_of(chosen["instruction"])
    place = os.environ.get("OPENAI_BASE_URL") if "@http" not in bare else None
    return _asking(bare.removeprefix(_ENDPOINT), place, **chosen)


@cache
def _asking(model: str, place: str | None, **settings: Any) -> Encoder:
    """`place` is where the environment says that the model is."""
    from workbench.encoding.endpoint import openai_encoder

    return openai_encoder(model, **settings)


@cache
def _registered(make: Callable[..., Encoder], **settings: Any) -> Encoder:
    return make(**settings)


@cache
def _encoder(model: str, **settings: Any) -> SentenceEncoder:
    return SentenceEncoder(model, **settings)
