"""Execute notebooks with papermill and parameters, with progress and an HTML page of each; open working copies of them
in JupyterLab, so that the originals stay unchanged."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import nbformat

from workbench import display
from workbench.display import tqdm
from workbench.errors import SettingError, WorkbenchError, has_extra
from workbench.places import PACKAGE, bundled, write_atomically
from workbench.places import notebooks as originals

if TYPE_CHECKING:
    from workbench.notebooks.regression import Regression

COPIES = Path("lab")  # ignored by git
BASELINE = "baseline"  # the folder beside the notebooks
CORPUS = "meridian"  # the data of their defaults
EXTRAS = ("raptor",)  # parameters that are true by default and need the extra of their name


class NotebookFailed(WorkbenchError):
    """A cell raised an error; the message names the notebook, the cell and the executed copy."""


class Executed(NamedTuple):
    """An executed notebook, its HTML page, and the seconds for both."""

    notebook: Path
    page: Path
    seconds: float


def find(folder: str | Path | None = None, only: str | None = None) -> list[Path]:
    """The numbered notebooks of a folder, by default those that come with the workbench, or those whose name begins
    with `only`."""
    folder = Path(folder or originals())
    notebooks = sorted(path for path in folder.glob("[0-9]*.ipynb") if not only or path.name.startswith(only))
    if not notebooks:
        which = f"whose name begins with {only!r}" if only else "with a number"
        raise SettingError(f"{folder.resolve()} has no notebook {which}; --notebooks names another folder")
    return notebooks


def working_copies(folder: str | Path | None = None, to: str | Path = COPIES) -> dict[Path, str]:
    """A copy of each numbered notebook of a folder, and its state: `new`, `as it was`, `renewed` or `kept`.

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
        raise SettingError(f"{notebook} cannot be read as a notebook ({error}); correct it or remove it") from None


def _hash_of_cells(node: nbformat.NotebookNode) -> str:
    """Hash of what a person writes: kinds and sources of the cells, without outputs."""
    written = [[cell.cell_type, cell.source] for cell in node.cells]
    return hashlib.sha256(json.dumps(written).encode("ascii")).hexdigest()[:16]


def open_lab(notebook: Path, arguments: Sequence[str] = ()) -> None:
    """Replace this process by JupyterLab with a notebook below the working folder, so Ctrl-C reaches nothing else. What
    the notebooks write goes into the working folder, unless WORKBENCH_HOME names another."""
    lab = [sys.executable, "-m", "jupyterlab", "--notebook-dir=."]
    words = [*lab, f"--LabApp.default_url=/lab/tree/{notebook.as_posix()}", *arguments]
    os.execve(sys.executable, words, {"WORKBENCH_HOME": str(Path.cwd()), **os.environ})


def run(notebook: Path, out: Path, parameters: Mapping[str, Any] | None = None, *, progress: bool = True) -> Path:
    """Execute one notebook with parameters (unknown ones are an error) and write `out/<name>.ipynb` and `.html`."""
    from papermill import PapermillExecutionError, inspect_notebook

    from workbench.notebooks.kernels import execute

    parameters = dict(parameters or {})
    parameters_there = inspect_notebook(str(notebook))
    unknown = [name for name in parameters if name not in parameters_there]
    if unknown:
        raise SettingError(f"{notebook.name} has no parameter {unknown[0]!r}; it has {', '.join(parameters_there) or 'none'}")
    out.mkdir(parents=True, exist_ok=True)
    target = out / notebook.name
    try:
        execute(notebook, target, parameters, progress=progress)
    except PapermillExecutionError as error:
        _to_html(target)
        raise NotebookFailed(
            f"{notebook.name}, cell {error.cell_index}: {error.ename}: {error.evalue}\nThe executed copy is {target}"
        ) from None
    _to_html(target)
    return target


