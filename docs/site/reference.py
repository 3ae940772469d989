"""The pages of the reference, read off the code: the public names, the command line, and what is registered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from inspect import isclass, signature
from pathlib import Path
from typing import Any

# Page → title, what it holds, and what it documents: the classes and functions of a module, or those that are named.
MODULES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "records": (
        "Records",
        "What flows between the stages: frozen, typed, and displaying itself.",
        ("workbench.records", "workbench.trace"),
    ),
    "registry": (
        "Registry and settings",
        "What there is of each kind, how to add to it, and how settings are checked.",
        ("workbench.registry", "workbench.settings"),
    ),
    "protocols": (
        "Methods, readers, engines, encoders",
        "What a part of your own has to be.",
        (
            "workbench.methods.base:Method",
            "workbench.reading.base:Reader ContextReader Settings",
            "workbench.reading.compression.base:Compressor",
            "workbench.measures:Outcome",
            "workbench.llm.step:Step Result Usage",
            "workbench.llm.engine:Engine EngineBase",
            "workbench.encoding:Encoder Instructed",
            "workbench.index.layer:Layer Build",
        ),
    ),
    "errors": ("Errors", "By who can fix them.", ("workbench.errors",)),
}


def pages() -> dict[str, str]:
    """File name → contents of each page."""
    made = {"api.md": _api(), "commands.md": _commands(), "catalogue.md": _catalogue()}
    made |= {f"{name}.md": _modules(*of) for name, of in MODULES.items()}
    return made | {"README.md": _first()}


def _first() -> str:
    rows = [
        "* [Public names](api.md): what `import workbench as wb` gives",
        *(f"* [{title}]({name}.md): {_lowered(says)}" for name, (title, says, _) in MODULES.items()),
        "* [The command line](commands.md): every verb with its options",
        "* [The catalogue](catalogue.md): methods, readers, compressors, measures, layers, Steps, engines, data",
    ]
    return "\n".join(["# Reference", "", "Everything here is read off the code of this version.", "", *rows, ""])


# -- Python ------------------------------------------------------------------------------------------------------------


def _api() -> str:
    """The public names: classes with their public members, functions, and modules by name."""
    import workbench as wb

    lines = ["# Public names", "", "`import workbench as wb` loads each of these on first use.", ""]
    for name in wb.__all__:
        thing = getattr(wb, name)
        place = ".".join(filter(None, ("workbench", wb._MODULE_OF.get(name), name)))
        if isclass(thing):
            lines += [f"## {name}", "", *_directive("autoclass", place, members=True)]
        elif callable(thing):
            lines += [f"## {name}", "", *_directive("autofunction", place)]
    return "\n".join(lines)


def _modules(title: str, says: str, places: Iterable[str]) -> str:
    """The classes and functions of these places."""
    lines = [f"# {title}", "", says, ""]
    for place in places:
        module, _, named = place.partition(":")
        lines += [f"## {module}", ""]
        for name in named.split() or _defined_in(module):
            kind = "autoclass" if isclass(getattr(import_module(module), name)) else "autofunction"
            lines += _directive(kind, f"{module}.{name}", members=kind == "autoclass")
    return "\n".join(lines)


def _defined_in(module: str) -> Iterator[str]:
    """The public classes and functions that a module defines, but for the public names of the package."""
    import workbench as wb

    for name, thing in vars(import_module(module)).items():
        here = getattr(thing, "__module__", "") == module and hasattr(thing, "__qualname__")
        if here and callable(thing) and not name.startswith("_") and name not in wb.__all__:
            yield name


def _directive(kind: str, of: str, members: bool = False) -> list[str]:
    return ["```{eval-rst}", f".. {kind}:: {of}", *(["   :members:"] if members else []), "```", ""]


# -- the command line --------------------------------------------------------------------------------------------------


def _commands() -> str:
    """Every verb: what it does, its arguments and its options with their defaults."""
    from typer.main import get_command

    from workbench.cli.app import app

    root = get_command(app)
    lines = ["# The command line", "", f"{root.help} Every verb has `--help`.", ""]
    for words, command in _verbs(root, ("workbench",)):
        called, parameters = " ".join(words), [one for one in command.params if one.name != "help"]
        arguments = [one for one in parameters if one.param_type_name == "argument"]
        metavars = " ".join(one.metavar or one.name.upper() for one in arguments)
        lines += [f"## {called}", "", *_paragraphs(command.help), f"    {called} {metavars}".rstrip(), ""]
        rows = [_option(one) for one in parameters]
        lines += [_table(["name", "what it is", "default"], rows)] if rows else []
    return "\n".join(lines)


def _verbs(command: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, one in getattr(command, "commands", {}).items():
        if hasattr(one, "commands"):
            yield from _verbs(one, (*words, name))
        elif not one.hidden:
            yield (*words, name), one


def _option(one: Any) -> list[str]:
    """Its names, what it says, its default."""
    names = one.opts + one.secondary_opts if one.param_type_name == "option" else [one.metavar or one.name.upper()]
    default = one.default if isinstance(one.default, str | int | float | list | tuple) else None
    said = ", ".join(map(str, default)) if isinstance(default, list | tuple) else default
    shown = "" if said in (None, "", False) else f"`{said}`" if said is not True else "yes"
    text = (one.help or "").replace("\\[", "[")  # which is escaped for the terminal
    return [", ".join(f"`{name}`" for name in names), _escaped(text), shown]


# -- what is registered ------------------------------------------------------------------------------------------------


def _catalogue() -> str:
    """Everything that a SPEC, an option or a setting can name."""
    from workbench.cli import catalogue
    from workbench.encoding import ENCODERS
    from workbench.index.building import LAYERS
    from workbench.llm.engine import KINDS
    from workbench.steps import catalogue as steps

    parts: dict[str, tuple[str, list[Mapping[str, str]]]] = {
        "Methods": ("", [{**_plain(row), "method": _page(row["method"])} for row in catalogue.methods()]),
        "Readers": ("See [Readers](../reading.md).", [*map(_plain, catalogue.readers())]),
        "Compressors": ("See [Compression](../compression.md).", [*map(_plain, catalogue.compressors())]),
        "Measures": ("See [Measures](../measures.md).", [*map(_plain, catalogue.measures())]),
        "Layers": ("", [{"layer": kind, "holds": _said(layer), "settings": _fields(options)}
                        for kind, (layer, options) in LAYERS.items()]),
        "Steps": ("Every request to a language model.", [_step(one) for one in steps().values()]),
        "Engines": ("See [Engines](../engines.md).",
                    [{"engine": name, "options": _parameters(make)} for name, make in KINDS.items()]),
        "Encoders": ("See [Encoders](../encoders.md).",
                     [{"encoder": name, "is": _said(make)} for name, make in ENCODERS.items()]),
    }  # fmt: skip
    lines = ["# The catalogue", "", "`workbench methods`, `readers`, `compressors` and `measures` print the first four "
             "in a terminal, with those of your own packages.", ""]  # fmt: skip
    for title, (note, rows) in parts.items():
        lines += [f"## {title}", "", *([note, ""] if note else [])]
        lines += [_table(list(rows[0]), [list(row.values()) for row in rows])] if rows else ["None.", ""]
    return "\n".join(lines)


def _page(method: str) -> str:
    """A method with the link to its page; those of other packages have none."""
    page = Path(__file__).parents[1] / "methods" / f"{method}.md"
    return f"[`{method}`](../methods/{page.name})" if page.exists() else f"`{method}`"


def _step(step: Any) -> dict[str, str]:
    from workbench.rules import RULES

    pages = (import_module(step.output.__module__).__doc__ or "").split("\n\n") if step.ours else []
    says = next((page for page in pages if f"`{step.name}`" in page), "")
    return {
        "Step": f"`{step.name}`", "version": str(step.version), "asks": _escaped(says),
        "answer": f"`{step.output.__name__}`", "by rules": "yes" if step.name in RULES else "no",
    }  # fmt: skip


def _plain(row: Mapping[str, str]) -> dict[str, str]:
    return {key: _escaped(value) for key, value in row.items()}


def _fields(options: type) -> str:
    from dataclasses import fields

    return _escaped(", ".join(f"{field.name}={field.default}" for field in fields(options))) or "–"


def _parameters(make: Any) -> str:
    return ", ".join(f"`{name}`" for name in list(signature(make).parameters)[1:]) or "–"


def _said(thing: Any) -> str:
    """The first paragraph of a docstring."""
    return _escaped(" ".join((thing.__doc__ or "").strip().partition("\n\n")[0].split()))


def _paragraphs(text: str | None) -> list[str]:
    return [*re.sub(r"[ \t]*\n[ \t]*", "\n", (text or "").replace("\b", "")).strip().splitlines(), ""]


def _escaped(text: str) -> str:
    """A text as one cell, in which nothing but code in backticks is marked up."""
    outside = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(
        part if part.startswith("`") else re.sub(r"([<>\[\]*_|$])", r"\\\1", part) for part in outside
    ).replace("|", "\\|").replace("\\\\|", "\\|")  # fmt: skip


def _table(heads: list[str], rows: Iterable[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in [heads, ["---"] * len(heads), *rows]) + "\n"


def _lowered(text: str) -> str:
    return text[0].lower() + text[1:].rstrip(".")
