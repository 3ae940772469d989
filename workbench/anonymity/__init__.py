"""AnonyRAG: data sets whose names a model cannot know, and the tasks made of them (Youtu-GraphRAG, arXiv 2508.19855).

`anonymise` replaces names by placeholders and returns the table of names, which is kept apart. `reversion` asks which
name stands behind each placeholder, `choice` which of four options is right, and `without_known` drops the questions
that a model answers by itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from workbench.anonymity.names import Named, Names, kind_of, read_aliases, read_names, table_of, text_of, write_names
from workbench.anonymity.rewritten import Anonymised, anonymised, linked, names_of_graph, restored
from workbench.anonymity.tasks import choice, reversion, without_known
from workbench.data import Dataset, load, write_folder
from workbench.errors import DataError
from workbench.llm.engine import Engine, RulesEngine

__all__ = [
    "Anonymised", "Named", "Names", "anonymise", "choice", "names_of", "restored", "reversion", "without_known",
    "write",
]  # fmt: skip


def anonymise(
    data: Dataset | str | Path,
    names: Iterable[Named] | str | Path = (),
    *,
    engine: Engine | None = None,
    types: Iterable[str] = (),
) -> Anonymised:
    """Replace the names of a data set by placeholders such as `[PERSON#12]`, the same for every alias, in passages,
    ids, questions and answers. `(data, names)`: the names are the only way back.

    `names` (a JSON Lines file of name, type, aliases) are added to those of the gold graph; without either, `engine`
    finds and links them, by rules unless it is a model. `types` restricts them, such as `["person", "place"]`; for
    names that an engine finds, these two are the default. Raises :class:`DataError` if there is no name to replace."""
    data = data if isinstance(data, Dataset) else load(data)
    given = read_aliases(names) if isinstance(names, str | Path) else tuple(names)
    graph_names = names_of_graph(data.graph) if data.graph else ()
    if not graph_names and not given:
        graph_names = linked(data, engine or RulesEngine(), tuple(types))
    kinds = {kind_of(type) for type in types}
    return anonymised(
        data, [named for named in merged(graph_names, given) if not kinds or kind_of(named.type) in kinds]
    )


def merged(automatic: Iterable[Named], given: Iterable[Named]) -> list[Named]:
    """All names; aliases and passages of one that both have together.

    >>> merged([Named("Halm", "town", ("the Halm",))], [Named("Halm", "town", ("Rust Town",))])
    [Named(name='Halm', type='town', aliases=('the Halm', 'Rust Town'), passages=())]
    """
    by_name = {named.name: named for named in automatic}
    for named in given:
        had = by_name.get(named.name, named)
        aliases, passages = ((*getattr(had, part), *getattr(named, part)) for part in ("aliases", "passages"))
        by_name[named.name] = replace(
            had, aliases=tuple(dict.fromkeys(aliases)), passages=tuple(dict.fromkeys(passages))
        )
    return list(by_name.values())


def write(made: Anonymised, folder: str | Path) -> Path:
    """Write the data folder, and beside it, where no method reads, the table of names (`FOLDER.names.jsonl`).

    The table is the only way back, so it comes first. What stands already with the same content is left as it is: the
    same call goes on where it was stopped."""
    table, stood = table_of(folder), table_of(folder).exists()
    if stood and table.read_bytes() != text_of(made.names).encode():
        raise DataError(f"{table} exists already; choose a new folder, or delete this table first")
    if not stood:
        write_names(made.names, table)
    try:
        return write_folder(made.data, folder, again=True)
    except DataError:  # the folder is another data set's
        if not stood:
            table.unlink()
        raise


def names_of(data: Dataset | str | Path) -> Names:
    """The table of an anonymised data set: the file beside its folder."""
    data = data if isinstance(data, Dataset) else load(data)
    if data.folder is None or not table_of(data.folder).exists():
        place = table_of(data.folder) if data.folder else "no folder"
        raise DataError(f"{data.name!r} has no table of names ({place}); anonymise writes one beside the data folder")
    return read_names(table_of(data.folder))
