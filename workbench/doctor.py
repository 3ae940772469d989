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
from pathlib import Path

from workbench import threads
from workbench.errors import EngineError, EngineRefused, EngineUnavailable, IndexFault
from workbench.places import home
from workbench.records import Record

ROOT = Path(__file__).parents[1]  # of a checkout
WIDGETS = {"ipywidgets": "@jupyter-widgets/jupyterlab-manager", "anywidget": "anywidget", "ipysigma": "ipysigma"}
_INSTALL = "make setup" if (ROOT / "Makefile").exists() else "pip install --upgrade hopscope"
_GIB = 2**30


@dataclass(frozen=True, repr=False)
class Finding(Record):
    """One thing looked at. `good` means that nothing has to be done; `remedy` is the command to do it, or, where the
    thing is `optional`, to have more."""

    what: str
    found: str
    good: bool
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
        areas: dict[str, list[Finding]] = {}
        for finding in self:
            areas.setdefault(finding.area, []).append(finding)
        return areas

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)


def examine(folder: str | Path | None = None, *, ask: bool = False, model: str | None = None) -> Examination:
    """Look at everything. `folder` holds `indexes/` and `runs/` (by default `wb.home()`). With `ask` the endpoint of
    the environment is asked one tiny question of `model`: by default gpt-4o-mini of OpenAI's own, the first that it
    lists of another."""
    folder = Path(folder) if folder is not None else home()
    looks: dict[str, list[Callable[[Path], Iterable[Finding]]]] = {
        "environment": [_python, _packages, _installation],
        "models": [_encoder, _language, _local_models],
        "endpoint": [_endpoint, *([lambda _: [_asked(model)]] if ask else [])],
        "data": [_bundled, _registered],
        "indexes and runs": [_places, _indexes, _runs],
        "notebooks": [_jupyter, _kernel, _widgets, _browser],
        "machine": [_cores, _memory, _disk],
    }
    return Examination(
        tuple(
            replace(finding, area=area)
            for area, of_it in looks.items()
            for look in of_it
            for finding in _careful(look, folder)
        )
    )


def _careful(look: Callable[[Path], Iterable[Finding]], folder: Path) -> list[Finding]:
    """A look that breaks is a finding too: the others are not lost for it."""
    try:
        return list(look(folder))
    except Exception as error:
        return [Finding(look.__name__.strip("_"), f"{type(error).__name__}: {error}", False, _INSTALL)]


def _tried(what: str, look: Callable[[], str]) -> Finding:
    try:
        return Finding(what, look(), True)
    except Exception as error:
        return Finding(what, f"{type(error).__name__}: {error}", False, _INSTALL)


# -- environment ------------------------------------------------------------------------------------------------------


def _python(_: Path) -> Iterable[Finding]:
    good = (3, 11) <= sys.version_info[:2] < (3, 13)
    found = f"{platform.python_version()} in {sys.prefix}"
    yield Finding(
        "Python", found if good else f"{found}; 3.11 or 3.12 is needed", good, "" if good else _python_setup()
    )


def _python_setup() -> str:
    return "make setup PY=python3.11" if _INSTALL == "make setup" else "python3.11 -m pip install hopscope"


def _packages(_: Path) -> Iterable[Finding]:
    """Those that are needed, against what is needed, and all of the tested set against its versions."""
    needed = _needed()
    wrong = [finding for name, wanted in needed.items() if (finding := _wrong(name, wanted))]
    yield from wrong
    yield Finding(
        "packages", f"{len(needed) - len(wrong)} of {len(needed)} as needed", not wrong, _INSTALL * bool(wrong)
    )
    constraints = ROOT / "constraints.txt"
    if constraints.exists():
        lines = constraints.read_text(encoding="utf-8").splitlines()
        tested = dict(line.split("==") for line in lines if "==" in line and not line.startswith("#"))
        here = {name: found for name in tested if (found := _version(name))}
        other = [
            f"{name} {found} (tested {tested[name]})"
            for name, found in here.items()
            if found.partition("+")[0] != tested[name]  # what follows + names a build, such as that without CUDA
        ]
        said = f"{len(here) - len(other)} of {len(here)} installed packages as in {constraints.name}"
        said += f"; otherwise {', '.join(other[:5])}" + (" …" if len(other) > 5 else "") if other else ""
        command = f"{shlex.quote(sys.executable)} -m pip install -c constraints.txt -e '.[dev]'"
        yield Finding("tested set", said, True, command if other else "", optional=True)


