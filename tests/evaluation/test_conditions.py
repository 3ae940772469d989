"""A number counts as reproduced only if every condition of the source holds: each is changed alone, in every table of
every source (a sample of them, and all in the full profile)."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
import unchanged
from tiers import FULL

from workbench.errors import SettingError
from workbench.measures import OF_SHORT
from workbench.papers import tables as tables_
from workbench.papers.tables import NOT_COMPARABLE, REPRODUCED, compare
from workbench.published import paper, papers
from workbench.settings import parse_spec, spec_of

PAPERS = {name: unchanged.closed(paper(name), unchanged.FEW) for name in papers()}
ROWS = [(name, row) for name in PAPERS for row in unchanged.fillable(PAPERS[name])]
assert len(ROWS) > 60  # each with at least eight changes
CHOSEN = ROWS if FULL else [
    one for name in PAPERS for one in random.Random(2).sample([row for row in ROWS if row[0] == name], 4)
]  # fmt: skip
IDS = ["-".join((name, row.table, row.backbone, row.method)).replace(" ", "") for name, row in CHOSEN]
OWN = {"bdtr": "BDTR", "catrag": "CatRAG", "dotrag": "DotRAG", "reasoning": "SPARQL, 8B", "youtu": "Youtu-GraphRAG"}


@pytest.mark.full
@pytest.mark.parametrize(("name", "row"), CHOSEN, ids=IDS)
def test_each_condition_changed_alone_is_noticed(tmp_path, name, row):
    """What test_single_changes.py changes in memory, of runs on the disk: some changes of four rows of each paper."""
    source = PAPERS[name]
    run = unchanged.run_of(tmp_path / "run", source, row)
    assert unchanged.reasons(source, run, row) == [[]], "the unchanged run"
    reader = source.terms["reader"]
    tried = list(unchanged.changes(run))
    if row.measure in reader["of"]:
        free = {f"reader's {key}" for key in reader.get("free_in_own_context", ())}
        free |= {"reader's prompt"} if "Routing" in row.method else set()
        free |= set() if row.measure.partition(" ")[0] in OF_SHORT else {"reader's rewrite"}
        of_reader = unchanged.changes_of_reader(run, row.measure in reader.get("judged", ()))
        tried += [one for one in of_reader if one[0] not in free]
    assert len(tried) > 8
    tried = tried if FULL else random.Random(row.method).sample(tried, 9)
    unnoticed = [what for what, change in tried if [] in unchanged.reasons(source, unchanged.changed(run, change), row)]
    assert unnoticed == []


@pytest.mark.parametrize("name", PAPERS)
def test_every_table_has_a_row_that_can_be_reproduced(tmp_path, monkeypatch, name):
    source = PAPERS[name]
    monkeypatch.setattr(tables_.published, "paper", lambda _: source)
    left = set(source.scores["table"]) - unchanged.PLACES.get(name, set())
    for at, (_, row) in enumerate(one for one in ROWS if one[0] == name):
        if row.table not in left:
            continue
        found = compare(unchanged.run_of(tmp_path / str(at), source, row), name)
        mine = [cell for cell in found.cells if cell.table == row.table and cell.method == row.method]
        assert {cell.verdict for cell in mine if cell.measure == row.measure} == {REPRODUCED}, (row, mine)
        left.discard(row.table)
    assert not {table for table in left if not table.startswith("figure")}


@pytest.mark.parametrize("name", PAPERS)
def test_what_the_paper_leaves_open_is_never_reproduced(tmp_path, monkeypatch, name):
    """A run that shares all that is known, held against what the paper really says."""
    row = next(row for one, row in ROWS if one == name and row.method == OWN[name])
    run, real = unchanged.run_of(tmp_path / "run", PAPERS[name], row), paper(name)
    monkeypatch.setattr(tables_.published, "paper", lambda _: replace(real))
    found = compare(run, name)
    assert {cell.verdict for cell in found.cells} == {NOT_COMPARABLE}
    assert all(any("not said" in why or "source's" in why for why in cell.why) for cell in found.cells)


def _row(name, **wanted):
    return next(row for one, row in ROWS if one == name and all(getattr(row, k) == v for k, v in wanted.items()))


def _settings(**values):
    return lambda config, described, rows: described["settings"].update(values)


def _read(spec):
    return lambda config, described, rows: config.update(reader=spec)


def _ranked_to_five(config, described, rows):
    config["k"] = 5
    for row in rows:
        row |= {"selected": 5, "ranking": row["ranking"][:5]}


def _in_reader(**values):
    def change(config, described, rows):
        name, given = parse_spec(config["reader"])
        config["reader"] = spec_of(name, given | values)

    return change


def test_the_source_s_own_prompt_brought_from_a_file_counts_once_it_is_named(tmp_path):
    """Ours never does: only a wording from a file can be named as the source's."""
    source, row = PAPERS["bdtr"], _row("bdtr", backbone="RAPTOR", method="BDTR")
    brought = "answer v2 file 0123456789ab"
    run = unchanged.changed(
        unchanged.run_of(tmp_path / "run", source, row),
        lambda config, *_: config.update(reading=config["reading"] | {"prompts": {"answer": brought}}),
    )
    assert unchanged.reasons(source, run, row) == [["prompts are ours (answer), there the source's"]]
    assert unchanged.reasons(tables_._with_prompts(source, (brought,)), run, row) == [[]]
    other = "answer v2 file ba9876543210"
    assert unchanged.reasons(tables_._with_prompts(source, (other,)), run, row) != [[]]
    for wrong in ("answer v2 0123456789ab", "answer v2 file", "file 0123456789ab"):
        with pytest.raises(SettingError, match="should name a wording from a file"):
            tables_.tables("bdtr", source_prompts=[wrong])


