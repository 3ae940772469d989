"""How CatRAG steered a walk, read from its trace; the walk stage by stage; other settings over the same graph."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from steered import ASKED, QUESTION, SPEC, Rater, hub_index

import workbench as wb
from workbench.errors import DataError, SettingError
from workbench.methods.catrag.steering import ALONE, STATIC, UNEDITED, staged, steering
from workbench.trace import Trace


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    built = hub_index(tmp_path_factory.mktemp("hub"))
    wb.method("catrag", built)  # adds the entity summaries
    return wb.Index.open(built.folder, encoder=built.encoder)


@pytest.fixture
def evidence(index):
    return wb.method(SPEC, index, Rater(), k_edge=4).retrieve(QUESTION)


# -- the trace --------------------------------------------------------------------------------------------------------


def test_it_tells_what_the_method_found(index, evidence):
    told = steering(evidence, ASKED.support)
    assert (told.question, told.method, told.gold) == (QUESTION, evidence.method, ASKED.support)
    assert told.ranking == tuple(evidence.ranking) and told.fallback is None
    assert [(seed.phrase, seed.weight) for seed in told.seeds] == [(one.name, w) for one, w in evidence.entities]
    assert told.entities == ("Tarn",) and [seed.phrase for seed in told.anchors] in (["tarn"], [])
    assert len(told.facts) == len(evidence.facts) and {name for name, _ in told.dense} <= set(index.passages.row)
    kestrel = told.seed("kestrel")
    assert kestrel.count == 9 and len(kestrel.neighbours) == 9
    scores = {one.name: (one.score, one.tier) for one in kestrel.neighbours}
    assert scores["ilse"] == (10, "Direct") and list(scores.values()).count((None, "skip")) == 5
    assert kestrel.best[0].name == "ilse" and kestrel.best[-1].score is None
    edges = {(edge.source, edge.target): edge for edge in told.edges}
    assert edges["kestrel", "ilse"].factor == 5 and edges["kestrel", "ilse"].kind == "relation"
    assert edges["ilse", "founder 0"].kind == "context"


def test_a_saved_trace_of_ids_tells_the_same(index, tmp_path):
    trace = wb.method(SPEC, index, Rater()).retrieve(QUESTION, trace="ids").trace
    assert steering(Trace.open(trace.save(tmp_path / "trace.jsonl"))) == steering(trace)


def test_what_it_reads_and_cannot_read(index, evidence):
    below = wb.method("bdtr[backbone=catrag,iterations=1]", index).retrieve(QUESTION).trace
    assert steering(below).method == "catrag"
    events = [
        replace(event, outputs={**event.outputs, "edges": [["only", "two"]]}) if event.step == "edit edges" else event
        for event in evidence.trace
    ]
    with pytest.raises(DataError, match="is not as catrag writes it"):
        steering(Trace(events=events))
    with pytest.raises(SettingError, match=r"'tarn!' were not rated; those of these seeds were: 'show 0', '"):
        steering(evidence).seed("tarn!")
    missing = steering(wb.method(SPEC, index, Rater({"ilse": None})).retrieve(QUESTION))
    (ilse,) = [one for one in missing.seed("kestrel").neighbours if one.name == "ilse"]
    assert ilse.missing and (ilse.score, ilse.tier) == (4, "Weak")


def test_a_question_that_kept_no_fact_has_no_walk(index):
    method = wb.method("catrag", index, Rater(facts=0))
    dense = method.retrieve(QUESTION, k=20)
    told, walk = steering(dense), staged(method, QUESTION, ASKED.support)
    assert "kept no fact" in told.fallback and told.linked and told.ranking
    assert (told.facts, told.seeds, told.edges) == ((), (), ())
    assert "kept no fact" in walk.fallback and walk.ranking(3) == tuple(dense.ranking)


# -- stages -----------------------------------------------------------------------------------------------------------


def test_the_first_stage_is_hipporag2_and_the_last_the_method(index):
    method = wb.method(SPEC, index, Rater())
    walk = staged(method, QUESTION, ASKED.support)
    assert walk.stages == (STATIC, "+ key facts", "+ anchors", "+ rated edges")
    static = wb.method(f"hipporag2{SPEC.removeprefix('catrag')}", index, Rater()).retrieve(QUESTION, k=20)
    assert walk.ranking(0) == tuple(static.ranking)
    assert walk.ranking(3) == tuple(method.retrieve(QUESTION, k=20).ranking)
    edits = [len(part.steering.edges) for part in walk.parts]
    assert edits[0] == 0 < edits[1] == edits[2] < edits[3]
    seeds = [len(part.walk.seeds) for part in walk.parts]
    assert seeds[0] == seeds[1] <= seeds[2] == seeds[3]
    for part in walk.parts:
        assert part.walk.pagerank.p.sum() == pytest.approx(1)


def test_ranks_and_flow_are_those_of_the_distributions(index):
    walk = staged(wb.method(SPEC, index, Rater()), QUESTION, ASKED.support)
    ranks = walk.ranks()
    assert list(ranks) == list(ASKED.support)
    assert ranks["born"][3] == [name for name, _ in walk.ranking(3)].index("born") + 1
    moved = walk.flow(3, 0)
    change = walk.parts[3].walk.on_phrases - walk.parts[0].walk.on_phrases
    assert sum(one.change for one in moved) == pytest.approx(change.sum())
    assert moved[0].change == pytest.approx(change.max()) and moved[-1].change == pytest.approx(change.min())
    assert {one.phrase for one in moved if one.hub} == {"kestrel"}, "one of eleven phrases is a super hub"
    frame = walk.frame()
    assert list(frame.index) == list(walk.stages)
    assert frame["on hubs"].tolist() == [part.walk.hubs.share_all for part in walk.parts]
    shown = walk.shown(phrases=5, passages=3)
    assert len(shown) == len(set(shown)) <= 8 and {row for row, _ in walk.parts[3].walk.seeds[:3]} <= set(shown)


def test_each_mechanism_alone_and_what_the_settings_switch_off(index):
    alone = staged(wb.method(SPEC, index, Rater(entities=("Show 3",))), QUESTION, stages=ALONE)
    kinds = [{edge.kind for edge in part.steering.edges} for part in alone.parts]
    assert kinds == [set(), {"context"}, set(), {"relation"}, {"context", "relation"}]
    assert [bool(part.steering.anchors) for part in alone.parts] == [False, False, True, False, True]
    found = wb.method(SPEC, index, Rater(entities=("Show 3",)), linking_top_k=1).retrieve(QUESTION)
    (anchor,) = steering(found).anchors
    assert (anchor.phrase, anchor.entity, anchor.weight) == ("show 3", "Show 3", pytest.approx(0.2))
    assert anchor.cosine == pytest.approx(1)
    off = staged(wb.method(SPEC, index, Rater(), key_facts=False), QUESTION)
    assert not off.parts[1].steering.edges
    released = staged(wb.method(SPEC, index, Rater(), profile="released"), QUESTION)
    assert released.stages[0] == UNEDITED, "its graph is another one than HippoRAG 2's"


# -- other settings ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [{"beta": 7.0}, {"damping": 0.8, "epsilon": 0}, {"k_edge": 2, "n_seed": 1},
     {"specificity": False, "merge": "sum"}, {"synonym_weight": 2.0, "profile": "released"}],
    ids=str,
)  # fmt: skip
def test_adjusted_is_the_method_with_these_settings(index, settings):
    method = wb.method(SPEC, index, Rater())
    before = method.retrieve(QUESTION, k=20).ranking
    adjusted, fresh = method.adjusted(**settings), wb.method(SPEC, index, Rater(), **settings)
    assert (adjusted.label, adjusted.settings) == (fresh.label, fresh.settings)
    walks = [one.walk_distribution(QUESTION).pagerank.p for one in (adjusted, fresh)]
    assert np.array_equal(*walks)
    assert method.retrieve(QUESTION, k=20).ranking == before and method.label == SPEC
    further = wb.method(SPEC, index, Rater(), **settings, k_edge=1) if "k_edge" not in settings else fresh
    assert adjusted.adjusted(k_edge=further.settings.k_edge).settings == further.settings
