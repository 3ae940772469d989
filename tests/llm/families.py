"""Eight families of endpoints, each with what its documentation says that it takes, refuses and gives back.

They answer the questions of a trial (`tests/trial_questions.py`) rightly, so that whatever fails, fails between the
workbench and the endpoint. An argument that a family does not know is refused, or ignored, as that family does it.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

from chat_server import Answer, completion
from trial_questions import QUESTIONS

from workbench.steps import catalogue


def _whole(messages: list[dict]) -> str:
    return "\n\n".join(message["content"] for message in messages)


STEPS = catalogue()
REPLIES = {_whole(STEPS[one.step].messages(one.input)): one.reply for one in QUESTIONS}
BOUNDS = {"minLength", "maxLength", "minItems", "maxItems", "pattern"}


class Family:
    """`answer` and `get` for a `ChatServer`. `refusals` counts the requests that were not taken as they were."""

    window = 32_768
    host = ""  # by which `workbench.llm.negotiation.KNOWN` knows it

    def __init__(self):
        self.refusals, self._lock = 0, threading.Lock()

    def refuse(self, message: str, status: int = 400, **fields: Any) -> Answer:
        with self._lock:
            self.refusals += 1
        return status, {}, {"error": {"message": message, "type": "invalid_request_error", **fields}}

    def answer(self, asked: dict) -> Answer:
        return next(self.refused(asked), None) or self.said(asked, REPLIES[_whole(asked["messages"])])

    def refused(self, asked: dict) -> Iterator[Answer]:
        yield from ()

    def said(self, asked: dict, reply: str) -> Answer:
        return completion(reply)

    def get(self, path: str) -> Answer:
        return 404, {}, {"error": {"message": "no such path"}}


class OpenAIChat(Family):
    """Chat models of OpenAI. Structured outputs want every property required and nothing else allowed, and know no
    lengths of strings; JSON mode wants the word JSON in a message. Arguments that do not exist are refused."""

    known = frozenset(
        ("model", "messages", "temperature", "max_tokens", "max_completion_tokens", "seed", "response_format")
    )

    def refused(self, asked: dict) -> Iterator[Answer]:
        for name in asked.keys() - self.known - {"authorization", "path"}:
            yield self.refuse(f"Unrecognized request argument supplied: {name}", param=name)
        wanted = asked.get("response_format", {})
        if wanted.get("type") == "json_object" and "json" not in _whole(asked["messages"]).lower():
            said = (
                "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
            )
            yield self.refuse(said, param="messages")
        if wanted.get("type") == "json_schema":
            name = wanted["json_schema"]["name"]
            for keyword in keywords(wanted["json_schema"]["schema"]) & {"minLength", "maxLength"}:
                yield self.refuse(
                    f"Invalid schema for response_format '{name}': In context=('properties', 'x'), '{keyword}' is not "
                    "permitted.", param="response_format", code=None,
                )  # fmt: skip


class OpenAIReasoning(OpenAIChat):
    """Reasoning models of OpenAI: `max_completion_tokens`, no temperature but 1, an effort of a few words; reasoning is
    paid for and not shown, and what it leaves of the limit is the answer's."""

    known = OpenAIChat.known | {"reasoning_effort"}
    thinks = 700

    def refused(self, asked: dict) -> Iterator[Answer]:
        if "max_tokens" in asked:
            yield self.refuse(
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' "
                "instead.", param="max_tokens", code="unsupported_parameter",
            )  # fmt: skip
        if asked.get("temperature", 1) != 1:
            yield self.refuse(
                f"Unsupported value: 'temperature' does not support {asked['temperature']} with this model. Only the "
                "default (1) value is supported.", param="temperature", code="unsupported_value",
            )  # fmt: skip
        if (effort := asked.get("reasoning_effort", "medium")) not in ("minimal", "low", "medium", "high"):
            yield self.refuse(
                f"Unsupported value: 'reasoning_effort' does not support '{effort}' with this model. Supported values "
                "are: 'minimal', 'low', 'medium', and 'high'.", param="reasoning_effort", code="unsupported_value",
            )  # fmt: skip
        yield from super().refused(asked)

    def said(self, asked: dict, reply: str) -> Answer:
        limit, thinks = (
            asked["max_completion_tokens"],
            self.thinks // (4 if asked.get("reasoning_effort") == "low" else 1),
        )
        cut = limit < thinks + 200
        used = limit if cut else thinks + 40
        _, _, body = completion("" if cut else reply, "length" if cut else "stop", 90, used)
        body["usage"]["completion_tokens_details"] = {"reasoning_tokens": min(limit, thinks)}
        return 200, {}, body


