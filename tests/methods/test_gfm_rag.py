"""The method GFM-RAG over a small index: links, weights, fallbacks, what the trace says, what it refuses."""

import numpy as np
import pytest

from workbench.errors import DataError, SettingError
from workbench.index.relations import SYNONYM, relation_name
from workbench.llm.engine import RulesEngine
from workbench.llm.step import Result
from workbench.methods import method
from workbench.methods.gfm_rag import TIE_RULE, hub
from workbench.methods.gfm_rag.network import edges_of, triples_of
from workbench.methods.gfm_rag.passing import passing
from workbench.testing import small_index, tiny_index

QUESTION = "Who designed the bridge over the river at Vennick?"
SPEC = "gfm_rag[checkpoint=untrained]"


class Failing(RulesEngine):
    def run(self, step, inputs, *, trace=None):
        return [Result(None, failure="the model said nothing") for _ in inputs]


@pytest.fixture(scope="module")
def gfm():
    return method(SPEC, small_index())


def test_one_relation_stands_for_an_ordered_pair_and_synonyms_win():
    index = small_index()
    heads, relations, tails = triples_of(index)
    last = {(head, tail): relation for head, relation, tail in zip(heads.tolist(), relations.tolist(), tails.tolist())}
    assert index.relations.names == sorted({relation for _, relation, _ in index.facts.facts} | {SYNONYM})
    edges, kinds = edges_of(index), len(index.relations.names)
    parts = zip(*(part.tolist() for part in (edges.source, edges.relation, edges.target)))
    forward = {(head, tail): relation for head, relation, tail in parts if relation < kinds}
    assert forward == last and len(edges) == 2 * len(last)
    assert len(edges_of(index, "all")) == 2 * len(heads) > len(edges)


def test_a_start_weighs_one_over_its_documents(gfm):
    starts, failed = gfm.link(QUESTION)
    row = gfm.index.facts.phrase_row["vennick"]
    assert starts == [(row, 1 / gfm.index.graph.passages_of[row])] and not failed
    assert method(f"{SPEC[:-1]},start_weight=one]", gfm.index).link(QUESTION)[0] == [(row, 1.0)]


def test_what_stands_in_where_no_entity_is_named_or_linked(gfm):
    linked = passing(gfm.retrieve("what is the tallest of all bridges?")).linked
    assert linked.named == () and [name for name, *_ in linked.linked] == ["what is the tallest of all bridges?"]
    evidence = gfm.retrieve("?!… ---", k=3)
    assert evidence.scale == "minmax-cosine" and "no entity of the graph is linked" in evidence.fallback
    assert passing(evidence).layers == ()
    evidence = method(SPEC, gfm.index, Failing()).retrieve(QUESTION)
    assert evidence.fallback == "naming the entities of the question failed: the model said nothing"
    assert evidence.passages and evidence.scale == "gfm"


def test_documents_without_a_ranked_entity_come_last_by_cosine(gfm):
    everything = gfm.retrieve(QUESTION, k=1000)
    assert len(everything.passages) == len(gfm.index.passages.passages)
    ranked = {name for name, _ in method(f"{SPEC[:-1]},fill=false]", gfm.index).retrieve(QUESTION, k=1000).ranking}
    head, tail = everything.ranking[: len(ranked)], everything.ranking[len(ranked) :]
    assert {name for name, _ in head} == ranked and tail
    assert all(score >= 0 for _, score in head) and all(score <= 0 for _, score in tail)


def test_the_trace_says_what_each_document_got_and_how_ties_are_ordered(gfm):
    shown = passing(gfm.retrieve(QUESTION, k=5), gold=["aldermark"])
    for name, _ in shown.ranking:
        assert sum(share for _, share in shown.given(name)) == pytest.approx(1)
    assert shown.documents.tie_rule == TIE_RULE and shown.documents.ties > 0
    assert shown.gold == ("aldermark",) and shown.entities.of == len(gfm.index.facts.phrases)
    assert len(shown.layers) == 4 and shown.layers[0].entities[0][0] == "vennick"
    reached = [layer.reached for layer in shown.layers]
    assert reached == sorted(reached) and reached[0] == 1
    assert shown.first_lit()["vennick"] == 0


def test_every_message_of_the_trace_is_an_edge_of_the_graph(gfm):
    index, edges = gfm.index, gfm.reach.edges
    phrases, names = index.facts.phrases, index.relations.names
    known = {
        (phrases[source], relation_name(names, relation), phrases[target])
        for source, relation, target in zip(*(part.tolist() for part in (edges.source, edges.relation, edges.target)))
    }
    for before, layer in zip(shown := passing(gfm.retrieve(QUESTION)).layers, shown[1:]):
        assert layer.messages and {message[:3] for message in layer.messages} <= known
        assert before.layer + 1 == layer.layer


def test_questions_together_have_the_logits_that_they_have_alone(gfm):
    questions = [QUESTION, "Where was Nora Whitlock born?", "Which lake does the River Tavrin flow into?"]
    starts = [gfm.link(question)[0] for question in questions]
    together = gfm.logits(questions, starts)
    for row, (question, start) in enumerate(zip(questions, starts)):
        np.testing.assert_allclose(together[row], gfm.logits([question], [start])[0], rtol=1e-4, atol=1e-5)


def test_a_checkpoint_of_another_encoder_is_refused():
    with pytest.raises(SettingError, match=r"encoder 'minilm' of 384.*'hash' of 256.*workbench train gfm"):
        method("gfm_rag", tiny_index())


def test_a_checkpoint_of_the_hub_is_taken_at_its_commit(tmp_path, monkeypatch):
    asked = []

    def download(repository, name, revision):
        asked.append((repository, name, revision))
        return str(tmp_path / name)

    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    assert hub.locate(f"rmanluo/GFM-RAG-8M@{'a' * 40}") == tmp_path
    assert asked == [("rmanluo/GFM-RAG-8M", name, "a" * 40) for name in ("config.json", "model.pth")]

    def unreachable(*_, **__):
        raise OSError("no route")

    monkeypatch.setattr("huggingface_hub.hf_hub_download", unreachable)
    for name, said in (("nowhere", "is not a folder"), ("rmanluo/GFM-RAG-8M@main", "names no commit")):
        with pytest.raises(SettingError, match=said):
            hub.locate(name)
    with pytest.raises(DataError, match=r"cannot be fetched \(no route\).*hf download"):
        hub.locate(f"rmanluo/GFM-RAG-8M@{'a' * 40}")


def test_the_hubs_cache_is_looked_into(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    place = tmp_path / "models--rmanluo--GFM-RAG-8M" / "snapshots" / ("b" * 40)
    place.mkdir(parents=True)
    (place / "config.json").write_text("{}")
    assert hub.cached() == [], "half of it"
    (place / "model.pth").write_bytes(b"")
    assert hub.cached() == ["b" * 40]
