"""The key, and a login in the address, as they stand and as they stand in a header, wherever a server echoes them: they
come out nowhere.

Looked through is all that a user or another program can see: every file below the working folder, standard output and
error, the records of every logger at any level, results and traces as text and HTML, errors with all that they are
chained to, and what is sent to the workers of a cluster."""

from __future__ import annotations

import base64
import contextlib
import functools
import io
import json
import logging
import os
import pickle
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock
from urllib.parse import quote

from batch_server import BatchServer
from chat_server import completion, embedded
from hostile_server import Deed, HostileServer, chatting, embedding, serving
from leaks import everything
from servers import _bounded_waits
from small_steps import NAMES
from tally import Tally
from tiny import tiny_dataset
from typer.testing import CliRunner

import workbench as wb
from workbench.cli import doctor
from workbench.cli.app import app
from workbench.encoding import encoder
from workbench.errors import WorkbenchError
from workbench.llm import engine, negotiation
from workbench.llm.batch import Export, fetch, read, submit
from workbench.trace import Trace

KEY = "sk-canary/7fQ+a9=c2_Zq~0end"
PASSWORD = "canary-Passw0rd/77"
LOGIN = base64.b64encode(f"user:{PASSWORD}".encode()).decode()
TEXTS = ("one", "two")


WRITTEN: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "in a header": "Bearer {}".format,
}
SOUGHT = (KEY, PASSWORD, LOGIN)


def attack(count: int, seed: int, folder: Path) -> Tally:
    rng, tally = random.Random(seed), Tally("keys")
    scenarios = [(kind, name, written) for name in ECHOES for written in WRITTEN for kind in KINDS]
    rng.shuffle(scenarios)
    whole = [("command line", name, "as it is") for name in rng.sample(list(ECHOES), len(ECHOES))]
    scenarios = [one for few in range(len(whole)) for one in (*scenarios[few :: len(whole)], whole[few])]
    with _bounded_waits():
        for number in range(count):
            kind, name, written = scenarios[number % len(scenarios)]
            try:
                login = kind != "command line" and rng.random() < 0.3
                found = _tried(kind, ECHOES[name], WRITTEN[written], login, folder / str(number))
            except Exception as error:
                found = [f"{type(error).__name__}: {error}"]
            for wrong in found[:3] or [""]:
                tally.judged(f"{kind}, {name}, {written}", wrong)
    return tally


def _tried(kind: str, echo: Callable, write: Callable[[str], str], login: bool, folder: Path) -> list[str]:
    negotiation.forget()
    folder.mkdir(parents=True)
    secret = PASSWORD if login else KEY
    deed = lambda at: echo(at, write(secret))  # noqa: E731
    seen = Seen()
    with (
        seen.everything(),
        mock.patch.dict(
            os.environ,
            {
                "OPENAI_API_KEY": KEY,
                "WORKBENCH_HOME": str(folder / "home"),
                "WORKBENCH_ANSWERS": str(folder / "home" / "answers.sqlite"),
                "WORKBENCH_VECTORS": str(folder / "home" / "vectors"),
            },
        ),
    ):
        if kind == "command line":
            _command_line(deed, folder, seen)
        else:
            KINDS[kind](deed, folder, seen, "user:" + quote(PASSWORD, safe="") + "@" if login else "")
    return seen.found(folder)


class Seen:
    """What could be seen, by the place where."""

    def __init__(self):
        self.shown: dict[str, str] = {}

    @contextlib.contextmanager
    def everything(self) -> Iterator[None]:
        """Standard output and error, and every record of every logger, with its error."""
        said, root, noted = io.StringIO(), logging.getLogger(), io.StringIO()
        handler, level = logging.StreamHandler(noted), root.level
        handler.setFormatter(logging.Formatter("%(name)s %(message)s %(args)s"))
        root.addHandler(handler)
        root.setLevel(logging.DEBUG)
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                yield
        finally:
            root.removeHandler(handler)
            root.setLevel(level)
            self.shown |= {"printed": said.getvalue(), "logged": noted.getvalue()}

    def caught(self, work: Callable[[], object]) -> None:
        """Do the work; what it gives, or the error that it ends with, can be seen."""
        number = len(self.shown)
        try:
            given = work()
        except WorkbenchError as error:
            self.shown[f"error {number}"] = everything(error)
        else:
            for one in given if isinstance(given, list | tuple) else [given]:
                self.shown[f"result {number}"] = self.shown.get(f"result {number}", "") + _all_of_thing(one)

    def found(self, folder: Path) -> list[str]:
        """Every place with a secret."""
        places = [
            ("in what was " + name if name in ("printed", "logged") else name, text)
            for name, text in self.shown.items()
        ]
        files = [path for path in folder.rglob("*") if path.is_file()]
        places += [(str(path.relative_to(folder)), path.read_bytes().decode("latin-1")) for path in files]
        leaks = []
        for place, text in places:
            for form in SOUGHT:
                if (at := text.find(form)) >= 0:
                    leaks.append(f"leaked: {place}: …{text[max(0, at - 60) : at + len(form)]}")
                    break
        return leaks


