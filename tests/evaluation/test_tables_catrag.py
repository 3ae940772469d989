"""CatRAG's tables next to measured numbers: what is printed, what follows from it, and which conditions a run must
share with the paper before a number counts as reproduced."""

from __future__ import annotations

import doctest
import json
from copy import deepcopy
from dataclasses import asdict

import audit_catrag as catrag
import pytest
import unchanged
from auditing import checks_of
from test_analyses import written
from typer.testing import CliRunner

import workbench as wb
from workbench.cli.app import app
from workbench.evaluation.run import Run
from workbench.index import entity_summaries, facts, synonyms
from workbench.methods.catrag import CatRAG
from workbench.methods.catrag.rating import phi
from workbench.methods.dense import Dense
from workbench.methods.hipporag2 import HippoRAG2
from workbench.papers import condition, conditions_of_data
from workbench.papers.tables import DIFFERS, NOT_COMPARABLE, NOT_MEASURED, REPRODUCED, compare, tables
from workbench.published import Key, claims, paper
from workbench.reading.direct import Direct
from workbench.records import Question

QUESTIONS = tuple(Question(f"q{at}", "?", ("x",)) for at in range(1_000))
MINI, LLAMA = "openai:gpt-4o-mini", "openai:meta-llama/Llama-3.3-70B-Instruct"
ENCODER = "openai:text-embedding-3-small"
MUSIQUE = {"name": "musique/dev/hipporag-1000", "fingerprint": ""}
SETTINGS = {
    "catrag": asdict(CatRAG.Settings()),
    "hipporag2": asdict(HippoRAG2.Settings()),
    "dense": asdict(Dense.Settings()),
    "raptor": {},
}
STEPS = {"catrag": ("fact_filter", "question_entities", "rate_neighbours"), "hipporag2": ("fact_filter",)}
LAYERS = {
    "passages": {"settings": {}, "passages": 11_656},
    "extractions": {"settings": {}, "made_by": [f"{MINI} (named_entities v2, triples v2)"], "failures": 0},
    "facts": {"settings": {"normalise": "ascii"}},
    "synonyms": {"settings": asdict(synonyms.Settings())},
    "entity_summaries": {
        "settings": asdict(entity_summaries.Settings()), "made_by": [f"{MINI} (summarise_entity v1)"], "failures": 0,
    },
}  # fmt: skip
OF = {"dense": 1, "hipporag2": 4, "catrag": 5, "raptor": 1, "bm25": 1}  # how many of these layers a method reads


@pytest.fixture(autouse=True)
def at_hand(monkeypatch):
    unchanged.at_hand(monkeypatch, QUESTIONS)


@pytest.fixture
def ask(tmp_path):
    """A run over a thousand questions that shares every condition with the paper, as far as a run can; `right`: how
    many have a score of 1. `change(config, described)` edits what the run says."""

    def ask(method="dense", right=554, change=None, measures=("recall@5",), settings=None, out="run"):
        name = method.partition("[")[0]
        scores = {method: {one: [float(at < right) for at in range(1_000)] for one in measures}}
        run = written(tmp_path / out, {method: {}}, scores, questions=QUESTIONS, data=MUSIQUE, reader="direct")
        config = json.loads((run.folder / "run.json").read_text())
        prompts = {step: f"{step} v1 0123456789ab" for step in STEPS.get(name, ())}
        described = config["methods"][method] | {
            "settings": SETTINGS.get(name, {}) | (settings or {}), "engine": MINI if prompts else None,
            "encoder": ENCODER, "prompts": prompts, "layers": deepcopy(dict(list(LAYERS.items())[: OF[name]])),
        }  # fmt: skip
        reading = {"label": "direct", "engine": LLAMA, "prompts": {"answer": "answer v2 0123456789ab"}}
        config |= {"methods": {method: described}, "reading": reading, "engine": f"{MINI}, {LLAMA}"}
        if change:
            change(config, described)
        (run.folder / "checksums.json").unlink(missing_ok=True)
        (run.folder / "run.json").write_text(json.dumps(config))
        return Run(run.folder)

    return ask


def the_cell(run, measure="recall@5", table=None):
    cells = [cell for cell in compare(run, "catrag").cells if cell.measure == measure]
    return next(cell for cell in cells if table in (None, cell.table))


# -- what is printed --------------------------------------------------------------------------------------------------


