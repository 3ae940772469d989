"""The widget of knowledge trees without a browser: every control is a function, and leads where it says."""

from __future__ import annotations

import numpy as np
import pytest
from planted_tree import QUESTIONS, planted_tree, theme_index
from test_views import HOSTILE, Checked

import workbench as wb
from workbench.errors import DataError, SettingError
from workbench.index.schema_extracting import Proposal
from workbench.operators.regrouping import Division
from workbench.records import Passage
from workbench.views import html, text
from workbench.views.render import html_of, text_of
from workbench.views.routes import stages
from workbench.views.tree import LISTED, MORE, entries, evolution_part
from workbench.views.tree_map import POINTS, community_map, entity_map, overview_map, palette_of, type_palette
from workbench.views.tree_widget import TABS
from workbench.views.widget import StageStepper


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return theme_index(tmp_path_factory.mktemp("themes"))


@pytest.fixture
def tree(index):
    return wb.tree(index, QUESTIONS)


@pytest.fixture(scope="module")
def run(index, tmp_path_factory):
    methods = [wb.method(spec, index) for spec in ("dense", "youtu")]
    return wb.evaluate(QUESTIONS, methods, out=tmp_path_factory.mktemp("runs") / "run", progress=False)


def click(tree, id: int) -> None:
    assert id in tree.picture.ids
    tree._canvas.clicked(id)


def community_of(tree, name: str) -> int:
    return int(tree.tree.tree.community_of[tree.tree.graph.row[name]])


def state(tree) -> tuple:
    controls = (tree._levels, tree._by, tree._route_of, tree._rounds, tree._question_box, *tree._sliders.values())
    return text(tree), tree._trail[:], tree._list.options, [one.value for one in controls], tree._head.html


# -- walking ----------------------------------------------------------------------------------------------------------


def test_it_starts_with_all_communities(tree):
    assert tree.place is None and tree._levels.value == "communities" and tree._up.disabled and tree._back.disabled
    assert len(tree._list.options) == len(tree.tree.tree.communities) == tree.picture.discs
    assert tree._canvas.children and not tree.routes and tree._message.html == ""
    assert repr(tree).startswith("Tree at KnowledgeTree of 'themes': 4 communities")
    assert tree._lambda.html.count("λ = 2.33")


def test_down_the_levels_by_the_list_and_up_again(tree):
    at = community_of(tree, "river 3")
    tree._list.value = tree._list.options[at]
    assert tree.place.id == at and tree._levels.value == "keywords" and tree._list.value is None
    tree._levels.value = "triples"
    assert any(label.startswith("river 3 (river)") for label in tree._list.options)
    tree._list.value = "river 3 (river)"
    assert (tree.place.name, tree._levels.value) == ("river 3", "triples")
    assert tree._list.options == ("river 3 — flows_into → river hub",)
    assert tree.level("attributes") == ["river 3: size: 3"]
    assert tree.level("passages") == ["Of rivers (river)"]
    tree._list.value = "Of rivers (river)"
    assert tree.place.passage.id == "river" and tree._levels.value == "communities"
    assert len(tree.picture.rings) == 9, "its entities are marked on the map of all"
    tree._list.value = tree._list.options[0]
    assert tree.place.id == at
    tree._up.click()
    assert tree.place is None
    for expected in (at, "river", "river 3", at):
        tree._back.click()
        found = tree.place
        assert expected in (getattr(found, "id", None), getattr(found, "name", None),
                            getattr(getattr(found, "passage", None), "id", None))  # fmt: skip
    assert tree.back() is None and tree.back() is None


def test_by_click(tree):
    n = len(tree.tree.graph.names)
    click(tree, n + community_of(tree, "film 2"))
    assert tree.place.id == community_of(tree, "film 2")
    click(tree, tree.tree.graph.row["film 2"])
    assert tree.place.name == "film 2"
    row = tree.tree.index.passages.row["film"]
    click(tree, n + row)
    assert tree.place.passage.id == "film"
    click(tree, tree.tree.graph.row["film hub"])
    before = state(tree)
    click(tree, n + len(tree.tree.passages)) if n + len(tree.tree.passages) in tree.picture.ids else None
    assert state(tree) == before, "an attribute leads nowhere"
    tree._all.click()
    assert tree.place is None


