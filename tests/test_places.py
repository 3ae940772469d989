from pathlib import Path

import pytest

from workbench.data import Dataset
from workbench.index.index import place_of
from workbench.places import folder_name, home


def test_a_kernel_beside_its_notebook_finds_the_projects_folders(tmp_path, monkeypatch):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "lab").mkdir()
    for folder in ("notebooks", "lab"):
        monkeypatch.chdir(tmp_path / folder)
        assert home() == tmp_path
    monkeypatch.chdir(tmp_path)
    assert home() == tmp_path


def test_a_project_may_be_called_lab(tmp_path, monkeypatch):
    (tmp_path / "lab" / "notebooks").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "lab")
    assert home() == tmp_path / "lab"


def test_the_environment_wins(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    assert home() == tmp_path


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
