"""Recognise the publisher's layout of a folder that was downloaded by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from workbench.data.folder import Dataset
from workbench.data.lines import regular
from workbench.data.origin import Origin
from workbench.data.sources import hipporag, metaqa, texts
from workbench.data.sources.entry import Converted
from workbench.errors import DataError
from workbench.text import counted


def recognise(path: Path) -> Callable[[Path], Dataset] | None:
    """The reader of a publisher's folder (or of a HippoRAG `<name>_corpus.json`); None for an unknown layout."""
    if path.is_file():
        return _hipporag if _corpora(path.parent, path.name) else _ultradomain if _is_ultradomain(path) else None
    if _corpora(path):
        return _hipporag
    if (path / "input" / "document.txt").exists() and next(path.rglob("qa-pairs.json"), None):
        return lambda folder: _dataset(folder, folder.resolve().name, texts.read_ketrag(folder))
    if (path / "kb.txt").exists() and _first_line(path / "kb.txt").count(b"|") == 2:
        return _metaqa
    return _ultradomain if any(map(_is_ultradomain, path.glob("*.jsonl"))) else None


def _first_line(path: Path) -> bytes:
    with regular(path).open("rb") as file:
        return file.readline(10_000)


def _hipporag(path: Path) -> Dataset:
    corpora = [path] if path.is_file() else _corpora(path)
    if len(corpora) > 1:
        names = ", ".join(corpus.name for corpus in corpora)
        raise DataError(f"{path} holds {len(corpora)} data sets; load one of them by its file: {names}")
    name = corpora[0].name.removesuffix("_corpus.json")
    return _dataset(corpora[0].parent, name, hipporag.read(corpora[0].parent, name))


def _corpora(folder: Path, pattern: str = "*_corpus.json") -> list[Path]:
    """HippoRAG's corpora: those with a question file, which distinguishes them from other programs' files."""
    corpora = [path for path in sorted(folder.glob(pattern)) if path.name.endswith("_corpus.json")]
    return [path for path in corpora if path.with_name(path.name.replace("_corpus.json", ".json")).exists()]


def _metaqa(folder: Path) -> Dataset:
    """All splits with questions."""
    splits = [split for split in ("train", "dev", "test") if list(folder.glob(f"?-hop/vanilla/qa_{split}.txt"))]
    converted_splits = [metaqa.read(folder, split) for split in splits] or [metaqa.read(folder, None)]
    questions = tuple(question for converted in converted_splits for question in converted.questions)
    return _dataset(folder, folder.resolve().name, replace(converted_splits[0], questions=questions))


def _is_ultradomain(path: Path) -> bool:
    return path.suffix == ".jsonl" and path.is_file() and texts.is_ultradomain(path)


def _ultradomain(path: Path) -> Dataset:
    """The domain of a file, named as the registered one, so that its tables find it."""
    files = [path] if path.is_file() else sorted(filter(_is_ultradomain, path.glob("*.jsonl")))
    if len(files) > 1:
        names = ", ".join(file.name for file in files)
        raise DataError(f"{path} holds {len(files)} domains; load one of them by its file: {names}")
    converted = texts.read_ultradomain(files[0].parent, files[0].stem)
    return _dataset(files[0].parent, f"ultradomain/{files[0].stem}", converted)


def _dataset(folder: Path, name: str, converted: Converted) -> Dataset:
    repeated = (f"left out: {counted(converted.repeated, 'exact repetition')}",) if converted.repeated else ()
    origin = Origin(f"files of their publisher in {folder.resolve().name}", notes=(*converted.notes, *repeated))
    return Dataset(
        name,
        converted.passages,
        converted.questions,
        converted.extractions,
        folder,
        schema=converted.schema,
        triples=converted.triples,
        origin=origin,
    )
