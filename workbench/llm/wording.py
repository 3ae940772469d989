"""Prompts from files: a source's own wording, which may not be copied into this package, supplied by the user.

    engine = wb.engine("openai:gpt-4o-mini", prompts="prompts/hipporag2")  # a folder: one file for each Step

`<step>.md` has the messages of a Step as ours have theirs (`workbench.llm.template`), `<step>.open.md` those of its
mode `open`. The last section may say in TOML how the reply is read, if not as the Step's own:

    === reply
    after = "## answer"         # what precedes the first of these, and
    before = "## end"           # what follows the next of these, does not count
    names = { fact = "facts" }  # a name in its JSON → that of the Step
    text = "answer"             # it is no JSON: the whole of it is this field of the output, and others are empty

A file is only text: nothing in it is executed. Runs and layers name its wording by a hash and by what it is to the
prompts that sources print (`workbench.llm.fingerprints`), so that results made with it are told apart (`reflect v1 file
0123456789ab same 100% of youtu-a8.2`), and a table of the paper counts it as the source's wording. Of other texts its
user can say so (`wb.tables(…, source_prompts=[…])`)."""

from __future__ import annotations

import dataclasses
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import BaseModel

from workbench.errors import SettingError
from workbench.llm.fingerprints import Verdict, recognised
from workbench.llm.step import Step, known_steps
from workbench.llm.template import PROMPTS, ROLES, Prompt, sections
from workbench.text import storable, text_hash

LONGEST = 200_000  # characters of a file
REPLY = "reply"  # the section of a file that says how a reply is read
_OURS = re.compile(r"(?P<step>\w+) (?P<version>v\d+) (?P<hash>[0-9a-f]{12})")


def worded(step: Step, prompts: Mapping[str, Prompt] | None) -> Step:
    """The Step with the wording that the prompts have for it, or for its mode. Another owner's Step of the same name
    keeps its own wording."""
    wording, ours = (prompts or {}).get(step.file), known_steps().get(step.name)
    if wording is None or ours is None or step.prompt != (ours.open if step.mode else ours.prompt):
        return step
    read = step.read if not wording.reply else _Reading(step, wording.reply)
    labels = () if wording.reply else step.labels  # which are forced on no other form of reply
    return dataclasses.replace(step, prompt=wording, read=read, labels=labels)


def wordings(given: str | Path | Mapping[str, Prompt]) -> dict[str, Prompt]:
    """Step → its wording, from a folder with a file for each. Raises :class:`SettingError` for a folder or file that
    cannot be read, a Step that there is not, and a field that its input has not."""
    if isinstance(given, Mapping):
        return dict(given)
    folder = Path(given)
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    if other := next((path for path in files if path.suffix == ".toml"), None):
        raise SettingError(
            f"the prompt {other} is not read; write it as a text, {other.stem}.md, like the prompts of the package"
        )
    prompts = {
        path.stem: read_wording(path)
        for path in files
        if path.suffix == ".md" and sections(path.read_text(encoding="utf-8", errors="replace"))
    }
    if not prompts:
        raise SettingError(f"prompts={str(given)!r}; it should be a folder with a file <step>.md for each Step")
    return prompts


def held(given: str | Path | Mapping[str, Prompt]) -> dict[str, Verdict | None]:
    """File → the verdict on its likeness to the prompts that sources print for its Step; None if it is none of them."""
    return {file: recognised(prompt.text, file) for file, prompt in wordings(given).items()}


def read_wording(path: Path) -> Prompt:
    """The wording in one file; the file's name is that of a Step (`Step.file`)."""
    try:
        text = path.read_text(encoding="utf-8")
        parts = sections(text)
        replies = [tomllib.loads(part) for name, part in parts if name == REPLY]
    except (OSError, ValueError) as error:
        raise SettingError(f"the prompt {path} cannot be read: {error}") from None
    name, _, mode = path.stem.partition(".")
    step = known_steps().get(name)
    if step is None:
        raise SettingError(f"the prompt {path}: no Step is called {name!r}; there are {', '.join(known_steps())}")
    if mode and (mode != "open" or step.open is None):
        opened = ", ".join(each.opened.file for each in known_steps().values() if each.open)
        raise SettingError(f"the prompt {path}: {name} has no mode {mode!r}; there are {opened}")
    if len(text) > LONGEST:
        raise SettingError(f"the prompt {path} has {len(text):,} characters; at most {LONGEST:,} are read")
    messages = _messages(path, [part for part in parts if part[0] != REPLY])
    reply = _reply(path, step, replies[0] if replies else {})
    digest = text_hash(json.dumps([messages, {}, reply], sort_keys=True))[:12]  # {} as when files listed lists apart
    prompt = Prompt(messages, digest, mode=mode, brought=True, reply=reply)
    _check_fields(path, step, prompt)
    return prompt


