"""Every Step through eight families of endpoints: the first try, with no failure that the model did not cause."""

from __future__ import annotations

import json
from collections import defaultdict

import pytest
from chat_server import completion
from families import FAMILIES, STEPS, Family, Ollama, OpenAIReasoning
from pydantic import BaseModel
from trial_questions import QUESTIONS

import workbench as wb
from workbench.errors import EngineRefused
from workbench.llm import engine
from workbench.llm.negotiation import KNOWN
from workbench.llm.step import Step, Usage
from workbench.trace import Trace

# What each is sent without, and how many requests it refuses while this is found out.
SENT = {
    "OpenAI chat": ((), 0),
    "OpenAI reasoning": (("max_completion_tokens for max_tokens", "no temperature"), 2),
    "vLLM": ((), None),  # a prompt and an answer that the window does not hold together: each time
    "llama.cpp": ((), 0),
    "Ollama": ((), 0),
    "Azure": (
        (
            "json_object for json_schema", "a label asked for by the prompt alone", "no seed",
            "no system message: it begins the user's",
        ),
        3,
    ),
    "Anthropic": (("JSON asked for by the prompt alone", "a label asked for by the prompt alone", "no seed"), 0),
    "Gemini": (("no seed",), 1),
}  # fmt: skip
# Lengths in the schemas of Steps, which some take not at all.
LENGTHS = {"schema without lengths"}


@pytest.fixture
def start(serve, monkeypatch):
    def started(family: Family, **options):
        if family.host:
            monkeypatch.setitem(KNOWN, "127.0.0.1", KNOWN[family.host])
        server = serve(family.answer, family.get)
        return server, engine(f"openai:test-model@{server.url}", **{"attempts": 3, **options})

    return started


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("concurrency", [1, 8])
def test_every_step_is_answered_at_the_first_try(name, concurrency, start):
    family, trace = FAMILIES[name](), Trace()
    _, chat = start(family, concurrency=concurrency)
    results = [(one, chat.run(STEPS[one.step], [one.input], trace=trace)[0]) for one in QUESTIONS]
    assert {one.step: result.failure for one, result in results if result.failure} == {}
    assert not [one.step for one, result in results if not one.right(result.value)]
    sent, refusals = SENT[name]
    assert set(chat.sent) - LENGTHS == set(sent)
    assert refusals is None or refusals <= family.refusals <= refusals + 2 * len(LENGTHS)


class Word(BaseModel):
    word: str


WORD = Step(
    "word", Word, lambda value: [{"role": "system", "content": "Say JSON."}, {"role": "user", "content": value}],
    longest=None,
)  # fmt: skip


def test_many_callers_share_what_is_found_out(start, monkeypatch):
    """Questions at once, to an endpoint that refuses two arguments; later ones, of another engine too, know it."""
    family = OpenAIReasoning()
    monkeypatch.setattr("families.REPLIES", {f"Say JSON.\n\n{n}": '{"word": "x"}' for n in range(32)})
    server, chat = start(family, concurrency=32)
    results = chat.run(WORD, [str(n) for n in range(32)])
    assert not [result.failure for result in results if result.failure]
    assert 2 <= (refusals := family.refusals) <= 2 * 32
    again = engine(f"openai:test-model@{server.url}")
    assert again.run(WORD, ["3"])[0].value and family.refusals == refusals and again.sent == chat.sent


def test_reasoning_is_counted_apart_and_gets_room_once(start, monkeypatch, tmp_path):
    """The first answer is lost to its reasoning and asked for once more; from then on there is room from the start."""
    family, trace = OpenAIReasoning(), Trace()
    monkeypatch.setattr("families.REPLIES", {f"Say JSON.\n\n{n}": '{"word": "x"}' for n in range(3)})
    server, chat = start(family, concurrency=1)
    results = chat.run(WORD, ["0", "1", "2"], trace=trace)
    taken = [asked for asked in server.seen if "max_tokens" not in asked and "temperature" not in asked]
    assert [asked["max_completion_tokens"] for asked in taken] == [512, 512 + 8192, 512 + 8192, 512 + 8192]
    assert [result.usage.completion_tokens for result in results] == [512 + 740, 740, 740]
    assert [result.usage.reasoning_tokens for result in results] == [512 + 700, 700, 700]
    assert chat.meter.total.reasoning_tokens == 512 + 2100 and "for reasoning" in repr(chat.meter)
    assert chat.meter.total == sum((result.usage for result in results), Usage())
    assert {event.outputs["sent"] for event in trace} == {"max_completion_tokens for max_tokens; no temperature"}


