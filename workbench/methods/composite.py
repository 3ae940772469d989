"""The base class of methods that contain other methods: an iterative method and its backbone, a fusion and its parts, a
reranker and its first stage. Such a method needs the layers, Steps and engines of its parts as well as its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from workbench.index import Index
from workbench.llm.engine import Engine
from workbench.methods.base import Method


class Composite(Method):
    """A method over others, its `parts`, which the setting `of` names: methods, or their SPECs."""

    layers = ()  # those of its parts
    of: ClassVar[str] = "over"

    def __init__(self, index: Index, engine: Engine | None = None, **settings: Any):
        given = settings.get(self.of, self._default(self.of, settings))
        self.parts = self.parts_of(given, index, engine)
        settings |= {self.of: "+".join(part.label for part in self.parts)} if self.of in settings else {}
        super().__init__(self.parts[-1].index, engine or self.parts[0].engine, **settings)
        self.layers = _joined(part.layers for part in self.parts)
        self.steps = _joined((self.asked(), *(part.steps for part in self.parts)))

    def parts_of(self, given: Any, index: Index, engine: Engine | None) -> tuple[Method, ...]:
        """The parts that a setting names."""
        return (as_method(given, index, engine),)

    @property
    def given_parts(self) -> Method | list[Method]:
        """The parts as the setting `of` takes them."""
        return self.parts[0] if len(self.parts) == 1 else list(self.parts)

    def asked(self) -> tuple[str, ...]:
        """The method's own Steps under its settings."""
        return type(self).steps

    @property
    def engines(self) -> tuple[Engine, ...]:
        return (*super().engines, *(engine for part in self.parts for engine in part.engines))

    @property
    def limits(self) -> dict[str, int]:
        """Settings of the parts that the windows of their engines make smaller."""
        return {name: most for part in self.parts for name, most in getattr(part, "limits", {}).items()}

    @property
    def reads(self) -> tuple[str, ...]:
        return _joined(part.reads for part in self.parts)

    @property
    def weights_hash(self) -> str:
        return " ".join(filter(None, (part.weights_hash for part in self.parts)))

    @classmethod
    def _default(cls, name: str, settings: Mapping[str, Any]) -> Any:
        profile = cls.profiles.get(settings.get("profile", next(iter(cls.profiles), None)), {})
        return profile.get(name, cls.Settings.__dataclass_fields__[name].default)


def as_method(given: Any, index: Index, engine: Engine | None) -> Method:
    """A method as it is, or the one that a SPEC names."""
    from workbench.methods import method  # which lists the classes of this file's heirs

    return given if isinstance(given, Method) else method(given, index, engine)


def _joined(names: Any) -> tuple[str, ...]:
    """All names of several, each once, in their order."""
    return tuple(dict.fromkeys(name for several in names for name in several))
