"""JupyterLab's server: a notebook is executed in one of its kernels once a session, and all tests look at that copy.

A test asks for the fixture `notebook`, or for `server` where it needs other parameters:

    ran = server.run("01_build_graph.ipynb", meridian_index)        # or with parameters: limit=4
    ran.verdict["holds"], ran.figures, ran.page()
    ran.again(reversed(ran.cells))                                  # in the kernel that executed it
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client import AsyncKernelClient
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.sign import NotebookNotary
from papermill import inspect_notebook
from papermill.iorw import load_notebook_node
from papermill.parameterize import parameterize_notebook

from workbench import notebooks
from workbench.index import Index
from workbench.index.index import place_of

ROOT = Path(__file__).parents[1]
TOKEN = "t"
# Without news; every cell in the page, also those that are scrolled out of sight.
SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
}
FOLDERS = {
    "JUPYTER_CONFIG_DIR": "config",
    "JUPYTER_DATA_DIR": "data",
    "JUPYTER_RUNTIME_DIR": "runtime",
    "JUPYTERLAB_SETTINGS_DIR": "settings",
    "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
    "IPYTHONDIR": "ipython",
}
STARTUP = """\
import sys
from pathlib import Path

sys.path.append({tests!r})
import encoded

encoded.keep(Path({encoded!r}))
sys.path.pop()
del sys, Path, encoded
"""


class Server:
    """A JupyterLab server on a free port of this machine, with all its folders below `home`; it serves `root`. Its
    kernels read blocks of texts that were encoded before from `encoded`."""

    def __init__(self, home: Path, encoded: Path):
        self.root, self._home, self._ran = home / "projects", home, {}
        self.root.mkdir(parents=True)
        settings = home / "config" / "labconfig" / "default_setting_overrides.json"
        settings.parent.mkdir(parents=True)
        settings.write_text(json.dumps(SETTINGS))
        begin = home / FOLDERS["IPYTHONDIR"] / "profile_default" / "startup" / "encoded.py"
        begin.parent.mkdir(parents=True)
        begin.write_text(STARTUP.format(tests=str(Path(__file__).parent), encoded=str(encoded)))
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self._log = home / "lab.log"
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", "--ip=127.0.0.1"),
                    *(f"--port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={TOKEN}"),
                    *(f"--ServerApp.root_dir={self.root}", "--LabApp.expose_app_in_browser=True"),
                ],
                env=_environment() | {name: str(home / folder) for name, folder in FOLDERS.items()},
                stdout=log,
                stderr=log,
            )
        try:
            self._wait()
        except BaseException:
            self.close()
            raise

    def project(self, name: str) -> Path:
        """A folder whose `lab` holds notebooks, which write indexes, runs and figures beside it."""
        project = self.root / name
        (project / "lab").mkdir(parents=True, exist_ok=True)
        (project / "notebooks").mkdir(exist_ok=True)  # by which a kernel in `lab` knows that its parent is a project
        return project

    def run(self, name: str, *indexes: Index, project: str = "", live: bool = False, **parameters: Any) -> Ran:
        """This notebook as `make lab` opens it, executed once a session; it finds the `indexes` built.

        Other parameters need a `project` of their own. Executing another notebook ends this one's kernel; who needs it
        asks for a `live` one.
        """
        project = f"{name[:2]}{project}"
        ran = self._ran.get(project)
        if not ran or (live and not ran.alive):
            self.end_kernels(*(other for other in self._ran if other[:2] != project[:2]))
            shutil.rmtree(self.root / project, ignore_errors=True)
            path = self.project(project) / "lab" / name
            for index in indexes:
                shutil.copytree(index.folder, self.root / project / "indexes" / place_of(index.data).name)
            notebooks.working_copies(ROOT / "notebooks", path.parent)
            if parameters:
                nbformat.write(with_parameters(path, parameters), path)
            ran = self._ran[project] = Ran(self, path)
        return ran

    def start_kernel(self, notebook: Path) -> str:
        """A kernel for a notebook, to which the page that opens it later connects; its id."""
        path = notebook.relative_to(self.root).as_posix()
        session = {"path": path, "name": notebook.name, "type": "notebook", "kernel": {"name": "python3"}}
        return json.loads(self._ask("POST", "/api/sessions", session))["kernel"]["id"]

    def kernels(self) -> set[str]:
        return {kernel["id"] for kernel in json.loads(self._ask("GET", "/api/kernels"))}

    def connection(self, kernel: str) -> Path:
        """The file that says where a kernel listens."""
        return self._home / "runtime" / f"kernel-{kernel}.json"

    def trust(self, notebook: Path) -> None:
        """JupyterLab shows no widget of a notebook that was not run in its page, unless it is signed."""
        notary = NotebookNotary(data_dir=str(self._home / FOLDERS["JUPYTER_DATA_DIR"]))
        notary.sign(nbformat.read(notebook, as_version=4))

    def end_kernels(self, *projects: str) -> None:
        """Each opened notebook leaves a kernel behind, with the models that it loaded."""
        for session in json.loads(self._ask("GET", "/api/sessions")):
            if session["path"].partition("/")[0] in projects:
                self._ask("DELETE", f"/api/sessions/{session['id']}")

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _wait(self, seconds: float = 120) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and self._process.poll() is None:
            try:
                self._ask("GET", "/api/status")
                return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError(f"JupyterLab did not start:\n{self._log.read_text()[-3_000:]}")

    def _ask(self, method: str, path: str, body: dict | None = None) -> bytes:
        headers = {"Authorization": f"token {TOKEN}", "Content-Type": "application/json"}
        data = json.dumps(body).encode() if body else None
        request = urllib.request.Request(self.url + path, method=method, headers=headers, data=data)
        with urllib.request.urlopen(request, timeout=60) as reply:
            return reply.read()


class Ran:
    """A notebook that was executed from its first cell to its last; a cell that fails raises.

    `path` is the notebook with its outputs, `project` the folder with its figures, indexes and runs.
    """

    def __init__(self, server: Server, path: Path):
        self._server, self.path, self.project = server, path, path.parents[1]
        self._kernel = server.start_kernel(path)
        node = nbformat.read(path, as_version=4)
        self._execute(node)
        nbformat.write(node, path)
        server.trust(path)

    @property
    def alive(self) -> bool:
        return self._kernel in self._server.kernels()

    @property
    def cells(self) -> list[NotebookNode]:
        """Its code cells, but that of its parameters."""
        cells = nbformat.read(self.path, as_version=4).cells
        return [cell for cell in cells if cell.cell_type == "code" and not cell.metadata.get("tags")]

    @property
    def outputs(self) -> list[NotebookNode]:
        return [output for cell in self.cells for output in cell.outputs]

    def count(self, mime: str) -> int:
        """How many outputs have a representation of this kind."""
        return sum(mime in output.get("data", {}) for output in self.outputs)

    @property
    def figures(self) -> Path:
        """The folder of what it wrote."""
        (figures,) = (self.project / "figures").iterdir()
        return figures

    @property
    def verdict(self) -> dict:
        return json.loads((self.figures / f"{self.path.name[:2]}_verdict.json").read_text())

    def page(self) -> str:
        """What a reader without a kernel gets."""
        notebooks._to_html(self.path)
        return self.path.with_suffix(".html").read_text(encoding="utf-8")

    def again(self, cells: Iterable[NotebookNode]) -> None:
        """Execute cells in the kernel that it was executed in."""
        self._execute(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell.source) for cell in cells]))

    def _execute(self, node: NotebookNode) -> None:
        """In a thread of its own, because in this one a browser's event loop may be running."""
        done: Future[None] = Future()
        connection = self._server.connection(self._kernel)

        def execute() -> None:
            try:
                done.set_result(asyncio.run(_execute(connection, node)))
            except BaseException as error:
                done.set_exception(error)

        threading.Thread(target=execute, daemon=True).start()  # Ctrl-C does not wait for the notebook
        done.result()


async def _execute(connection: Path, node: NotebookNode) -> None:
    kernel = AsyncKernelClient(connection_file=str(connection))
    kernel.load_connection_file()
    kernel.start_channels(hb=False)  # one that answers late because the cores are busy is not dead
    try:
        await kernel.wait_for_ready(timeout=120)
        client = NotebookClient(node, timeout=None)
        client.kc = kernel
        for position, cell in enumerate(node.cells):
            await client.async_execute_cell(cell, position)
    finally:
        kernel.stop_channels()


def with_parameters(notebook: Path, parameters: dict[str, Any]) -> NotebookNode:
    """The notebook with these values in place of those of its `parameters` cell."""
    unknown = parameters.keys() - inspect_notebook(str(notebook)).keys()
    assert not unknown, f"{notebook.name} has no parameter {unknown}"
    return parameterize_notebook(load_notebook_node(str(notebook)), parameters)


def _environment() -> dict[str, str]:
    """That of the tests, without a home for indexes and figures: a kernel finds it by where its notebook lies."""
    return {name: value for name, value in os.environ.items() if name != "WORKBENCH_HOME"}
