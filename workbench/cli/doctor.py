"""What this machine has, what is missing, and the one command that mends it.

    workbench.cli.doctor.examine()              in a notebook: a table
    workbench.cli.doctor.examine(ask=True)      and one tiny call to the endpoint of the environment

Without `ask` no endpoint is asked, and nothing is ever downloaded. Keys are never shown."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, requires, version
from itertools import groupby
from pathlib import Path
from shlex import quote

import psutil
from packaging.requirements import Requirement
from pydantic import RootModel

from workbench import data, encoding, integrity, threads
from workbench.display import html, text
from workbench.encoding.models import device_here
from workbench.errors import EXTRAS, EngineError, EngineRefused, EngineUnavailable, WorkbenchError, install_extra
from workbench.language import pipeline
from workbench.llm import Step, engine, local
from workbench.llm.endpoint import where
from workbench.places import ROOT, home, is_checkout
from workbench.records import Record
from workbench.registry import broken
from workbench.text import clean, counted
from workbench.views.base import Markup, esc, page, table
from workbench.views.terminal import indented

WIDGETS = {"ipywidgets": "@jupyter-widgets/jupyterlab-manager", "anywidget": "anywidget"}
_INSTALL = "make setup" if is_checkout() else "pip install --upgrade hopscope"
_PYTHON = quote(sys.executable)
_GIB = 2**30
_Said = RootModel[str]  # an answer of any words
_ENGINE_REMEDIES = {
    EngineUnavailable: "export OPENAI_BASE_URL=http://127.0.0.1:8000/v1",
    EngineRefused: "export OPENAI_API_KEY=…",
}


@dataclass(frozen=True, repr=False)
class Finding(Record):
    """One thing looked at. `good` means that nothing has to be done; `remedy` is the command to do it, or, where the
    thing is `optional`, to have more."""

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


@dataclass(frozen=True, repr=False)
class Examination(Record):
    """All findings, in the order in which one would mend them."""

    findings: tuple[Finding, ...]

    @property
    def good(self) -> bool:
        return all(finding.good for finding in self)

    @property
    def areas(self) -> dict[str, list[Finding]]:
        return {area: list(findings) for area, findings in groupby(self, lambda finding: finding.area)}

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)


def examine(folder: str | Path | None = None, *, ask: bool = False, model: str | None = None) -> Examination:
    """Look at everything. `folder` holds `indexes/`, `runs/` and `figures/` (by default `wb.home()`). With `ask` the
    endpoint of the environment is asked one tiny question of `model`: by default gpt-4o-mini of OpenAI's own, the first
    that it lists of another."""
    folder = home() if folder is None else Path(folder)
    endpoint = (lambda place: [*_endpoint(place), _asked(model)]) if ask else _endpoint
    looks = {
        "environment": _environment, "models": _models, "endpoint": endpoint, "data": _data,
        "folders": _folders, "notebooks": _notebooks, "machine": _machine,
    }  # fmt: skip
    found = ((area, _try(area, partial(look, folder))) for area, look in looks.items())
    return Examination(tuple(replace(finding, area=area) for area, findings in found for finding in findings))


def _check(what: str, good: object, found: str, remedy: str, lacking: str = "", *, optional: bool = False) -> Finding:
    """What was `found` where it is good, else what is `lacking` and the remedy."""
    return Finding(what, found if good else lacking or found, bool(good) or optional, "" if good else remedy, optional)


def _try(what: str, look: Callable[[], Iterable[Finding] | str], remedy: str = _INSTALL) -> list[Finding]:
    """What `look` finds; a fault of it is a finding too: the others are not lost for it."""
    findings: list[Finding] = []
    try:
        found = look()
        findings.extend([Finding(what, found)] if isinstance(found, str) else found)
    except Exception as error:
        fault = str(error) if isinstance(error, WorkbenchError) else f"{type(error).__name__}: {error}"
        findings.append(Finding(what, fault, False, remedy))
    return findings


def _environment(_: Path) -> Iterator[Finding]:
    running, fits = f"{platform.python_version()} in {sys.prefix}", (3, 11) <= sys.version_info[:2] < (3, 13)
    remedy = "make setup PY=python3.11" if is_checkout() else "python3.11 -m pip install hopscope"
    yield _check("Python", fits, running, remedy, f"{running}; 3.11 or 3.12 is needed")
    yield from _try("packages", _packages)
    yield from _try("installation", lambda: f"hopscope {version('hopscope')} in {ROOT}")
    for name, extra in EXTRAS.items():
        here = ", ".join(f"{package} {_version(package)}".strip() for package in extra.packages)
        yield _check(f"extra {name}", not extra.missing, here, install_extra(name), extra.lack, optional=True)
    for kind, point in broken():  # of what other packages add
        remedy = f"{_PYTHON} -m pip install --upgrade {quote(point.package)}"
        yield Finding(f"{kind[:-1]} {point.name} of {point.package}", point.why, False, remedy)


def _packages() -> Iterator[Finding]:
    """Those that are installed, against what is needed."""
    needed = _needed()
    wrong = [one for one in needed if not _fits(one)]
    for one in wrong:
        here = _version(one.name)
        yield Finding(one.name, f"{here}, needed {one.specifier}" if here else "not installed", False, _INSTALL)
    yield _check("packages", not wrong, f"{len(needed) - len(wrong)} of {len(needed)} as needed", _INSTALL)


def _needed() -> list[Requirement]:
    """What the workbench needs on this machine, without its extras."""
    return [one for one in map(Requirement, requires("hopscope") or ()) if _applies(one)]


def _applies(wanted: Requirement) -> bool:
    return wanted.marker is None or wanted.marker.evaluate({"extra": ""})


def _fits(wanted: Requirement) -> bool:
    """Whether the right version is installed, of whatever build, such as that without CUDA."""
    return bool(here := _version(wanted.name)) and wanted.specifier.contains(here, prereleases=True)


def _version(package: str) -> str:
    """Empty where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _models(_: Path) -> Iterator[Finding]:
    yield from _try("encoder", lambda: f"{(one := encoding.encoder()).name}, {one.dimension} dimensions")
    yield from _try("device of encoders", _device, "unset WORKBENCH_DEVICE")
    yield from _weights()
    yield from _try("English pipeline", lambda: "{name} {version}".format(**pipeline.nlp().meta))
    try:
        file = local.model_file("smollm2")
        yield Finding("model local:smollm2", f"{file.name}, {_size(file.stat().st_size)}", optional=True)
    except EngineRefused:
        yield Finding("model local:smollm2", "not installed", True, local.INSTALL_SMALL, optional=True)


