"""What this machine has, what is missing, and the one command that mends it.

    workbench.doctor.examine()              in a notebook: a table
    workbench.doctor.examine(ask=True)      and one tiny call to the endpoint of the environment

Without `ask` no endpoint is asked, and nothing is ever downloaded. Keys are never shown."""

from __future__ import annotations

import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, requires, version
from itertools import groupby
from pathlib import Path

from workbench import threads
from workbench.errors import EngineError, EngineRefused, EngineUnavailable, IndexFault
from workbench.places import home
from workbench.records import Record

ROOT = Path(__file__).parents[1]  # of a checkout
WIDGETS = {"ipywidgets": "@jupyter-widgets/jupyterlab-manager", "anywidget": "anywidget", "ipysigma": "ipysigma"}
_INSTALL = "make setup" if (ROOT / "Makefile").exists() else "pip install --upgrade hopscope"
_PYTHON = shlex.quote(sys.executable)
_GIB = 2**30


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


Look = Callable[[Path], Iterable[Finding]]
_LOOKS: list[tuple[str, Look]] = []  # area and look, in the order of the examination


def _looks_at(area: str) -> Callable[[Look], Look]:
    return lambda look: _LOOKS.append((area, look)) or look


def examine(folder: str | Path | None = None, *, ask: bool = False, model: str | None = None) -> Examination:
    """Look at everything. `folder` holds `indexes/` and `runs/` (by default `wb.home()`). With `ask` the endpoint of
    the environment is asked one tiny question of `model`: by default gpt-4o-mini of OpenAI's own, the first that it
    lists of another."""
    folder, findings = Path(folder) if folder is not None else home(), []
    for area, look in _LOOKS:
        looks = [look, lambda _: [_asked(model)]] if ask and look is _endpoint else [look]
        findings += [replace(finding, area=area) for one in looks for finding in _careful(one, folder)]
    return Examination(tuple(findings))


def _careful(look: Look, folder: Path) -> list[Finding]:
    """A look that breaks is a finding too: the others are not lost for it."""
    try:
        return list(look(folder))
    except Exception as error:
        return [Finding(look.__name__.strip("_"), f"{type(error).__name__}: {error}", False, _INSTALL)]


def _tried(what: str, look: Callable[[], str]) -> Finding:
    (finding,) = _careful(lambda _: [Finding(what, look())], Path())
    return replace(finding, what=what)


def _check(what: str, good: object, found: str, remedy: str, lacking: str = "", *, optional: bool = False) -> Finding:
    """What was `found` where it is good, else what is `lacking` and the remedy."""
    return Finding(what, found if good else lacking or found, bool(good) or optional, "" if good else remedy, optional)


@_looks_at("environment")
def _python(_: Path) -> Iterable[Finding]:
    found, good = f"{platform.python_version()} in {sys.prefix}", (3, 11) <= sys.version_info[:2] < (3, 13)
    remedy = "make setup PY=python3.11" if _INSTALL == "make setup" else "python3.11 -m pip install hopscope"
    yield _check("Python", good, found, remedy, f"{found}; 3.11 or 3.12 is needed")


@_looks_at("environment")
def _packages(_: Path) -> Iterable[Finding]:
    """Those that are needed, against what is needed, and all of the tested set against its versions."""
    needed, here = _needed(), {name: _version(name) for name in _needed()}
    wrong = {name: wanted for name, wanted in needed.items() if not (here[name] and wanted.contains(here[name], True))}
    for name, wanted in wrong.items():
        found = f"{here[name]}, needed {wanted}" if here[name] else "not installed"
        yield Finding(name, found, False, _INSTALL)
    yield _check("packages", not wrong, f"{len(needed) - len(wrong)} of {len(needed)} as needed", _INSTALL)
    if (constraints := ROOT / "constraints.txt").exists():
        yield _tested_set(constraints)