def test_the_tables_are_whole():
    source = paper("catrag")
    sizes = {"recall": 7 * 4, "answers": 8 * 4, "chains": 2 * 7 * 4, "ablation": 4 * 4, "hub bias": 4}
    assert source.scores.groupby("table").size().to_dict() == sizes
    shares = source.scores[source.scores["measure"] != "hub_strength"]
    assert shares["value"].between(0, 1).all() and not source.printed["value"].isna().any()
    assert not source.printed.duplicated(["table", "backbone", "method", "data", "measure"]).any()
    for *place, value in (
        ("CatRAG", "hover", "recall@5", 0.768), ("GTR (T5-base)", "2wiki", "recall@5", 0.679),
        ("LightRAG", "hotpotqa", "f1", 0.683), ("BM25", "hover", "accuracy", 0.614),
        ("HippoRAG 2", "hotpotqa", "all_gold@5", 0.755), ("RAPTOR", "2wiki", "joint@5", 0.342),
        ("CatRAG, no key facts", "2wiki", "recall@5", 0.884), ("HippoRAG 2", "musique", "hub_strength", 837.0),
        ("CatRAG", "musique", "super_hub_mass", 0.425),
    ):  # fmt: skip
        assert source.values[Key("", *place)] == value


def test_what_was_not_read_or_is_of_another_paper_is_no_score():
    printed = paper("catrag").printed
    assert set(printed["kind"]) == {
        "score", "quoted", "margin", "relative gain", "setting", "fact", "count", "second-hand", "other paper",
    }  # fmt: skip
    second = printed[printed["kind"] == "second-hand"]
    assert second["note"].str.startswith("ACL version, not read").all() and len(second) == 8
    assert set(printed[printed["table"] == "ACL version"]["kind"]) == {"second-hand"}
    assert set(printed[printed["table"] == "HippoRAG 2 paper"]["kind"]) == {"other paper"}
    assert not {"no retrieval", "PropRAG"} & {cell.method for cell in tables("catrag").cells}


def test_every_name_of_the_terms_is_one_of_the_tables():
    source = paper("catrag")
    terms, scores = source.terms, source.scores
    assert {one["called"] for one in terms["methods"]} == set(scores["method"])
    assert {catrag.OURS, catrag.STATIC, *catrag.WITHOUT.values()} < set(scores["method"])
    assert {*terms["data"]} == {*terms["passages"]} == set(scores["data"]) == {*catrag.DATA}
    assert {*terms["reader"]["of"]} | {catrag.RECALL, catrag.CHAINS, "hub_strength", "super_hub_mass"} == set(
        scores["measure"]
    )
    facts_ = source.printed[source.printed["kind"] == "fact"]
    counts = {(row.data, row.measure): row.value for row in facts_.itertuples()}
    assert counts == {(data, "questions"): terms["questions"] for data in terms["data"]} | {
        (data, "passages"): n for data, n in terms["passages"].items()
    }


def test_every_setting_is_either_given_by_the_paper_or_told_to_be_open():
    """Our defaults are those of the paper's table, and none is left out of the comparison."""
    terms, printed = paper("catrag").terms, paper("catrag").printed
    for method in (CatRAG, HippoRAG2):
        given, ours = terms["settings"][method.name], asdict(method.Settings())
        assert given.keys() == ours.keys() and all(condition.same(ours[key], given[key]) for key in ours)
    given = {row.measure: row.value for row in printed[printed["table"] == "settings"].itertuples()}
    for name in ("epsilon", "n_seed", "k_edge", "beta", "damping"):
        assert given[name] == terms["settings"]["catrag"][name]
    assert given["synonym threshold"] == terms["layers"]["synonyms"]["threshold"]
    assert given["tokens of a summary"] == terms["layers"]["entity_summaries"]["limit"]
    assert given["synonym factor"] == 2 * terms["settings"]["catrag"]["synonym_weight"], "once from each end"
    assert given["passages read"] == terms["k"] == terms["reader"]["asked"]["k"]
    assert given["temperature"] == terms["reader"]["asked"]["temperature"]
    read = asdict(Direct.Settings())
    assert terms["reader"]["asked"].keys() == read.keys()
    assert all(condition.same(read[key], value) for key, value in terms["reader"]["asked"].items())
    assert terms["layers"]["synonyms"] == asdict(synonyms.Settings())
    assert terms["layers"]["facts"].keys() == asdict(facts.Settings()).keys()
    assert asdict(entity_summaries.Settings()).keys() - terms["layers"]["entity_summaries"].keys() == {"tau"}