def _needed() -> dict[str, object]:
    """Name → specifier of the packages that the workbench needs on this machine, without its extras."""
    from packaging.requirements import Requirement

    wanted = [Requirement(line) for line in requires("hopscope") or ()]
    return {r.name: r.specifier for r in wanted if r.marker is None or r.marker.evaluate({"extra": ""})}


def _wrong(name: str, wanted) -> Finding | None:
    found = _version(name)
    if found is None:
        return Finding(name, "not installed", False, _INSTALL)
    if not wanted.contains(found, prereleases=True):
        return Finding(name, f"{found}, needed {wanted}", False, _INSTALL)
    return None


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _installation(_: Path) -> Iterable[Finding]:
    said = f"hopscope {version('hopscope')}, "
    if not (ROOT / ".git").exists():
        yield Finding("installation", f"{said}installed in {ROOT}", True)
        return
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    try:
        commit = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        commit = "whose commit git does not tell"
    yield Finding("installation", f"{said}a git checkout in {ROOT}: {commit}", True)


# -- models -----------------------------------------------------------------------------------------------------------


def _encoder(_: Path) -> Iterable[Finding]:
    def load() -> str:
        from workbench.encoding import encoder

        return f"{encoder().name}, {encoder().dimension} dimensions"

    yield _tried("encoder", load)


def _language(_: Path) -> Iterable[Finding]:
    def load() -> str:
        from workbench.language.pipeline import nlp

        return f"{nlp().meta['name']} {nlp().meta['version']}"

    yield _tried("English pipeline", load)


def _local_models(_: Path) -> Iterable[Finding]:
    """What the engine `local` needs; it is an extra, so nothing is wrong where it is missing."""
    from workbench.llm.local import INSTALL, INSTALL_SMALL, model_file

    try:
        yield Finding("engine local", f"xllamacpp {version('xllamacpp')}", True, optional=True)
    except PackageNotFoundError:
        yield Finding("engine local", "not installed", True, INSTALL, optional=True)
    try:
        file = model_file("smollm2")
        said = f"{file.name}, {_size(file.stat().st_size)}"
        yield Finding("model local:smollm2", said, True, optional=True)
    except EngineRefused:
        yield Finding("model local:smollm2", "not installed", True, INSTALL_SMALL, optional=True)


# -- endpoint ---------------------------------------------------------------------------------------------------------


def _endpoint(_: Path) -> Iterable[Finding]:
    """Whether a key is set; never the key."""
    from workbench.llm.endpoint import where

    has_key = bool(os.environ.get("OPENAI_API_KEY"))
    said = "set" if has_key else "not set: the engines `rules`, `local` and `replay` need none"
    yield Finding("OPENAI_API_KEY", said, True, "" if has_key else "export OPENAI_API_KEY=…", optional=True)
    yield Finding("endpoint", where(os.environ.get("OPENAI_BASE_URL")), True)


def _asked(model: str | None) -> Finding:
    """One tiny call. What the engine says of a failure holds no key: it is blotted out there."""
    from workbench.llm import engine

    def failed(error: object, remedy: str) -> Finding:
        return Finding("answer", str(error), False, remedy)

    name_one = "workbench doctor --ask --model MODEL"
    try:
        model = model or _some_model()
        if not model:
            return failed("the endpoint does not list its models", name_one)
        with engine(f"openai:{model}", attempts=1, timeout=30) as asking:
            (result,) = asking.run(_greeting(), ["Say: ok"])
    except EngineUnavailable as error:
        return failed(error, "export OPENAI_BASE_URL=http://127.0.0.1:8000/v1")
    except EngineRefused as error:
        return failed(error, name_one if "HTTP 404" in str(error) else "export OPENAI_API_KEY=…")
    except EngineError as error:
        return failed(error, name_one)
    if result.failure:
        return failed(f"{model}: {result.failure}", name_one)
    return Finding("answer", f"{model} answered after {result.usage.seconds:.2f} s", True)


