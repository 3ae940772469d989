"""A bundle: runs as static pages that open from a disk, without a kernel and without a network.

    folder/
      index.html     results, conditions, and the list of questions
      data/q0.js …   the details of so many questions each, read when one of them is looked at
      bundle.json    what it holds, and the hash of every file

One file, `NAME.html`, has the same parts inside. The page may run one script and the files that this script names, by a
nonce that follows from the content, and load nothing else. Equal runs give equal bytes; seconds are left out."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from workbench.display import tqdm
from workbench.errors import SettingError
from workbench.evaluation.grid import Grid
from workbench.evaluation.run import Run
from workbench.index import Index
from workbench.places import home, locked
from workbench.text import clean
from workbench.views import viewer
from workbench.views.bundle.contents import Contents
from workbench.views.bundle.pages import conditions, results, runs_of, subtitle_of, title_of, warnings
from workbench.views.bundle.store import bare, eraser, packed, write_chunks
from workbench.views.parts import NAME, Part
from workbench.views.render import html_of, page_data

FORMAT = 1
MARK = '<meta name="generator" content="hopscope bundle'  # at the beginning of every bundle's page
# No host is named, not even the page's own: only what bears the nonce or is in the page is loaded.
POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src data:; connect-src 'none'; "
    "base-uri 'none'; form-action 'none'"
)


def bundle(
    *runs: Run | Grid | str | Path,
    out: str | Path | None = None,
    index: Index | None = None,
    title: str | None = None,
    stands_for: Mapping[str, str] | None = None,
    progress: bool = True,
) -> Path:
    """Write runs (or their folders, or that of a grid) as pages to hand on; returns the folder or file.

    `out` is a folder, or one file if it ends in `.html`; by default `bundles/<name of the first run>`. A bundle that is
    there already is replaced in one step. An `index` adds titles and texts of the ranked passages, which a run does not
    keep. `stands_for` is that of :func:`workbench.tables`: folder of a run → the data set of a paper in whose columns
    it is shown. Raises :class:`SettingError` if something else is there, for a run that another process writes, and for
    runs whose questions are not the same; :class:`DataError` where rows, traces or contexts are damaged or missing."""
    contents = Contents.of(runs, index, stands_for)
    target = Path(out) if out is not None else home() / "bundles" / re.sub(r"[^\w.-]+", "-", contents.names[0])
    single = target.suffix.lower() in (".html", ".htm")
    _refuse(target, single)
    with _beside(target) as part:
        _write(contents, part, clean(title or title_of(contents), NAME), single, progress)
        if single:
            os.replace(part / "index.html", target)
        else:
            _replace(part, target)
    return target


def _refuse(target: Path, single: bool) -> None:
    """Raise :class:`SettingError` if something other than a bundle would be overwritten."""
    page = target if single else target / "index.html"
    if target.exists() and target.is_dir() == single:
        raise SettingError(f"{target} is a {'folder' if single else 'file'}; a bundle that is one file ends in .html")
    if not target.exists() or (not single and not any(target.iterdir())):
        return
    if not page.is_file() or MARK not in page.read_text("utf-8", "replace")[:2000]:
        raise SettingError(f"{target} is not a bundle and would be overwritten; choose another place with --out")


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """A folder beside the target, on the same disk; it is removed in the end. Raises
    :class:`SettingError` while another process writes the same bundle."""
    around = target.with_name(f".{target.name}.part")
    taken = f"another process is writing the bundle {target}; wait for it, or choose another place with --out"
    with locked(around, SettingError(taken)):
        part = around / target.name
        shutil.rmtree(part, ignore_errors=True)
        (part / "data").mkdir(parents=True)
        try:
            yield part
        finally:
            shutil.rmtree(around, ignore_errors=True)


def _replace(part: Path, target: Path) -> None:
    """Put a finished folder in the place of a bundle, which stays whole until then."""
    old = target.with_name(f".{target.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    part.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def _write(contents: Contents, part: Path, title: str, single: bool, progress: bool) -> None:
    erase = eraser([folder for run in contents.runs for folder in (run.folder, run.folder.parent)])
    still: dict[str, Part | str | None] = {
        "title": title, "subtitle": subtitle_of(contents), "warnings": warnings(contents),
        "results": results(contents), "conditions": conditions(contents),
    }  # fmt: skip
    questions = tqdm(contents.questions, desc="bundle", unit="question", disable=not progress)
    firsts = write_chunks(part / "data", map(contents.details, questions), erase)
    summary = {"title": title, **contents.summary(), "chunks": firsts}
    written = [part / "data" / f"q{number}.js" for number in range(len(firsts))]
    inside = {name: erase(bare(html_of(part))) for name, part in still.items()} | {
        "summary": packed(erase(page_data(summary)))
    }
    nonce = _nonce([*inside.values(), *(path.read_text("ascii") for path in written)])
    blocks = "\n".join(_block(path) for path in written) if single else ""
    page = _page({**inside, "nonce": nonce, "policy": POLICY.format(nonce=nonce), "blocks": blocks})
    (part / "index.html").write_text(page, "utf-8", newline="\n")
    if not single:
        _describe(contents, part, title, erase)


def _nonce(parts: Iterable[str]) -> str:
    """A hash of the content, which the content cannot know."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode("utf-8", "replace"))
    return digest.hexdigest()[:32]


def _block(path: Path) -> str:
    """A chunk as a part of the page: a block of data, which is not run."""
    data = path.read_text("ascii").split('"')[3]
    return f'<script type="text/plain" id="{path.stem}">{data}</script>'


def _page(parts: dict[str, str]) -> str:
    """The template with its placeholders filled once: placeholders in the filled-in texts stay as they are."""
    folder = files(__package__)
    read = {name: (folder / f"{name}.{kind}").read_text("utf-8") for name, kind in (("style", "css"), ("app", "js"))}
    parts = {**read, "viewer": viewer.PAGE + viewer.part("parts.js"), "viewer_style": viewer.PAGE_CSS, **parts}
    template = (folder / "page.html").read_text("utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place[1]], template)


def _describe(contents: Contents, part: Path, title: str, erase: Callable[[str], str]) -> None:
    """`bundle.json`: what is inside, and the hash of every other file."""
    hashes = {
        path.relative_to(part).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(part.rglob("*"))
        if path.is_file()
    }
    description = {"bundle": FORMAT, "title": title, "runs": list(runs_of(contents)), "files": hashes}
    (part / "bundle.json").write_text(
        erase(json.dumps(description, indent=1, ensure_ascii=False)) + "\n", "utf-8", newline="\n"
    )
