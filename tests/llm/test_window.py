"""How the window of a model is found out: from the server, in each of the ways that servers say it, or its file."""

from __future__ import annotations

import struct

import pytest
from chat_server import completion
from families import VLLM, LlamaCpp, Ollama
from small_steps import NAMES

from workbench.errors import SettingError
from workbench.llm import engine
from workbench.llm.window import of_gguf


@pytest.mark.parametrize(("family", "window"), [(VLLM, 1_400), (LlamaCpp, 8_192), (Ollama, 4_096)])
def test_a_server_is_asked_for_it_once(family, window, serve):
    one = family()
    server = serve(one.answer, one.get)
    chat = engine(f"openai:test-model@{server.url}")
    assert not server.looked  # not before somebody wants to know
    assert chat.window == window == chat.window
    assert len(server.looked) <= 3
    assert engine(f"openai:test-model@{server.url}[window=5000]").window == 5_000


@pytest.mark.parametrize(
    "said",
    ["<html>", "[]", "null", '{"data": 5}', '{"data": [5, {"id": "test-model", "max_model_len": "many"}]}',
     '{"data": [{"id": "test-model", "max_model_len": -1}]}', '{"default_generation_settings": [1]}',
     '{"models": [1], "model_info": {"a.context_length": true}}', "[" * 10_000],
)  # fmt: skip
def test_what_a_server_does_not_say_is_unknown(said, serve):
    server = serve(lambda asked: (200, {}, said), lambda path: (200, {}, said))
    assert engine(f"openai:test-model@{server.url}").window in (None, 4_096)
    silent = serve(lambda asked: completion("x"))
    assert engine(f"openai:test-model@{silent.url}").window is None
    silent.stop()
    assert engine(f"openai:test-model@{silent.url}").window is None


def test_openai_itself_is_not_asked():
    assert engine("openai:gpt-4o-mini", api_key="x").window is None and engine("rules").window is None


@pytest.mark.parametrize("value", [0, -5, 1.5, "4096", True])
def test_a_window_that_means_nothing_is_refused(value):
    with pytest.raises(SettingError, match="window="):
        engine("openai:m@http://127.0.0.1:1/v1", window=value)


def test_a_replay_has_the_window_of_its_recording(serve, tmp_path):
    """Contexts were cut to it; a replay that did not would ask for what was never recorded."""
    one = VLLM()
    server = serve(lambda asked: completion('{"names": []}'), one.get)
    chat = engine(f"openai:test-model@{server.url}", record=tmp_path / "run.sqlite")
    assert chat.window == 1_400 and chat.run(NAMES, ["x"])[0].value
    assert engine(f"replay:{tmp_path / 'run.sqlite'}").window == 1_400


def gguf(*pairs: tuple[str, int, bytes]) -> bytes:
    named = b"".join(
        struct.pack("<Q", len(n)) + n.encode() + struct.pack("<I", kind) + value for n, kind, value in pairs
    )
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(pairs)) + named


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


ARCHITECTURE = ("general.architecture", 8, text("llama"))
WORDS = ("tokenizer.words", 9, struct.pack("<IQ", 8, 2) + text("a") + text("bc"))
SCORES = ("tokenizer.scores", 9, struct.pack("<IQ", 6, 3) + bytes(12))
LENGTH = ("llama.context_length", 4, struct.pack("<I", 32_768))


@pytest.mark.parametrize(
    ("content", "window"),
    [
        (gguf(ARCHITECTURE, LENGTH), 32_768),
        (gguf(ARCHITECTURE, WORDS, SCORES, LENGTH), 32_768),
        (gguf(ARCHITECTURE), None),
        (gguf(ARCHITECTURE, WORDS, LENGTH)[:-2], None),
        (b"", None),
    ],
)
def test_a_file_says_what_its_model_was_trained_for(content, window, tmp_path):
    (tmp_path / "model.gguf").write_bytes(content)
    assert of_gguf(tmp_path / "model.gguf") == window
