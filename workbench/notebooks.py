"""Execute notebooks with papermill and parameters, with progress and an HTML page of each; open working copies of them
in JupyterLab, so that the originals stay unchanged."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from tqdm.auto import tqdm

from workbench.errors import SettingError, WorkbenchError

DEFAULT_FOLDER = Path("notebooks")
COPIES = Path("lab")  # ignored by git


class NotebookFailed(WorkbenchError):
    """A cell raised an error; the message names the notebook, the cell and the executed copy."""


class Executed(NamedTuple):
    """An executed notebook, its HTML page, and the seconds for both."""

    notebook: Path
    page: Path
    seconds: float


def find(folder: str | Path = DEFAULT_FOLDER, only: str | None = None) -> list[Path]:
    """The numbered notebooks of a folder, or those whose name begins with `only`."""
    found = sorted(path for path in Path(folder).glob("[0-9]*.ipynb") if not only or path.name.startswith(only))
    if not found:
        raise SettingError(
            f"no notebook {only or ''!r} in {Path(folder).resolve()}; run this from the project's folder"
        )
    return found


def working_copies(folder: str | Path = DEFAULT_FOLDER, to: str | Path = COPIES) -> dict[Path, str]:
    """A copy of each numbered notebook, and its state: `new`, `as it was`, `renewed` or `kept`.

    A copy records the cells that it was made from. If those of the original have changed since, the copy is renewed
    without outputs; a copy with edited cells is `kept`. Outputs and widget state do not count as edits. Raises
    :class:`SettingError` if a copy cannot be read.
    """
    originals, to = find(folder), Path(to)
    to.mkdir(parents=True, exist_ok=True)
    return {to / original.name: _copy(original, to / original.name) for original in originals}


def _copy(original: Path, copy: Path) -> str:
    node = _read(original)
    cells = _hash_of_cells(node)
    state = "new"
    if copy.exists():
        present = _read(copy)
        made_from = present.metadata.get("hopscope", {}).get("made_from")
        if cells in (made_from, _hash_of_cells(present)):
            return "as it was"
        if made_from != _hash_of_cells(present):
            return "kept"
        state = "renewed"
    node.metadata["hopscope"] = {"made_from": cells}
    part = copy.with_suffix(".part")
    nbformat.write(node, part)
    part.replace(copy)
    return state


def _read(notebook: Path) -> nbformat.NotebookNode:
    try:
        return nbformat.read(notebook, as_version=4)
    except (ValueError, nbformat.ValidationError) as error:
        raise SettingError(f"{notebook} is no notebook that can be read ({error}); mend it or take it away") from None


def _hash_of_cells(node: nbformat.NotebookNode) -> str:
    """Hash of what a person writes: kinds and sources of the cells, without outputs."""
    written = [[cell.cell_type, cell.source] for cell in node.cells]
    return hashlib.sha256(json.dumps(written).encode("ascii")).hexdigest()[:16]


def open_lab(notebook: Path, arguments: Sequence[str] = ()) -> None:
    """Replace this process by JupyterLab with a notebook below the working folder, so Ctrl-C reaches nothing else."""
    lab = [sys.executable, "-m", "jupyterlab", "--notebook-dir=."]
    os.execv(sys.executable, [*lab, f"--LabApp.default_url=/lab/tree/{notebook.as_posix()}", *arguments])


def run(notebook: Path, out: Path, parameters: Mapping[str, Any] | None = None, *, progress: bool = True) -> Path:
    """Execute one notebook with parameters (unknown ones are an error) and write `out/<name>.ipynb` and `.html`."""
    import papermill
    from papermill.exceptions import PapermillExecutionError

    parameters = dict(parameters or {})
    known = papermill.inspect_notebook(str(notebook))
    unknown = [name for name in parameters if name not in known]
    if unknown:
        raise SettingError(f"{notebook.name} has no parameter {unknown[0]!r}; it has {', '.join(known) or 'none'}")
    out.mkdir(parents=True, exist_ok=True)
    target = out / notebook.name
    try:
        papermill.execute_notebook(
            str(notebook),
            str(target),
            parameters=parameters,
            kernel_name="python3",
            cwd=str(Path.cwd()),
            progress_bar=progress,
        )
    except PapermillExecutionError as error:
        raise NotebookFailed(
            f"{notebook.name}, cell {error.cell_index}: {error.ename}: {error.evalue}\nThe executed copy is {target}"
        ) from None
    finally:
        if target.exists():
            _to_html(target)
    return target


def run_all(folder: Path, out: Path, parameters: Mapping[str, Any], only: str | None = None) -> list[Executed]:
    """Execute the notebooks in order. Each parameter is passed to the notebooks that define it; at least one must."""
    import papermill

    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")  # a debugger's warning, irrelevant for readers
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    notebooks = find(folder, only)
    known = {path: set(papermill.inspect_notebook(str(path))) for path in notebooks}
    unused = [name for name in parameters if not any(name in names for names in known.values())]
    if unused:
        raise SettingError(
            f"no notebook has a parameter {unused[0]!r}; there are {', '.join(sorted(set().union(*known.values())))}"
        )
    done = []
    for path in tqdm(notebooks, desc="notebooks", unit="notebook"):
        started = time.perf_counter()
        target = run(path, out, {name: value for name, value in parameters.items() if name in known[path]})
        done.append(Executed(target, target.with_suffix(".html"), time.perf_counter() - started))
    return done


def _to_html(notebook: Path) -> None:
    """Render a page that loads nothing. A widget would need a content network, so other output formats are used."""
    from nbconvert import HTMLExporter

    node = nbformat.read(notebook, as_version=4)
    node.metadata.pop("widgets", None)
    for cell in node.cells:
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)
    exporter = HTMLExporter(embed_images=True, require_js_url="", mathjax_url="")
    body, _ = exporter.from_notebook_node(node, {"metadata": {"name": notebook.stem}})
    notebook.with_suffix(".html").write_text(body, encoding="utf-8")
