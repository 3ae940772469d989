"""The command line: `workbench VERB`. Each of these files registers a group of verbs."""

from workbench.cli import asking, building, models, results, start
from workbench.cli.shell import GROUPS, app

__all__ = ["GROUPS", "app", "asking", "building", "models", "results", "start"]
