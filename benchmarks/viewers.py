"""What could draw our graphs in a browser: the canvas of `workbench/views/viewer`, sigma.js and vis-network.

    npm pack sigma@3 graphology vis-network      in a folder, each unpacked as <name>/package
    python benchmarks/viewers.py FOLDER

The same graphs (places, colours, names) of 60, 500 and 50,000 nodes for each: kilobytes of script, seconds until the
first picture, pictures a second and the milliseconds of 19 of 20 pictures while a mouse drags the graph, how many names
are shown, and how many pairs of these overlap. Needs Chromium and playwright; without a graphics card Chromium computes
WebGL, which sigma uses, on the processor."""

from __future__ import annotations

import json
import random
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "browser"))

from conftest import FLAGS
from panning import panned
from playwright.sync_api import Page, sync_playwright

from workbench.views import viewer

SIZES = (60, 500, 50_000)
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7")
WIDTH, HEIGHT = 760, 520
OVERLAPS = """(boxes) => boxes.flatMap((a, at) => boxes.slice(0, at).filter((b) =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h)).length"""

OURS = """
const view = graph(document.body);
view.show({nodes: nodes.map(({x, y, label, kind}, id) => ({id, x, y, r: 7, s: kind, label})),
  edges: edges.map(([source, target]) => ({source, target, s: 0})), looks: colours.map((one) => [one, "dot", []]),
  lines: [["#888888", 1, .6, [], "", false]], legend: []});
const boxes = () => view.labels();
"""
SIGMA = """
const made = new graphology.Graph({multi: true});
nodes.forEach(({x, y, label, kind}, id) => made.addNode(id, {x, y: -y, label, size: 7, color: colours[kind]}));
edges.forEach(([source, target]) => made.addEdge(source, target, {size: 1, color: "#aaa"}));
const drawn = new Sigma(made, document.getElementById("place"));
let painted = false;
drawn.once("afterRender", () => { painted = true; });
drawn.refresh();
const view = {stands: () => painted}, pen = document.createElement("canvas").getContext("2d");
const boxes = () => [...drawn.getNodeDisplayedLabels()].map((id) => {
  const {x, y, size, label} = drawn.getNodeDisplayData(id), at = drawn.framedGraphToViewport({x, y});
  pen.font = "14px Arial";
  return {x: at.x + size + 3, y: at.y - 7, w: pen.measureText(label).width, h: 14};
});
"""
VIS = """
const drawn = new vis.Network(document.getElementById("place"), {
  nodes: nodes.map(({x, y, label, kind}, id) => ({id, x: 700 * x, y: 480 * y, label, color: colours[kind]})),
  edges: edges.map(([from, to], id) => ({id, from, to})),
}, {physics: false, edges: {smooth: false}, nodes: {shape: "dot", size: 7}, interaction: {hideEdgesOnDrag: false}});
let painted = false;
drawn.once("afterDrawing", () => { painted = true; });
drawn.fit();
const view = {stands: () => painted}, pen = document.createElement("canvas").getContext("2d");
const boxes = () => nodes.map(({label}, id) => {
  const {x, y} = drawn.canvasToDOM(drawn.getPositions(id)[id]), scale = drawn.getScale();
  pen.font = `${14 * scale}px arial`;
  const w = pen.measureText(label).width;
  return {x: x - w / 2, y: y + 7 * scale, w, h: 14 * scale};
});
"""


def planted(count: int, seed: int = 0) -> dict[str, Any]:
    """A graph of so many nodes with near neighbours joined, and names of two words."""
    chance = random.Random(seed)
    places = sorted((chance.random(), chance.random()) for _ in range(count))
    nodes = [{"x": x, "y": y, "label": f"Node {at} Name", "kind": at % 4} for at, (x, y) in enumerate(places)]
    edges = [
        [at, min(count - 1, at + chance.randint(1, 8))] for at in range(count) for _ in range(chance.randint(1, 2))
    ]
    return {"nodes": nodes, "edges": edges, "colours": COLOURS}


def candidates(libraries: Path) -> dict[str, tuple[str, str]]:
    """Name → scripts to load, and the script that draws."""
    text = lambda *names: "\n".join((libraries / name).read_text("utf-8") for name in names)  # noqa: E731
    return {
        "own canvas": (viewer.GRAPH, OURS),
        "sigma.js 3 with graphology": (
            text("graphology/package/dist/graphology.umd.min.js", "sigma/package/dist/sigma.min.js"), SIGMA,
        ),
        "vis-network 10": (text("vis-network/package/standalone/umd/vis-network.min.js"), VIS),
    }  # fmt: skip


def page_of(library: str, script: str, data: dict[str, Any]) -> str:
    declared = f"const {{nodes, edges, colours}} = {json.dumps(data)};"
    style = f"body,#place{{margin:0;width:{WIDTH}px;height:{HEIGHT}px}}{viewer.GRAPH_CSS}"
    return (
        f"<!doctype html><meta charset='utf-8'><style>{style}</style>"
        f"<body class='hopscope-graph'><div id='place'></div>"
        f"<script>{library}</script><script>{declared}{script}</script>"
    )


def measured(page: Page, path: Path, names: bool) -> str:
    found = panned(page, path)
    said = f"first picture {found.opened:.2f} s, {found.frames:.0f} pictures a second, slowest {found.slow:.0f} ms"
    if not names:
        return said
    boxes = page.evaluate("boxes()")
    return f"{said}; {len(boxes)} names, {page.evaluate(OVERLAPS, boxes)} pairs overlap"


def main(libraries: Path) -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name, (library, script) in candidates(libraries).items():
            print(f"{name}: {len(library) / 1000:.0f} kB")
            for count in SIZES:
                path = Path(folder) / "page.html"
                path.write_text(page_of(library, script, planted(count)), encoding="utf-8")
                page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
                print(f"  {count:,} nodes: {measured(page, path, count < 1_000)}", flush=True)
                page.close()
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