@pytest.mark.parametrize(("verdict", "why"), [
    ("same 100% of bdtr-fig8", []),
    ("holds 100% of bdtr-fig8", []),
    ("damaged 95% of bdtr-fig8", []),
    ("unsure 80% of bdtr-fig8",
     ["prompts are 80% of the source's, as of another of its prompts (answer), there the source's"]),
    ("part 45% of bdtr-fig8", ["prompts are 45% of the source's (answer), there the source's"]),
    ("same 100% of youtu-a8", ["prompts are ours (answer), there the source's"]),
])  # fmt: skip
def test_a_prompt_from_a_file_is_the_source_s_by_its_fingerprint(tmp_path, verdict, why):
    """Which the run carries; of another paper's prompt it says nothing."""
    source, row = PAPERS["bdtr"], _row("bdtr", backbone="RAPTOR", method="BDTR")
    source = replace(
        source, terms={**source.terms, "prompts": {"source": [*source.terms["prompts"]["source"], "bdtr-fig8"]}}
    )
    brought = f"answer v2 file 0123456789ab {verdict}"
    run = unchanged.changed(
        unchanged.run_of(tmp_path / "run", source, row),
        lambda config, *_: config.update(reading=config["reading"] | {"prompts": {"answer": brought}}),
    )
    assert unchanged.reasons(source, run, row) == [why]
    assert unchanged.reasons(tables_._with_prompts(source, (brought,)), run, row) == [[]]


@pytest.mark.parametrize(("method", "why"), [
    ("Ours w/o Agent", ["schema_graph.evolution: gated, there off"]),
    ("Ours w/o Schema", ["schema_graph.schema: hotpotqa, there empty", "schema_graph.evolution: gated, there off",
                         "schema_graph.strict: True, there False"]),
])  # fmt: skip
def test_rows_of_an_ablation_have_layers_of_their_own(tmp_path, method, why):
    """One index for all rows of the table is not what the paper's have, and is named."""
    source, row = PAPERS["youtu"], _row("youtu", method=method)
    run = unchanged.run_of(tmp_path / "run", source, row)
    whole = {"schema": "hotpotqa", "evolution": "gated", "strict": True}

    def one_for_all(config, described, rows):
        described["layers"]["schema_graph"]["settings"].update(whole)

    (reasons,) = unchanged.reasons(source, unchanged.changed(run, one_for_all), row)
    assert sorted(reasons) == sorted(why)


