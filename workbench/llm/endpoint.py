"""The innermost call: one request to an OpenAI-compatible endpoint, for an answer (chat) or for vectors (embeddings).

Only the client object holds the key. The key and a login in the address are taken out of everything that comes back,
answers and error messages, as they stand and as they stand in a header. The HTTP libraries log no requests.
"""

from __future__ import annotations

import base64
import logging
import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np

from workbench import tokens
from workbench.errors import EngineRefused, SettingError
from workbench.llm.call import REASONING, Call, CallFailed, EmbeddingRequest, Reply, Request, Transient, open_address
from workbench.llm.negotiation import FEWEST, ROUNDS, Negotiation, Refused, negotiation
from workbench.llm.payloads import of_message
from workbench.text import storable

Redact = Callable[[str], str]  # takes secrets out of a text

NO_KEY = "none"  # local servers require a key but ignore it
_SHORT = 8  # characters below which a key or a password may occur in other words
_LIBRARIES = ("openai", "httpx", "httpx2", "httpcore", "httpcore2")
_MARK = "[key]"

_NO_COMPLETION = "the endpoint's answer is not a chat completion"
_NO_VECTORS = "the endpoint's answer is not a list of embeddings"
_LONGEST = 2_000_000  # characters of an answer with its reasoning
_COMPLAINT = 10_000  # characters of an error that are read
_TOKENS = 10**9  # of one reply; a server that reports more reports none
_CODED = "<f4"  # how the protocol codes a vector in base64: float32, little-endian


def endpoint(
    base_url: str | None = None,
    api_key: str | None = None,
    *,
    timeout: float = 120.0,
    structured: str = "auto",
    reasoning: int = REASONING,
    http_client: Any = None,
) -> Call:
    """A call to the endpoint at `base_url` (OPENAI_BASE_URL, or OpenAI's own).

    `structured` states how JSON is requested: by schema, as any JSON object, or by the prompt alone; `auto` is the
    first of these that the endpoint takes. What else it does not take is left out (`workbench.llm.negotiation`).
    `reasoning` is what a model that reasons gets for it beyond the limit of a Step, in tokens. `timeout` is in seconds,
    per request. `http_client` replaces the client library's own.
    """
    Negotiation(structured)  # which refuses another word
    if isinstance(reasoning, bool) or not isinstance(reasoning, int) or reasoning < 0:
        raise SettingError(f"reasoning={reasoning!r}; it should be a whole number of tokens from 0 on")
    connection = connect(base_url, api_key, timeout, http_client)

    def call(request: Request) -> Reply:
        agreed = negotiation(str(connection.client.base_url), request.model, structured)
        reply, roomy = _complete(connection, agreed, request, reasoning)
        if reply.reasoning or reply.reasoning_tokens:
            agreed.reasons()
            if reply.finish == "length" and not roomy and reasoning:  # its reasoning took what the answer needed
                again, _ = _complete(connection, agreed, request, reasoning)
                reply = _both(reply, again)
        return reply

    return call


def _complete(connection: _Connection, agreed: Negotiation, request: Request, reasoning: int) -> tuple[Reply, bool]:
    """The reply to a request as the endpoint takes it, and whether its limit had room for reasoning."""
    started, share = time.perf_counter(), 1  # of the tokens
    for _ in range(ROUNDS):
        dialect = agreed.dialect
        most = dialect.limit(request, reasoning) // share
        arguments = dialect.arguments(request, most)
        ask = lambda client, sent=arguments: client.chat.completions.create(**sent)  # noqa: E731
        outcome = connection.outcome(_model(request), _NO_COMPLETION, ask)
        if isinstance(outcome, Refused) and outcome.of_length and most >= 2 * FEWEST:
            share *= 2
        elif not (isinstance(outcome, Refused) and agreed.learn(dialect, request, outcome)):
            break
    if isinstance(outcome, Exception):
        raise outcome
    reply = reply_of(outcome, time.perf_counter() - started, connection.blot)
    return replace(reply, sent=agreed.sent(dialect, request)), dialect.reasons


