"""Printed numbers that are no score of one method, by runs in memory: differences by type and over all data sets,
shares of errors, routing recomputed from three runs, hours of retrieval, gains in percent, lengths of contexts."""

from __future__ import annotations

import pytest
from by_hand import QUESTIONS, RunByHand, right

from workbench.papers import tables as tables_
from workbench.papers.figures import MEAN_OF_THREE, WORKERS, sides
from workbench.papers.recipes import recipes
from workbench.papers.tables import DIFFERS, NOT_COMPARABLE, REPRODUCED, compare, tables
from workbench.published import paper

FEW = QUESTIONS[:100]
KET_RAG = {"ket_rag": {"strategy": "keyword", "theta": 0.5, "tokens": 12000}}
READERS = {
    "Base": "direct[prompt=brief]", "SPARQL": "sparql", "Generic CoT": "cot", "Routing": "direct[route=true]",
    "Base+GW": "direct[prompt=brief,compress=graph-walk[budget=4000]]", "SPARQL+GW": "sparql[compress=graph-walk]",
    "Routing+GW": "direct[route=true,compress=graph-walk]",
}  # fmt: skip
MODELS = {"8B": "openai:llama-3.1-8b-instant", "70B": "openai:llama-3.3-70b-versatile"}
DATA = {"hotpotqa": "hotpotqa/x", "musique": "musique/x", "2wiki": "2wikimultihopqa/x"}
ACCURACY, COVERAGE = "accuracy:thesis", "coverage:substring"
OVER = {"bgec": True, "iterations": 2, "min_docs": 5}
METHODS = {
    "Original": ("raptor", {}),
    "BDTR": ("bdtr[backbone=raptor]", OVER | {"backbone": "raptor"}),
    **{name.upper(): (f"{name}[backbone=raptor]", {"backbone": "raptor"}) for name in ("ircot", "gcot", "tog", "irgs")},
}


@pytest.fixture(autouse=True)
def comparable(monkeypatch):
    """As if every condition were known and agreed."""
    monkeypatch.setattr(tables_, "differences", lambda *_: iter(()))


def thesis(row, values, data="musique", covered=None, **rows):
    """A run of the thesis: `SPARQL, 8B`."""
    reader, _, model = row.partition(", ")
    scores = {ACCURACY: values, COVERAGE: covered or [1.0] * len(values), "f1": values}
    return RunByHand(
        KET_RAG, {"ket_rag": scores}, folder=f"{row} {data}", questions=QUESTIONS[: len(values)],
        data={"name": DATA[data], "fingerprint": ""}, reader=READERS[reader], engine=MODELS[model],
        rows=lambda at, label: {key: of(at) for key, of in rows.items()},
    )  # fmt: skip


def over(right, data="musique/dev/hipporag-1000", under="raptor"):
    """A run of BDTR's methods; `right`: method → of 500 questions, how many are answered; or which."""
    methods, scores = {}, {}
    for called, of in right.items():
        label, settings = METHODS[called]
        label = label.replace("raptor", under)
        methods[label] = {key: under if key == "backbone" else value for key, value in settings.items()}
        of = range(of) if isinstance(of, int) else of
        scores[label] = {name: [float(at in of) for at in range(500)] for name in ("em", "f1")}
    data = {"name": data, "fingerprint": ""}
    return RunByHand(methods, scores, folder=f"{data} {under} {right}", questions=QUESTIONS[:500], data=data)


def cells(found, table, **wanted):
    mine = (one for one in found.cells if one.table == table)
    return [one for one in mine if all(getattr(one, key) == value for key, value in wanted.items())]


# -- differences ------------------------------------------------------------------------------------------------------


def test_a_difference_takes_both_runs_and_the_conditions_of_both(monkeypatch):
    both = [thesis("SPARQL, 8B", right(60, 100)), thesis("Base, 8B", right(40, 100))]
    (cell,) = cells(tables("reasoning", both), "5.4", method="SPARQL - Base, 8B", data="musique", measure=ACCURACY)
    assert (cell.ours, cell.n) == (pytest.approx(0.2), 100) and cell.low < 0.2 < cell.high and cell.p < 0.01
    assert not [one for one in tables("reasoning", both[:1]).cells if one.table == "5.4" and one.run]
    monkeypatch.setattr(tables_, "differences", lambda side, *_: iter([side.run.config["reader"]]))
    (cell,) = cells(tables("reasoning", both), "5.4", method="SPARQL - Base, 8B", data="musique", measure=ACCURACY)
    assert cell.verdict == NOT_COMPARABLE and cell.why == ("sparql", "direct[prompt=brief]")


