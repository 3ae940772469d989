"""All requests to a language model: one file per Step, with its input, output and prompt, whose
texts are in `prompts/`."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from workbench.llm.step import Step
from workbench.registry import Registry


def catalogue() -> dict[str, Step]:
    """Every Step by name: the Steps of this folder, then the registered ones."""
    return _own() | dict(STEPS)


@cache
def _own() -> dict[str, Step]:
    modules = [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)]
    return {module.STEP.name: module.STEP for module in modules if hasattr(module, "STEP")}


# Steps of notebooks and other packages.
STEPS: Registry[Step] = Registry("steps", taken=lambda name: name in _own())
