"""Every method, reader and layer at its real defaults, through every paper: exactly those settings are open which the
paper leaves open. A setting that is new here is stated in `published/<paper>.toml`, neutral (`settings.neutral`), or
one more of these."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from workbench.index.building import LAYERS
from workbench.papers.comparable import Foreseen
from workbench.papers.condition import OTHERS, UNKNOWN, named
from workbench.papers.conditions import conditions
from workbench.papers.placing import Compared, Measured, places
from workbench.papers.recipes import Recipe
from workbench.published import paper, papers
from workbench.reading import READERS
from workbench.settings import defaults, spec_of

OPEN = tomllib.loads(Path(__file__).with_name("open_settings.toml").read_text("utf-8"))
ASKED = {
    "bdtr": "em",
    "catrag": "f1",
    "dotrag": "overall",
    "graphrag_bench": "ACC, Fact Retrieval",
    "reasoning": "f1",
    "youtu": "top-20 accuracy, open",
}


def left_open(name: str) -> dict[str, list[str]]:
    """Method, layer or reader → its settings that the paper leaves open."""
    source, found = paper(name), {}
    data = next(iter(source.terms["data"]))
    rows = [
        spec_of(row["name"], {key: value for key, value in row.get("is", {}).items() if key == "backbone"})
        for part in ("backbones", "methods") for row in source.terms.get(part, ())
    ]  # fmt: skip
    model = named(next(iter(source.terms.get("models", [{"engine": ()}])))["engine"])
    for method in dict.fromkeys(rows):
        for read_by in named(source.terms["reader"]["name"]):
            reader = spec_of(read_by, defaults(READERS[read_by]))
            recipe = Recipe(data, source.terms["data"][data], {method: (reader,)}, {}, ("em",), 20, None, False)
            run = Foreseen(source, recipe, reader, model)
            run.rows = [row | {"hops": source.terms.get("hops", {}).get(data)} for row in run.rows]
            *_, place = places(source.terms, run, method, data)
            side = Measured(run, method, place)
            if ASKED[name] in source.terms["reader"].get("compared", ()):
                side = Compared(run, method, place, side, True)
            for one in conditions(side, source.terms, ASKED[name]):
                if one.state != UNKNOWN:
                    continue
                if one.name.startswith("reader's ") and one.name != "reader's model":
                    found.setdefault(f"reader {read_by}", set()).add(one.name.removeprefix("reader's "))
                if one.name.endswith(OTHERS) and not one.name.startswith("backbone"):
                    kind = one.name.removesuffix(OTHERS).rstrip(".")
                    names = {each.partition("=")[0] for each in one.ours.split(", ") if "=" in each}
                    found.setdefault(f"layer {kind}" if kind in LAYERS else method, set()).update(names)
    return {part: sorted(names) for part, names in sorted(found.items())}


@pytest.mark.parametrize("name", papers())
def test_exactly_what_the_paper_leaves_open_is_open(name):
    assert left_open(name) == {part: sorted(names.split()) for part, names in sorted(OPEN[name].items())}


def test_exact_search_without_a_filter_is_no_condition():
    assert not any("dense" in parts for parts in OPEN.values())
