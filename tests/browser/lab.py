"""JupyterLab in a real browser: its pages, one opened notebook, and the guard that watches.

A test asks for the fixtures `lab`, `page` and `notebook` (the project's notebooks, executed once a session):

    opened = lab.open(page, notebook("01", live=True).path, theme="dark")
    expect(opened.outputs("holds")).to_be_visible()
    opened.screenshot("01_dark")                           # build/screenshots/01_dark.png, of `make browser`
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import nbformat
from notebook_server import ROOT, TOKEN, Server
from playwright.sync_api import BrowserContext, ConsoleMessage, Dialog, Locator, Page, Request, Route, expect

T = TypeVar("T")
SCREENSHOTS = ROOT / "build" / "screenshots"
SHOOTING = bool(os.environ.get("HOPSCOPE_SCREENSHOTS"))
WIDTH, NARROW, HEIGHT = 1280, 800, 1400  # pixels
PROJECT = "browser"
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
PAPERS = {"light": "rgb(255, 255, 255)", "dark": "rgb(17, 17, 17)"}  # of pictures, as CSS
# What the page of a picture says once nothing moves in it.
SETTLED = "while (!view.stands()) await new Promise((again) => setTimeout(again, 20));"
# Where the node whose tooltip begins so stands, in pixels of its page.
WHERE = f"""async (_, name) => {{
  {SETTLED}
  return view.at(view.data().nodes.findIndex(({{tip}}) => tip.toLowerCase().startsWith(name.toLowerCase())));
}}"""
# How many labels a picture has; -1 if two of them meet.
LABELS = f"""async () => {{
  {SETTLED}
  const all = view.labels();
  return all.some((label, at) => all.slice(0, at).some((other) => meet(label, other))) ? -1 : all.length;
}}"""
# The first line of what each node's tooltip says.
NAMES = "() => view.data().nodes.map(({tip}) => tip.split('\\n')[0])"
# Console errors that are no fault of a notebook: parts of their text, each with its reason.
ALLOWED: tuple[str, ...] = ()

expect.set_options(timeout=30_000)  # milliseconds; two workers share the cores with their kernels and browsers


class Lab:
    """JupyterLab's server as a browser sees it. `root` is the project of the notebooks that a test writes."""

    def __init__(self, server: Server):
        self._server, self.root = server, server.project(PROJECT)

    def write(self, name: str, *cells: str) -> None:
        """A notebook of these code cells."""
        node = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        node.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
        nbformat.write(node, self.root / "lab" / name)

    def open(self, page: Page, notebook: str | Path, theme: str = "light") -> Notebook:
        """Open a notebook that was written here, or that the server ran, and wait until its kernel is ready."""
        path = (self.root / "lab" / notebook).relative_to(self._server.root).as_posix()
        page.goto(f"{self._server.url}/lab/tree/{path}?reset&token={TOKEN}", wait_until="domcontentloaded")
        panel = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
        # The name first: while no kernel is attached the indicator says "idle" as well.
        expect(panel.locator(".jp-Toolbar-kernelName")).to_have_text("Python 3 (ipykernel)", timeout=60_000)
        panel.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').wait_for(timeout=60_000)
        opened = Notebook(page, panel)
        opened.set_theme(theme)
        return opened


def becomes(place: Locator, read: Callable[[Locator], T], wanted: Callable[[T], bool], tries: int = 150) -> T:
    """What is read of a place once it is what is wanted: pictures may follow the texts beside them."""
    for _ in range(tries):
        if wanted(found := read(place)):
            return found
        place.page.wait_for_timeout(100)
    raise AssertionError(f"it is not what is wanted, but {found}")


class Notebook:
    """An opened notebook. `panel` is its element, `page` the whole browser page."""

    def __init__(self, page: Page, panel: Locator):
        self.page, self.panel = page, panel

    def run_all(self, timeout: float = 300) -> None:
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

    def clear(self) -> None:
        """Take all outputs away."""
        self.page.evaluate("() => jupyterapp.commands.execute('editmenu:clear-all')")
        expect(self.outputs()).to_have_count(0)

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

    def both_themes(self, name: str, part: Locator | None = None) -> None:
        """Screenshots `<name>_light` and `<name>_dark`."""
        for theme in THEMES if SHOOTING else ():
            self.set_theme(theme)
            self.screenshot(f"{name}_{theme}", part)

    def screenshot(self, name: str, part: Locator | None = None, *, all_of_it: bool = True) -> None:
        """Write `build/screenshots/<name>.png`: one part of the notebook, or all of it, however long; else what the
        window shows. Only `make browser` does, because each takes a second."""
        if not SHOOTING:
            return
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        target = SCREENSHOTS / f"{name}.png"
        if not all_of_it:
            self.page.screenshot(path=str(target))
            return
        cells = self.panel.locator(".jp-WindowedPanel-outer")
        hidden = cells.evaluate("e => e.scrollHeight - e.clientHeight")
        self.page.set_viewport_size({"width": WIDTH, "height": HEIGHT + hidden})
        cells.evaluate("e => { e.scrollTop = 0 }")
        (part or self.page).screenshot(path=str(target))
        self.page.set_viewport_size({"width": WIDTH, "height": HEIGHT})

    def first_screens(self, name: str, *parts: Locator) -> None:
        """Write `build/screenshots/<name>_first.png` and `_second.png`, what a window of 1280 × 900 shows at first and
        one page further down; all of each part has to be there, and the first output, which has question and answer,
        on the first. In the dark theme, `…_dark.png`, pictures are dark;
        `…_800.png` is what a narrow window shows."""
        cells = self.panel.locator(".jp-WindowedPanel-outer")
        self.page.set_viewport_size({"width": WIDTH, "height": 900})
        top, height = cells.evaluate("e => { e.scrollTop = 0; return [e.getBoundingClientRect().top, e.clientHeight] }")
        shown = (self.outputs().first, *parts)
        answer, *below = [box["y"] + box["height"] - top for box in (part.bounding_box() for part in shown)]
        for theme, ending in (("light", ""), ("dark", "_dark")):
            self.set_theme(theme)
            for frame in self.panel.locator("iframe").all():
                expect(frame.content_frame.locator("body")).to_have_css("background-color", PAPERS[theme])
            for width in (WIDTH, NARROW) if SHOOTING else (WIDTH,):
                self.page.set_viewport_size({"width": width, "height": 900})
                for number, screen in enumerate(("first", "second")):
                    cells.evaluate("(e, number) => { e.scrollTop = number * e.clientHeight }", number)
                    self.page.wait_for_timeout(500 * SHOOTING)  # until frames have drawn themselves in their new width
                    narrow = "_800" * (width == NARROW)
                    self.screenshot(f"{name}_{screen}{narrow}{ending}", all_of_it=False)
        self.page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
        assert answer <= height, f"the first output ends at {answer} pixels, and the first screen at {height}"
        assert max(below) <= 2 * height, f"parts end at {below} pixels, and two screens at {2 * height}"


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


def leaves_machine(url: str) -> bool:
    """Whether a request to this address would go to another host; `data:` and `blob:` name none."""
    return urlsplit(url).hostname not in (None, "127.0.0.1", "localhost")
