"""all-MiniLM-L6-v2 in plain torch, from the packaged weights; its vectors equal those of sentence-transformers bit by
bit.

That library and transformers take several times as long to load as torch alone, and a first question needs nothing
else of them. Other models, and this one with another precision, pooling or device, are loaded by them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch.nn import functional

Weights = dict[str, torch.Tensor]


class PackagedTokenizer:
    """Texts to token ids, as the tokenizers of transformers are called."""

    pad_token_id, sep_token_id = 0, 102

    def __init__(self, folder: Path):
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()

    def __call__(
        self, texts: str | Sequence[str], *, truncation: bool, max_length: int, return_offsets_mapping: bool = False
    ) -> dict[str, Any]:
        self._tokenizer.enable_truncation(max_length)
        encodings = self._tokenizer.encode_batch([texts] if isinstance(texts, str) else list(texts))
        tokens = {"input_ids": [encoding.ids for encoding in encodings]}
        tokens |= {"offset_mapping": [encoding.offsets for encoding in encodings]} if return_offsets_mapping else {}
        return {name: values[0] for name, values in tokens.items()} if isinstance(texts, str) else tokens


class MiniLM:
    """What :class:`workbench.encoding.SentenceEncoder` needs of a SentenceTransformer, on the CPU in float32."""

    device = torch.device("cpu")
    positions = 512

    def __init__(self, folder: Path):
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self._layers, self._heads = config["num_hidden_layers"], config["num_attention_heads"]
        self._size, self._epsilon = config["hidden_size"], config["layer_norm_eps"]
        self._weights: Weights = load_file(folder / "model.safetensors")
        self.tokenizer = PackagedTokenizer(folder)

    def __iter__(self) -> Iterator[Any]:
        """Its modules, none of which treats a prompt apart."""
        return iter(())

    def get_embedding_dimension(self) -> int:
        return self._size

    def __call__(self, features: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """`input_ids` and `attention_mask`, int64 (b, s), to `token_embeddings` (b, s, d) and `sentence_embedding`
        (b, d), float32: the mean over the tokens of a text, normalised."""
        states = self._states(features["input_ids"], features["attention_mask"])
        mask = features["attention_mask"].unsqueeze(-1).to(states.dtype)
        mean = (states * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1e-9)
        return {**features, "token_embeddings": states, "sentence_embedding": functional.normalize(mean, p=2, dim=1)}

    def _states(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        table = "embeddings.{}_embeddings.weight".format
        words = functional.embedding(ids, self._weights[table("word")])
        kinds = functional.embedding(torch.zeros_like(ids), self._weights[table("token_type")])
        places = functional.embedding(torch.arange(ids.shape[1])[None], self._weights[table("position")])
        states = self._normed("embeddings", words + kinds + places)
        # A mask that hides nothing would choose another kernel, with other last bits.
        seen = None if mask.all() else mask.bool()[:, None, None, :].expand(-1, 1, ids.shape[1], -1)
        for number in range(self._layers):
            layer = f"encoder.layer.{number}"
            read = self._linear(f"{layer}.attention.output.dense", self._attended(f"{layer}.attention", states, seen))
            states = self._normed(f"{layer}.attention.output", read + states)
            wide = functional.gelu(self._linear(f"{layer}.intermediate.dense", states))
            states = self._normed(f"{layer}.output", self._linear(f"{layer}.output.dense", wide) + states)
        return states

    def _attended(self, name: str, states: torch.Tensor, seen: torch.Tensor | None) -> torch.Tensor:
        shape = (*states.shape[:2], self._heads, self._size // self._heads)
        query, key, value = (
            self._linear(f"{name}.self.{part}", states).view(shape).transpose(1, 2)
            for part in ("query", "key", "value")
        )
        attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=seen)
        return attended.transpose(1, 2).reshape(states.shape)

    def _linear(self, name: str, states: torch.Tensor) -> torch.Tensor:
        return functional.linear(states, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])

    def _normed(self, name: str, states: torch.Tensor) -> torch.Tensor:
        weight, bias = (self._weights[f"{name}.LayerNorm.{part}"] for part in ("weight", "bias"))
        return functional.layer_norm(states, (self._size,), weight, bias, self._epsilon)
