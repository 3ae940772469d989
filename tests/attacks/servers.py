"""Servers that answer with anything but an answer, and then recover.

Every misdeed meets a chat engine, an encoder and a batch. While it lasts, an error of ours or a counted failure is all
that may come of it, after few requests, with a wait between two of them, in bounded time and memory. Once the server
answers as it should, the same work comes to its end: what was right before is kept, and nothing else was."""

from __future__ import annotations

import json
import os
import random
import resource
import sqlite3
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import numpy as np
from batch_server import BatchServer
from chat_server import Answer, completion, error, question, vector_of
from hostile_server import MISDEEDS, Deed, HostileServer, chatting, embedding, redirect, serving
from small_steps import NAMES
from tally import Tally

from workbench.encoding import encoder
from workbench.errors import WorkbenchError
from workbench.llm import engine, negotiation
from workbench.llm.batch import Export, fetch, read, submit
from workbench.llm.call import retrying
from workbench.llm.chat import Line
from workbench.llm.record import Recording

KEY = "sk-canary-0123456789abcdef"
TEXTS = ("one", "two", "three")
ATTEMPTS, REDIRECTS, ROUNDS = 2, 5, 12  # of a request; and how often it is put otherwise
TIMEOUT = 0.3  # s
LONGEST = 15.0  # s; of a scenario, whose timeouts add up to a few seconds
MEMORY = 400_000_000  # bytes that a scenario may add
_MODEL = "gpt-4o-mini"  # of which the price is known


def attack(count: int, seed: int, folder: Path) -> Tally:
    rng, tally = random.Random(seed), Tally("servers")
    with _bounded_waits(), _elsewhere() as (trap, aside):
        scenarios = [(kind, name, deed) for name, deed in (MISDEEDS | aside).items() for kind in KINDS]
        rng.shuffle(scenarios)
        for number in range(count):
            kind, name, deed = scenarios[number % len(scenarios)]
            wrong = _tried(kind, deed, folder / str(number))
            if trap.asked:
                wrong = f"it was followed to another server, with {max(trap.keys)!r}"
                trap.asked.clear()
            tally.judged(f"{kind}, {name}", wrong)
    return tally


def _tried(kind: str, deed: Callable[[Deed], None], folder: Path) -> str:
    """What went wrong; empty if nothing did."""
    negotiation.forget()  # a port may be one of an earlier server's
    folder.mkdir(parents=True)
    begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        with mock.patch.dict(os.environ, {"OPENAI_API_KEY": KEY}):
            wrong = KINDS[kind](deed, folder)
    except WorkbenchError as error:
        return f"lost: it does not recover: {type(error).__name__}: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    seconds = time.monotonic() - begun
    return (
        wrong
        or (f"it took {seconds:.1f} s" if seconds > LONGEST else "")
        or (f"it took {grown / 1e6:.0f} MB" if grown > MEMORY else "")
    )


# -- a chat engine ----------------------------------------------------------------------------------------------------


def _chat(deed: Callable[[Deed], None], folder: Path) -> str:
    with serving(chatting) as server:
        chat = _engine(server, folder)
        chat.run(NAMES, TEXTS[:1])  # one answer that has to stay
        server.asked.clear()
        with server.misbehaving(deed):
            results = _caught(lambda: chat.run(NAMES, TEXTS))
        wrong = _of_chat(results, chat.meter, server) or _wrong_rows(folder / "run.sqlite", {*TEXTS})
        chat.close()
        if wrong:
            return wrong
        negotiation.forget()
        chat = _engine(server, folder)
        recovered = chat.run(NAMES, TEXTS)
        if any(result.value is None or result.value.names != [text] for result, text in zip(recovered, TEXTS)):
            return "lost: the answers of the server that has recovered are not taken"
        chat.close()
        replayed = engine(f"replay:{folder / 'run.sqlite'}").run(NAMES, TEXTS)
        return "" if [one.value.names for one in replayed] == [[text] for text in TEXTS] else "lost: the recording"


def _engine(server: HostileServer, folder: Path):
    return engine(
        f"openai:{_MODEL}@{server.url}", record=folder / "run.sqlite", attempts=ATTEMPTS, timeout=TIMEOUT, concurrency=3
    )


def _of_chat(results, meter, server: HostileServer) -> str:
    """What is wrong with results while the server misbehaves."""
    for result, text in zip(results or (), TEXTS):
        if (result.value is None) == (result.failure is None):
            return "neither an output nor a failure"
        if result.value is not None and result.value.names != [text]:
            return f"stored as good: {result.value!r} for {text!r}"
        if len(repr(result)) > 10_000 or len(result.failure or "") > 2_000:
            return "its failure is not short"
    if results and results[0].value is None:
        return "lost: the answer of before"
    total = meter.total
    if not (0 <= total.prompt_tokens < 10**10 and total.money is not None and 0 <= total.money < 1e6):
        return f"the meter says {meter!r}"
    return _few(server, len(TEXTS) * (ATTEMPTS + ROUNDS))


# -- an encoder -------------------------------------------------------------------------------------------------------


def _embeddings(deed: Callable[[Deed], None], folder: Path) -> str:
    given = {"record": folder / "run.sqlite", "attempts": ATTEMPTS, "timeout": TIMEOUT, "batch_size": 1}
    with serving(embedding) as server:
        one = encoder(f"openai:text-e@{server.url}", **given)
        one.encode(TEXTS[:1])
        server.asked.clear()
        with server.misbehaving(deed):
            vectors = _caught(lambda: one.encode(TEXTS))
        one.close()
        if vectors is not None and not _right(vectors):
            return "stored as good: vectors that are none"
        if wrong := _few(server, len(TEXTS) * ATTEMPTS * REDIRECTS) or _wrong_rows(folder / "run.sqlite", None):
            return wrong
        recovered = encoder(f"openai:text-e@{server.url}", **given).encode(TEXTS)
        return "" if _right(recovered) else "lost: the vectors of the server that has recovered are not right"


