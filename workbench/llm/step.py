"""A Step: one request to a language model, as a typed function over a batch.

A Step has a name, an input type, an output type (pydantic) and a prompt, which is a file of text
(`workbench.llm.template`). The Steps themselves are in `workbench/steps/`, their prompts in `prompts/` there. What does
the same job without a model stands in `workbench/rules/`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, TypeVar, cast, get_type_hints

from pydantic import BaseModel

from workbench.llm.fingerprints import recognised
from workbench.llm.template import PROMPTS, Prompt
from workbench.records import Record
from workbench.source import hash_of
from workbench.text import clean

I = TypeVar("I")  # noqa: E741
O = TypeVar("O", bound=BaseModel)  # noqa: E741

Message = dict[str, str]  # {"role": "system" | "user" | "assistant", "content": text}


_FORM = re.compile(r"Reply with [^\n]*\Z")  # what instructions end with

STEPS = "workbench.steps"  # found by place, because each of them imports this module
LABEL = "label"  # the property of an answer that is one label


def is_label(schema: dict | None) -> bool:
    """Whether a schema asks for a label, which the prompt asks for as a word."""
    return schema is not None and list(schema["properties"]) == [LABEL]


def known_steps() -> dict[str, Step]:
    """Every Step by name: those of the package and the registered ones."""
    return import_module(STEPS).catalogue()


@dataclass(frozen=True, repr=False)
class Step(Record, Generic[I, O]):
    """`prompt(input)` gives the messages.

    `read` turns free text into an output, for Steps whose answer is prose; without it the answer is JSON of the
    output's schema. A `read` whose answer is one of few `labels` may be asked for them by schema as well.

    `most` members of a list and `longest` characters of a text are what the schema lets a model write where the output
    sets no bounds of its own, since small models run on; None for no bound but `max_tokens`. Raise `version` whenever
    the meaning of the answer changes: what is made with the Step names it. `open` gives the messages of a reader's
    mode of this name, if the Step has such; `mode` says that they are those of the Step at hand.
    """

    name: str
    output: type[O]
    prompt: Callable[[I], list[Message]]
    read: Callable[[str], O] | None = None
    max_tokens: int = 512
    temperature: float = 0.0
    version: int = 1
    labels: tuple[str, ...] = ()
    most: int = 30
    longest: int | None = 600
    open: Callable[[I], list[Message]] | None = None
    mode: str = ""

    @classmethod
    def from_text(
        cls,
        name: str,
        input: type[I],
        output: type[O],
        *,
        folder: str | Path = PROMPTS,
        **options: Any,
    ) -> Step[I, O]:
        """The Step whose prompt is the file `<name>.md` of the folder, which may name the fields and properties of the
        input. Its mode `open` is that of the file, if it has words for it."""
        prompt = Prompt.read(Path(folder) / f"{name}.md", input)
        return cls(name, output, prompt, open=prompt.opened, **options)

    def messages(self, value: I) -> list[Message]:
        """What is sent: the prompt and, after the data, once more the form of the reply with which its instructions
        end, since models forget it over long data. A wording from a file is sent as it is, and a prompt that ends with
        the beginning of the reply ("Summary:") as well."""
        *between, last = self.prompt(value)
        form = _FORM.search(between[0]["content"]) if between and between[0]["role"] == "system" else None
        if form is None or self.from_file or last["content"].endswith(":"):
            return [*between, last]
        return [*between, {**last, "content": f"{last['content']}\n\n{form[0]}"}]

    @property
    def input(self) -> type | None:
        """The type of its inputs, as its prompt declares it; None where it does not."""
        if isinstance(self.prompt, Prompt):
            return self.prompt.input
        return next((kind for name, kind in get_type_hints(self.prompt).items() if name != "return"), None)

    @property
    def opened(self) -> Step:
        """The Step with the messages of the mode `open`."""
        return replace(self, prompt=cast(Any, self.open), mode="open")

    @property
    def file(self) -> str:
        """The name of a file with its messages, without its suffix."""
        return f"{self.name}.{self.mode}" if self.mode else self.name

    @property
    def identity(self) -> str:
        """Name and version, and of a wording from a file (`workbench.llm.wording`) its hash and what it is to the
        prompts that sources print: whoever reads the name later has no text to compare."""
        named = f"{self.name} v{self.version}"
        if not self.from_file:
            return named
        verdict = recognised(cast(Any, self.prompt).text, self.file)
        return " ".join([named, "file", self.prompt_hash, *([str(verdict)] if verdict else [])])

    @property
    def from_file(self) -> bool:
        """Whether its prompt is of a user's file, in place of its own."""
        return isinstance(self.prompt, Prompt) and self.prompt.brought

    @property
    def ours(self) -> bool:
        """Whether its prompt is a file of this package, whose examples are invented."""
        return isinstance(self.prompt, Prompt) and self.prompt.ours

    @property
    def wording(self) -> str:
        """The prompt's identity and the hash of its wording, as a run names it."""
        return self.identity if self.from_file else f"{self.identity} {self.prompt_hash}"

    @cached_property
    def prompt_hash(self) -> str:
        """Names the wording of the prompt by its text, or by the source of a function: results made with different
        wordings are not comparable."""
        if isinstance(self.prompt, Prompt):
            return self.prompt.hash
        return hash_of(self.prompt, versions=False)

    @cached_property
    def schema(self) -> dict | None:
        """JSON schema of the output in the strict form of the endpoints: every field required, nothing else allowed,
        every list and text bounded. Of a Step with labels, that of an object with one of them; None for other prose."""
        if self.labels:
            return _strict({"type": "object", "properties": {LABEL: {"type": "string", "enum": list(self.labels)}}})
        if self.read:
            return None
        bounded = partial(_bounded, most=self.most, longest=self.longest)
        return with_changes(self.output.model_json_schema(), lambda part: bounded(_strict(part)))

    def __repr__(self) -> str:
        return f"Step({self.identity}: {self.output.__name__})"


