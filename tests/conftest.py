"""What the tests share: tiny and real indexes, executed notebooks, the benchmark data, and a fence around the network.

With `-n 2 --no-loadscope-reorder` (pytest-xdist) two workers share the expensive indexes (`once`). A file stays on
one worker, because its fixtures of module scope would otherwise be built twice, and so do all tests of a notebook,
because they share its kernel. What takes longest (durations.tsv) begins first, and while one worker has a browser or a
kernel, which take more than a core, the other one has neither. Whatever needs a server or a browser, or took a
second when that was recorded, is slow."""

from __future__ import annotations

import ipaddress
import json
import os
import re
import shutil
import signal
import socket
import sys
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import encoded
import pytest
import tiers  # noqa: F401  (loads the profile of hypothesis)
from dot_traces import film_folder
from filelock import FileLock
from IPython.core.interactiveshell import InteractiveShell
from notebook_server import ROOT, Ran, Server, with_parameters
from tiny import TinyEncoder, tiny_dataset

import workbench as wb
from workbench.data import Dataset
from workbench.encoding import Encoder
from workbench.encoding.models import SentenceEncoder
from workbench.index import Index
from workbench.registry import KINDS

LINES = Path(__file__).with_name("durations.tsv").read_text(encoding="utf-8").splitlines()[1:]
RECORDED = {test: float(taken) for taken, test in (line.split("\t") for line in LINES)}  # seconds
WORKER = os.environ.get("PYTEST_XDIST_WORKER")
NOTEBOOK = re.compile(r"test_notebook_(\d\d)|test_notebooks\.py::.*\[(\d\d)\]$|test_opened_copies")
LIMITS = {"03": 4, "04": 4, "05": 4}  # questions of the studies that take longest; each asks a dozen or more
SHORT, SLOW = 0.05, 1.0  # seconds of a test that durations.tsv does not name, and of a slow one


def pytest_configure(config: pytest.Config) -> None:
    if WORKER:  # workers that compute on all cores each get in each other's way
        os.environ.setdefault("WORKBENCH_THREADS", "1")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    groups: dict[str, list[pytest.Item]] = defaultdict(list)
    crowded = set()
    for item in items:
        groups[_group(item.nodeid)].append(item)
        if not {"server", "chromium"}.isdisjoint(item.fixturenames):
            item.add_marker("slow")
            crowded.add(_group(item.nodeid))
        elif RECORDED.get(item.nodeid, 0) >= SLOW and "/contract/" not in item.nodeid:
            item.add_marker("slow")
    if WORKER:
        items[:] = [item for group in _in_turn(_seconds(groups), crowded) for item in groups[group]]


def _seconds(groups: dict[str, list[pytest.Item]]) -> dict[str, float]:
    """How long each group takes, as far as that was recorded."""
    seconds = {group: SHORT * len(items) for group, items in groups.items()}
    for test, taken in RECORDED.items():
        if (group := _group(test)) in seconds:
            seconds[group] += taken
    return seconds


