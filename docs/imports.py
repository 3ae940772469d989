"""The imports in `workbench/`: read off the code, held to one direction, drawn in architecture.md.

python docs/imports.py            write the picture
python docs/imports.py --check    exit 1 where an import points upwards, files import each other in a circle, or the
                                  picture is stale

Imports inside functions count like all others; those that only type checkers see do not. A module that is found by its
name (`importlib.import_module`, a `Registry`) is not imported.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parents[1] / "workbench"
DOCUMENT = Path(__file__).parent / "architecture.md"
BEGIN, END = "<!-- imports, by docs/imports.py -->\n", "<!-- end of imports -->\n"

# A part, which is a folder or a module, imports parts of the rows above its own. This is the place to add a new one.
ORDER = (
    ("text",),
    ("display", "errors", "places", "source", "spread", "threads"),
    ("integrity", "records", "registry", "settings", "tokens"),
    ("trace",),
    ("language",),
    ("data", "layouts", "llm", "measures"),
    ("encoding", "exchange"),
    ("steps",),
    ("index",),
    ("operators", "sparql"),
    ("rules",),
    ("methods",),
    ("reading",),
    ("cluster",),
    ("anonymity", "evaluation", "testing"),
    ("published",),
    ("analyses",),
    ("papers",),
    ("notebooks",),
    ("views",),
    ("lessons",),
    ("cli",),
    ("__main__",),
)
BASE = 4  # rows that nearly everything imports; one box of the picture


class Import(NamedTuple):
    """A module imports another: dotted names below the package, the package itself being empty."""

    module: str
    other: str

    @property
    def parts(self) -> tuple[str, str]:
        return self.module.partition(".")[0], self.other.partition(".")[0]


def imports(package: Path = PACKAGE) -> list[Import]:
    """Every import of one module of the package by another. A name that is imported is its module if it is one, else it
    is imported from the module before it."""
    files = {_name(file, package): file for file in sorted(package.rglob("*.py"))}
    found = (
        Import(module, other)
        for module, file in files.items()
        for names in _imported(ast.parse(file.read_text(encoding="utf-8")), package.name)
        if (other := next((name for name in names if name in files), module)) != module
    )
    return list(dict.fromkeys(found))


def upwards(found: Iterable[Import]) -> list[Import]:
    """Those that import a part of their own row or of one below it. The package itself offers what all parts have."""
    row = {part: number for number, parts in enumerate(ORDER) for part in parts}
    return [
        one
        for one in found
        for part, other in [one.parts]
        if part and other and part != other and row.get(part, -1) <= row.get(other, len(ORDER))
    ]


def circles(found: Iterable[Import]) -> list[list[str]]:
    """The modules that import each other, directly or through others, in groups, the largest first (Tarjan's strongly
    connected components)."""
    imported: dict[str, list[str]] = defaultdict(list)
    for module, other in found:
        imported[module].append(other)
    order: dict[str, int] = {}  # when a module was met
    lowest: dict[str, int] = {}  # the first met of the modules of its path that it leads to
    path: list[str] = []
    groups: list[list[str]] = []

    def visit(module: str) -> None:
        order[module] = lowest[module] = len(order)
        path.append(module)
        for other in imported.get(module, ()):
            if other not in order:
                visit(other)
            if other in path:
                lowest[module] = min(lowest[module], lowest[other])
        if lowest[module] == order[module]:
            at = path.index(module)
            groups.append(path[at:])
            del path[at:]

    for module in list(imported):
        if module not in order:
            visit(module)
    return sorted((sorted(group) for group in groups if len(group) > 1), key=len, reverse=True)


def picture(found: Iterable[Import]) -> str:
    """A mermaid flow chart: which part imports which, without what follows from the other arrows."""
    base = {part for parts in ORDER[:BASE] for part in parts}
    above: dict[str, set[str]] = defaultdict(set)
    for part, other in (one.parts for one in found):
        if part and other and part != other and part not in base:
            above[part].add("base" if other in base else other)
    lines = [f'    base["{", ".join(sorted(base))}"]']
    for part in (part for parts in ORDER[BASE:] for part in parts):
        lines += [f"    {part} --> {other}" for other in sorted(above[part]) if not _implied(part, other, above)]
    return "\n".join(["```mermaid", "flowchart BT", *lines, "```", ""])


def drawn(document: str, found: Iterable[Import]) -> str:
    """The document with the picture between its marks."""
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"{DOCUMENT.name} has no lines {BEGIN!r} and {END!r}")
    return f"{before}{begin}\n{picture(found)}\n{end}{after}"


def _implied(part: str, other: str, above: Mapping[str, set[str]]) -> bool:
    """Whether another import of the part leads to the same one."""
    waiting, seen = list(above[part] - {other}), set()
    while waiting:
        at = waiting.pop()
        if at == other:
            return True
        waiting += above.get(at, set()) - seen
        seen.add(at)
    return False


def _name(file: Path, package: Path) -> str:
    return ".".join(file.relative_to(package).with_suffix("").parts).removesuffix("__init__").removesuffix(".")


def _imported(node: ast.AST, package: str) -> Iterator[list[str]]:
    """What each import in some code may name below the package, the longest name first."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            for other in child.orelse:
                yield from _imported(other, package)
        elif isinstance(child, ast.Import):
            yield from ([_below(alias.name, package)] for alias in child.names if _inside(alias.name, package))
        elif isinstance(child, ast.ImportFrom) and _inside(child.module or "", package):
            module = _below(child.module or "", package)
            yield from ([f"{module}.{alias.name}".removeprefix("."), module] for alias in child.names)
        else:
            yield from _imported(child, package)


def _inside(name: str, package: str) -> bool:
    return name.partition(".")[0] == package


def _below(name: str, package: str) -> str:
    return name.removeprefix(package).removeprefix(".")


def main() -> None:
    found, before = imports(), DOCUMENT.read_text(encoding="utf-8")
    after = drawn(before, found)
    wrong = [f"{one.module} imports {one.other}, which stands no higher in ORDER" for one in upwards(found)]
    wrong += [f"{len(group)} files import each other: {', '.join(group)}" for group in circles(found)]
    if "--check" not in sys.argv:
        DOCUMENT.write_text(after, encoding="utf-8")
    elif before != after:
        wrong.append(f"the picture in {DOCUMENT.name} is stale; run python docs/imports.py")
    if wrong:
        raise SystemExit("\n".join(wrong))


if __name__ == "__main__":
    main()