def test_search_proposes_and_goes(tree):
    tree._search.value = "river"
    assert "river hub [entity]" in tree._search.options and tree.place is None
    assert "Of rivers (river) [passage]" in tree._search.options
    tree._search.value = "river hub [entity]"
    assert tree.place.name == "river hub" and tree.up().id == community_of(tree, "river hub")
    tree._search.value = "Of rivers (river) [passage]"
    assert tree.place.passage.id == "river" and tree._message.html == ""


def test_what_is_not_there_is_said_and_changes_nothing(tree):
    tree.community(0)
    before = state(tree)
    for ask, said in (
        (lambda: tree.community("x"), "no community 'x'"),
        (lambda: tree.entity("x"), "no entity 'x'"),
        (lambda: tree.passage("x"), "no passage 'x'"),
        (lambda: tree.level("x"), "no level 'x'; there are communities, keywords, triples, attributes, passages"),
        (lambda: tree.colour("x"), "colour='x' is unknown; choose one of type, structure, meaning"),
        (lambda: tree.colour("raptor"), r"wb.method\('raptor', index\) adds them"),
        (lambda: tree.route("path"), "no question was asked"),
        (lambda: tree.weigh(7), "struct_weight"),
        (lambda: tree.weigh(colour=1), "no setting 'colour'"),
    ):
        with pytest.raises(SettingError, match=said):
            ask()
        assert state(tree) == before


def test_a_long_list_is_cut_and_says_so():
    large = planted_tree(400, 4)
    found = entries(large, None, "triples")
    assert len(found) == LISTED + 1 and found[-1] == (MORE, None) and len(dict(found)) == len(found)
    assert len(entries(large, large.community(0), "triples")) == len(large.tree.communities[0].members)


# -- weighing and comparing -------------------------------------------------------------------------------------------


def test_weights_move_communities_and_go_back(tree):
    own, page = tree.built, tree._canvas.frame.page
    tree.weigh(0.5, merge_threshold=-1.0, epsilon=10.0)
    assert len(tree.tree.tree.communities) < len(own.tree.communities)
    assert "are in another community than in the index" in tree._head.html and "merged" in tree._head.html
    assert tree._canvas.frame.page == page and tree._canvas.frame.drawn["space"] == "overview", "the map moves there"
    assert tree._sliders["struct_weight"].value == 0.5 and tree._sliders["epsilon"].value == 10
    assert "as built" in tree._by.options
    tree.colour("as built")
    assert {"with most of its community, by as built", "elsewhere"} <= {
        style.name for style in tree.picture.node_styles
    }
    place = tree.community(0)
    assert len(place.members) == len(tree.tree.tree.communities[0].members)
    n = len(tree.tree.graph.names)
    tree.overview()
    click(tree, int(tree.picture.ids[0]))
    assert tree.place.members == place.members, "discs lead to the communities that are shown"
    assert n <= int(tree.overview().ids[0])
    tree._own.click()
    assert tree.tree is own and tree._own.disabled and tree._colour == "type"


def test_a_slider_weighs(tree):
    tree._sliders["merge_threshold"].value = 0.0
    assert tree._weights == {"merge_threshold": 0.0} and tree._message.html == ""
    assert "merged" in tree._tabs.children[0].html or "candidate" in tree._tabs.children[0].html
    tree._sliders["merge_threshold"].value = 0.5
    assert tree._weights == {} and tree.tree is tree.built


def test_colours(tree):
    for by in ("structure", "meaning"):
        tree._by.value = by
        assert tree._message.html == "" and tree.picture.node_styles[0].name.startswith(f"{by} from 0.")
        assert " · 0." in tree.picture.labels[0] or " · 1." in tree.picture.labels[0]
    tree._by.value = "leiden"
    assert "%" in tree.picture.labels[0]
    assert tree.colour("type").node_styles[0].name in ("film", "river", "song")


def test_agreements(tree):
    (leiden,) = tree.agreements()
    assert leiden.right == "leiden" and 0.5 < leiden.rand <= 1 and leiden.entities == 27
    tree._tabs.selected_index = TABS.index("other groupings")
    shown = tree._tabs.children[1].html
    assert "adjusted Rand" in shown and "wb.method(&#x27;raptor&#x27;, index) adds them" in shown
    tree.weigh(merge_threshold=0.0)
    assert [one.right for one in tree.agreements()] == ["leiden", "as built"]


