"""What a release consists of beside the package is there, parses, and says what is true of this version."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet

import workbench as wb

ROOT = Path(__file__).parents[1]
WORKFLOW, CONTAINER = ROOT / ".github/workflows/ci.yml", ROOT / ".devcontainer"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
# A container image, a workflow's action and a package are named, and the tools know where to find them.
NO_HOST = [WORKFLOW, *sorted(CONTAINER.iterdir()), ROOT / "CITATION.cff", ROOT / "CONTRIBUTING.md"]


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_there_is_one_version():
    assert wb.__version__ == PROJECT["version"] == yaml.safe_load(read(ROOT / "CITATION.cff"))["version"]


def test_the_citation_has_what_the_format_demands_and_nothing_invented():
    citation = yaml.safe_load(read(ROOT / "CITATION.cff"))
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert citation["authors"] == [{"name": "The hopscope authors"}] and citation["license"] == PROJECT["license"]
    assert set(citation["keywords"]) == set(PROJECT["keywords"])
    assert not {"doi", "url", "repository-code", "date-released"} & citation.keys()


def test_the_changelog_keeps_its_form():
    """Keep a Changelog: versions from the newest on, the changes of each under their kind."""
    headings = re.findall(r"^(#{2,3}) (.+)$", read(ROOT / "CHANGELOG.md"), re.MULTILINE)
    assert headings[0] == ("##", "[Unreleased]")
    for level, heading in headings[1:]:
        if level == "##":
            assert re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}", heading), heading
        else:
            assert heading in ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"), heading
    released = [heading for level, heading in headings[1:] if level == "##"]
    assert not released or released[0].startswith(f"[{wb.__version__}]")


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", ".devcontainer/devcontainer.json", ".ci/run"])
def test_each_command_of_make_that_is_shown_exists(document):
    shown = set(re.findall(r"(?:^|[`\"(&] ?)make ([a-z-]+)", read(ROOT / document), re.MULTILINE))
    assert shown and shown <= TARGETS


def test_the_workflow_runs_what_ci_runs():
    workflow = yaml.safe_load(read(WORKFLOW))
    (job,) = workflow["jobs"].values()
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert commands == ["bash .ci/run"] and os.access(ROOT / ".ci" / "run", os.X_OK)
    (python,) = [step["with"]["python-version"] for step in job["steps"] if "python-version" in step.get("with", {})]
    assert f"{python}.0" in SpecifierSet(PROJECT["requires-python"])
    assert workflow["permissions"] == {"contents": "read"}


def test_the_dev_container_is_built_from_a_file_of_ours():
    container = json.loads(read(CONTAINER / "devcontainer.json"))
    image = read(CONTAINER / container["build"]["dockerfile"])
    python = re.match(r"FROM python:(\d+\.\d+)", image)[1]
    assert f"{python}.0" in SpecifierSet(PROJECT["requires-python"])
    assert container["postCreateCommand"] == "make setup"
    assert "/.venv/bin/python" in container["customizations"]["vscode"]["settings"]["python.defaultInterpreterPath"]


def test_no_host_is_named():
    assert [path for path in NO_HOST if "://" in read(path)] == []


def test_each_requirement_is_pinned_in_the_tested_set():
    pinned = {name_of(line) for line in read(ROOT / "constraints.txt").splitlines() if "==" in line and line[0] != "#"}
    asked = [one for extra in PROJECT["optional-dependencies"].values() for one in extra] + PROJECT["dependencies"]
    assert {name_of(one) for one in asked} - {"hopscope"} <= pinned


def name_of(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[\[><=~! ]", requirement)[0]).lower()


def rows(first: str) -> list[list[str]]:
    """The cells of the table of docs/dependencies.md that begins with this column."""
    lines = read(ROOT / "docs" / "dependencies.md").partition(f"| {first} |")[2].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_the_table_of_dependencies_has_each_one_and_where_it_is_met():
    table = rows("package")
    listed = [name_of(name) for packages, *_ in table for name in packages.split(", ")]
    assert sorted(listed) == sorted(map(name_of, PROJECT["dependencies"]))
    assert [row for row in table if len(row) != 4 or not all(row)] == []
