"""JupyterLab in a real browser: the server, one opened notebook, and the guard that watches its page.

A test asks for the fixtures `lab` and `page` of `conftest.py`:

    lab.add(ROOT / "notebooks" / "01_build_graph.ipynb", limit=4)    # a copy with other parameters
    notebook = lab.open(page, "01_build_graph.ipynb", theme="dark")
    notebook.run_all()
    expect(notebook.outputs("holds")).to_be_visible()
    notebook.screenshot("01_dark")                                    # build/screenshots/01_dark.png
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import nbformat
from papermill import inspect_notebook
from papermill.iorw import load_notebook_node
from papermill.parameterize import parameterize_notebook
from playwright.sync_api import BrowserContext, ConsoleMessage, Dialog, Locator, Page, Request, Route, expect

ROOT = Path(__file__).parents[2]
SCREENSHOTS = ROOT / "build" / "screenshots"
WIDTH, HEIGHT = 1280, 1400  # pixels
TOKEN = "t"
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
# Without news; every cell in the page, also those that are scrolled out of sight.
SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
}
# Console errors that are no fault of a notebook: parts of their text, each with its reason.
ALLOWED: tuple[str, ...] = ()


class Lab:
    """A JupyterLab server on a free port of this machine, with all its folders below `home`.

    `root` is what a notebook takes for the project's folder: notebooks are opened in `root/lab`, and indexes, runs and
    figures are written to `root`.
    """

    def __init__(self, home: Path):
        self.root = home / "project"
        self._notebooks = self.root / "lab"
        self._notebooks.mkdir(parents=True)
        (self.root / "notebooks").mkdir()  # by which a kernel in `lab` knows that its parent is a project
        settings = home / "config" / "labconfig" / "default_setting_overrides.json"
        settings.parent.mkdir(parents=True)
        settings.write_text(json.dumps(SETTINGS))
        folders = {
            "JUPYTER_CONFIG_DIR": "config",
            "JUPYTER_DATA_DIR": "data",
            "JUPYTER_RUNTIME_DIR": "runtime",
            "JUPYTERLAB_SETTINGS_DIR": "settings",
            "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
            "IPYTHONDIR": "ipython",
        }
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
                env=_environment() | {name: str(home / folder) for name, folder in folders.items()},
                stdout=log,
                stderr=log,
            )
        try:
            self._wait()
        except BaseException:
            self.close()
            raise

    def add(self, notebook: Path, **parameters: Any) -> None:
        """Copy a notebook, with these values in place of those of its `parameters` cell."""
        unknown = parameters.keys() - inspect_notebook(str(notebook)).keys()
        assert not unknown, f"{notebook.name} has no parameter {unknown}"
        node = load_notebook_node(str(notebook))
        nbformat.write(parameterize_notebook(node, parameters) if parameters else node, self._notebooks / notebook.name)

    def write(self, name: str, *cells: str) -> None:
        """A notebook of these code cells."""
        node = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        node.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
        nbformat.write(node, self._notebooks / name)

    def open(self, page: Page, name: str, theme: str = "light") -> Notebook:
        """Open a notebook of this lab in the page and wait until its kernel is ready."""
        page.goto(f"{self.url}/lab/tree/lab/{name}?reset&token={TOKEN}", wait_until="domcontentloaded")
        panel = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
        # The name first: while no kernel is attached the indicator says "idle" as well.
        expect(panel.locator(".jp-Toolbar-kernelName")).to_have_text("Python 3 (ipykernel)", timeout=60_000)
        panel.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').wait_for(timeout=60_000)
        notebook = Notebook(page, panel)
        notebook.set_theme(theme)
        return notebook

    def end_kernels(self) -> None:
        """Each opened notebook leaves a kernel behind, with the models that it loaded."""
        for session in json.loads(self._ask("GET", "/api/sessions")):
            self._ask("DELETE", f"/api/sessions/{session['id']}")

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _wait(self, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and self._process.poll() is None:
            try:
                self._ask("GET", "/api/status")
                return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError(f"JupyterLab did not start:\n{self._log.read_text()[-3_000:]}")

    def _ask(self, method: str, path: str) -> bytes:
        request = urllib.request.Request(self.url + path, method=method, headers={"Authorization": f"token {TOKEN}"})
        with urllib.request.urlopen(request, timeout=20) as reply:
            return reply.read()


class Notebook:
    """An opened notebook. `panel` is its element, `page` the whole browser page."""

    def __init__(self, page: Page, panel: Locator):
        self.page, self.panel = page, panel

    def run_all(self, timeout: float = 120) -> None:
        """Run every cell and wait for the last; the seconds are those of the whole notebook.

        Raises AssertionError with the cell's error if one failed.
        """
        # Awaiting the command's own promise would know no limit.
        self.page.evaluate(
            "() => { window.ran = false; const done = () => { window.ran = true };"
            " void jupyterapp.commands.execute('notebook:run-all-cells').then(done, done) }"
        )
        self.page.wait_for_function("window.ran", timeout=1000 * timeout)
        failed = self.page.evaluate(
            "() => jupyterapp.shell.currentWidget.content.widgets"
            ".flatMap(cell => cell.model.outputs?.toJSON() ?? [])"
            ".filter(output => output.output_type === 'error')"
            ".map(output => `${output.ename}: ${output.evalue}`)"
        )
        assert not failed, f"a cell failed: {failed}"

    def save(self) -> None:
        """Write it to its file, with outputs and the state of widgets."""
        self.page.evaluate("() => jupyterapp.commands.execute('docmanager:save')")

    def outputs(self, containing: str | None = None) -> Locator:
        """The outputs of all cells, in their order, or those which contain a text; the sources are not searched."""
        return self.panel.locator(".jp-OutputArea-output", has_text=containing)

    def set_theme(self, theme: str) -> None:
        """`light` or `dark`; what has been run stays."""
        self.page.evaluate("name => jupyterapp.commands.execute('apputils:change-theme', {theme: name})", THEMES[theme])
        light = json.dumps(theme == "light")
        body = self.page.locator(f'body[data-jp-theme-light="{light}"][data-jp-theme-name="{THEMES[theme]}"]')
        body.wait_for(state="attached")

    def screenshot(self, name: str, part: Locator | None = None) -> Path:
        """Write `build/screenshots/<name>.png`: one part of the notebook, or all of it, however long."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        target = SCREENSHOTS / f"{name}.png"
        cells = self.panel.locator(".jp-WindowedPanel-outer")
        hidden = cells.evaluate("e => e.scrollHeight - e.clientHeight")
        self.page.set_viewport_size({"width": WIDTH, "height": HEIGHT + hidden})
        cells.evaluate("e => { e.scrollTop = 0 }")
        (part or self.page).screenshot(path=str(target))
        self.page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
        return target


