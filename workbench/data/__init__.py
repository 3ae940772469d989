"""Data sets: the folder format, folders of documents, and the named sets."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.data import registry, sampling
from workbench.data.documents import is_documents, read_documents
from workbench.data.folder import Dataset, Extraction, is_beir, is_folder, questions_in, read_folder
from workbench.data.graph import GoldGraph
from workbench.data.origin import Origin, SourceFile
from workbench.data.registry import Catalogue, Known
from workbench.data.sources import layouts
from workbench.data.sources import worlds as named_worlds
from workbench.data.writing import write_folder
from workbench.errors import DataError, SettingError
from workbench.places import bundled, page
from workbench.registry import exporting

if TYPE_CHECKING:
    from workbench.data.worlds import world

EXCHANGE = "workbench.exchange"  # reads what other programs wrote, as the data sets of this package
BUNDLED = ("meridian", "meridian-anonymised")

__all__ = [
    "BUNDLED",
    "Catalogue",
    "Dataset",
    "Extraction",
    "GoldGraph",
    "Known",
    "Origin",
    "SourceFile",
    "datasets",
    "load",
    "read_documents",
    "world",
    "write_folder",
]

if not TYPE_CHECKING:  # with it, type checkers accept any name
    __getattr__ = exporting(__name__, ["workbench.data.worlds:world"])


def load(data: str | Path, *, offline: bool | None = None, strict: bool = False, **options: Any) -> Dataset:
    """Load a data set by name (`"meridian"`, `"musique"`, a sample such as `"musique/dev/500@42"`, a generated world
    such as `"world[passages=2000,seed=7]"`) or by folder.

    A folder may be a data folder, a publisher's layout, a BEIR folder, an index of another program, or documents
    (`.txt`, `.md`, `.pdf`); its content determines which, tried in this order (`docs/data.md`). In every case, a
    `questions.jsonl` in the folder is read as well. `options` are those of :func:`read_documents` for documents and of
    :func:`workbench.exchange.read` for an index or a BEIR folder (`split="dev"`); few names accept any. `offline=True`,
    or HOPSCOPE_OFFLINE, forbids every connection.

    Unreadable documents are skipped, and the data set lists them; with `strict=True` the first one is an error.

    Raises :class:`DataError` for data that cannot be found or read, :class:`SettingError` for invalid options.
    """
    whole = str(data).rpartition("/")[0]
    name, sample = sampling.parse(str(data), (*BUNDLED, whole) if named_worlds.is_world(whole) else BUNDLED)
    if name in BUNDLED or named_worlds.is_world(name):
        _no_options(data, options)
        is_bundled = name in BUNDLED
        folder = bundled(name) if is_bundled else named_worlds.world_folder(name)
        if folder is None:
            raise DataError(f"{name} is part of the workbench but missing here; install hopscope again")
        dataset = read_folder(folder, name if is_bundled else named_worlds.label(name))
        return registry.drawn(dataset, sample) if sample else dataset
    if entry := registry.find(str(data)):
        return registry.load_entry(entry, offline, **options)
    path = Path(data).expanduser()
    if not path.exists():
        guess = registry.similar(str(data), (*BUNDLED, named_worlds.NAME))
        raise DataError(
            f"{str(data)!r} is neither a data set known by name nor a folder; "
            f"{f'{guess} ' if guess else ''}`workbench datasets` lists the names"
        )
    if path.is_dir() and is_folder(path) and not is_beir(path):
        _no_options(data, options)
        return read_folder(path)
    if read := layouts.recognise(path):
        _no_options(data, options)
        return _with_questions(read(path), path)

    exchange = import_module(EXCHANGE)
    if exchange.recognise(path):
        return _with_questions(exchange.read(path, **options), path)
    if path.is_dir() and is_documents(path):
        takes = list(signature(read_documents).parameters)[1:]
        if unknown := set(options) - set(takes):
            raise SettingError(
                f"a folder of documents does not know {', '.join(sorted(unknown))}; it takes {', '.join(takes)}"
            )
        return read_documents(path, **({"on_error": "raise"} if strict else {}) | options)
    raise DataError(
        f"{path} cannot be read as data: a folder needs a corpus.jsonl with one "
        '{"id", "title", "text"} a line, a triples.tsv, or documents (.txt, .md, .pdf); see '
        f"{page('data.md')}"
    )


def is_named(data: str) -> bool:
    """Whether this names a data set that `datasets` lists as published, or a sample of one."""
    return registry.find(data) is not None


def is_data(path: Path) -> bool:
    """Whether :func:`load` has a reader for what is at a path."""
    if path.is_dir() and (is_folder(path) or is_documents(path)):
        return True
    return layouts.recognise(path) is not None or import_module(EXCHANGE).recognise(path) is not None


def datasets() -> Catalogue:
    """Every named data set: counts, licence, source, and whether it is on this machine."""
    ours = tuple(
        Known(name, "bundled corpus", len(data.passages), len(data.questions), None, "MIT", "bundled", str(data.folder))
        for name, data in ((name, load(name)) for name in BUNDLED)
    )
    worlds = Known(
        "world",
        "generated: an invented world by its dials, such as world[passages=10000,seed=7]",
        None,
        None,
        None,
        "MIT",
        "generated",
        str(named_worlds.folders()),
    )
    return registry.datasets((*ours, worlds))


def _with_questions(data: Dataset, folder: Path) -> Dataset:
    """Data of another layout with the `questions*.jsonl` that a user added to the folder."""
    own = dict.fromkeys((question.id for question in data.questions), f"the questions of {data.name}")
    added = questions_in(folder, {passage.id for passage in data.passages}, seen=own)
    return replace(data, questions=data.questions + added) if added else data


def _no_options(data: str | Path, options: dict[str, Any]) -> None:
    if options:
        raise SettingError(
            f"{', '.join(options)}: {str(data)!r} has passages of its own, so they cannot be set; "
            "only a folder of documents is split on loading"
        )
