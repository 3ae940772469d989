"""A check of this machine: what is installed, what is missing, and the command that fixes it.

    workbench.cli.doctor.examine(ask=True)      with one tiny call to the endpoint of the environment

Without `ask` no endpoint is asked, and nothing is ever downloaded. Keys are never shown."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, requires, version
from itertools import chain
from pathlib import Path
from shlex import quote

from packaging.requirements import Requirement
from pydantic import RootModel

from workbench import encoding, integrity
from workbench.encoding import models
from workbench.errors import EXTRAS, WorkbenchError, install_extra
from workbench.language import pipeline
from workbench.llm import Step, engine, local
from workbench.llm.endpoint import where
from workbench.places import ROOT, home, is_checkout
from workbench.records import Record
from workbench.registry import broken
from workbench.text import counted

WIDGETS = {"ipywidgets": "@jupyter-widgets/jupyterlab-manager", "anywidget": "anywidget"}
_INSTALL = "make setup" if is_checkout() else "pip install --upgrade hopscope"
_OTHER_PYTHON = "make setup PY=python3.11" if is_checkout() else "python3.11 -m pip install hopscope"
_PIP = f"{quote(sys.executable)} -m pip install"
_ASK = "export OPENAI_API_KEY=… or OPENAI_BASE_URL=…, or name a model: workbench doctor --ask --model MODEL"
_Reply = RootModel[str]  # of any words


@dataclass(frozen=True, repr=False)
class Finding(Record):
    """The result of one check. `good` means that nothing has to be done; `remedy` is the command that fixes it, or adds
    more if the thing is `optional`."""

    what: str
    found: str
    good: bool = True
    remedy: str = ""
    optional: bool = False
    area: str = ""

    @property
    def mark(self) -> str:
        """`ok`, `optional` (it is not there, and need not be) or `MISSING`."""
        return "MISSING" if not self.good else "optional" if self.optional and self.remedy else "ok"


def examine(folder: str | Path | None = None, *, ask: bool = False, model: str | None = None) -> tuple[Finding, ...]:
    """Look at everything, in the order in which one would mend it. `folder` holds `indexes/`, `runs/` and `figures/`
    (by default `wb.home()`). With `ask` the endpoint of the environment is asked one tiny question of `model`: by
    default OpenAI's gpt-4o-mini."""
    folder = home() if folder is None else Path(folder)
    areas = {"environment": _environment(folder), "models": _models(), "endpoint": _endpoint(),
             "notebooks": _notebooks(), "machine": _machine(folder)}  # fmt: skip
    if ask:
        areas["endpoint"] = chain(areas["endpoint"], map(_answer, [model]))
    return tuple(replace(finding, area=area) for area, findings in areas.items() for finding in findings)


def _look(what: str, look: Callable[[], str], remedy: str = _INSTALL, *, optional: bool = False) -> Finding:
    """The finding of one check; an exception is a fault, unless the thing is `optional`."""
    try:
        return Finding(what, look())
    except Exception as error:
        why = str(error) if isinstance(error, WorkbenchError) else f"{type(error).__name__}: {error}"
        return Finding(what, why, optional, remedy, optional)


def _need(good: object, description: str, lacking: str) -> str:
    if not good:
        raise WorkbenchError(lacking)
    return description


def _environment(_: Path | None) -> Iterator[Finding]:
    running, fits = f"{platform.python_version()} in {sys.prefix}", (3, 11) <= sys.version_info[:2] < (3, 13)
    yield _look("Python", lambda: _need(fits, running, f"{running}; 3.11 or 3.12 is needed"), _OTHER_PYTHON)
    yield _look("packages", _packages)
    yield Finding("installation", f"hopscope {_version('hopscope')} in {ROOT}")
    for name, extra in EXTRAS.items():
        here = ", ".join(f"{package} {_version(package)}".strip() for package in extra.packages)
        yield _look(f"extra {name}", partial(_need, not extra.missing, here, extra.lack), install_extra(name),
                    optional=True)  # fmt: skip
    for kind, point in broken():  # of what other packages add
        what = f"{kind[:-1]} {point.name} of {point.package}"
        yield Finding(what, point.why, False, f"{_PIP} --upgrade {quote(point.package)}")


