"""The key, and a password in the address, come out nowhere, whatever a server does with them."""

from __future__ import annotations

import base64
import json
import logging
from pathlib import Path

import pytest
from chat_server import Cut, completion, error
from leaks import everything
from small_steps import NAMES, SAID

from workbench.errors import EngineError, SettingError
from workbench.llm import engine
from workbench.llm.endpoint import where
from workbench.trace import Trace

KEY = "sk-test-SECRET-4f9a81c2d7"
PASSWORD = "hunter2-Passw0rd%21"  # as it stands in the address: percent-encoded
LOGIN = base64.b64encode(b"user:hunter2-Passw0rd!").decode()
SECRETS = (KEY, PASSWORD, "hunter2-Passw0rd!", LOGIN)


def echo(asked: dict) -> str:
    """What a careless proxy does: all that it was sent and knows."""
    known = f"{PASSWORD} {SECRETS[2]}" if asked["authorization"] == f"Basic {LOGIN}" else ""
    return json.dumps({"names": [asked["authorization"], f"key={KEY}", known]})


ECHOES = {
    "answer": (NAMES, lambda asked: completion(echo(asked))),
    "reasoning": (NAMES, lambda asked: completion(echo(asked), reasoning_content=echo(asked))),
    "reasoning in the text": (SAID, lambda asked: completion(f"<think>{echo(asked)}</think>Answer: x")),
    "reasoning alone": (NAMES, lambda asked: completion(None, "length", reasoning=echo(asked))),
    "an argument refused": (
        NAMES,
        lambda asked: completion(echo(asked)) if "seed" not in asked else error(400, f"seed is unknown: {echo(asked)}"),
    ),
    "text": (SAID, lambda asked: completion(f"Answer: {echo(asked)}")),
    "finish reason": (NAMES, lambda asked: completion(echo(asked), finish=echo(asked))),
    "unreadable": (NAMES, lambda asked: completion(f"no: {echo(asked)[1:]}")),
    "refusal": (NAMES, lambda asked: completion(None, refusal=echo(asked))),
    "not a completion": (NAMES, lambda asked: (200, {"Content-Type": "text/plain"}, echo(asked))),
    "html": (NAMES, lambda asked: (502, {"Content-Type": "text/html"}, f"<p>{echo(asked)}</p>")),
    "cut": (NAMES, lambda asked: (200, {}, Cut(echo(asked).encode()))),
    **{
        f"HTTP {status}": (NAMES, lambda asked, status=status: error(status, echo(asked)))
        for status in (302, 400, 401, 403, 404, 429, 500)
    },
}