@dataclass(frozen=True)
class Usage:
    """The cost of calls when they were made, and how many of them returned less than requested.

    `money` is None where the price is unknown: unknown is not zero. `failed` gave nothing, `repaired` broken JSON,
    `cut` what reached the limit of tokens. `reasoning_tokens` are those of the completion that a model spent on
    reasoning. `recorded` were answered from a recording, so they cost nothing now. `by_rules` were answered by rules in
    place of the engine asked, which had no reply written.
    `seconds` and `recorded` are what differs between a run and its replay.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = field(default=0.0, compare=False)
    money: float | None = 0.0
    failed: int = 0
    repaired: int = 0
    cut: int = 0
    recorded: int = field(default=0, compare=False)
    reasoning_tokens: int = 0
    by_rules: int = 0

    def __add__(self, other: Usage) -> Usage:
        counts = {field.name: getattr(self, field.name) + getattr(other, field.name) for field in _COUNTS}
        return Usage(money=None if self.money is None or other.money is None else self.money + other.money, **counts)

    def as_dict(self) -> dict[str, Any]:
        """The fields by name; `by_rules` only where rules stood in."""
        return {name: value for name, value in asdict(self).items() if value or name != "by_rules"}


_COUNTS = tuple(field for field in fields(Usage) if field.name != "money")


@dataclass(frozen=True, repr=False)
class Result(Record, Generic[O]):
    """The result of one input. Exactly one of `value` and `failure` is None.

    `parse` says how the answer was read: `rules`, `strict`, `fenced`, `repaired` or `text`; `cut` if it was cut for
    length, so that something may be missing or unfinished; None where it could not be read. `reasoning` is what the
    model wrote before its answer `text`, and `sent` what the request was sent without.
    """

    value: O | None
    failure: str | None = None
    parse: str | None = None
    text: str = ""
    usage: Usage = Usage()
    messages: tuple[Message, ...] = field(default=(), compare=False)
    fingerprint: str = field(default="", compare=False)  # of the server's configuration, if it reports one
    reasoning: str = ""
    sent: str = ""

    def __repr__(self) -> str:
        # A model's text is printed in a terminal.
        return clean(f"Result({self.failure or repr(self.value)}, parse={self.parse})")


def with_changes(schema: Any, change: Callable[[dict], dict]) -> Any:
    """A JSON schema with a change applied to each of its objects, inner ones first. Names of properties are not
    keywords: one called "title" survives."""
    if isinstance(schema, list):
        return [with_changes(item, change) for item in schema]
    if not isinstance(schema, dict):
        return schema
    inside = {name: with_changes(value, change) for name, value in schema.items() if name != "properties"}
    if "properties" in schema:
        inside["properties"] = {name: with_changes(value, change) for name, value in schema["properties"].items()}
    return change({name: inside[name] for name in schema})


def _strict(schema: dict) -> dict:
    strict = {name: value for name, value in schema.items() if name not in ("title", "default")}
    if "properties" in schema:
        strict |= {"required": list(schema["properties"]), "additionalProperties": False}
        strict.pop("description", None)  # the docstring of the class, which is for readers of the code
    return strict


def _bounded(schema: dict, most: int, longest: int | None) -> dict:
    """The bounds are small on purpose: llama.cpp writes a rule of its grammar for each, and takes at most 2,000."""
    bounds = {"maxItems": most} if schema.get("type") == "array" else {}
    if schema.get("type") == "string" and longest is not None and not {"enum", "const"} & set(schema):
        bounds = {"maxLength": longest}
    return {**schema, **{name: bound for name, bound in bounds.items() if name not in schema}}