def _in_turn(seconds: dict[str, float], crowded: set[str]) -> list[str]:
    """The longest groups first, and after each of the crowded ones as much of the others as it takes."""
    longest = sorted(seconds, key=lambda group: -seconds[group])
    others, ordered = deque(group for group in longest if group not in crowded), []
    for group in longest:
        if group in crowded:
            ordered.append(group)
            left = seconds[group]
            while others and left > 0:
                ordered.append(others.popleft())
                left -= seconds[ordered[-1]]
    return [*ordered, *others]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log):
    """One worker for all tests of a group. (`--dist loadgroup` of pytest-xdist 3.8 does nothing with pytest 9.2.)"""
    from xdist.scheduler import LoadScopeScheduling

    class ByGroup(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _group(nodeid)

    return ByGroup(config, log)


def _group(nodeid: str) -> str:
    number = NOTEBOOK.search(nodeid)
    return f"notebook {number[1] or number[2] or '01'}" if number else Path(nodeid.partition("::")[0]).stem


@pytest.fixture(autouse=True)
def _own_answers(monkeypatch, tmp_path_factory) -> Iterator[None]:
    """What is paid for or encoded in one test is asked for or encoded again in the next."""
    name, base = uuid4().hex, tmp_path_factory.getbasetemp()
    monkeypatch.setenv("WORKBENCH_ANSWERS", str(base / f"answers-{name}.sqlite"))
    monkeypatch.setenv("WORKBENCH_VECTORS", str(base / f"vectors-{name}"))
    yield


@pytest.fixture
def tiny() -> Dataset:
    return tiny_dataset()


@pytest.fixture
def tiny_encoder() -> Encoder:
    return TinyEncoder()


@pytest.fixture
def tiny_index(tiny, tmp_path) -> Index:
    return Index.build(tiny, None, tmp_path / "tiny", encoder=TinyEncoder(), progress=False)


@pytest.fixture(scope="session")
def common(tmp_path_factory) -> Path:
    """A folder that all workers of a run share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if WORKER else base


@pytest.fixture(scope="session")
def once(common, tmp_path_factory) -> Callable[[str, Callable[[Path], object]], Path]:
    """`once(name, build)` is this worker's copy of a folder that one worker builds for all of them."""

    def once(name: str, build: Callable[[Path], object]) -> Path:
        built, own = common / "built" / name / "meridian", tmp_path_factory.mktemp(name) / "meridian"
        built.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(built.parent / "lock"):
            if not (done := built.parent / "done").exists():
                with pytest.MonkeyPatch.context() as patch:  # its bits do not depend on what was built before
                    patch.setenv("WORKBENCH_VECTORS", str(built.parent / "vectors"))
                    build(built)
                done.touch()
        return shutil.copytree(built, own)

    return once


def _with_layers(folder: Path, index: Index, layers: tuple[str, ...]) -> None:
    shutil.copytree(index.folder, folder, dirs_exist_ok=True)
    Index.open(folder).ensure(layers, wb.engine("rules"), progress=False)


@pytest.fixture(scope="session")
def meridian_index(once) -> Index:
    """The bundled corpus with the real encoder and the rules engine, built once; not to be changed by a test."""
    data, rules = wb.load("meridian"), wb.engine("rules")
    return Index.open(once("plain", lambda folder: Index.build(data, rules, folder, progress=False)))


@pytest.fixture(scope="session")
def musique_index(shared, once) -> Path:
    """The folder of the index on which both official implementations are compared with ours, built once."""
    data, settings = wb.load(shared / "datasets" / "musique-train-100"), {"facts": {"normalise": "ascii"}}
    return once("musique", lambda to: Index.build(data, wb.engine("rules"), to, settings=settings, progress=False))


@pytest.fixture(scope="session")
def meridian_profiles(once, meridian_index) -> Index:
    """The same with the layers of DotRAG, LightRAG, PathRAG and KET-RAG."""
    layers = ("typed", "pieces", "keywords", "skeleton")
    return Index.open(once("profiles", lambda folder: _with_layers(folder, meridian_index, layers)))


@pytest.fixture(scope="session")
def meridian_curated(once) -> Index:
    """The bundled corpus on its curated facts, with the layers of DotRAG and CatRAG; no model and no rule made a
    fact."""
    layers = ("facts", "synonyms", "typed", "entity_summaries")

    def build(folder: Path) -> None:
        rules = wb.engine("rules")
        Index.build("meridian", rules, folder, extraction="curated", layers=layers, progress=False)

    return Index.open(once("curated", build))


@pytest.fixture(scope="session")
def meridian_communities(once, meridian_index) -> Index:
    """The same with the layer of GraphRAG."""
    return Index.open(once("communities", lambda folder: _with_layers(folder, meridian_index, ("communities",))))


@pytest.fixture(scope="session")
def server(tmp_path_factory) -> Iterator[Server]:
    """JupyterLab, which executes each notebook once: `server.run("01_build_graph.ipynb", meridian_index)`."""
    server = Server(tmp_path_factory.mktemp("jupyter"), encoded.current())
    yield server
    server.close()


@pytest.fixture(scope="session")
def notebook(server, request) -> Callable[..., Ran]:
    """`notebook("01")` is executed once a session, on the bundled corpus, with its own parameters but `LIMITS`."""

    def notebook(number: str, live: bool = False) -> Ran:
        (path,) = (ROOT / "notebooks").glob(f"{number}_*.ipynb")
        indexes = map(request.getfixturevalue, ("meridian_index", "meridian_curated"))
        fewer = {"limit": LIMITS[number]} if number in LIMITS else {}
        return server.run(path.name, *indexes, live=live, **fewer)

    return notebook


@pytest.fixture(scope="session")
def notebook_on_films(server, tmp_path_factory) -> Callable[..., Ran]:
    """Notebook 03 on a graph of triples; it is asked for the films of a director."""
    parameters = {
        "data": str(film_folder(tmp_path_factory.mktemp("data") / "films")),
        "engine": "rules",
        "question": "what movies did [Ilse Varn] direct?",
        "beside": ["lightrag"],
    }
    return lambda live=False: server.run("03_trace_dot_paths.ipynb", project="films", live=live, **parameters)


@pytest.fixture
def notes(tmp_path) -> Path:
    """A folder of three passages without questions."""
    folder = tmp_path / "notes"
    folder.mkdir()
    texts = ("Mora founded the Halden Theatre.", "Karl Weiss designed the theatre.", "Halden lies on the Glomma.")
    rows = [{"id": str(at), "title": "", "text": text} for at, text in enumerate(texts)]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.fixture
def run_in_folder(tmp_path, monkeypatch) -> Iterator[Callable[..., None]]:
    """Execute the cells of a notebook with its figures, index and runs in the test's own folder; in this process,
    because a kernel would take seconds to import what is imported here."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # the shell puts its own in its place
    shell = InteractiveShell.instance(history_manager=None)

    def run(notebook: Path, **given: object) -> None:
        shell.reset(new_session=False)
        for cell in with_parameters(notebook, given).cells:
            if cell.cell_type == "code":
                shell.run_cell(cell.source).raise_error()

    yield run
    shell.reset(new_session=False)
    InteractiveShell.clear_instance()


@pytest.fixture
def workbench() -> Callable[..., object]:
    """A verb of the command line with its words, which ends with this code."""
    from typer.testing import CliRunner

    from workbench.cli.app import app

    def call(*words: object, code: int = 0):
        result = CliRunner().invoke(app, list(map(str, words)))
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return call


@pytest.fixture
def registries() -> Iterator[None]:
    """Whatever a test registers is gone after it."""
    before, rules = {kind: dict(known.registry._things) for kind, known in KINDS.items()}, dict(wb.rules.RULES)
    yield
    wb.rules.RULES.clear()
    wb.rules.RULES.update(rules)
    for kind, known in KINDS.items():
        known.registry._things.clear()
        known.registry._things.update(before[kind])


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of benchmark data and reference values that lies beside a checkout of the project."""
    folder = Path(os.environ.get("HOPSCOPE_SHARED") or Path(__file__).parents[2] / "shared")
    if not folder.is_dir():
        pytest.skip(f"no shared benchmark data in {folder}; set HOPSCOPE_SHARED to the folder that holds it")
    return folder


@pytest.fixture(scope="session", autouse=True)
def _encoded_once():
    """No block of texts is encoded twice, nor by the next run of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SentenceEncoder, "_encode", SentenceEncoder._encode)  # as it is afterwards again
        encoded.keep(encoded.current())
        yield


@pytest.fixture(scope="module", autouse=True)
def _no_vectors_here(tmp_path_factory):
    """Not in the working folder, and not those of another file's encoder of the same name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_VECTORS", str(tmp_path_factory.mktemp("vectors")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_network():
    """Any connection that would leave this machine fails at once, so that no test can come to need the network."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex"):
            patch.setattr(socket.socket, name, _only_loopback(getattr(socket.socket, name)))
        yield


@pytest.fixture(scope="session", autouse=True)
def _interrupts():
    """A shell that runs this in the background has it ignore Ctrl-C, and every process that it starts as well."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _no_flushing():
    """Waiting for the disk takes a third of a small build, and a test that loses its power has failed anyway."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


def _only_loopback(connect):
    def guarded(self, address):
        if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(address[0]):
            raise OSError(f"a test tried to reach {address[0]!r}; tests must not need the network")
        return connect(self, address)

    return guarded


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
