"""A notebook executed by papermill, in a kernel that does not outlive an interrupt."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import papermill
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import Engine, NotebookExecutionManager, papermill_engines
from papermill.log import logger

_ENGINE = "workbench"


class _Client(PapermillNotebookClient):
    """Ends its kernel at once where it is interrupted. One that is asked to end would go on with its cell and then show
    what it broke off, and one that is just starting would be left behind."""

    @contextmanager
    def setup_kernel(self, **settings: Any) -> Iterator[None]:
        self.shutdown_kernel = "immediate"
        try:
            with super().setup_kernel(**settings):
                yield
                self.shutdown_kernel = "graceful"
        finally:
            if self.km is not None:
                self._cleanup_kernel()


class _Engine(Engine):
    @classmethod
    def execute_managed_notebook(cls, nb_man: NotebookExecutionManager, kernel_name: str, **_: Any) -> None:
        _Client(nb_man, kernel_name=kernel_name, log=logger).execute()


papermill_engines.register(_ENGINE, _Engine)


def execute(notebook: Path, target: Path, parameters: Mapping[str, Any], *, progress: bool = True) -> None:
    """Execute a notebook in the working folder and write `target`; until its end, or until a cell fails, a hidden file
    beside it. Raises :class:`papermill.PapermillExecutionError` if one does."""
    part = target.with_name(f".{target.name}")
    try:
        papermill.execute_notebook(
            str(notebook), str(part), parameters=dict(parameters), engine_name=_ENGINE, kernel_name="python3",
            cwd=str(Path.cwd()), progress_bar=progress,
        )  # fmt: skip
    except papermill.PapermillExecutionError:
        os.replace(part, target)
        raise
    else:
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
