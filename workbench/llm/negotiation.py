"""What an endpoint accepts for a model: learned once, from what it refuses, and remembered while the process lives.

Endpoints of one protocol differ. Reasoning models of OpenAI want `max_completion_tokens` and neither a temperature nor
a system message that others need; some servers know no `seed`, no JSON schema, or no bounds in one. There is one rule:
where an HTTP 400 names an argument, it is renamed or left out, and the request sent again; where it says that prompt
and answer are too long, the answer may have half as many tokens. `KNOWN` holds what servers are known not to heed,
which would not say so. What was changed stands in each reply (`Dialect.differences`), so that a run can say it.

An argument that somebody asked for (`effort=…`, `structured=json_schema`) is never dropped.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from workbench.errors import EngineRefused, SettingError
from workbench.llm.call import CallFailed, Request
from workbench.llm.step import is_label, with_changes

STRUCTURED = ("json_schema", "json_object", "none")  # how JSON is asked for, the strictest first
WAYS = ("json_schema", "schema without lengths", "json_object", "none")  # one after the other, as they are refused
LIMIT, NEWER_LIMIT = "max_tokens", "max_completion_tokens"
LENGTHS = frozenset(
    ("minLength", "maxLength", "pattern", "format", "minItems", "maxItems", "uniqueItems", "minimum", "maximum",
     "exclusiveMinimum", "exclusiveMaximum")
)  # fmt: skip
ROUNDS = 12  # refusals in a row after which an endpoint is taken at its word
FEWEST = 64  # tokens worth asking for where the window holds no more
_TOO_LONG = re.compile(
    r"context (?:length|size|window)|context_length|exceed_context|reduce the length|too (?:large|long|many)|"
    r"at most \d+|max_tokens is \[", re.I
)  # fmt: skip
_OF_SCHEMA = re.compile(
    r"response_format|json_schema|json_object|structured outputs?|guided|grammar|invalid schema|"
    r"json.?schema conversion|(?<!_)schema (?:contains|is|produces)|\b(?:min|max)(?:Length|Items)\b",
    re.I,
)
_OF_SYSTEM = re.compile(r"\brole\b|messages\[\d+\]")


class Refused(CallFailed):
    """A request that the endpoint does not take as it is (HTTP 400 or 422), with its `reason`, secrets removed,
    and the argument that it names, if it names one apart."""

    def __init__(self, message: str, reason: str, param: str = ""):
        super().__init__(message)
        self.reason, self.param = reason, param

    @property
    def names(self) -> set[str]:
        """Words of the refusal, among which are arguments. Where it names both limits, the newer is what it wants."""
        words = set(re.findall(r"\w+", f"{self.param} {self.reason}"))
        return words - {NEWER_LIMIT} if LIMIT in words else words

    @property
    def of_length(self) -> bool:
        """Whether prompt and answer together, or the answer alone, are too long."""
        return bool(_TOO_LONG.search(self.reason)) and not _OF_SCHEMA.search(self.reason)


@dataclass(frozen=True)
class Dialect:
    """What is sent. `structured` is the way of asking for JSON, and `refused` are arguments that the endpoint does not
    take, `system` for messages of this role.

    `reasons` says that the model has been seen to reason before it answers, for which its limit is enlarged.
    """

    structured: str = STRUCTURED[0]
    refused: frozenset[str] = frozenset()
    reasons: bool = False

    def limit(self, request: Request, reasoning: int) -> int:
        """The tokens of the reply; `reasoning` are further tokens for models that reason."""
        return request.max_tokens + (reasoning if self.reasons else 0)

    def arguments(self, request: Request, most: int) -> dict[str, Any]:
        """The request as arguments of a chat completion, whose reply may have so many tokens."""
        optional = {
            LIMIT: most, "temperature": request.temperature, "seed": request.seed, "reasoning_effort": request.effort,
            "response_format": self._response_format(request), NEWER_LIMIT: most if LIMIT in self.refused else None,
        }  # fmt: skip
        sent = {name: value for name, value in optional.items() if value is not None and name not in self.refused}
        return {
            "model": request.model,
            "messages": [*request.messages] if "system" not in self.refused else _without_system(request.messages),
            **sent,
        }

    def way(self, request: Request) -> str:
        """The way in which JSON is requested, of `WAYS`."""
        # A prompt that asks for a label does not say JSON, without which endpoints refuse `json_object`.
        by_prompt = request.schema is None or (self.structured == "json_object" and is_label(request.schema))
        return "none" if by_prompt else self.structured

    def _response_format(self, request: Request) -> dict | None:
        way = self.way(request)
        if way in ("none", "json_object"):
            return {"type": way} if way == "json_object" else None
        schema = request.schema if way == "json_schema" else with_changes(request.schema, _unbounded)
        named = {"name": re.sub(r"\W", "_", request.step), "schema": schema, "strict": True}
        return {"type": "json_schema", "json_schema": named}

    def differences(self, request: Request, structured: str) -> Iterator[str]:
        """How the request was sent otherwise than the workbench does, a phrase each. `structured` is the way of asking
        for JSON that the engine began with."""
        if LIMIT in self.refused:
            yield f"{NEWER_LIMIT} for {LIMIT}" if NEWER_LIMIT not in self.refused else "no limit of tokens"
        yield from (f"no {name}" for name in ("temperature", "seed") if name in self.refused)
        if "system" in self.refused:
            yield "no system message: it begins the user's"
        if request.schema is not None and (way := self.way(request)) != structured:
            alone = f"{'a label' if is_label(request.schema) else 'JSON'} asked for by the prompt alone"
            yield {"none": alone, "json_object": f"{way} for {structured}"}.get(way, way)

    def without(self, request: Request, refusal: Refused, fixed: bool) -> Dialect | None:
        """The dialect without what a refusal names, None if that is the input, or cannot be told. `fixed`: the way of
        asking for JSON was chosen."""
        names = refusal.names
        if "reasoning_effort" in names and request.effort:
            raise EngineRefused(
                f"{request.model!r} takes no effort={request.effort}; leave it out, or choose what it names: {refusal}"
            )
        if refusal.of_length:
            return None
        for name in (LIMIT, NEWER_LIMIT, "temperature", "seed"):
            if name in names - self.refused and (name != NEWER_LIMIT or LIMIT in self.refused):
                return replace(self, refused=self.refused | {name})
        if (way := self.way(request)) != "none" and _OF_SCHEMA.search(refusal.reason):
            following = WAYS[WAYS.index(way) + 1]
            return None if fixed and following in STRUCTURED else replace(self, structured=following)
        if "system" in names and _OF_SYSTEM.search(f"{refusal.param} {refusal.reason}"):
            return replace(self, refused=self.refused | {"system"})
        return None


# Host → what its endpoint is documented to ignore without a word.
KNOWN = {
    "api.anthropic.com": Dialect("none", frozenset(("seed",))),  # https://docs.claude.com/en/api/openai-sdk
}


class Negotiation:
    """The dialect of one endpoint and model, which all its callers share."""

    def __init__(self, structured: str = "auto", dialect: Dialect | None = None):
        if structured not in ("auto", *STRUCTURED):
            raise SettingError(f"structured={structured!r} is unknown; choose one of auto, {', '.join(STRUCTURED)}")
        self.asked_for = STRUCTURED[0] if structured == "auto" else structured
        self._fixed, self.dialect = structured != "auto", dialect or Dialect(self.asked_for)
        self._change = threading.Lock()

    def reasons(self) -> None:
        """Note that the model reasons."""
        with self._change:
            self.dialect = replace(self.dialect, reasons=True)

    def learn(self, sent: Dialect, request: Request, refusal: Refused) -> bool:
        """Whether the request is worth sending again: the reason of its refusal is now known, by us or by another
        caller."""
        with self._change:
            if self.dialect == sent:
                self.dialect = sent.without(request, refusal, self._fixed) or sent
            return self.dialect != sent

    def sent(self, dialect: Dialect, request: Request) -> str:
        """The notes of a reply on how its request was sent, separated by `; `."""
        return "; ".join(dialect.differences(request, self.asked_for))


_negotiations: dict[tuple[str, str, str], Negotiation] = {}


def negotiation(address: str, model: str, structured: str) -> Negotiation:
    """The negotiation of this process with a model at an address."""
    begin = KNOWN.get(urlsplit(address).hostname or "") if structured == "auto" else None
    return _negotiations.setdefault((address, model, structured), Negotiation(structured, begin))


def forget() -> None:
    """Forget what endpoints accept, for an endpoint that was replaced at the same address."""
    _negotiations.clear()


def _without_system(messages: tuple[dict[str, str], ...]) -> list[dict[str, str]]:
    """Models without a system role read it at the beginning of the first message."""
    if not messages or messages[0]["role"] != "system" or len(messages) == 1:
        return [{**message, "role": "user"} if message["role"] == "system" else message for message in messages]
    system, first, *rest = messages
    return [{**first, "content": f"{system['content']}\n\n{first['content']}"}, *rest]


def _unbounded(schema: dict) -> dict:
    """The object of a schema without lengths."""
    return {name: value for name, value in schema.items() if name not in LENGTHS}
