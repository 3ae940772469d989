"""Default folders of indexes, runs and figures."""

from __future__ import annotations

import os
from pathlib import Path


def home() -> Path:
    """`WORKBENCH_HOME`, otherwise the working folder, or the project's folder if that is its `notebooks` or `lab`.

    JupyterLab starts a kernel in the notebook's folder, papermill in the project's: both should find the same index.
    """
    if named := os.environ.get("WORKBENCH_HOME"):
        return Path(named).expanduser()
    here = Path.cwd()
    beside_notebooks = here.name in ("notebooks", "lab") and (here.parent / "notebooks").is_dir()
    return here.parent if beside_notebooks else here