def _greeting():
    from pydantic import BaseModel

    from workbench.llm import Step

    class Said(BaseModel):
        said: str

    def prompt(text: str) -> list[dict[str, str]]:
        return [{"role": "user", "content": text}]

    return Step("doctor", Said, prompt, read=lambda text: Said(said=text), max_tokens=16)


def _some_model() -> str | None:
    """gpt-4o-mini at OpenAI; of another endpoint the first model that it lists, None if it lists none."""
    base = os.environ.get("OPENAI_BASE_URL")
    if not base:
        return "gpt-4o-mini"
    import openai

    try:
        client = openai.OpenAI(
            api_key=os.environ.get("OPENAI_API_KEY") or "none", base_url=base, max_retries=0, timeout=30
        )
        return str(next(iter(client.models.list().data)).id)
    except Exception:  # its words may hold the key or the address; the call itself says what is wrong
        return None


# -- data -------------------------------------------------------------------------------------------------------------


def _bundled(_: Path) -> Iterable[Finding]:
    from workbench.data import BUNDLED, load

    def say(name: str) -> str:
        data = load(name)
        return f"{len(data.passages)} passages, {len(data.questions)} questions"

    for name in BUNDLED:
        yield _tried(f"data {name}", lambda name=name: say(name))


def _registered(_: Path) -> Iterable[Finding]:
    from workbench.data import registry

    known = registry.datasets().datasets
    here = [data.id for data in known if data.here]
    names = f": {', '.join(here[:8])}{' …' if len(here) > 8 else ''}" if here else ""
    yield Finding("data sets by name", f"{len(here)} of {len(known)} are on this machine{names}", True, optional=True)


# -- indexes and runs -------------------------------------------------------------------------------------------------


def _places(folder: Path) -> Iterable[Finding]:
    for place in ("indexes", "runs", "figures"):
        path = folder / place
        writable = os.access(path if path.exists() else folder, os.W_OK)
        remedy = "" if writable else f"chmod u+w {_quoted(path if path.exists() else folder)}"
        yield Finding(f"folder {place}", str(path) if writable else f"{path} may not be written", writable, remedy)


def _indexes(folder: Path) -> Iterable[Finding]:
    for path in _folders(folder / "indexes"):
        what = f"index {path.name}"
        try:
            yield _index(what, path)
        except IndexFault as error:
            yield Finding(what, str(error), False, f"rm {_quoted(path / 'manifest.json')}")
        except Exception as error:  # a manifest may hold anything
            said = f"manifest.json cannot be read ({type(error).__name__}: {error})"
            yield Finding(what, said, False, f"rm {_quoted(path / 'manifest.json')}")


def _index(what: str, path: Path) -> Finding:
    from workbench.index.store import Store

    store = Store(path)
    manifest, size = store.read_manifest(), _size(_bytes(path))
    if _locked(path):
        return Finding(what, f"is being built by another process, {size}", True)
    layers = manifest["layers"]
    build = f"workbench index {shlex.quote(str(manifest.get('data', {}).get('name', 'DATA')))} --out {_quoted(path)}"
    lost = [kind for kind, layer in layers.items() if not store.path(kind, layer["key"]).is_dir()]
    if lost:
        return Finding(what, f"the folder of {', '.join(lost)} is missing", False, build)
    parts = sorted(part.name for part in path.glob("*.part"))
    said = f"{', '.join(layers) or 'no layer yet'}; {size}"
    if parts:
        return Finding(what, f"{said}; unfinished: {', '.join(parts)}", True, build, optional=True)
    return Finding(what, said, True)


def _runs(folder: Path) -> Iterable[Finding]:
    for path in _folders(folder / "runs"):
        what = f"run {path.name}"
        try:
            yield _run(what, path)
        except Exception as error:  # run.json and its rows may hold anything
            said = f"cannot be read ({type(error).__name__}: {error})"
            yield Finding(what, said, False, f"mv {_quoted(path)} {_quoted(path.with_name(path.name + '.damaged'))}")