STATIC = {"backbone": "RAPTOR", "method": "Original", "table": "1"}
BASE, ROUTING = {"method": "Base, 8B", "table": "5.2"}, {"method": "Routing, 8B", "table": "5.5"}


@pytest.mark.parametrize(("name", "row", "change", "why"), [
    ("bdtr", STATIC, _settings(mode="leaves"), "mode: leaves, there collapsed"),
    ("bdtr", {"backbone": "HippoRAG2", "method": "BDTR"},
     _settings(backbone="hipporag2[filter=identity,damping=0.9]"), "backbone's damping: 0.9, there 0.5"),
    ("bdtr", {"backbone": "HippoRAG2", "method": "Original", "table": "1"}, _settings(filter="identity"),
     "filter: identity, there step"),
    ("bdtr", {"backbone": "HippoRAG2", "method": "Original", "table": "1"}, _settings(damping=0.9),
     "damping: 0.9, there 0.5"),
    ("bdtr", {"backbone": "HippoRAG2", "method": "Original", "table": "1"}, _settings(counted="facts"),
     "counted: facts, there spellings"),
    ("bdtr", {"method": "BDTR"}, _settings(query_tokens=64), "query_tokens: 64, there none"),
    ("bdtr", STATIC, _in_reader(k=50), "reader's k: 50, there 5"),
    ("bdtr", STATIC, _in_reader(compress="similarity"), "reader's compress: similarity, there none"),
    ("bdtr", STATIC, _in_reader(retry="brief"), "reader's retry: brief, there auto"),
    ("bdtr", STATIC, _read("cot[k=50,compress=similarity,retry=brief]"), "reader: cot, there direct"),
    ("bdtr", STATIC, _read("structured"), "reader: structured, there direct"),
    ("bdtr", STATIC, _read("local"), "reader: local, there direct"),
    ("bdtr", {"method": "IRGS"}, _settings(accumulate=False), "accumulate: False, there True"),
    ("bdtr", {"method": "BDTR"}, _ranked_to_five,
     "size of the final set: cut to the 5 passages ranked for 40 questions, there whole"),
    ("reasoning", BASE, _settings(profile="workbench"), "profile: workbench, there released"),
    ("reasoning", BASE, _in_reader(retry="cot"), "reader's retry: cot, there auto"),
    ("reasoning", BASE, _in_reader(layout="passages", k=1), "reader's layout: passages, there auto"),
    ("reasoning", BASE, _in_reader(layout="passages"), "reader's layout: passages, there auto"),
    ("reasoning", BASE, _read("structured[prompt=brief]"), "reader: structured, there direct"),
    ("reasoning", BASE, _read("local[prompt=brief]"), "reader: local, there direct"),
    ("reasoning", ROUTING, _in_reader(router="heuristic"), "reader's router: heuristic, there model"),
    ("reasoning", ROUTING, _in_reader(retry="none"), "reader's retry: None, there auto"),
    ("reasoning", ROUTING, _in_reader(router="heuristic", retry="none"), "reader's router: heuristic, there model"),
    ("reasoning", BASE, lambda config, *_: config.update(judge="openai:gpt-4o"),
     "judge: openai:gpt-4o, there llama-3.1-8b-instant"),
    ("reasoning", ROUTING, _read("sparql-exec[route=true,extraction=thesis,temperature=0.3]"),
     "reader: sparql-exec, there direct"),
], ids=lambda one: one if isinstance(one, str) and " " in one else "")  # fmt: skip
def test_what_is_not_the_papers_experiment_is_named(tmp_path, name, row, change, why):
    source, row = PAPERS[name], _row(name, **row)
    run = unchanged.changed(unchanged.run_of(tmp_path / "run", source, row), change)
    assert [why in reasons for reasons in unchanged.reasons(source, run, row)] == [True]