def _all_of_thing(thing: object) -> str:
    html = thing._repr_html_() if hasattr(thing, "_repr_html_") else ""
    return f"{thing!r} {html} {vars(thing) if hasattr(thing, '__dict__') else ''}"


# -- what a server echoes ---------------------------------------------------------------------------------------------


def _in_answer(**members: str) -> Callable[[Deed, str], None]:
    """In members of the right answer, `@` being what is echoed."""

    def echo(deed: Deed, said: str) -> None:
        whole = json.loads(deed.good() or b"{}")
        for name, value in members.items():
            whole[name] = value
        deed.send(200, json.dumps(whole).replace("@@", said))

    return echo


def _in_message(**members: str) -> Callable[[Deed, str], None]:
    def echo(deed: Deed, said: str) -> None:
        whole = completion('{"names": ["a"]}', **members)[2]
        deed.send(200, json.dumps(whole).replace("@@", said))

    return echo


def _in_error(status: int) -> Callable[[Deed, str], None]:
    whole = json.dumps({"error": {"message": "wrong key @@", "code": "@@", "param": "@@", "type": "@@"}})
    return lambda deed, said: deed.send(status, whole.replace("@@", said))


def _in_header(name: str, value: str = "@@", status: int = 200) -> Callable[[Deed, str], None]:
    def echo(deed: Deed, said: str) -> None:
        body = deed.good() if status == 200 else b'{"error": {"message": "no"}}'
        deed.send(status, body, **{name: value.replace("@@", said)})

    return echo


def _raw(text: str) -> Callable[[Deed, str], None]:
    return lambda deed, said: deed.raw(text.replace("@@", said).encode())


ECHOES: dict[str, Callable[[Deed, str], None]] = {
    "the answer": lambda deed, said: deed.send(
        200, json.dumps(completion('{"names": ["@@", "x@@x"]}')[2]).replace("@@", said.replace("\\", "\\\\"))
    ),
    "an unreadable answer": lambda deed, said: deed.send(200, json.dumps(completion("no @@")[2]).replace("@@", said)),
    "the reasoning": _in_message(reasoning_content="I was sent @@"),
    "a refusal": _in_message(refusal="not with @@"),
    "the reason to stop": _in_message(finish="@@"),
    "the model": _in_answer(model="@@"),
    "the fingerprint": _in_answer(system_fingerprint="x" * 80 + "@@"),
    "the id": _in_answer(id="file-@@"),
    "the status": _in_answer(status="@@"),
    "files": _in_answer(status="completed", output_file_id="@@", error_file_id="@@"),
    "a list of models": lambda deed, said: deed.send(
        200, json.dumps({"data": [{"id": "@@", "max_model_len": "@@"}]}).replace("@@", said)
    ),
    "vectors": lambda deed, said: deed.send(
        200, json.dumps({"data": [{"index": "@@", "embedding": "@@"}]}).replace("@@", said)
    ),
    "errors of a batch": lambda deed, said: deed.send(
        200,
        json.dumps(
            {**json.loads(deed.good() or b"{}"), "status": "failed", "errors": {"data": [{"message": "@@"}, "@@"]}}
        ).replace("@@", said),
    ),
    **{
        f"an error {status}": _in_error(status)
        for status in (400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 503, 529)
    },
    "HTML": lambda deed, said: deed.send(502, f"<p>{said}</p>", Content_Type="text/html"),
    "text": lambda deed, said: deed.send(200, f"you sent {said}", Content_Type="text/plain"),
    "lines": lambda deed, said: deed.send(200, f'{{"custom_id": "{said}", "error": "{said}"}}\n{said}\n'),
    "a header": _in_header("X-Debug"),
    "a cookie": _in_header("Set-Cookie", "k=@@"),
    "the type": _in_header("Content-Type", "text/@@"),
    "the packing": _in_header("Content-Encoding"),
    "a wait": _in_header("Retry-After", status=429),
    "a challenge": _in_header("WWW-Authenticate", 'Basic realm="@@"', 401),
    "the request's id": _in_header("X-Request-Id", status=500),
    "a redirect": _in_header("Location", "/v1/@@", 307),
    "a redirect elsewhere": _in_header("Location", "http://@@.example/", 307),
    "a redirect to a login": _in_header("Location", "http://user:@@@example/", 302),
    "a redirect to a port": _in_header("Location", "http://host:@@/", 302),
    "the reason": _raw("HTTP/1.1 500 @@\r\nContent-Length: 0\r\n\r\n"),
    "the version": _raw("HTTP/@@ 200 OK\r\n\r\n"),
    "no HTTP": _raw("@@\r\n\r\n"),
    "a header that is none": _raw("HTTP/1.1 200 OK\r\n@@ @@\r\n\r\n"),
    "a length that is none": _raw("HTTP/1.1 200 OK\r\nContent-Length: @@\r\n\r\n"),
    "a chunk that is none": _raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n@@\r\n"),
    "half an answer": _raw(
        'HTTP/1.1 200 OK\r\nContent-Length: 9000\r\nContent-Type: application/json\r\n\r\n{"id": "@@"'
    ),
}