def test_our_factors_are_those_of_table_7():
    printed = paper("catrag").printed
    factors = {row.measure: row.value for row in printed[printed["table"] == "7"].itertuples()}
    assert factors == {f"factor of score {score}": phi(score) for score in range(11)}


# -- what follows from it ---------------------------------------------------------------------------------------------


def failing() -> dict[str, str]:
    return {check.name: str(check.value) for check in tables("catrag").claims.checks if not check.holds}


def test_the_papers_own_tables_contradict_these_claims_and_no_other():
    assert list(failing()) == [
        "enhancement of key-fact passages raises recall@5, on every data set",
        "the margin in recall@5 of CatRAG over text-embedding-3-small on musique",
        "the relative gain in joint@5 of CatRAG over HippoRAG 2 on hover, in another place",
        "the gain in all_gold@5 over HippoRAG 2 is beyond the noise of 1,000 unpaired questions",
        "the gain in joint@5 over HippoRAG 2 is beyond the noise of 1,000 unpaired questions",
        "the gain in accuracy over HippoRAG 2 is beyond the noise of 1,000 unpaired questions",
        "rows of one name have the numbers of the paper of HippoRAG 2",
        "CatRAG is above PropRAG, which the ACL version adds (second-hand, not read)",
        "two numbers of seconds differ by what relation weighting adds (second-hand, not read)",
    ]
    assert len(tables("catrag").claims.checks) == 26


def test_what_the_failing_ones_say():
    key_facts, margin, gain, chains, joint, accuracy, other, prop, seconds = failing().values()
    assert key_facts == "3 of 4; CatRAG, no key facts 0.884 against CatRAG 0.87 (2wiki, recall@5)"
    assert margin == "stated 8.1, by the table 9.5 points" and gain == "stated 11.0, by the table 18.7 %"
    assert chains.startswith("2 of 4; musique +0.041, half an interval 0.041; 2wiki")
    assert joint.startswith("1 of 4") and accuracy == "0 of 1; hover +0.018, half an interval 0.041"
    assert other.startswith("0 of 7; BM25 0.316 here, 0.435 there") and "HippoRAG 2 0.614 here, 0.747 there" in other
    assert prop.startswith("0 of 2; PropRAG 0.461 against 0.450 (musique, f1)")
    assert seconds == "7.73 - 2.92 = 4.81, said to be 4.65"


def test_facts_that_the_tables_give():
    facts_ = tables("catrag").claims.facts
    assert facts_["relative gain in joint@5 over HippoRAG 2"].endswith("hover +18.7%"), "31.1 / 26.2"
    assert "2wiki -1.4" in facts_["points of recall@5 by enhancement of key-fact passages"], "87.0 - 88.4"
    assert facts_["hub_strength, change against HippoRAG 2"] == "-9.0%", "761.7 / 837.0"
    assert facts_["right labels of HoVer where the chain is not full"] == "65.9%", "(69.0 - 31.1) / (100 - 42.5)"


@pytest.mark.parametrize(("table", "method", "data", "measure", "value", "claim"), [
    ("recall", "RAPTOR", "hover", "recall@5", 0.8, "CatRAG has the best recall@5, on every data set"),
    ("answers", "LightRAG", "2wiki", "f1", 0.7, "CatRAG has the best f1, on every data set"),
    ("chains", "BM25", "musique", "joint@5", 0.07, "no method has more joint@5 than all_gold@5"),
    ("chains", "Contriever", "2wiki", "all_gold@5", 0.6, "no method has more all_gold@5 than recall@5"),
    ("chains", "CatRAG", "hotpotqa", "all_gold@5", 0.77,
     "with two gold passages a question, recall@5 on HotpotQA is at most (1 + all_gold@5) / 2"),
    ("chains", "CatRAG", "2wiki", "all_gold@5", 0.67,
     "CatRAG gains more in all_gold@5 than in recall@5 over HippoRAG 2, on every data set"),
    ("ablation", "CatRAG, no anchors", "hover", "recall@5", 0.768,
     "symbolic anchoring raises recall@5, on every data set"),
    ("ablation", "CatRAG", "hover", "recall@5", 0.767,
     "the full system has its numbers of the table of recall in the ablation"),
    ("7", "CatRAG", "", "factor of score 5", 0.3, "factors are linear within the tiers Weak and High"),
    ("7", "CatRAG", "", "factor of score 10", 1.0, "a higher score never has a lower factor"),
    ("text", "CatRAG over HippoRAG 2", "hover", "joint@5", 0.25,
     "the relative gain in joint@5 of CatRAG over HippoRAG 2 on hover, in one place"),
    ("cost", "CatRAG", "", "times as slow, about", 4.0,
     "their ratio is the slowdown that the text states (second-hand, not read)"),
])  # fmt: skip
def test_a_number_that_is_changed_is_noticed(table, method, data, measure, value, claim):
    source = paper("catrag")
    printed = source.printed.copy()
    here = (printed["table"] == table) & (printed["method"] == method)
    here &= (printed["data"] == data) & (printed["measure"] == measure)
    assert here.sum() == 1
    printed.loc[here, "value"] = value
    changed = type(source)("catrag", printed, source.terms)
    before, after = (
        {check.name: check.holds for check in checks_of("catrag", one.values, one.printed)}
        for one in (source, changed)
    )
    assert before[claim] and not after[claim]


