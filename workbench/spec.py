"""SPECs: a method, a reader or an encoder with its settings as one string, which is also its label in results.

spec  := name | name '[' key '=' value {',' key '=' value} ']'
value := number | true | false | none | spec
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from workbench.errors import SettingError

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
    for pair in _split(rest[:-1]) if bracket else []:
        key, equals, value = pair.partition("=")
        if not equals or not _NAME.fullmatch(key.strip()) or key.strip() in settings:
            raise SettingError(f"{pair!r} in {spec!r} is not a new key=value")
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
    said = ",".join(f"{key}={_spelt(getattr(value, 'label', value))}" for key, value in settings.items())
    return f"{name}[{said}]" if said else name


def _spelt(value: Any) -> str:
    return next((word for word, meant in _WORDS.items() if value is meant), str(value))


def _split(text: str) -> list[str]:
    """Parts between the commas that stand outside brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "[") - (character == "]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    if depth:
        raise SettingError(f"the brackets in {text!r} do not match")
    return [part for part in parts if part.strip()]