def _weights() -> Iterator[Finding]:
    """Whether the packaged weights are the ones that are known; each is read in full, and none is loaded."""
    for name, one in integrity.WEIGHTS.items():
        if one.place is not None:
            yield from _try(f"weights {name}", partial(_as_known, name), one.remedy)


def _as_known(name: str) -> str:
    return f"{counted(integrity.check_weights(name), 'file')} as known, by SHA-256"


def _device() -> str:
    """That of WORKBENCH_DEVICE, and the GPUs that torch finds."""
    import torch

    device = device_here(encoding.models.check_device(None))
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return f"{device}; torch {torch.__version__} finds {gpus or 'no'} GPU{'s' * (gpus > 1)}"


def _endpoint(_: Path) -> Iterator[Finding]:
    """Whether a key is set; never the key."""
    missing, key = "not set: the engines `rules`, `local` and `replay` need none", os.environ.get("OPENAI_API_KEY")
    yield _check("OPENAI_API_KEY", key, "set", "export OPENAI_API_KEY=…", missing, optional=True)
    yield Finding("endpoint", where(os.environ.get("OPENAI_BASE_URL")))


def _asked(model: str | None) -> Finding:
    """One tiny call. What the engine says of a failure holds no key: it is blotted out there."""
    said, remedy = "the endpoint does not list its models", "workbench doctor --ask --model MODEL"
    step = Step("doctor", _Said, lambda text: [{"role": "user", "content": text}], read=_Said, max_tokens=16)
    try:
        if model := model or _some_model():
            with engine(f"openai:{model}", attempts=1, timeout=30) as asking:
                (result,) = asking.run(step, ["Say: ok"])
            if not result.failure:
                return Finding("answer", f"{model} answered after {result.usage.seconds:.2f} s")
            said = f"{model}: {result.failure}"
    except EngineError as error:
        said = str(error)
        remedy = remedy if "HTTP 404" in said else _ENGINE_REMEDIES.get(type(error), remedy)
    return Finding("answer", said, False, remedy)


def _some_model() -> str | None:
    """gpt-4o-mini at OpenAI; of another endpoint the first model that it lists, None if it lists none."""
    if not os.environ.get("OPENAI_BASE_URL"):  # which the client reads itself
        return "gpt-4o-mini"
    from workbench.llm.endpoint import connect

    try:
        connection = connect(None, None, 30.0)
        return connection.blot(str(connection.client.models.list().data[0].id))
    except Exception:  # its words may hold the key or the address; the call itself says what is wrong
        return None


def _data(_: Path) -> Iterator[Finding]:
    def counts(name: str) -> str:
        loaded = data.load(name)
        return f"{len(loaded.passages)} passages, {len(loaded.questions)} questions"

    for name in data.BUNDLED:
        yield from _try(f"data {name}", partial(counts, name))


def _folders(folder: Path) -> Iterator[Finding]:
    for path in (folder / "indexes", folder / "runs", folder / "figures"):
        there = path if path.exists() else folder
        remedy, lacking = f"chmod u+w {quote(str(there))}", f"{path} may not be written"
        yield _check(f"folder {path.name}", os.access(there, os.W_OK), str(path), remedy, lacking)


