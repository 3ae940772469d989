"""A check of this machine: what is installed, what is missing, and the command that fixes it. No endpoint is asked
but by `examine(ask=True)`, nothing is ever downloaded, and keys are never shown."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from packaging.requirements import Requirement
from pydantic import RootModel

from workbench import encoding, integrity
from workbench.encoding.models import check_device, device_here
from workbench.errors import EXTRAS, WorkbenchError, install_extra
from workbench.language import pipeline
from workbench.llm import Step, engine, local
from workbench.llm.endpoint import where
from workbench.places import ROOT, home, is_checkout
from workbench.registry import broken

WIDGETS = {"ipywidgets": "@jupyter-widgets/jupyterlab-manager", "anywidget": "anywidget"}
_INSTALL = "make setup" if is_checkout() else "pip install --upgrade hopscope"
_OTHER_PYTHON = "make setup PY=python3.11" if is_checkout() else "python3.11 -m pip install hopscope"
_PIP = f"{quote(sys.executable)} -m pip install"
_ASK = "export OPENAI_API_KEY=… or OPENAI_BASE_URL=…, or name a model: workbench doctor --ask --model MODEL"


class Finding(NamedTuple):
    """The result of one check. `mark`: `ok`, `optional` (absent, as it may be) or `MISSING`. `remedy`: what adds it."""

    area: str
    what: str
    found: str
    mark: str = "ok"
    remedy: str = ""


def examine(folder: str | Path | None = None, *, ask: bool = False, model: str | None = None) -> tuple[Finding, ...]:
    """Look at everything, in the order of repair. `folder` holds `indexes/`, `runs/` and `figures/` (by default
    `wb.home()`). With `ask`, `model` (by default OpenAI's gpt-4o-mini) is asked one tiny question."""
    return tuple(look(*check) for check in checks(Path(folder or home()).absolute(), ask, model))


def look(area: str, what: str, here: Callable[[], object], remedy: str = _INSTALL, absent: str = "MISSING") -> Finding:
    """The finding of a check: what is `here`, or the exception in its place."""
    try:
        return Finding(area, what, str(here()))
    except Exception as error:
        why = str(error) if isinstance(error, WorkbenchError) else f"{type(error).__name__}: {error}"
        return Finding(area, what, why, absent, remedy)


def checks(folder: Path, ask: bool = False, model: str | None = None) -> Iterator[tuple]:
    """The arguments of `look`, for each check."""
    running, fits = f"{platform.python_version()} in {sys.prefix}", (3, 11) <= sys.version_info[:2] < (3, 13)
    yield "environment", "Python", partial(_need, fits, running, f"{running}; 3.11 or 3.12 is needed"), _OTHER_PYTHON
    yield "environment", "packages", _packages
    yield "environment", "installation", lambda: f"hopscope {version('hopscope')} in {ROOT}"
    for name, extra in EXTRAS.items():
        here = ", ".join(f"{package} {_version(package)}".strip() for package in extra.packages)
        installed = partial(_need, not extra.missing, here, extra.lack)
        yield "environment", f"extra {name}", installed, install_extra(name), "optional"
    for kind, point in broken():  # of what other packages add
        remedy = f"{_PIP} --upgrade {quote(point.package)}"
        yield (
            "environment",
            f"{kind[:-1]} {point.name} of {point.package}",
            partial(_need, False, "", point.why),
            remedy,
        )
    yield "models", "encoder", lambda: "{0.name}, {0.dimension} dimensions".format(encoding.encoder())
    yield "models", "device of encoders", lambda: device_here(check_device(None)), "unset WORKBENCH_DEVICE"
    for name, weights in integrity.WEIGHTS.items():
        if weights.place is not None:  # each file is read in full, and none is loaded
            checked = partial(integrity.check_weights, name)
            yield "models", f"weights {name}", lambda checked=checked: f"files: {checked()}", weights.remedy
    yield "models", "English pipeline", lambda: "{name} {version}".format(**pipeline.nlp().meta)
    yield "models", "model local:smollm2", lambda: local.model_file("smollm2").name, local.INSTALL_SMALL, "optional"
    unset, key = "not set: the engines `rules`, `local` and `replay` need none", os.environ.get("OPENAI_API_KEY")
    yield "endpoint", "OPENAI_API_KEY", partial(_need, key, "set", unset), "export OPENAI_API_KEY=…", "optional"
    yield "endpoint", "endpoint", lambda: where(os.environ.get("OPENAI_BASE_URL"))
    if ask:
        yield "endpoint", "answer", partial(_answer, model), _ASK
    yield from (("notebooks", name, partial(version, name)) for name in ("jupyterlab", "ipykernel"))
    yield "notebooks", "kernel python3", _kernel, f"{quote(sys.executable)} -m ipykernel install --sys-prefix"
    for name in WIDGETS:
        yield "notebooks", f"widgets of {name}", partial(_widgets, name), f"{_PIP} --force-reinstall --no-deps {name}"
    there = next(path for path in [folder, *folder.parents] if path.exists())
    room, place = f"{shutil.disk_usage(there).free / 2**30:,.1f} GiB free", quote(str(there))
    lacking = f"{room}; an index of 10,000 passages takes about 0.2 GiB"
    yield "machine", "disk", partial(_need, shutil.disk_usage(there).free > 2**31, room, lacking), f"du -sh {place}/*"
    may = os.access(there, os.W_OK)
    yield "machine", "folder", partial(_need, may, there, f"{there} may not be written"), f"chmod u+w {place}"


def _need(good: object, here: object, lacking: str) -> object:
    if not good:
        raise WorkbenchError(lacking)
    return here


def _packages() -> object:
    """Check the packages that are needed without extras by version, whatever their build, such as one without CUDA."""
    needed = [Requirement(text) for text in requires("hopscope") or () if "extra ==" not in text]
    wrong = [
        f"{package.name} {here or 'not installed'}, needed {package.specifier}"
        for package in needed
        if not (here := _version(package.name)) or not package.specifier.contains(here, prereleases=True)
    ]
    return _need(not wrong, f"{len(needed)} as needed", "; ".join(wrong))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _answer(model: str | None) -> object:
    """One tiny request. Failures that an engine reports contain no key: it is removed there."""
    Text = RootModel[str]
    step = Step("doctor", Text, lambda text: [{"role": "user", "content": text}], read=Text, max_tokens=16)
    own = not os.environ.get("OPENAI_BASE_URL")  # which the client reads itself
    name = _need(model or own, model or "gpt-4o-mini", "another endpoint than OpenAI's: name a model that it has")
    with engine(f"openai:{name}", attempts=1, timeout=30) as asking:
        (result,) = asking.run(step, ["Say: ok"])
    return _need(not result.failure, f"{name} answered", f"{name}: {result.failure}")


def _kernel() -> object:
    from jupyter_client.kernelspec import KernelSpecManager

    program = KernelSpecManager().get_kernel_spec("python3").argv[0]
    return _need(shutil.which(program), program, f"{program} does not exist")


def _widgets(name: str) -> object:
    from jupyter_core.paths import jupyter_path

    there = any(Path(place, WIDGETS[name], "package.json").exists() for place in jupyter_path("labextensions"))
    return _need(there, f"{name} {version(name)}", "without its extension of JupyterLab")
