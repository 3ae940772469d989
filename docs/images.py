"""The README's pictures: widgets in JupyterLab, as a browser shows them, all made anew by one command.

python docs/images.py                 every picture; the index that they show is built once, in build/images
python docs/images.py explorer dots   these alone

It needs Chromium and what `make setup` installs."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from PIL import Image

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

ROOT = Path(__file__).parents[1]
IMAGES, KEPT = ROOT / "docs" / "images", ROOT / "build" / "images"
TALLEST = 1200  # pixels of a picture; what a widget has below is cut off
os.environ["PYTHONPATH"] = str(ROOT)  # kernels show this tree
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "browser")]

LAYERS = ("facts", "synonyms", "typed", "schema_graph", "tree", "entity_summaries")
START = (
    "import os\nimport workbench as wb\nfrom workbench.index import Index\n"
    "os.chdir(wb.home())\nindex = Index.open('indexes/meridian')\ndata = wb.load('meridian')\n"
    "rules = wb.engine('rules')\n"
)
RUN = (
    "methods = [wb.method(spec, index, rules) for spec in ('hipporag2', 'bdtr')]\n"
    "run = wb.evaluate(data.questions, methods, wb.reader('direct', rules), 'runs/first', progress=False)\n"
)


class Picture(NamedTuple):
    """A widget that the last line of `code` displays, and the class of its element; "" for a page, NAME.html."""

    code: str
    shown: str


PICTURES = {
    "explorer": Picture("wb.explore(index, 'lanthorn bridge')", ".hopscope-explorer"),
    "replay": Picture(
        "replay = wb.replay(index, data.questions, engine=rules)\nreplay.compare('ircot')\nreplay.step('end')\nreplay",
        ".hopscope-replay",
    ),
    "dots": Picture("wb.trace_dots(index, data.questions, engine=rules)", ".hopscope-tracer"),
    "ablate": Picture("wb.ablate(index, data.questions, engine=rules)", ".hopscope-ablator"),
    "steer": Picture("wb.steer(index, data.questions, engine=rules)", ".hopscope-steering"),
    "tree": Picture(
        "tree = wb.tree(index, data.questions, engine=rules)\ntree.ask(data.questions[0].id)\ntree", ".hopscope-tree"
    ),
    "messages": Picture(
        "lit = wb.messages(index, data.questions, method='gfm_rag[checkpoint=mini]', engine=rules)\n"
        "lit.stage('layer 2')\nlit",
        ".hopscope-messages",
    ),
    "verdicts": Picture(
        RUN + "verdicts = wb.verdicts([run], 'bdtr', stands_for={str(run.folder): 'musique'})\n"
        "verdicts.cell('BDTR', 'musique', 'em')\nverdicts",
        ".hopscope-verdicts",
    ),
    "bundle": Picture(
        RUN + "wb.bundle(run, out='lab/bundle.html', index=index, progress=False)",
        "",
    ),
}  # fmt: skip


def index_folder() -> Path:
    """The index of the bundled corpus on its curated facts, built unless it is there."""
    import workbench as wb

    folder = KEPT / "indexes" / "meridian"
    wb.Index.build("meridian", wb.engine("rules"), folder, extraction="curated", layers=LAYERS)
    return folder


def page_of(context: BrowserContext, bundle: Path) -> Path:
    """The first question of a bundle, both methods side by side."""
    page = context.new_page()
    page.set_viewport_size({"width": 1360, "height": 1060})
    page.goto(f"{bundle.as_uri()}#q=mer-q01")
    page.wait_for_selector("body[data-ready]")
    page.wait_for_timeout(500)
    made = bundle.with_suffix(".png")
    page.screenshot(path=str(made))
    return made


def take(names: list[str]) -> None:
    """Write each picture as `docs/images/NAME.png`."""
    os.environ["HOPSCOPE_SCREENSHOTS"] = "1"
    from lab import HEIGHT, PROJECT, SCREENSHOTS, WIDTH, Guard, Lab
    from notebook_server import Server
    from playwright.sync_api import sync_playwright
    from tqdm import tqdm

    index = index_folder()
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        server = Server(Path(home) / "server", Path(home) / "encoded")
        try:
            lab = Lab(server)
            shutil.copytree(index, lab.root / "indexes" / index.name)
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            for name in tqdm(names, unit="picture"):
                context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT})
                guard = Guard(context)
                picture = PICTURES[name]
                lab.write(f"{name}.ipynb", START + picture.code)
                opened = lab.open(context.new_page(), f"{name}.ipynb")
                opened.run_all()
                if picture.shown:
                    widget = opened.panel.locator(picture.shown).first
                    widget.wait_for()
                    opened.page.wait_for_timeout(2_000)  # pictures follow the texts beside them
                    opened.screenshot(f"image_{name}", widget)
                    made = SCREENSHOTS / f"image_{name}.png"
                else:
                    made = page_of(context, lab.root / "lab" / f"{name}.html")
                with Image.open(made) as whole:
                    cut = whole.crop((0, 0, whole.width, min(whole.height, TALLEST))).convert("RGB")
                    cut.quantize(256, dither=Image.Dither.NONE).save(IMAGES / f"{name}.png", optimize=True)
                context.close()
                server.end_kernels(PROJECT)
                if guard.problems:
                    raise SystemExit(f"{name}: {'; '.join(map(str, guard.problems))}")
            browser.close()
        finally:
            server.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PICTURES)}; all by default")
    names = parser.parse_args().names
    if unknown := [name for name in names if name not in PICTURES]:
        parser.error(f"there is no picture {unknown[0]!r}; there are {', '.join(PICTURES)}")
    take(names or list(PICTURES))


if __name__ == "__main__":
    main()
