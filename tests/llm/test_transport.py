"""What an endpoint's HTTP client bounds: redirects, sizes, packings, time; and what the libraries may log."""

from __future__ import annotations

import gzip
import logging
import time

import pytest
from chat_server import by_schema, completion
from small_steps import NAMES

from workbench.errors import EngineRefused
from workbench.llm.endpoint import blotter, guard_logs
from workbench.llm.transport import MOST, SLOWEST, bounded, http

KEY = "sk-of-the-test/0123456789"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_elsewhere_is_refused_by_name(status, serve, ask):
    elsewhere = serve(by_schema)
    server = serve(lambda asked: (status, {"Location": f"{elsewhere.url}/chat/completions"}, ""))
    with pytest.raises(EngineRefused, match=f"sends requests on to http://{elsewhere.host}"):
        ask(server, api_key=KEY).run(NAMES, ["a"])
    assert elsewhere.seen == elsewhere.looked == []


def test_a_redirect_on_the_same_host_is_followed(serve, ask):
    def moved(asked):
        return by_schema(asked) if asked["path"] == "/v1/new" else (307, {"Location": "/v1/new"}, "")

    server = serve(moved)
    (result,) = ask(server, api_key=KEY).run(NAMES, ["a"])
    assert result.value.names == ["a"]
    assert [asked["authorization"] for asked in server.seen] == [f"Bearer {KEY}"] * 2


@pytest.mark.parametrize(
    ("headers", "body", "said"),
    [
        ({}, b" " * (MOST + 1), "more than 32,000,000 bytes"),
        ({"Content-Encoding": "gzip"}, gzip.compress(b" " * (MOST + 1)), "more than 32,000,000 bytes"),
        ({"Content-Encoding": "br"}, b"{}", "packed in a way that was not asked for"),
    ],
)
def test_an_answer_that_is_too_large_fails_its_input(headers, body, said, serve, ask):
    server = serve(lambda asked: by_schema(asked) if asked["messages"][-1]["content"] == "b" else (200, headers, body))
    lost, fine = ask(server, concurrency=1).run(NAMES, ["a", "b"])
    assert said in lost.failure and fine.value.names == ["b"] and len(server.seen) == 2


def test_a_long_text_is_no_answer(serve, ask):
    (result,) = ask(serve(lambda asked: completion("a" * 3_000_000))).run(NAMES, ["a"])
    assert "3,000,000 characters" in result.failure and result.text == ""


@pytest.mark.parametrize("tokens", [-5, 10**400, "seven"])
def test_tokens_that_nobody_can_have_used_are_none(tokens, serve, ask):
    """A negative count would enlarge a budget, and a huge one cannot be multiplied by a price."""
    (result,) = ask(serve(lambda asked: completion("[]", prompt=tokens, completion=tokens))).run(NAMES, ["a"])
    assert (result.usage.prompt_tokens, result.usage.completion_tokens) == (0, 0)


def test_redirects_without_end_fail_their_input(serve, ask):
    server = serve(lambda asked: (307, {"Location": f"/v1/{len(server.seen)}"}, ""))
    (result,) = ask(server).run(NAMES, ["a"])
    assert "redirects without end" in result.failure and len(server.seen) == 5


def test_a_body_has_to_come_in_time():
    """One limit holds for all of it: otherwise each piece that arrives would begin another one."""
    begun = time.monotonic() - 10
    assert len([*bounded([b"a" * SLOWEST] * 3, None, MOST, begun, limit=11.0)]) == 3
    assert [*bounded([b"a" * 5 * SLOWEST], None, MOST, begun, limit=6.0)]  # slow, and on its way
    with pytest.raises(http.ReadTimeout):
        next(bounded([b"a"] * 3, None, MOST, begun, limit=9.0))


def test_libraries_log_no_secret_as_long_as_somebody_holds_it(caplog):
    own = "a-secret/of-this-test-alone"  # no client of another test holds it
    blot, logger = blotter([own]), logging.getLogger("httpx2.a_test")
    guard_logs(blot)
    caplog.set_level(logging.DEBUG)
    logger.debug("header %s", [("X", own)])
    try:
        raise ValueError(f"illegal line {own!r}")
    except ValueError:
        logger.debug("failed", exc_info=True)
    assert own not in caplog.text and caplog.text.count("[key]") >= 2
    del blot
    logger.debug("of somebody else: %s", own)
    assert own in caplog.text


def test_a_short_key_is_found_as_a_word_alone():
    assert blotter(["x", ""])("x axis, fox, x") == "[key] axis, fox, [key]"
