"""The time from a change of an explorer's control to the new picture, in a browser.

    python benchmarks/explorer.py INDEX [ROUNDS]

A notebook explores a copy of the index from its strongest hub; the keyboard moves the limit of nodes between two
values, and back, ROUNDS times: 120 and 200, then 2,000 and 5,000. For the larger of the two, it prints the median
seconds until the kernel has answered (the line above the picture states the new number of nodes), and until the new
picture is drawn. Needs Chromium and playwright.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "browser"))

from conftest import FLAGS
from lab import HEIGHT, WIDTH, Lab
from playwright.sync_api import Locator, Page, expect, sync_playwright

CELL = "import workbench as wb\nexplorer = wb.explore(wb.Index.open('{}'), hops=3, limit={})\nexplorer"
NODES = "() => view.data().nodes.length"  # a phrase and the passage of its title are one
DRAWN = "(_, before) => view.data().nodes.length > before && view.stands()"


def main(index: Path, rounds: int = 5) -> None:
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        lab = Lab(Path(home))
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
            context.close()
        finally:
            lab.end_kernels()
            lab.close()


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