def _both(first: Reply, second: Reply) -> Reply:
    """The second reply, at the cost of both."""
    costs = ("prompt_tokens", "completion_tokens", "reasoning_tokens", "seconds")
    return replace(second, **{name: getattr(first, name) + getattr(second, name) for name in costs})


def embeddings(
    base_url: str | None = None, api_key: str | None = None, *, timeout: float = 120.0, http_client: Any = None
) -> Call:
    """A call for vectors: a text per message of the request, and a line per vector in the reply (`coded`)."""
    connection = connect(base_url, api_key, timeout, http_client)

    def call(request: EmbeddingRequest) -> Reply:
        started = time.perf_counter()
        sized = {} if request.dimensions is None else {"dimensions": request.dimensions}
        answer = connection.ask(
            _model(request),
            _NO_VECTORS,
            lambda client: client.embeddings.create(
                model=request.model, input=list(request.texts), encoding_format="base64", **sized
            ),
        )
        lines = map(coded, _vectors(answer, len(request.texts), request.dimensions))
        usage, seconds = getattr(answer, "usage", None), time.perf_counter() - started
        return Reply("\n".join(lines), prompt_tokens=_count(usage, "prompt_tokens"), seconds=seconds)

    return call


@dataclass(frozen=True, repr=False)
class _Connection:
    """A client with the address and the time limit that its messages name, and what removes secrets from a text."""

    client: Any
    url: str | None
    timeout: float
    blot: Redact

    def ask(self, what: str, no_answer: str, send: Callable[[Any], Any]) -> Any:
        """The client's answer; the fault of its error is raised here, where that error and its key are not attached."""
        answer = self.outcome(what, no_answer, send)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def outcome(self, what: str, no_answer: str, send: Callable[[Any], Any]) -> Any:
        """The client's answer, or the fault behind its error. `what` is requested."""
        import openai

        from workbench.llm.transport import Elsewhere, Unacceptable

        try:
            return send(self.client)
        except openai.APITimeoutError as error:
            if type(error.__cause__).__name__ == "ConnectTimeout":
                return Transient(f"{where(self.url)} gave no answer within {self.timeout:g} s", unreachable=True)
            # A failure of one input, which is recorded: recordings contain no address.
            return Transient(f"the endpoint gave no answer within {self.timeout:g} s")
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, Elsewhere):
                to = shortened(open_address(self.blot(str(error.__cause__))))
                return EngineRefused(
                    f"{where(self.url)} sends requests on to {to}, where neither key nor prompt is sent; "
                    "name that address if you trust it"
                )
            if isinstance(error.__cause__, Unacceptable):
                return CallFailed(f"{no_answer}: {error.__cause__}")
            message = f"{where(self.url)} cannot be reached: {error.__cause__ or error}"
            return Transient(self.blot(message), unreachable=True)
        except openai.APIStatusError as error:
            return _status_error(error, what, self.blot)
        except (openai.APIError, ValueError, RecursionError) as error:
            return CallFailed(f"{no_answer}: {shortened(self.blot(str(error)))}")


def _model(request: Request) -> str:
    return f"the model {request.model!r}"


def connect(base_url: str | None, api_key: str | None, timeout: float, http_client: Any = None) -> _Connection:
    import openai

    from workbench.llm.transport import Client

    url, key = _given(base_url, api_key)
    if not key:
        raise EngineRefused(
            "no key for the OpenAI endpoint: set OPENAI_API_KEY, or name a local server: "
            "openai:<model>@http://127.0.0.1:8000/v1"
        )
    if not re.fullmatch("[!-~]+", key):  # the client's error about it would quote the key
        raise SettingError(
            "the key for the endpoint has a space, a line break or a letter outside ASCII; set it again without"
        )
    for name in _LIBRARIES:  # they log addresses and headers
        logging.getLogger(name).setLevel(logging.WARNING)
    client = openai.OpenAI(
        api_key=key, base_url=url, max_retries=0, timeout=timeout, http_client=http_client or Client()
    )  # fmt: skip
    return _Connection(client, url, timeout, blot_of(url, key))


