"""Models of sentence-transformers: what is known of some, the wording of instructions, and how a model is loaded."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.errors import SettingError

POOLINGS = ("mean", "cls", "lasttoken", "max")
INSTRUCT = "Instruct: {task}\nQuery: {query}"
STYLES = {"instruct": INSTRUCT, "e5": "query: {query}"}  # instructions by name, for SPECs
PASSAGE_STYLES = {"e5": "passage: {passage}"}
TASKS = {  # what is searched → the words that stand for {task}
    "facts": "Given a question, retrieve facts (subject, relation, object) that match it",
    "passages": "Given a question, retrieve passages that best answer it",
    "phrases": "Given a phrase, retrieve phrases that mean the same or are relevant to it",
    "entities": "Given a question, retrieve entities that are relevant to it",
    "relations": "Given a question, retrieve relations between entities that are relevant to it",
}
Instruction = str | tuple[tuple[str, str], ...] | None  # one template, or (task, template) pairs


@dataclass(frozen=True)
class Known:
    """Facts about a model, from its card: how many tokens it reads, and how it was trained to be used. `pooling` is for
    models whose files do not say it."""

    max_tokens: int = 256
    pooling: str | None = None
    instruction: str | None = None
    passage: str | None = None


KNOWN = {
    "minilm": Known(256),
    "sentence-transformers/all-MiniLM-L6-v2": Known(256),
    "sentence-transformers/all-mpnet-base-v2": Known(384),
    "sentence-transformers/gtr-t5-base": Known(512),
    "facebook/contriever": Known(512, pooling="mean"),
    "facebook/contriever-msmarco": Known(512, pooling="mean"),
    "intfloat/e5-base-v2": Known(512, instruction=STYLES["e5"], passage=PASSAGE_STYLES["e5"]),
    # The multilingual ones, for other languages than English.
    "intfloat/multilingual-e5-small": Known(512, instruction=STYLES["e5"], passage=PASSAGE_STYLES["e5"]),
    "intfloat/multilingual-e5-base": Known(512, instruction=STYLES["e5"], passage=PASSAGE_STYLES["e5"]),
    "BAAI/bge-m3": Known(8192),
    "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2": Known(128),
    # 2048 of its 32,768 tokens, as in HippoRAG 2; it was trained with an end mark after each text.
    "nvidia/NV-Embed-v2": Known(2048, instruction=f"{INSTRUCT}</s>", passage="{passage}</s>"),
}


def known(model: str) -> Known:
    """What is known of a model; the defaults if nothing is."""
    return KNOWN.get(model, Known())


def instruction_of(given: str | Mapping[str, str] | Iterable[Iterable[str]] | None) -> Instruction:
    """An instruction as a setting: a template, the name of a style, or a template per task."""
    if given is None or isinstance(given, str):
        return template(STYLES.get(given, given), "query")
    pairs = given.items() if isinstance(given, Mapping) else given
    return tuple(sorted((str(task), template(one, "query")) for task, one in pairs))


def plain(instruction: Instruction) -> str | list[list[str]] | None:
    """An instruction as JSON gives it back."""
    return [list(pair) for pair in instruction] if isinstance(instruction, tuple) else instruction


def template(given: str | None, field: str) -> str | None:
    """A template, which must say where its text goes."""
    if given is not None and f"{{{field}}}" not in given:
        raise SettingError(
            f"the template {given!r} does not hold {{{field}}}; write it as in 'Query: {{{field}}}', or name one of "
            f"{', '.join(STYLES if field == 'query' else PASSAGE_STYLES)}"
        )
    return given


def instructed(instruction: Instruction, text: str, task: str) -> str:
    """A query with its instruction, if it has one."""
    prefix, suffix = around(instruction, task)
    return f"{prefix}{text}{suffix}"


def around(instruction: Instruction, task: str) -> tuple[str, str]:
    """What stands before and behind a query for a task."""
    chosen = dict(instruction).get(task) if isinstance(instruction, tuple) else instruction
    prefix, _, suffix = (chosen or "{query}").partition("{query}")
    words = TASKS.get(task or "passages", task)
    return prefix.replace("{task}", words), suffix.replace("{task}", words)


def check_device(device: str | None) -> str:
    """A device by its name; by default that of WORKBENCH_DEVICE, or the CPU."""
    device = device or os.environ.get("WORKBENCH_DEVICE") or "cpu"
    if not re.fullmatch(r"auto|cpu|cuda(:\d+)?", device):
        raise SettingError(f"device={device!r} is unknown; choose auto, cpu, cuda or cuda:0, cuda:1, …")
    return device


def device_here(device: str) -> str:
    """The device as torch calls it; SettingError if this machine does not have it."""
    import torch

    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    kind, _, number = device.partition(":")
    if kind == "auto":
        return "cuda" if gpus else "cpu"
    if kind == "cuda" and int(number or 0) >= gpus:
        raise SettingError(
            f"device={device!r} is not there: torch {torch.__version__} finds {gpus or 'no'} GPU{'s' * (gpus > 1)}; "
            "use device=cpu or device=auto, or install torch with CUDA and its driver"
        )
    return device


def load(
    model: str,
    source: str,
    *,
    device: str,
    dtype: str,
    max_tokens: int,
    pooling: str | None,
    remote_code: bool,
    offline: bool | None,
) -> Any:
    """The SentenceTransformer of `source`, a folder or a hub name. What is not on this machine is downloaded with a
    warning, unless `offline` or HOPSCOPE_OFFLINE forbids it."""
    import torch
    from sentence_transformers import SentenceTransformer

    def make(local: bool) -> Any:
        return SentenceTransformer(
            source, device=device, model_kwargs={"dtype": getattr(torch, dtype)}, trust_remote_code=remote_code,
            local_files_only=local,
        )  # fmt: skip

    try:
        found = _local_first(make, model, source, offline)
    except (OSError, ValueError, ImportError) as error:
        raise SettingError(_unloadable(model, error)) from error
    if pooling:
        found = _pooled(found, pooling, device)
    found.max_seq_length = _readable(model, found, max_tokens)
    return found


def on_this_machine(model: str) -> bool:
    """Whether a model can be loaded without a download: a packaged one, a folder, or one of the hub's cache."""
    if model == "minilm" or os.path.isdir(model):
        return True
    from huggingface_hub import try_to_load_from_cache

    names = [model] if "/" in model else [f"sentence-transformers/{model}"]
    return any(isinstance(try_to_load_from_cache(name, "config.json"), str) for name in names)


