"""Blocks of texts that the packaged encoder has encoded for the tests, in any of their processes and in earlier runs.

Encoding is most of what an index costs, and a hundred tests build one of the bundled corpus. The same call gives the
same bytes, so it is computed once: a block is known by its texts, the encoder and the number of threads, and its folder
by all that decides its numbers. Blocks stay in build/encoded until the encoder changes, or `make clean`."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
from importlib.metadata import version
from pathlib import Path
from uuid import uuid4

import numpy as np

from workbench import threads
from workbench.encoding import models
from workbench.encoding.models import SentenceEncoder

STORE = Path(__file__).parents[1] / "build" / "encoded"
BLOCK = 8  # texts; fewer take no longer than reading them from the disk


def current(store: Path = STORE) -> Path:
    """The folder of what this encoder computes on this machine; those of others are deleted. Its name is a hash of the
    encoder's code and model, the version of what computes, and the processor."""
    package = Path(models.__file__).parent
    files = [*sorted(package.glob("*.py")), *sorted(Path(models._packaged_minilm()).glob("*.*"))]
    made_with = [platform.machine(), _processor(), *map(version, ("numpy", "tokenizers", "torch"))]
    parts = [*map(str.encode, made_with), *(file.read_bytes() for file in files if file.is_file())]
    folder = store / hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]
    for other in store.glob("*"):
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)
    return folder


def _processor() -> str:
    """The model of the processor, whose instructions decide the last bits."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith("model name")), "")


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
