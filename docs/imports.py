"""The imports between the parts of `workbench/`: read off the code, held to one direction, drawn in architecture.md.

python docs/imports.py            write the picture
python docs/imports.py --check    exit 1 where an import points upwards or the picture is stale
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parents[1] / "workbench"
DOCUMENT = Path(__file__).parent / "architecture.md"
BEGIN, END = "<!-- imports, by docs/imports.py -->\n", "<!-- end of imports -->\n"

# A part, which is a folder or a module, imports parts of the rows above its own. This is the place to add a new one.
ORDER = (
    ("text",),
    ("errors", "places", "source", "spread", "threads"),
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
EXCEPTIONS: dict[tuple[str, str], str] = {  # imports that point upwards when a module is loaded
    ("llm", "rules"): "the engine `rules` looks bodies up in a table, which imports none of them",
}
LAZY = {  # imports inside functions that point upwards
    ("data", "exchange"): "a data set may be the index of another program",
    ("index", "graph"): "a graph is handed to networkx and pyvis where that is asked for",
    ("spread", "cluster"): "the workers of a cluster are loaded where one is named",
    ("llm", "steps"): "a prompt from a file takes the place of that of a Step, which is found by its name",
    **dict.fromkeys(
        ((part, "views") for part in ("records", "llm", "methods", "experiments", "notebooks")),
        "what is shown, a view shows",
    ),
}


class Import(NamedTuple):
    """`part` imports `other` in `file`; `lazy`: inside a function."""

    part: str
    other: str
    file: str
    lazy: bool


def imports(package: Path = PACKAGE) -> list[Import]:
    """Every import between two parts of the package, but for those that only type checkers see."""
    return [
        Import(_part(file, package), other, file.relative_to(package).as_posix(), lazy)
        for file in sorted(package.rglob("*.py"))
        if file.parent != package or file.name != "__init__.py"  # which offers what all parts have
        for other, lazy in dict.fromkeys(_imported(ast.parse(file.read_text(encoding="utf-8")).body, package.name))
        if other != _part(file, package)
    ]


def upwards(found: Iterable[Import]) -> list[Import]:
    """Those that import a part of their own row or of one below it, and are no exception."""
    row = {part: number for number, parts in enumerate(ORDER) for part in parts}
    return [
        one
        for one in found
        if row.get(one.part, -1) <= row.get(one.other, len(ORDER))
        and (one.part, one.other) not in (LAZY if one.lazy else EXCEPTIONS)
    ]


def picture(found: Iterable[Import]) -> str:
    """A mermaid flow chart: who imports whom when loaded, without what follows from the other arrows."""
    base = {part for parts in ORDER[:BASE] for part in parts}
    above: dict[str, set[str]] = defaultdict(set)
    for one in found:
        if not one.lazy and one.part not in base and (one.part, one.other) not in EXCEPTIONS:
            above[one.part].add("base" if one.other in base else one.other)
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


def _implied(part: str, other: str, above: dict[str, set[str]]) -> bool:
    """Whether another import of the part leads to the same one."""
    waiting, seen = list(above[part] - {other}), set()
    while waiting:
        at = waiting.pop()
        if at == other:
            return True
        waiting += above.get(at, set()) - seen
        seen.add(at)
    return False


def _part(file: Path, package: Path) -> str:
    return file.relative_to(package).parts[0].removesuffix(".py")


def _imported(body: Iterable[ast.AST], package: str, lazy: bool = False) -> Iterator[tuple[str, bool]]:
    """(part, whether inside a function) of every import in some code."""
    for node in body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from _imported(node.orelse, package, lazy)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((part, lazy) for part in _parts(node, package))
        else:
            inside = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from _imported(ast.iter_child_nodes(node), package, inside)


def _parts(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif node.module == package:
        names = [f"{package}.{alias.name}" for alias in node.names]
    else:
        names = [node.module or ""]
    known = {part for parts in ORDER for part in parts}
    for top, _, rest in (name.partition(".") for name in names):
        part = rest.partition(".")[0]
        if (
            top == package
            and (part in known or (PACKAGE / part).is_dir() or (PACKAGE / f"{part}.py").exists())
            and part
        ):
            yield part


def main() -> None:
    found, before = imports(), DOCUMENT.read_text(encoding="utf-8")
    after = drawn(before, found)
    wrong = upwards(found)
    for one in wrong:
        print(f"{one.file}: {one.part} imports {one.other}, which stands no higher in ORDER")
    if "--check" not in sys.argv:
        DOCUMENT.write_text(after, encoding="utf-8")
    elif before != after:
        print(f"the picture in {DOCUMENT.name} is stale; run python docs/imports.py")
    if wrong or ("--check" in sys.argv and before != after):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
