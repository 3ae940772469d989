"""Every view of a hostile corpus in a real browser under a content policy: records, saved widgets, the live parts of
widgets, a bundle. The guard fails on dialogs, on errors (a violated policy is one) and on requests to other hosts."""

from __future__ import annotations

import http.server
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets
import pytest

sys.path += [str(Path(__file__).parents[1] / folder) for folder in ("attacks", "views")]
from hostile_corpus import SETTINGS, Input, open_widgets, write_data
from hostile_texts import TEXTS
from test_hostile_views import things
from test_views import OURS, records

import workbench as wb
from workbench.index import Index
from workbench.index.building import LAYERS
from workbench.methods import METHODS
from workbench.reading import READERS
from workbench.testing import HashEncoder
from workbench.testing.contract import OVER_HASHES

pytestmark = pytest.mark.browser

# Texts that a page could act upon, each in all places that a page shows.
SHOWN = tuple(list(TEXTS)[: list(TEXTS).index("bidi")])
PLACES = ("title", "entity", "relation", "question")
# What only shows may run nothing at all; what moves has scripts of its own, but none in an attribute or an address.
STILL = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
MOVING = (
    "default-src 'none'; script-src-elem 'unsafe-inline' blob:; script-src-attr 'none'; style-src 'unsafe-inline'; "
    "img-src data:; connect-src 'none'; base-uri 'none'; form-action 'none'"
)
# A page that renders the parts of a widget as a notebook does: `_esm` over a model.
HOST = """<!doctype html><meta charset=utf-8><body><script type=module>
for (const {esm, state} of PARTS) {
  const place = document.createElement("div");
  document.body.append(place);
  const heard = {};
  const model = {
    get: (name) => state[name], set: (name, value) => { state[name] = value; }, save_changes() {}, send() {}, off() {},
    on: (name, call) => { (heard[name] ??= []).push(call); },
  };
  const made = await import(URL.createObjectURL(new Blob([esm], {type: "text/javascript"})));
  await (made.default.render ?? made.render)({model, el: place});
}
document.body.dataset.ready = "yes";
</script>"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> tuple[Index, Any]:
    folder = tmp_path_factory.mktemp("hostile")
    inputs = [Input(text, PLACES[at % len(PLACES)]) for at, text in enumerate(SHOWN)]
    inputs += [Input(text, "entity") for text in SHOWN[:8]]
    data = wb.load(write_data(inputs, folder / "data"))
    index = Index.build(
        data, wb.engine("rules"), folder / "index", encoder=HashEncoder(), layers=list(LAYERS), settings=SETTINGS,
        progress=False,
    )  # fmt: skip
    return index, data


@pytest.fixture
def serve() -> Iterator[Any]:
    """`serve(page, policy)` is the address of a page that comes with a content policy."""
    pages: list[tuple[str, str]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            number = self.path.strip("/")
            page, policy = pages[int(number)] if number.isdigit() else ("", STILL)
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Security-Policy", policy)
            self.end_headers()
            self.wfile.write(page.encode("utf-8", "replace"))

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def address(page: str, policy: str) -> str:
        pages.append((page, policy))
        return f"http://127.0.0.1:{server.server_port}/{len(pages) - 1}"

    yield address
    server.shutdown()


def assert_inert(page: Any) -> None:
    """Nothing ran, and nothing of a text became an element or an attribute, in the page or in a frame of it."""
    for frame in page.frames:
        assert frame.evaluate("window.pwned === undefined")
        found = frame.evaluate(
            "() => [...document.querySelectorAll('*')].flatMap((one) => [one.localName, ...one.getAttributeNames()"
            ".filter((name) => name.startsWith('on') || (name === 'class' && one.className.toString().includes('pwn'))"
            " || ['href', 'src', 'action'].includes(name) && /pwn|javascript/i.test(one.getAttribute(name)))"
            ".map((name) => `${one.localName} ${name}`)]).filter((name) => / |pwn|object|embed|base|form$/.test(name))"
        )
        assert found == [], found


def shown_page(*things: Any) -> str:
    return f"<!doctype html><meta charset=utf-8>{''.join(thing._repr_html_() for thing in things)}"


@pytest.mark.parametrize("kind", ["records", "others"])
def test_every_record_shows_hostile_texts_as_texts(page, serve, kind):
    def of(text: str) -> list[Any]:
        return [records(text)[at] for at in OURS] if kind == "records" else things(text)

    for some in (SHOWN[::2], SHOWN[1::2]):
        made = [one for name in some for one in of(TEXTS[name])]
        page.goto(serve(shown_page(*made), STILL))
        page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true })")
        assert page.locator(".hopscope").count() >= len(made)
        assert_inert(page)


def test_what_methods_and_readers_make_of_a_hostile_corpus_is_text(page, serve, hostile):
    index, data = hostile
    shown: list[Any] = [index, index.graph, index.usage, data, *index._layers.values(), wb.checkup(index)]
    shown += [wb.node_details(index, node) for node in range(index.graph.nodes)]
    for number, name in enumerate(METHODS):
        question = data.questions[number % len(data.questions)].question
        evidence = wb.method(OVER_HASHES.get(name, name), index).retrieve(question)
        reader = wb.reader(list(READERS)[number % len(READERS)], index=index)
        shown += [evidence, evidence.trace, reader.read(question, evidence)]
    page.goto(serve(shown_page(*shown), STILL))
    page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true })")
    assert_inert(page)


def test_saved_widgets_run_only_their_own_scripts(page, serve, hostile, tmp_path):
    for name, widget in open_widgets(*hostile):
        page.goto(serve(widget.save(tmp_path / f"{name}.html").read_text("utf-8"), MOVING))
        page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true })")
        page.wait_for_load_state("networkidle")
        assert_inert(page)


def test_live_widgets_render_hostile_texts_as_texts(page, serve, hostile):
    opened = list(open_widgets(*hostile))
    assert len(opened) >= 3
    for name, widget in opened:
        parts = list(parts_of(widget.widget))
        assert parts, f"wb.{name} gives the page nothing"
        held = json.dumps(parts).replace("<", "\\u003c")
        page.goto(serve(HOST.replace("PARTS", held), MOVING))
        page.wait_for_selector("body[data-ready]")
        page.wait_for_timeout(200)  # what a message between frames leads to
        assert_inert(page)


def parts_of(widget: ipywidgets.Widget) -> Iterator[dict[str, Any]]:
    """What a page is given of a widget and of those in it: scripts with their state."""
    if isinstance(widget, anywidget.AnyWidget):
        state = {name: value for name, value in widget.get_state().items() if not name.startswith("_")}
        yield {"esm": widget._esm if isinstance(widget._esm, str) else str(widget._esm), "state": plain(state)}
    for child in getattr(widget, "children", ()):
        yield from parts_of(child)


def plain(state: dict[str, Any]) -> dict[str, Any]:
    """The state without references to other widgets and bytes, which JSON does not have."""
    return json.loads(json.dumps(state, default=lambda value: None))


def test_a_bundle_of_a_hostile_run_is_inert(page, hostile, tmp_path):
    index, data = hostile
    methods = [wb.method(OVER_HASHES.get(name, name), index) for name in METHODS]
    run = wb.evaluate(data.questions[::4], methods, wb.reader("direct"), tmp_path / "run", progress=False)
    made = wb.bundle(run, out=tmp_path / "bundle", index=index, progress=False)
    page.goto((made / "index.html").as_uri() + "#questions")
    page.wait_for_selector("body[data-ready]")
    page.keyboard.press("Home")
    for _ in run.questions:
        page.wait_for_selector(".column")
        page.locator("#page details").evaluate_all("all => all.forEach((one) => { one.open = true })")
        assert_inert(page)
        page.keyboard.press("ArrowRight")


def test_the_policy_and_the_guard_see_what_a_page_would_act_upon(page, guard, serve):
    """The same texts put into a page unescaped: without this the others could pass for want of a watcher."""
    page.goto(serve("<!doctype html>" + TEXTS["image"] + TEXTS["script"], STILL))
    page.wait_for_timeout(200)
    with pytest.raises(AssertionError):
        assert_inert(page)
    refused, guard.problems[:] = list(guard.problems), []
    assert any("Content Security Policy" in one for one in refused)
