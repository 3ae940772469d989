"""One browser for each file, and one guarded page of it for each test."""

from __future__ import annotations

import importlib.util
import os
import shutil

import pytest

# The flags keep the browser from asking its maker for news, and every name but this machine's from being resolved.
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]
REQUIRED = os.environ.get("HOPSCOPE_BROWSER") == "required"

# The test files import playwright: without it they cannot even be collected.
if not REQUIRED and not importlib.util.find_spec("playwright"):
    collect_ignore_glob = ["test_*.py"]

    def pytest_terminal_summary(terminalreporter):
        terminalreporter.write_line("browser tests skipped: they need playwright; run: make setup")


def pytest_configure(config):
    config.addinivalue_line("markers", "browser: drives JupyterLab in Chromium; skipped where there is none")


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser's file. Without it tests are skipped, or fail where `HOPSCOPE_BROWSER=required`."""
    if found := shutil.which("chromium"):
        return found
    end = pytest.fail if REQUIRED else pytest.skip
    return end("browser tests need Chromium; run: apt-get install chromium fonts-dejavu-core")


@pytest.fixture(scope="module")
def lab(chromium, server):
    """The `lab.Lab` of the session; the kernels of the notebooks that a test file wrote end with it."""
    from lab import PROJECT, Lab

    yield Lab(server)
    server.end_kernels(PROJECT)


@pytest.fixture(scope="session")
def meridian(server, meridian_index):
    """Notebooks that a test writes find the index of the bundled corpus built."""
    from lab import PROJECT

    shutil.copytree(meridian_index.folder, server.project(PROJECT) / "indexes" / "meridian")


@pytest.fixture(scope="module")
def browser(chromium):
    """Started once for a file, not for the session: while it runs, its event loop stands in the way of the loops of
    other files' tests."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def guard(browser):
    """The `lab.Guard` of the test's page; whatever it noted fails the test at its end."""
    from lab import HEIGHT, WIDTH, Guard

    context = browser.new_context(
        viewport={"width": WIDTH, "height": HEIGHT},
        service_workers="block",
        color_scheme="null",  # else the page in a frame takes this one's word for that of the page around it
    )
    guard = Guard(context)
    yield guard
    context.close()
    assert guard.problems == []


@pytest.fixture
def page(guard):
    """An empty page, which knows nothing of other tests' pages."""
    return guard.context.new_page()