def _tested_set(constraints: Path) -> Finding:
    lines = constraints.read_text(encoding="utf-8").splitlines()
    tested = dict(line.split("==") for line in lines if "==" in line and not line.startswith("#"))
    here = {name: found for name in tested if (found := _version(name))}
    # What follows + names a build, such as that without CUDA.
    other = [f"{n} {v} (tested {tested[n]})" for n, v in here.items() if v.partition("+")[0] != tested[n]]
    said = f"{len(here) - len(other)} of {len(here)} installed packages as in {constraints.name}"
    said += f"; otherwise {', '.join(other[:5])}" + (" …" if len(other) > 5 else "") if other else ""
    remedy = f"{_PYTHON} -m pip install -c constraints.txt -e '.[dev]'"
    return _check("tested set", not other, said, remedy, optional=True)


def _needed() -> dict[str, object]:
    """Name → specifier of the packages that the workbench needs on this machine, without its extras."""
    from packaging.requirements import Requirement

    wanted = [Requirement(line) for line in requires("hopscope") or ()]
    return {r.name: r.specifier for r in wanted if r.marker is None or r.marker.evaluate({"extra": ""})}


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


@_looks_at("environment")
def _installation(_: Path) -> Iterable[Finding]:
    where = f"installed in {ROOT}"
    if (ROOT / ".git").exists():
        command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
        try:
            commit = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
        except (OSError, subprocess.SubprocessError):
            commit = "whose commit git does not tell"
        where = f"a git checkout in {ROOT}: {commit}"
    yield Finding("installation", f"hopscope {version('hopscope')}, {where}")


@_looks_at("environment")
def _plugins(_: Path) -> Iterable[Finding]:
    """What other packages add and cannot be loaded."""
    from workbench.registry import broken

    for kind, point in broken():
        remedy = f"{_PYTHON} -m pip install --upgrade {shlex.quote(point.package)}"
        yield Finding(f"{kind[:-1]} {point.name} of {point.package}", point.why, False, remedy)


@_looks_at("models")
def _encoder(_: Path) -> Iterable[Finding]:
    from workbench import encoding

    yield _tried("encoder", lambda: f"{(one := encoding.encoder()).name}, {one.dimension} dimensions")


@_looks_at("models")
def _language(_: Path) -> Iterable[Finding]:
    from workbench.language import pipeline

    yield _tried("English pipeline", lambda: "{name} {version}".format(**pipeline.nlp().meta))


@_looks_at("models")
def _local_models(_: Path) -> Iterable[Finding]:
    """What the engine `local` needs; it is an extra, so nothing is wrong where it is missing."""
    from workbench.llm.local import INSTALL, INSTALL_SMALL, model_file

    found = _version("xllamacpp")
    yield _check("engine local", found, f"xllamacpp {found}", INSTALL, "not installed", optional=True)
    try:
        file = model_file("smollm2")
        yield Finding("model local:smollm2", f"{file.name}, {_size(file.stat().st_size)}", optional=True)
    except EngineRefused:
        yield Finding("model local:smollm2", "not installed", True, INSTALL_SMALL, optional=True)


@_looks_at("endpoint")
def _endpoint(_: Path) -> Iterable[Finding]:
    """Whether a key is set; never the key."""
    from workbench.llm.endpoint import where

    missing = "not set: the engines `rules`, `local` and `replay` need none"
    key = os.environ.get("OPENAI_API_KEY")
    yield _check("OPENAI_API_KEY", key, "set", "export OPENAI_API_KEY=…", missing, optional=True)
    yield Finding("endpoint", where(os.environ.get("OPENAI_BASE_URL")))


def _asked(model: str | None) -> Finding:
    """One tiny call. What the engine says of a failure holds no key: it is blotted out there."""
    from workbench.llm import engine

    said, remedy = "the endpoint does not list its models", "workbench doctor --ask --model MODEL"
    try:
        if model := model or _some_model():
            with engine(f"openai:{model}", attempts=1, timeout=30) as asking:
                (result,) = asking.run(_greeting(), ["Say: ok"])
            if not result.failure:
                return Finding("answer", f"{model} answered after {result.usage.seconds:.2f} s")
            said = f"{model}: {result.failure}"
    except EngineError as error:
        said = str(error)
        if isinstance(error, EngineUnavailable):
            remedy = "export OPENAI_BASE_URL=http://127.0.0.1:8000/v1"
        elif isinstance(error, EngineRefused) and "HTTP 404" not in said:
            remedy = "export OPENAI_API_KEY=…"
    return Finding("answer", said, False, remedy)


