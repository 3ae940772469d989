"""The innermost call: one request to an OpenAI-compatible chat endpoint.

Only the client object holds the key. It is removed from everything that comes back, answers and error messages, before
anybody sees them, because endpoints may echo headers.
"""

from __future__ import annotations

import base64
import os
import re
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from workbench.errors import EngineRefused, SettingError
from workbench.llm.call import Call, CallFailed, Reply, Request
from workbench.llm.retry import Transient
from workbench.text import storable

STRUCTURED = ("json_schema", "json_object", "none")
_NO_KEY = "none"  # local servers require a key but ignore it
_SHORT = 8  # characters below which a key or a password may occur in other words
_NO_COMPLETION = "the endpoint's answer is not a chat completion"


def endpoint(
    base_url: str | None = None,
    api_key: str | None = None,
    *,
    timeout: float = 120.0,
    structured: str = "json_schema",
    http_client: Any = None,
) -> Call:
    """A call to the endpoint at `base_url` (OPENAI_BASE_URL, or OpenAI's own).

    `structured` states how JSON is requested: by schema (default), as any JSON object, or by the prompt alone, for
    servers that support neither. `timeout` is in seconds, per request. `http_client` replaces the client library's own.
    """
    import openai

    if structured not in STRUCTURED:
        raise SettingError(f"structured={structured!r} is unknown; choose one of {', '.join(STRUCTURED)}")
    url = base_url or os.environ.get("OPENAI_BASE_URL") or None
    key = (api_key or os.environ.get("OPENAI_API_KEY") or (_NO_KEY if url else "")).strip()
    if not key:
        raise EngineRefused(
            "no key for the OpenAI endpoint: set OPENAI_API_KEY, or name a local server: "
            "openai:<model>@http://127.0.0.1:8000/v1"
        )
    if not re.fullmatch("[!-~]+", key):  # the client's error about it would quote the key
        raise SettingError("the key for the endpoint holds a space, a line break or a letter not ASCII: set it again")
    address, login = _address(url)
    client = openai.OpenAI(
        api_key=key, base_url=address, max_retries=0, timeout=timeout, default_headers=login, http_client=http_client
    )
    blot = _blotter(key, url, login)

    def ask(request: Request) -> Any:
        """The client's answer, or the fault of its error. Raising it here would attach that error and its key."""
        try:
            return client.chat.completions.create(
                model=request.model,
                messages=list(request.messages),
                temperature=request.temperature,
                max_tokens=request.max_tokens,
                seed=request.seed,
                **_response_format(request, structured),
            )
        except openai.APITimeoutError as error:
            if type(error.__cause__).__name__ == "ConnectTimeout":
                return Transient(f"{where(url)} gave no answer within {timeout:g} s", unreachable=True)
            # A failure of one input, which is recorded: recordings contain no address.
            return Transient(f"the endpoint gave no answer within {timeout:g} s")
        except openai.APIConnectionError as error:
            return Transient(blot(f"{where(url)} cannot be reached: {error.__cause__ or error}"), unreachable=True)
        except openai.APIStatusError as error:
            return _status_error(error, request, blot)
        except (openai.APIError, ValueError, RecursionError) as error:
            return CallFailed(f"{_NO_COMPLETION}: {_shorten(blot(str(error)))}")

    def call(request: Request) -> Reply:
        started = time.perf_counter()
        answer = ask(request)
        if isinstance(answer, Exception):
            raise answer
        return _reply(answer, time.perf_counter() - started, blot)

    return call


def where(url: str | None) -> str:
    """An address for messages and manifests: without user, password and query."""
    return re.sub(r"(?<=//)[^?#]*@|[?#].*", "", url) if url else "the OpenAI endpoint"


def _address(url: str | None) -> tuple[str | None, dict[str, str]]:
    """The address without user and password, and the header that replaces them: the HTTP library logs addresses."""
    if not url:
        return None, {}
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable:
        raise SettingError(
            f"{where(url)!r} is not the address of an endpoint; it should be like http://127.0.0.1:8000/v1"
        )
    user, _, host = parts.netloc.rpartition("@")
    if not user:
        return url, {}
    login = base64.b64encode(f"{unquote(parts.username or '')}:{unquote(parts.password or '')}".encode()).decode()
    return urlunsplit(parts._replace(netloc=host)), {"Authorization": f"Basic {login}"}


def _response_format(request: Request, structured: str) -> dict:
    if request.schema is None or structured == "none":
        return {}
    if structured == "json_object":
        return {"response_format": {"type": "json_object"}}
    schema = {"name": re.sub(r"\W", "_", request.step), "schema": request.schema, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def _reply(response: Any, seconds: float, blot: Callable[[str], str]) -> Reply:
    """The client does not validate a server's reply, so any part of it may be missing or of another type."""
    try:
        choice, usage = response.choices[0], getattr(response, "usage", None)
        content, refusal = choice.message.content, getattr(choice.message, "refusal", None)
    except (AttributeError, LookupError, TypeError):
        raise CallFailed(f"{_NO_COMPLETION}: it has no choice with a message") from None
    if refusal:
        raise CallFailed(f"the model refused: {_shorten(blot(str(refusal)))}")
    if not isinstance(content, str | None):
        raise CallFailed(f"{_NO_COMPLETION}: its content is a {type(content).__name__} and no text")
    return Reply(
        text=blot(content or ""),
        finish=blot(str(getattr(choice, "finish_reason", None) or "stop")),
        prompt_tokens=_count(usage, "prompt_tokens"),
        completion_tokens=_count(usage, "completion_tokens"),
        seconds=seconds,
    )


def _count(usage: Any, name: str) -> int:
    value = getattr(usage, name, 0)
    return value if isinstance(value, int) else 0


def _status_error(error, request: Request, blot: Callable[[str], str]) -> Exception:
    status, said = error.status_code, _shorten(blot(str(error)))  # a key cut in two would not be found
    if status == 429 or status >= 500 or status == 408:
        return Transient(f"HTTP {status}: {said}", wait=_retry_after(error.response.headers))
    if status in (401, 403):
        return EngineRefused(f"the endpoint refuses the key (HTTP {status}): {said}")
    if status == 404:
        return EngineRefused(f"the endpoint does not know the model {request.model!r} or the path (HTTP 404): {said}")
    hint = "; if the server knows no JSON schemas, use structured='json_object' or 'none'" if request.schema else ""
    return CallFailed(f"HTTP {status}: {said}{hint}")


def _retry_after(headers) -> float | None:
    """Seconds that the server asks to wait; None without a usable value (for example a date)."""
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None


def _shorten(text: str, limit: int = 500) -> str:
    return text if len(text) <= limit else text[:limit] + "…"


def _blotter(key: str, url: str | None, login: dict[str, str]) -> Callable[[str], str]:
    """Replaces the key, and the login in the address, wherever they occur in a text, and lone surrogates with them.

    A short secret, most likely a placeholder such as "x", is replaced only as a whole word: other words may contain it.
    """
    parts = urlsplit(url or "")
    password = parts.password or parts.username or ""
    basic = login.get("Authorization", "").removeprefix("Basic ")
    secrets = sorted({key, password, unquote(password), basic} - {"", _NO_KEY}, key=len, reverse=True)
    forms = [re.escape(s) if len(s) >= _SHORT else rf"(?<!\w){re.escape(s)}(?!\w)" for s in secrets]
    found = re.compile("|".join(forms) or "(?!)")  # without a secret: never matches
    return lambda text: found.sub("[key]", storable(text))
