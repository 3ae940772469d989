"""Hashes of what code does: functions and classes with everything that they call, in the package and next to it.

A result may be reused only while the code that produced it is unchanged. `units` identifies that code piece by piece,
so a change can be detected and located. The hash covers the loaded byte code, without comments, docstrings and line
numbers, and not the file. So a notebook cell that was run again counts, a reloaded module counts, and an edited file
that was not loaded does not.

The analysis follows globals, closures, defaults, imports inside functions and, for every class that it meets, the
attributes that any of the code names. Another distribution is one unit, its version. It does not follow what identifies
a result in other ways, such as an engine by its name and a layer by its content: modules in `_APART`, and attributes
that a class lists in `__apart__`.
"""

from __future__ import annotations

import dis
import hashlib
import importlib
import platform
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache, cached_property, partial
from importlib import metadata
from importlib.util import find_spec, resolve_name
from pathlib import Path, PurePath
from types import CodeType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

_PACKAGE = __name__.partition(".")[0]
# Code that displays, checks files, calls a model or estimates determines no ranking and no answer; engines are known by
# their names.
# How a reply is read.
_READ = tuple(f"{_PACKAGE}.llm.{name}" for name in ("parse", "payloads", "reasoning", "shapes"))
_APART = tuple(
    f"{_PACKAGE}.{name}"
    for name in (
        "views",
        "llm",
        "analyses",
        "evaluation",
        "papers",
        "display",
        "cli",
        "integrity",
        "notebooks",
        "source",
        "registry",
        "settings",
    )
)
_SHOWN = {"__repr__", "__doc__", "__module__", "__dict__", "__weakref__", "__annotations__", "__slots__"}
_Held = Mapping | list | set
_PLAIN = (str, bytes, int, float, complex, bool, type(None), type(...))


def units(*roots: Any, names: Iterable[str] = ()) -> dict[str, str]:
    """Name → hash of every piece of code that the roots may run, excluding the code it calls, which has its own name.
    `roots` are functions, classes, or instances, whose classes and parts count; `names` are the attributes by which
    callers use them."""
    return followed(*roots, names=names).units


class Followed(NamedTuple):
    """The units (`units`), and our objects that their code names but that are not followed, such as Steps."""

    units: dict[str, str]
    apart: list[Any]


def followed(*roots: Any, names: Iterable[str] = ()) -> Followed:
    """The code that the roots may run, and the Steps that they may request."""
    walk = _Walk(names)
    for root in roots:
        walk.visit(root)
    return Followed(walk.finish(), walk.apart)


def hash_of(*roots: Any, names: Iterable[str] = ()) -> str:
    """12 hex digits for the roots and everything that they call."""
    return _digest(*(part for pair in units(*roots, names=names).items() for part in pair))


