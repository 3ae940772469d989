"""The window of a model: tokens of prompt and answer together.

Asked of the server, in the ways of those that say it: vLLM and others in their list of models, llama.cpp at `/props`,
Ollama at `/api/ps` and `/api/show`; or read in the model's file (GGUF). Nothing here fails: what is not said is
unknown.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from workbench import tokens
from workbench.llm.step import Step

OWN_TOKENS = 1.15  # tokens of a model's own tokenizer to one of cl100k, in English prose (SmolLM2: 1.07 to 1.15)
OLLAMA = 4_096  # Ollama's default window; it truncates longer prompts silently
_SECONDS = 5.0
_IN_LIST = ("max_model_len", "context_length", "context_window", "max_context_length")
_SIMPLE = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_MOST = 100_000_000  # bytes of one string or list in the head of a model's file


def held(step: Step, window: int) -> int:
    """cl100k tokens of a prompt that a window holds beside the answer, for which the limit of the Step is kept free, at
    most a quarter of the window."""
    return int((window - min(step.max_tokens, window // 4)) / OWN_TOKENS)


def room_beside(step: Step, value: Any, window: int) -> int:
    """cl100k tokens that are left beside the prompt for an input without a context."""
    return max(0, held(step, window) - sum(tokens.count(message["content"]) for message in step.messages(value)))


def asked_of_server(base_url: str | None, api_key: str | None, model: str) -> int | None:
    """The window that the server at `base_url` gives the model."""
    from workbench.llm.endpoint import connect

    client = connect(base_url, api_key, _SECONDS).client
    root = re.sub(r"/v\d+/?$", "", str(client.base_url).rstrip("/"))

    def get(path: str) -> Any:
        return _answer_or_none(lambda: client.get(path, cast_to=object))

    listed = get("/models")
    entries = listed.get("data") if isinstance(listed, dict) else None
    entries = entries if isinstance(entries, list) else []
    mine = [entry for entry in entries if isinstance(entry, dict) and entry.get("id") == model]
    window = next((size for row in mine for name in _IN_LIST if (size := _size(row.get(name)))), None)
    return window or _llama_cpp(get(f"{root}/props")) or _ollama(client, root, model, get)


def _llama_cpp(props: Any) -> int | None:
    settings = props.get("default_generation_settings") if isinstance(props, dict) else None
    return _size(settings.get("n_ctx")) if isinstance(settings, dict) else None


def _ollama(client: Any, root: str, model: str, get: Callable[[str], Any]) -> int | None:
    """The window of the model as loaded; otherwise as it would be: `num_ctx` of its parameters, or Ollama's default."""
    running = get(f"{root}/api/ps")
    models = running.get("models") if isinstance(running, dict) else None
    if not isinstance(models, list):
        return None
    for entry in models:
        named = isinstance(entry, dict) and model in (entry.get("name"), entry.get("model"))
        if named and _size(entry.get("context_length")):
            return entry["context_length"]
    description = _answer_or_none(lambda: client.post(f"{root}/api/show", body={"model": model}, cast_to=object))
    if not isinstance(description, dict) or not isinstance(info := description.get("model_info"), dict):
        return None
    given = re.search(r"^num_ctx\s+(\d+)", str(description.get("parameters") or ""), re.MULTILINE)
    own = next((_size(value) for name, value in info.items() if str(name).endswith(".context_length")), None)
    return min(int(given[1]) if given else OLLAMA, own or OLLAMA)


def _answer_or_none(ask: Callable[[], Any]) -> Any:
    """The answer of a server; None for errors and anything unexpected."""
    import openai

    try:
        return ask()
    except (openai.OpenAIError, ValueError, RecursionError):
        return None


def _size(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def of_gguf(file: Path) -> int | None:
    """The window that a model was trained for, from its file.

    Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
    """
    try:
        with file.open("rb") as source:
            return next((_size(value) for name, value in _metadata(source) if name.endswith(".context_length")), None)
    except (OSError, struct.error, LookupError, ValueError):
        return None


def _metadata(source: BinaryIO) -> Iterator[tuple[str, Any]]:
    """The names and simple values in the head of a GGUF file; None for lists."""
    magic, version, _, count = _read(source, "4sIQQ")
    if magic == b"GGUF" and version >= 2:
        for _ in range(count):
            yield _value(source, _STRING), _value(source, _read(source, "I")[0])


def _value(source: BinaryIO, kind: int) -> Any:
    if kind == _STRING:
        (length,) = _read(source, "Q")
        return _read(source, f"{min(length, _MOST)}s")[0].decode("utf-8", "replace")
    if kind != _ARRAY:
        return _read(source, _SIMPLE[kind])[0]
    inner, count = _read(source, "IQ")
    if inner == _STRING:
        for _ in range(count):
            _value(source, inner)
    else:
        source.seek(struct.calcsize(f"<{_SIMPLE[inner]}") * min(count, _MOST), 1)
    return None


def _read(source: BinaryIO, form: str) -> tuple[Any, ...]:
    return struct.unpack(f"<{form}", source.read(struct.calcsize(f"<{form}")))
