"""`viewer/parts.js` makes of the data of a part the same elements as a browser makes of its HTML, so that a widget, a
bundle and a saved page say the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dot_traces import dot_trace
from rounds import bdtr_trace
from test_views import HOSTILE, OURS, records

import workbench as wb
from workbench.methods.catrag.steering import staged
from workbench.methods.dotrag.dots import dots
from workbench.methods.gfm_rag.passing import passing
from workbench.methods.iterative.replay import replay
from workbench.methods.youtu.routed import routed
from workbench.operators.knowledge_tree import KnowledgeTree
from workbench.operators.node_details import node_details
from workbench.testing import small_index
from workbench.views import viewer
from workbench.views.parts import (
    Part,
    bad,
    beside,
    code,
    details,
    faint,
    fold,
    group,
    heading,
    image,
    interval,
    italic,
    line,
    link,
    long_table,
    marked,
    picture,
    points,
    quiet,
    steps,
    strong,
    table,
    tag,
    titled,
    view,
    warned,
    words,
)
from workbench.views.render import KINDS, data_of, html_of, page_data

pytestmark = pytest.mark.browser

TEXTS = ("plain", "\n\nbegins with line breaks", " ", "<img src=x onerror='window.pwned = 1'>", *HOSTILE)
QUESTION = "Who designed the bridge over the river at Vennick?"
# JSON in attributes as a browser writes it, and numbers without .0.
NORMAL = """(made) => {
  for (const figure of made.querySelectorAll("figure")) {
    for (const [name, data] of Object.entries(figure.dataset)) figure.dataset[name] = JSON.stringify(JSON.parse(data));
  }
  return made.innerHTML.replace(/(\\d)\\.0(?=[" ])/g, "$1");
}"""
BOTH = f"""(pairs) => pairs.map(([data, html]) => {{
  const normal = {NORMAL}, drawn = document.createElement("div"), read = document.createElement("div");
  drawn.append(partOf(JSON.parse(data)));
  read.innerHTML = html;
  return [normal(drawn), normal(read)];
}})"""


def every_part(text: str) -> list[Part | None]:
    """What each constructor makes of a text."""
    return [
        words(text, 3, 0.25, [text, None], sep="; "),
        words(strong(text), faint(text), tag(text), bad(text), italic(text), marked("hop h1", text)),
        words(link([("q", text), ("method", text)], text)),
        line(text, look="note"),
        quiet(text, text),
        titled(text, text),
        heading(text, level=3),
        code(text, strong(text)),
        points(text, strong(text)),
        beside(line(text), line(text)),
        beside(line(text), line(text), look="two"),
        fold(strong(text), line(text), open=True),
        details(text),
        table([text, "n"], [(text, 1), (details(text, line(text)), None)], most=1),
        long_table(["n", text], [(at / 3, strong(text)) for at in range(12)], text),
        interval(-0.5, 0.1, 0.5, -1.0, 1.0, printed=0.2),
        interval(None, 0.25, None, 0.0, 0.5),
        picture("bump", {"label": text, "rows": [1, None, 2.0]}, text),
        picture("graph", {"name": text}),
        image("<svg xmlns='http://www.w3.org/2000/svg'/>", 40, text),
        steps([details(text, line(text)), details(text)], picture("bump", {}, text)),
        warned([text]),
        group(line(text), None, group(line(text), look="gone"), look="side"),
    ]


def kinds(part: Part | str) -> Iterator[str]:
    if isinstance(part, Part):
        yield part.kind
        for inside in part.inside:
            yield from kinds(inside)


def real() -> list[object]:
    """What methods, a reader and the readers of traces gave."""
    index, known = small_index(), ("aldermark",)
    found, listed, routes, passed = (
        wb.method(spec, index).retrieve(QUESTION)
        for spec in ("hipporag2", "lightrag", "youtu", "gfm_rag[checkpoint=untrained]")
    )
    reader = wb.reader("direct[compress=graph-walk[budget=400]]")
    return [
        *(found, found.trace, reader.context(listed).compressed, reader.read(QUESTION, found)),
        *(replay(bdtr_trace(), known), dots(dot_trace(), known), staged(wb.method("catrag", index), QUESTION, known)),
        *(routed(routes.trace), passing(passed.trace, known, index), node_details(index, "vennick")),
        KnowledgeTree(index).community(0),
    ]


def compare(page, parts: list[Part | None]) -> None:
    """A browser's elements of the data and of the HTML, of which none is acted upon."""
    page.set_content(f"<!doctype html><script>{viewer.part('legend.js', 'parts.js')}</script>")
    pairs = [[page_data(data_of(part)), html_of(part)] for part in parts if part is not None]
    for drawn, read in page.evaluate(BOTH, pairs):
        assert drawn == read
    assert page.evaluate("window.pwned === undefined")


@pytest.mark.parametrize("text", TEXTS)
def test_every_part_is_drawn_as_it_is_written(page, text):
    compare(page, every_part(text))


def test_every_kind_of_part_is_among_them():
    assert {kind for part in every_part("x") if part for kind in kinds(part)} == KINDS


def test_records_are_drawn_as_they_are_written(page):
    made = [record for text in ("plain", " ".join(HOSTILE)) for at, record in enumerate(records(text)) if at in OURS]
    compare(page, [view(record) for record in (*made, *real())])
