"""The window of a model: tokens of prompt and answer together.

Asked of the server, in the ways of those that say it: vLLM and others in their list of models, llama.cpp at `/props`,
Ollama at `/api/ps` and `/api/show`; or read in the model's file (GGUF). Nothing here fails: what is not said is
unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench import tokens
from workbench.llm.step import Step

OWN_TOKENS = 1.15  # tokens of a model's own tokenizer to one of cl100k, in English prose (SmolLM2: 1.07 to 1.15)
OLLAMA = 4_096  # Ollama's default window; it truncates longer prompts silently
_SECONDS = 5.0
_IN_LIST = ("max_model_len", "context_length", "context_window", "max_context_length")
_HEAD = 16_000_000  # bytes of a model's file that hold its settings and words


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

    listed = _part(get("/models"), "data")
    mine = [entry for entry in (listed if isinstance(listed, list) else ()) if _part(entry, "id") == model]
    window = next((size for row in mine for name in _IN_LIST if (size := _size(_part(row, name)))), None)
    window = window or _size(_part(_part(get(f"{root}/props"), "default_generation_settings"), "n_ctx"))
    return window or _ollama(client, root, model, get)


def _ollama(client: Any, root: str, model: str, get: Callable[[str], Any]) -> int | None:
    """The window of the model as loaded; otherwise as it would be: `num_ctx` of its parameters, or Ollama's default."""
    if not isinstance(models := _part(get(f"{root}/api/ps"), "models"), list):
        return None
    for entry in models:
        if model in (_part(entry, "name"), _part(entry, "model")) and _size(_part(entry, "context_length")):
            return entry["context_length"]
    description = _answer_or_none(lambda: client.post(f"{root}/api/show", body={"model": model}, cast_to=object))
    if not isinstance(info := _part(description, "model_info"), dict):
        return None
    given = re.search(r"^num_ctx\s+(\d+)", str(_part(description, "parameters") or ""), re.MULTILINE)
    own = next((_size(value) for name, value in info.items() if name.endswith(".context_length")), None)
    return min(int(given[1]) if given else OLLAMA, own or OLLAMA)


def _answer_or_none(ask: Callable[[], Any]) -> Any:
    """The answer of a server; None for errors and anything unexpected."""
    import openai

    try:
        return ask()
    except (openai.OpenAIError, ValueError, RecursionError):
        return None


def _part(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _size(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def of_gguf(file: Path) -> int | None:
    """The window that a model was trained for: the 32-bit number (type 4) behind its name in the head of the file.

    Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
    """
    with file.open("rb") as content:
        length = re.search(rb"\.context_length\x04\0\0\0(.{4})", content.read(_HEAD), re.DOTALL)
    return length and _size(int.from_bytes(length[1], "little"))
