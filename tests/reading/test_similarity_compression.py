"""Compression by similarity: what is like the question and unlike what is chosen, under the budget, in its order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny import TinyEncoder
from walk_graphs import QUESTION, graphs, path, questions

from workbench import layouts, tokens
from workbench.errors import DataError, SettingError
from workbench.reading.compression import GraphWalk, Similarity, compressor
from workbench.reading.compression.similarity import marginal
from workbench.records import ContextEntity, ContextGraph, Unit


def test_marginal_relevance_by_hand():
    alike = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    relevance = np.array([1.0, 0.8, 0.5])
    assert marginal(relevance, alike, 0.0) == [0, 1, 2]
    assert marginal(relevance, alike, 0.5) == [0, 2, 1]  # 0.25 against 0.4 - 0.45
    assert marginal(np.ones(3), np.zeros((3, 3)), 0.3) == [0, 1, 2]  # equals in their order
    assert marginal(np.zeros(0), np.zeros((0, 0)), 0.3) == []


def chunks(*texts):
    return ContextGraph(chunks=tuple(Unit(f"chunk_{at}", text) for at, text in enumerate(texts, 1)))


def test_what_is_like_the_question_is_kept_in_the_order_of_the_context():
    dull = [f"Village {at} has a church, a mill and a school." for at in range(20)]
    context = chunks(*dull, "The station was founded by Ida Holm.", "Nora Whitlock directs the station.")
    result = Similarity(budget=80, order=0).compress(QUESTION, context)
    assert "[chunk_21] The station was founded by Ida Holm.\n\n  [chunk_22] Nora Whitlock directs" in result.text
    assert result.seeds == () and result.hops == () and result.fallback is None


def test_diversity_passes_over_what_says_nearly_the_same():
    context = chunks(
        "Nora Whitlock directs the station today.",
        "Nora Whitlock directs the station now.",
        "Nora Whitlock directs the station still.",
        "Ida Holm founded one station.",
    )
    wide = Similarity(budget=60, order=0, diversity=0.6).compress(QUESTION, context)
    assert "Ida Holm" in wide.text
    narrow = Similarity(budget=60, order=0, diversity=0).compress(QUESTION, context)
    assert "Ida Holm" not in narrow.text


def test_lines_stand_by_their_names():
    text = Similarity(lines=0.5).compress(QUESTION, path()).text
    head, _, texts = text.partition("=== Texts ===")
    assert "  KESTREL RADIO: A station.\n    -> IDA HOLM: Holm founded it in 1931." in head
    assert "  IDA HOLM\n    -> ORSBY: Holm died in Orsby." in head
    assert "[chunk_1]" in texts and "[source 7]" in texts


def test_tables_without_texts_have_the_whole_budget():
    graph = path()
    for one in (Similarity(budget=150), GraphWalk(budget=150)):
        assert len(one.compress(QUESTION, ContextGraph(graph.entities, graph.relations)).graph.relations) == 3


def test_an_encoder_says_what_is_alike():
    class Marked(TinyEncoder):
        def encode(self, texts):
            return np.array([[1.0, 0.0] if "MARK" in text or "founded" in text else [0.0, 1.0] for text in texts])

    dull = [f"Village {at} has a church, a mill and a school." for at in range(30)]
    context = chunks(*dull, "MARK stands alone with a church, a mill and a school.")
    by_words = Similarity(budget=120, order=0, diversity=0).compress(QUESTION, context)
    by_meaning = Similarity(budget=120, order=0, diversity=0, encoder=Marked()).compress(QUESTION, context)
    assert "MARK" in by_meaning.text and "MARK" not in by_words.text


@given(questions, graphs, st.integers(1, 300), st.sampled_from([0.0, 0.3, 1.0]))
def test_budget_holds_and_nothing_is_invented(question, graph, budget, diversity):
    one = Similarity(budget=budget, diversity=diversity)
    result = one.compress(question, graph)
    assert result.tokens == tokens.count(result.text) <= budget
    for table in ("entities", "relations", "sources", "chunks"):
        known = {id(row) for row in getattr(graph, table)}
        assert all(id(row) in known for row in getattr(result.graph, table))
    assert result == one.compress(question, graph)


def test_texts_are_read_by_their_layout():
    for layout in layouts.LAYOUTS.values():
        assert "Ida Holm hiked" in Similarity().compress(QUESTION, layout.write(path())).text
    with pytest.raises(DataError, match="no layout"):
        Similarity().compress(QUESTION, "free text")
    assert Similarity().compress(QUESTION, "").text == ""
    nothing = ContextGraph((ContextEntity("A"),), chunks=(Unit("1", "the of"),))  # words that say nothing
    assert Similarity().compress("", nothing).graph.chunks


def test_label_and_settings():
    assert compressor("similarity[budget=2000,diversity=0.5]").label == "similarity[budget=2000,diversity=0.5]"
    assert Similarity(encoder=TinyEncoder()).label == "similarity[encoder=tiny]"
    for spec, said in (("similarity[diversity=2]", "diversity=2"), ("similarity[budget=x]", "budget='x'"),
                       ("similarity[order=-1]", "order=-1"), ("similarity[rank_constant=0]", "rank_constant=0"),
                       ("similarity[profile=thesis]", "no setting 'profile'")):  # fmt: skip
        with pytest.raises(SettingError, match=said):
            compressor(spec)
