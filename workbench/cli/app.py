"""The command line: `workbench VERB`. Each of these files registers the verbs of one group."""

from workbench.cli import evaluate, maintain, models, share, start
from workbench.cli.shell import GROUPS, app

__all__ = ["GROUPS", "app", "evaluate", "maintain", "models", "share", "start"]
