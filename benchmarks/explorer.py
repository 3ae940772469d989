"""The time from a change of a widget's control to the new picture, in a browser, and that of opening a saved page.

    python benchmarks/explorer.py INDEX [ROUNDS]

A notebook explores a copy of the index (more than 5,000 nodes within three hops) from its strongest hub; the keyboard
moves the limit of nodes between two values, and back, ROUNDS times: 120 and 200, then 2,000 and 5,000. For the larger
of the two, it prints the median seconds until the kernel has answered (the line above the picture states the new number
of nodes), and until the new picture is drawn. Then the milliseconds from a key to the picture of the next stage of
DotRAG's paths among up to 80 nodes; and the seconds until the saved page of a replay of 20 rounds can be stepped
through. Needs Chromium and playwright.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "browser"))

import rounds as by_hand
from conftest import FLAGS
from lab import HEIGHT, PROJECT, WIDTH, Lab
from notebook_server import Server
from playwright.sync_api import Locator, Page, expect, sync_playwright

import workbench as wb
from workbench.records import Evidence
from workbench.trace import Trace

CELL = "import workbench as wb\nexplorer = wb.explore(wb.Index.open('{}'), hops=3, limit={})\nexplorer"
NODES = "() => view.data().nodes.length"  # a phrase and the passage of its title are one
STAGE = "() => JSON.stringify(view.data().nodes.map(({s, x, y, label}) => [s, x, y, label]))"
PATHS = """\
import workbench as wb
lab = wb.lessons.Lab("meridian", "rules", layers=["typed"])
tracer = wb.trace_dots(lab.index, [lab.question("mer-q21")], engine=lab.engine)
tracer.most(80)
tracer
"""
DRAWN = "(_, before) => view.data().nodes.length > before && view.stands()"


def main(index: Path, rounds: int = 5) -> None:
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        server = Server(Path(home) / "server", Path(home) / "encoded")
        lab = Lab(server)
        try:
            shutil.copytree(index, lab.root / "indexes" / "measured")
            context = playwright.chromium.launch_persistent_context(
                str(Path(home) / "profile"),
                executable_path=shutil.which("chromium"),
                args=FLAGS,
                viewport={"width": WIDTH, "height": HEIGHT},
            )
            for small, large, how in ((120, 200, "small"), (2000, 5000, "large")):
                lab.write(f"{how}.ipynb", CELL.format(lab.root / "indexes" / "measured", small))
                kernel, drawn = zip(*measure(lab, context.new_page(), f"{how}.ipynb", large, rounds))
                print(
                    f"{how}, {large:,} nodes: kernel {statistics.median(kernel):.2f} s, "
                    f"drawn {statistics.median(drawn):.2f} s (median of {rounds}; slowest {max(drawn):.2f} s)"
                )
            took = list(steps(lab, context.new_page(), rounds))
            print(f"a step, {min(nodes for nodes, _ in took)} to {max(nodes for nodes, _ in took)} nodes: "
                  f"{1000 * statistics.median(taken for _, taken in took):.0f} ms")  # fmt: skip
            print(f"a saved replay of 20 rounds: {opened(context.new_page(), Path(home) / 'replay.html'):.2f} s")
            context.close()
        finally:
            server.end_kernels(PROJECT)
            server.close()


def measure(lab: Lab, page: Page, name: str, large: int, rounds: int) -> Iterator[tuple[float, float]]:
    """(seconds until the kernel has answered, seconds until drawn) of each round."""
    notebook = lab.open(page, name)
    notebook.run_all()
    said = notebook.panel.get_by_text("Subgraph '").first
    limit = notebook.panel.get_by_role("slider").nth(1)
    for _ in range(rounds):
        page.wait_for_timeout(2_000)  # the previous picture is drawn
        before = notebook.panel.frame_locator("iframe").locator("body").evaluate(NODES)
        began = time.perf_counter()
        limit.press("ArrowRight")
        expect(said).to_contain_text(f" {large:,} nodes", timeout=60_000)
        kernel = time.perf_counter() - began
        wait_until_drawn(notebook.panel, before)
        yield kernel, time.perf_counter() - began
        limit.press("ArrowLeft")
        expect(said).not_to_contain_text(f" {large:,} nodes", timeout=60_000)


def steps(lab: Lab, page: Page, rounds: int) -> Iterator[tuple[int, float]]:
    """(nodes of the picture, seconds until another stage of paths is drawn), to and fro."""
    lab.write("steps.ipynb", PATHS)
    notebook = lab.open(page, "steps.ipynb")
    notebook.run_all()
    widget = notebook.panel.locator(".hopscope-tracer")
    slider, body = widget.get_by_role("slider").nth(3), widget.frame_locator("iframe").first.locator("body")
    for key in ("ArrowLeft", "ArrowRight") * rounds:
        page.wait_for_timeout(1_500)
        before = body.evaluate(STAGE)
        began = time.perf_counter()
        slider.press(key)
        while body.evaluate(STAGE) == before:
            pass
        yield body.evaluate(NODES), time.perf_counter() - began


def opened(page: Page, path: Path, count: int = 20, pooled: int = 50) -> float:
    """Seconds until the saved page of a replay of so many rounds, each with a pool of `pooled` passages, is live."""
    trace = Trace("full")
    with trace.span("CHAIN", f"bdtr[iterations={count}]", question=by_hand.QUESTION, k=10, budget=None) as root:
        for number in range(count + 1):
            names = [f"p{(at * 7 + number * 3) % pooled}" for at in range(pooled)]
            with trace.span("CHAIN", f"round {number}", round=number):
                if number:
                    by_hand.think(trace, number, {"fast": f"What then, {number}?"}, [["fast", f"What then, {number}?"]])
                by_hand.search(trace, "fast" if number else "question", by_hand.QUESTION, *names)
                by_hand.pool(trace, *names)
        root.score(by_hand.ranking(*names[:10]))
    wb.replay(Evidence(by_hand.QUESTION, "bdtr", "cosine", (), trace=trace)).save(path)
    began = time.perf_counter()
    page.goto(path.resolve().as_uri())
    page.locator(".steps.live").first.wait_for()
    return time.perf_counter() - began


def wait_until_drawn(panel: Locator, before: int) -> None:
    """Until the picture has more nodes than before."""
    body = panel.frame_locator("iframe").locator("body")
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if body.evaluate(DRAWN, before):
            return
        time.sleep(0.01)
    raise TimeoutError("no larger picture within a minute")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:3]))
