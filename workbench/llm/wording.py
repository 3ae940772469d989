"""Prompts from files: the wording of a source that may not be copied into this package, brought by its user.

    engine = wb.engine("openai:gpt-4o-mini", prompts="prompts/hipporag2")  # a folder: one file for each Step

`<step>.toml` has the messages of a Step. `{question}` stands for a field of its input, `{rules.allowed_types}` for one
of a field; other braces are text, and `{{question}}` is the word in braces. What is no text is written as JSON, or as
`[lists.<field>]` says:

    [[messages]]
    role = "user"
    content = "{passages}\\n\\nQuestion: {question}"

    [lists.passages]            # {0}, {1}: the parts of an item, here title and text, or their names
    each = "Title: {0}\\n{1}"
    between = "\\n\\n"

    [reply]                     # how the reply is read, if not as the Step's own: each of these may be left out
    after = "## answer"         # what precedes the first of these, and
    before = "## end"           # what follows the next of these, does not count
    names = { fact = "facts" }  # a name in its JSON → that of the Step
    text = "answer"             # it is no JSON: the whole of it is this field of the output, and others are empty

`<step>.open.toml` has those of a reader's mode `open`. A file is only text: nothing in it is executed. Runs and layers
name its wording by a hash and by what it is to the prompts that sources print (`workbench.llm.fingerprints`), so that
results made with it are told apart (`reflect v1 file 0123456789ab same 100% of youtu-a8.2`), and a table of the paper
counts it as the source's wording. Of other texts its user can say so (`wb.tables(…, source_prompts=[…])`).

Our own texts stand in `workbench/steps/prompts/<step>.md`, and the Steps put them together (`texts`)."""

from __future__ import annotations

import dataclasses
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import BaseModel, TypeAdapter

from workbench.errors import SettingError
from workbench.llm.fingerprints import Verdict, recognised
from workbench.llm.step import Message, Step, known_steps
from workbench.text import storable, text_hash

ROLES = ("system", "user", "assistant")
LONGEST = 200_000  # characters of a file
_NAME = r"\w+(?:\.\w+)?"
_FIELD = re.compile(rf"\{{\{{({_NAME})\}}\}}|\{{({_NAME})\}}")
_PARTS = {"messages", "lists", "reply"}
_OURS = Path(__file__).parents[1] / "steps" / "prompts"
_NAMED = re.compile(r"^=== (.+)\n", re.MULTILINE)


def texts(step: str) -> dict[str, str]:
    """Name → text, of the texts of a Step's own prompt.

    In the file, a line `=== system` begins the text of this name, and a blank line before the next one ends it. A
    backslash at the end of a line continues it in the next. Nothing else is markup."""
    _, *found = _NAMED.split((_OURS / f"{step}.md").read_text(encoding="utf-8").replace("\\\n", "") + "\n")
    return {name: text[:-2] for name, text in zip(found[::2], found[1::2])}


def example(text: str, kind: Any) -> Any:
    """A worked example, which the file has as JSON, as what the Step takes or gives."""
    return TypeAdapter(kind).validate_json(text)


