import ast
import os
import re
import shutil
from pathlib import Path

import pytest

from workbench import places
from workbench.data import Dataset
from workbench.index.index import place_of
from workbench.places import folder_name, home, link


def test_a_kernel_beside_its_notebook_finds_the_projects_folders(tmp_path, monkeypatch):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "lab").mkdir()
    for folder in ("notebooks", "lab"):
        monkeypatch.chdir(tmp_path / folder)
        assert home() == tmp_path
    monkeypatch.chdir(tmp_path)
    assert home() == tmp_path


def test_every_page_that_a_message_names_is_there():
    """By `page`, because a wheel has the pages elsewhere than a checkout; docstrings are read beside the reference."""
    named, documented = set(), (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for path in places.PACKAGE.rglob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        docstrings = [
            getattr(node.body[0], "value", None) for node in nodes if isinstance(node, documented) and node.body
        ]
        text = (node for node in nodes if isinstance(node, ast.Constant) and node not in docstrings)
        written = [node.lineno for node in text if re.search(r"\bdocs/\w+\.md", str(node.value))]
        assert not written, f"{path}, lines {written}: page() should name these pages"
        named |= set(re.findall(r"\{page\('(.+?)'\)\}", path.read_text(encoding="utf-8")))
    assert named >= {"data.md", "engines.md"} and not [name for name in named if not places.page(name).is_file()]


def test_what_a_wheel_brings_comes_before_what_stands_beside_the_package(tmp_path, monkeypatch):
    """In `site-packages` a folder `notebooks` beside the package is somebody else's."""
    package = tmp_path / "site-packages" / "workbench"
    monkeypatch.setattr(places, "PACKAGE", package)
    monkeypatch.setattr(places, "ROOT", package.parent)
    for folder in ("notebooks", "data/meridian"):
        (package.parent / folder).mkdir(parents=True)
    assert places.notebooks() == package.parent / "notebooks"
    assert places.bundled("meridian") == package.parent / "data" / "meridian"
    for folder in ("lessons/notebooks", "data/bundled/meridian"):
        (package / folder).mkdir(parents=True)
    assert places.notebooks() == package / "lessons" / "notebooks"
    assert places.bundled("meridian") == package / "data" / "bundled" / "meridian"
    (package / "docs").mkdir()
    assert places.page("data.md") == package / "docs" / "data.md"
    assert places.bundled("../meridian") is None and not places.is_checkout()


def test_a_copy_in_place_of_a_link_is_whole_or_not_there(tmp_path, monkeypatch):
    """On a disk without links, a copy that a kill cut short must not pass for the file."""

    def half(source, target):
        target.write_bytes(source.read_bytes()[:2])
        raise KeyboardInterrupt

    def refused(*_):
        raise OSError("no links here")

    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
    (one / "text").write_bytes(b"whole")
    monkeypatch.setattr(os, "link", refused)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(shutil, "copyfile", half)
        link(one, other, "text")
    link(one, other, "text")
    assert [(path.name, path.read_bytes()) for path in other.iterdir()] == [("text", b"whole")]


@pytest.mark.parametrize(
    "name", ["meridian", "musique/dev/500@42", "world[passages=2000,seed=7]", "Râul 東京", "a.b-c"]
)
def test_an_ordinary_name_is_a_folder_as_it_is(name):
    assert folder_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "", ".", "..", "../x", "/etc/x", "a/../../x", "a//b", "C:\\x", "..\\x", "CON", "aux.txt", "x ", "x\0y",
        "\x1b[2J", "\ud800", "x" * 300, "東" * 100, "<b>", "a?",
    ],
)  # fmt: skip
def test_any_other_name_is_a_folder_below_the_place_and_its_own(name, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    place = place_of(Dataset(name, ()))
    assert (tmp_path / "indexes") in place.parents and ".." not in place.parts
    place.mkdir(parents=True)
    assert folder_name(name) != folder_name(f"{name}_") and Path(folder_name(name)).name.isprintable()
