"""How legible the pictures of neighbourhoods are, by the boxes that a browser draws: python benchmarks/legibility.py

Fifty random two-hop neighbourhoods of sixty nodes of an index (by default the bundled corpus by rules): how many of the
labels shown overlap, how much of the frame the nodes fill, whether the start is marked and labelled and every relation
of a path that matters is written, and how many labels there are. Exits with 1 where labels meet or leave the frame,
less than 60 % of a frame is filled, or a start or a relation of the path is not written."""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import networkx
from playwright.sync_api import Page, sync_playwright

import workbench as wb
from workbench.operators.neighbourhood import Subgraph, neighbourhood
from workbench.views.drawing import HEIGHT, drawing_page
from workbench.views.node_details import graph_drawing

FLAGS = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND"]
WIDTH = 760  # pixels of the picture in a notebook
FILLED = 0.6  # of the frame, by the extent of the nodes
MEASURE = """async () => {
  while (!view.stands()) await new Promise((again) => setTimeout(again, 20));
  const {nodes, edges, lines} = view.data(), labels = view.labels();
  const {width, height} = document.querySelector("canvas").getBoundingClientRect();
  const places = nodes.map((_, row) => view.at(row)), written = labels.filter(({id}) => id !== null);
  const most = (axis, sign) => Math.max(...places.map((one) => sign * one[axis] + one.r));
  const extent = (axis) => most(axis, 1) + most(axis, -1);
  const marked = nodes.filter(({ring}) => ring), left = labels.filter(({id}) => id === null).map(({words}) => words);
  const path = edges.filter(({s, label}) => lines[s][5] && label);
  const untold = path.filter(({label}) => !left.includes(label) || (left.splice(left.indexOf(label), 1), false));
  return {
    overlaps: labels.flatMap((one, at) => labels.slice(0, at).filter((other) => meet(one, other))).length,
    outside: labels.filter(({x, y, w, h}) => x < 0 || y < 0 || x + w > width || y + h > height).length,
    filled: extent("x") * extent("y") / (width * height),
    marked: marked.length > 0 && marked.every(({id}) => written.some((label) => label.id === id)),
    untold: untold.map(({label}) => label), path: path.length, nodes: nodes.length,
    labels: written.length, legend: document.querySelectorAll(".legend > *").length,
  };
}"""


def neighbourhoods(index: wb.Index, count: int, *, limit: int = 60, hops: int = 2, seed: int = 0) -> Iterator[Any]:
    """Random neighbourhoods of so many nodes, as drawings in which a path is marked."""
    rows = random.Random(seed).sample(range(index.graph.phrases), index.graph.phrases)
    for row in rows:
        subgraph = neighbourhood(index, row, hops=hops, limit=limit)
        if len(subgraph) == limit:
            yield graph_drawing(subgraph, path_of(subgraph), "a path")
            count -= 1
        if not count:
            return


def path_of(subgraph: Subgraph) -> set[frozenset[str]]:
    """Relations that lead from the start to the node that is furthest from it, as pairs of names: a path to mark."""
    names = [node.name for node in subgraph.nodes]
    graph = networkx.Graph((names[e.source], names[e.target]) for e in subgraph.edges if e.kind == "relation")
    if names[0] not in graph:
        return set()
    ways = networkx.single_source_shortest_path(graph, names[0])
    return {frozenset(pair) for pair in pairwise(max(ways.values(), key=len))}


def measured(page: Page, drawing: Any) -> dict[str, Any]:
    """What the browser shows of a drawing."""
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    page.goto("about:blank")  # a page's scripts cannot be declared twice
    page.set_content(drawing_page(drawing))
    return page.evaluate(MEASURE) | {"name": drawing.name}


def faults(found: dict[str, Any]) -> list[str]:
    """What is wrong with a picture; nothing where it can be read."""
    said = {
        f"{found['overlaps']} labels overlap": found["overlaps"],
        f"{found['outside']} labels leave the frame": found["outside"],
        f"{found['filled']:.0%} of the frame is filled": found["filled"] < FILLED,
        "the start is not marked with its label": not found["marked"],
        f"relations of the path are missing: {', '.join(found['untold'])}": found["untold"],
    }
    return [words for words, wrong in said.items() if wrong]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--index", help="a folder; by default the bundled corpus is indexed by rules")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--nodes", type=int, default=60)
    parser.add_argument("--hops", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        index = wb.Index.open(options.index) if options.index else wb.Index.build("meridian", "rules", folder)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page, rows = browser.new_page(), []
        for drawing in neighbourhoods(index, options.count, limit=options.nodes, hops=options.hops):
            rows.append(measured(page, drawing))
            if wrong := faults(rows[-1]):
                print(f"{rows[-1]['name']}: {'; '.join(wrong)}")
        browser.close()
    for name in ("overlaps", "filled", "path", "nodes", "labels", "legend"):
        values = sorted(row[name] for row in rows)
        print(f"{name}: {values[0]:.3g} to {values[-1]:.3g}, middle {values[len(values) // 2]:.3g}")
    return int(any(map(faults, rows)))


if __name__ == "__main__":
    sys.exit(main())
