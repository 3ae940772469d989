"""The ceiling: no part of the project grows beyond what the table in docs/architecture.md allows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles

import pytest

from workbench.cli.app import app

ROOT = Path(__file__).parents[1]
ROW = re.compile(r"^\| ([^|]+?) \| ([\d,]+) \|", re.MULTILINE)


def ceiling() -> dict[str, int]:
    """What is counted → how much of it there may be, as the page says."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.partition("## The ceiling\n")[2].partition("\n## ")[0]
    return {what: int(most.replace(",", "")) for what, most in ROW.findall(table)}


def sources(folder: str, ending: str = "*.py") -> dict[Path, list[str]]:
    """File → its lines."""
    return {path: path.read_text(encoding="utf-8").splitlines() for path in sorted((ROOT / folder).rglob(ending))}


def functions(files: dict[Path, list[str]]) -> Iterator[int]:
    """Lines of each function, with its docstring, without decorators."""
    for lines in files.values():
        for node in ast.walk(ast.parse("\n".join(lines))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node.end_lineno - node.lineno + 1


def lines(files: dict[Path, list[str]]) -> int:
    return sum(map(len, files.values()))


def counted() -> dict[str, int]:
    package, long = sources("workbench"), sorted(functions(sources("workbench")))
    viewer = {path: text for path, text in sources("workbench/views", "*.*s").items() if path.suffix in (".js", ".css")}
    return {
        "lines of `workbench/`": lines(package),
        "files of `workbench/`": len(package),
        "modules at its root": sum(path.parent == ROOT / "workbench" for path in package),
        "verbs": len(app.registered_commands) + len(app.registered_groups),
        "lines of a file": max(map(len, package.values())),
        "lines of a function": long[-1],
        "lines of a function, median": int(median(long)),
        "lines of a function, nine in ten": int(quantiles(long, n=10)[-1]),
        "lines of JavaScript and CSS": lines(viewer),
        "lines of tests": lines(sources("tests")),
        "pages of docs": len(sources("docs", "*.md")),
        "lines of the README": len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()),
    }


COUNTED = counted()


@pytest.mark.parametrize("what", COUNTED)
def test_nothing_grows_beyond_the_ceiling(what):
    most = ceiling()
    assert COUNTED[what] <= most[what], f"{what}: {COUNTED[what]:,}; say in docs/architecture.md why more is worth it"
    assert most.keys() == COUNTED.keys()