def _packages() -> str:
    """Check the packages that are needed without extras by version, whatever their build, such as one without CUDA."""
    whole = map(Requirement, requires("hopscope") or ())
    needed = [package for package in whole if package.marker is None or package.marker.evaluate({"extra": ""})]
    wrong = [
        f"{package.name} {here or 'not installed'}, needed {package.specifier}"
        for package in needed
        if not (here := _version(package.name)) or not package.specifier.contains(here, prereleases=True)
    ]
    return _need(not wrong, f"{len(needed)} as needed", "; ".join(wrong))


def _version(package: str) -> str:
    """Empty where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _models() -> Iterator[Finding]:
    yield _look("encoder", lambda: "{0.name}, {0.dimension} dimensions".format(encoding.encoder()))
    yield _look("device of encoders", lambda: models.device_here(models.check_device(None)), "unset WORKBENCH_DEVICE")
    for name, weights in integrity.WEIGHTS.items():
        if weights.place is not None:  # each file is read in full, and none is loaded
            yield _look(f"weights {name}", partial(_weights, name), weights.remedy)
    yield _look("English pipeline", lambda: "{name} {version}".format(**pipeline.nlp().meta))
    yield _look("model local:smollm2", lambda: local.model_file("smollm2").name, local.INSTALL_SMALL, optional=True)


def _weights(name: str) -> str:
    return f"{counted(integrity.check_weights(name), 'file')} as known"


def _endpoint() -> Iterator[Finding]:
    """Whether a key is set; never the key."""
    missing, key = "not set: the engines `rules`, `local` and `replay` need none", os.environ.get("OPENAI_API_KEY")
    yield _look("OPENAI_API_KEY", lambda: _need(key, "set", missing), "export OPENAI_API_KEY=…", optional=True)
    yield Finding("endpoint", where(os.environ.get("OPENAI_BASE_URL")))


def _answer(model: str | None) -> Finding:
    """One tiny request. Failures that an engine reports contain no key: it is removed there."""
    step = Step("doctor", _Reply, lambda text: [{"role": "user", "content": text}], read=_Reply, max_tokens=16)

    def answer() -> str:
        own = not os.environ.get("OPENAI_BASE_URL")  # which the client reads itself
        name = _need(model or own, model or "gpt-4o-mini", "another endpoint than OpenAI's: name a model that it has")
        with engine(f"openai:{name}", attempts=1, timeout=30) as asking:
            (result,) = asking.run(step, ["Say: ok"])
        return _need(not result.failure, f"{name} answered", f"{name}: {result.failure}")

    return _look("answer", answer, _ASK)


def _notebooks() -> Iterator[Finding]:
    """Jupyter, the kernel that the notebooks ask for, and the half of each widget library that runs in the browser."""
    for name in ("jupyterlab", "ipykernel"):
        yield _look(name, partial(version, name))
    yield _look("kernel python3", _kernel, f"{quote(sys.executable)} -m ipykernel install --sys-prefix --name python3")
    for name in WIDGETS:
        yield _look(f"widgets of {name}", partial(_widgets, name), f"{_PIP} --force-reinstall --no-deps {name}")


def _kernel() -> str:
    from jupyter_client.kernelspec import KernelSpecManager

    program = KernelSpecManager().get_kernel_spec("python3").argv[0]
    return _need(shutil.which(program), program, f"{program} does not exist")


def _widgets(name: str) -> str:
    from jupyter_core.paths import jupyter_path

    there = any(Path(place, WIDGETS[name], "package.json").exists() for place in jupyter_path("labextensions"))
    return _need(there, f"{name} {version(name)}", "without its extension of JupyterLab")


def _machine(folder: Path) -> Iterator[Finding]:
    """Check the room on the disk and the permission to write."""
    there = next(path for path in [folder.absolute(), *folder.absolute().parents] if path.exists())
    free, place = shutil.disk_usage(there).free / 2**30, quote(str(there))
    lacking = f"{free:,.1f} GiB free; an index of 10,000 passages takes about 0.2 GiB"
    yield _look("disk", lambda: _need(free > 2, f"{free:,.1f} GiB free", lacking), f"du -sh {place}/*")
    may = os.access(there, os.W_OK)
    yield _look("folder", lambda: _need(may, str(there), f"{there} may not be written"), f"chmod u+w {place}")
