"""The innermost call: one request to an OpenAI-compatible chat endpoint.

The key lives in the client object alone. Everything that comes back, answers and error messages, has it blotted out before
anybody sees it: endpoints do echo headers.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from urllib.parse import urlsplit, urlunsplit

from workbench.errors import EngineRefused, SettingError
from workbench.llm.call import Call, CallFailed, Reply, Request
from workbench.llm.retry import Transient

STRUCTURED = ("json_schema", "json_object", "none")
_NO_KEY = "none"  # local servers want some key and read none


def endpoint(
    base_url: str | None = None, api_key: str | None = None, *, timeout: float = 120.0, structured: str = "json_schema"
) -> Call:
    """A call to the endpoint at `base_url` (OPENAI_BASE_URL, or OpenAI's own).

    `structured` says how JSON is asked for: by schema (default), as any JSON object, or by the prompt alone, for servers that know
    neither. `timeout` is in seconds, per request.
    """
    import openai

    if structured not in STRUCTURED:
        raise SettingError(f"structured={structured!r} is unknown; choose one of {', '.join(STRUCTURED)}")
    url = base_url or os.environ.get("OPENAI_BASE_URL") or None
    key = api_key or os.environ.get("OPENAI_API_KEY") or (_NO_KEY if url else None)
    if key is None:
        raise EngineRefused(
            "no key for the OpenAI endpoint: set OPENAI_API_KEY, or name a local server: openai:<model>@http://127.0.0.1:8000/v1"
        )
    client = openai.OpenAI(api_key=key, base_url=url, max_retries=0, timeout=timeout)
    blot = _blotter(key, url)

    def call(request: Request) -> Reply:
        started = time.perf_counter()
        try:
            # An error that names the key must not be chained either: tracebacks are shown in notebooks.
            response = client.chat.completions.create(
                model=request.model,
                messages=list(request.messages),
                temperature=request.temperature,
                max_tokens=request.max_tokens,
                seed=request.seed,
                **_response_format(request, structured),
            )
        except openai.APITimeoutError:
            raise Transient(f"no answer within {timeout:.0f} s") from None
        except openai.APIConnectionError as error:
            raise Transient(
                blot(f"{where(url)} cannot be reached: {error.__cause__ or error}"), unreachable=True
            ) from None
        except openai.APIStatusError as error:
            raise _status_error(error, request, blot) from None
        except (openai.APIError, ValueError) as error:
            raise CallFailed(blot(f"the endpoint's answer is not a chat completion: {error}")) from None
        return _reply(response, time.perf_counter() - started, blot)

    return call


def where(url: str | None) -> str:
    """An address fit for a message or a manifest: without user, password or query."""
    if not url:
        return "the OpenAI endpoint"
    parts = urlsplit(url)
    host = parts.hostname or ""
    return urlunsplit((parts.scheme, f"{host}:{parts.port}" if parts.port else host, parts.path, "", ""))


def _response_format(request: Request, structured: str) -> dict:
    if request.schema is None or structured == "none":
        return {}
    if structured == "json_object":
        return {"response_format": {"type": "json_object"}}
    schema = {"name": re.sub(r"\W", "_", request.step), "schema": request.schema, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def _reply(response, seconds: float, blot: Callable[[str], str]) -> Reply:
    choices = getattr(response, "choices", None)
    if not choices or choices[0].message is None:
        raise CallFailed("the endpoint answered without a choice")
    choice, usage = choices[0], getattr(response, "usage", None)
    if getattr(choice.message, "refusal", None):
        raise CallFailed(blot(f"the model refused: {choice.message.refusal}"))
    return Reply(
        text=blot(choice.message.content or ""),
        finish=choice.finish_reason or "stop",
        prompt_tokens=getattr(usage, "prompt_tokens", 0) or 0,
        completion_tokens=getattr(usage, "completion_tokens", 0) or 0,
        seconds=seconds,
    )


def _status_error(error, request: Request, blot: Callable[[str], str]) -> Exception:
    status, said = error.status_code, blot(_shorten(str(error)))
    if status == 429 or status >= 500 or status == 408:
        return Transient(f"HTTP {status}: {said}", wait=_retry_after(error.response.headers))
    if status in (401, 403):
        return EngineRefused(f"the endpoint refuses the key (HTTP {status}): {said}")
    if status == 404:
        return EngineRefused(f"the endpoint does not know the model {request.model!r} or the path (HTTP 404): {said}")
    hint = "; if the server does not know JSON schemas, use structured='json_object' or 'none'" if request.schema else ""
    return CallFailed(f"HTTP {status}: {said}{hint}")


def _retry_after(headers) -> float | None:
    """Seconds that the server asks to wait; None where it says nothing usable (a date, say)."""
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None


def _shorten(text: str, limit: int = 500) -> str:
    return text if len(text) <= limit else text[:limit] + "…"


def _blotter(key: str, url: str | None) -> Callable[[str], str]:
    """Replaces the key, and a password in the address, wherever they turn up."""
    password = urlsplit(url).password if url else None
    secrets = [secret for secret in (key, password) if secret and secret != _NO_KEY]

    def blot(text: str) -> str:
        for secret in secrets:
            text = text.replace(secret, "[key]")
        return text

    return blot
