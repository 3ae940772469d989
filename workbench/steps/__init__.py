"""All requests to a language model: Steps with their inputs and outputs, and how replies in prose are read. Their
prompts are in `prompts/`."""

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
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    steps = {step.name: step for module in modules for step in vars(module).values() if isinstance(step, Step)}
    return dict(sorted(steps.items()))


# Steps of notebooks and other packages.
STEPS: Registry[Step] = Registry("steps", taken=lambda name: name in _own())