def test_stated_numbers_that_agree_would_hold():
    source = paper("catrag")
    printed = source.printed.copy()
    printed.loc[printed["value"] == 0.081, "value"] = 0.095
    (check,) = [one for one in checks_of("catrag", source.values, printed) if one.name.startswith("the margin")]
    assert check.holds and check.value == "stated 9.5, by the table 9.5 points"


def test_claims_of_numbers_by_hand():
    def key(method, measure):
        return "", method, "musique", measure

    values = {key("CatRAG", "recall@5"): 0.6, key("HippoRAG 2", "recall@5"): 0.6, key("CatRAG", "all_gold@5"): 0.3,
              key("HippoRAG 2", "all_gold@5"): 0.2, key("CatRAG", "joint@5"): 0.31}  # fmt: skip
    checks = {check.name: check for check in checks_of("catrag", values)}
    assert checks["CatRAG has the best recall@5, on every data set"].value.startswith("0 of 1"), "a tie is no gain"
    assert checks["CatRAG has the best all_gold@5, on every data set"].holds
    assert checks["no method has more all_gold@5 than recall@5"].value == "2 of 2"
    (said,) = [check.value for check in checks.values() if check.name.startswith("no method has more joint@5")]
    assert said == "0 of 1; joint@5 0.31 against all_gold@5 0.3 (CatRAG, musique)"
    assert any(name.startswith("CatRAG gains more") and check.holds for name, check in checks.items())
    assert len(checks) == 5 and checks_of("catrag", {}) == []


# -- which numbers are comparable -------------------------------------------------------------------------------------


def test_a_number_under_the_papers_conditions_has_a_verdict(ask):
    assert (the_cell(ask(right=554)).verdict, the_cell(ask(right=554, out="again")).why) == (REPRODUCED, ())
    assert the_cell(ask(right=700, out="far")).verdict == DIFFERS
    found = ask(right=211, measures=("all_gold@5",), out="chains")
    assert the_cell(found, "all_gold@5").verdict == REPRODUCED and the_cell(found, "all_gold@5").published == 0.211


def _set(part, **values):
    """An edit of what a run says: of the whole, of the method, or of one of its layers."""
    if part == "run":
        return lambda config, described: config.update(values)
    if part == "method":
        return lambda config, described: described.update(values)
    return lambda config, described: described["layers"].update({part: described["layers"][part] | values})


def _drop(part, name):
    def change(config, described):
        {"run": config, "method": described, "layers": described["layers"]}[part].pop(name)

    return change


DIFFERING = [
    (_set("method", encoder="minilm[max_tokens=256]"), "encoder: minilm[max_tokens=256], there text-embedding-3-small"),
    (_set("method", encoder=f"{ENCODER}[dimensions=256]"),
     f"encoder: {ENCODER}[dimensions=256], there its settings are not said (text-embedding-3-small)"),
    (_set("method", encoder="text-embedding-3-large"),
     "encoder: text-embedding-3-large, there text-embedding-3-small"),
    (_set("method", encoder=None), "encoder: the run does not say, there text-embedding-3-small"),
    (_drop("method", "encoder"), "encoder: the run does not say, there text-embedding-3-small"),
    (_drop("method", "engine"), "model: the run does not say, there gpt-4o-mini"),
    (_set("method", engine="rules"), "rules, not a model"),
    (_set("run", questions={"n": 500, "hash": ""}), "questions: 500, there 1,000"),
    (_set("run", questions={"n": 1_200, "hash": ""}), "unfinished: 1,000 of 1,200 questions asked"),
    (_set("run", data={"name": "musique-train-100", "fingerprint": ""}),
     "split and corpus: musique-train-100, there musique/dev/hipporag-1000"),
    (_set("passages", passages=6_761), "passages: 6,761, there 11,656"),
    (_drop("layers", "passages"), "passages: the run does not say, there 11,656"),
    (_set("run", k=3), "k: 3 passages ranked, there at least 5"),
    (_set("run", budget=500), "budget: 500 tokens of passages, there none"),
    (_set("method", settings={"floor": 0.5}), "floor=0.5: there it is not said"),
    (_drop("method", "prompts"), "prompts: the run does not say"),
]  # fmt: skip


