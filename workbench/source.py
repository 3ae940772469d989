"""The code that a result depends on, in units with a hash each, so that a change is detected and named.

A result may be reused only while the code that made it is unchanged. That code is known by its modules: a file of the
package, or beside the notebook, and every file that it imports, each hashed without comments, docstrings and what only
type checkers read. This is coarse, and never wrong. What a notebook defines has no file: there each function counts by
its source, with the functions, classes and values that it names and the values that an object was made with. Libraries
count by their version.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import re
import sys
import sysconfig
import textwrap
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache, cached_property
from importlib import import_module, metadata
from importlib.util import find_spec, resolve_name
from pathlib import Path, PurePath
from types import CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any, NamedTuple

_PACKAGE, _ROOT = __name__.partition(".")[0], Path(__file__).parent
# What displays, evaluates, loads data, checks files or asks a model determines no ranking and no answer: engines are
# known by their names, and layers by their content. How a reply is read does.
_APART = (
    "views", "llm", "analyses", "evaluation", "papers", "display", "cli", "integrity", "notebooks", "source",
    "registry", "settings", "data", "exchange",
)  # fmt: skip
_READ = ("llm.parse", "llm.payloads", "llm.reasoning", "llm.shapes")
_LIBRARIES = ("numpy", "scipy", "torch", "sentence-transformers", "spacy", "bm25s", "igraph")  # that compute rankings
_INSTALLED = {"site-packages", "dist-packages"}  # of this Python or, by PYTHONPATH, of another
_DATA = (".csv", ".json", ".md", ".toml", ".txt")  # files of the package that a module beside them may read
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_STARTED = time.time()
_PLAIN = (str, bytes, int, float, complex, bool, type(None), type(...), Enum, PurePath, re.Pattern)
_OWN = ("notebook", "file")  # kinds of modules that are the user's
_WRAPPED = ("__func__", "__self__", "__wrapped__", "fget", "fset", "func", "args", "keywords")
_ADDING = {
    "add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem", "popleft", "put", "remove",
    "setdefault", "subtract", "update",
}  # fmt: skip


class Followed(NamedTuple):
    """Unit → hash, and the objects that code names but that are followed in another way, such as Steps."""

    units: dict[str, str]
    apart: list[Any]


def depends(*roots: Any, versions: bool = True) -> Followed:
    """What functions, classes or objects depend on: files, what a notebook defines, and `versions` of libraries."""
    walk = _Walk()
    walk.visit(*roots)
    files = {_path(name): _module(name).hash for name in closure(*walk.modules)}
    of_libraries = _versions() if versions else {}
    return Followed(dict(sorted({**walk.finish(), **files, **of_libraries}.items())), walk.apart)


def hash_of(*roots: Any, versions: bool = True) -> str:
    """12 hex digits for what the roots depend on."""
    return _digest(*(part for pair in depends(*roots, versions=versions).units.items() for part in pair))


def closure(*modules: str, apart: Iterable[str] = ()) -> set[str]:
    """The modules and all that they import, without modules that determine no result, and without those kept apart."""
    reached, left = set[str](), list(modules)
    while left:
        name = left.pop()
        if name not in reached and not _is_apart(name, apart) and _file(name):
            reached.add(name)
            left += map(_defining, _module(name).imports)
    return reached


def changed(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Names of the units that differ: those that both have first, then those that come or go, files before others."""
    both = [name for name in now if name in before and before[name] != now[name]]
    return [*both, *sorted(before.keys() ^ now.keys(), key=lambda name: (not name.endswith(".py"), name))]


@cache
def package_hash() -> str:
    """12 hex digits for all code of the package on disk, with the texts of prompts."""
    files = sorted([*_ROOT.rglob("*.py"), *_ROOT.glob("steps/prompts/*.md")])
    return _digest(*(part for file in files for part in (file.relative_to(_ROOT).as_posix(), file.read_bytes())))


# ── files ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Module(NamedTuple):
    hash: str
    imports: tuple[str, ...]  # modules, and names in modules


_modules: dict[str, tuple[Any, _Module]] = {}  # name → how it was loaded, and what its file was then