def _greeting():
    from pydantic import create_model

    from workbench.llm import Step

    said = create_model("Said", said=str)
    return Step("doctor", said, _prompt, read=lambda text: said(said=text), max_tokens=16)


def _prompt(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def _some_model() -> str | None:
    """gpt-4o-mini at OpenAI; of another endpoint the first model that it lists, None if it lists none."""
    if not (base := os.environ.get("OPENAI_BASE_URL")):
        return "gpt-4o-mini"
    import openai

    key = os.environ.get("OPENAI_API_KEY") or "none"
    try:
        client = openai.OpenAI(api_key=key, base_url=base, max_retries=0, timeout=30)
        return str(next(iter(client.models.list().data)).id)
    except Exception:  # its words may hold the key or the address; the call itself says what is wrong
        return None


@_looks_at("data")
def _bundled(_: Path) -> Iterable[Finding]:
    from workbench import data

    def say(name: str) -> str:
        loaded = data.load(name)
        return f"{len(loaded.passages)} passages, {len(loaded.questions)} questions"

    for name in data.BUNDLED:
        yield _tried(f"data {name}", lambda name=name: say(name))


@_looks_at("data")
def _registered(_: Path) -> Iterable[Finding]:
    from workbench.data import registry

    known = registry.datasets().datasets
    here = [data.id for data in known if data.here]
    names = f": {', '.join(here[:8])}{' …' if len(here) > 8 else ''}" if here else ""
    yield Finding("data sets by name", f"{len(here)} of {len(known)} are on this machine{names}", optional=True)


@_looks_at("indexes and runs")
def _places(folder: Path) -> Iterable[Finding]:
    for place in ("indexes", "runs", "figures"):
        path = folder / place
        there = path if path.exists() else folder
        writable = os.access(there, os.W_OK)
        yield _check(
            f"folder {place}", writable, str(path), f"chmod u+w {_quoted(there)}", f"{path} may not be written"
        )


@_looks_at("indexes and runs")
def _indexes(folder: Path) -> Iterable[Finding]:
    for path in _folders(folder / "indexes"):
        what, remedy = f"index {path.name}", f"rm {_quoted(path / 'manifest.json')}"
        try:
            yield _index(what, path)
        except IndexFault as error:
            yield Finding(what, str(error), False, remedy)
        except Exception as error:  # a manifest may hold anything
            yield Finding(what, f"manifest.json cannot be read ({type(error).__name__}: {error})", False, remedy)


def _index(what: str, path: Path) -> Finding:
    from workbench.index.store import Store

    store = Store(path)
    manifest, size = store.read_manifest(), _size(_bytes(path))
    if _locked(path):
        return Finding(what, f"is being built by another process, {size}")
    layers = manifest["layers"]
    build = f"workbench index {shlex.quote(str(manifest.get('data', {}).get('name', 'DATA')))} --out {_quoted(path)}"
    lost = [kind for kind, layer in layers.items() if not store.path(kind, layer["key"]).is_dir()]
    parts = ", ".join(sorted(part.name for part in path.glob("*.part")))
    if lost:
        return Finding(what, f"the folder of {', '.join(lost)} is missing", False, build)
    said = f"{', '.join(layers) or 'no layer yet'}; {size}"
    return Finding(what, f"{said}; unfinished: {parts}", True, build, optional=True) if parts else Finding(what, said)


@_looks_at("indexes and runs")
def _runs(folder: Path) -> Iterable[Finding]:
    for path in _folders(folder / "runs"):
        try:
            yield Finding(f"run {path.name}", _run(path))
        except Exception as error:  # run.json and its rows may hold anything
            remedy = f"mv {_quoted(path)} {_quoted(path.with_name(path.name + '.damaged'))}"
            yield Finding(f"run {path.name}", f"cannot be read ({type(error).__name__}: {error})", False, remedy)


def _run(path: Path) -> str:
    from workbench.experiments.run import read_rows

    if not (path / "run.json").exists():
        return "holds no run.json, so it is no run"
    config = json.loads((path / "run.json").read_text(encoding="utf-8"))
    wanted, rows = config["questions"]["n"] * len(config["methods"]), len(read_rows(path / "results.jsonl"))
    counted = f"{rows:,} of {wanted:,} rows"
    if _locked(path):
        return f"is being written by another process: {counted}"
    return f"{counted}, {_size(_bytes(path))}" + "; the same call of evaluate goes on" * (rows < wanted)


def _folders(place: Path) -> list[Path]:
    return sorted(path for path in place.iterdir() if path.is_dir()) if place.is_dir() else []


def _locked(path: Path) -> bool:
    from filelock import FileLock, Timeout

    if not (path / ".lock").exists():
        return False
    try:
        with FileLock(path / ".lock", timeout=0):
            return False
    except Timeout:
        return True


@_looks_at("notebooks")
def _jupyter(_: Path) -> Iterable[Finding]:
    for name in ("jupyterlab", "ipykernel"):
        found = _version(name)
        yield _check(name, found, str(found), _INSTALL, "not installed")


@_looks_at("notebooks")
def _kernel(_: Path) -> Iterable[Finding]:
    """The notebooks ask for a kernel by this name."""
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    remedy = f"{_PYTHON} -m ipykernel install --sys-prefix --name python3"
    try:
        program = KernelSpecManager().get_kernel_spec("python3").argv[0]
        yield _check("kernel python3", shutil.which(program), program, remedy, f"{program} does not exist")
    except NoSuchKernel:
        yield Finding("kernel python3", "not there", False, remedy)


@_looks_at("notebooks")
def _widgets(_: Path) -> Iterable[Finding]:
    """The half of each widget library that runs in the browser."""
    from jupyter_core.paths import jupyter_path

    needed = _needed()
    for name, extension in WIDGETS.items():
        there = any((Path(place) / extension / "package.json").exists() for place in jupyter_path("labextensions"))
        found = f"{name} {_version(name) or ''}".strip()
        lacking = f"{found} without its extension" if _version(name) else "not installed"
        remedy = f"{_PYTHON} -m pip install --force-reinstall --no-deps {name}"
        yield _check(f"widgets of {name}", there, found, remedy, lacking, optional=name not in needed)


@_looks_at("notebooks")
def _browser(_: Path) -> Iterable[Finding]:
    """For the tests that drive JupyterLab; nobody else needs one."""
    found, remedy = shutil.which("chromium"), "apt-get install chromium fonts-dejavu-core"
    yield _check("Chromium for browser tests", found, str(found), remedy, "not installed", optional=True)


@_looks_at("machine")
def _cores(_: Path) -> Iterable[Finding]:
    try:
        said = f"{threads.cores()} for torch, one for every other pool (WORKBENCH_THREADS sets another number)"
        yield Finding("cores", said)
    except ValueError as error:
        yield Finding("cores", str(error), False, "unset WORKBENCH_THREADS")


@_looks_at("machine")
def _memory(_: Path) -> Iterable[Finding]:
    import psutil

    memory, limit = psutil.virtual_memory(), Path("/sys/fs/cgroup/memory.max")  # a container's
    allowed = limit.read_text().strip() if limit.exists() else "max"
    total = min(memory.total, int(allowed)) if allowed.isdigit() else memory.total
    said = f"{_size(min(memory.available, total))} free of {_size(total)}"
    yield _check("memory", total >= 3 * _GIB, said, "export WORKBENCH_THREADS=1", f"{said}; 3 GiB are needed")


@_looks_at("machine")
def _disk(folder: Path) -> Iterable[Finding]:
    there = next(path for path in [folder.absolute(), *folder.absolute().parents] if path.exists())
    free = shutil.disk_usage(there).free
    said = f"{_size(free)} free"
    lacking = f"{said}; an index of 10,000 passages takes about 0.2 GiB"
    yield _check("disk", free > 2 * _GIB, said, f"du -sh {_quoted(there)}/*", lacking)


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _size(size: int) -> str:
    return f"{size / _GIB:,.1f} GiB" if size >= _GIB else f"{size / 2**20:,.1f} MiB"