class VLLM(Family):
    """vLLM with a reasoning parser: flat errors, a window that prompt and answer must fit together, reasoning in a
    field of its own, extra arguments ignored."""

    window = 1_400

    def refuse(self, message: str, status: int = 400, **fields: Any) -> Answer:
        super().refuse(message)
        kind = "BadRequestError"
        return status, {}, {"object": "error", "message": message, "type": kind, "param": None, "code": status}

    def refused(self, asked: dict) -> Iterator[Answer]:
        prompt, wanted = len(_whole(asked["messages"])) // 4, asked["max_tokens"]
        if prompt + wanted > self.window:
            yield self.refuse(
                f"'max_tokens' or 'max_completion_tokens' is too large: {wanted}. This model's maximum context length "
                f"is {self.window} tokens and your request has {prompt} input tokens ({wanted} > {self.window} - "
                f"{prompt})."
            )

    def said(self, asked: dict, reply: str) -> Answer:
        thought = 'Maybe {"names": ["a draft"]}?'
        return completion(
            reply, reasoning_content=thought, reasoning=thought, prompt=len(_whole(asked["messages"])) // 4
        )

    def get(self, path: str) -> Answer:
        if path == "/v1/models":
            return 200, {}, {"object": "list", "data": [{"id": "test-model", "max_model_len": self.window}]}
        return super().get(path)


class LlamaCpp(Family):
    """llama.cpp's own server: busy while it loads, schemas compiled to grammars that may not repeat too much, thinking
    in a field, the window of a slot in `/props`."""

    window = 8_192
    repeats = 2_000

    def __init__(self):
        super().__init__()
        self._loading = True

    def refused(self, asked: dict) -> Iterator[Answer]:
        if self._loading:
            self._loading = False
            yield 503, {"Retry-After": "0"}, {"error": {"code": 503, "message": "Loading model"}}
        schema = asked.get("response_format", {}).get("json_schema", {}).get("schema")
        if schema is not None and most(schema) > self.repeats:
            yield self.refuse("Failed to initialize samplers: failed to parse grammar", code=400)
        prompt = len(_whole(asked["messages"])) // 4
        if prompt > self.window:
            yield self.refuse(
                f"request ({prompt} tokens) exceeds the available context size ({self.window} tokens), try increasing "
                "it", type="exceed_context_size_error", n_prompt_tokens=prompt, n_ctx=self.window,
            )  # fmt: skip

    def said(self, asked: dict, reply: str) -> Answer:
        status, headers, body = completion(reply, reasoning_content="Let me see.")
        return status, headers, {**body, "timings": {"predicted_n": 3}, "__verbose": None}

    def get(self, path: str) -> Answer:
        if path == "/props":
            return 200, {}, {"default_generation_settings": {"n_ctx": self.window}, "total_slots": 1}
        return super().get(path)


class Ollama(Family):
    """Ollama's endpoint of this protocol: it ignores what it does not know, older releases schemas among it, and then
    the model writes fences; a long prompt is cut without a word; the window is told at `/api/show` and `/api/ps`."""

    window = 4_096

    def answer(self, asked: dict) -> Answer:
        if asked["path"] == "/api/show":
            info = {"general.architecture": "llama", "llama.context_length": 131_072}
            return 200, {}, {"model_info": info, "parameters": f'stop "x"\nnum_ctx {self.window}'}
        return super().answer(asked)

    def said(self, asked: dict, reply: str) -> Answer:
        fenced = f"Here it is:\n```json\n{reply}\n```" if reply.startswith("{") else reply
        return completion(f"<think>\nWell, {{}}?\n</think>\n\n{fenced}")

    def get(self, path: str) -> Answer:
        if path == "/api/ps":
            return 200, {}, {"models": []}
        if path == "/v1/models":
            return 200, {}, {"object": "list", "data": [{"id": "test-model", "object": "model", "owned_by": "library"}]}
        return super().get(path)