def _run(what: str, path: Path) -> Finding:
    from workbench.experiments.run import read_rows

    if not (path / "run.json").exists():
        return Finding(what, "holds no run.json, so it is no run", True)
    config = json.loads((path / "run.json").read_text(encoding="utf-8"))
    wanted = config["questions"]["n"] * len(config["methods"])
    rows, size = len(read_rows(path / "results.jsonl")), _size(_bytes(path))
    if _locked(path):
        return Finding(what, f"is being written by another process: {rows:,} of {wanted:,} rows", True)
    more = "; the same call of evaluate goes on" if rows < wanted else ""
    return Finding(what, f"{rows:,} of {wanted:,} rows, {size}{more}", True)


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


# -- notebooks --------------------------------------------------------------------------------------------------------


def _jupyter(_: Path) -> Iterable[Finding]:
    for name in ("jupyterlab", "ipykernel"):
        found = _version(name)
        yield Finding(name, found or "not installed", found is not None, "" if found else _INSTALL)


def _kernel(_: Path) -> Iterable[Finding]:
    """The notebooks ask for a kernel by this name."""
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    remedy = f"{shlex.quote(sys.executable)} -m ipykernel install --sys-prefix --name python3"
    try:
        program = KernelSpecManager().get_kernel_spec("python3").argv[0]
    except NoSuchKernel:
        yield Finding("kernel python3", "not there", False, remedy)
        return
    there = shutil.which(program) is not None
    yield Finding("kernel python3", program if there else f"{program} does not exist", there, "" if there else remedy)


def _widgets(_: Path) -> Iterable[Finding]:
    """The half of each widget library that runs in the browser."""
    from jupyter_core.paths import jupyter_path

    needed = _needed()
    for name, extension in WIDGETS.items():
        there = any((Path(place) / extension / "package.json").exists() for place in jupyter_path("labextensions"))
        found = f"{name} {_version(name) or ''}".strip()
        remedy = "" if there else f"{shlex.quote(sys.executable)} -m pip install --force-reinstall --no-deps {name}"
        said = found if there else f"{found} without its extension" if _version(name) else "not installed"
        yield Finding(f"widgets of {name}", said, there or name not in needed, remedy, optional=name not in needed)


def _browser(_: Path) -> Iterable[Finding]:
    """For the tests that drive JupyterLab; nobody else needs one."""
    found = shutil.which("chromium")
    remedy = "" if found else "apt-get install chromium fonts-dejavu-core"
    yield Finding("Chromium for browser tests", found or "not installed", True, remedy, optional=True)


# -- machine ----------------------------------------------------------------------------------------------------------


def _cores(_: Path) -> Iterable[Finding]:
    try:
        cores = threads.cores()
    except ValueError as error:
        yield Finding("cores", str(error), False, "unset WORKBENCH_THREADS")
        return
    yield Finding("cores", f"{cores} for torch, one for every other pool (WORKBENCH_THREADS sets another number)", True)


def _memory(_: Path) -> Iterable[Finding]:
    import psutil

    memory, limit = psutil.virtual_memory(), Path("/sys/fs/cgroup/memory.max")  # a container's
    allowed = limit.read_text().strip() if limit.exists() else "max"
    total = min(memory.total, int(allowed)) if allowed.isdigit() else memory.total
    good = total >= 3 * _GIB
    said = f"{_size(min(memory.available, total))} free of {_size(total)}" + ("" if good else "; 3 GiB are needed")
    yield Finding("memory", said, good, "" if good else "export WORKBENCH_THREADS=1")


def _disk(folder: Path) -> Iterable[Finding]:
    there = next(path for path in [folder.absolute(), *folder.absolute().parents] if path.exists())
    free = shutil.disk_usage(there).free
    good = free > 2 * _GIB
    said = f"{_size(free)} free" + ("" if good else "; an index of 10,000 passages takes about 0.2 GiB")
    yield Finding("disk", said, good, "" if good else f"du -sh {_quoted(there)}/*")


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _size(size: int) -> str:
    return f"{size / _GIB:,.1f} GiB" if size >= _GIB else f"{size / 2**20:,.1f} MiB"
