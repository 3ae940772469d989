"""Where a run has its place in the tables of each paper, by runs in memory, and what of it is no condition."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest
from by_hand import QUESTIONS, RunByHand, right

import workbench as wb
from workbench.methods.catrag import CatRAG
from workbench.methods.youtu import Youtu
from workbench.papers.placing import settings_of
from workbench.papers.recipes import recipes
from workbench.papers.tables import DIFFERS, NOT_COMPARABLE, NOT_MEASURED, REPRODUCED, compare, tables
from workbench.published import paper
from workbench.records import Question

MUSIQUE = {"name": "musique/dev/hipporag-1000", "fingerprint": ""}

# -- CatRAG: the encoder and the settings make the row -----------------------------------------------------------------


def catrag(method="dense", measures=("recall@5",), right_=554, encoder="openai:text-embedding-3-small", **settings):
    run = RunByHand({method: settings}, {method: dict.fromkeys(measures, right(right_))}, data=MUSIQUE)
    run.config["methods"][method]["encoder"] = encoder
    return run


@pytest.mark.parametrize(("encoder", "row"), [
    ("facebook/contriever", "Contriever"), ("sentence-transformers/gtr-t5-base", "GTR (T5-base)"),
    ("openai:text-embedding-3-small", "text-embedding-3-small"), ("facebook/contriever[max_tokens=256]", "Contriever"),
    ("facebook/contriever-msmarco", "text-embedding-3-small"),
])  # fmt: skip
def test_the_encoder_says_which_row_dense_is(encoder, row):
    (cell,) = compare(catrag(encoder=encoder), "catrag").cells
    assert cell.method == row
    assert any(why.startswith("encoder: ") for why in cell.why) == ("msmarco" in encoder or "[" in encoder)
    assert any(why.startswith("row: vectors: scaled to length 1") for why in cell.why) == (row == "Contriever")


@pytest.mark.parametrize(("off", "row"), [
    ("anchoring", "CatRAG, no anchors"), ("dynamic_weights", "CatRAG, no relation weighting"),
    ("key_facts", "CatRAG, no key facts"),
])  # fmt: skip
def test_a_mechanism_that_is_off_is_a_row_of_the_ablation(off, row):
    settings = asdict(CatRAG.Settings())
    found = compare(catrag("catrag", **settings | {off: False}), "catrag")
    assert {(cell.table, cell.method) for cell in found.cells} == {("ablation", row)}
    assert not any(off in why for why in found.cells[0].why)
    both = compare(catrag("catrag", **settings | {off: False, "key_facts": False, "anchoring": False}), "catrag")
    assert any("there True" in why for why in both.cells[0].why), "two that are off are no row"


def test_a_real_run_says_all_that_is_compared(tiny_index, tmp_path):
    questions = [Question(f"q{at}", f"Which lake {at}?", ("x",)) for at in range(2)]
    methods = [wb.method(name, tiny_index, wb.engine("rules")) for name in ("catrag", "dense", "bm25")]
    run = wb.evaluate(questions, methods, wb.reader("direct"), tmp_path / "run", measures=["f1"], progress=False)
    run.config["data"] = MUSIQUE
    cells = compare(run, "catrag").cells
    assert len(cells) == 3
    for cell in cells:
        unsaid = [why for why in cell.why if "the run does not say" in why]
        assert all(why.startswith("extractions: prompts") for why in unsaid), "which the data brought"
        assert "questions: 2, there 1,000 [questions]" in cell.why
        assert "passages: 8, there 11,656 [passages.musique]" in cell.why
        assert "reader's model: rules, there llama-3.3-70b-instruct [engines.reader]" in cell.why
        assert ("model: rules, there gpt-4o-mini [engines.method]" in cell.why) == (cell.label == "catrag")


def test_differences_are_tested_against_hipporag2():
    scores = {"hipporag2": {"recall@5": right(610)}, "catrag": {"recall@5": right(660)}}
    found = compare(RunByHand({label: {} for label in scores}, scores, data=MUSIQUE), "catrag")
    p = {cell.method: cell.p for cell in found.cells if cell.table == "recall"}
    assert p == {"HippoRAG 2": None, "CatRAG": pytest.approx(1e-4)}
    claims = {check.name: check.holds for check in found.measured.checks}
    assert claims == {"CatRAG has the best recall@5, on every data set": True}


# -- DotRAG: the hops of the questions make the column -----------------------------------------------------------------

TEST = {"name": "metaqa/vanilla/test/300-per-hop@42", "fingerprint": ""}
DOTRAG = {"h_max": 3, "t_max": 3, "stop_on_complete": False}
OF_FILMS = tuple(
    Question(f"{hops}-{at}", "?", ("x",), hops=hops, answer_set=True) for hops in (1, 2, 3) for at in range(300)
)


def films(methods, shares, questions=OF_FILMS, hops=True, **config):
    """`shares`: label → of the questions of 1, 2, 3 hops the share with a recall of 1; the others have 0."""
    scores = {
        label: {"node_recall": [float(int(one.id[2:]) < 300 * shares[label][one.hops - 1]) for one in questions]}
        for label in methods
    }
    of_row = (lambda at, label: {"hops": questions[at].hops}) if hops else (lambda at, label: {})
    return RunByHand(methods, scores, questions=questions, rows=of_row, **{"data": TEST} | config)


def test_questions_are_told_apart_by_hops(monkeypatch):
    monkeypatch.setattr("workbench.papers.tables.differences", lambda *_: iter(()))
    trad = "lightrag[mode=naive]"
    shares = {"dotrag": (0.95, 0.8, 0.55), trad: (0.93, 0.48, 0.33)}
    run = films({"dotrag": DOTRAG, trad: {"mode": "naive"}}, shares)
    found = compare(run, "dotrag")
    assert [(cell.method, cell.data, cell.ours, cell.verdict) for cell in found.cells] == [
        ("DotRAG", "1 hop", pytest.approx(0.95), REPRODUCED), ("DotRAG", "2 hops", 0.8, DIFFERS),
        ("DotRAG", "3 hops", pytest.approx(0.55), REPRODUCED), ("TradRAG", "1 hop", pytest.approx(0.93), REPRODUCED),
        ("TradRAG", "2 hops", 0.48, REPRODUCED), ("TradRAG", "3 hops", 0.33, REPRODUCED),
    ]  # fmt: skip
    assert {cell.n for cell in found.cells} == {300} and {cell.measure for cell in found.cells} == {"node_recall"}
    assert found.cells[1].p == pytest.approx(1e-4), "against TradRAG"
    assert [cell.p for cell in found.cells[3:]] == [None] * 3
    assert {check.name: check.value for check in found.measured.checks} == {
        "recall of the baselines falls with every hop": "2 of 2",
        "DotRAG has the best recall of two and of three hops": "2 of 2",
    }


def test_settings_say_which_row_it_is():
    methods = {
        "dotrag[t_max=1]": DOTRAG | {"t_max": 1}, "dotrag[t_max=6]": DOTRAG | {"t_max": 6},
        "dotrag[h_max=1]": DOTRAG | {"h_max": 1}, "dotrag[h_max=10]": DOTRAG | {"h_max": 10},
        "dotrag[h_max=2]": DOTRAG | {"h_max": 2}, "dotrag[tau=0.5]": DOTRAG, "dotrag": DOTRAG,
        "lightrag[mode=mix]": {}, "lightrag[mode=naive]": {"mode": "naive"}, "pathrag": {}, "ball[hops=2]": {},
        "dense": {},
    }  # fmt: skip
    found = compare(films(methods, dict.fromkeys(methods, (1, 1, 1))), "dotrag")
    places = {cell.label: (cell.table, cell.method) for cell in found.cells}
    assert places == {
        "dotrag[t_max=1]": ("4", "DotRAG, 1 iteration"), "dotrag[t_max=6]": ("4", "DotRAG, 6 iterations"),
        "dotrag[h_max=1]": ("4", "DotRAG, 1 hop around"), "dotrag[h_max=10]": ("4", "DotRAG, 10 hops around"),
        "dotrag[h_max=2]": ("2", "DotRAG"), "dotrag[tau=0.5]": ("2", "DotRAG"), "dotrag": ("2", "DotRAG"),
        "lightrag[mode=mix]": ("2", "LightRAG"), "lightrag[mode=naive]": ("2", "TradRAG"), "pathrag": ("2", "PathRAG"),
    }  # fmt: skip
    of_two = [cell for cell in found.cells if cell.label == "dotrag[h_max=2]"]
    assert of_two and all("method's h_max: 2, there 3 [methods.asked.h_max]" in cell.why for cell in of_two)
    assert "no place for ball[hops=2], dense; no row is of such a method" in found.notes[-1]


def test_questions_of_one_number_of_hops_fill_one_column():
    dev = tuple(replace(one, id=f"3-{at}") for at, one in enumerate(OF_FILMS[600:630]))
    run = films({"dotrag": DOTRAG}, {"dotrag": (1, 1, 0.05)}, dev, data={"name": "metaqa", "fingerprint": ""})
    (cell,) = compare(run, "dotrag").cells
    assert (cell.data, cell.verdict, cell.n) == ("3 hops", NOT_COMPARABLE, 30)
    assert "questions: 30, there 300 [questions.3 hops]" in cell.why
    name = "metaqa/vanilla/test/300-per-hop@42"
    assert f"split and corpus: metaqa, there {name} [data.3 hops]" in cell.why


def test_win_rates_and_runs_without_hops_have_no_place():
    found = tables("dotrag", [films({"dotrag": DOTRAG}, {"dotrag": (1, 1, 1)})])
    assert {cell.verdict for cell in found.cells if cell.table in "13"} == {NOT_MEASURED}
    found = tables("dotrag", [films({"dotrag": DOTRAG}, {"dotrag": (1, 1, 1)}, hops=False, data={"name": "by hand"})])
    assert found.counts()[NOT_MEASURED] == 207 and "no place for dotrag" in found.notes[-1]


# -- the thesis: reader and model make the row -------------------------------------------------------------------------

KET_RAG = {"strategy": "keyword", "theta": 0.5, "tokens": 12000}
OF_THESIS = {"name": "musique/dev/other", "fingerprint": ""}
WIKI = {"name": "2wikimultihopqa-6119", "fingerprint": ""}  # of which routing is printed
RIGHT = [1] * 4 + [0] * 6


def thesis(reader, right=RIGHT, method="ket_rag", settings=KET_RAG, layout=None, **config):
    scores = {method: {"accuracy:thesis": right, "f1": [0.5] * 10, "coverage:substring": [1] * 5 + [0] * 5}}
    given = {"data": OF_THESIS, "engine": "openai:llama-3.1-8b-instant"} | config
    return RunByHand({method: settings}, scores, folder=f"{reader}", questions=QUESTIONS[:10], reader=reader,
                     rows=lambda at, label: {"layout": layout[at]} if layout else {}, **given)  # fmt: skip


@pytest.mark.parametrize(
    "reader, row",
    [
        ("direct[prompt=brief]", "Base"), ("direct[prompt=brief,compress=graph-walk[budget=4000]]", "Base+GW"),
        ("sparql", "SPARQL"), ("direct[prompt=sparql]", "SPARQL"), ("sparql[compress=graph-walk]", "SPARQL+GW"),
        ("cot", "Generic CoT"), ("direct[route=true]", "Routing"),
        ("direct[compress=graph-walk,route=true,retry=auto]", "Routing+GW"),
        ("direct", None), ("sparql-exec", None), ("sparql[compress=similarity]", None), (None, None),
        ("cot[compress=graph-walk]", None), ("direct[prompt=sparql-thesis]", "SPARQL"),
        ("direct[prompt=sparql-thesis,compress=graph-walk]", "SPARQL+GW"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("model", ["8B", "70B"])
def test_the_reader_and_the_model_make_the_row(reader, row, model):
    engine = {"8B": "openai:llama-3.1-8b-instant", "70B": "openai:llama-3.3-70b-versatile"}[model]
    run = thesis(reader, engine=engine, data=WIKI)
    found = {cell.method for cell in compare(run, "reasoning").cells}
    assert found == {"context", f"{row}, {model}"} - {f"None, {model}", "Routing+GW, 70B"}, "which nobody printed"


def test_k_is_a_condition_only_where_the_method_does_not_lay_out_the_context():
    """Also where it lays out those of all questions but one."""

    def reasons(layouts):
        cells = compare(thesis("sparql[k=1,budget=none]", layout=layouts), "reasoning").cells
        return {why for cell in cells if cell.method in ("SPARQL, 8B", "context") for why in cell.why}

    told = {f"{whose}'s {what}, there it is not said [reader.asked]"
            for whose in ("reader", "context") for what in ("k: 1", "budget: None")}  # fmt: skip
    assert told <= reasons([None] * 10) and told <= reasons(["lightrag"] * 9 + [None])
    assert not told & reasons(["lightrag"] * 10)


def test_a_reader_that_fills_no_row_is_said():
    found = tables("reasoning", [thesis("sparql[compress=similarity[budget=400]]")])
    assert [note for note in found.notes if "no place for ket_rag" in note], found.notes
    assert {cell.method for cell in found.cells if cell.run} == {"context"}
    assert not [note for note in tables("reasoning", [thesis("sparql")]).notes if "no place" in note]


def test_short_answers_are_the_8b_rows_alone():
    """And matter to EM and F1 alone."""

    def said(reader, measure, **config):
        cells = [one for one in compare(thesis(reader, **config), "reasoning").cells if one.table == "5.2"]
        return [why for one in cells if one.measure == measure for why in one.why if "rewrite" in why]

    large = {"engine": "openai:llama-3.3-70b-versatile"}
    assert said("sparql", "f1") == ["reader's rewrite: False, there True [models.reading.rewrite]"]
    assert said("sparql[rewrite=true]", "f1") == []
    assert said("sparql[rewrite=true]", "accuracy:thesis") == said("sparql", "accuracy:thesis") == []
    assert said("sparql", "f1", **large) == []
    (why,) = said("sparql[rewrite=true]", "f1", **large)
    assert why == "reader's rewrite: True, there False [models.reading.rewrite]"


def test_covered_only_numbers_are_over_the_covered():
    """Four right of ten, and of the five that are covered."""
    cells = {(cell.table, cell.measure): cell for cell in compare(thesis("sparql"), "reasoning").cells}
    assert cells["5.2", "accuracy:thesis"].ours == 0.4 and cells["5.2", "accuracy:thesis"].n == 10
    assert cells["5.3", "accuracy:thesis of covered"].ours == 0.8 and cells["5.3", "accuracy:thesis of covered"].n == 5
    assert cells["5.1", "coverage:substring"].ours == 0.5


def test_a_row_is_tested_against_the_baseline_of_another_run():
    runs = [thesis("direct[prompt=brief]", [0] * 10), thesis("sparql", [1] * 10)]
    cells = [cell for cell in tables("reasoning", runs).cells if cell.data == "musique"]
    found = {(cell.table, cell.method, cell.measure): cell for cell in cells}
    assert found["5.2", "SPARQL, 8B", "accuracy:thesis"].p == pytest.approx(2 / 2**10)
    assert found["5.2", "Base, 8B", "accuracy:thesis"].p is None
    assert found["5.2", "SPARQL, 70B", "accuracy:thesis"].verdict == NOT_MEASURED


# -- Youtu-GraphRAG: the model makes the row, mode and depth the column ------------------------------------------------

V3, QWEN = "openai:deepseek-ai/DeepSeek-V3-0324", "openai:Qwen/Qwen3-32B"


def cells_of(reader="direct[k=20,mode=reject,prompt=knowledge]", method="youtu", data="musique/x", **config):
    run = RunByHand({method: config.pop("settings", {})}, {method: {"em": right(475)}}, reader=reader,
                    **{"data": {"name": data, "fingerprint": ""}, "engine": V3} | config)  # fmt: skip
    return compare(run, "youtu").cells


@pytest.mark.parametrize(("reader", "columns"), [
    ("direct[k=20,mode=reject]", {"top-20 accuracy, reject"}), ("direct[k=20,mode=open]", {"top-20 accuracy, open"}),
    ("direct[k=10,mode=reject]", {"top-10 accuracy, reject"}),
    ("direct[k=7]", {"top-20 accuracy, reject", "top-10 accuracy, reject"}),
])  # fmt: skip
def test_mode_and_depth_say_which_column_it_is(reader, columns):
    """An unnamed mode is reject, and another depth stands beside all."""
    assert {cell.measure for cell in cells_of(reader)} == columns


def test_the_model_says_which_rows_it_is():
    assert {(cell.backbone, cell.published) for cell in cells_of(engine=QWEN)} == {("Qwen3-32B", 0.453)}


@pytest.mark.parametrize(("off", "row", "published"), [
    ("agent", "Ours w/o Agent", 0.4), ("community", "Ours w/o Comm.", 0.44), ("schema", "Ours w/o Schema", 0.456),
])  # fmt: skip
def test_a_part_that_is_off_is_a_row_of_the_ablation(off, row, published):
    found = cells_of(settings=asdict(Youtu.Settings()) | {off: False})
    assert {(cell.method, cell.published) for cell in found} == {(row, published)}
    assert not any(f"{off}:" in why or f"{off}=" in why for why in found[0].why)


def test_methods_that_are_not_here_are_named():
    found = tables("graphrag_bench")
    absent = {cell.method: cell.why for cell in found.cells if cell.verdict == NOT_MEASURED and cell.why}
    assert absent == {name: (why,) for name, why in paper("graphrag_bench").terms["absent"].items()}
    assert any(note.startswith("No run can fill") for note in found.notes)


@pytest.mark.parametrize(("method", "row", "published"), [
    ("e2graphrag", "E2GraphRAG", 0.0801), ("g_retriever", "G-Retriever", 0.017), ("hipporag1", "HippoRAG", 0.362),
    ("ircot[backbone=hipporag1]", "HippoRAG-IRCOT", 0.355),
])  # fmt: skip
def test_a_run_of_these_methods_has_a_row(method, row, published):
    """And a recipe that would make it."""
    found = cells_of(method=method, settings=settings_of(method))
    assert {(cell.method, cell.published) for cell in found} == {(row, published)}
    assert method in {spec for one in recipes(paper("youtu"), "1") for spec in one.methods}


def test_ircot_over_another_method_has_none():
    assert cells_of(method="ircot", settings=settings_of("ircot")) == ()