def test_only_the_tab_in_front_is_sent(tree):
    for at, name in enumerate(TABS):
        tree._tabs.selected_index = at
        assert tree._message.html == "", name
        assert [bool(part.html) for part in tree._tabs.children] == [other == at for other in range(len(TABS))]
        Checked(tree._tabs.children[at].html)


# -- asking -----------------------------------------------------------------------------------------------------------


def test_a_question_its_routes_and_rounds(tree):
    tree._question_box.value = "t1: What flows into river hub?"
    assert tree.routes.question == QUESTIONS[0].question and tree._message.html == ""
    assert list(tree._route_of.options) == ["fused", "entity", "triple", "community", "path"]
    assert tree.picture.rings and tree._tabs.selected_index == TABS.index("question")
    kept = tree.route("fused")
    assert "river hub" in kept
    for name in ("entity", "triple", "community", "path"):
        found = tree.route(name)
        assert tree._route_of.value == name
        marked = [tree.tree.graph.names[tree.picture.ids[row]] for row in tree.picture.rings]
        assert marked == [one for one in found if one in tree.tree.graph.row]
    assert len(tree._rounds.options) == 1 + len(tree.routes.rounds)
    tree._rounds.value = len(tree.routes.rounds)
    assert tree._round == len(tree.routes.rounds)
    with pytest.raises(SettingError, match="there is no round 99"):
        tree.round(99)
    with pytest.raises(SettingError, match="there is no route 'x'; there are fused, entity"):
        tree.route("x")
    tree._tabs.selected_index = TABS.index("rounds")
    assert "first answer" in tree._tabs.children[-1].html
    Checked(html(tree.routes))


def test_a_stepper_goes_through_the_rounds(index, tree):
    steps = StageStepper(index, stages, QUESTIONS, kind="youtu")
    tree.ask(0)
    rounds = tree.routes.rounds
    assert rounds and [one.name for one in steps.stages] == [
        "sub-questions",
        *(f"round {one.number}" for one in rounds),
    ]
    for at, one in enumerate(rounds, 1):
        said = text_of(steps.stage(at).part)
        assert said.splitlines()[0].split() == ["round", "thought", "next", "query", "brought", "outcome"]
        assert ("this round searched for nothing" in said) == (one.found is None) and one.thought[:100] in said
    assert "river hub" in text_of(steps.stage("sub-questions").part)
    Checked(steps.static_html())


def test_a_question_of_ones_own_without_a_list(index):
    tree = wb.tree(index)
    with pytest.raises(SettingError, match="there is no list of questions"):
        tree.ask(0)
    assert tree.ask("Who sung song 4?").question == "Who sung song 4?"
    assert "song 4" in tree.route("entity")


# -- saved ------------------------------------------------------------------------------------------------------------


def test_a_saved_index_by_its_folder(index):
    tree = wb.tree(str(index.folder))
    assert tree.community(0).members and tree.weigh(0.9)


def test_a_saved_run_alone_shows_routes_and_rounds(run):
    tree = wb.tree(run.folder)
    assert tree.tree is None and tree.picture is None and tree.routes.question == QUESTIONS[0].question
    assert "give index= to see the tree" in tree._head.html and tree._walk.layout.display == "none"
    assert tree.ask("t2").question == QUESTIONS[1].question and "film hub" in tree.route("fused")
    for refused in (tree.overview, tree.reset, lambda: tree.community(0), tree.agreements, lambda: tree.colour("type")):
        with pytest.raises(SettingError, match="the tree needs the index"):
            refused()
    assert "film hub" in tree.static_html() and "<iframe" not in tree.static_html()


def test_a_saved_run_with_its_index_shows_both(run, index):
    tree = wb.tree(run, index=index)
    assert tree.routes and tree.picture.rings and tree.entity("film 3").community >= 0
    rows = {row["question_id"]: row["ranking"] for row in run.rows if row["method"] == "youtu"}
    for name, ranking in rows.items():
        assert [list(pair) for pair in tree.ask(name).ranking] == ranking