def run_all(folder: Path | None, out: Path, parameters: Mapping[str, Any], only: str | None = None) -> list[Executed]:
    """Execute the notebooks in order. Each parameter is passed to the notebooks that define it; at least one must."""
    done = []
    for path, (_, given) in tqdm(_planned(folder, parameters, only).items(), desc="notebooks", unit="notebook"):
        started = time.perf_counter()
        target = run(path, out, given)
        done.append(Executed(target, target.with_suffix(".html"), time.perf_counter() - started))
    return done


def check(
    folder: Path | None, out: Path, parameters: Mapping[str, Any], only: str | None = None, *,
    baseline: Path | None = None, accept: bool = False,
) -> Regression:  # fmt: skip
    """Execute the notebooks and compare what they say with their baselines, in `<folder>/baseline` by default; `accept`
    writes these, but of no notebook that failed.

    Everything is made again, in `<out>/fresh`: an index or a run that was there already would hide a change. There
    `home` has the index, which the notebooks share, and a folder for each notebook what it made. A notebook without a
    baseline for these parameters is not executed, unless to accept it.
    """
    from workbench.notebooks import regression

    baseline, fresh = baseline or (folder or originals()) / BASELINE, (out / "fresh").resolve()
    if accept and baseline.resolve().is_relative_to(PACKAGE):
        raise SettingError(f"{baseline} belongs to the installed package; name a folder of yours with --baseline")
    planned = _planned(folder, parameters, only)
    if fresh.exists() and not (fresh / "home").is_dir():
        raise SettingError(f"{fresh} was not made by a check and would be emptied; name another folder with --out")
    shutil.rmtree(fresh, ignore_errors=True)
    checked, accepted = [], []
    for path, (defaults, given) in tqdm(planned.items(), desc="notebooks", unit="notebook"):
        settings = {name: value for name, value in {**defaults, **given}.items() if name != "figures"}
        if (engine := str(settings.get("engine", "rules")).partition(":")[0]) not in regression.EXACT:
            raise SettingError(f"engine={engine} answers differently each time; compare {', '.join(regression.EXACT)}")
        settings = json.loads(json.dumps(settings, default=str))  # as a baseline has them
        before = regression.read(baseline, path.stem)
        comparable = before and not regression.other_parameters(before, settings)
        if not (comparable or accept):
            checked.append(regression.compare(before, regression.Baseline(path.stem, settings)))
            continue
        failure = None
        with _home(fresh / "home", fresh / path.stem):
            try:
                run(path, out, {**given, **({"figures": "figures"} if "figures" in defaults else {})})
            except NotebookFailed as error:
                failure = str(error).splitlines()[0]
        now = regression.recorded(path.stem, settings, fresh / path.stem, failure)
        checked.append(regression.compare(before, now))
        if accept and not failure:
            accepted.append(regression.write(baseline, now))
    gone = () if only else sorted({file.stem for file in baseline.glob("*.json")} - {path.stem for path in planned})
    checked += [regression.vanished(name) for name in gone]
    for name in gone if accept else ():
        regression.file_of(baseline, name).unlink()
    return regression.Regression(tuple(checked), tuple(accepted))


def _planned(
    folder: Path | None, parameters: Mapping[str, Any], only: str | None
) -> dict[Path, tuple[dict[str, Any], dict[str, Any]]]:
    """Notebook → its parameters with their defaults, and those of `parameters` that it defines; sets up the process."""
    import papermill

    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")  # a debugger's warning, irrelevant for readers
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    defaults_of = {path: papermill.inspect_notebook(str(path)) for path in find(folder, only)}
    names = {name: None for defaults in defaults_of.values() for name in defaults}
    if unused := [name for name in parameters if name not in names]:
        raise SettingError(f"no notebook has a parameter {unused[0]!r}; there are {', '.join(sorted(names))}")
    parameters = {**parameters, "engine": "rules"} if by_rules(parameters) else parameters
    parameters = {**dict.fromkeys(off(parameters), False), **parameters}
    return {
        path: (
            {name: _value(default["default"]) for name, default in defaults.items()},
            {name: value for name, value in parameters.items() if name in defaults},
        )
        for path, defaults in defaults_of.items()
    }