def changed(run, change):
    """The same run with other words, in memory."""
    return unchanged.changed(run, lambda config, described, rows: change(config, described))


def test_each_condition_that_differs_is_named(ask):
    run = ask()
    for change, why in DIFFERING:
        cell = the_cell(changed(run, change))
        assert cell.verdict == NOT_COMPARABLE and why in cell.why, why


OF_THE_GRAPH = [
    (_set("method", engine="rules"), "rules, not a model"),
    (_set("method", engine="openai:gpt-4o"), "model: openai:gpt-4o, there gpt-4o-mini"),
    (_set("method", engine="openai:gpt-4o-mini-search-preview"),
     "model: openai:gpt-4o-mini-search-preview, there gpt-4o-mini"),
    (_set("extractions", made_by=["rules (named_entities v2, triples v2)"]),
     "extractions: made by rules, not by a model"),
    (_set("extractions", made_by=["openai:gpt-4o (named_entities v2, triples v2)"]),
     "extractions: made by openai:gpt-4o, there gpt-4o-mini"),
    (_set("extractions", made_by=["openie.jsonl (gpt-4o-mini)"]),
     "extractions: brought by the data (openie.jsonl (gpt-4o-mini)), which do not say their prompts"),
    (_set("extractions", made_by=["curated, by hand"]), "extractions: brought by the data (curated, by hand)"),
    (_set("method", engine="worked:meridian#7000ef98"), "replies written by hand, not a model"),
    (_set("extractions", made_by=None), "extractions: brought by the data, which do not say who wrote them"),
    (_set("extractions", failures=12), "extractions: 12 requests failed"),
    (_drop("layers", "extractions"), "extractions: the run does not say who wrote them"),
    (_set("extractions", made_by=[]), "extractions: the run does not say who wrote them"),
    (_set("facts", settings={"normalise": "unicode"}), "facts.normalise: unicode, there ascii"),
    (_set("synonyms", settings={"threshold": 0.7}), "synonyms.threshold: 0.7, there 0.8"),
]  # fmt: skip


@pytest.mark.parametrize("method", ["catrag", "hipporag2"])
def test_each_condition_of_the_graph_is_named(ask, method):
    run = ask(method)
    for change, why in OF_THE_GRAPH:
        cell = the_cell(changed(run, change))
        assert cell.verdict == NOT_COMPARABLE and why in cell.why, why


NOT_OURS = "prompts are ours ({}), there the source's"
OPEN = (
    "there it is not said: whether formulas or code like the released made the numbers; the weights of relations and "
    "contexts; what 2.0 x similarity is the weight of; how entities are linked"
)


def test_under_all_known_conditions_it_is_the_prompts_and_what_is_open_that_differ(ask):
    cell = the_cell(ask("catrag", right=649))
    assert (cell.ours, cell.published, cell.verdict) == (0.649, 0.649, NOT_COMPARABLE)
    assert cell.why == (
        "extractions: prompts are ours (named_entities v2, triples v2), there the source's",
        "entity_summaries: prompts are ours (summarise_entity v1), there the source's",
        "entity_summaries.tau=3: there it is not said",
        NOT_OURS.format("fact_filter, question_entities, rate_neighbours"),
        OPEN,
    )


def test_no_other_setting_goes_unnoticed(ask):
    run = ask("catrag")
    for key, value in asdict(CatRAG.Settings()).items():
        other = not value if isinstance(value, bool) else f"not {value}" if isinstance(value, str) else value + 1
        of_it = SETTINGS["catrag"] | {key: other}
        cell = the_cell(changed(run, _set("method", settings=of_it)))
        is_ablation = key in ("anchoring", "dynamic_weights", "key_facts")
        assert cell.verdict == NOT_COMPARABLE, key
        assert (f"{key}: {other}, there {value}" in cell.why) != is_ablation, key
        assert (cell.method != "CatRAG") == is_ablation, key


