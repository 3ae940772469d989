"""Where indexes, runs and figures go when no folder is named."""

from __future__ import annotations

import os
from pathlib import Path


def home() -> Path:
    """`WORKBENCH_HOME`, else the working folder, or the project's folder where that is its `notebooks` or `lab`.

    JupyterLab starts a kernel beside its notebook, papermill beside the project: both should find the same index.
    """
    if named := os.environ.get("WORKBENCH_HOME"):
        return Path(named).expanduser()
    here = Path.cwd()
    beside_notebooks = here.name in ("notebooks", "lab") and (here.parent / "notebooks").is_dir()
    return here.parent if beside_notebooks else here
