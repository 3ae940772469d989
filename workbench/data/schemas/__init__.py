"""Schemas of well-known graphs that come as bare triples; in `seeds/` the schemas with which an extraction begins; in
`dotrag/` the descriptions that DotRAG's paper gives its model of its graphs (MetaQA, UltraDomain CS and Mixed). Names
of types and relations are the graphs' own; the definitions are ours, those in `dotrag/` the paper's in our words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from workbench.data.graph import Attribute, EntityType, Relation, Schema, read_schema
from workbench.data.lines import read_object, strings
from workbench.errors import DataError
from workbench.text import normal_form

SEEDS = Path(__file__).parent / "seeds"
_LISTS = {"Nodes", "Relations", "Attributes"}


def covering(labels: Iterable[str]) -> Schema | None:
    """The bundled schema whose relations include all of the labels; None where there is none."""
    wanted = set(labels)
    schemas = (read_schema(path) for path in sorted(Path(__file__).parent.glob("*.json")))
    return next((schema for schema in schemas if wanted and wanted <= {r.name for r in schema.relations}), None)


def of_paper(schema: Schema) -> Schema | None:
    """What the paper of DotRAG tells its model of a graph: its description, and definitions of its types in their own
    spelling. None if its types are not those of one of the paper's graphs, whatever their case and punctuation."""
    own = {normal_form(entity_type.name): entity_type.name for entity_type in schema.entity_types}
    for path in sorted((Path(__file__).parent / "dotrag").glob("*.json")):
        paper_schema = read_schema(path)
        types = {normal_form(entity_type.name): entity_type for entity_type in paper_schema.entity_types}
        if types.keys() == own.keys():
            named = tuple(replace(entity_type, name=own[form]) for form, entity_type in types.items())
            return replace(schema, description=paper_schema.description, entity_types=named)
    return None


def paper_schema(name: str) -> Schema:
    """What the paper of DotRAG tells of a graph by the name of its file: `metaqa`, `ultradomain_cs`,
    `ultradomain_mixed`."""
    return read_schema(Path(__file__).parent / "dotrag" / f"{name}.json")


def seeds() -> list[str]:
    """The names of the bundled seeds."""
    return sorted(path.stem for path in SEEDS.glob("*.json"))


def seed(named: str) -> Schema:
    """A bundled seed by its name, or the schema in a file: as a `schema.json`, or in the form of Youtu-GraphRAG.

    The names in `general` (its authors' `demo` and `musique`), `hotpotqa`, `2wikimultihopqa` and `textbook` (their
    `graphrag-bench`) are those of Youtu-GraphRAG; `literary` is ours, and `empty` bounds nothing. Raises
    :class:`DataError`.
    """
    path = Path(named).expanduser()
    if named in seeds():
        path = SEEDS / f"{named}.json"
    elif not path.is_file():
        raise DataError(f"no schema is called {named!r}; name one of {', '.join(seeds())}, or a file with a schema")
    content = read_object(path)
    return _of_lists(path, content) if _LISTS & content.keys() else read_schema(path)


def _of_lists(path: Path, content: dict) -> Schema:
    """The form of Youtu-GraphRAG: three lists of names. A name that occurs twice, in whatever spelling, counts once."""
    names = {part: _once(strings(content, part, str(path))) for part in _LISTS}
    return Schema(
        tuple(EntityType(name, "") for name in names["Nodes"]),
        tuple(Relation(name, "", (), ()) for name in names["Relations"]),
        tuple(Attribute(name, "", (), "text") for name in names["Attributes"]),
    )


def _once(names: Iterable[str]) -> list[str]:
    by_form: dict[str, str] = {}
    for name in names:
        if form := normal_form(name):
            by_form.setdefault(form, name.strip())
    return list(by_form.values())