def test_the_released_profile_is_another_one(ask):
    released = wb.methods.METHODS["catrag"].profiles["released"]
    cell = the_cell(ask("catrag[profile=released]", settings={"profile": "released", **released}))
    named = {why.partition(":")[0] for why in cell.why}
    assert cell.verdict == NOT_COMPARABLE and {"profile", *released} <= named


@pytest.mark.parametrize(("off", "row"), [
    ("anchoring", "CatRAG, no anchors"), ("dynamic_weights", "CatRAG, no relation weighting"),
    ("key_facts", "CatRAG, no key facts"),
])  # fmt: skip
def test_a_mechanism_that_is_off_is_a_row_of_the_ablation(ask, off, row):
    found = compare(ask(f"catrag[{off}=false]", settings={off: False}), "catrag")
    assert {(cell.table, cell.method) for cell in found.cells} == {("ablation", row)}
    assert not any(off in why for why in found.cells[0].why)
    both = compare(ask("catrag", settings={off: False, "key_facts": False, "anchoring": False}, out="both"), "catrag")
    assert any("there True" in why for why in both.cells[0].why), "two that are off are no row"


def test_the_encoder_says_which_row_dense_is(ask):
    for encoder, row in (
        ("facebook/contriever", "Contriever"), ("sentence-transformers/gtr-t5-base", "GTR (T5-base)"),
        (ENCODER, "text-embedding-3-small"), ("facebook/contriever-msmarco", "text-embedding-3-small"),
    ):  # fmt: skip
        cell = the_cell(ask(change=_set("method", encoder=encoder), out=encoder.rpartition("/")[2]))
        assert cell.method == row
        others = [why for why in cell.why if not why.startswith("vectors: scaled to length 1")]
        assert bool(others) == (encoder == "facebook/contriever-msmarco")
    cut = the_cell(ask(change=_set("method", encoder="facebook/contriever[max_tokens=256]"), out="cut"))
    assert cut.method == "Contriever" and cut.why[0].endswith("there its settings are not said (contriever)")
    words = the_cell(ask("bm25", settings={"k1": 1.5, "b": 0.75}, change=_drop("method", "encoder"), out="words"))
    assert words.why == ("k1=1.5, b=0.75: there it is not said", "there it is not said: what a word is")


@pytest.mark.parametrize("module", [condition, claims], ids=lambda one: one.__name__)
def test_examples(module):
    result = doctest.testmod(module)
    assert result.attempted and not result.failed


# -- readers ----------------------------------------------------------------------------------------------------------


def _reading(**values):
    return lambda config, described: config.update({"reading": config["reading"] | values})


OF_THE_READER = [
    (_reading(engine="rules"), "reader's model: rules, there llama-3.3-70b-instruct"),
    (_reading(engine=MINI), f"reader's model: {MINI}, there llama-3.3-70b-instruct"),
    (_reading(engine="openai:llama-3.3-70b-versatile"),
     "reader's model: openai:llama-3.3-70b-versatile, there llama-3.3-70b-instruct"),
    (_set("run", reading=None), "reader's model: the run does not say, there llama-3.3-70b-instruct"),
    (_set("run", reader="cot"), "reader: cot, there direct"),
    (_set("run", reader="direct[k=10]"), "reader's k: 10, there 5"),
    (_set("run", reader="direct[k=none]"), "reader's k: None, there 5"),
    (_set("run", reader="direct[prompt=brief]"), "reader's prompt: brief, there thought"),
    (_set("run", reader="direct[compress=graph-walk[budget=4000]]"),
     "reader's compress: graph-walk[budget=4000], there none"),
    (_set("run", reader="direct[other=1]"), "reader's other: 1, there it is not said"),
    (_drop("run", "reading"), "prompts: the run does not say"),
    (lambda *_: None, NOT_OURS.format("answer")),
]  # fmt: skip


def test_answers_depend_on_the_reader_and_recall_does_not(ask):
    plain = ask(measures=("recall@5", "f1"))
    for change, why in OF_THE_READER:
        run = changed(plain, change)
        assert why in the_cell(run, "f1").why and the_cell(run, "f1").verdict == NOT_COMPARABLE, why
        assert the_cell(run, "recall@5").verdict == REPRODUCED, why


