"""What an endpoint takes for a model: found out once, from what it refuses, and remembered while the process lives.

Endpoints of one protocol differ. Reasoning models of OpenAI want `max_completion_tokens` and neither a temperature nor
a system message that others need; some servers know no `seed`, no JSON schema, or not every keyword of one. They say
so in an HTTP 400 that names the argument, which is then left out or renamed, and the request sent again. What was
changed stands in each reply (`Dialect.said`), so that a run can say it.

An argument that somebody asked for (`effort=…`, `structured=json_schema`) is never dropped.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from workbench.errors import EngineRefused, SettingError
from workbench.llm.call import CallFailed, Request
from workbench.llm.step import is_label

STRUCTURED = ("json_schema", "json_object", "none")  # how JSON is asked for, the strictest first
_LIMITS = ("max_tokens", "max_completion_tokens")
_ROUNDS = 12  # refusals in a row after which an endpoint is taken at its word
_FEWEST = 16  # tokens worth asking for where the window holds no more
_BOUNDS = (
    "minLength", "maxLength", "pattern", "format", "minItems", "maxItems", "uniqueItems", "minimum", "maximum",
    "exclusiveMinimum", "exclusiveMaximum",
)  # fmt: skip
_WINDOW = re.compile(
    r"context (?:length|size|window)|context_length|exceed_context|reduce the length|too (?:large|long|many)", re.I
)
_LONGEST = re.compile(r"at most (\d+) (?:completion|output) tokens|max_tokens is \[1, ?(\d+)\]")
_HELD = re.compile(r"maximum context length is (\d+)|\"?n_ctx\"?'?: (\d+)")
_ASKED = re.compile(r"\((\d+) in the messages|has (\d+) input tokens|messages resulted in (\d+)")
_AT_LEAST = re.compile(r"contains at least \d+ input tokens")
_OF_SCHEMA = re.compile(r"invalid schema|json.?schema conversion|parse grammar|(?<!_)schema (?:contains|is)", re.I)
_OF_FORMAT = re.compile(r"response_format|json_schema|json_object|structured outputs?|guided|grammar", re.I)


class Refused(CallFailed):
    """A request that the endpoint does not take as it is (HTTP 400 or 422), with all that it `said`, secrets removed,
    and the argument that it names, if it names one apart."""

    def __init__(self, message: str, said: str, param: str = ""):
        super().__init__(message)
        self.said, self.param = said, param


@dataclass(frozen=True)
class Dialect:
    """What is sent. `refused` are the names that the endpoint does not take: arguments, keywords of JSON schema, and
    `system` for messages of this role. `loose` names a Step once if its schema is sent without lengths, and twice if it
    is not sent at all, though others are; `most` is the endpoint's own limit of tokens.

    `reasons` says that the model has been seen to reason before it answers, for which its limit is enlarged.
    """

    structured: str = STRUCTURED[0]
    refused: frozenset[str] = frozenset()
    loose: tuple[str, ...] = ()
    most: int | None = None
    reasons: bool = False

    def limit(self, request: Request, reasoning: int, most: int | None = None) -> int:
        """Tokens that the reply may have; `reasoning` are those for reasoning, of a model that does, and `most` those
        for which the window has room."""
        limit = request.max_tokens + (reasoning if self.reasons else 0)
        return min(one for one in (limit, self.most, most) if one is not None)

    def arguments(self, request: Request, reasoning: int, most: int | None = None) -> dict[str, Any]:
        """The request as arguments of a chat completion."""
        limit = next((name for name in _LIMITS if name not in self.refused), None)
        sent = {"temperature": request.temperature, "seed": request.seed, "reasoning_effort": request.effort}
        return {
            "model": request.model,
            "messages": [*request.messages] if "system" not in self.refused else _without_system(request.messages),
            **({limit: self.limit(request, reasoning, most)} if limit else {}),
            **{name: value for name, value in sent.items() if value is not None and name not in self.refused},
            **self._response_format(request),
        }

    def mode(self, request: Request) -> str:
        """How JSON is asked for in this request."""
        if request.schema is None:
            return "none"
        mode = self.structured
        if mode == "json_schema" and self.loose.count(request.step) > 1:
            mode = "json_object"
        # A prompt that asks for a label does not say JSON, without which endpoints refuse `json_object`.
        return "none" if mode == "json_object" and is_label(request.schema) else mode

    def _response_format(self, request: Request) -> dict:
        mode = self.mode(request)
        if mode == "none":
            return {}
        if mode == "json_object":
            return {"response_format": {"type": "json_object"}}
        schema = _pruned(request.schema, self._keywords(request))
        named = {"name": re.sub(r"\W", "_", request.step), "schema": schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": named}}

    def _keywords(self, request: Request) -> frozenset[str]:
        return frozenset(_BOUNDS) if request.step in self.loose else self.refused & frozenset(_BOUNDS)

    def said(self, request: Request, asked_for: str) -> str:
        """How the request was sent otherwise than the workbench does: a phrase each, separated by `; `. `asked_for`
        is the way of asking for JSON that the engine began with."""
        return "; ".join(self._differences(request, asked_for))

    def _differences(self, request: Request, asked_for: str) -> Iterator[str]:
        if _LIMITS[0] in self.refused:
            yield f"{_LIMITS[1]} for {_LIMITS[0]}" if _LIMITS[1] not in self.refused else "no limit of tokens"
        yield from (f"no {name}" for name in ("temperature", "seed") if name in self.refused)
        if "system" in self.refused:
            yield "no system message: it begins the user's"
        if request.schema is not None and (mode := self.mode(request)) != asked_for:
            alone = f"{'a label' if is_label(request.schema) else 'JSON'} asked for by the prompt alone"
            yield f"{mode} for {asked_for}" if mode != "none" else alone
        elif request.schema is not None and (keywords := self._keywords(request)):
            yield "schema without " + ("lengths" if request.step in self.loose else ", ".join(sorted(keywords)))


class Negotiation:
    """The dialect of one endpoint and model, which all its callers share."""

    def __init__(self, structured: str = "auto", dialect: Dialect | None = None):
        if structured not in ("auto", *STRUCTURED):
            raise SettingError(f"structured={structured!r} is unknown; choose one of auto, {', '.join(STRUCTURED)}")
        self.asked_for = STRUCTURED[0] if structured == "auto" else structured
        self._fixed, self._dialect = structured != "auto", dialect or Dialect(self.asked_for)
        self._change = threading.Lock()

    @property
    def dialect(self) -> Dialect:
        return self._dialect

    def ask(self, request: Request, reasoning: int, send: Callable[[Dialect, int | None], Any]) -> tuple[Dialect, Any]:
        """(dialect, outcome) of the request as the endpoint takes it. `send` gets a dialect, and a limit of tokens
        where the window leaves room for no more, and gives an answer or an exception."""
        most = None
        for _ in range(_ROUNDS):
            dialect = self._dialect
            outcome = send(dialect, most)
            if not isinstance(outcome, Refused):
                break
            if left := _left(outcome.said, dialect.limit(request, reasoning, most)):
                most = left
            elif not self.learn(dialect, request, outcome):
                break
        return dialect, outcome

    def reasons(self) -> None:
        """Note that the model reasons."""
        with self._change:
            self._dialect = replace(self._dialect, reasons=True)

    def learn(self, sent: Dialect, request: Request, refusal: Refused) -> bool:
        """Whether the request is worth sending again: what it was refused for is now known, by us or by another."""
        with self._change:
            if self._dialect != sent:
                return True
            learned = self._without_what_it_names(request, refusal)
            changed = learned is not None and learned != self._dialect
            self._dialect = learned if changed else self._dialect
            return changed

    def _without_what_it_names(self, request: Request, refusal: Refused) -> Dialect | None:
        """The dialect without what a refusal is about; None if that is the input, or cannot be told."""
        dialect, said, names = self._dialect, refusal.said, _named(refusal)
        if "reasoning_effort" in names and request.effort:
            raise EngineRefused(
                f"{request.model!r} takes no effort={request.effort}; leave it out, or choose what it names: {refusal}"
            )
        if longest := _number(_LONGEST, said):
            return replace(dialect, most=longest)
        if _WINDOW.search(said):
            return None
        for name in (*_LIMITS, "temperature", "seed"):
            if name in names and name not in dialect.refused and not (
                name == _LIMITS[1] and _LIMITS[0] not in dialect.refused
            ):  # fmt: skip
                return replace(dialect, refused=dialect.refused | {name})
        if request.schema is not None and (_OF_SCHEMA.search(said) or _OF_FORMAT.search(said)):
            return self._looser(dialect, request, said)
        if "system" in said and re.search(r"\brole\b|messages\[\d+\]", said):
            return replace(dialect, refused=dialect.refused | {"system"})
        return None

    def _looser(self, dialect: Dialect, request: Request, said: str) -> Dialect | None:
        """Less of a schema: without the keywords that a refusal names; of a Step whose schema is too much, without its
        lengths, then none; otherwise the next way of asking for JSON, for all Steps."""
        mode = dialect.mode(request)
        named = frozenset(name for name in _BOUNDS if re.search(rf"['\"`]{name}\b", said)) - dialect.refused
        if mode == "json_schema" and named:
            return replace(dialect, refused=dialect.refused | named)
        if mode == "json_schema" and _OF_SCHEMA.search(said):
            has_lengths = _pruned(request.schema, frozenset(_BOUNDS)) != request.schema
            more = (request.step,) * (1 if has_lengths or request.step in dialect.loose else 2)
            looser = replace(dialect, loose=dialect.loose + more)
            return None if self._fixed and looser.mode(request) != mode else looser
        if self._fixed or mode == "none":
            return None
        return replace(dialect, structured=STRUCTURED[STRUCTURED.index(mode) + 1])


_negotiations: dict[tuple[str, str, str], Negotiation] = {}


def negotiation(address: str, model: str, structured: str) -> Negotiation:
    """The one of this process for a model at an address."""
    return _negotiations.setdefault((address, model, structured), Negotiation(structured))


def forget() -> None:
    """Forget what endpoints take, as after one was replaced by another at the same address."""
    _negotiations.clear()


def _named(refusal: Refused) -> set[str]:
    """Arguments that a refusal is about. `max_tokens` is not in `max_completion_tokens`, and where a text names both,
    the second is what it wants."""
    names = {name for name in (*_LIMITS, "temperature", "seed", "reasoning_effort") if _mentions(refusal, name)}
    return names - {_LIMITS[1]} if set(_LIMITS) <= names else names


def _mentions(refusal: Refused, name: str) -> bool:
    return refusal.param == name or re.search(rf"(?<![\w]){name}(?![\w])", refusal.said) is not None


def _left(said: str, asked: int) -> int | None:
    """Fewer tokens than were `asked` for, which the window leaves for a reply beside the prompt, from a refusal
    that names both; None if that is not the reason, or hardly any are left."""
    window, prompt = _number(_HELD, said), _number(_ASKED, said)
    left = window - prompt if window and prompt else asked // 2 if _AT_LEAST.search(said) else 0
    return left if _FEWEST <= left < asked else None


def _number(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.search(text)
    return int(next(filter(None, found.groups()))) if found else None


def _without_system(messages: tuple[dict[str, str], ...]) -> list[dict[str, str]]:
    """Models without a system role read it at the beginning of the first message."""
    if not messages or messages[0]["role"] != "system" or len(messages) == 1:
        return [{**message, "role": "user"} if message["role"] == "system" else message for message in messages]
    system, first, *rest = messages
    return [{**first, "content": f"{system['content']}\n\n{first['content']}"}, *rest]


def _pruned(schema: Any, without: frozenset[str]) -> Any:
    if not without or not isinstance(schema, dict | list):
        return schema
    if isinstance(schema, list):
        return [_pruned(item, without) for item in schema]
    kept = {name: _pruned(value, without) for name, value in schema.items() if name not in without}
    if "properties" in schema:  # their names are no keywords
        kept["properties"] = {name: _pruned(value, without) for name, value in schema["properties"].items()}
    return kept
