"""The explorer without a browser: functions move the controls, controls move the picture, errors move nothing."""

from __future__ import annotations

import pytest
from small import index_of
from tiny import TinyEncoder, tiny_dataset

import workbench as wb
from workbench.errors import IndexFault, SettingError
from workbench.index import Index
from workbench.views.drawing import drawing_data
from workbench.views.node_details import graph_drawing


@pytest.fixture
def explorer(tiny_index):
    return wb.explore(tiny_index, "orsby")


@pytest.fixture
def star(tmp_path):
    """One phrase with 250 neighbours, all stated in one passage, whose id is the phrase."""
    return index_of(tmp_path / "star", {"hub": [("hub", "has", f"spoke{at} tip{at}") for at in range(250)]})


def state(explorer) -> tuple:
    controls = {name: control.value for name, control in explorer._settings.items()}
    kinds = {kind: box.value for kind, box in explorer._edges.items()}
    picture = explorer._picture.children[0]
    return (
        explorer.subgraph,
        explorer.details,
        controls,
        kinds,
        explorer._search.value,
        picture,
        explorer._summary.html,
    )


def test_it_starts_at_the_strongest_hub(tiny_index):
    explorer = wb.explore(tiny_index)
    assert explorer.subgraph == wb.neighbourhood(tiny_index, "orsby", similarity=0.8)
    assert explorer.details == wb.node_details(tiny_index, "orsby")
    assert repr(explorer) == f"Explorer of 'tiny': {explorer.subgraph!r}; facts: by hand"


def test_look_moves_the_controls_and_leaves_the_others(explorer, tiny_index):
    found = explorer.look("p3", hops=2, kinds=["context"], limit=7)
    assert found == explorer.subgraph
    assert found == wb.neighbourhood(tiny_index, "p3", hops=2, kinds=["context"], limit=7, similarity=0.8)
    _, details, controls, kinds, typed, *_ = state(explorer)
    assert controls == {"hops": 2, "limit": 7, "facts": 1, "similarity": 0.8}
    assert kinds == {"relation": False, "synonym": False, "context": True}
    assert (typed, details) == ("p3", wb.node_details(tiny_index, "p3"))
    assert explorer.look(facts=2) == explorer.subgraph
    assert explorer.subgraph.nodes[0].name == "p3" and explorer._settings["hops"].value == 2


def test_controls_move_the_picture(explorer, tiny_index):
    page = explorer._picture.frame.page
    assert explorer._picture.frame.drawn == {}
    explorer._settings["hops"].value = 2
    assert explorer.subgraph == wb.neighbourhood(tiny_index, "orsby", hops=2, similarity=0.8)
    assert explorer._picture.frame.page == page  # loaded once, then sent what to show
    assert explorer._picture.frame.drawn == drawing_data(graph_drawing(explorer.subgraph))
    explorer._edges["context"].value = False
    explorer._settings["facts"].value = 2
    explorer._settings["similarity"].value = 0.9
    explorer._settings["limit"].value = 20
    expected = wb.neighbourhood(
        tiny_index, "orsby", hops=2, kinds=["relation", "synonym"], facts=2, similarity=0.9, limit=20
    )
    assert explorer.subgraph == expected
    assert f"{len(expected)} nodes" in explorer._summary.html


def test_typing_proposes_until_it_is_a_name(explorer):
    explorer._search.value = "lake"
    assert explorer._search.options == ("lake mira", "Lake Mira (p3)")
    assert explorer.subgraph.nodes[0].name == "orsby"
    explorer._search.value = "Lake Mira (p3)"
    assert explorer.details == wb.node_details(explorer.index, "p3")
    explorer._search.value = "lake mira"
    assert explorer.subgraph.nodes[0].name == explorer.details.name == "lake mira"
    for nothing in ("", "no such name", "<script>", "\x00\ud800"):
        explorer._search.value = nothing
        assert explorer._search.options == ()
        assert explorer.subgraph.nodes[0].name == "lake mira"


@pytest.mark.parametrize(
    "wrong",
    [{"start": "nowhere"}, {"start": 99}, {"hops": -1}, {"hops": 1.5}, {"limit": 0}, {"limit": 2.5}, {"facts": 1.5},
     {"kinds": ["friend"]}, {"similarity": "high"}, {"similarity": float("nan")},
     {"start": "lake mira", "hops": 3, "limit": -1}],
    ids=str,
)  # fmt: skip
def test_an_error_leaves_everything_as_it_was(explorer, wrong):
    before = state(explorer)
    with pytest.raises(SettingError):
        explorer.look(**wrong)
    assert state(explorer) == before
    assert explorer.look() == before[0]


