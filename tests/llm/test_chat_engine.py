"""The engine over a real connection: order, concurrency, the shape of a request, and which faults are whose."""

from __future__ import annotations

import re
import socket
import threading
import time
from dataclasses import replace

import pytest
from chat_server import Cut, by_schema, completion, error, question
from hypothesis import given
from hypothesis import strategies as st
from small_steps import BOOK, NAMES, Names

from workbench.errors import EngineRefused, EngineUnavailable, SettingError
from workbench.llm import engine
from workbench.llm.call import Reply
from workbench.llm.chat import ChatEngine
from workbench.steps import judge_paths
from workbench.trace import Trace

INPUTS = [f"input {i}" for i in range(12)]


# -- order and concurrency ------------------------------------------------------------------------------------------


def test_results_come_in_the_order_of_the_inputs(serve, ask):
    """The first answers come last here; a result at the wrong place would be another question's answer."""

    def slow_first(asked):
        time.sleep(0.01 * (len(INPUTS) - INPUTS.index(question(asked))))
        return by_schema(asked)

    server, trace = serve(slow_first), Trace()
    results = ask(server).run(NAMES, INPUTS, trace=trace)
    assert [result.value.names for result in results] == [[value] for value in INPUTS]
    assert [event.outputs["names"] for event in trace] == [[value] for value in INPUTS]


@pytest.mark.parametrize("concurrency", [1, 4])
def test_as_many_requests_as_asked_for_are_in_flight(concurrency, serve, ask):
    """Each answer waits until `concurrency` requests are there, so fewer would fail; more would raise `most`."""
    together = threading.Barrier(concurrency)

    def waiting(asked):
        together.wait(10)
        return by_schema(asked)

    server = serve(waiting)
    results = ask(server, concurrency=concurrency).run(NAMES, INPUTS)
    assert server.most == concurrency and not any(result.failure for result in results)


@pytest.mark.parametrize("concurrency", [0, -1, 1.5, "8"])
def test_a_concurrency_that_means_nothing_is_refused(concurrency):
    with pytest.raises(SettingError, match="concurrency="):
        ChatEngine("openai:m", lambda request: Reply(""), concurrency=concurrency)


# -- the request ------------------------------------------------------------------------------------------------------


def test_a_request_says_all_that_determines_the_answer(serve, ask):
    server = serve(by_schema)
    ask(server, seed=5).run(NAMES, ["x"])
    asked = server.seen[0]
    sent = {name: asked[name] for name in ("model", "temperature", "seed", "max_tokens", "messages")}
    messages = NAMES.messages("x")
    assert sent == {"model": "test-model", "temperature": 0.0, "seed": 5, "max_tokens": 512, "messages": messages}
    assert asked["path"] == "/v1/chat/completions"


def test_json_is_asked_for_by_a_strict_schema(serve, ask):
    """A property that is named "title" must survive the removal of pydantic's titles."""
    server = serve(by_schema)
    (result,) = ask(server).run(BOOK, ["Emma"])
    assert server.seen[0]["response_format"] == {
        "type": "json_schema",
        "json_schema": {
            "name": "book",
            "strict": True,
            "schema": {
                "type": "object",
                "properties": {"title": {"type": "string", "maxLength": 600}, "pages": {"type": "integer"}},
                "required": ["title", "pages"],
                "additionalProperties": False,
            },
        },
    }
    assert result.value.title == "Emma"


@pytest.mark.parametrize(("structured", "sent"), [("json_object", {"type": "json_object"}), ("none", None)])
def test_servers_that_know_no_schema_can_be_asked_otherwise(structured, sent, serve, ask):
    server = serve(lambda asked: completion('{"names": []}'))
    (result,) = ask(server, structured=structured).run(NAMES, ["x"])
    assert server.seen[0].get("response_format") == sent and result.value == Names(names=[])


@given(st.text(st.characters(exclude_categories=()), max_size=50))
def test_any_input_can_be_sent(value):
    """Half a character cannot be sent as UTF-8; it is replaced before the request is made, recorded or traced."""
    (message,) = ChatEngine("openai:m", lambda request: Reply("")).request(NAMES, value).messages[1:]
    assert len(message["content"].encode().decode()) == len(value)