def test_answers_by_the_sources_prompt_would_be_comparable(ask, monkeypatch):
    """The wording is a condition, not a verdict on every answer."""
    run = ask(right=361, measures=("f1",))
    assert the_cell(run, "f1").why == (NOT_OURS.format("answer"),)
    monkeypatch.setitem(paper("catrag").terms["prompts"], "source", ["answer v2 0123456789ab"])
    assert the_cell(run, "f1").verdict == REPRODUCED
    monkeypatch.setitem(paper("catrag").terms["prompts"], "source", ["answer v2 ba9876543210"])
    assert the_cell(run, "f1").verdict == NOT_COMPARABLE


def test_hover_has_a_prompt_of_its_own_and_claims_that_are_not_named(ask):
    def hover(config, described):
        config |= {"data": {"name": "hover/dev/catrag-1000", "fingerprint": ""}, "reader": "direct[prompt=claim]"}
        described["layers"]["passages"]["passages"] = 9_440

    cell = the_cell(ask(change=hover, right=642, measures=("accuracy",)), "accuracy")
    assert (cell.data, cell.published, cell.ours) == ("hover", 0.642, 0.642)
    assert cell.why == (
        NOT_OURS.format("answer"),
        "accuracy: stricter than there for yes, no and abstentions",
        "there it is not said: which claims; those of the later code are taken",
    )


def test_joint_success_is_read_and_the_sources_own_test(ask):
    cell = the_cell(ask(right=138, measures=("joint@5",)), "joint@5")
    assert (cell.published, cell.why) == (0.138, (NOT_OURS.format("answer"),))


def test_a_measure_that_is_undefined_for_some_questions_is_another_mean(ask):
    run = ask()
    rows = (run.folder / "results.jsonl").read_text().replace('"recall@5": 0.0', '"recall@5": null', 7)
    (run.folder / "checksums.json").unlink(missing_ok=True)
    (run.folder / "results.jsonl").write_text(rows)
    assert the_cell(run.folder).why == ("recall@5: undefined for 7 of 1,000 questions",)


def test_questions_whose_requests_failed_are_named(ask):
    """A dense ranking because no fact helps is part of the method; one because of a failure is not. What the reader was
    asked does not matter to recall."""
    run = ask("catrag", measures=("recall@5", "f1"))
    lines = (run.folder / "results.jsonl").read_text().splitlines()
    for at, step in enumerate(("", "fact_filter", "fact_filter", "answer")):
        usage = {step: {"calls": 2, "failed": 1}} if step else {}
        lines[at] = json.dumps(json.loads(lines[at]) | {"fallback": "dense ranking", "usage": usage})
    (run.folder / "checksums.json").unlink(missing_ok=True)
    (run.folder / "results.jsonl").write_text("\n".join(lines) + "\n")
    why = "failed requests: {} questions have a request without a usable reply"
    assert why.format(2) in the_cell(run.folder).why and why.format(3) in the_cell(run.folder, "f1").why
    assert not any("fallback" in one for one in the_cell(run.folder).why)


def test_contexts_that_a_window_cut_are_named_for_answers_alone(ask):
    run = ask("dense", measures=("recall@5", "f1"))
    rows = (run.folder / "results.jsonl").read_text().replace('"abstained": false', '"cut_to": 500, "abstained": false')
    (run.folder / "checksums.json").unlink(missing_ok=True)
    (run.folder / "results.jsonl").write_text(rows)
    why = "contexts cut: 1,000 questions have a context cut to the engine's window"
    assert why in the_cell(run.folder, "f1").why and the_cell(run.folder).why == ()


def test_contrievers_inner_products_are_named(ask):
    cell = the_cell(ask("dense", change=lambda _, described: described.update(encoder="facebook/contriever")))
    assert cell.method == "Contriever" and any(why.startswith("vectors: scaled to length 1") for why in cell.why)


def test_an_invented_corpus_of_the_right_name_and_size_is_another(ask, monkeypatch):
    monkeypatch.undo()  # nothing is at hand
    name, why = "musique/dev/hipporag-1000", "which is not on this machine as its publisher gives it"
    parts = ("questions", "passages")
    assert the_cell(ask()).why == tuple(f"which {part}: not held against {name}, {why}" for part in parts)
    known = conditions_of_data.Known("of the published", "of the published")
    monkeypatch.setattr(conditions_of_data, "known_of", lambda *_: known)
    why = the_cell(ask(out="again")).why
    assert len(why) == 2 and all("there musique/dev/hipporag-1000 (of the published)" in one for one in why)


# -- runs -------------------------------------------------------------------------------------------------------------