def _module(name: str) -> _Module:
    """A module as it was loaded. One that was loaded from a file which was edited while this process ran may run older
    code than the file has: until it is loaded again, it is equal to itself alone."""
    loaded = getattr(sys.modules.get(name), "__spec__", None)
    if name not in _modules or _modules[name][0] is not loaded:
        path = _file(name)
        edited = loaded is not None and path.stat().st_mtime > _STARTED
        tree = _bare(_text(path))
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        data = sorted(file for file in path.parent.iterdir() if file.suffix in _DATA) if _is_ours(name) else ()
        parts = (ast.dump(tree), *map(_text, data), *([str(time.time_ns())] if edited else ()))
        _modules[name] = loaded, _Module(_digest(*parts), tuple(dict.fromkeys(_imports(tree, package))))
    return _modules[name][1]


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _bare(text: str) -> ast.Module:
    """Code without docstrings and without what only type checkers read."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and getattr(node.test, "id", getattr(node.test, "attr", "")) == "TYPE_CHECKING":
            node.body = []
        elif isinstance(node, _DOCUMENTED) and node.body and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return tree


def _imports(tree: ast.Module, package: str) -> Iterator[str]:
    whole = False
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package) if node.level else node.module
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
            whole |= any(_is_ours(alias.name) for alias in node.names)
    for node in ast.walk(tree) if whole else ():  # `import workbench as wb`: what `wb.` names
        if isinstance(node, ast.Attribute) and re.fullmatch(r"[\w.]+", name := ast.unparse(node)):
            yield f"{_PACKAGE}.{name.partition('.')[2]}"


def _defining(name: str) -> str:
    """The module in which a dotted name is defined; of a package that imports what it is asked for, that module."""
    base, _, attribute = name.rpartition(".")
    if not base or _file(name):
        return name
    if _is_ours(base) and not _is_apart(base) and (path := _file(base)) and "__getattr__" in _text(path):
        return getattr(getattr(import_module(base), attribute, None), "__module__", base)
    return _defining(base)


@cache
def _kind(module: str) -> str:
    """`package`: of ours; `file`: of the user's; `library`: Python's, or of another distribution; or `notebook`."""
    top = module.partition(".")[0]
    if _is_ours(module):
        return "package"
    if top in sys.stdlib_module_names and top != "__main__":
        return "library"
    try:
        spec = None if top == "__main__" else find_spec(top)
    except ValueError:  # of a module that was made by hand
        spec = None
    places = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    files = [Path(file) for file in (spec.origin or "", *(spec.submodule_search_locations or ()))] if spec else []
    if any(_INSTALLED & {*file.parts} or file.is_relative_to(place) for file in files for place in places):
        return "library"
    return "file" if files else "notebook"


@cache
def _file_of_ours(module: str) -> Path | None:
    path = _ROOT.joinpath(*module.split(".")[1:])
    return next((file for file in (path / "__init__.py", path.parent / f"{path.name}.py") if file.is_file()), None)


def _file(module: str) -> Path | None:
    """The file of a module of the package or of the user's."""
    if _is_ours(module):
        return _file_of_ours(module)
    try:
        origin = find_spec(module).origin if _kind(module) == "file" else None
    except (ImportError, AttributeError, ValueError):
        return None
    return Path(origin) if origin and origin.endswith(".py") else None


def _path(module: str) -> str:
    """The path of a module as shown to users."""
    return f"{module.removeprefix(f'{_PACKAGE}.').replace('.', '/')}.py"


def _is_ours(module: str) -> bool:
    return module == _PACKAGE or module.startswith(f"{_PACKAGE}.")


def _is_apart(module: str, more: Iterable[str] = ()) -> bool:
    name = module.removeprefix(f"{_PACKAGE}.")
    below = any(f"{name}.".startswith(f"{prefix}.") for prefix in (*_APART, *more))
    return _is_ours(module) and name not in _READ and below


@cache
def _versions() -> dict[str, str]:
    """Of the libraries that compute rankings, and of Python, on which the hash of code depends."""
    return {"python": "{}.{}".format(*sys.version_info), **{library: _version(library) for library in _LIBRARIES}}


@cache
def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:  # an extra, or a distribution of another name
        return str(getattr(sys.modules.get(name), "__version__", "none"))


# ── what a notebook defines ───────────────────────────────────────────────────────────────────────────────────────────


