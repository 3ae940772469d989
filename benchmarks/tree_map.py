"""How large knowledge trees open and pan in a browser.

    python benchmarks/tree_map.py INDEX …        indexes with the layers schema_graph and tree
    python benchmarks/tree_map.py 40000          planted communities of so many entities

For the map of all communities and that of the largest one, it prints the seconds to compute it, the kilobytes of its
page, the seconds from the page's address to its first picture, the pictures a second while the mouse drags the map, and
the milliseconds that 19 of 20 pictures take at most. Needs Chromium and playwright.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "browser"))

from conftest import FLAGS
from lab import HEIGHT, WIDTH
from panning import panned
from planted_tree import planted_tree
from playwright.sync_api import Page, sync_playwright

import workbench as wb
from workbench.operators.knowledge_tree import KnowledgeTree
from workbench.operators.regrouping import Division
from workbench.views.drawing import Map, drawing_page
from workbench.views.tree_map import community_map, overview_map, type_palette


def overview(tree: KnowledgeTree) -> Map:
    division = Division.built(tree)
    return overview_map(tree, division, type_palette(tree, division))


def largest(tree: KnowledgeTree) -> Map:
    return community_map(tree, 0)


def opened(source: str) -> KnowledgeTree:
    if source.isdigit():
        return planted_tree(int(source), max(2, int(source) // 200), dimension=384)
    return KnowledgeTree(wb.Index.open(source))


def measure(page: Page, tree: KnowledgeTree, drawn: Callable[[KnowledgeTree], Map], folder: Path) -> str:
    began = time.perf_counter()
    shown = drawn(tree)
    computed = time.perf_counter() - began
    path = folder / "map.html"
    path.write_text(drawing_page(shown), encoding="utf-8")
    found = panned(page, path)
    return (
        f"  {drawn.__name__}: {len(shown):,} nodes, {path.stat().st_size / 1000:.0f} kB; computed in {computed:.2f} s, "
        f"opened in {found.opened:.2f} s, {found.frames:.0f} pictures a second, slowest {found.slow:.0f} ms"
    )


def main(sources: list[str]) -> None:
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            str(Path(home) / "profile"), executable_path=shutil.which("chromium"), args=FLAGS,
            viewport={"width": WIDTH, "height": HEIGHT},
        )  # fmt: skip
        for source in sources:
            tree = opened(source)
            print(tree)
            for drawn in (overview, largest):
                print(measure(context.new_page(), tree, drawn, Path(home)))
        context.close()


if __name__ == "__main__":
    main(sys.argv[1:])
