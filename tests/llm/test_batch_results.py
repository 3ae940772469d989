"""Results of batches of any form: what is an answer is recorded, everything else is kept apart and asked for again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from batches import requests_of, result
from chat_server import completion, error, question
from small_steps import BOOK, NAMES, SAID

from workbench import places
from workbench.errors import DataError, SettingError
from workbench.llm import engine
from workbench.llm.batch import Export, read
from workbench.llm.record import Recording
from workbench.llm.step import Step

SPEC = "openai:test-model"
TEXTS = ["one", "two", "three"]


def names(asked: dict):
    return completion(json.dumps({"names": [question(asked)]}))


@pytest.fixture(autouse=True)
def _known(monkeypatch) -> None:
    """The import finds Steps by their names."""
    monkeypatch.setattr("workbench.steps.catalogue", lambda: {step.name: step for step in (NAMES, BOOK, SAID)})


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path / "batch"


def export(folder: Path, step: Step = NAMES, texts: list[str] = TEXTS, spec: str = SPEC, **options):
    """The export, and the results of its work, if it was not deferred."""
    found = []
    with Export(folder, progress=False, **options) as made:
        found += made.engine(spec).run(step, texts)
    return made, found


def results(folder: Path, *lines: dict | str, round: int = 1) -> Path:
    path = folder / f"results-{round}.jsonl"
    path.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in lines))
    return path


def by_text(folder: Path, round: int = 1) -> dict[str, dict]:
    return {question(one["body"]): one for one in requests_of(folder, round)}


def failures(folder: Path, round: int = 1) -> dict[str, str]:
    lines = (folder / f"round-{round}" / "failures.jsonl").read_text().splitlines()
    return {line["custom_id"] or line["in"]: line["failure"] for line in map(json.loads, lines)}


def test_a_request_is_the_body_that_the_engine_would_send(folder, serve, ask):
    server = serve(names)
    ask(server, record=folder.with_name("live.sqlite")).run(NAMES, ["one"])
    (sent,) = (
        {name: value for name, value in one.items() if name not in ("authorization", "path")} for one in server.seen
    )
    export(folder, texts=["one"])
    (asked,) = requests_of(folder, 1)
    assert asked["body"] == sent
    assert (asked["method"], asked["url"]) == ("POST", "/v1/chat/completions")
    assert asked["custom_id"] == engine(SPEC, api_key="none").request(NAMES, "one").key


def test_equal_requests_are_asked_once_and_the_files_have_the_same_bytes(folder, tmp_path):
    made, _ = export(folder, texts=[*TEXTS, "two"])
    assert made.requests == 3
    export(tmp_path / "other", texts=TEXTS[::-1])
    file = "round-1/requests-001.jsonl"
    assert (folder / file).read_bytes() == (tmp_path / "other" / file).read_bytes()


VLLM = {"id": "vllm-1", "error": None}


@pytest.mark.parametrize(
    ("form", "why"),
    [
        (lambda asked: result(asked, lambda _: error(400, "too long")), "HTTP 400: too long"),
        (lambda asked: {**VLLM, "custom_id": asked["custom_id"], "response": None,
                        "error": {"code": "batch_expired", "message": "late"}},
         "batch_expired: late"),
        (lambda asked: {**VLLM, "custom_id": asked["custom_id"], "response": {"status_code": 400, "request_id": "v"},
                        "error": "no such model"}, "HTTP 400: no such model"),
        (lambda asked: {**VLLM, "custom_id": asked["custom_id"], "response": {"status_code": 400}, "error":
                        {"object": "error", "message": "max_tokens", "type": "BadRequestError", "code": 400}},
         "HTTP 400: max_tokens"),
        (lambda asked: {"custom_id": asked["custom_id"], "response": {"status_code": 200, "body": {}}},
         "the line has neither an answer nor an error"),
        (lambda asked: {"custom_id": asked["custom_id"]}, "the line has neither an answer nor an error"),
        (lambda asked: result(asked, lambda _: completion(None, refusal="I would rather not")),
         "the model refused: I would rather not"),
        (lambda asked: {"custom_id": asked["custom_id"], "response": {"status_code": 200, "body": {"choices": "none"}}},
         "the endpoint's answer is not a chat completion: it has no choice with a message"),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_kept_apart_and_asked_again(folder, form: Callable[[dict], dict], why: str):
    export(folder)
    asked = by_text(folder)
    good = [result(asked[text], names) for text in ("one", "three")]
    found = read(folder, [results(folder, *good, form(asked["two"]))], progress=False)
    assert (found.answers, found.failed) == (2, {why: 1})
    assert failures(folder) == {asked["two"]["custom_id"]: why}
    made, _ = export(folder)
    assert (made.round, list(by_text(folder, 2))) == (2, ["two"])


def test_a_failure_is_known_until_the_request_is_answered_or_asked_again(folder):
    export(folder)
    asked = by_text(folder)
    read(folder, [results(folder, result(asked["two"], lambda _: error(400, "too long")))], progress=False)
    found = read(folder, [results(folder, result(asked["one"], names))], progress=False)
    assert found.failed == {"HTTP 400: too long": 1, "no result of this request was read": 1}
    assert read(folder, [results(folder, result(asked["two"], names))], progress=False).failed == {
        "no result of this request was read": 1
    }
    export(folder)
    assert read(folder, [results(folder, round=2)], progress=False).failed == {"no result of this request was read": 1}


def test_lines_that_name_no_request_are_told(folder):
    export(folder)
    asked = by_text(folder)
    good = result(asked["one"], names)
    torn = json.dumps(result(asked["two"], names))[:80]
    path = results(folder, good, good, {**good, "custom_id": "unknown"}, "[1]", "{}", "", '{"custom_id": 7}')
    path.write_text(path.read_text() + torn)
    found = read(folder, [path], progress=False)
    assert (found.answers, found.repeated) == (1, 1)
    assert found.failed == {
        "no request of this batch has this custom_id": 1,
        "the line has no custom_id": 3,
        "the line is no JSON: the file is cut off here": 1,
        "no result of this request was read": 2,
    }


def test_reading_results_twice_changes_nothing(folder):
    export(folder)
    path = results(folder, *(result(one, names) for one in requests_of(folder, 1)))
    assert read(folder, [path], progress=False).answers == 3
    kept = [tuple(row) for row in _rows(folder)]
    again = read(folder, [path], progress=False)
    assert (again.answers, again.repeated, again.failed) == (0, 3, {})
    assert [tuple(row) for row in _rows(folder)] == kept


def _rows(folder: Path) -> list:
    with Recording.of(None).transaction() as connection:
        return connection.execute("SELECT * FROM replies ORDER BY key").fetchall()


def test_batches_share_the_recording_of_the_working_folder(folder, tmp_path):
    """Each waits for its own requests; what one was answered the other does not ask for."""
    other = tmp_path / "other"
    export(folder), export(other, texts=["three", "four"])
    both = {one["custom_id"] for at in (folder, other) for one in requests_of(at, 1)}
    for at, count in ((folder, 3), (other, 2)):
        assert (
            read(at, [results(at, *(result(one, names) for one in requests_of(at, 1)))], progress=False).answers
            == count
        )
    assert export(folder, texts=[*TEXTS, "four"])[0].requests == 0
    assert {row[0] for row in _rows(folder)} == both and len(both) == 4


def test_an_unreadable_reply_is_a_failure_of_its_input_and_retried_on_request(folder, tmp_path):
    export(folder)
    asked = by_text(folder)
    said = {"two": lambda _: completion("I do not know.")}
    lines = [result(asked[text], said.get(text, names)) for text in TEXTS]
    found = read(folder, [results(folder, *lines)], progress=False)
    assert (found.answers, found.unreadable, found.failed) == (3, 1, {})
    made, values = export(folder)
    assert made.requests == 0
    assert [one.failure and one.failure.partition(":")[0] for one in values] == [None, "unreadable", None]
    replayed = engine(f"replay:{made.record}").run(NAMES, TEXTS)
    assert replayed == values
    assert list(by_text(folder, export(folder, retry=True)[0].round)) == ["two"]


def test_a_variant_of_a_step_is_not_judged_by_the_other(folder, monkeypatch):
    monkeypatch.setattr("workbench.steps.catalogue", lambda: {NAMES.name: replace(BOOK, name=NAMES.name)})
    export(folder)
    found = read(folder, [results(folder, *(result(one, names) for one in requests_of(folder, 1)))], progress=False)
    assert (found.answers, found.unreadable) == (3, 0)
    assert [one.value.names for one in export(folder)[1]] == [[text] for text in TEXTS]


def test_failures_can_be_taken_for_final(folder):
    export(folder)
    asked = by_text(folder)
    lines = [result(asked["one"], names), result(asked["two"], lambda _: error(400, "too long"))]
    found = read(folder, [results(folder, *lines)], final=True, progress=False)
    assert found.final and sum(found.failed.values()) == 2
    made, values = export(folder)
    assert made.requests == 0
    assert [one.failure for one in values] == [None, "HTTP 400: too long", "no result of this request was read"]
    assert [one.failure for one in engine(f"replay:{made.record}").run(NAMES, TEXTS)] == [one.failure for one in values]


def test_what_an_endpoint_does_not_take_is_left_out_from_then_on(folder):
    export(folder)
    refusal = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    lines = [result(one, lambda _: error(400, refusal)) for one in requests_of(folder, 1)]
    found = read(folder, [results(folder, *lines)], progress=False)
    assert found.learned == (SPEC,) and sum(found.failed.values()) == 3
    export(folder)
    bodies = [one["body"] for one in requests_of(folder, 2)]
    assert all("max_completion_tokens" in body and "max_tokens" not in body for body in bodies)
    read(folder, [results(folder, *(result(one, names) for one in requests_of(folder, 2)), round=2)], progress=False)
    made, values = export(folder)
    assert made.requests == 0 and {one.sent for one in values} == {"max_completion_tokens for max_tokens"}


def test_an_effort_that_is_not_taken_is_said(folder):
    export(folder, spec=f"{SPEC}[effort=huge]", texts=["one"])
    (asked,) = requests_of(folder, 1)
    refused = result(asked, lambda _: error(400, "Unsupported value: 'reasoning_effort' does not support 'huge'"))
    found = read(folder, [results(folder, refused)], progress=False)
    assert next(iter(found.failed)).startswith("'test-model' takes no effort=huge") and found.learned == ()


def test_a_model_that_spent_its_tokens_on_reasoning_is_given_more(folder):
    export(folder, texts=["one"])
    (asked,) = requests_of(folder, 1)
    cut = result(asked, lambda _: completion("", finish="length", reasoning_content="Hm."))
    assert "reasoning took the tokens" in next(iter(read(folder, [results(folder, cut)], progress=False).failed))
    export(folder, texts=["one"])
    (again,) = requests_of(folder, 2)
    assert again["body"]["max_tokens"] > asked["body"]["max_tokens"] + 8_000


def test_what_cannot_be_done_is_said(folder, tmp_path):
    with pytest.raises(DataError, match="holds no batch"):
        read(folder, progress=False)
    with pytest.raises(SettingError, match="openai:MODEL"):
        export(folder, spec="local:smollm2")
    with pytest.raises(SettingError, match="no option 'sed'"):
        export(folder, spec=f"{SPEC}[sed=1]")
    export(folder)
    with pytest.raises(DataError, match="has no results in"):
        read(folder, progress=False)
    with pytest.raises(DataError, match="does not exist"):
        read(folder, [tmp_path / "none.jsonl"], progress=False)
    with pytest.raises(SettingError, match="goes with the recording"):
        export(folder, record=tmp_path / "another.sqlite")
    (folder / "batch.json").write_text("{")
    with pytest.raises(DataError, match="is damaged"):
        export(folder)


def test_neither_key_nor_address_of_the_engine_is_kept(folder):
    spec = "openai:test-model@http://user:pass-of-the-test@127.0.0.1:9/v1[api_key=sk-of-the-test-0123,window=4096]"
    made, _ = export(folder, spec=spec)
    assert made.requests == 3
    files = [places.answers(), *(path for path in folder.rglob("*") if path.is_file())]
    kept = b"".join(path.read_bytes() for path in files)
    assert not any(word in kept for word in (b"sk-of-the-test", b"pass-of-the-test", b"127.0.0.1"))