def blot_of(base_url: str | None = None, api_key: str | None = None) -> Redact:
    """What removes the key and the login for an endpoint from a text that may hold them."""
    url, key = _given(base_url, api_key)
    parts = urlsplit(url or "")
    login = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    password = parts.password or parts.username or ""
    return blotter([key, password, unquote(password), base64.b64encode(login.encode()).decode() if password else ""])


def _given(base_url: str | None, api_key: str | None) -> tuple[str | None, str]:
    """(address, key), as given or from the environment; the key is empty if there is none."""
    url = base_url or os.environ.get("OPENAI_BASE_URL") or None
    try:
        parts = urlsplit(url or "http://host")
        port = parts.port is None or parts.port > 0
        usable = parts.scheme in ("http", "https") and parts.hostname and port and not parts.query
    except ValueError:
        usable = False
    if not usable:
        raise SettingError(
            f"{where(url)!r} is not the address of an endpoint; it should be like http://127.0.0.1:8000/v1 (no query)"
        )
    return url, (api_key or os.environ.get("OPENAI_API_KEY") or (NO_KEY if url else "")).strip()


def where(url: str | None) -> str:
    """An address for messages and manifests: without user, password and query."""
    return open_address(url) if url else "the OpenAI endpoint"


def reply_of(response: Any, seconds: float, blot: Redact) -> Reply:
    """The reply of a response. The client does not validate it, so any part may be missing or of another type."""
    try:
        choice, usage = response.choices[0], getattr(response, "usage", None)
        message, refusal = choice.message, getattr(choice.message, "refusal", None)
        if not hasattr(message, "content"):
            raise TypeError
    except (AttributeError, LookupError, TypeError):
        raise CallFailed(f"{_NO_COMPLETION}: it has no choice with a message") from None
    if refusal:
        raise CallFailed(f"the model refused: {shortened(blot(str(refusal)))}")
    try:
        reasoning, content = of_message(message)
    except ValueError as error:
        raise CallFailed(f"{_NO_COMPLETION}: {error}") from None
    if len(content) + len(reasoning) > _LONGEST:
        raise CallFailed(f"{_NO_COMPLETION}: it has {len(content) + len(reasoning):,} characters")
    finish = shortened(blot(str(getattr(choice, "finish_reason", None) or "stop")), 100)
    if finish == "content_filter" and not content:
        raise CallFailed("the endpoint's content filter withheld the answer")
    completion, served = _count(usage, "completion_tokens"), getattr(response, "system_fingerprint", None)
    reasoned = _count(getattr(usage, "completion_tokens_details", None), "reasoning_tokens")
    return Reply(
        text=blot(content),
        finish=finish,
        prompt_tokens=_count(usage, "prompt_tokens"),
        completion_tokens=completion,
        seconds=seconds,
        fingerprint=shortened(blot(served), 100) if isinstance(served, str) else "",
        reasoning=blot(reasoning),
        reasoning_tokens=reasoned or min(tokens.count(reasoning), completion),  # if not reported, as cl100k
    )


def coded(vector: np.ndarray) -> str:
    """A float32 vector as base64, the form in which recordings hold it."""
    return base64.b64encode(vector.astype(_CODED).tobytes()).decode("ascii")


def decoded(text: str) -> np.ndarray:
    """The vector that `coded` wrote, float32, shape (dimension,); ValueError if it is none."""
    return np.frombuffer(base64.b64decode(text, validate=True), dtype=_CODED)


