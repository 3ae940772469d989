"""Errors, grouped by who can fix them, and the message about an extra that is not installed. Every message names the
value, the expectation and the next step."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import NamedTuple

from workbench.text import printable


class WorkbenchError(Exception):
    """Base of all errors for the user; the command line prints them without a traceback. What a message quotes (names
    of files, values) cannot steer the terminal that shows it."""

    def __init__(self, *message: object):
        super().__init__(*(printable(part) if isinstance(part, str) else part for part in message))


class DataError(WorkbenchError, ValueError):
    """Invalid data: the message names file, line and remedy."""


class FileDamaged(DataError):
    """A file that we wrote does not hold what was written. No question fails because of it: the run stops."""


class FileMissing(DataError, FileNotFoundError):
    """A file that another one names is not there."""

    def __init__(self, path: object, message: str):
        super().__init__(message)
        self.filename = str(path)

    def __str__(self) -> str:
        return str(self.args[0])


class SettingError(WorkbenchError, ValueError):
    """An unknown setting, name or SPEC."""


class IndexFault(WorkbenchError, RuntimeError):
    """An index cannot be opened, built or used as requested."""


class ClusterFault(WorkbenchError, RuntimeError):
    """A cluster cannot be reached or is lost, or a piece of work cannot be done on it. What is done is kept."""


class EngineError(WorkbenchError, RuntimeError):
    """An engine cannot run at all (as opposed to the failure of one input, which is a Result)."""


class EngineUnavailable(EngineError):
    """The endpoint could not be reached after all retries. Finished work is kept; the same command resumes it."""


class EngineRefused(EngineError):
    """The endpoint rejects every call: a wrong key, no permission, an unknown model."""


class RecordingMiss(EngineError):
    """A replay received a request that was never recorded."""


class BudgetSpent(EngineError):
    """The budget of an engine is spent. Finished work is kept; the same command with a larger budget resumes it."""


class MostFailed(EngineError):
    """Most of the requests for a layer of an index failed. What succeeded is kept; the same build asks for the rest."""


class Deferred(EngineError):
    """So many requests wait for the replies of a batch, and with them what was asked for. Nothing was sent; what does
    not depend on them goes on (`workbench.llm.batch.export`)."""

    def __init__(self, requests: int):
        super().__init__(f"{requests:,} requests wait for the replies of a batch")
        self.requests = requests


class Extra(NamedTuple):
    """The packages of an extra, each as it is installed and as it is imported, and the feature that needs them."""

    packages: Mapping[str, str]
    feature: str

    @property
    def missing(self) -> list[str]:
        """The packages that are not installed; nothing is imported."""
        return [package for package, module in self.packages.items() if find_spec(module) is None]

    @property
    def lack(self) -> str:
        """What the feature needs and does not have."""
        verb = "is" if len(self.missing) == 1 else "are"
        return f"{self.feature} needs {' and '.join(self.missing)}, which {verb} not installed"


EXTRAS = {  # those of pyproject.toml
    "raptor": Extra({"umap-learn": "umap"}, "a tree of RAPTOR's clusters"),
    "chroma": Extra({"chromadb": "chromadb"}, "a Chroma store"),
    "scale": Extra({"faiss-cpu": "faiss"}, "comparing so many texts"),
    "cluster": Extra({"distributed": "distributed", "cryptography": "cryptography"}, "a cluster"),
    "local": Extra({"xllamacpp": "xllamacpp"}, "a local model"),
    "pdf": Extra({"pypdf": "pypdf"}, "a PDF"),
}


def has_extra(extra: str) -> bool:
    """Whether the packages of an extra are installed."""
    return not EXTRAS[extra].missing


def require_extra(extra: str, fault: type[WorkbenchError], instead: str = "") -> None:
    """Raise `fault` where a package of an extra is not installed; its message names the feature, the command that
    installs the package, and what to do `instead`."""
    if not has_extra(extra):
        raise fault("; or ".join(filter(None, (lacking_extra(extra), instead))))


def lacking_extra(extra: str) -> str:
    """That a feature needs packages which are missing, and how to have them."""
    return f"{EXTRAS[extra].lack}: {install_extra(extra)}"


def install_extra(extra: str) -> str:
    """The command that installs an extra."""
    return f'pip install "hopscope[{extra}]"'