@dataclass(frozen=True)
class Wording:
    """The messages of a file, as the `prompt` of a Step."""

    messages: tuple[tuple[str, str], ...]  # role, template
    lists: Mapping[str, Mapping[str, str]] = dataclasses.field(default_factory=dict, hash=False)
    reply: Mapping[str, Any] = dataclasses.field(default_factory=dict, hash=False)

    def __call__(self, value: Any) -> list[Message]:
        fields = {name: self._written(name, attrgetter(name)(value)) for name in self.fields}
        return [{"role": role, "content": _filled(content, fields)} for role, content in self.messages]

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The fields of the input that the messages name."""
        found = (one[2] for _, content in self.messages for one in _FIELD.finditer(content) if one[2])
        return tuple(dict.fromkeys(found))

    @cached_property
    def text(self) -> str:
        """All that is said, by whomever."""
        return "\n".join(content for _, content in self.messages)

    @cached_property
    def hash(self) -> str:
        """12 hex digits for what is sent and how the reply is read, however the file writes it."""
        return text_hash(json.dumps([self.messages, self.lists, self.reply], sort_keys=True))[:12]

    def _written(self, name: str, value: Any) -> str:
        if isinstance(value, str):
            return value
        if (how := self.lists.get(name)) is None:
            return json.dumps(value, ensure_ascii=False, default=_plain)
        return how["between"].join(_filled(how["each"], _parts(one)) for one in value)


def worded(step: Step, prompts: Mapping[str, Wording] | None) -> Step:
    """The Step with the wording that the prompts have for it, or for its mode. A Step of this name that is somebody
    else's keeps its own."""
    wording, known = (prompts or {}).get(step.file), known_steps().get(step.name)
    if wording is None or known is None or step.prompt is not (known.open if step.mode else known.prompt):
        return step
    read = step.read if not wording.reply else _Reading(step, wording.reply)
    labels = () if wording.reply else step.labels  # which are forced on no other form of reply
    return dataclasses.replace(step, prompt=wording, read=read, labels=labels)


def wordings(given: str | Path | Mapping[str, Wording]) -> dict[str, Wording]:
    """Step → its wording, from a folder with a TOML file for each. Raises :class:`SettingError` for a folder or file
    that cannot be read, a Step that there is not, and a field that its input has not."""
    if isinstance(given, Mapping):
        return dict(given)
    folder = Path(given)
    files = sorted(folder.glob("*.toml")) if folder.is_dir() else []
    if not files:
        raise SettingError(f"prompts={str(given)!r}; it should be a folder with a file <step>.toml for each Step")
    return {path.stem: read_wording(path) for path in files}


def held(given: str | Path | Mapping[str, Wording]) -> dict[str, Verdict | None]:
    """File → what it is to the prompts that sources print for its Step; None where it is none of them."""
    return {file: recognised(one.text, file) for file, one in wordings(given).items()}


def read_wording(path: Path) -> Wording:
    """The wording of one file, whose name is that of a Step (`Step.file`)."""
    try:
        text = path.read_text(encoding="utf-8")
        given = tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise SettingError(f"the prompt {path} cannot be read: {error}") from None
    name, _, mode = path.stem.partition(".")
    step = known_steps().get(name)
    if step is None:
        raise SettingError(f"the prompt {path}: no Step is called {name!r}; there are {', '.join(known_steps())}")
    if mode and (mode != "open" or step.open is None):
        opened = ", ".join(one.opened.file for one in known_steps().values() if one.open)
        raise SettingError(f"the prompt {path}: {name} has no mode {mode!r}; there are {opened}")
    if len(text) > LONGEST:
        raise SettingError(f"the prompt {path} has {len(text):,} characters; at most {LONGEST:,} are read")
    if unknown := given.keys() - _PARTS:
        raise SettingError(f"the prompt {path} has {min(unknown)!r}; it may have {', '.join(sorted(_PARTS))}")
    wording = Wording(_messages(path, given), _lists(path, given), _reply(path, step, given))
    if not wording.fields:
        raise SettingError(f"the prompt {path} names no field of the input, such as {{question}}: it would ask nothing")
    known = _input_of(step)
    if known and (unknown := {*wording.fields, *wording.lists} - known):
        raise SettingError(f"the prompt {path}: {step.name} has no {min(unknown)!r}; it has {', '.join(sorted(known))}")
    return wording