class _Walk:
    """Follows functions, classes and values of a notebook from one to the next, as far as modules."""

    def __init__(self):
        self.modules, self.apart = set[str](), list[Any]()
        self._units: dict[str, str] = {}
        self._values: list[tuple[str, str, str]] = []  # unit, name, hash: data that code reads
        self._changes = set[str]()  # names of state, such as a counter, which is no code
        self._seen: dict[int, Any] = {}  # the objects too, so no id is reused

    def finish(self) -> dict[str, str]:
        return self._units | {unit: hash for unit, name, hash in self._values if name not in self._changes}

    def visit(self, *values: Any) -> None:
        for value in values:
            if isinstance(value, _PLAIN) or id(value) in self._seen:
                continue
            self._seen[id(value)] = value
            if isinstance(value, ModuleType):
                self._whole(value.__name__)
            elif isinstance(value, FunctionType | type):
                self._definition(value)
            elif (parts := _parts(value)) is not None:
                self.visit(*parts)
            else:
                self._instance(value)

    def _whole(self, module: str) -> None:
        """A module by its file, of the user's with its Steps and what it changes, or a library by its version."""
        kind = _kind(module)
        if kind == "library" and (top := module.partition(".")[0]) not in sys.stdlib_module_names:
            self._units[top] = _version(top)
        elif kind != "notebook":
            self.modules.add(module)
            for name in (module_name for module_name in closure(module) if _kind(module_name) == "file"):
                self._changes |= set(_changed_names(_bare(_text(_file(name)))))
                held = vars(sys.modules[name]).values() if name in sys.modules else ()
                self.apart += [
                    step for step in (getattr(value, "STEP", value) for value in held) if _is_apart(_module_of(step))
                ]

    def _definition(self, value: Any) -> None:
        module = value.__module__ or ""
        if _kind(module) != "notebook":
            self._whole(module)
            if isinstance(value, FunctionType):  # the result of a decorator, or of a function that makes functions
                self.visit(getattr(value, "__wrapped__", None), *filter(callable, dict(_closed_over(value)).values()))
        elif not _is_apart(module):
            (self._class if isinstance(value, type) else self._function)(value)

    def _instance(self, value: Any) -> None:
        """The class of an object, and its parts: what a user's object was made with, and of ours what has a label, is
        the user's, or a Step of its own; the rest follows from settings."""
        kind, module = type(value), _module_of(value)
        own = _kind(module) in _OWN
        if hasattr(kind, "run") and hasattr(value, "meter"):
            return  # an engine
        if _is_apart(module):
            self.apart.append(value)
            return
        self.visit(kind)
        for name, part in _state(value).items() if own or _is_ours(module) else ():
            if own:
                self._value(f"{kind.__qualname__}.{name}", name, part)
            elif hasattr(part, "label") or _is_apart(_module_of(part)) or _kind(_module_of(part)) in _OWN:
                self.visit(part)

    def _value(self, unit: str, name: str, value: Any) -> None:
        self.visit(value)
        code = isinstance(value, FunctionType | type) or _is_apart(_module_of(value))
        if not code and (text := _text_of_value(value)) is not None:
            self._values.append((unit, name, _digest(text)))

    def _function(self, function: FunctionType) -> None:
        tree, code = _source(function), function.__code__
        defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        text = _byte_code(code) if tree is None else ast.dump(tree)
        unit = self._add(function, text, *(_text_of_value(value) or "" for value in defaults))
        self._changes |= set(_changed_names(tree)) if tree else set()
        self.visit(getattr(function, "__wrapped__", None), *defaults)
        for name, value in _closed_over(function):
            self._value(f"{unit} {name}", name, value)
        names = dict.fromkeys(_names(code))
        for name in names:
            if name in function.__globals__:
                self._global(function.__module__, name, function.__globals__[name], names)
            elif _file(name):  # imported in the function, as the next
                self._global(name, "", import_module(name), names)
            elif _kind(name) == "library":
                self._whole(name)

    def _global(self, module: str, name: str, value: Any, names: Iterable[str]) -> None:
        """A value that a function names; of our modules, what their attributes among the names are."""
        if isinstance(value, ModuleType) and _is_ours(value.__name__) and not _is_apart(value.__name__):
            for attribute in filter(set(dir(value)).__contains__, names):
                self._global(value.__name__, attribute, getattr(value, attribute), ())
        if (
            callable(value) or name.strip("_").isupper() or not _is_ours(module)
        ):  # otherwise it may be one of our caches
            self._value(name if module == "__main__" else f"{module}:{name}", name, value)

    def _class(self, kind: type) -> None:
        schema = kind.model_json_schema() if hasattr(kind, "model_json_schema") else ""
        unit = self._add(kind, *(base.__qualname__ for base in kind.__mro__), *kind.__annotations__, repr(schema))
        self.visit(*kind.__mro__[1:], *kind.__annotations__.values())
        for name, member in list(vars(kind).items()):
            if isinstance(member, FunctionType) or not name.startswith("__"):
                self._value(f"{unit}.{name}", name, member)

    def _add(self, thing: Any, *parts: str) -> str:
        """Name a unit after its definition; if several share one, as lambdas do, their hashes distinguish them."""
        code = _digest(*parts)
        name = thing.__qualname__ if thing.__module__ == "__main__" else f"{thing.__module__}:{thing.__qualname__}"
        if name.endswith("<lambda>") or self._units.get(name, code) != code:
            name = f"{name} {code}"
        self._units[name] = code
        return name


