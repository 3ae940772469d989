"""The docs site: `docs/`, the README and the executed notebooks as pages that open from a disk.

python docs/site/build.py              write build/site; notebooks that were not executed yet are executed first
python docs/site/build.py --unexecuted take the notebooks without outputs instead, which takes seconds

What is written by hand stays as a forge shows it. This lays it out beside the pages that are read off the code
(`reference.py`), lets Sphinx make the pages, and fails where a page loads anything from elsewhere or a link leads
nowhere (`links.py`).
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT, HERE = Path(__file__).resolve().parents[2], Path(__file__).resolve().parent
SOURCE, SITE, EXECUTED = ROOT / "build" / "site-source", ROOT / "build" / "site", ROOT / "build" / "notebooks"
sys.path[:0] = [str(ROOT), str(HERE)]

import links  # noqa: E402
from flowchart import drawn  # noqa: E402
from reference import pages  # noqa: E402

OWN = ("docs", "notebooks", "README.md")  # what is laid out in a way of its own
REFERENCE = "* Reference: [Reference](docs/reference/README.md)\n"


def lay_out(source: Path, executed: Path | None) -> None:
    """Write the folder that Sphinx reads, in the shape of the repository, so that links lead where they do there."""
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(ROOT / "docs", source / "docs", ignore=shutil.ignore_patterns("*.py", "site", "__pycache__"))
    for file in _linked():
        (source / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, source / file)
    for name, text in pages().items():
        _write(source / "docs" / "reference" / name, text)
    for page in source.rglob("*.md"):
        _write(page, drawn(page.read_text(encoding="utf-8")))
    for first in (source / "docs").glob("*/README.md"):
        _write(first, first.read_text(encoding="utf-8") + _tree("", _beside(first)))
    _write(source / "index.md", _index())
    _notebooks(source / "notebooks", executed)


def _linked() -> set[Path]:
    """Other files of the repository that the pages link to, and that these link to in turn; from the root."""
    waiting, found = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")], set()
    while waiting:
        page = waiting.pop()
        for link in re.findall(r"\]\(([^)#:\s]+)", page.read_text(encoding="utf-8")):
            target = (page.parent / link).resolve()
            if not (target.is_file() and target.is_relative_to(ROOT)):
                continue
            file = target.relative_to(ROOT)
            if file.parts[0] not in OWN and file not in found:
                found.add(file)
                waiting += [target] * (target.suffix == ".md")
    return found


def _write(page: Path, text: str) -> None:
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text, encoding="utf-8")


def _index() -> str:
    """The README, with its list of pages as the navigation."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    before, title, after = text.partition("## Documentation\n\n")
    listed, end, rest = after.partition("\n\n")
    listed += "\n" + REFERENCE
    trees = [
        _tree(caption, [link.removesuffix(".md") for link in re.findall(r"\]\(([^)#]+\.md)\)", body)])
        for caption, body in re.findall(r"^\* ([^:]+): (.*?)(?=^\* |\Z)", listed, re.DOTALL | re.MULTILINE)
    ]
    notebooks = [f"notebooks/{path.stem}" for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))]
    return before + title + listed + end + rest + "".join([*trees, _tree("Notebooks", notebooks)])


def _beside(first: Path) -> list[str]:
    return sorted(page.stem for page in first.parent.glob("*.md") if page != first)


def _tree(caption: str, entries: list[str]) -> str:
    return "\n".join(["\n```{toctree}", ":hidden:", *([f":caption: {caption}"] if caption else []), *entries, "```\n"])


def _notebooks(folder: Path, executed: Path | None) -> None:
    """The notebooks, with their outputs if they were executed; a page that leaves out what needs a kernel says so."""
    import nbformat

    from workbench import notebooks

    folder.mkdir()
    for original in notebooks.find(ROOT / "notebooks"):
        node = nbformat.read(executed / original.name if executed else original, as_version=4)
        if notebooks.still(node):
            note = f":::{{note}}\n{notebooks.STILL}\n:::"
            node.cells.insert(1, nbformat.v4.new_markdown_cell(note, id="no-kernel"))
        nbformat.write(node, folder / original.name)


def executed_copies() -> Path:
    """The copies that `workbench run` made; those that are missing, or were edited since, are executed."""
    import nbformat

    from workbench import notebooks

    for original in notebooks.find(ROOT / "notebooks"):
        node, copy = nbformat.read(original, as_version=4), EXECUTED / original.name
        if not (copy.exists() and notebooks.same_cells(node, nbformat.read(copy, as_version=4))):
            notebooks.run_all(ROOT / "notebooks", EXECUTED, {}, original.name)
    return EXECUTED


def build(site: Path = SITE, source: Path = SOURCE, executed: Path | None = None) -> Iterator[str]:
    """Write the site anew; what is wrong with it, a line each."""
    from sphinx.cmd.build import build_main

    lay_out(source, executed)
    shutil.rmtree(site, ignore_errors=True)
    doctrees, log = source.with_name("site-doctrees"), source.with_name("site-warnings.txt")
    given = ["-q", "-b", "html", "-c", str(HERE), "-d", str(doctrees), "-w", str(log), str(source), str(site)]
    if build_main(given):
        yield "Sphinx failed"
        return
    yield from log.read_text(encoding="utf-8").splitlines()
    yield from links.faults(site)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unexecuted", action="store_true", help="notebooks without outputs")
    try:
        import furo  # noqa: F401
        import myst_nb  # noqa: F401
    except ModuleNotFoundError as error:
        parser.error(f"{error.name} is missing, which comes with the extra `docs`: pip install -e '.[docs]'")
    wrong = list(build(executed=None if parser.parse_args().unexecuted else executed_copies()))
    for line in wrong:
        print(line, file=sys.stderr)
    if wrong:
        raise SystemExit(f"{len(wrong)} faults in {SITE}")
    print(f"The site is in {SITE}; open {(SITE / 'index.html').as_uri()}")


if __name__ == "__main__":
    main()