def _local_first(make: Callable[[bool], Any], model: str, source: str, offline: bool | None) -> Any:
    from transformers.utils import logging

    from workbench.data.sources.fetch import is_offline

    logging.disable_progress_bar()
    if os.path.isdir(source) or on_this_machine(source) or is_offline(offline):
        return make(True)
    warnings.warn(f"the model {model} is not on this machine and is downloaded from the hub", stacklevel=2)
    logging.enable_progress_bar()
    try:
        return make(False)
    finally:
        logging.disable_progress_bar()


def _pooled(found: Any, pooling: str, device: str) -> Any:
    """The transformer with this pooling, in place of all that its files put behind it."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    transformer = found[0]
    return SentenceTransformer(
        modules=[transformer, Pooling(transformer.get_embedding_dimension(), pooling)], device=device
    )


def _readable(model: str, found: Any, max_tokens: int) -> int:
    """`max_tokens`, if the model has that many positions."""
    config = getattr(getattr(found[0], "auto_model", None), "config", None)
    check_positions(model, getattr(config, "max_position_embeddings", None), max_tokens)
    return max_tokens


def check_positions(model: str, positions: int | None, max_tokens: int) -> None:
    """SettingError if a model has fewer positions than `max_tokens`."""
    if isinstance(positions, int) and 0 < positions < max_tokens:
        raise SettingError(f"max_tokens={max_tokens}; {model} has {positions} positions: give at most that many")


def _unloadable(model: str, error: Exception) -> str:
    said = f"the encoder {model!r} could not be loaded: {str(error).rstrip('.')}. "
    if "trust_remote_code" in str(error):
        return f"{said}It runs code of its own: if you trust it, say {model}[remote_code=true]"
    if isinstance(error, ImportError):
        return f"{said}Install what it needs, or serve it and use openai:{model}@URL"
    return f"{said}Give its folder, a hub name with the network on, or 'minilm', which comes with the installation"