def test_a_difference_by_type_is_of_the_questions_of_this_type():
    kind = {"type": lambda at: "bridge" if at % 4 else "comparison"}
    values = [[float(at % 4 > 0) for at in range(100)], [0.0] * 100]
    runs = [thesis(row, of, "hotpotqa", **kind) for row, of in zip(("SPARQL, 8B", "Base, 8B"), values)]
    found = {one.data: one for one in cells(tables("reasoning", runs), "5.9", method="SPARQL - Base, 8B") if one.run}
    assert {data: (one.ours, one.n) for data, one in found.items()} == {
        "hotpotqa: bridge": (1.0, 75), "hotpotqa: comparison": (0.0, 25),
    }  # fmt: skip
    why = next(why for why in found["hotpotqa: bridge"].why if why.startswith("questions of this type"))
    assert why.startswith("questions of this type: 75, there ")


def test_the_mean_of_the_three_counts_each_data_set_the_same():
    runs = []
    for (data, gain), n in zip({"hotpotqa": 0.3, "musique": 0.0, "2wiki": 0.6}.items(), (100, 50, 200)):
        runs += [thesis("Base+GW, 8B", right(int(gain * n), n), data), thesis("Base, 8B", right(0, n), data)]
    wanted = {"method": "Base+GW - Base, 8B", "data": MEAN_OF_THREE}
    (cell,) = cells(tables("reasoning", runs), "5.7", **wanted)
    assert (cell.ours, cell.n) == (pytest.approx(0.3), 350)
    assert [one.ours for one in cells(tables("reasoning", runs[:4]), "5.7", **wanted)] == [None]


# -- shares, routing, hours -------------------------------------------------------------------------------------------


def test_a_share_of_errors_is_of_those_whose_answer_was_covered():
    run = thesis("Base, 8B", [0.0] * 100, covered=right(73, 100))
    (cell,) = cells(tables("reasoning", [run]), "5.8", method="Base, 8B", data="musique")
    assert (cell.ours, cell.n) == (0.73, 100)


def test_routing_recomputed_from_the_runs_of_both_prompts_and_the_labels_of_a_third():
    """Half the questions are comparisons, which the run of `cot` answers, always rightly; of the others it does what
    SPARQL abstained on: a quarter of all."""
    labels = {"reading": lambda at: {"kind": "comparison" if at % 2 else "bridge", "invalid": False}}
    runs = [
        thesis("SPARQL, 8B", [0.0] * 100, "2wiki", abstained=lambda at: at % 4 == 0),
        thesis("Generic CoT, 8B", [1.0] * 100, "2wiki"), thesis("Routing, 8B", [0.0] * 100, "2wiki", **labels),
    ]  # fmt: skip
    source = paper("reasoning")
    row = next(row for row in source.printed.itertuples() if row.kind == "recomputed" and row.data == "2wiki"
               and row.measure == ACCURACY and row.method.endswith("8B"))  # fmt: skip
    wanted = {"method": row.method, "data": "2wiki", "measure": ACCURACY}
    (cell,) = cells(tables("reasoning", runs), row.table, **wanted)
    assert (cell.ours, cell.n) == (0.75, 100)
    assert [one.ours for one in cells(tables("reasoning", runs[:2]), row.table, **wanted)] == [None]
    runs[2] = thesis("Routing+GW, 8B", [0.0] * 100, "2wiki", **labels)
    assert cells(tables("reasoning", runs), row.table, **wanted)[0].ours == 0.75, "the labels of either router"


def test_hours_of_retrieval_one_after_the_other_and_side_by_side():
    label = "bdtr[backbone=hipporag2]"
    run = RunByHand({label: OVER | {"backbone": "hipporag2"}}, {label: {"recall@5": right(500)}},
                    data={"name": "musique/dev/hipporag-1000", "fingerprint": ""})  # fmt: skip
    assert not [cell for cell in compare(run, "bdtr").cells if cell.table == "4"], "nothing was timed"
    run.timed = [
        {"question_id": one["question_id"], "method": label, "seconds": {label: 7.2, "direct": 99.0}}
        for one in run.rows
    ]
    found = {(cell.method, cell.measure): cell for cell in compare(run, "bdtr").cells if cell.table == "4"}
    assert {key: cell.ours for key, cell in found.items()} == {
        ("BDTR", "hours"): pytest.approx(2.0), ("BDTR parallel", "hours"): pytest.approx(2.0 / WORKERS),
        ("BDTR parallel", "speed-up"): pytest.approx(WORKERS),
    }  # fmt: skip
    assert {cell.verdict for cell in found.values()} == {NOT_COMPARABLE}
    assert all("seconds depend on the machine" in "; ".join(cell.why) for cell in found.values())
    assert "8 workers here" in "; ".join(found["BDTR parallel", "hours"].why)


# -- gains and lengths ------------------------------------------------------------------------------------------------