class Azure(Family):
    """An Azure deployment of an older version of the API: no seed, no schemas, limits by rate with a wait in a header,
    errors with a code of its own."""

    def __init__(self):
        super().__init__()
        self._busy = True

    def refused(self, asked: dict) -> Iterator[Answer]:
        if self._busy:
            self._busy = False
            said = "Requests have exceeded call rate limit of your current pricing tier. Please retry after 0 seconds."
            yield 429, {"Retry-After": "0"}, {"error": {"code": "429", "message": said}}
        if "seed" in asked:
            yield self.refuse("Unrecognized request argument supplied: seed", param=None, code=None)
        if asked.get("response_format", {}).get("type") == "json_schema":
            yield self.refuse(
                "response_format value as json_schema is enabled only for api versions 2024-08-01-preview and later",
                type="", param="", code="BadRequest",
            )  # fmt: skip
        if any(message["role"] == "system" for message in asked["messages"]):
            yield self.refuse(
                "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
                param="messages[0].role", code="unsupported_value",
            )  # fmt: skip

    def said(self, asked: dict, reply: str) -> Answer:
        status, headers, body = completion(reply)
        safe = {"hate": {"filtered": False, "severity": "safe"}}
        body["choices"][0] |= {"content_filter_results": safe, "logprobs": None}
        return status, headers, {**body, "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": safe}]}


class Anthropic(Family):
    """Claude behind its layer for clients of OpenAI: formats, seeds and efforts are ignored without a word, so the
    model writes as it likes; a temperature beyond 1 is not; the fields of refusals and fingerprints are empty."""

    host = "api.anthropic.com"

    def refused(self, asked: dict) -> Iterator[Answer]:
        if ignored := asked.keys() & {"response_format", "seed", "reasoning_effort"}:
            raise AssertionError(f"{ignored} would be ignored, and a run that says they were sent would be wrong")
        if not 0 <= asked["temperature"] <= 1:
            yield self.refuse("temperature: range: 0..1")

    def said(self, asked: dict, reply: str) -> Answer:
        written = f"Here is the answer:\n\n```json\n{reply}\n```" if reply.startswith("{") else reply
        status, headers, body = completion(written, refusal=None)
        return status, headers, {**body, "system_fingerprint": ""}


class Gemini(Family):
    """Gemini behind its layer for clients of OpenAI: names that it does not know are refused, as a list with an error
    of Google's form, and so are schemas with too many bounds."""

    def refuse(self, message: str, status: int = 400, **fields: Any) -> Answer:
        super().refuse(message)
        violations = [{"@type": "type.googleapis.com/google.rpc.BadRequest",
                       "fieldViolations": [{"description": message}]}]  # fmt: skip
        whole = {"code": status, "message": message, "status": "INVALID_ARGUMENT", "details": violations}
        return status, {}, [{"error": whole}]

    def refused(self, asked: dict) -> Iterator[Answer]:
        if "seed" in asked:
            yield self.refuse('Invalid JSON payload received. Unknown name "seed": Cannot find field.')
        schema = asked.get("response_format", {}).get("json_schema", {}).get("schema")
        if schema is not None and len(re.findall(r'"max(?:Length|Items)"', json.dumps(schema))) > 2:
            yield self.refuse("The specified schema produces a constraint that has too many states for serving. "
                              "Typical causes of this error are schemas with long maxItems.")  # fmt: skip


FAMILIES: dict[str, Callable[[], Family]] = {
    "OpenAI chat": OpenAIChat, "OpenAI reasoning": OpenAIReasoning, "vLLM": VLLM, "llama.cpp": LlamaCpp,
    "Ollama": Ollama, "Azure": Azure, "Anthropic": Anthropic, "Gemini": Gemini,
}  # fmt: skip


def keywords(schema: Any) -> set[str]:
    """The lengths and patterns in a schema."""
    if isinstance(schema, list):
        return set().union(*map(keywords, schema)) if schema else set()
    return (schema.keys() & BOUNDS) | keywords(list(schema.values())) if isinstance(schema, dict) else set()


def most(schema: Any) -> int:
    """The highest repetition in the grammar of a schema."""
    return max((int(n) for n in re.findall(r'"max(?:Length|Items)": (\d+)', json.dumps(schema))), default=0)