# -- copies of the prompt ---------------------------------------------------------------------------------------------

COPY = '{"query": "railway bridges by Ines Marr and the towns they stand in"}'
INPUT = judge_paths.Search("Where was Ada born?", "her town", (), (), 1)


@pytest.mark.parametrize("copy", [COPY, '{"query": "…"}', '{"query": "bridges by Ines Marr"}'])
def test_a_copy_of_the_prompt_is_no_answer(copy, serve, ask):
    """Small models repeat the worked example, and its bridges would be searched for."""
    server = serve(lambda asked: completion(copy))
    (result,) = ask(server).run(judge_paths.FALLBACK, [INPUT])
    assert result.failure.startswith("unreadable: ") and result.value is None and len(server.seen) == 1
    about = replace(INPUT, question="What did Ines Marr build?")
    named = ask(serve(lambda asked: completion(COPY.replace("railway ", ""))))
    assert named.run(judge_paths.FALLBACK, [about])[0].value


# -- one bad input ----------------------------------------------------------------------------------------------------

DEEP = "[" * 100_000
CHOICE = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": '{"names": []}'}}
HOSTILE = {
    "HTTP 400": (error(400, "too long"), "HTTP 400.*too long"),
    "html": ((200, {"Content-Type": "text/html"}, "<html><script>alert(1)</script></html>"), "not a chat completion"),
    "not utf-8": ((200, {}, b'{"choices": "\xff\xfe"}'), "not a chat completion"),
    "empty body": ((200, {}, b""), "not a chat completion"),
    "deep body": ((200, {}, DEEP), "not a chat completion"),
    "json list": ((200, {}, "[]"), "not a chat completion"),
    "choices empty": ((200, {}, {"choices": []}), "not a chat completion"),
    "choice null": ((200, {}, {"choices": [None]}), "not a chat completion"),
    "message text": ((200, {}, {"choices": [{"message": "x"}]}), "not a chat completion"),
    "content list": (completion([{"type": "image", "url": "x"}]), "content is a list"),
    "content number": (completion(5), "content is a int"),
    "content null": (completion(None), "empty"),
    "refusal": (completion(None, refusal="I may not."), "refused: I may not."),
    "huge": (completion("x" * 300_000), "300,000 characters"),
    "deep content": (completion(DEEP), "no JSON"),
    "cut": (completion('{"nam', finish="length"), "cut for length"),
}


@pytest.mark.parametrize(("hostile", "said"), HOSTILE.values(), ids=HOSTILE.keys())
def test_a_bad_answer_is_the_failure_of_one_input(hostile, said, serve, ask):
    """A server may send anything; the other inputs' answers must not be lost for it."""
    server, trace = serve(lambda asked: hostile if question(asked) == "bad" else by_schema(asked)), Trace()
    chat = ask(server)
    before, bad, after = chat.run(NAMES, ["a", "bad", "b"], trace=trace)
    assert (before.value, after.value) == (Names(names=["a"]), Names(names=["b"]))
    assert (bad.value, bad.parse) == (None, None) and trace[1].failure == bad.failure
    assert re.search(said, bad.failure, re.DOTALL) and len(bad.failure) < 1_000
    assert chat.meter.total.calls == 3


@pytest.mark.parametrize(
    "odd",
    [
        {"usage": None},
        {"usage": "many"},
        {"usage": {"prompt_tokens": "7", "completion_tokens": None}},
        {"usage": {"prompt_tokens": float("nan")}},
        {"choices": [{"message": {"content": '{"names": []}'}}]},
        {"choices": [{**CHOICE, "finish_reason": 5}], "usage": {}},
    ],
    ids=str,
)
def test_an_answer_with_odd_surroundings_is_an_answer(odd, serve, ask):
    """Small servers leave out the counts or send other types; what counts is what was said."""
    chat = ask(serve(lambda asked: (200, {}, {"choices": [CHOICE], **odd})))
    (result,) = chat.run(NAMES, ["x"])
    assert result.value == Names(names=[]) and chat.meter.total.prompt_tokens == 0


