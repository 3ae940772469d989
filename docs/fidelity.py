"""The pages in `docs/fidelity/`: the elements of each source, where the code holds them, and how exactly.

python docs/fidelity.py            write the pages from the TOML files beside them
python docs/fidelity.py --check    exit 1 where a page is stale

`docs/fidelity/<source>.toml` has one line an element, in the order of the source.
"""

from __future__ import annotations

import sys
import textwrap
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "fidelity"
WIDTH = 118  # of prose
EXACT, SETTING, OPEN, DIFFERS = STATES = ("exact", "setting", "open", "differs")
INDEX = """# Fidelity to the sources

Each source is taken apart into the elements that it states: steps, equations, prompts, values, data, tables and claims.
A page lists where the code holds each of them, and in which state:

* **exact**: the code does as the source says, by default; of data, models, temperatures and the rows of a table, in the
  command that makes the source's tables.
* **setting**: only a setting, profile or file makes it do so; the last column names it and says what the default does.
* **open**: the source does not say how; the last column says how it is done here.
* **differs**: nothing does as the source says, or it is missing; the last column says why, and what is in its place.

Code is named from `workbench` on, as `module:name`; a name with a slash is a file. An exact element says that the code
does as the text does. It does not say that a number can be reproduced: that takes every condition of the run
([Comparable numbers](../comparable.md)).

"""


class Element(NamedTuple):
    """`place` in the source, empty where the whole source is meant. `code`: `module:name` below `workbench`, or a file
    of the project; several between commas. `why`: of a setting, which one it is; of what is open, how it is done; of a
    difference, its reason; of what is exact, what the source leaves open in it."""

    element: str
    code: str
    state: str
    place: str = ""
    why: str = ""

    @property
    def names(self) -> list[str]:
        return self.code.split(", ")


class Source(NamedTuple):
    """A source by the name of its file; `about`: its title in a sentence, with a link to the page of its methods."""

    name: str
    title: str
    about: str
    elements: tuple[Element, ...]

    def count(self, state: str) -> int:
        return sum(one.state == state for one in self.elements)

    @property
    def share(self) -> float:
        """The share of what the source says that is exact or a setting."""
        return 1 - self.count(DIFFERS) / (len(self.elements) - self.count(OPEN))


def sources() -> list[Source]:
    return [read(path) for path in sorted(FOLDER.glob("*.toml"))]


def read(path: Path) -> Source:
    """Raises TypeError for an element with a key that is not known, or without one that it needs."""
    given = tomllib.loads(path.read_text(encoding="utf-8"))
    return Source(path.stem, given["title"], given["about"], tuple(Element(**one) for one in given["elements"]))


def pages() -> dict[str, str]:
    """File → text, of the list and of a page for each source."""
    found = sources()
    return {"README.md": INDEX + listed(found)} | {f"{one.name}.md": page(one) for one in found}


def listed(found: list[Source]) -> str:
    rows = [[f"[{one.title}]({one.name}.md)", *_counts([one])] for one in found]
    heads = ["source", "elements", *STATES, "of what they say, exact or a setting"]
    return _table(heads, [*rows, ["all", *_counts(found)]])


def _counts(found: Iterable[Source]) -> Iterator[str]:
    elements = [element for one in found for element in one.elements]
    whole = Source("", "", "", tuple(elements))
    yield str(len(elements))
    yield from (str(whole.count(state)) for state in STATES)
    yield f"{whole.share:.1%}"


def page(source: Source) -> str:
    exact, setting, open_, differs = map(source.count, STATES)
    rows = (
        [str(number), one.element, one.place, " ".join(f"`{name}`" for name in one.names), one.state, one.why]
        for number, one in enumerate(source.elements, 1)
    )
    table = _table(["", "element", "place", "code", "state", "which setting, how, or why"], rows)
    counts = f"{len(source.elements)} elements: {exact} exact, {setting} by a setting, {open_} open, {differs} differ."
    share = f"Of what the source says, {source.share:.1%} are exact or a setting."
    about = textwrap.fill(source.about, WIDTH, break_long_words=False, break_on_hyphens=False)
    return f"# Fidelity: {source.title}\n\n{about}\n\n**{counts}\n{share}** [The states](README.md).\n\n{table}"


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = list(heads)
    lines = ([cell.replace("|", "\\|") for cell in line] for line in [heads, ["---"] * len(heads), *rows])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def stale() -> list[str]:
    """The files that are not what the TOML files say."""
    return [
        name
        for name, text in pages().items()
        if not (FOLDER / name).exists() or (FOLDER / name).read_text(encoding="utf-8") != text
    ]


def main() -> None:
    if "--check" in sys.argv:
        if found := stale():
            raise SystemExit(f"stale: {', '.join(found)}; run python docs/fidelity.py")
        return
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