def _notebooks(_: Path) -> Iterator[Finding]:
    for name in ("jupyterlab", "ipykernel"):
        yield _check(name, _version(name), _version(name), _INSTALL, "not installed")
    remedy = f"{_PYTHON} -m ipykernel install --sys-prefix --name python3"
    yield from _try("kernel python3", lambda: [_kernel(remedy)], remedy)
    yield from _try("widgets", _widgets)


def _kernel(remedy: str) -> Finding:
    """The notebooks ask for a kernel by this name."""
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        program = KernelSpecManager().get_kernel_spec("python3").argv[0]
        return _check("kernel python3", shutil.which(program), program, remedy, f"{program} does not exist")
    except NoSuchKernel:
        return Finding("kernel python3", "not there", False, remedy)


def _widgets() -> Iterator[Finding]:
    """The half of each widget library that runs in the browser."""
    from jupyter_core.paths import jupyter_path

    needed = {one.name for one in _needed()}
    for name, extension in WIDGETS.items():
        there = any(Path(place, extension, "package.json").exists() for place in jupyter_path("labextensions"))
        found = f"{name} {_version(name)}".strip()
        lacking = f"{found} without its extension" if _version(name) else "not installed"
        remedy = f"{_PYTHON} -m pip install --force-reinstall --no-deps {name}"
        yield _check(f"widgets of {name}", there, found, remedy, lacking, optional=name not in needed)


def _machine(folder: Path) -> Iterator[Finding]:
    others = "one for every other pool (WORKBENCH_THREADS sets another number)"
    try:
        yield Finding("cores", f"{threads.cores()} for torch, {others}")
    except ValueError as error:
        yield Finding("cores", str(error), False, "unset WORKBENCH_THREADS")
    memory, limit = psutil.virtual_memory(), Path("/sys/fs/cgroup/memory.max")  # a container's
    allowed = limit.read_text().strip() if limit.exists() else "max"
    total = min(memory.total, int(allowed)) if allowed.isdigit() else memory.total
    free = f"{_size(min(memory.available, total))} free of {_size(total)}"
    yield _check("memory", total >= 3 * _GIB, free, "export WORKBENCH_THREADS=1", f"{free}; 3 GiB are needed")
    there = next(path for path in [folder.absolute(), *folder.absolute().parents] if path.exists())
    disk = shutil.disk_usage(there).free
    lacking = f"{_size(disk)} free; an index of 10,000 passages takes about 0.2 GiB"
    yield _check("disk", disk > 2 * _GIB, f"{_size(disk)} free", f"du -sh {quote(str(there))}/*", lacking)


def _size(size: int) -> str:
    return f"{size / _GIB:,.1f} GiB" if size >= _GIB else f"{size / 2**20:,.1f} MiB"


# -- How it shows itself -----------------------------------------------------------------------------------------------
_WIDE = 100  # columns that it fits into
_LONGEST = 400  # characters of what was found, and of a command
_MARKS = {"ok": "✓", "optional": "–", "MISSING": "✗"}


@text.register
def _(finding: Finding) -> str:
    return "\n".join(_lines(finding, 0))


@text.register
def _(examination: Examination) -> str:
    lines = [_verdict(examination)]
    for area, findings in examination.areas.items():
        lines += [clean(area), *(line for finding in findings for line in _lines(finding, 2))]
    return "\n".join(lines)


def _lines(finding: Finding, indent: int) -> list[str]:
    """What was found, and below it what mends it."""
    optional = " (optional)" if finding.mark == "optional" else ""
    found = f"{_MARKS[finding.mark]} {clean(finding.what, _LONGEST)}: {clean(finding.found, _LONGEST)}{optional}"
    remedy = [f"→ {clean(finding.remedy, _LONGEST)}"] if finding.remedy else []
    deeper = indent + len("✓ ")
    return [*indented(found, indent, _WIDE), *(line for one in remedy for line in indented(one, deeper, _WIDE))]


@html.register
def _(finding: Finding) -> str:
    return page(table(["", "what", "found", "do"], [_row(finding)]))


@html.register
def _(examination: Examination) -> str:
    rows = [
        ("" if position else area, *_row(finding))
        for area, findings in examination.areas.items()
        for position, finding in enumerate(findings)
    ]
    return page(f"<p><b>{esc(_verdict(examination))}</b></p>", table(["", "", "what", "found", "do"], rows))


def _row(finding: Finding) -> tuple:
    look = {"optional": "<span class='q'>optional</span>", "MISSING": "<span class='bad'>✗</span>"}
    mark = Markup(look.get(finding.mark, "✓"))
    return mark, *(clean(part, _LONGEST) for part in (finding.what, finding.found, finding.remedy))


def _verdict(examination: Examination) -> str:
    bad = sum(not finding.good for finding in examination)
    return f"{bad} of {len(examination)} things are to be mended." if bad else "Nothing is to be mended."