def test_a_click_shows_details_and_one_may_go_on_from_it(explorer, tiny_index):
    subgraph = explorer.subgraph
    explorer._picture.frame.picked = 12
    assert explorer.details == wb.node_details(tiny_index, "p3")
    assert explorer.subgraph is subgraph
    assert "Quell Town Hall overlooks it" in explorer._details.html
    explorer._walk.click()
    assert explorer.subgraph.nodes[0].name == "p3"
    explorer._picture.frame.picked = 12  # the same node may be clicked in the next picture
    with pytest.raises(SettingError):
        explorer.pick("nowhere")
    assert explorer.details.name == "p3"


def test_one_goes_on_from_a_passage_that_has_a_phrases_name(star):
    explorer = wb.explore(star, "hub", limit=20)
    passage = star.graph.phrases
    explorer.pick(passage)
    explorer._walk.click()
    assert explorer.subgraph.nodes[0].row == passage


def test_a_large_picture_is_one_of_the_same_frame(star):
    explorer = wb.explore(star, "hub")
    small = explorer._picture.children
    assert small == (explorer._picture.frame,)
    explorer.look(limit=500)
    drawn = explorer._picture.frame.drawn
    assert explorer._picture.children == small and len(explorer.subgraph) == 252
    labels = [node["label"] for node in drawn["nodes"]]
    assert labels[0] == "hub" and labels[-1] == "+ 246 has" and len(labels) == 6, "but for four that are synonyms"
    row = star.facts.phrase_row["spoke7 tip7"]
    explorer._picture.frame.picked = row
    assert explorer.details.name == "spoke7 tip7" and explorer._picture.frame.selected == row


def test_values_beyond_a_control_widen_it(explorer):
    explorer.look(hops=7, limit=33, facts=12, similarity=0.5)
    assert explorer._settings["hops"].max == 7
    assert 33 in explorer._settings["limit"].options
    assert explorer._settings["facts"].max == 12
    assert explorer._settings["similarity"].min == 0.5
    assert {name: control.value for name, control in explorer._settings.items()} == {
        "hops": 7, "limit": 33, "facts": 12, "similarity": 0.5,
    }  # fmt: skip


def test_an_index_without_facts_shows_its_first_passage(tmp_path):
    explorer = wb.explore(index_of(tmp_path, {"a": []}))
    assert [node.name for node in explorer.subgraph.nodes] == ["a"]
    assert explorer.details.kind == "passage"
    explorer._settings["hops"].value = 3
    assert len(explorer.subgraph) == 1
    explorer._search.value = "b"
    assert explorer._search.options == ()


def test_settings_are_those_of_a_neighbourhood(tiny_index):
    assert wb.explore(tiny_index, "p2", hops=0).subgraph == wb.neighbourhood(tiny_index, "p2", hops=0)
    with pytest.raises(TypeError, match="depth"):
        wb.explore(tiny_index, "p2", depth=2)


def test_a_notebook_gets_a_widget_and_a_page_without_a_kernel_gets_html(explorer):
    bundle = explorer._repr_mimebundle_()
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == explorer.widget.model_id
    assert "<iframe" in bundle["text/html"] and "Orsby" in bundle["text/html"]


def test_it_says_who_made_the_facts(explorer):
    assert explorer.index.facts_by and "facts: " in repr(explorer)
    for shown in (explorer.static_html(), *(part.html for part in explorer.widget.children if hasattr(part, "html"))):
        if "facts: " in shown:
            break
    else:
        raise AssertionError("no note names the facts' maker")


def test_what_the_legend_names_is_hidden_and_shown(star):
    explorer = wb.explore(star, "hub")
    frame = explorer._picture.frame
    assert explorer.legend == ("phrase", "facts") and frame.hidden == []
    explorer.hide("phrase", "facts")
    assert frame.hidden == ["phrase", "facts"]
    with pytest.raises(SettingError, match="the legend has no entry 'ships'; there are phrase, facts"):
        explorer.hide("ships")
    assert frame.hidden == ["phrase", "facts"]

    explorer.look(limit=500)
    assert frame.hidden == ["phrase", "facts"], "and in the next picture"
    explorer.hide()
    assert frame.hidden == []


def test_an_index_without_synonyms_says_what_to_add(tmp_path):
    index = Index.build(tiny_dataset(), None, tmp_path, encoder=TinyEncoder(), layers=["facts"], progress=False)
    with pytest.raises(IndexFault, match=r"no layer 'synonyms'.*index\.ensure"):
        wb.explore(index)
