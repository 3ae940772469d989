"""Where indexes, runs and figures go when no folder is named."""

from __future__ import annotations

import os
from pathlib import Path


def home() -> Path:
    """`WORKBENCH_HOME`, else the working folder, or its parent where that is called `notebooks`.

    JupyterLab starts a kernel beside its notebook, papermill beside the project: both should find the same index.
    """
    if named := os.environ.get("WORKBENCH_HOME"):
        return Path(named).expanduser()
    here = Path.cwd()
    return here.parent if here.name == "notebooks" else here