class Guard:
    """Notes in `problems` what no notebook may cause, in every page and frame of a browser context.

    These are errors on the console (but those of `ALLOWED`) and in scripts, dialogs, and requests to any host but this
    machine, which are refused as well.
    """

    def __init__(self, context: BrowserContext):
        self.context = context
        self.problems: list[str] = []
        context.route("**/*", self._route)
        context.on("request", self._request)
        context.on("console", self._console)
        context.on("dialog", self._dialog)
        context.on("weberror", lambda error: self.problems.append(f"uncaught error: {error.error}"))
        for page in context.pages:
            self._sockets(page)
        context.on("page", self._sockets)

    def _sockets(self, page: Page) -> None:
        page.on("websocket", lambda socket: self._address(socket.url))

    def _route(self, route: Route) -> None:
        if leaves_machine(route.request.url):
            route.abort()
        else:
            route.continue_()

    def _request(self, request: Request) -> None:
        self._address(request.url)

    def _address(self, url: str) -> None:
        if leaves_machine(url):
            self.problems.append(f"request: {url}")

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not any(part in message.text for part in ALLOWED):
            self.problems.append(f"console: {message.text}")

    def _dialog(self, dialog: Dialog) -> None:
        # The lab itself asks before it leaves a notebook that was not saved.
        if dialog.type == "beforeunload":
            dialog.accept()
        else:
            self.problems.append(f"dialog: {dialog.message}")
            dialog.dismiss()


def _environment() -> dict[str, str]:
    """That of the tests, without a home for indexes and figures: a kernel finds it by where its notebook lies."""
    return {name: value for name, value in os.environ.items() if name != "WORKBENCH_HOME"}


def leaves_machine(url: str) -> bool:
    """Whether a request to this address would go to another host; `data:` and `blob:` name none."""
    return urlsplit(url).hostname not in (None, "127.0.0.1", "localhost")