def _messages(path: Path, given: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    found = given.get("messages")
    said = [(one.get("role"), one.get("content")) for one in found] if _tables(found) else []
    if not said or not all(role in ROLES and isinstance(content, str) for role, content in said):
        raise SettingError(f"the prompt {path} needs [[messages]] with a role ({', '.join(ROLES)}) and a content")
    if said[-1][0] != "user":
        raise SettingError(f"the prompt {path} ends with a message of {said[-1][0]}; the last one should be of user")
    return tuple((role, storable(content)) for role, content in said)


def _lists(path: Path, given: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    found = given.get("lists", {})
    if not isinstance(found, dict) or not all(
        isinstance(one, dict) and {*one} == {"each", "between"} and all(isinstance(text, str) for text in one.values())
        for one in found.values()
    ):
        raise SettingError(f"the prompt {path}: [lists.<field>] should have the texts each and between, and no more")
    return found


def _reply(path: Path, step: Step, given: Mapping[str, Any]) -> dict[str, Any]:
    found = given.get("reply", {})
    kinds = {"after": str, "before": str, "names": dict, "text": str}
    if not isinstance(found, dict) or not all(isinstance(one, kinds.get(key, ())) for key, one in found.items()):
        raise SettingError(f"the prompt {path}: [reply] may have the texts after, before and text, and the table names")
    if (whole := found.get("text")) is not None and whole not in (has := step.output.model_fields):
        raise SettingError(f"the prompt {path}: text={whole!r} is no field of what {step.name} gives: {', '.join(has)}")
    return found


def _tables(found: Any) -> bool:
    return isinstance(found, list) and all(isinstance(one, dict) for one in found)


def _input_of(step: Step) -> set[str]:
    """The fields of the input of a Step, and theirs, as its prompt declares it; none where it does not."""
    hints = [kind for name, kind in get_type_hints(step.prompt).items() if name != "return"]
    own = _fields_of(hints[0]) if hints else {}
    return {*own, *(f"{name}.{inner}" for name, kind in own.items() for inner in _fields_of(kind))}


def _fields_of(kind: Any) -> dict[str, Any]:
    """Name → type of the fields of a record, none of anything else."""
    if dataclasses.is_dataclass(kind):
        return {one.name: get_type_hints(kind)[one.name] for one in dataclasses.fields(kind)}
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {name: one.annotation for name, one in kind.model_fields.items()}
    return {}


def _plain(record: Any) -> Any:
    """A record as JSON has it."""
    return record.model_dump() if isinstance(record, BaseModel) else vars(record)


def _parts(item: Any) -> dict[str, str]:
    """What an item of a list is made of, by number, of a record by name too."""
    named = {} if isinstance(item, str | list | tuple) else _plain(item)
    parts = [item] if isinstance(item, str) else list(named.values() or item)
    return {str(name): str(part) for name, part in [*enumerate(parts), *named.items()]}


def _filled(template: str, fields: Mapping[str, str]) -> str:
    """One pass: what a field says is never read as a template."""
    return _FIELD.sub(lambda one: f"{{{one[1]}}}" if one[1] else fields.get(one[2], one[0]), template)


@dataclass(frozen=True)
class _Reading:
    """Reads the part of a reply that counts as the Step's own parser does, or as JSON with other names."""

    step: Step
    how: Mapping[str, Any] = dataclasses.field(hash=False)

    def __call__(self, text: str) -> BaseModel:
        from workbench.llm.payloads import payloads

        if (after := self.how.get("after")) is not None:
            _, cue, text = text.partition(after)
            if not cue:
                raise ValueError(f"no {after!r} in the reply")
        if (before := self.how.get("before")) is not None:
            text = text.partition(before)[0]
        if (whole := self.how.get("text")) is not None:
            return self.step.output.model_validate(dict.fromkeys(self.step.output.model_fields, "") | {whole: text})
        if self.step.read is not None:
            return self.step.read(text.strip())
        problem: Exception = ValueError("no JSON found")
        for payload in payloads(text):
            try:
                return self.step.output.model_validate(_renamed(payload.value, self.how.get("names", {})))
            except ValueError as error:
                problem = error
        raise problem


def _renamed(payload: Any, names: Mapping[str, str]) -> Any:
    return {names.get(key, key): value for key, value in payload.items()} if isinstance(payload, dict) else payload


def together(step: Step, engines: Sequence[Any]) -> str:
    """How a run names the wording of a Step that these engines may be asked: one, or all of them if they differ."""
    asked = (worded(step, getattr(engine, "prompts", None)).wording for engine in engines)
    return " or ".join(dict.fromkeys(asked)) or step.wording