def _parts(value: Any) -> list[Any] | None:
    """The contents of Python's own containers and wrappers; None for anything else."""
    if isinstance(value, dict | MappingProxyType):
        return [*value, *value.values()]
    if isinstance(value, tuple | list | set | frozenset):
        return list(value)
    wraps = _module_of(value) in ("builtins", "functools") or hasattr(value, "__wrapped__")
    return [getattr(value, name) for name in _WRAPPED if hasattr(value, name)] if wraps else None


def _state(value: Any) -> dict[str, Any]:
    """What an object was made with, without what is present by chance."""
    kind = type(value)
    slots = [name for base in kind.__mro__ for name in (base.__dict__.get("__slots__") or ()) if hasattr(value, name)]
    state = {name: getattr(value, name) for name in slots if name != "__dict__"} | getattr(value, "__dict__", {})
    return {name: part for name, part in state.items() if not isinstance(getattr(kind, name, None), cached_property)}


def _source(function: FunctionType) -> ast.Module | None:
    try:
        return _bare(textwrap.dedent(inspect.getsource(function.__code__)))
    except (OSError, TypeError, SyntaxError):  # made by a program, or a part of an expression
        return None


def _byte_code(code: CodeType) -> str:
    parts = (
        _byte_code(const) if isinstance(const, CodeType) else _text_of_value(const) or "" for const in code.co_consts
    )
    return _digest(code.co_code, repr((code.co_names, code.co_varnames, code.co_freevars)), *parts)


def _names(code: CodeType) -> Iterator[str]:
    """Globals, attributes and modules that code names."""
    yield from code.co_names
    for inner in code.co_consts:
        yield from _names(inner) if isinstance(inner, CodeType) else ()


def _closed_over(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The variables that a function closes over, with their values; unbound ones are omitted."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            yield name, cell.cell_contents
        except ValueError:
            continue


def _changed_names(tree: ast.Module) -> Iterator[str]:
    """What code assigns to, or appends to, outside of what makes an object."""
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        if getattr(node, "name", "") in ("__init__", "__post_init__", "__new__"):
            continue
        left += ast.iter_child_nodes(node)
        match node:
            case ast.Global(names) | ast.Nonlocal(names):
                yield from names
            case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.Subscript(value=ast.Name(name) | ast.Attribute(attr=name), ctx=ast.Store() | ast.Del()):
                yield name
            case ast.Call(func=ast.Attribute(ast.Name(name) | ast.Attribute(attr=name), adding)) if adding in _ADDING:
                yield name


def _module_of(value: Any) -> str:
    return type(value).__module__


def _text_of_value(value: Any) -> str | None:
    """A value as text that is equal in every process: code by name alone, and None for other objects."""
    if isinstance(value, _PLAIN):
        return f"{type(value).__qualname__} {value!r}"
    if isinstance(value, FunctionType | type):
        return f"{value.__module__}:{value.__qualname__}"
    if hasattr(type(value), "__array__"):
        import numpy as np

        array = np.ascontiguousarray(value)
        held = repr(array.tolist()).encode() if array.dtype.hasobject else array.tobytes()
        return f"array {array.dtype} {array.shape} {_digest(held)} {list(getattr(value, 'columns', ()))}"
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name, None) for field in fields(value)}
    if isinstance(value, dict | MappingProxyType):
        value = [part for pair in value.items() for part in pair]
    if not isinstance(value, tuple | list | set | frozenset):
        return None
    parts = [_text_of_value(part) or type(part).__qualname__ for part in value]
    return str(sorted(parts) if isinstance(value, set | frozenset) else parts)


def _digest(*parts: str | bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(raw).to_bytes(8, "big") + raw)
    return digest.hexdigest()[:12]
