"""Settings, and SPECs, which are a name with settings.

A SPEC is a method, a reader or an encoder with its settings as one string, which is also its label in results:

    spec  := name | name '[' key '=' value {',' key '=' value} ']'
    value := number | true | false | none | spec

The settings of a thing are a frozen dataclass whose annotations say which values it accepts, checked by pydantic.

@validated
class Settings:
    damping: Probability = 0.5
    policy: Literal["keep", "drop"] = "keep"

What does not fit raises :class:`SettingError`, which names the value and what is expected. No string becomes a number,
no truth value a count and no `2` a `2.0`, because labels and `run.json` show a setting as it was given; only a float of
numpy becomes a plain one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field, fields
from functools import wraps
from types import NoneType
from typing import Annotated, Any, Literal, TypeVar, cast, dataclass_transform, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import ConfigDict, Field, ValidationError
from pydantic.dataclasses import dataclass
from pydantic.fields import FieldInfo

from workbench.errors import SettingError

T = TypeVar("T")
Number = int | float  # pydantic turns a whole number into a `float` where that alone is asked for
Positive = Annotated[int, Field(ge=1)]
Natural = Annotated[int, Field(ge=0)]
Tokens = Annotated[int, Field(ge=0, title="number of tokens")]
Budget = Annotated[int, Field(ge=1, title="whole number of tokens")]
NonNegative = Annotated[Number, Field(ge=0)]
Share = Annotated[Number, Field(ge=0, le=1, title="share")]
Probability = Annotated[Number, Field(ge=0, lt=1, title="probability")]
Cosine = Annotated[Number, Field(ge=-1, le=1, title="cosine")]

_CONFIG = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, arbitrary_types_allowed=True)
_TYPES = {int: "whole number", float: "number", Number: "number", str: "string", tuple: "list"}
_BOUNDS = ((Ge, "from {}"), (Gt, "above {}"), (Le, "to {}"), (Lt, "to below {}"))


@dataclass_transform(frozen_default=True)
def validated(cls: type[T]) -> type[T]:
    """A frozen pydantic dataclass that raises :class:`SettingError` for a value its annotations refuse."""
    made: Any = dataclass(frozen=True, config=_CONFIG)(cls)
    init = made.__init__

    @wraps(init)
    def __init__(self: Any, *args: Any, **given: Any) -> None:
        try:
            init(self, *args, **given)
        except ValidationError as error:
            raise _explained(made, error.errors()[0]) from None

    made.__init__ = __init__
    return made


def settle(what: str, cls: type[T], given: Mapping[str, Any], profiles: Mapping[str, Mapping[str, Any]] = {}) -> T:
    """The settings `given` over those of their profile, by default the first; :class:`SettingError` with the known
    names where `what` has no such setting or profile."""
    check_names(what, (field.name for field in fields(cast(Any, cls))), given)
    if not profiles:
        return cls(**given)
    profile = given.get("profile", next(iter(profiles)))
    if profile not in profiles:
        raise SettingError(f"{what} has no profile {profile!r}; it has {', '.join(profiles)}")
    return cls(**{**profiles[profile], **given})


def changed(settings: Any) -> dict[str, Any]:
    """Name → value of the settings that differ from their defaults."""
    values = {field.name: (getattr(settings, field.name), field.default) for field in fields(settings)}
    return {name: value for name, (value, default) in values.items() if value != default}


def neutral(default: Any) -> Any:
    """The default of a setting that changes no result at it, such as a filter that lets everything pass: there it is no
    condition of a number."""
    return field(default=default, metadata={"neutral": True})


def without_effect(settings: Any) -> dict[str, Any]:
    """Name → value of the settings that change no result at this value (`neutral`)."""
    return {field.name: field.default for field in fields(settings) if field.metadata.get("neutral")}


def check_names(what: str, names: Iterable[str], given: Iterable[str]) -> None:
    """Refuse names of settings that `what` does not have."""
    names = list(names)
    if unknown := [name for name in given if name not in names]:
        raise SettingError(f"{what} has no setting {unknown[0]!r}; it has {', '.join(names) or 'none'}")


def defaults(thing: Any) -> dict[str, Any]:
    """Name → default of every setting of a method, reader or compressor: the fields of its `Settings`, else the
    keyword-only arguments of its constructor."""
    if settings := getattr(thing, "Settings", None):
        return {field.name: field.default for field in fields(settings)}
    return dict(thing.__init__.__kwdefaults__ or {})


def accepted(cls: Any) -> dict[str, str]:
    """Name → the values that a setting accepts, in words, for each field of a settings class."""
    return {name: _accepts(field) for name, field in cls.__pydantic_fields__.items()}


def _accepts(field: FieldInfo) -> str:
    if choices := _choices(field.annotation):
        return f"one of {', '.join(choices)}"
    return _expected(field.annotation, [field])


def _explained(cls: Any, error: Mapping[str, Any]) -> Exception:
    raised = error.get("ctx", {}).get("error")
    if isinstance(raised, SettingError):  # of a check that looks at several settings
        return raised
    name, value = str(error["loc"][0]), error["input"]
    field = cls.__pydantic_fields__.get(name)
    if field is None:
        return SettingError(f"there is no setting {name!r}; there are {', '.join(cls.__pydantic_fields__)}")
    if choices := _choices(field.annotation):
        return SettingError(f"{name}={value!r} is unknown; choose one of {', '.join(choices)}")
    return SettingError(f"{name}={value!r}; it should be {_expected(field.annotation, [field])}")


def _choices(annotation: Any) -> list[str]:
    """The values that a `Literal`, optionally with None, allows; empty for other annotations."""
    if get_origin(annotation) is Literal:
        return [str(choice).lower() if choice is None else str(choice) for choice in get_args(annotation)]
    optional = [part for part in get_args(annotation) if part is not NoneType]
    if len(optional) == 1 and get_origin(annotation) is not tuple and (choices := _choices(optional[0])):
        return ["none", *choices]
    return []


def _expected(annotation: Any, metadata: Iterable[Any]) -> str:
    """An annotation in words: `a whole number of at least 1`, `none or a share, from 0 to 1`, `true or false`."""
    if get_origin(annotation) is Annotated:
        annotation, *inner = get_args(annotation)
        return _expected(annotation, [*metadata, *inner])
    if annotation is bool:
        return "true or false"
    parts = [part for part in get_args(annotation) if part is not NoneType]
    if annotation != Number and len(parts) < len(get_args(annotation)):
        return f"none or {_expected(parts[0], metadata)}"
    infos = [part for part in metadata if isinstance(part, FieldInfo)]
    title = next((info.title for info in infos if info.title), None)
    bounds = _bounds([bound for info in infos for bound in info.metadata])
    noun = title or _TYPES.get(get_origin(annotation) or annotation, _TYPES.get(annotation, str(annotation)))
    reason = next((f": {info.description}" for info in infos if info.description), "")
    return f"a {noun}" + (f"{',' * (title is not None and ' to ' in bounds)} {bounds}" if bounds else "") + reason


def _bounds(limits: Iterable[Any]) -> str:
    values = {type(limit): limit for limit in limits}
    bounds = [words.format(getattr(values[kind], kind.__name__.lower())) for kind, words in _BOUNDS if kind in values]
    return f"of at least {values[Ge].ge}" if Ge in values and len(bounds) == 1 else " ".join(bounds)


_NAME = re.compile(r"[\w./~][\w.:/~-]*")
_WORDS = {"true": True, "false": False, "none": None}


def parse_spec(spec: str) -> tuple[str, dict[str, Any]]:
    """(name, settings): `hipporag2[damping=0.5]` → ("hipporag2", {"damping": 0.5})."""
    name, bracket, rest = spec.strip().partition("[")
    if not _NAME.fullmatch(name) or (bracket and not rest.endswith("]")):
        raise SettingError(
            f"{spec!r} is not a SPEC; write name or name[key=value,…], such as hipporag2[profile=released]"
        )
    settings: dict[str, Any] = {}
    for pair in split_outside(rest[:-1], ",") if bracket else []:
        key, equals, value = pair.partition("=")
        if not equals or not _NAME.fullmatch(key.strip()) or key.strip() in settings:
            raise SettingError(f"{pair!r} in {spec!r} is not key=value, or repeats a key; write each key once")
        settings[key.strip()] = parse_value(value.strip())
    return name, settings


def parse_value(text: str) -> Any:
    """A number, true, false, none, or the text itself (which may be a SPEC)."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def spec_of(name: str, settings: Mapping[str, Any]) -> str:
    """The SPEC that `parse_spec` reads back; what has a `label` of its own, such as a method, goes by it.

    >>> spec_of("bdtr", {"backbone": "dense", "bgec": False})
    'bdtr[backbone=dense,bgec=false]'
    """
    settings_text = ",".join(f"{key}={_spelt(getattr(value, 'label', value))}" for key, value in settings.items())
    return f"{name}[{settings_text}]" if settings_text else name


def _spelt(value: Any) -> str:
    return next((word for word, meant in _WORDS.items() if value is meant), str(value))


def split_outside(text: str, mark: str) -> list[str]:
    """Split a text at the marks outside brackets.

    >>> split_outside("bm25+hipporag2[backbone=a+b]", "+")
    ['bm25', 'hipporag2[backbone=a+b]']
    """
    parts, depth = [""], 0
    for character in text:
        depth += (character == "[") - (character == "]")
        if character == mark and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    if depth:
        raise SettingError(f"the brackets in {text!r} do not match; close each [ with a ]")
    return [part.strip() for part in parts if part.strip()]