# -- what asks it -----------------------------------------------------------------------------------------------------


def _address(server: HostileServer, login: str) -> str:
    return server.url.replace("//", f"//{login}")


def _chat(deed: Callable[[Deed], None], folder: Path, seen: Seen, login: str) -> None:
    given, trace = {"record": folder / "run.sqlite", "attempts": 1, "timeout": 0.5, "concurrency": 2}, Trace()
    with serving(chatting) as server, server.misbehaving(deed):
        chat = engine(f"openai:m@{_address(server, login)}", **given)
        seen.caught(lambda: chat.window)
        seen.caught(lambda: chat.run(NAMES, TEXTS, trace=trace))
        seen.caught(lambda: [chat, chat.meter, chat.recipe, trace, *trace])
        seen.caught(lambda: _sent(chat))
        trace.save(folder / "trace.jsonl")
        chat.close()


def _sent(chat: object) -> object:
    """What a cluster is sent."""
    from workbench.cluster.hands import WorkerSetup

    hands = WorkerSetup(functools.partial(_work, chat))
    return [repr(vars(hands)), pickle.dumps(hands.packed).decode("latin-1")]


def _work(chat: object) -> None: ...


def _embeddings(deed: Callable[[Deed], None], folder: Path, seen: Seen, login: str) -> None:
    with serving(embedding) as server, server.misbehaving(deed):
        made = encoder(f"openai:e@{_address(server, login)}", record=folder / "run.sqlite", attempts=1, timeout=0.5)
        seen.caught(lambda: made.encode(TEXTS))
        seen.caught(lambda: [made, made.meter, made.recipe])
        made.close()


def _batch(deed: Callable[[Deed], None], folder: Path, seen: Seen, login: str) -> None:
    honest = BatchServer(lambda asked: completion('{"names": ["a"]}'))
    server = HostileServer(
        lambda method, path, body, headers: honest.take(
            method, path.partition("?")[0], "", body, headers.get("Content-Type", "")
        )
    )
    batch = folder / "batch"
    asking = {"base_url": _address(server, login), "attempts": 1, "timeout": 0.5}
    try:
        with Export(batch, batch / "recording.sqlite", progress=False) as made:
            made.engine("openai:m").run(NAMES, TEXTS)
        with server.misbehaving(deed):
            seen.caught(lambda: submit(batch, progress=False, **asking))
        seen.caught(lambda: submit(batch, progress=False, **asking))
        for name in honest.batches:
            if honest.batches[name]["input_file_id"] in honest.files:
                honest._end(honest.batches[name])
        with server.misbehaving(deed):
            seen.caught(lambda: fetch(batch, progress=False, **asking))
        with server.misbehaving(lambda at: deed(at) if "/content" in at.handler.path else at.send(200, at.good())):
            seen.caught(lambda: fetch(batch, progress=False, **asking))
        seen.caught(lambda: read(batch, progress=False))
    finally:
        server.stop()
        honest.stop()


KINDS = {"chat": _chat, "embeddings": _embeddings, "batch": _batch}


def _command_line(deed: Callable[[Deed], None], folder: Path, seen: Seen) -> None:
    """Verbs that ask the server; the index is encoded before it misbehaves."""
    server = HostileServer(
        lambda method, path, body, headers: (
            embedded(json.loads(body)) if b'"input"' in body else completion("Answer: Lake Mira")
        )
    )
    wb.encoding._asking.cache_clear()
    wb.write_folder(tiny_dataset(), folder / "town")
    model, vectors = f"openai:m@{server.url}", f"openai:text-embedding-3-small@{server.url}[dimensions=24]"
    index, run = folder / "index", folder / "run"
    questions, record = ["-q", folder / "town" / "questions.jsonl", "-m", "dense"], ["--record", folder / "all.sqlite"]
    try:
        _said(seen, "index", folder / "town", "-o", index, "--encoder", vectors)
        with server.misbehaving(deed):
            _said(seen, "ask", index, "Which lake?", "-m", "dense", "--engine", model, "--encoder", vectors, *record)
            asked = ("--engine", model, "--encoder", vectors, "-o", run)
            _said(seen, "evaluate", index, *questions, "-r", "direct", *asked, *record)
            with mock.patch.dict(os.environ, {"OPENAI_BASE_URL": server.url}):
                seen.caught(lambda: doctor._answer(None))
        _said(seen, "bundle", run, "-o", folder / "bundle")
        _said(seen, "check", folder / "all.sqlite")
    finally:
        server.stop()


def _said(seen: Seen, *words: object) -> None:
    result = CliRunner().invoke(app, [str(word) for word in words])
    seen.shown[f"workbench {words[0]}"] = result.output + (everything(result.exception) if result.exception else "")


WHOLE = len(ECHOES) * (len(WRITTEN) * len(KINDS) + 1)