def _check_fields(path: Path, step: Step, prompt: Prompt) -> None:
    try:
        fields = prompt.fields
    except ValueError as error:
        raise SettingError(f"the prompt {path}: {error}") from None
    if not fields:
        raise SettingError(f"the prompt {path} names no field of the input, such as {{question}}: it would ask nothing")
    has = fields_of_input(step)
    has |= {*step.prompt.fields} if isinstance(step.prompt, Prompt) else set()  # and what our prompt computes
    if has and (unknown := {*fields} - has):
        raise SettingError(f"the prompt {path}: {step.name} has no {min(unknown)!r}; it has {', '.join(sorted(has))}")


def _messages(path: Path, parts: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    if unknown := {role for role, _ in parts} - {*ROLES}:
        raise SettingError(f"the prompt {path} has {min(unknown)!r}; it may have {', '.join((*ROLES, REPLY))}")
    if not parts or parts[-1][0] != "user":
        raise SettingError(f"the prompt {path} ends with another role; its last message should be of the user")
    return tuple((role, storable(content)) for role, content in parts)


def _reply(path: Path, step: Step, reply: dict[str, Any]) -> dict[str, Any]:
    kinds = {"after": str, "before": str, "names": dict, "text": str}
    if not all(isinstance(value, kinds.get(key, ())) for key, value in reply.items()):
        raise SettingError(f"the prompt {path}: reply may have the texts after, before and text, and the table names")
    if (whole := reply.get("text")) is not None and whole not in (has := step.output.model_fields):
        raise SettingError(
            f"the prompt {path}: text={whole!r} is not a field of {step.name}'s output; choose one of {', '.join(has)}"
        )
    return reply


def fields_of_input(step: Step) -> set[str]:
    """The fields of the input of a Step, and theirs, as its prompt declares it; none where it does not."""
    own = _fields_of(step.input)
    return {*own, *(f"{name}.{inner}" for name, kind in own.items() for inner in _fields_of(kind))}


def _fields_of(kind: Any) -> dict[str, Any]:
    """Name → type of the fields of a record, none of anything else."""
    if dataclasses.is_dataclass(kind):
        return {field.name: get_type_hints(kind)[field.name] for field in dataclasses.fields(kind)}
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {name: field.annotation for name, field in kind.model_fields.items()}
    return {}


@dataclass(frozen=True)
class _Reading:
    """Reads the part of a reply that counts as the Step's own parser does, or as JSON with other names."""

    step: Step
    how: Mapping[str, Any] = dataclasses.field(hash=False)

    def __call__(self, text: str) -> BaseModel:
        from workbench.llm.payloads import payloads
        from workbench.llm.shapes import fitted

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
                return fitted(self.step.output, _renamed(payload.value, self.how.get("names", {})))[0]
            except TypeError as error:  # no object
                problem = ValueError(str(error))
            except ValueError as error:
                problem = error
        raise problem


def _renamed(payload: Any, names: Mapping[str, str]) -> Any:
    return {names.get(key, key): value for key, value in payload.items()} if isinstance(payload, dict) else payload


def together(step: Step, engines: Sequence[Any]) -> str:
    """The name, in a run, of the wording of a Step that these engines are asked: one, or all of them if they differ."""
    wordings = (worded(step, getattr(engine, "prompts", None)).wording for engine in engines)
    return " or ".join(dict.fromkeys(wordings)) or step.wording


def current(wording: str) -> str:
    """A wording of ours as runs name it today. Earlier versions named it by the code of functions, in the table
    `prompts/earlier.json`; a wording that is not in it is another one.

    >>> current("answer v3 0f89c726fe09") == known_steps()["answer"].wording, current("answer v3 000000000000")
    (True, 'answer v3 000000000000')
    """
    named = _OURS.fullmatch(wording)
    file = _earlier().get(named["hash"]) if named else None
    if file is None or named is None or file.partition(".")[0] != named["step"]:
        return wording
    step = known_steps()[named["step"]]
    return f"{named['step']} {named['version']} {(step.opened if '.' in file else step).prompt_hash}"


@cache
def _earlier() -> dict[str, str]:
    """Earlier hash → the file of the Step that it named."""
    table = json.loads((PROMPTS / "earlier.json").read_text(encoding="utf-8"))
    return {digest: file for file, hashes in table.items() for digest in hashes}
