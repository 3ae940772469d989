"""The registries: methods, readers, compressors, measures, Steps and encoders, by name.

A package adds to a kind by an entry point, a notebook by `register`:

    [project.entry-points."hopscope.methods"]
    two-stage = "two_stage:TwoStage"

Entry points are loaded at the first look-up that needs them. One that cannot be loaded is warned of and listed in
`Registry.broken`; everything else works without it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from threading import RLock
from typing import Any, NamedTuple, TypeVar

from workbench.errors import SettingError
from workbench.text import did_you_mean

T = TypeVar("T")
_NAME = re.compile(r"\w[\w:-]*")
GROUP = "hopscope"  # of entry points: hopscope.methods, hopscope.readers, …


class Broken(NamedTuple):
    """An entry point that could not be loaded: its name, the package that declares it, and why."""

    name: str
    package: str
    why: str


class Registry(MutableMapping[str, T]):
    """Name → thing, in the order of registering. `kind` is in the plural; `needs` are attributes that a thing must
    have, `taken` says of a name whether something outside the registry has it. A thing may be given as
    `module:attribute`, and is then imported when it is looked up."""

    def __init__(
        self,
        kind: str,
        things: Mapping[str, T | str] | Iterable[T] = (),
        needs: Iterable[str] = (),
        taken: Callable[[str], bool] = lambda name: False,
    ):
        self.kind, self.needs, self._taken = kind, tuple(needs), taken
        self._things: dict[str, Any] = (
            dict(things) if isinstance(things, Mapping) else {_name_of(thing): thing for thing in things}
        )
        self._packages: dict[str, str] = {}
        self._broken: list[Broken] | None = None  # None until entry points are loaded
        self._lock = RLock()

    def add(self, thing: T, name: str | None = None) -> T:
        """Register a thing under its name; another version of the same definition, as from a cell that runs again, is
        replaced."""
        name = name or _name_of(thing)
        noun, new = self.kind.removesuffix("s"), _definition(thing)
        if missing := [need for need in self.needs if not hasattr(thing, need)]:
            raise SettingError(f"the {noun} {name or thing!r} has no `{missing[0]}`; it needs {', '.join(self.needs)}")
        if not _NAME.fullmatch(name):
            raise SettingError(f"{name!r} is not a valid name of a {noun}; use letters, digits, - and _")
        old = _definition(self[name]) if name in self._things else f"workbench.{self.kind}"
        if (name in self._things and old != new) or self._taken(name):
            raise SettingError(f"the {noun} {name!r} already exists, in {old}; give {new} another name")
        self._things[name] = thing
        return thing

    def package(self, name: str) -> str:
        """The package that provides a thing: `hopscope` for our own, empty for what a notebook registered."""
        module = getattr(self[name], "__module__", "")
        return self._packages.get(name, GROUP if module.partition(".")[0] == "workbench" else "")

    @property
    def broken(self) -> tuple[Broken, ...]:
        self._load()
        return tuple(self._broken or ())

    def look_up(self, name: str) -> T:
        """The thing of this name. Raises :class:`SettingError` with the known names."""
        if name not in self:
            guess, available = did_you_mean(name, self), f"here are {', '.join(self)}"
            raise SettingError(
                f"no {self.kind.removesuffix('s')} is called {name!r}; {f'{guess} T' if guess else 't'}{available}"
            )
        return self[name]

    def _load(self) -> None:
        with self._lock:
            if self._broken is not None:
                return
            self._broken = []  # before any import, because imported code may look things up
            for point in entry_points(group=f"{GROUP}.{self.kind}"):
                package = point.dist.name if point.dist else "?"
                try:
                    thing = point.load()
                    name = getattr(thing, "name", point.name)
                    self.add(thing, name)
                    self._packages[name] = package
                except Exception as error:  # whatever the error in another package's code
                    self._broken.append(Broken(point.name, package, f"{type(error).__name__}: {error}"))
                    warnings.warn(f"{self.kind}: {point.name!r} of {package} is left out: {error}", stacklevel=4)

    def __getitem__(self, name: str) -> T:
        if name not in self._things:
            self._load()
        if isinstance(place := self._things[name], str):
            self._things[name] = _at(place)
        return self._things[name]

    def __setitem__(self, name: str, thing: T) -> None:
        self._things[name] = thing

    def __delitem__(self, name: str) -> None:
        del self._things[name]

    def __iter__(self) -> Iterator[str]:
        self._load()
        return iter(list(self._things))

    def __len__(self) -> int:
        self._load()
        return len(self._things)

    def __repr__(self) -> str:
        return f"Registry({self.kind}: {', '.join(self)})"


@dataclass(frozen=True)
class Kind:
    """Where the registry of a kind is, and how to recognise its things."""

    place: str  # module:attribute
    fits: Callable[[Any], bool]

    @property
    def registry(self) -> Registry:
        return _at(self.place)


def _has(*names: str) -> Callable[[Any], bool]:
    return lambda thing: all(callable(getattr(thing, name, None)) for name in names)


KINDS: dict[str, Kind] = {  # the first that fits
    "methods": Kind("workbench.methods:METHODS", _has("retrieve", "search")),
    "readers": Kind("workbench.reading:READERS", _has("read", "contexts")),
    "compressors": Kind("workbench.reading.compression:COMPRESSORS", _has("compress")),
    "encoders": Kind("workbench.encoding:ENCODERS", _has("encode", "encode_query")),
    "steps": Kind("workbench.steps:STEPS", lambda thing: hasattr(thing, "prompt") and hasattr(thing, "output")),
    "measures": Kind("workbench.measures:EVIDENCE", lambda thing: callable(thing) and not isinstance(thing, type)),
}


def register(
    thing: T, *, kind: str | None = None, name: str | None = None, rule: Callable | None = None, batch: bool = False
) -> T:
    """Make a method, reader, compressor, encoder (its class), Step or measure (a function) known by its name.

    The abilities of the thing tell its `kind`; a function that makes an encoder needs `kind="encoders"`. `rule` is the
    rule body of a Step: from one input to its output, with `batch` from a list to a list. Returns the thing, so it is a
    decorator too. Raises :class:`SettingError` if another definition has the name."""
    fitting = [kind for kind, definition in KINDS.items() if definition.fits(thing)] if kind is None else [kind]
    if not fitting or fitting[0] not in KINDS:
        raise SettingError(f"{thing!r} cannot be registered; kind= should be one of {', '.join(KINDS)}")
    if rule is not None and fitting[0] != "steps":
        raise SettingError(f"rule= is the rule body of a Step; {thing!r} belongs to the {fitting[0]}")
    registered = KINDS[fitting[0]].registry.add(thing, name)
    if rule is not None:
        import_module("workbench.rules").register(thing, rule, batch=batch)
    return registered


def broken() -> list[tuple[str, Broken]]:
    """(kind, entry point) of everything that could not be loaded."""
    return [(kind, point) for kind, definition in KINDS.items() for point in definition.registry.broken]


def exporting(package: str, places: Iterable[str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package that has each `module:attribute` of `places` as an attribute, imported when it is
    asked for."""
    place_of = {place.partition(":")[2]: place for place in places}

    def attribute(name: str) -> Any:
        if name not in place_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return _at(place_of[name])

    return attribute


def _at(place: str) -> Any:
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)


def _name_of(thing: Any) -> str:
    return str(getattr(thing, "name", None) or getattr(thing, "__name__", ""))


def _definition(thing: Any) -> str:
    """Where a class or a function is defined; of a Step, its prompt, or its output if the prompt is a text."""
    named = (thing, getattr(thing, "prompt", None), getattr(thing, "output", None), type(thing))
    defined: Any = next(each for each in named if hasattr(each, "__qualname__"))
    return f"{defined.__module__}.{defined.__qualname__}"
