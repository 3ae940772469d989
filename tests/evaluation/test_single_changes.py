"""The run that a paper asks for, as the paper states its conditions, of every table of every paper: each of its
conditions changed alone is named by a reason that the unchanged run lacks. Every third one, and all of them in the
full profile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
import unchanged
from tiers import FULL

from workbench.index.usage import ARTICLES
from workbench.measures import OF_SHORT
from workbench.methods.gfm_rag import hub
from workbench.papers import tables as tables_
from workbench.papers.comparable import Foreseen, _foreseen
from workbench.papers.condition import DIFFERS as OTHER
from workbench.papers.conditions import conditions, differences
from workbench.papers.placing import places
from workbench.papers.recipes import tables_of
from workbench.papers.tables import DIFFERS, REPRODUCED, Cell, Compared, Measured
from workbench.published import Paper, paper, papers
from workbench.reading import READERS
from workbench.settings import defaults, parse_spec, spec_of

LEAST = 200  # changes of each paper
LEFT = {"bdtr": {"4", "text"}, "reasoning": {"text"}}  # hours of a machine, and figures computed from other tables


class Sources(list):
    """The prompts that count as the source's: all but those of a change."""

    def __contains__(self, wording: object) -> bool:
        return not str(wording).startswith(("ours", "other"))


def stated(name: str) -> Paper:
    """A paper as it is, but for stand-ins of what no machine has here: prompts, the files of data sets, and so many
    questions."""
    source = paper(name)
    data = source.terms["data"]
    known = {"passages": "as published", "questions": "as published"}
    return replace(source, terms={
        **source.terms, "prompts": {"source": Sources()}, "fingerprints": dict.fromkeys(data.values(), known),
        "questions": dict.fromkeys(data, unchanged.FEW),
    })  # fmt: skip


@dataclass
class Row:
    """A printed number, and the first side of the run that would measure it."""

    source: Paper
    printed: Any
    side: Measured
    measure: str

    def reasons(self, run: Foreseen) -> list[list[str]]:
        """Of the places of a run that are the row's: why its number is not comparable."""
        return [list(differences(one, self.source.terms, self.measure)) for one in self.sides(run)]

    def sides(self, run: Foreseen) -> list[Measured]:
        place, label = self.side.place, self.side.label
        other = {"other": replace(self.side.other, run=run)} if isinstance(self.side, Compared) else {}
        here = (one for one in places(self.source.terms, run, label, place.data) if one[:3] == place[:3])
        return [replace(self.side, run=run, place=one, **other) for one in here]


def rows_of(source: Paper) -> Iterator[Row]:
    """Of every table the first row of each method, at most two."""
    for table in tables_of(source):
        seen: dict[str, Row] = {}
        for printed in source.printed[source.printed["table"] == table].itertuples():
            method = (printed.backbone, printed.method)
            if printed.kind not in tables_._FOUND or method in seen or len(seen) == 2:
                continue
            cell = Cell(table, *method, printed.data, printed.measure, printed.value)
            for _, found in _foreseen(source, cell):
                seen[method] = Row(source, printed, whole(found.sides[0]), found.measure)
                break
        yield from seen.values()


def whole(side: Measured) -> Measured:
    """With a reader that says all its settings, and makers of the layers that a model writes alone."""

    def change(config, described, rows):
        if config["reader"]:
            name, given = parse_spec(config["reader"])
            config["reader"] = spec_of(name, defaults(READERS[name]) | given)
        for kind in described["layers"].keys() - {*side.place.written}:
            described["layers"][kind].pop("made_by")

    return replace(side, run=unchanged.changed(side.run, change, side.label))