def test_a_server_too_slow_for_one_input_fails_that_input(serve, ask):
    def slow(asked):
        time.sleep(1.0 * (question(asked) == "slow"))
        return by_schema(asked)

    slow_one, quick = ask(serve(slow), timeout=0.5).run(NAMES, ["slow", "quick"])
    assert "no answer within 0.5 s" in slow_one.failure and quick.value == Names(names=["quick"])


# -- what stops a run -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [401, 403, 404])
@pytest.mark.parametrize("inputs", [["a"], INPUTS])
def test_a_refusal_of_every_call_stops_the_run(status, inputs, serve, ask):
    """A wrong key fails every input alike: going on would fill an index with failures."""
    server = serve(lambda asked: error(status, "go away"))
    with pytest.raises(EngineRefused, match=f"HTTP {status}.*go away"):
        ask(server, concurrency=2, attempts=3).run(NAMES, inputs)
    assert len(server.seen) < len(INPUTS)


def test_nobody_listening_stops_the_run(serve, ask):
    server = serve(by_schema)
    server.stop()
    with pytest.raises(EngineUnavailable, match=rf"http://{server.host}/v1 cannot be reached.*run the same again"):
        ask(server).run(NAMES, INPUTS)


def test_a_server_that_accepts_no_connection_stops_the_run():
    """A host that is switched off does not refuse, it is silent; that is no fault of an input."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(0)
        host = silent.getsockname()
        waiting = [socket.socket() for _ in range(3)]
        for other in waiting:  # more than its queue holds
            other.setblocking(False)
            other.connect_ex(host)
        with pytest.raises(EngineUnavailable, match=r"no answer within 0\.2 s"):
            engine(f"openai:m@http://127.0.0.1:{host[1]}/v1", attempts=1, timeout=0.2).run(NAMES, ["a"])
        for other in waiting:
            other.close()


def test_what_was_answered_before_the_server_died_is_not_asked_again(serve, ask, tmp_path):
    """A run over thousands of passages must go on where it stopped; each answer was paid for."""

    def dying(asked):
        if len(server.seen) == 4:
            server.stop()
            return 200, {}, Cut()
        return by_schema(asked)

    server, record = serve(dying), tmp_path / "run.sqlite"
    with pytest.raises(EngineUnavailable):
        ask(server, concurrency=1, record=record).run(NAMES, INPUTS)
    again = serve(by_schema)
    results = ask(again, record=record).run(NAMES, INPUTS)
    assert [result.value.names for result in results] == [[value] for value in INPUTS]
    assert sorted(again.questions) == sorted(INPUTS[3:])


# -- the SPEC ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["", "rule", "gpt-4o", "Rules"])
def test_an_unknown_engine_names_the_known_ones(spec):
    with pytest.raises(SettingError, match=r"rules, openai:<model>.*local:<file>.* replay:<file> or worked"):
        engine(spec)


@pytest.mark.parametrize("spec", ["openai:", "openai", "openai:@http://127.0.0.1:9/v1"])
def test_a_model_must_be_named(spec):
    with pytest.raises(SettingError, match="name a model"):
        engine(spec, api_key="sk-x")


def test_without_a_key_the_message_says_where_it_is_looked_for():
    with pytest.raises(EngineRefused, match="OPENAI_API_KEY"):
        engine("openai:gpt-4o-mini")


@pytest.mark.parametrize("address", ["http://", "http://127.0.0.1:port/v1", "http://127.0.0.1:99999", "http://[::1/v1"])
def test_an_address_that_is_none_is_refused_at_once(address):
    with pytest.raises(SettingError, match="is not the address of an endpoint"):
        engine(f"openai:m@{address}")


def test_address_and_key_are_taken_from_the_environment(serve, monkeypatch):
    server = serve(by_schema)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-environment\n")  # a line break is easily copied along
    engine("openai:org/model", attempts=1).run(NAMES, ["x"])
    assert (server.seen[0]["authorization"], server.seen[0]["model"]) == ("Bearer sk-from-environment", "org/model")
