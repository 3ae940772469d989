"""How much one must read to understand a method: the files that its retrieval reaches, and their lines.

A file counts if it holds a definition (function, class, constant) that the class or function named on the command line
needs: its own body, then whatever a needed definition names, through imports, down to the folders listed in `FOLDERS`.
A needed class counts whole. What everything shares is left out: the index and encoders, the engines, the rule bodies,
records and trace, and the registry of methods (a backbone that a SPEC names is not followed). Nothing is imported: the
source is parsed, so any commit can be measured.

    python benchmarks/reading_list.py                                       # those of `TARGETS`
    python benchmarks/reading_list.py workbench.methods.dotrag.DotRAG --files
    git worktree add /tmp/old COMMIT; python benchmarks/reading_list.py --root /tmp/old/workbench"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

FOLDERS = ("methods", "graph", "ranking", "operators", "steps", "layouts", "reading", "views", "papers", "experiments",
           "evaluation", "analyses", "published")  # fmt: skip
REGISTRY = ("methods/__init__.py", "reading/__init__.py")
TARGETS = (
    "workbench.methods.hipporag2.HippoRAG2",
    "workbench.methods.bdtr.BDTR",
    "workbench.methods.dotrag.DotRAG",
    "workbench.methods.lightrag.LightRAG",
    "workbench.reading.compression.graph_walk.GraphWalk",
    "workbench.views.replay_widget.ReplayWidget",
    "workbench.papers.tables._cells",  # a table's cell; before, workbench.experiments.tables._cells
)


class Symbol(NamedTuple):
    """A name of a module; "" for the module itself."""

    module: str
    name: str


class Module:
    """The definitions of a file, and where its imported names come from."""

    def __init__(self, name: str, tree: ast.Module, package: Package):
        self.name, self._package = name, package
        self.definitions = {name: node for node in tree.body for name in _defined(node)}
        self._imports = self._imported(tree)

    def needs(self, name: str) -> Iterator[Symbol]:
        """What a definition of this module names; for an imported name the place that it comes from."""
        if name not in self.definitions:
            yield from filter(None, [self._imports.get(name)])
            return
        node = self.definitions[name]
        imports = self._imports | self._imported(node)
        for part in ast.walk(node):
            if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id in imports:
                module, imported = imports[part.value.id]
                yield Symbol(module, part.attr) if not imported else Symbol(module, imported)
            elif isinstance(part, ast.Name) and part.id in self.definitions:
                yield Symbol(self.name, part.id)
            elif isinstance(part, ast.Name) and part.id in imports and imports[part.id].name:
                yield imports[part.id]

    def _imported(self, tree: ast.AST) -> dict[str, Symbol]:
        found = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and not node.level:
                for alias in node.names:
                    submodule = f"{node.module}.{alias.name}"
                    of_module = self._package.path(submodule) is not None
                    symbol = Symbol(submodule, "") if of_module else Symbol(node.module or "", alias.name)
                    found[alias.asname or alias.name] = symbol
        return found


class Package:
    """The source of the package below a folder."""

    def __init__(self, root: Path):
        self.root = root
        self.module = cache(self._module)

    def path(self, module: str) -> Path | None:
        """The file of a module, if it is in the package."""
        head, *rest = module.split(".")
        place = self.root.joinpath(*rest)
        files = (place.with_suffix(".py"), place / "__init__.py")
        return next((file for file in files if head == self.root.name and file.is_file()), None)

    def _module(self, name: str) -> Module | None:
        """A module that counts."""
        path = self.path(name)
        inside = path and path.relative_to(self.root).as_posix()
        if not inside or inside.split("/")[0] not in FOLDERS or inside in REGISTRY:
            return None
        return Module(name, ast.parse(path.read_text(encoding="utf-8")), self)

    def reading_list(self, target: str) -> dict[Path, int]:
        """File → its lines, for all files that hold a definition which the target needs."""
        module, _, name = target.rpartition(".")
        if (found := self.module(module)) is None or not (name in found.definitions or list(found.needs(name))):
            raise SystemExit(f"{self.root} has no {target}")
        needed, waiting = set(), [Symbol(module, name)]
        while waiting:
            symbol = waiting.pop()
            if symbol not in needed and (found := self.module(symbol.module)) is not None:
                needed.add(symbol)
                waiting += found.needs(symbol.name)
        files = {self.path(s.module) for s in needed if s.name in self.module(s.module).definitions}
        return {file: len(file.read_text(encoding="utf-8").splitlines()) for file in sorted(files)}


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", default=TARGETS, help="such as workbench.methods.dotrag.DotRAG")
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1] / "workbench")
    parser.add_argument("--files", action="store_true", help="list the files")
    arguments = parser.parse_args()
    package = Package(arguments.root)
    for target in arguments.targets:
        files = package.reading_list(target)
        print(f"{target.rpartition('.')[2]:12} {len(files):3} files {sum(files.values()):6,} lines")
        if arguments.files:
            print(
                "".join(f"    {lines:5}  {file.relative_to(arguments.root)}\n" for file, lines in files.items()), end=""
            )


if __name__ == "__main__":
    main()