def test_a_gain_over_static_stands_beside_ours_and_has_an_interval():
    """Table 5: 34.8 % over RAPTOR alone. 201 of 500 against 150 are 34 %."""
    wanted = {"method": "BDTR", "measure": "em", "published": 34.8}
    (one,) = cells(tables("bdtr", [over({"Original": 150, "BDTR": 201})]), "5", **wanted)
    assert one.ours == pytest.approx(34.0) and one.verdict == REPRODUCED and one.low < 34.0 < one.high
    (one,) = cells(tables("bdtr", [over({"Original": 300, "BDTR": 301})]), "5", **wanted)
    assert one.verdict == DIFFERS


def test_a_mean_of_data_sets_needs_them_all():
    """The text's gains over RAPTOR: each data set counts the same."""
    counts = {"hotpotqa": (200, 220), "2wiki": (100, 150), "musique": (100, 120)}
    runs = [over(dict(zip(("Original", "BDTR"), of)), f"{name}/dev/hipporag-1000") for name, of in counts.items()]
    (one,) = cells(tables("bdtr", runs), "text", backbone="RAPTOR", measure="em")
    assert one.ours == pytest.approx((10 + 50 + 20) / 3) and one.n == 1_500
    assert [one.ours for one in cells(tables("bdtr", runs[:2]), "text", backbone="RAPTOR", measure="em")] == [None]


def test_the_average_improvement_is_over_the_best_baseline_of_each_backbone():
    """Table 1, last row: the mean of 250/200 and 330/300 over four backbones, two of which gain nothing."""
    base = {"IRCOT": 200, "GCOT": 100, "TOG": 90, "IRGS": 80}
    runs = [
        over(base | {"BDTR": 250}), over(base | {"GCOT": 300, "BDTR": 330}, under="hipporag2"),
        over(base | {"BDTR": 200}, under="gfm_rag"), over(base | {"BDTR": 200}, under="graphrag"),
    ]  # fmt: skip
    wanted = {"backbone": "mean", "data": "musique", "measure": "em"}
    assert cells(tables("bdtr", runs), "1", **wanted)[0].ours == pytest.approx((25 + 10 + 0 + 0) / 4)
    assert cells(tables("bdtr", runs[:3]), "1", **wanted)[0].ours is None
    facts = tables("bdtr", runs).measured.facts
    assert not any("mean" in str(said) for said in facts.values()), "a gain is no score of a backbone called mean"


def test_figure_3_says_which_questions_either_method_answers():
    found = tables("bdtr", [over({"Original": range(100, 300), "IRGS": range(250)}, under="hipporag2")])
    shares = {one.method: one.ours for one in found.cells if one.table == "figure 3"}
    assert shares == {"both": 30.0, "only IRGS": 20.0, "only Original": 10.0, "neither": 40.0}
    assert all("MuSiQue is assumed" in " ".join(one.why) for one in found.cells if one.table == "figure 3")


def test_lengths_of_contexts_stand_beside_those_of_the_thesis():
    lengths = {"hotpotqa": (9_000, 4_500), "musique": (10_000, 4_000), "2wiki": (11_000, 1_100)}
    runs = [
        thesis("Base+GW, 8B", [1.0] * 100, data, context_tokens=lambda at, n=n: n, read_tokens=lambda at, m=m: m)
        for data, (n, m) in lengths.items()
    ]
    found = {(one.measure, one.backbone): one.ours for one in tables("reasoning", runs).cells if one.table == "text"}
    assert found == {
        ("context tokens", "KET-RAG"): pytest.approx(10_000), ("context tokens", "LightRAG"): None,
        ("tokens saved", "KET-RAG"): pytest.approx((50 + 60 + 90) / 3),
    }  # fmt: skip


# -- what is run for them ---------------------------------------------------------------------------------------------


def test_the_recipes_run_what_the_figures_are_made_of():
    (one,) = recipes(paper("bdtr"), "figure 3")
    assert one.source == "musique/dev/hipporag-1000" and set(one.methods) == {"hipporag2", "irgs"}
    first, *others = recipes(paper("bdtr"), "text")
    assert {one.data for one in (first, *others)} == {"hotpotqa", "2wiki", "musique"}
    assert all(by == ("direct",) for by in first.read_by.values()) and len(first.methods) == 6


def test_a_fact_has_no_sides():
    source = paper("catrag")
    facts = [row for row in source.printed.itertuples() if row.kind == "fact"]
    assert facts and not any(sides(source, row) for row in facts)


def test_figure_1_is_the_gain_of_ircot_over_the_backbones_of_section_2():
    source = paper("bdtr")
    figure = {
        (row.backbone, row.method, row.data): row.value for row in source.scores.itertuples() if row.table == "figure 1"
    }
    assert len(figure) == 3 * 2 * 3 and all(source.values[*key, "em"] == value for key, value in figure.items())
