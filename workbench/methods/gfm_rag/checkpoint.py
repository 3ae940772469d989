"""Checkpoints in the published form: a folder with `config.json` and `model.pth`.

Of `config.json` only the sizes and the encoder's name count; class paths are never imported. Both forms are read:
`rel_emb_dim` (release 1.0) and `feat_dim` (2.x). `model.pth` holds a dict whose key `model` is the state dict. It is
loaded with `weights_only=True`, so a file with code in it is refused, and every tensor is checked by name and shape."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from workbench.errors import DataError
from workbench.index.store import write_atomically
from workbench.methods.gfm_rag.hub import CONFIG, WEIGHTS
from workbench.methods.gfm_rag.network import Network, Shape
from workbench.records import Record

LARGEST = 1 << 30  # bytes of a file that is read at all; the published one has 98 MB


@dataclass(frozen=True, repr=False, eq=False)
class Checkpoint(Record):
    """A trained network. `encoder`: the name of the text encoder it was trained with, empty where the file does not
    say; `sha256`: of `model.pth`; `config`: what the file holds besides the sizes."""

    name: str
    network: Network
    encoder: str
    sha256: str
    config: Mapping[str, Any]

    def __repr__(self) -> str:
        return (
            f"Checkpoint({self.name}: {self.network.shape}, {self.network.parameters_in_all:,} parameters, "
            f"encoder {self.encoder or 'not named'}, sha256 {self.sha256[:12]})"
        )


def read(folder: Path, name: str = "") -> Checkpoint:
    """The checkpoint of a folder. Raises DataError where a file is missing, is no checkpoint, or has other tensors than
    its config says."""
    config = read_config(folder / CONFIG)
    shape, file = shape_of(config, folder / CONFIG), folder / WEIGHTS
    if not file.is_file():
        raise DataError(f"{file} is missing; a checkpoint is a folder with {CONFIG} and {WEIGHTS}")
    if file.stat().st_size > LARGEST:
        raise DataError(
            f"{file} has {file.stat().st_size:,} bytes; a checkpoint of this method has at most {LARGEST:,}"
        )
    state = checked(_state(file), shape, file)
    with torch.device("meta"):
        network = Network(shape)
    network.load_state_dict(state, assign=True)
    with file.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    return Checkpoint(name or str(folder), network.eval(), _encoder(config), digest, config)


def write(folder: Path, network: Network, encoder: str, **others: Any) -> Path:
    """Write a checkpoint; each file appears whole or not at all. `others` go into the config."""
    folder.mkdir(parents=True, exist_ok=True)
    shape, width = network.shape, network.shape.width
    config = {
        "text_emb_model_config": {"text_emb_model_name": encoder, "normalize": False},
        "model_config": {
            "entity_model": {
                "input_dim": width, "hidden_dims": [width] * shape.layers, "message_func": "distmult",
                "aggregate_func": "sum", "short_cut": True, "layer_norm": True,
            },
            "rel_emb_dim": shape.text,
        },
        **others,
    }  # fmt: skip
    state = {name: value.detach().cpu().contiguous() for name, value in network.state_dict().items()}
    save(folder / WEIGHTS, {"model": state})
    write_atomically(folder / CONFIG, json.dumps(config, indent=2) + "\n")
    return folder


def save(file: Path, value: Any) -> None:
    """`torch.save` into a file that appears whole or not at all."""
    buffer = io.BytesIO()
    torch.save(value, buffer)
    write_atomically(file, buffer.getvalue())


def read_config(file: Path) -> dict[str, Any]:
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"{file} is missing; a checkpoint is a folder with {CONFIG} and {WEIGHTS}") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{file} is not JSON ({error}); fetch the checkpoint again") from None
    if not isinstance(config, dict):
        raise DataError(f"{file} holds {type(config).__name__}; a JSON object is expected")
    return config


def shape_of(config: Mapping[str, Any], where: Path) -> Shape:
    """The sizes that a config states, and a refusal of what this network does not do."""
    model = config.get("model_config")
    entity = model.get("entity_model") if isinstance(model, Mapping) else None
    if not isinstance(entity, Mapping):
        raise DataError(f"{where} has no model_config.entity_model; give the config.json of a GFM-RAG checkpoint")
    text = model.get("rel_emb_dim", model.get("feat_dim", entity.get("feat_dim")))
    width, hidden = entity.get("input_dim"), entity.get("hidden_dims")
    if not (_size(text) and _size(width) and isinstance(hidden, list) and hidden):
        raise DataError(
            f"{where}: rel_emb_dim or feat_dim is {text!r}, input_dim {width!r}, hidden_dims {hidden!r}; "
            "they should be whole numbers from 1 to 65,536 and a list of such; give a checkpoint of GFM-RAG"
        )
    if any(size != width for size in hidden) or len(hidden) > 64:
        raise DataError(
            f"{where}: hidden_dims is {hidden!r}; expected is {width}, the input_dim, for at most 64 layers"
        )
    expected = {"message_func": "distmult", "aggregate_func": "sum", "short_cut": True, "layer_norm": True}
    for option, value in expected.items():
        if option in entity and entity[option] != value:
            raise DataError(
                f"{where}: {option} is {entity[option]!r}; only {value!r} is supported: give a checkpoint of GFM-RAG"
            )
    return Shape(text, width, len(hidden))


def checked(state: Mapping[str, Tensor], shape: Shape, where: Path) -> dict[str, Tensor]:
    """The tensors in float32, if they are exactly those of a network of this shape."""
    with torch.device("meta"):
        expected = {name: tuple(value.shape) for name, value in Network(shape).state_dict().items()}
    if missing := sorted(expected.keys() - state.keys()):
        raise DataError(f"{where} lacks {_some(missing)}, which a network of {shape} has; fetch the checkpoint again")
    if unknown := sorted(map(str, state.keys() - expected.keys())):
        raise DataError(f"{where} has {_some(unknown)}, which a network of {shape} lacks; give its own config.json")
    for name, wanted in expected.items():
        value = state[name]
        if not isinstance(value, Tensor) or not value.is_floating_point() or value.layout != torch.strided:
            raise DataError(f"{where}: {name} is not a dense tensor of floats; fetch the checkpoint again")
        if tuple(value.shape) != wanted:
            raise DataError(f"{where}: {name} has the shape {tuple(value.shape)}; config.json asks for {wanted}")
        if not bool(torch.isfinite(value).all()):
            raise DataError(f"{where}: {name} contains NaN or infinite numbers; fetch the checkpoint again")
    return {name: state[name].float() for name in expected}


def _state(file: Path) -> Mapping[str, Tensor]:
    try:
        stored = torch.load(file, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        reason = str(error).splitlines()[0][:200]
        raise DataError(
            f"{file} holds something other than tensors, which could run code ({reason}); use a checkpoint of tensors"
        ) from None
    except Exception as error:  # torch raises many kinds for a damaged archive
        raise DataError(f"{file} cannot be read as a checkpoint ({type(error).__name__}); fetch it again") from None
    state = stored.get("model") if isinstance(stored, Mapping) else None
    if not isinstance(state, Mapping):
        raise DataError(f"{file} has no state dict under the key 'model'; fetch the checkpoint again")
    return state


def _encoder(config: Mapping[str, Any]) -> str:
    settings = config.get("text_emb_model_config")
    name = (
        settings.get("text_emb_model_name", settings.get("model_name_or_path")) if isinstance(settings, Mapping) else ""
    )
    return name if isinstance(name, str) else ""


def _size(value: Any) -> bool:
    return type(value) is int and 1 <= value <= 1 << 16


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def untrained(shape: Shape, seed: int, encoder: str = "") -> Checkpoint:
    """A network with random weights, to compare with; the same ones for the same seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = Network(shape)
    digest = hashlib.sha256(b"".join(value.numpy().tobytes() for value in network.state_dict().values()))
    return Checkpoint(f"untrained (seed {seed})", network.eval(), encoder, digest.hexdigest(), {})


def plain(encoder: str) -> str:
    """The name of an encoder without its settings and without the owner that the library adds by itself."""
    return encoder.partition("[")[0].removeprefix("sentence-transformers/")