def test_evidence_and_another_method(index, run, tmp_path):
    evidence = wb.method("youtu", index).retrieve(QUESTIONS[0].question)
    assert wb.tree(evidence).routes.question == QUESTIONS[0].question
    with pytest.raises(DataError, match="take the trace of youtu"):
        wb.tree(wb.method("dense", index).retrieve("What flows?"))
    other = wb.evaluate(QUESTIONS, [wb.method("dense", index)], out=tmp_path / "dense", progress=False)
    with pytest.raises(SettingError, match="has no youtu; it has dense"):
        wb.tree(other)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_saves_a_page(index, theme, tmp_path):
    tree = wb.tree(index, QUESTIONS, theme=theme)
    tree.ask(0)
    page = tree.save(tmp_path / "tree.html").read_text()
    assert page.count("<iframe") == 1 and "river hub" in page and len(page) < 300_000
    assert tree._repr_mimebundle_()["text/html"] == tree.static_html()


# -- whatever the texts are -------------------------------------------------------------------------------------------


def test_nothing_in_a_tree_is_acted_upon(tmp_path):
    """Attacks in every name, type, relation, attribute, title and text."""
    attack = " ".join(one for one in HOSTILE if "\ud800" not in one)
    built = theme_index(tmp_path / "hostile", put=lambda words: f"{words} {attack}")
    tree = wb.tree(built, QUESTIONS)
    for go in (tree.overview, lambda: tree.community(0), lambda: tree.entity(0), lambda: tree.passage("river")):
        go()
        Checked(tree._head.html + tree._details.html + html(tree.place or "none"))
        for at in range(len(TABS)):
            tree._tabs.selected_index = at
            Checked(tree._tabs.children[at].html)
    tree.ask("river 3?")
    Checked(tree._tabs.children[TABS.index("question")].html)


# -- maps -------------------------------------------------------------------------------------------------------------


def test_a_large_tree_is_sent_in_part_and_says_so():
    large = planted_tree(20_000, 500)
    division = Division.built(large)
    shown = overview_map(large, division, type_palette(large, division), marked=[7, 8])
    assert shown.discs == 400 and POINTS <= len(shown) - shown.discs <= POINTS + 2
    assert (
        shown.left_out.startswith("left out: 100 of the smallest communities, ")
        and "of 19,999 entities" in shown.left_out
    )
    assert [int(shown.ids[row]) for row in shown.rings] == [7, 8]
    inside = np.hypot(*(shown.places[shown.discs :, None] - shown.places[None, : shown.discs]).transpose(2, 0, 1))
    assert ((inside - shown.radii[:400]).min(axis=1) < 0).all(), "every point is in a disc"


def test_the_same_tree_gives_the_same_map():
    one, other = planted_tree(300, 8), planted_tree(300, 8)
    maps = [overview_map(t, Division.built(t), type_palette(t, Division.built(t))) for t in (one, other)]
    assert np.array_equal(maps[0].places, maps[1].places)
    assert np.array_equal(community_map(one, 0).places, community_map(other, 0).places)


def test_a_map_of_an_entity_has_what_is_said_of_it():
    tree = planted_tree(60, 4)
    place = tree.entity(10)
    shown = entity_map(tree, place)
    ends = {triple.subject for triple in place.triples} | {triple.object for triple in place.triples}
    assert len(shown) == 1 + len(ends - {place.name}) + len(place.attributes) + len(place.passages)
    assert shown.labels[0] == place.name and len(shown.edges) == len(shown) - 1


def test_no_community_at_all():
    tree = planted_tree(8, 2)
    tree.tree.communities, tree.tree.community_of = [], np.full(8, -1, np.int32)
    division = Division.built(tree)
    for colour in ("type", "structure", "meaning"):
        assert len(overview_map(tree, division, palette_of(tree, division, colour, {}))) == 0
    assert entries(tree, None, "keywords") == [] and "2 entities" not in repr(tree)


# -- the schema -------------------------------------------------------------------------------------------------------


def test_what_the_schema_gained_and_who_asked(index):
    schema = index.schema_graph.schema
    proposed = [
        Proposal("relations", "<b>sails</b>", ("p1", "p2", "p3"), 1.0, True),
        Proposal("attributes", "depth", ("p2",), 0.33, False),
    ]
    shown = html_of(evolution_part(schema, schema, proposed, {"p1": Passage("p1", "Of ships", "…")}))
    Checked(shown)
    assert (
        "1 gained" in shown and "&lt;b&gt;sails" in shown and "Of ships, p2, p3" in shown and "1 not admitted" in shown
    )
