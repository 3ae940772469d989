"""Everything that a language model is asked: one file per Step, with its input, output, prompt and rule body."""

from importlib import import_module
from pkgutil import iter_modules

from workbench.llm.step import Step


def catalogue() -> dict[str, Step]:
    """Every Step of this folder by its name."""
    modules = [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)]
    return {module.STEP.name: module.STEP for module in modules if hasattr(module, "STEP")}
