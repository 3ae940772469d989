"""Packages that only some features need: the extras of the distribution, and what is said where one is missing."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import NamedTuple

from workbench.errors import WorkbenchError


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


def is_there(extra: str) -> bool:
    """Whether the packages of an extra are installed."""
    return not EXTRAS[extra].missing


def require(extra: str, fault: type[WorkbenchError], instead: str = "") -> None:
    """Raise `fault` where a package of an extra is not installed; its message names the feature, the command that
    installs the package, and what to do `instead`."""
    if not is_there(extra):
        raise fault("; or ".join(filter(None, (lacking(extra), instead))))


def lacking(extra: str) -> str:
    """That a feature needs packages which are missing, and how to have them."""
    return f"{EXTRAS[extra].lack}: {install(extra)}"


def install(extra: str) -> str:
    """The command that installs an extra."""
    return f'pip install "hopscope[{extra}]"'