def test_a_limit_that_all_goes_into_reasoning_is_a_failure_of_its_own(start, monkeypatch):
    family = OpenAIReasoning()
    family.thinks = 1_000_000
    monkeypatch.setattr("families.REPLIES", {"Say JSON.\n\n0": '{"word": "x"}'})
    server, chat = start(family, reasoning=1000)
    (result,) = chat.run(WORD, ["0"])
    assert (
        "went into reasoning" in result.failure and "reasoning=…" in result.failure and "effort=low" in result.failure
    )
    assert len(server.seen) == 2 + 2  # two refusals, then twice the question
    assert result.usage == Usage(1, 180, 512 + 1512, money=None, failed=1, reasoning_tokens=512 + 1512)


def test_reasoning_is_in_the_trace_and_the_recording_and_in_no_prompt(start, tmp_path):
    """A draft in it is not taken for the answer; a replay shows the same."""
    one = next(one for one in QUESTIONS if one.step == "fact_filter")
    outcomes = []
    server, live = start(Ollama(), record=tmp_path / "run.sqlite")
    for number in range(2):
        chat, trace = engine(f"replay:{tmp_path / 'run.sqlite'}") if number else live, Trace()
        (result,) = chat.run(STEPS[one.step], [one.input], trace=trace)
        assert result.reasoning == trace[0].outputs["reasoned"] == "Well, {}?" and one.right(result.value)
        assert "Well" not in result.text and "Well" not in str(trace[0].inputs)
        outcomes.append((result, trace.save(tmp_path / "trace.jsonl").read_bytes(), chat.sent))
    assert outcomes[0] == outcomes[1] and len(server.seen) == 1


def test_what_was_sent_otherwise_stands_in_the_run(start, meridian_index, tmp_path, monkeypatch):
    """And in its replay, byte for byte."""
    family = OpenAIReasoning()
    monkeypatch.setattr(family, "said", lambda asked, reply: completion("Thought: x\nAnswer: Oslo"))
    monkeypatch.setattr("families.REPLIES", defaultdict(str))
    _, chat = start(family, record=tmp_path / "run.sqlite")
    files, question = [], wb.load("meridian").questions[:1]
    for number in range(2):
        folder, one = tmp_path / str(number), engine(f"replay:{tmp_path / 'run.sqlite'}") if number else chat
        reader = wb.reader("direct", one)
        run = wb.evaluate(question, [wb.method("dense", meridian_index)], reader, folder, progress=False)
        said = "openai:test-model was asked with max_completion_tokens for max_tokens; no temperature"
        assert run.notes == (said,) and json.loads((folder / "run.json").read_text())["sent"] == [said]
        again = wb.evaluate(question, [wb.method("dense", meridian_index)], reader, folder, progress=False)
        assert json.loads((again.folder / "run.json").read_text())["sent"] == [said]
        files.append({name: (folder / name).read_bytes() for name in ("run.json", "results.jsonl", "usage.json")})
    assert files[0] == files[1]


def test_an_effort_is_sent_named_and_never_dropped(start, monkeypatch):
    family = OpenAIReasoning()
    monkeypatch.setattr("families.REPLIES", {"Say JSON.\n\n0": '{"word": "x"}'})
    server, chat = start(family)
    low = engine(f"openai:test-model@{server.url}[effort=low]")
    assert low.run(WORD, ["0"])[0].usage.reasoning_tokens == 175 and low.name == "openai:test-model[effort=low]"
    assert server.seen[-1]["reasoning_effort"] == "low" and server.seen[-1]["model"] == "test-model"
    assert low.request(WORD, "0").key != chat.request(WORD, "0").key
    with pytest.raises(EngineRefused, match=r"takes no effort=utmost.*Supported values"):
        engine(f"openai:test-model@{server.url}", effort="utmost").run(WORD, ["0"])
