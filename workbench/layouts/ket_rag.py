"""The context of KET-RAG's released code as text: entities, relationships, sources and chunks, each a table of `|`
under its header.

Cells are not quoted and the texts of units may have many lines, so the writer ensures that a reader can find the
beginning of each row:

* a cell of the graph is one line, and a name contains `/` instead of `|`; a description keeps its `|`, because the
  columns after it are counted from the right;
* a text keeps its lines; line feeds at its end and carriage returns are dropped, and a header that it quotes loses
  dashes;
* rows keep their numbers (`chunk_<number>` for chunks), or get those of their positions if a row of the table has none.
  A text with a line that begins like a row is read as two rows, and written unchanged.

The title of a unit, if it has one, is the line above its text; passages are not written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from workbench.errors import DataError
from workbench.records import ContextEntity, ContextGraph, ContextRelation, Unit
from workbench.text import titled

TITLES = {
    "entities": "Entities",
    "relations": "Relationships",
    "sources": "Sources",
    "chunks": "Text source that may be relevant",
}
HEADERS = {table: f"-----{title}-----" for table, title in TITLES.items()}
KNOWN_BY = HEADERS["entities"]
COLUMNS = {
    "entities": "id|entity|description|number of relationships",
    "relations": "id|source|target|description|weight",
    "sources": "id|text",
    "chunks": "id|text",
}
EMPTY_REPORTS = "[]\n\n"  # written by the released code in place of the reports
BETWEEN = "\n\n"  # between tables, each of which ends with a line feed
STUB = "\nN/A"  # instead of chunks

_QUOTED = re.compile(rf"-{{5,}}({'|'.join(TITLES.values())})-{{5,}}")
_NUMBER = re.compile(r"[0-9]{1,18}")
_CHUNK = re.compile(r"chunk_[0-9]+")
_ROW = re.compile(r"[0-9]+(?=\|)")
_CHUNK_ROW = re.compile(r"chunk_[0-9]+(?=\|)")


# -- writing ----------------------------------------------------------------------------------------------------------


def write(graph: ContextGraph, *, empty_reports: bool = False) -> str:
    """The context as text. `empty_reports` prepends the `[]` of the released code (`docs/traps.md`, KET-RAG: 2), which
    is not part of a graph and therefore only written on request."""
    many = {"entities": graph.entities, "relations": graph.relations, "sources": graph.sources}
    tables = [head(table, rows) + "".join(_rows(table, rows)) for table, rows in many.items() if rows]
    tables.append(head("chunks") + ("".join(_rows("chunks", graph.chunks)) if graph.chunks else STUB))
    return EMPTY_REPORTS * empty_reports + BETWEEN.join(tables)


def head(table: str, rows: Sequence = ()) -> str:
    """The header and the names of the columns, a line each. Relationships have as many columns as `rows` have
    values."""
    names = [COLUMNS[table], *(_more(rows) if table == "relations" else ())]
    return f"{HEADERS[table]}\n{'|'.join(names)}\n"


def entity_row(entity: ContextEntity, id: int) -> str:
    return _line(id, _name(entity.name), _flat(entity.description), entity.degree)


def relation_row(relation: ContextRelation, id: int, more: Iterable[str] = ("rank", "links")) -> str:
    """`more`: the columns after the weight."""
    ends = _name(relation.source), _name(relation.target)
    rest = (getattr(relation, column) for column in more)
    return _line(id, *ends, _flat(relation.description), float(relation.weight), *rest)


def unit_row(unit: Unit, id: str) -> str:
    return f"{id}|" + _unquoted(_lines(titled(_flat(unit.title), unit.text))).rstrip("\n") + "\n"


def _rows(table: str, rows: Sequence) -> list[str]:
    if table == "entities":
        return [entity_row(row, id) for row, id in zip(rows, _numbers(rows))]
    if table == "relations":
        more = _more(rows)
        return [relation_row(row, id, more) for row, id in zip(rows, _numbers(rows))]
    form, prefix = (_CHUNK, "chunk_") if table == "chunks" else (_NUMBER, "")
    named = all(form.fullmatch(unit.id) for unit in rows)
    return [unit_row(unit, unit.id if named else f"{prefix}{at}") for at, unit in enumerate(rows, 1)]


def _numbers(rows: Sequence[ContextEntity] | Sequence[ContextRelation]) -> list[int]:
    ids = [row.id for row in rows]
    return ids if all(id is not None and id >= 0 for id in ids) else list(range(len(rows)))


def _more(relations: Sequence[ContextRelation]) -> list[str]:
    return [name for name in ("rank", "links") if any(getattr(row, name) is not None for row in relations)]


def _line(*cells: object) -> str:
    return "|".join("" if cell is None else str(cell) for cell in cells) + "\n"


def _name(text: str) -> str:
    return _flat(text).replace("|", "/")


def _flat(text: str) -> str:
    return _unquoted(" ".join(text.split()))


def _unquoted(text: str) -> str:
    """Replace a header in the text, so that it is not one any more."""
    return _QUOTED.sub(r"---\1---", text)


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


# -- parsing ----------------------------------------------------------------------------------------------------------


def fits(text: str) -> bool:
    """Whether a line of the text is one of the headers."""
    return bool(set(HEADERS.values()) & {line.rstrip() for line in _lines(text).split("\n")})


def parse(text: str, *, published: bool = False) -> ContextGraph:
    """The tables of a context. Any may be missing; lines that are not rows (`[]`, `N/A`, blank lines) are dropped.

    Units have no titles and passages, because the text does not mark titles. `published` parses as the code of "The
    Reasoning Bottleneck in Graph-RAG" does: a table ends at the next header of the list, so entities continue into the
    others if there are no relationships (`docs/traps.md`, 10); a `|` ends a description; of several entities with one
    name, the last takes the position of the first; without entities nothing is read. Raises DataError without a header,
    except with `published`.
    """
    text = _lines(text)
    if published:
        return _as_published(text)
    if not fits(text):
        raise DataError(
            f"a context that begins with {text[:60]!r} has no header of the layout ket_rag; one of "
            f"{', '.join(HEADERS.values())} should stand alone on a line"
        )
    tables = _tables(text.split("\n"))
    columns, relations = tables["relations"]
    return ContextGraph(
        tuple(_entity(*row) for row in _records(tables["entities"][1], _ROW)),
        tuple(_relation(*row, columns.split("|")[4:]) for row in _records(relations, _ROW)),
        tuple(Unit(*row) for row in _records(tables["sources"][1], _ROW)),
        tuple(Unit(*row) for row in _records(tables["chunks"][1], _CHUNK_ROW)),
    )


def _tables(lines: Sequence[str]) -> dict[str, tuple[str, list[str]]]:
    """Table → (names of its columns, its lines), both empty if it is missing. A header counts once."""
    by_header = {header: table for table, header in HEADERS.items()}
    tables: dict[str, tuple[str, list[str]]] = {table: ("", []) for table in HEADERS}
    now: list[str] = []
    for line in lines:
        table = by_header.pop(line.rstrip(), None)
        if table is not None:
            now = tables[table][1]
        else:
            now.append(line)
    for table, (_, rows) in tables.items():
        if rows and rows[0].startswith("id|"):
            tables[table] = (rows[0], rows[1:])
    return tables


def _records(lines: Iterable[str], begins: re.Pattern) -> list[tuple[str, str]]:
    """(id, rest) of each row, which continues to the next line that begins like one."""
    rows: list[tuple[str, list[str]]] = []
    for line in lines:
        if match := begins.match(line):
            rows.append((match[0], [line[match.end() + 1 :]]))
        elif rows:
            rows[-1][1].append(line)
    return [(id, "\n".join(text).rstrip("\n")) for id, text in rows]


def _entity(id: str, row: str) -> ContextEntity:
    name, _, rest = row.partition("|")
    description, bar, degree = rest.rpartition("|")
    if not bar or (degree and _whole(degree) is None):
        description, degree = rest, ""
    return ContextEntity(_flat(name), _flat(description), _whole(id), _whole(degree))


def _relation(id: str, row: str, columns: Sequence[str]) -> ContextRelation:
    """`columns`: those after the description. A row with too few of them has only a description."""
    fields = row.split("|")
    source, target = (*fields, "")[:2]
    rest = fields[2:]
    at = len(rest) - len(columns) if len(rest) > len(columns) else len(rest)
    cells = dict(zip(columns, rest[at:]))
    return ContextRelation(
        _flat(source),
        _flat(target),
        _flat("|".join(rest[:at])),
        _float(cells.get("weight", "")),
        _whole(id),
        _whole(cells.get("rank", "")),
        _whole(cells.get("links", "")),
    )


def _whole(cell: str) -> int | None:
    return int(cell) if _NUMBER.fullmatch(cell.strip()) else None


def _float(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return 1.0


# -- as the published code reads ------------------------------------------------------------------------------------


def _as_published(text: str) -> ContextGraph:
    bodies = {}
    for header, following in zip(HEADERS.values(), [*HEADERS.values(), ""][1:]):
        at = text.find(header)
        end = text.find(following) if following else -1
        body = text[at : end if end >= 0 else None] if at >= 0 else ""
        bodies[header] = body.split("\n")[2:]
    entities, relations, sources, chunks = bodies.values()
    if HEADERS["entities"] not in text:
        return ContextGraph()
    cells = [[cell.strip() for cell in line.split("|")] for line in entities]
    named = {row[1]: ContextEntity(row[1], row[2]) for row in cells if len(row) >= 3}
    cells = [[cell.strip() for cell in line.split("|")] for line in relations]
    return ContextGraph(
        tuple(named.values()),
        tuple(ContextRelation(*row[1:4], _float(row[4] if len(row) > 4 else "")) for row in cells if len(row) >= 4),
        tuple(Unit(id, text.strip()) for id, text in _records(sources, _ROW)),
        tuple(Unit(id, text.strip()) for id, text in _records(chunks, _CHUNK_ROW)),
    )