def _vectors(response: Any, texts: int, dimensions: int | None) -> np.ndarray:
    """A vector per text, in their order, float32 (n, d), finite and none of them zero; CallFailed for anything else."""
    data = getattr(response, "data", None)
    if not isinstance(data, list):
        raise CallFailed(f"{_NO_VECTORS}: it has no list `data`")
    if len(data) != texts:
        raise CallFailed(f"the endpoint gave {len(data):,} vectors for {texts:,} texts")
    try:
        with np.errstate(over="ignore"):  # beyond float32: infinite, and refused as such
            vectors = np.array([_numbers(getattr(item, "embedding", None)) for item in _in_order(data)], np.float32)
    except (ValueError, OverflowError) as error:
        raise CallFailed(f"{_NO_VECTORS}: {shortened(str(error), 100)}") from None
    if not np.isfinite(vectors).all():
        raise CallFailed("the endpoint gave a vector that holds NaN or an infinite number")
    if not vectors.any(axis=1).all():
        raise CallFailed("the endpoint gave an empty vector, or one of zeros, which has no direction")
    if dimensions is not None and vectors.shape[1] != dimensions:
        raise CallFailed(f"the endpoint gave vectors of {vectors.shape[1]} dimensions, asked for {dimensions}")
    return vectors


def _in_order(data: Sequence[Any]) -> list[Any]:
    """By their index, which servers that keep the order may leave out."""
    given = [getattr(item, "index", None) for item in data]
    by_index = {str(row if index is None else index): item for row, (index, item) in enumerate(zip(given, data))}
    if missing := [row for row in range(len(data)) if str(row) not in by_index]:
        raise CallFailed(f"{_NO_VECTORS}: none of its entries has the index {missing[0]}")
    return [by_index[str(row)] for row in range(len(data))]


def _numbers(value: Any) -> Any:
    """A vector, of a list of numbers or of base64."""
    if isinstance(value, str):
        return decoded(value)
    if not isinstance(value, list) or not all(type(number) in (int, float) for number in value):
        raise ValueError("an embedding is no list of numbers")
    return value


def _count(usage: Any, name: str) -> int:
    value = usage.get(name, 0) if isinstance(usage, dict) else getattr(usage, name, 0)
    return value if type(value) is int and 0 <= value < _TOKENS else 0


def _status_error(error, what: str, blot: Redact) -> Exception:
    body = f" - {error.response.text}" if str(error) == f"Error code: {error.status_code}" else ""  # Gemini's is a list
    status, whole = error.status_code, blot(f"{error}{body}")[:_COMPLAINT]
    message = shortened(whole)  # a key cut in two would not be found
    if status == 429 or status >= 500 or status == 408:
        return Transient(f"HTTP {status}: {message}", wait=_retry_after(error.response.headers))
    if status in (401, 403):
        return EngineRefused(f"the endpoint refuses the key (HTTP {status}): {message}")
    if status == 404:
        return EngineRefused(f"the endpoint does not know {what} or the path (HTTP 404): {message}")
    return Refused(f"HTTP {status}: {message}", whole, blot(str(getattr(error, "param", None) or "")))


def _retry_after(headers) -> float | None:
    """Seconds that the server asks to wait; None without a usable value."""
    with suppress(ValueError):
        seconds = float(headers.get("retry-after", ""))
        return seconds if 0 <= seconds < float("inf") else None
    return None


def shortened(text: str, limit: int = 500) -> str:
    """A text as a message quotes it."""
    return text if len(text) <= limit else text[:limit] + "…"


def blotter(secrets: Iterable[str]) -> Redact:
    """What replaces secrets wherever they stand in a text, and lone surrogates with them.

    A short secret, most likely a placeholder such as "x", is replaced only as a whole word: other words may contain it.

    >>> blotter(["sk-4f9a81c2"])("Authorization: Bearer sk-4f9a81c2")
    'Authorization: Bearer [key]'
    """
    words = (
        re.escape(secret) if len(secret) >= _SHORT else rf"(?<!\w){re.escape(secret)}(?!\w)"
        for secret in sorted({*secrets} - {"", NO_KEY}, key=len, reverse=True)
    )  # fmt: skip
    pattern = re.compile("|".join(words) or "(?!)")
    return lambda text: pattern.sub(_MARK, storable(text))