def by_rules(parameters: Mapping[str, Any]) -> bool:
    """Whether notebooks with these parameters take the engine `rules`: none is given, and the data are not the bundled
    corpus, which the replies that they open on are about."""
    data = str(parameters.get("data", CORPUS))
    folder = (bundled(data) or Path(data).expanduser()).resolve()
    return "engine" not in parameters and folder != bundled(CORPUS).resolve()


def off(parameters: Mapping[str, Any]) -> list[str]:
    """The parameters that are false unless they are given, because the extra that they need is not installed."""
    return [name for name in EXTRAS if name not in parameters and not has_extra(name)]


def _value(written: str) -> Any:
    """A default as it is written in the notebook; its text where it is no literal."""
    try:
        return ast.literal_eval(written)
    except (ValueError, SyntaxError):
        return written


@contextmanager
def _home(home: Path, made: Path) -> Iterator[None]:
    """Let notebooks write below `home`, with the user's own prices. In the end all but its indexes moves to `made`."""
    from workbench.llm.meter import own_prices

    home.mkdir(parents=True, exist_ok=True)
    if (prices := own_prices()).exists():
        shutil.copy(prices, home)
    before = os.environ.get("WORKBENCH_HOME")
    os.environ["WORKBENCH_HOME"] = str(home)
    try:
        yield
    finally:
        if before is None:
            del os.environ["WORKBENCH_HOME"]
        else:
            os.environ["WORKBENCH_HOME"] = before
        made.mkdir()
        for entry in list(home.iterdir()):
            if entry.name not in ("indexes", prices.name):
                entry.rename(made / entry.name)


def still(node: nbformat.NotebookNode) -> int:
    """Take from an executed notebook what needs a kernel, so that a widget stands as the page that it displays without
    one. Those without such a page, which are bars of progress, go. Returns the number of widgets that stand."""
    node.metadata.pop("widgets", None)
    standing = 0
    for cell in node.cells:
        outputs = []
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            widget = data.pop("application/vnd.jupyter.widget-view+json", None) is not None
            if not widget or "text/html" in data:
                outputs.append(output)
                standing += widget
        if "outputs" in cell:
            cell.outputs = outputs
    return standing


def same_cells(node: nbformat.NotebookNode, executed: nbformat.NotebookNode) -> bool:
    """Whether a notebook was executed as it is now, with whatever parameters."""
    tags = [cell.metadata.get("tags", ()) for cell in executed.cells]
    cells = [cell for cell, tagged in zip(executed.cells, tags) if "injected-parameters" not in tagged]
    return [[cell.cell_type, cell.source] for cell in cells] == [[cell.cell_type, cell.source] for cell in node.cells]


def _to_html(notebook: Path) -> None:
    """Render a page that loads nothing. A widget would need a content network and a kernel, so its page without one is
    shown: pictures zoom and give their tooltips, and what a slider went through becomes steps with a slider."""
    from nbconvert import HTMLExporter

    node = nbformat.read(notebook, as_version=4)
    widgets = still(node)
    exporter = HTMLExporter(embed_images=True, require_js_url="", mathjax_url="")
    body, _ = exporter.from_notebook_node(node, {"metadata": {"name": notebook.stem}})
    body = body.replace("</head>", f"{display.page_head()}</head>", 1)
    body = re.sub(r"<main\b[^>]*>", lambda tag: tag[0] + _STILL * bool(widgets), body, count=1)
    write_atomically(notebook.with_suffix(".html"), body)


STILL = """This page has no kernel. Widgets stand as they were left: pictures zoom and show tooltips, recorded steps
have a slider. What computes anew (another question, another setting) needs the notebook."""
_STILL = f'<p style="margin:1em 2em;border-left:3px solid #e69f00;padding-left:.7em">{STILL}</p>'