def changes(row: Row) -> Iterator[tuple[str, unchanged.Change]]:
    """Each condition of the run of a row changed alone."""
    run, terms = row.side.run, row.source.terms["reader"]
    yield from unchanged.changes(run, row.side.label)
    place = row.side.place
    if not {place.name, place.under and place.under[0]} & {*row.source.terms.get("falls_back", ())}:
        yield "fallback", lambda config, described, rows: rows[0].update(fallback="ours")
    yield "window", lambda config, described, rows: described.update(window={"tokens": 77})
    for kind in row.source.terms.get("more_layers", {}).get(place.data, ()):
        yield (
            f"no {kind}",
            lambda config, described, rows, kind=kind: (
                config["data"] if kind == ARTICLES else described["layers"]
            ).pop(kind),
        )
    if "@" in row.measure:
        yield "depth of the ranking", lambda config, described, rows: config.update(k=1)
    if row.measure not in terms["of"] or row.measure in terms.get("compared", ()):
        return
    free = {f"reader's {key}" for key in terms.get("free_in_own_context", ())}
    free |= {"reader's prompt"} if "Routing" in row.printed.method else set()
    free |= set() if row.measure.partition(" ")[0] in OF_SHORT else {"reader's rewrite"}
    for what, change in unchanged.changes_of_reader(run, row.measure in terms.get("judged", ())):
        if what not in free:
            yield what, change
    yield "cut", lambda config, described, rows: rows[0].update(cut_to=500)
    yield (
        "window of the reader",
        lambda config, *_: config.update(reading=config["reading"] | {"window": {"budget": 9}}),
    )


@pytest.fixture(scope="module")
def rows() -> dict[str, list[Row]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hub, "cached", lambda repository: ["a" * 40])
        return {name: list(rows_of(stated(name))) for name in papers()}


@pytest.mark.full
@pytest.mark.parametrize("name", papers())
def test_each_condition_changed_alone_is_named(rows, name):
    tried = 0
    for row in rows[name]:
        (before,) = row.reasons(row.side.run)
        for what, change in changes(row):
            tried += 1
            if not FULL and tried % 3:
                continue
            after = row.reasons(unchanged.changed(row.side.run, change, row.side.label))
            assert all({*one} - {*before} for one in after), (row.printed.table, row.printed.method, what, before)
    assert tried >= LEAST


@pytest.mark.parametrize("name", papers())
def test_the_unchanged_run_differs_in_nothing_that_the_paper_states(rows, name):
    """But for measures that are known to be others, and what the rows themselves say."""
    missing = {*tables_of(rows[name][0].source)} - {row.printed.table for row in rows[name]}
    assert missing == LEFT.get(name, set())
    for row in rows[name]:
        (side,) = row.sides(row.side.run)
        found = [one for one in conditions(side, row.source.terms, row.measure) if one.name not in ("measure", "row")]
        assert not [one.why for one in found if one.state == OTHER], (row.printed.table, row.printed.method)


@pytest.mark.parametrize(("method", "off", "verdict"), [
    ("text-embedding-3-small", 0.0, REPRODUCED), ("GTR (T5-base)", 0.0, REPRODUCED), ("GTR (T5-base)", 0.3, DIFFERS),
])  # fmt: skip
def test_a_run_under_conditions_that_are_all_stated_has_a_verdict(rows, method, off, verdict):
    """Recall and full chains of dense retrieval, by stand-ins with the names of the paper's encoders."""
    source = rows["catrag"][0].source
    for measure in ("recall@5", "all_gold@5"):
        scores = source.scores
        printed = next(scores[(scores["method"] == method) & (scores["measure"] == measure)].itertuples())
        cell = Cell(printed.table, "", method, printed.data, measure, printed.value)
        found = next(found for _, found in _foreseen(source, cell))

        def score(config, described, rows, value=printed.value + off, measure=measure):
            for at, row in enumerate(rows):
                row["scores"] = row["scores"] | {measure: value + (0.1 if at % 2 else -0.1)}

        run = unchanged.changed(found.of.run, score, found.of.label)
        run.folder = "in memory"
        (cell,) = tables_._cells(source, printed, [replace(found.of, run=run)])
        assert (cell.verdict, cell.why) == (verdict, ())
