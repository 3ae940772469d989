"""The elements of the sources: their code is there, their settings exist, and the pages say what the lists hold."""

from __future__ import annotations

import re
from importlib import import_module
from inspect import signature
from operator import attrgetter
from pathlib import Path
from typing import Any

import networkx
from scripts import loaded

from workbench import published
from workbench.errors import SettingError
from workbench.index.building import LAYERS
from workbench.index.textualise import SETTINGS as OF_ARTICLES
from workbench.index.textualise import textualise
from workbench.methods import METHODS
from workbench.reading import READERS, reader
from workbench.reading.compression import COMPRESSORS, compressor
from workbench.settings import check_names, parse_spec, parse_value, settle

ROOT = Path(__file__).parents[1]
TOOL = loaded(ROOT / "docs" / "fidelity.py", "fidelity_of_the_sources")
SOURCES = TOOL.sources()
ELEMENTS = [(source.name, element) for source in SOURCES for element in source.elements]
# When the lists were last read against the sources.
COUNTED = {"bdtr": 39, "catrag": 47, "dotrag": 58, "graphrag_bench": 35, "reasoning": 80, "youtu": 73}
REACHED = 0.93


def resolve(name: str) -> None:
    """Import `module:name` below `workbench`, or find the file."""
    if ":" not in name:
        assert (ROOT / name).exists(), f"no file {name}"
        return
    module, _, attribute = name.partition(":")
    attrgetter(attribute)(import_module(f"workbench.{module}"))


def accept(setting: str) -> tuple[Any, Any]:
    """What a SPEC of a method, reader or compressor, or `layer.setting=value`, gives, and what the default is;
    :class:`SettingError` for any other."""
    if "[" not in setting:
        kind, _, (name, _, value) = *setting.partition(".")[:2], setting.partition(".")[2].partition("=")
        if kind == "articles":
            check_names(kind, OF_ARTICLES, [name])
            return parse_value(value), signature(textualise).parameters[name].default
        if kind not in LAYERS:
            raise SettingError(f"{setting!r} should be a SPEC or layer.setting=value")
        made = LAYERS[kind][1]
        return settle(kind, made, {name: parse_value(value)}, getattr(made, "profiles", {})), made()
    name, given = parse_spec(setting)
    if name in METHODS:
        made = METHODS[name]
        return tuple(settle(name, made.Settings, values, made.profiles) for values in (given, {}))
    if name in READERS:
        return reader(setting).label, reader(name).label
    if name in COMPRESSORS:
        return compressor(setting).label, compressor(name).label
    raise SettingError(f"{name!r} is no method, reader or compressor")


def settings_of(why: str) -> list[str]:
    return [quoted for quoted in re.findall(r"`([^`]+)`", why) if "=" in quoted]


def test_every_source_with_published_numbers_has_its_elements():
    assert {source.name: len(source.elements) >= COUNTED[source.name] for source in SOURCES} == dict.fromkeys(
        published.papers(), True
    )
    assert len(ELEMENTS) >= sum(COUNTED.values())
    assert all(len({one.element for one in source.elements}) == len(source.elements) for source in SOURCES)


def test_the_code_of_an_element_is_there():
    for name in sorted({name for _, element in ELEMENTS for name in element.names}):
        resolve(name)


def test_a_setting_that_is_named_exists_and_takes_the_value():
    for setting in sorted({one for _, element in ELEMENTS for one in settings_of(element.why)}):
        accept(setting)


def test_states_say_what_they_must():
    for name, one in ELEMENTS:
        assert one.state in TOOL.STATES, (name, one)
        assert one.element and one.code and (one.why or one.state == TOOL.EXACT), (name, one)
        assert one.state != TOOL.SETTING or "`" in one.why, f"{name}: {one.element} names no setting"
        assert "<" not in "".join(one), "a page is HTML on the site"


def test_what_a_setting_does_the_default_does_not():
    for name, one in ELEMENTS:
        pairs = [accept(setting) for setting in settings_of(one.why)]
        assert one.state != TOOL.SETTING or not pairs or any(a != b for a, b in pairs), f"{name}: {one.element}"


def test_lines_of_python_run(tiny_index):
    lines = [line for _, one in ELEMENTS for line in re.findall(r"`([^`]*networkx\.[^`]*)`", one.why)]
    degree, clustering = (eval(line, {"networkx": networkx, "index": tiny_index}) for line in lines)
    assert 0 < degree < len(tiny_index.graph.to_networkx()) and 0 <= clustering <= 1


def test_the_pages_are_those_of_the_lists():
    assert TOOL.stale() == [], "python docs/fidelity.py"


def test_a_page_prints_its_share():
    for source in SOURCES:
        text = (TOOL.FOLDER / f"{source.name}.md").read_text(encoding="utf-8")
        said = [one for one in source.elements if one.state != TOOL.OPEN]
        kept = [one for one in said if one.state != TOOL.DIFFERS]
        assert f"Of what the source says, {len(kept) / len(said):.1%} are exact or a setting." in text
        assert text.count("\n| ") == len(source.elements) + 2


def test_the_share_of_what_is_exact_or_a_setting_does_not_fall():
    said = [one for _, one in ELEMENTS if one.state != TOOL.OPEN]
    assert sum(one.state != TOOL.DIFFERS for one in said) / len(said) >= REACHED
