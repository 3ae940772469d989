"""Write a data set as a data folder, which `load` reads."""

from __future__ import annotations

import filecmp
import json
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from workbench.data.folder import Dataset
from workbench.data.graph import MADE_BY, GoldGraph
from workbench.data.origin import write_origin
from workbench.errors import DataError
from workbench.text import storable

_READ = "openie.jsonl ("  # the reader's prefix to the model of an extraction


def write_folder(dataset: Dataset, folder: str | Path, *, again: bool = False) -> Path:
    """Write a data set as a new data folder and return the folder; reading it back changes only name and folder.

    Failed extractions are omitted, so they are retried. The folder appears only when it is complete. With `again`, a
    folder that holds exactly this is left as it is. Raises :class:`DataError` if it is not empty, or if a triple
    contains a tab or a line break.
    """
    folder = Path(folder).expanduser()
    with new_folder(folder, again=again) as part:
        _write_parts(dataset, part)
    return folder


@contextmanager
def new_folder(folder: Path, *, again: bool = False) -> Iterator[Path]:
    """A place to write a new folder to, which gets its name when the block ends; what fails leaves nothing behind.

    Raises :class:`DataError` if the folder is not empty; with `again`, only if it holds anything else."""
    taken = DataError(f"{folder} exists already; choose a new folder, or delete this one first")
    is_filled = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    if is_filled and not again:
        raise taken
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        yield part
        if is_filled and not _same(part, folder):
            raise taken
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    if is_filled:
        shutil.rmtree(part)
    else:
        part.replace(folder)


def _same(first: Path, other: Path) -> bool:
    """Whether two folders hold the same files."""
    names = [{path.relative_to(folder) for path in folder.rglob("*")} for folder in (first, other)]
    files = [name for name in names[0] if (first / name).is_file()]
    return names[0] == names[1] and len(filecmp.cmpfiles(first, other, files, shallow=False)[0]) == len(files)


def _write_parts(dataset: Dataset, part: Path) -> None:
    if dataset.passages:
        _write(part / "corpus.jsonl", map(asdict, dataset.passages))
    if dataset.triples:
        members = [triple.members for triple in dataset.triples]
        for triple in members:
            if any(mark in member for member in triple for mark in "\t\n\r"):
                raise DataError(
                    f"the triple {triple!r} has a tab or a line break, which triples.tsv cannot hold; remove it"
                )
        _text(part / "triples.tsv", "".join("\t".join(triple) + "\n" for triple in members))
    if dataset.questions:
        _write(part / "questions.jsonl", map(asdict, dataset.questions))
    if dataset.extractions is not None:
        rows = (
            {
                "passage_id": extraction.passage_id,
                "entities": extraction.entities,
                "triples": extraction.triples,
                "model": _model(extraction.made_by),
            }
            for extraction in dataset.extractions
            if extraction.failure is None
        )
        _write(part / "openie.jsonl", rows)
    if dataset.graph is not None:
        _write_graph(dataset.graph, part / "graph")
    if dataset.schema is not None and not (dataset.graph and dataset.schema == dataset.graph.schema):
        _text(part / "schema.json", json.dumps(asdict(dataset.schema), ensure_ascii=False, indent=1) + "\n")
    if dataset.profiles is not None or dataset.left_out:
        content = {**(asdict(dataset.profiles) if dataset.profiles is not None else {}), "left_out": dataset.left_out}
        _text(part / "profiles.json", json.dumps(content, ensure_ascii=False, indent=1) + "\n")
    if dataset.origin is not None:
        write_origin(dataset.origin, part / "origin.json")


def _write_graph(graph: GoldGraph, folder: Path) -> None:
    folder.mkdir()
    made_by = {} if graph.made_by == MADE_BY[0] else {"made_by": graph.made_by}
    _text(folder / "schema.json", json.dumps({**asdict(graph.schema), **made_by}, ensure_ascii=False, indent=1) + "\n")
    _write(folder / "entities.jsonl", map(asdict, graph.entities))
    rows = ({name: value for name, value in asdict(triple).items() if value is not None} for triple in graph.triples)
    _write(folder / "triples.jsonl", rows)


def _write(path: Path, rows: Iterable[dict]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(storable(json.dumps(row, ensure_ascii=False)) + "\n" for row in rows)


def _text(path: Path, text: str) -> None:
    # A reader takes off a byte order mark: a text that begins with one gets another.
    path.write_bytes(storable(text).encode("utf-8-sig" if text.startswith("\ufeff") else "utf-8"))


def _model(made_by: str) -> str:
    return (
        made_by.removeprefix(_READ).removesuffix(")")
        if made_by.startswith(_READ)
        else made_by.removeprefix("openie.jsonl")
    )
