"""What an endpoint's HTTP client bounds: redirects, sizes, packings, time."""

from __future__ import annotations

import gzip
import time

import pytest
from chat_server import by_schema, completion
from small_steps import NAMES

from workbench.errors import EngineRefused
from workbench.llm.endpoint import blotter
from workbench.llm.transport import MOST, SLOWEST, bounded, http

KEY = "sk-of-the-test/0123456789"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("same_host", [True, False])
def test_a_redirect_is_refused_by_name(same_host, status, serve, ask):
    elsewhere = serve(by_schema)
    to = "http://{}/v2" if same_host else f"{elsewhere.url}/chat/completions"
    server = serve(lambda asked: (status, {"Location": to.format(server.host)}, ""))
    with pytest.raises(EngineRefused, match=f"sends requests on to {to.format(server.host)}, "):
        ask(server, api_key=KEY).run(NAMES, ["a"])
    assert elsewhere.seen == elsewhere.looked == [] and len(server.seen) == 1


@pytest.mark.parametrize(
    ("headers", "body", "said"),
    [
        ({}, b" " * (MOST + 1), "more than 32,000,000 bytes"),
        ({"Content-Encoding": "gzip"}, gzip.compress(b" " * (MOST + 1)), "packed, which was not asked for"),
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


def test_a_body_has_to_come_in_time():
    """One limit holds for all of it: otherwise each piece that arrives would begin another one."""
    begun = time.monotonic() - 10
    assert len([*bounded([b"a" * SLOWEST] * 3, None, MOST, begun, limit=11.0)]) == 3
    assert [*bounded([b"a" * 5 * SLOWEST], None, MOST, begun, limit=6.0)]  # slow, and on its way
    with pytest.raises(http.ReadTimeout):
        next(bounded([b"a"] * 3, None, MOST, begun, limit=9.0))


def test_a_short_key_is_found_as_a_word_alone():
    assert blotter(["x", ""])("x axis, fox, x") == "[key] axis, fox, [key]"
