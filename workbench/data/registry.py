"""The named data sets: `find`, `load_entry`, and the table that `wb.datasets()` shows. Samples of them have names, too
(`sampling.py`)."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from workbench.data import sampling
from workbench.data.folder import Dataset, is_folder, read_folder
from workbench.data.origin import Origin
from workbench.data.sampling import Sample
from workbench.data.sources import hipporag, metaqa, texts
from workbench.data.sources.entry import Converted, Copy, Entry, File
from workbench.data.sources.fetch import cache, fetch, source_folder
from workbench.errors import DataError, SettingError
from workbench.records import Record
from workbench.text import counted, did_you_mean

READERS = {
    "hipporag": hipporag.read,
    "hotpotqa": hipporag.read_hotpotqa,
    "musique": hipporag.read_musique,
    "2wikimultihopqa": hipporag.read_two_wiki,
    "hover-hops": hipporag.read_many_hops,
    "metaqa": metaqa.read,
    "metaqa-base": partial(metaqa.read, split=None),
    "ultradomain": texts.read_ultradomain,
    "graphrag-bench-textbooks": texts.read_textbooks,
    "graphrag-bench-levels": texts.read_levels,
    "multihop-rag": texts.read_multihop_rag,
    "anonyrag": texts.read_anonyrag,
    "ketrag": texts.read_ketrag,
}
_OF_FOLDER = {"metaqa": metaqa.of_folder}


def _entry(row: dict[str, Any]) -> Entry:
    """The entry of a row of `sources.toml`."""
    reader, base = row.pop("reader"), row.pop("base", "")
    files = [{**file, "url": f"{base}/{file['url']}"} if "url" in file else file for file in row.pop("files", ())]
    return Entry(
        files=tuple(File(**file) for file in files),
        read=partial(READERS[reader], **row.pop("settings", {})),
        copies=tuple(Copy(**copy) for copy in row.pop("copies", ())),
        options=tuple(row.pop("options", ())),
        of_folder=_OF_FOLDER.get(reader),
        **row,
    )


_NAMED = tomllib.loads(Path(__file__).with_name("sources.toml").read_text("utf-8"))
ENTRIES: dict[str, Entry] = {
    entry.id: entry for entry in sorted(map(_entry, _NAMED["data"]), key=lambda entry: entry.id)
}
ALIASES: dict[str, str] = _NAMED["aliases"]  # a bare name is the sample that most papers report


@dataclass(frozen=True, slots=True, repr=False)
class Known(Record):
    """A named data set, and its place on this machine: empty if it would have to be downloaded."""

    id: str
    of: str
    passages: int | None
    questions: int | None
    triples: int | None
    licence: str
    source: str
    here: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Catalogue(Record):
    """All named data sets."""

    datasets: tuple[Known, ...]


def find(name: str) -> Entry | None:
    """The entry of an id, of a bare name, or of a sample of either, whose id is its name; None if it is none of them.

    Raises :class:`DataError` if n or the seed of a sample is none, or n is more than there are.
    """
    name, sample = sampling.parse(name, (*ALIASES, *ENTRIES))
    entry = ENTRIES.get(ALIASES.get(name, name))
    return _sampled(entry, sample) if entry and sample else entry


def options_of(data: Dataset) -> dict[str, Any]:
    """The options with which a named data set was loaded, from its origin."""
    entry, settings = find(data.name), data.origin.settings if data.origin else {}
    return {name: settings[name] for name in (entry.options if entry else ()) if name in settings}


def _sampled(entry: Entry, sample: Sample) -> Entry:
    """The entry of a sample. How many passages it has is known where the corpus stays whole."""
    if entry.questions is not None:
        sampling.enough(entry.questions, sample, entry.id)
    each = " of each number of hops" if sample.per_hop else ""
    return replace(
        entry,
        id=f"{entry.id}/{sample}",
        of=f"{counted(sample.n, 'question')}{each} drawn with seed {sample.seed} of: {entry.of}",
        passages=None if entry.pooled else entry.passages,
        questions=None if sample.per_hop else sample.n,
        copies=(),
        whole=entry,
        sample=sample,
    )


def similar(name: str, others: tuple[str, ...] = ()) -> str:
    """The question of an error message about an unknown data set, or about a sample of one."""
    name, slash, sample = name.rpartition("/") if "@" in name.rpartition("/")[2] else (name, "", "")
    return did_you_mean(name, (*others, *ALIASES, *ENTRIES), slash + sample)


def datasets(bundled: tuple[Known, ...] = ()) -> Catalogue:
    """The bundled and registered data sets, with counts, licence and source, and whether they are on this machine."""
    aliases = {id: tuple(name for name, target in ALIASES.items() if target == id) for id in ENTRIES}
    entries = [
        Known(
            entry.id,
            entry.of,
            entry.passages,
            entry.questions,
            entry.triples,
            entry.licence,
            entry.page,
            _whereabouts(entry),
            aliases[entry.id],
        )
        for entry in ENTRIES.values()
    ]
    return Catalogue((*bundled, *entries))


def load_entry(entry: Entry, offline: bool | None = None, **options) -> Dataset:
    """Read an entry: from a data folder if there is one, otherwise from its publisher's files.

    The folder of a sample is one of its own; otherwise the sample is drawn from its whole data set, always from all of
    its questions. Raises :class:`DataError` if files cannot be obtained or the counts differ from the known ones.
    """
    if unknown := set(options) - set(entry.options):
        takes = ", ".join(entry.options) or "no options: its passages are its publisher's"
        raise SettingError(f"{entry.id!r} does not know {', '.join(sorted(unknown))}; it takes {takes}")
    if (not options or entry.of_folder) and (stored := _copy_of(entry)):
        data, whole = _read_kept(entry, *stored)
        made = entry.of_folder(data, whole, **options) if options else data
        if made is not None:
            return made
    if entry.sample and not entry.pooled:
        return drawn(load_entry(entry.whole, offline, **options), entry.sample, entry.whole.questions)
    if not entry.files:
        raise DataError(
            f"{entry.id} is not here: {entry.note}. Put its data folder into {cache() / entry.id}, or set "
            f"HOPSCOPE_DATA to the folder that holds {' or '.join(copy.folder for copy in entry.copies)}"
        )
    files = fetch(entry, offline)
    try:
        converted = entry.read(source_folder(entry), **options)
        _check(entry.whole or entry, converted)
    except DataError as error:
        again = f"deleted together with their .sha256, the files in {source_folder(entry)} are downloaded anew"
        raise DataError(f"{error}; {again}") from None
    notes = [f"licence of the data: {entry.licence}", f"cite: {entry.citation}", *converted.notes]
    if any(file.sha256 is None for file in entry.files):
        notes.append("its publisher gives no hash of every file: those without are compared with their first use here")
    if converted.repeated:
        notes.append(f"left out: {counted(converted.repeated, 'exact repetition')}")
    settings = {**options, "repeated": converted.repeated}
    if entry.sample:
        questions = sampling.drawn(converted.questions, entry.sample, entry.whole.id)
        settings |= sampling.described(questions, entry.sample, len(converted.questions))
        passages = sampling.pooled(converted.passages, converted.paragraphs, questions)
        converted = replace(converted, passages=passages, questions=questions)
    if entry.documents and converted.documents != entry.documents:
        notes.append(f"{converted.documents} documents were found, where the literature counts {entry.documents}")
    if entry.note:
        notes.append(entry.note)
    return Dataset(
        entry.id,
        converted.passages,
        converted.questions,
        converted.extractions,
        source_folder(entry),
        schema=converted.schema,
        triples=converted.triples,
        origin=Origin(f"{entry.of}; {entry.page}", settings, files, notes=tuple(notes)),
    )


def drawn(data: Dataset, sample: Sample, expected: int | None = None) -> Dataset:
    """A sample of a data set whose corpus stays whole. `expected` is the number of questions of the whole data set: a
    sample from fewer would stand for other questions under the same name, so that is an error."""
    if expected is not None and len(data.questions) != expected:
        raise DataError(
            f"{data.folder} holds {len(data.questions):,} of the {counted(expected, 'question')} of {data.name}, so a "
            f"sample of it would not be {data.name}/{sample}; take all questions, or the first few with `limit`"
        )
    questions = sampling.drawn(data.questions, sample, data.name)
    settings = sampling.described(questions, sample, len(data.questions))
    origin = data.origin or Origin(data.name)
    return replace(
        data,
        name=f"{data.name}/{sample}",
        questions=questions,
        origin=replace(origin, settings={**origin.settings, **settings}),
    )


def _copy_of(entry: Entry) -> tuple[Path, Copy | None] | None:
    """A data folder that holds the entry, and the facts known about it."""
    places: list[tuple[Path, Copy | None]] = [(cache() / entry.id, None)]
    if named := os.environ.get("HOPSCOPE_DATA"):
        data = Path(named).expanduser()
        if not data.is_dir():
            raise DataError(
                f"HOPSCOPE_DATA is {named!r}, which is not a folder; set it to the folder that contains the data "
                "folders"
            )
        places += [(data / entry.id, None), *((data / copy.folder, copy) for copy in entry.copies)]
    return next(((folder, copy) for folder, copy in places if folder.is_dir() and is_folder(folder)), None)


def _read_kept(entry: Entry, folder: Path, copy: Copy | None) -> tuple[Dataset, bool]:
    """The data set in a folder, and whether it is complete."""
    data = read_folder(folder, entry.id)
    if entry.sample:
        _check_sample(entry, data)
    counts = (len(data.passages), len(data.questions), len(data.triples))
    whole = not (copy and counts == (copy.passages, copy.questions, copy.triples))
    if not whole:
        notes = [copy.note] if copy.note else []
    else:
        number = data.origin.settings.get("repeated") if data.origin else None
        repeated = number if isinstance(number, int) else 0
        _check(entry, Converted(data.passages, data.questions, triples=data.triples, repeated=repeated), folder)
        notes = []
    if data.origin is not None:
        return replace(data, origin=replace(data.origin, notes=(*data.origin.notes, *notes))), whole
    origin = Origin(f"{entry.of}; {entry.page}", notes=(f"licence of the data: {entry.licence}", *notes))
    return replace(data, origin=origin), whole


def _check_sample(entry: Entry, data: Dataset) -> None:
    """A folder under the name of a sample holds that sample and no other."""
    settings = data.origin.settings if data.origin else {}
    expected = sampling.described(data.questions, entry.sample, settings.get("of", 0))
    for what in ("n", "seed", "rule", "ids"):
        if settings.get(what) != expected[what]:
            raise DataError(
                f"{data.folder} does not hold {entry.id}: in its origin.json {what!r} is {settings.get(what)!r}, where "
                f"{expected[what]!r} is expected of its questions; load it by its folder, or delete it to have the "
                "sample drawn"
            )


def _check(entry: Entry, converted: Converted, folder: Path | None = None) -> None:
    counts = [
        ("passages", entry.passages, len(converted.passages) + (converted.repeated if converted.passages else 0)),
        ("questions", entry.questions, len(converted.questions) + converted.left_out),
        ("triples", entry.triples, len(converted.triples) + (converted.repeated if converted.triples else 0)),
    ]
    for what, expected, count in counts:
        if expected is not None and count != expected:
            raise DataError(
                f"{entry.id}: {folder or source_folder(entry)} has {count:,} {what}, where {expected:,} are known, so "
                "figures on it could not be compared; load it by its folder if it is meant to differ"
            )


def _whereabouts(entry: Entry) -> str:
    if copy := _copy_of(entry):
        return str(copy[0])
    folder = source_folder(entry)
    there = sum((folder / file.name).exists() for file in entry.files)
    if there == 0:
        return ""
    return str(folder) if there == len(entry.files) else f"{there} of {len(entry.files)} files in {folder}"