def test_a_run_that_says_nothing_is_reproduced_nowhere(tmp_path):
    methods = {"dense": {}, "bm25": {}, "raptor": {}, "lightrag": {}, "hipporag2": {}, "catrag": {}}
    scores = {name: {"recall@5": [1] * 1_000, "f1": [1] * 1_000} for name in methods}
    found = compare(written(tmp_path / "run", methods, scores, questions=QUESTIONS, data=MUSIQUE), "catrag")
    assert {cell.verdict for cell in found.cells} == {NOT_COMPARABLE} and len({c.method for c in found.cells}) == 6
    for cell in found.cells:
        unsaid = {why.partition(":")[0] for why in cell.why if "the run does not say" in why}
        assert {"model", "passages", "prompts"} <= unsaid and ("encoder" in unsaid) == (cell.label != "bm25")
        assert ("reader's model" in unsaid) == (cell.measure == "f1")


def test_a_real_run_says_all_that_is_compared(tiny_index, tmp_path):
    questions = [Question(f"q{at}", f"Which lake {at}?", ("x",)) for at in range(2)]
    methods = [wb.method(name, tiny_index, wb.engine("rules")) for name in ("catrag", "dense", "bm25")]
    run = wb.evaluate(questions, methods, wb.reader("direct"), tmp_path / "run", measures=["f1"], progress=False)
    config = json.loads((run.folder / "run.json").read_text()) | {"data": MUSIQUE}
    (run.folder / "checksums.json").unlink(missing_ok=True)
    (run.folder / "run.json").write_text(json.dumps(config))
    cells = compare(run.folder, "catrag").cells
    assert {cell.verdict for cell in cells} == {NOT_COMPARABLE} and len(cells) == 3
    for cell in cells:
        assert not any("the run does not say" in why for why in cell.why)
        assert {"questions: 2, there 1,000", "passages: 8, there 11,656"} <= set(cell.why)
        assert "reader's model: rules, there llama-3.3-70b-instruct" in cell.why
        assert ("rules, not a model" in cell.why) == (cell.label == "catrag")


def test_differences_are_tested_against_hipporag2(ask, tmp_path):
    run = ask("hipporag2", right=610)
    rows = (run.folder / "results.jsonl").read_text().splitlines()
    for at, row in enumerate([json.loads(row) for row in rows]):
        row |= {"method": "catrag", "scores": {"recall@5": float(at < 660)}}
        rows.append(json.dumps(row))
    (run.folder / "checksums.json").unlink(missing_ok=True)
    (run.folder / "results.jsonl").write_text("\n".join(rows) + "\n")
    config = json.loads((run.folder / "run.json").read_text())
    config["methods"]["catrag"] = config["methods"]["hipporag2"] | {"label": "catrag"}
    (run.folder / "checksums.json").unlink(missing_ok=True)
    (run.folder / "run.json").write_text(json.dumps(config))
    p = {cell.method: cell.p for cell in compare(run.folder, "catrag").cells if cell.table == "recall"}
    assert p == {"HippoRAG 2": None, "CatRAG": pytest.approx(1e-4)}
    claims = {check.name: check.holds for check in compare(run.folder, "catrag").measured.checks}
    assert claims == {"CatRAG has the best recall@5, on every data set": True}


def test_what_no_run_measures_is_said(ask):
    found = tables("catrag", [ask("catrag")])
    hubs = [cell for cell in found.cells if cell.table == "hub bias"]
    assert {cell.verdict for cell in hubs} == {NOT_MEASURED} and len(hubs) == 4
    assert found.counts() == {REPRODUCED: 0, DIFFERS: 0, NOT_COMPARABLE: 2, NOT_MEASURED: 134}


def test_the_command_line_prints_them(ask):
    said = CliRunner().invoke(app, ["tables", "--paper", "catrag", "--run", str(ask("catrag").folder)])
    assert said.exit_code == 0 and "0.6490 | 0.5540" in said.output, said.output
    assert "prompts are ours (fact_filter, question_entities, rate_neighbours)" in said.output
    assert OPEN.rpartition("; ")[2] in said.output.replace("\n", " "), "no reason is cut off"
    assert "stated 8.1, by the table 9.5 points" in said.output
    plain = CliRunner().invoke(app, ["tables", "--paper", "catrag"])
    assert plain.exit_code == 0 and "136 not measured" in plain.output and "Hub bias" in plain.output
    assert paper("catrag").terms["not_given"][-1] in plain.output.replace("\n", " ")