def _right(vectors: np.ndarray) -> bool:
    wanted = np.array([vector_of(text) for text in TEXTS])
    return np.allclose(vectors, wanted / np.linalg.norm(wanted, axis=1, keepdims=True), atol=1e-6)


# -- a batch ----------------------------------------------------------------------------------------------------------


def _batch(deed: Callable[[Deed], None], folder: Path) -> str:
    """The server misbehaves at a verb of its own in each round: submit, fetch, the download."""
    honest = BatchServer(lambda asked: completion(json.dumps({"names": [question(asked)]})))

    def good(method: str, path: str, body: bytes, headers) -> Answer:
        path, kind = path.partition("?")[0], headers.get("Content-Type", "")
        if (method, path) == ("POST", "/v1/batches") and json.loads(body)["input_file_id"] not in honest.files:
            return error(400, "there is no such file")
        return honest.take(method, path, headers.get("Authorization", ""), body, kind)

    try:
        with serving(good) as server:
            return _rounds(deed, folder / "batch", server, honest)
    finally:
        honest.stop()


def _rounds(deed: Callable[[Deed], None], folder: Path, server: HostileServer, honest: BatchServer) -> str:
    asking = {"base_url": server.url, "attempts": ATTEMPTS, "timeout": TIMEOUT, "progress": False}
    for verb in ("submit", "fetch", "download", "", ""):
        with Export(folder, folder / "recording.sqlite", progress=False, again=True) as made:
            results = made.engine(f"openai:{_MODEL}").run(NAMES, TEXTS)
        if not made.requests:
            return "" if [one.value.names for one in results] == [[text] for text in TEXTS] else "lost: answers"
        server.asked.clear()
        if verb == "submit":
            with server.misbehaving(deed):
                _caught(lambda: submit(folder, **asking))
        _caught(lambda: submit(folder, **asking))
        if verb == "fetch":
            with server.misbehaving(deed):
                _caught(lambda: fetch(folder, **asking))
        honest.end()
        if verb == "download":
            with server.misbehaving(lambda at: deed(at) if "/content" in at.handler.path else _honestly(at)):
                _caught(lambda: fetch(folder, **asking))
        _caught(lambda: fetch(folder, **asking))
        _caught(lambda: read(folder, progress=False))
        if wrong := _few(server, 20 * ATTEMPTS) or _wrong_rows(folder / "recording.sqlite", {*TEXTS}):
            return wrong
    return "lost: after five rounds some requests have no answer"


def _honestly(deed: Deed) -> None:
    body = deed.good()
    deed.send(200, body, Content_Length=str(len(body)))


KINDS = {"chat": _chat, "embeddings": _embeddings, "batch": _batch}
WHOLE = len(KINDS) * (len(MISDEEDS) + 5)

# -- what holds for all of them ---------------------------------------------------------------------------------------

_waits: list[float] = []


@contextmanager
def _bounded_waits() -> Iterator[None]:
    """Waits between two attempts are noted and not waited; nothing reads the machine's certificates or proxies."""
    with (
        mock.patch.object(Line, "sleep", lambda line, seconds: _waits.append(seconds)),
        mock.patch.dict(retrying.__kwdefaults__, sleep=_waits.append),
        mock.patch.object(ssl.SSLContext, "load_verify_locations", lambda *_, **__: None),
        mock.patch.dict(os.environ, {"NO_PROXY": "127.0.0.1"}),
    ):
        yield


@contextmanager
def _elsewhere() -> Iterator[tuple[HostileServer, dict]]:
    """A server that nobody asked, and redirects to it."""
    with serving(lambda *asked: chatting(*asked) if asked[2] else completion("x")) as trap:
        yield trap, {f"{status} to another server": redirect(trap.url, status) for status in (301, 302, 303, 307, 308)}


def _caught(work: Callable):
    """What the work gives; nothing where it ends with an error of ours."""
    try:
        return work()
    except WorkbenchError as error:
        if len(str(error)) > 3_000 or KEY in str(error):
            raise AssertionError(f"an error of {len(str(error)):,} characters: {str(error)[:200]}") from None
        return None


def _few(server: HostileServer, most: int) -> str:
    """No loop: few requests, and a wait of half a second to a minute before each that is repeated."""
    waits, number = list(_waits), len(server.asked)
    _waits.clear()
    if odd := [wait for wait in waits if not 0.5 <= wait <= 62]:
        return f"it waits {odd[0]} s between two attempts"
    return f"{number} requests for {len(TEXTS)} texts" if number > most else ""


def _wrong_rows(path: Path, texts: set[str] | None) -> str:
    """Whether the recording calls an answer good that is not: of names, or without `texts` of vectors."""
    if not path.exists():
        return ""
    store = Recording(path)
    store.close()
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT request, reply FROM replies WHERE good = 1").fetchall()
    for request, reply in rows:
        asked, said = json.loads(request)["messages"][-1]["content"], json.loads(reply)["text"]
        if texts is not None and not (asked.partition("\n")[0] in texts and json.loads(said) == {"names": [asked]}):
            return f"stored as good: {said[:200]!r} for {asked!r}"
    if (size := path.stat().st_size) > 20_000_000:
        return f"the recording has {size / 1e6:.0f} MB"
    return ""
