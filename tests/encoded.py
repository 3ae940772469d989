"""Blocks of texts that the packaged encoder has encoded in this run of the tests, for all of its processes.

Encoding is most of what an index costs, and a hundred tests build one of the bundled corpus. The same call gives the
same bytes, so it is computed once: a block is known by its texts, the encoder and the number of threads."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from uuid import uuid4

import numpy as np

from workbench import threads
from workbench.encoding.models import SentenceEncoder

BLOCK = 8  # texts; fewer take no longer than reading them from the disk


def keep(folder: Path) -> None:
    """Every encoder of this process reads `folder` first, and writes there what it had to compute."""
    compute = SentenceEncoder._encode
    folder.mkdir(parents=True, exist_ok=True)

    def encode(self: SentenceEncoder, texts: list[str], prompt: str = "") -> np.ndarray:
        if self.model != "minilm" or prompt or len(texts) < BLOCK:
            return compute(self, texts, prompt) if prompt else compute(self, texts)
        call = [self.name, self.device, self.batch_tokens, threads.cores(), texts]
        file = folder / f"{hashlib.sha256(json.dumps(call).encode()).hexdigest()}.npy"
        if not file.exists():
            part = file.with_suffix(f".{uuid4().hex}.npy")
            np.save(part, compute(self, texts))
            os.replace(part, file)
        return np.load(file)

    SentenceEncoder._encode = encode
