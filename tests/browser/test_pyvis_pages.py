"""The pages of `to_pyvis()` in a browser that reaches no other machine: they draw, and show a corpus's text as text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tiny import TinyEncoder, tiny_dataset

import workbench as wb
from workbench.index import Index

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=document.title='taken'> & href"
DRAWN = """() => {
  const canvas = document.querySelector("#mynetwork canvas");
  const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return data.some((value, at) => at % 4 === 3 && value > 0);
}"""


@pytest.mark.parametrize("title", ["Orsby <b>town</b>", HOSTILE])
def test_a_page_draws_offline_and_shows_text_as_text(page, title, tmp_path):
    data = tiny_dataset()
    first, *others = data.passages
    data = replace(data, passages=(replace(first, title=title), *others))
    index = Index.build(data, wb.engine("rules"), tmp_path / "index", encoder=TinyEncoder(), progress=False)
    network = index.graph.to_pyvis()
    network.save_graph(str(tmp_path / "graph.html"))
    page.context.set_offline(True)
    page.goto((tmp_path / "graph.html").as_uri())
    page.wait_for_function(DRAWN)
    assert page.evaluate("network.body.nodeIndices.length") == len(network.nodes)
    row = index.graph.phrases
    if "href" in title:
        page.evaluate("row => network.body.emitter.emit('showPopup', row)", row)
        popup = page.locator(".popup")
    else:
        where = page.evaluate("row => network.canvasToDOM(network.getPosition(row))", row)
        box = page.locator("#mynetwork").bounding_box()
        page.mouse.move(box["x"] + where["x"], box["y"] + where["y"])
        popup = page.locator(".vis-tooltip")
    popup.wait_for(state="visible")
    assert popup.inner_text().startswith(title) and popup.locator("img, b").count() == 0
    assert page.title() != "taken"
