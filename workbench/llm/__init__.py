"""Typed calls to language models: the Step, the engines that run it, and one file per concern around a call."""

from workbench.llm.engine import Engine, engine
from workbench.llm.step import Result, Step, Usage

__all__ = ["Engine", "Result", "Step", "Usage", "engine"]