def files(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def assert_no_secret(text: str) -> None:
    assert not [secret for secret in SECRETS if secret in text], text


@pytest.mark.parametrize("login", ["", f"user:{PASSWORD}@"], ids=["key", "login"])
@pytest.mark.parametrize(("step", "answer"), ECHOES.values(), ids=ECHOES.keys())
def test_an_echo_of_the_key_is_blotted_out_everywhere(step, answer, login, serve, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    server, trace, fault, results = serve(answer), Trace(), None, []
    address, record = server.url.replace("//", f"//{login}"), tmp_path / "run.sqlite"
    chat = engine(f"openai:m@{address}", api_key=KEY, attempts=1, record=record)
    try:
        results = chat.run(step, ["a", "b"], trace=trace)
    except EngineError as error:
        fault = error
    trace.save(tmp_path / "trace.jsonl")

    # It was there to be echoed.
    assert server.seen[0]["authorization"] == (f"Basic {LOGIN}" if login else f"Bearer {KEY}")
    for shown in (
        everything(fault), repr(results), "".join(str(vars(result)) + result._repr_html_() for result in results),
        repr(trace), trace._repr_html_(), repr(list(trace)), trace.frame().to_html(),
        repr(chat), chat._repr_html_(), str(vars(chat)), repr(chat.meter), chat.meter.frame().to_html(), caplog.text,
    ):  # fmt: skip
        assert_no_secret(shown)
    kept = files(tmp_path)  # the recording with its -journal and -wal, and the trace
    assert not [secret for secret in SECRETS if secret.encode() in kept]
    assert server.host.encode() not in kept


@pytest.mark.parametrize("place", ["host:{}", "{}", "host/{}", "{}@host"])
def test_a_redirect_to_the_key_does_not_show_it(place, serve, ask, caplog):
    caplog.set_level(logging.DEBUG)
    server, fault = serve(lambda asked: (302, {"Location": f"http://{place.format(KEY)}/"}, "")), None
    try:
        said = repr(ask(server, api_key=KEY).run(NAMES, ["a"]))
    except EngineError as error:
        fault, said = error, ""
    assert fault is not None or "302" in said
    assert_no_secret(everything(fault) + said + caplog.text)


def test_what_is_blotted_out_is_marked(serve, ask):
    """Somebody who looks for a name that is gone must see why."""
    (result,) = ask(serve(lambda asked: completion(json.dumps([f"Ada {KEY}", "Bo"]))), api_key=KEY).run(NAMES, ["a"])
    assert result.value.names == ["Ada [key]", "Bo"]


def test_a_key_is_not_cut_into_a_part_that_is_not_found(serve, ask):
    """Long error messages are shortened; a key at the edge must go before the cut and not after."""
    server = serve(lambda asked: error(400, "x" * int(asked["messages"][-1]["content"]) + KEY))
    said = [result.failure for result in ask(server, api_key=KEY).run(NAMES, [str(x) for x in range(400, 500, 3)])]
    assert not [failure for failure in said if KEY[:8] in failure]
    assert 0 < sum("[key]" in failure for failure in said) < len(said)


@pytest.mark.parametrize("key", ["x", "EMPTY", "ollama"])
def test_a_placeholder_does_not_spoil_other_words(key, serve, ask):
    """Local servers are given any short word for a key; blotted out of other words it would change answers silently."""
    said = [f"{key}tra", f"un{key}ed", "ollamas", "Ada"]
    (result,) = ask(serve(lambda asked: completion(json.dumps([*said, f"key {key}!"]))), api_key=key).run(NAMES, ["a"])
    assert result.value.names == [*said, "key [key]!"]


@pytest.mark.parametrize("address", ["http://127.0.0.1:port", "http://[::1", "ftp://host/v1", "http://host/v1?key=x"])
def test_an_address_refused_does_not_show_its_password(address):
    with pytest.raises(SettingError) as refused:
        engine(f"openai:m@{address.replace('//', f'//user:{PASSWORD}@')}", api_key=KEY)
    assert_no_secret(everything(refused.value))


def test_nobody_listening_does_not_show_the_password(serve):
    server = serve(completion)
    server.stop()
    with pytest.raises(EngineError) as fault:
        engine(f"openai:m@http://user:{PASSWORD}@{server.host}/v1", api_key=KEY, attempts=1).run(NAMES, ["a"])
    assert_no_secret(everything(fault.value))
    assert server.host in str(fault.value)


@pytest.mark.parametrize("broken", [f"{KEY}\n{KEY}", f"{KEY} x", f"{KEY}é", f"{KEY}\u200b"])
def test_a_key_that_no_header_can_hold_is_refused_unshown(broken):
    """The HTTP library quotes such a key in its error, in a form in which it would not be found."""
    with pytest.raises(SettingError, match="the key") as refused:
        engine("openai:m", api_key=broken)
    assert_no_secret(everything(refused.value))


@pytest.mark.parametrize(
    ("spec", "options"),
    [("rules", {"api_key": KEY}), (f"opanai:m@http://u:{PASSWORD}@h/v1", {}), ("openai:m", {"api_keys": KEY})],
)
def test_a_mistaken_spec_is_not_quoted_with_its_secrets(spec, options):
    with pytest.raises((SettingError, TypeError)) as refused:
        engine(spec, **options)
    assert_no_secret(everything(refused.value))


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (None, "the OpenAI endpoint"),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("https://user:pass@host/v1?key=k#f", "https://host/v1"),
        ("http://user:p@ss/word@[::1]:80/v1", "http://[::1]:80/v1"),
        ("http://host:port/v1", "http://host:port/v1"),
    ],
)
def test_an_address_is_shown_without_login_and_query(url, shown):
    assert where(url) == shown


def test_neither_our_code_nor_the_libraries_log_a_request(serve, ask, caplog):
    caplog.set_level(logging.DEBUG)
    ask(serve(ECHOES["answer"][1]), api_key=KEY).run(NAMES, ["a"])
    assert not [record for record in caplog.records if record.name.startswith(("workbench", "http", "openai"))]
