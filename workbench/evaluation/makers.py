"""Who made a number: the engines of a method's Steps, of the reader, of the judge and of the layers. Rules are named
wherever they took part, so that no table shows their numbers as a model's."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any

from workbench.data.curated import CURATED
from workbench.index.journal import by_rules, signed_by
from workbench.llm.engine import NO_MODEL, no_model

NOBODY = "no model"
PARTS = {"reader": "reading", "judge": "judging"}  # what comes after retrieval → its entry of a configuration
_NO_MODELS = {label: label for label in NO_MODEL.values()} | dict.fromkeys(CURATED, "curated facts")


def made_by(config: Mapping[str, Any], method: str) -> str:
    """Each part of a run's method with its makers; a method that asks no Step has none.

    >>> described = {"engine": "openai:8b", "layers": {"extractions": {"made_by": ["rules (triples v2)"]}}}
    >>> made_by({"methods": {"m": described}, "reading": {"engine": "openai:70b"}}, "m")
    'method openai:8b; extractions by rules; reader openai:70b'
    >>> made_by({"methods": {"dense": {"engine": None}}}, "dense")
    'no model'
    """
    parts = ((part, ", ".join(makers)) for part, makers in _parts(config, method))
    return "; ".join(f"{part} {'by rules' if by == 'rules' else by}" for part, by in parts) or NOBODY


def without_model(config: Mapping[str, Any], method: str, after: Container[str] = PARTS) -> tuple[str, ...]:
    """The parts of a number that no model made: rules, replies or facts written by hand. `after`: the `PARTS` that lead
    to the number.

    >>> described = {"engine": "worked:meridian#7000ef98", "layers": {"extractions": {"made_by": ["curated, by hand"]}}}
    >>> without_model({"methods": {"m": described}, "reading": {"engine": "openai:70b"}}, "m")
    ('curated facts', 'replies written by hand')
    """
    parts = (makers for part, makers in _parts(config, method) if part in after or part not in PARTS)
    every = (maker for makers in parts for maker in makers)
    return tuple(sorted({_NO_MODELS[maker] for maker in every if maker in _NO_MODELS}))


def _parts(config: Mapping[str, Any], method: str) -> Iterator[tuple[str, list[str]]]:
    described = config["methods"][method]
    if engines := _engines(described):
        yield "method", engines
    for kind, layer in (described.get("layers") or {}).items():
        signed = layer.get("made_by") or ()
        if makers := ["rules" if by_rules(maker) else (signed_by(maker) or (maker,))[0] for maker in signed]:
            yield kind, list(dict.fromkeys(makers))
    for name, entry in PARTS.items():
        if engines := _engines(config.get(entry) or {}):
            yield name, engines


def _engines(part: Mapping[str, Any]) -> list[str]:
    return [no_model(maker) or maker for maker in (part.get("engine") or "").split(", ") if maker]
