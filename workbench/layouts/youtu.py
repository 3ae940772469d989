"""The context of Youtu-GraphRAG as text: triples with the types of their ends, communities, chunks, each section under
its heading. The sections and what they hold are the source's, the wording and the marks are ours.

    ### Triples
    Kestrel FM [radio station] | founded by | Nora Whitlock [person] | 0.812
    ### Communities
    (7) Broadcasters of Alderby: Stations and those who run them.
    ### Chunks
    (chunk_1) Kestrel FM
    Kestrel FM is a community radio station.

A cell is one line without `|`; brackets behind a name hold its description, so a name has parentheses instead. An
entity that no triple names stands alone on a line. The text of a unit keeps its lines; what begins like a heading or a
unit is set in by a space.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from workbench.errors import DataError
from workbench.records import ContextEntity, ContextGraph, ContextRelation, Unit
from workbench.text import titled

HEADINGS = {"triples": "### Triples", "communities": "### Communities", "chunks": "### Chunks"}
KNOWN_BY = HEADINGS["triples"]
BETWEEN = "\n\n"  # sections
_BAR = " | "
_UNIT = re.compile(r"\(([^\s()]+)\) ?")
_HEADING = re.compile(r"### (?:Triples|Communities|Chunks)\s*")


# -- writing ----------------------------------------------------------------------------------------------------------


def write(graph: ContextGraph) -> str:
    """The context as text; weights have three decimals. Ids of rows, degrees and passages are not written. Empty for an
    empty graph."""
    described = {_name(row.name): _flat(row.description) for row in reversed(graph.entities)}
    triples = [triple_line(row, described) for row in graph.relations]
    named = {_name(name) for row in graph.relations for name in (row.source, row.target)}
    alone = [_cell(name, described[name]) for name in dict.fromkeys(_name(row.name) for row in graph.entities)
             if name not in named]  # fmt: skip
    sections = {
        "triples": triples + [_set_in(cell) for cell in alone if cell],
        "communities": list(_units(graph.sources, "")),
        "chunks": list(_units(graph.chunks, "chunk_")),
    }
    return BETWEEN.join("\n".join([HEADINGS[name], *lines]) for name, lines in sections.items() if lines)


def triple_line(row: ContextRelation, described: dict[str, str]) -> str:
    """`described`: name → description of the entities."""
    source, target = (_cell(name, described.get(name, "")) for name in map(_name, (row.source, row.target)))
    return _BAR.join([source, _flat(row.description), target, f"{row.weight:.3f}"])


def _cell(name: str, description: str) -> str:
    return f"{name} [{description}]".strip() if description else name


def _units(units: Sequence[Unit], prefix: str) -> Iterator[str]:
    ids = [unit.id for unit in units]
    fitting = all(re.fullmatch(r"[^\s()]+", id) and id.startswith(prefix) for id in ids) and len(set(ids)) == len(ids)
    for at, unit in enumerate(units, 1):
        text = _lines(titled(" ".join(unit.title.split()), unit.text)).rstrip("\n")
        first, *rest = text.split("\n")
        yield "\n".join([f"({unit.id if fitting else f'{prefix}{at}'}) {first}".rstrip(" "), *map(_set_in, rest)])


def _set_in(line: str) -> str:
    return f" {line}" if _UNIT.match(line) or _HEADING.fullmatch(line) else line


def _flat(text: str) -> str:
    return " ".join(text.replace("|", "/").split())


def _name(text: str) -> str:
    return _flat(text).replace("[", "(").replace("]", ")")


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


# -- parsing ----------------------------------------------------------------------------------------------------------


def fits(text: str) -> bool:
    """Whether the text opens with one of the headings."""
    return bool(_HEADING.fullmatch(_lines(text).lstrip("\n").partition("\n")[0]))


def parse(text: str, *, published: bool = False) -> ContextGraph:
    """The tables of a context. Any may be missing; units have no titles, because the text does not mark them. Raises
    DataError for a text that does not open with a heading, except with `published`: no published code parses it."""
    text = _lines(text)
    if not published and not fits(text):
        raise DataError(
            f"a context that begins with {text[:60]!r} is not in the layout youtu; its first line should be one of "
            f"{', '.join(HEADINGS.values())}"
        )
    lines = _sections(text.split("\n"))
    rows = [line.split(_BAR) for line in lines["triples"] if line.strip()]
    cells = [cell for row in rows for cell in (row[::2][:2] if len(row) == 4 else row[:1])]
    entities = dict(reversed([_read_cell(cell) for cell in cells]))
    names = dict.fromkeys(_read_cell(cell)[0] for cell in cells)
    return ContextGraph(
        tuple(ContextEntity(name, entities[name]) for name in names),
        tuple(_relation(*row) for row in rows if len(row) == 4),
        tuple(_read_units(lines["communities"])),
        tuple(_read_units(lines["chunks"])),
    )


def _sections(lines: Iterable[str]) -> dict[str, list[str]]:
    by_section: dict[str, list[str]] = {name: [] for name in HEADINGS}
    by_heading = {heading: name for name, heading in HEADINGS.items()}
    now: list[str] = []
    for line in lines:
        if _HEADING.fullmatch(line):
            now = by_section[by_heading[line.strip()]]
        else:
            now.append(line)
    return by_section


def _read_cell(cell: str) -> tuple[str, str]:
    name, _, description = cell.partition("[")
    return name.strip(), description.rstrip().removesuffix("]")


def _relation(source: str, label: str, target: str, weight: str) -> ContextRelation:
    try:
        score = float(weight)
    except ValueError:
        score = 1.0
    return ContextRelation(_read_cell(source)[0], _read_cell(target)[0], label, score)


def _read_units(lines: Iterable[str]) -> Iterator[Unit]:
    units: list[tuple[str, list[str]]] = []
    for line in lines:
        if match := _UNIT.match(line):
            units.append((match[1], [line[match.end() :]]))
        elif units:
            units[-1][1].append(line)
    return (Unit(id, "\n".join(text).rstrip("\n")) for id, text in units)