def changed(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Names of the units that differ: those that both have first, distributions that come or go with code last."""
    both = [name for name in now if name in before and before[name] != now[name]]
    return [*both, *sorted(before.keys() ^ now.keys(), key=lambda name: (":" not in name, name))]


@cache
def package_hash() -> str:
    """12 hex digits for all code of the package on disk, with the texts of prompts."""
    root = Path(__file__).parent
    files = sorted([*root.rglob("*.py"), *root.glob("steps/prompts/*.md")])
    return _digest(*(part for file in files for part in (file.relative_to(root).as_posix(), file.read_bytes())))


class _Used(NamedTuple):
    """The names in a code object: globals (with the attributes read from each), attributes, imports."""

    globals: tuple[tuple[str, ...], ...]
    attributes: frozenset[str]
    imports: tuple[tuple[str, int, str | None], ...]  # module, level, name imported from it
    changes: frozenset[str]  # globals, closed-over variables and attributes that it assigns or appends to
    dynamic: bool  # whether it looks up attributes by a computed name


class _Walk:
    def __init__(self, names: Iterable[str]):
        self._units: dict[str, str] = {}
        self._values: list[tuple[str, str, Any]] = []  # unit, name, value: data that code reads
        self._changes: set[str] = set()
        self._objects = 0
        self._names = set(names)  # attributes that any of the code names
        self._classes: dict[type, bool] = {}  # class -> whether all its attributes count
        self._seen: dict[int, Any] = {}  # the objects too, so no id is reused
        self._taken: set[tuple[type, str]] = set()
        self.apart: list[Any] = []

    def finish(self) -> dict[str, str]:
        while self._members():
            pass
        for unit, name, value in self._values:
            if name not in self._changes:  # a value that code changes is its state, such as a counter
                self._units[unit] = _digest(_told(value))
        self._units["python"] = ".".join(platform.python_version_tuple()[:2])  # byte code depends on it
        return dict(sorted(self._units.items()))

    def visit(self, value: Any) -> None:
        if isinstance(value, _PLAIN) or id(value) in self._seen:
            return
        self._seen[id(value)] = value
        if isinstance(value, FunctionType):
            self._function(value)
        elif isinstance(value, type):
            self._class(value)
        elif isinstance(value, ModuleType):
            self._other(value.__name__)
        elif isinstance(value, MethodType):
            self.visit(value.__func__)
            self.visit(value.__self__)
        elif isinstance(value, staticmethod | classmethod):
            self.visit(value.__func__)
        elif isinstance(value, property):
            for function in (value.fget, value.fset):
                self.visit(function)
        elif isinstance(value, cached_property):
            self.visit(value.func)
        elif isinstance(value, partial):
            for part in (value.func, value.args, value.keywords):
                self.visit(part)
        elif isinstance(value, _Held) and _followed(type(value).__module__):
            self.visit(type(value))  # may fill itself lazily: its current content is not part of the code
        elif isinstance(value, dict | MappingProxyType):
            for part in () if _is_registry(value) else (*value.keys(), *value.values()):
                self.visit(part)
        elif isinstance(value, tuple | list | set | frozenset):
            for part in value:
                self.visit(part)
        elif hasattr(value, "__wrapped__"):  # of functools
            self.visit(value.__wrapped__)
        else:
            self._instance(value)

    def _instance(self, value: Any) -> None:
        """The class of an object, and its parts. For a user's object, its constructor arguments count as well; the
        content of ours follows from their settings."""
        kind = type(value)
        if hasattr(kind, "run") and hasattr(value, "meter"):
            return  # an engine
        self.visit(kind)
        if not _followed(kind.__module__):
            self.apart += [value] if _is_ours(kind.__module__) else []
            return
        own = not _is_ours(kind.__module__)
        self._objects += own
        for name, part in _state(value):
            if isinstance(getattr(kind, name, None), cached_property) or "__dict__" in _apart(type(part)):
                continue  # present by chance, or identified in another way
            if own and _is_told(part):
                self._values.append((f"{kind.__module__}:{kind.__qualname__} {self._objects}.{name}", name, part))
            if own or not isinstance(part, Mapping | tuple | list | set):
                self.visit(part)

    def _function(self, function: FunctionType) -> None:
        if not _followed(function.__module__):
            self._other(function.__module__)
            if not hasattr(function, "__wrapped__") and not function.__closure__:
                return
            for part in (getattr(function, "__wrapped__", None), *(part for _, part in _closed_over(function))):
                if callable(part):  # the result of a decorator
                    self.visit(part)
            return
        used = _used(function.__code__)
        self._names |= used.attributes
        self._changes |= used.changes
        defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        unit = self._add(function.__module__, function.__qualname__, _code(function.__code__), *map(_told, defaults))
        for value in defaults:
            self.visit(value)
        for name, value in _closed_over(function):
            self.visit(value)
            if _is_told(value):
                self._values.append((f"{unit} {name}", name, value))
        for name, *taken in used.globals:
            if name not in function.__globals__:
                continue  # a builtin
            module, value = function.__module__, function.__globals__[name]
            while taken and isinstance(value, ModuleType) and _followed(value.__name__) and hasattr(value, taken[0]):
                module, name = value.__name__, taken.pop(0)
                value = getattr(value, name)
            if not _counts(name, module) and not callable(value) and not isinstance(value, ModuleType):
                continue
            self.visit(value)
            if _counts(name, module) and _is_told(value) and not _is_registry(value):
                self._values.append((f"{module}:{name}", name, value))
        for value in self._imported(used, function):
            self.visit(value)
        self.visit(getattr(function, "__wrapped__", None))

    def _imported(self, used: _Used, function: FunctionType) -> Iterator[Any]:
        for name, level, taken in used.imports:
            package = function.__globals__.get("__package__")
            module = resolve_name("." * level + name, package) if level else name
            if not _followed(module):
                self._other(module)
                continue
            try:
                value = importlib.import_module(module)
                if taken is not None:
                    found = getattr(value, taken, None)  # of a package that imports what it is asked for
                    value = importlib.import_module(f"{module}.{taken}") if found is None else found
            except ImportError:
                continue  # a missing module cannot run
            yield value
            if isinstance(value, ModuleType) and _followed(value.__name__):
                yield from (vars(value)[one] for one in sorted(used.attributes & vars(value).keys()))

    def _class(self, kind: type) -> None:
        """Note the class; its attributes are visited when code names them (`_members`)."""
        if not _followed(kind.__module__):
            self._other(kind.__module__)
            return
        self._classes[kind] = hasattr(kind, "model_json_schema")  # of pydantic, which calls what no code names
        bases = (base.__qualname__ for base in kind.__mro__)
        self._add(kind.__module__, kind.__qualname__, *bases, *_tuple_fields(kind), *_schema(kind))
        self.visit(getattr(kind, "_field_defaults", None))
        for base in kind.__mro__[1:]:
            self.visit(base)

    def _members(self) -> bool:
        """Visit newly named attributes of classes; return whether there were any."""
        found = [
            (kind, name, member)
            for kind, whole in self._classes.items()
            for name, member in vars(kind).items()
            if (kind, name) not in self._taken
            and (whole or name in self._names or (name.startswith("__") and name.endswith("__")))
            and name not in _SHOWN
            and name not in _apart(kind)
        ]
        for kind, name, member in found:
            self._taken.add((kind, name))
            self.visit(member)
            function = getattr(member, "__func__", member)
            if isinstance(function, FunctionType):
                self._classes[kind] |= _followed(function.__module__) and _used(function.__code__).dynamic
            elif not name.startswith("__") and _is_told(member):
                self._values.append((f"{kind.__module__}:{kind.__qualname__}.{name}", name, member))
        return bool(found)

    def _add(self, module: str, name: str, *parts: str | bytes) -> str:
        """Name a unit after its definition; if several share one, as lambdas do, their hashes distinguish them."""
        code, name = _digest(*parts), f"{module}:{name}"
        if name.endswith("<lambda>") or self._units.get(name, code) != code:
            name = f"{name} {code}"
        self._units[name] = code
        return name

    def _other(self, module: str | None) -> None:
        """A module that is not followed counts by the version of its distribution, if it has one."""
        top = (module or "").partition(".")[0]
        if top and top != _PACKAGE and _is_installed(top):
            self._units[top] = _version(top)


def _state(value: Any) -> Iterator[tuple[str, Any]]:
    """An object's attributes, with their values. Another thread may add one meanwhile (a cached property)."""
    yield from getattr(value, "__dict__", {}).copy().items()
    for kind in type(value).__mro__:
        slots = vars(kind).get("__slots__", ())
        yield from ((name, getattr(value, name)) for name in ([slots] if isinstance(slots, str) else slots) if
                    name != "__dict__" and hasattr(value, name))  # fmt: skip


def _closed_over(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The variables that a function closes over, with their values; unbound ones are omitted."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            yield name, cell.cell_contents
        except ValueError:
            continue


_GLOBALS, _ATTRIBUTES = {"LOAD_GLOBAL", "LOAD_NAME"}, {"LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"}
_VARIABLES = _GLOBALS | _ATTRIBUTES | {"LOAD_DEREF", "LOAD_CLASSDEREF"}
_STORES = {"STORE_GLOBAL", "STORE_DEREF", "STORE_ATTR", "DELETE_GLOBAL", "DELETE_ATTR"}
_ADDING = {
    "add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem", "popleft", "put", "remove",
    "setdefault", "subtract", "update",
}  # fmt: skip


@cache
def _used(code: CodeType) -> _Used:
    named: list[tuple[str, ...]] = []
    attributes: set[str] = set()
    imports: list[tuple[str, int, str | None]] = []
    changes: set[str] = set()
    constants: list[Any] = []
    steps = list(dis.get_instructions(code))
    module, chain = ("", 0), False
    making = code.co_name in ("__init__", "__post_init__", "__new__")  # creates an object's state, which others change
    for at, step in enumerate(steps):
        what, name = step.opname, step.argval
        if what == "LOAD_CONST":
            constants.append(name)
        elif what == "STORE_ATTR" and making:
            pass
        elif what in _STORES or (what in _VARIABLES and _is_changed(steps[at + 1 :])):
            changes.add(name)
        if what in _GLOBALS:
            named.append((name,))
        elif what in _ATTRIBUTES:
            attributes.add(name)
            if chain:
                named[-1] += (name,)
        elif what == "IMPORT_NAME":
            module = (name, constants[-2])
            imports.append((*module, None))
        elif what == "IMPORT_FROM":
            if imports[-1] == (*module, None):
                imports.pop()
            imports.append((*module, name))
        chain = what in _GLOBALS or (chain and what in _ATTRIBUTES)
    dynamic = any(name[0] in ("getattr", "vars", "attrgetter", "methodcaller") for name in named)
    if dynamic:
        attributes |= {one for one in constants if isinstance(one, str) and one.isidentifier()}
    for inner in (_used(one) for one in code.co_consts if isinstance(one, CodeType)):
        named, imports = [*named, *inner.globals], [*imports, *inner.imports]
        attributes, changes, dynamic = attributes | inner.attributes, changes | inner.changes, dynamic or inner.dynamic
    parts = (frozenset(attributes), tuple(dict.fromkeys(imports)), frozenset(changes), dynamic)
    return _Used(tuple(dict.fromkeys(named)), *parts)


def _is_changed(following: Iterable[dis.Instruction]) -> bool:
    """Whether the loaded value is appended to (`seen.append`), or one of its items assigned (`counts[key] += 1`)."""
    above = 0  # stack items above it: only the key, if it is the container of an assignment
    for at, step in enumerate(following):
        if step.opname in ("LOAD_ATTR", "LOAD_METHOD") and at == 0 and step.argval in _ADDING:
            return True
        if not step.opname.startswith("LOAD_"):
            return above == 1 and step.opname in ("STORE_SUBSCR", "DELETE_SUBSCR", "COPY")
        above += dis.stack_effect(step.opcode, step.arg)
    return False


@cache
def _code(code: CodeType) -> str:
    """Hash of what a code object does: no docstring, no line numbers, no file, no names of local variables."""
    consts = [one for one in code.co_consts if not isinstance(one, CodeType)]
    if consts and isinstance(consts[0], str) and not code.co_name.startswith("<"):
        consts[0] = None  # a docstring is the first constant
    arguments = code.co_argcount + code.co_kwonlyargcount
    shape = (arguments, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags, code.co_varnames[:arguments])
    inner = [_code(one) for one in code.co_consts if isinstance(one, CodeType)]
    words = repr((shape, code.co_names, code.co_freevars))
    return _digest(code.co_code, code.co_exceptiontable, words, *map(_told, consts), *inner)


def _counts(name: str, module: str) -> bool:
    """Whether the value of a global is part of the code. In our code, constants are; others, such as caches, change at
    run time."""
    return not _is_ours(module) or name.strip("_").isupper()


def _is_registry(value: Any) -> bool:
    """Whether it lists our classes by name: a selected class is met as an object, and the others do not count."""
    listed = value.values() if isinstance(value, Mapping) else ()
    each = [one if isinstance(one, tuple) else (one,) for one in listed]
    return bool(each) and all(isinstance(one, type) and _is_ours(one.__module__) for row in each for one in row)


def _is_told(value: Any) -> bool:
    """Whether a class's attribute is a value, and not a function or an internal attribute of Python."""
    if isinstance(value, tuple | list | set | frozenset):
        return all(map(_is_told, value))
    if isinstance(value, dict | MappingProxyType):
        return all(map(_is_told, value.values()))
    plain = isinstance(value, (*_PLAIN, PurePath, re.Pattern, Enum, np.generic))
    return plain or is_dataclass(value) or _is_array(value)


def _is_array(value: Any) -> bool:
    """An array, or something convertible to one: a tensor, a series, a table."""
    return hasattr(type(value), "__array__") and not isinstance(value, type)


def _told(value: Any) -> str:
    """A value as text that is equal in every process; code, which is a unit of its own, by name alone."""
    if isinstance(value, Enum):
        return f"{type(value).__qualname__}.{value.name}"
    if isinstance(value, _PLAIN):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, _Held) and _followed(type(value).__module__):
        return type(value).__qualname__
    if isinstance(value, tuple | list):
        return f"{type(value).__name__}({', '.join(map(_told, value))})"
    if isinstance(value, set | frozenset):
        return f"set({', '.join(sorted(map(_told, value)))})"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_told(key)}: {_told(one)}' for key, one in value.items())}}}"
    if _is_array(value):
        array = np.ascontiguousarray(value)
        held = repr(array.tolist()).encode() if array.dtype.hasobject else array.tobytes()
        return f"array {array.dtype} {array.shape} {_digest(held)} {list(getattr(value, 'columns', ()))}"
    if isinstance(value, PurePath | re.Pattern):
        return repr(value)
    if is_dataclass(value) and not isinstance(value, type):
        held = ((field.name, _told(getattr(value, field.name, None))) for field in fields(value))
        return f"{type(value).__qualname__}({', '.join(map('='.join, held))})"
    if isinstance(value, FunctionType | type):
        return f"{value.__module__}:{value.__qualname__}"
    return value.__name__ if isinstance(value, ModuleType) else type(value).__qualname__


