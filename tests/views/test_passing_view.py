"""The picture of passing messages and its widget, without a browser; hostile names; traces without an index."""

from __future__ import annotations

import pytest
from test_views import HOSTILE, Checked

import workbench as wb
from workbench.errors import SettingError
from workbench.methods.gfm_rag.passing import (
    LinkedEntities,
    PassedLayer,
    Passing,
    RankedDocuments,
    RankedEntities,
    passing,
)
from workbench.records import Path, Question, Scored
from workbench.testing import small_index
from workbench.views import html, text
from workbench.views.passing import (
    DARK,
    DOCUMENT,
    GOLD,
    LIT,
    START,
    documents_part,
    paths_part,
    stages,
)
from workbench.views.render import html_of, text_of

SPEC = "gfm_rag[checkpoint=untrained]"
QUESTION = "Who designed the bridge over the river at Vennick?"
ASKED = (Question("q1", QUESTION, support=("aldermark",)), Question("q2", "Where was Pia Normelle born?"))


def planted(name: str = "a") -> Passing:
    """a → b → c over two layers; document d1 gets all of c, d2 half of a and half of b."""
    return Passing(
        f"Q {name}?", f"gfm_rag {name}",
        LinkedEntities(named=(name,), linked=((name, name, 1.0),), starts=((name, 0.5),)),
        (
            PassedLayer(layer=0, reached=1, entities=((name, 1.0),)),
            PassedLayer(layer=1, reached=2, messages=((name, f"inverse_{name}", "b", 0.5),),
                        entities=((name, 1.0), ("b", 0.5))),
            PassedLayer(layer=2, reached=40, messages=(("b", name, "c", 0.9),),
                        entities=(("c", 2.0), ("b", 1.0), (name, 0.5))),
        ),
        RankedEntities(checkpoint=name, of=40, entities=(("c", 3.0), (name, 1.0))),
        RankedDocuments(ranker="idf_topk", ties=2, tie_rule=name,
                        given=(("d1", "c", 1.0), ("d2", name, 0.5), ("d2", "b", 0.5)),
                        documents=(("d1", 1.0), ("d2", 0.0))),
        (("d1", 1.0), ("d2", 0.0), (f"d3 {name}", -0.5)),
        gold=("d2",),
    )  # fmt: skip


def test_columns_go_from_the_question_outward_and_stay():
    shown = planted()
    assert [stage.name for stage in stages(shown)] == ["start", "layer 1", "layer 2", "documents"]
    pictures = [stage.drawing for stage in stages(shown)]
    x = {node.name: node.x for node in pictures[0].nodes}
    assert x["a"] < x["b"] < x["c"]
    for picture in pictures:
        assert {node.name: (node.x, node.y) for node in picture.nodes[:3]} == {
            node.name: (node.x, node.y) for node in pictures[0].nodes
        }
    styles = [{node.name: node.style for node in picture.nodes} for picture in pictures]
    assert styles[0] == {"a": START, "b": DARK, "c": DARK}
    assert styles[1] == {"a": START, "b": LIT, "c": DARK}
    assert styles[3] == {"a": START, "b": LIT, "c": LIT, "d1": DOCUMENT, "d2": GOLD, "d3 a": DOCUMENT}
    assert [len(picture.edges) for picture in pictures] == [0, 1, 2, 2 + 3]
    assert pictures[2].left_out == 37 and "← a" in pictures[1].edges[0].label


def test_documents_say_what_each_entity_gave_them():
    said = text_of(documents_part(planted()))
    assert "c 100%" in said and "a 50%, b 50%" in said and "gold" in said
    assert "2 scores are equal" in said and "no ranked entity: by the cosine" in said
    assert "no document" in text_of(documents_part(Passing("q", "m", LinkedEntities())))


def test_a_passing_without_messages_is_shown_too():
    shown = Passing("q", "gfm_rag", LinkedEntities(), fallback="dense ranking, because nothing is linked")
    assert "because nothing is linked" in text(shown) and "because nothing is linked" in html(shown)
    assert [(stage.name, stage.drawing) for stage in stages(shown)] == [("documents", None)]


def test_paths_are_listed_with_their_direction():
    said = text_of(paths_part(planted(), "c", [Scored(Path(("a", "b"), ("inverse_owns",), ("p1",)), 0.25)]))
    assert "a ← owns b" in said and "p1" in said and "0.25" in said
    assert "no path of a start leads to c" in text_of(paths_part(planted(), "c", []))


@pytest.mark.parametrize("attack", HOSTILE)
def test_hostile_names_are_text(attack):
    shown = planted(attack)
    Checked(html(shown))
    Checked(html_of(paths_part(planted(attack), attack, [Scored(Path((attack, "b"), (attack,), (attack,)), 0.5)])))
    text(shown)


def test_the_widget_asks_steps_and_lists_paths():
    shown = wb.messages(small_index(), ASKED, method=SPEC)
    assert shown.shown.question == QUESTION and shown.shown.gold == ("aldermark",)
    assert shown.at == 4 and "documents" in repr(shown.drawing)
    assert shown.stage("layer 1") is shown.drawing and shown.at == 1
    shown._stage.value = 2  # as a user moves the slider
    assert shown.at == 2 and "layer 2" in shown.drawing.name
    paths = shown.entity("aldermark")
    assert paths and "paths to Aldermark" in text_of(shown._below())
    shown._clicked([node.name for node in shown.drawing.nodes].index("lucan morravel"))
    assert shown.chosen == "lucan morravel"
    assert shown.ask("q2").question == ASKED[1].question and shown.chosen == ""
    shown.ask("Which river flows through Vennick?")
    with pytest.raises(SettingError, match="no stage 'layer 9'"):
        shown.stage("layer 9")
    with pytest.raises(SettingError, match="no entity 'nobody'"):
        shown.entity("nobody")
    page = shown.static_html()
    assert page.count("<iframe") == 1 and page.count("data-graph=") == len(shown.stages)


def test_a_trace_needs_no_index_until_paths_are_asked_for(tmp_path):
    evidence = wb.method(SPEC, small_index()).retrieve(QUESTION)
    alone = wb.messages(evidence)
    assert alone.shown == passing(evidence)
    with pytest.raises(SettingError, match="paths need the index"):
        alone.entity("aldermark")
    assert wb.messages(evidence, index=small_index()).entity("aldermark")


def test_entities_are_spelled_as_in_the_passages():
    """A picture said "3 2 million crowns"."""
    spelled = {"the tollkeeper s winter": "The Tollkeeper's Winter", "812 000 inhabitants": "812,000 inhabitants"}
    shown = wb.messages(small_index(), ASKED, method=SPEC)
    assert {name: shown.shown.called(name) for name in spelled} == spelled
    assert set(spelled.values()) <= {node.label for node in shown.drawing.nodes}
    assert passing(wb.method(SPEC, small_index()).retrieve(QUESTION)).spelled == {}