def _tuple_fields(kind: type) -> list[str]:
    """The fields of a named tuple. Its generated `__new__` is no unit: the module that it claims is named after the
    class alone, which two classes may share."""
    return [*kind._fields, _told(kind._field_defaults)] if hasattr(kind, "_field_defaults") else []


def _schema(kind: type) -> list[str]:
    """The schema and settings of a pydantic class, without the docstrings, which no model is shown (`Step.schema`)."""
    if not hasattr(kind, "model_json_schema"):
        return []
    schema = kind.model_json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        part.pop("description", None)
    return [repr(schema), _told(kind.model_config)]


def _apart(kind: type) -> set[str]:
    return {name for base in kind.__mro__ for name in vars(base).get("__apart__", ())}


def _is_ours(module: str) -> bool:
    return module == _PACKAGE or module.startswith(f"{_PACKAGE}.")


@cache
def _followed(module: str | None) -> bool:
    """Whether the code of a module is followed: our modules that determine results, and modules next to the package."""
    if not module:
        return False
    if module.startswith("namedtuple_"):
        return False  # see `_tuple_fields`
    if _is_ours(module):
        return module in _READ or not any(module == one or module.startswith(f"{one}.") for one in _APART)
    return module.partition(".")[0] not in sys.stdlib_module_names and not _is_installed(module.partition(".")[0])


@cache
def _is_installed(top: str) -> bool:
    """Whether a module belongs to a distribution, and not to the user's files, a notebook, or Python."""
    if top == "__main__" or top in sys.stdlib_module_names:
        return False
    try:
        found = find_spec(top)
    except ValueError:  # of a module that was created by hand
        return False
    places = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    files = [found.origin or "", *(found.submodule_search_locations or ())] if found else []
    return any(Path(file).is_relative_to(place) for file in files for place in places)


@cache
def _version(top: str) -> str:
    try:
        return metadata.version(top)
    except metadata.PackageNotFoundError:  # the distribution has another name
        return str(getattr(sys.modules.get(top), "__version__", "unknown"))


def _digest(*parts: str | bytes) -> str:
    told = hashlib.sha256()
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        told.update(len(raw).to_bytes(8, "big") + raw)
    return told.hexdigest()[:12]
