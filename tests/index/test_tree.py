"""The layer of the knowledge tree: what entities are represented by, how communities are named, the way back from a
passage, and what a failed name, an insert or another setting changes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tiny import TinyEncoder, files

from workbench.data import Dataset
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.index import Index, dual_perception, tree
from workbench.llm.engine import RulesEngine
from workbench.llm.step import Result
from workbench.records import Passage
from workbench.steps import name_communities


class Namer:
    """A model that names communities. `skips`: centres that its replies leave out; `breaks`: centres whose requests
    fail."""

    name = "openai:namer"
    workers = 1

    def __init__(self, skips=(), breaks=(), title="About {}"):
        self.meter = RulesEngine().meter
        self.skips, self.breaks, self.title = set(skips), set(breaks), title
        self.requests: list[tuple[name_communities.Community, ...]] = []

    @property
    def shown(self) -> list[name_communities.Community]:
        return [community for request in self.requests for community in request]

    def run(self, step, inputs, *, trace=None):
        assert step is name_communities.STEP
        self.requests += [value.communities for value in inputs]
        return [self._reply(value) for value in inputs]

    def _reply(self, value) -> Result:
        if self.breaks & {community.centre for community in value.communities}:
            return Result(None, failure="no answer")
        entries = [
            {"id": c.id, "name": self.title.format(c.centre), "summary": f"{c.size} of them"}
            for c in value.communities
            if c.centre not in self.skips
        ]
        return Result(name_communities.Output(communities=[*entries, {"id": -1}]), parse="repaired")


TOWNS, PEOPLE = [f"Town {at}" for at in range(6)], [f"Person {at}" for at in range(6)]


def dataset(more: tuple[RelationProfile, ...] = ()) -> Dataset:
    """A passage for each entity, which states what it is the source of. Towns border, people know one another."""
    relations = [(one, "borders", other) for one, other in itertools.pairwise(TOWNS)]
    relations += [(one, "knows", other) for one, other in itertools.pairwise(PEOPLE)]
    relations += [(TOWNS[0], "home of", PEOPLE[0])]
    names = [(name, "town") for name in TOWNS] + [(name, "person") for name in PEOPLE]
    names += [("Loner", "thing")]
    told = {TOWNS[0]: "founded: 1994; area: 3 km", PEOPLE[5]: "born: 1950"}
    profiles = Profiles(
        tuple(EntityProfile(name, kind, told.get(name, ""), (name,)) for name, kind in names),
        (*(RelationProfile(one, other, passages=(one,), label=label) for one, label, other in relations), *more),
    )
    passages = tuple(Passage(name, name, f"Text of {name}.") for name, _ in names)
    return Dataset("towns", passages, profiles=profiles)


def built(folder, engine=None, encoder=None, data=None, **settings) -> Index:
    return Index.build(
        data or dataset(), engine, folder, layers=["tree"], encoder=encoder or TinyEncoder(),
        settings={"tree": {"beta": 4, **settings}}, progress=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> Index:
    return built(tmp_path_factory.mktemp("tree"), Namer())


def centres(folder, **settings) -> list[str]:
    """Those of the communities that are named, in their order."""
    built(folder, engine := Namer(), **settings)
    return [community.centre for community in engine.shown]


def names(index: Index, community: dual_perception.TreeCommunity) -> set[str]:
    return {index.schema_graph.names[member] for member in community.members}


# -- what it holds ---------------------------------------------------------------------------------------------------


def test_the_communities_are_those_of_the_graph_as_it_is_perceived(index):
    graph, layer = index.schema_graph, index.tree
    given = {"beta": 4}
    found = dual_perception.detect(tree.arrays(graph, layer.entity_matrix), dual_perception.Perception(**given))
    assert layer.communities == found.communities and layer.merges == found.merges
    assert sorted(member for c in layer.communities for member in c.members) == list(range(13))
    assert all(len({name.split()[0] for name in names(index, c)} & {"Town", "Person"}) <= 1 for c in layer.communities)
    for community in layer.communities:
        assert (layer.community_of[list(community.members)] == community.id).all()
    assert layer.metadata["candidates"] == dict(sorted(found.considered.items()))
    assert "communities" in repr(layer) and index.counts()["tree communities"] == len(layer.communities)


def test_an_entity_is_the_mean_of_its_triples_and_of_its_attributes(index):
    graph, matrix = index.schema_graph, index.tree.entity_matrix
    texts = ["Town 0 borders Town 1", "Town 0 home of Person 0", "Town 0 has_attribute founded: 1994",
             "Town 0 has_attribute area: 3 km"]  # fmt: skip
    assert matrix[graph.row["Town 0"]] == pytest.approx(TinyEncoder().encode(texts).mean(axis=0), abs=1e-6)
    assert matrix[graph.row["Loner"]] == pytest.approx(TinyEncoder().encode(["Loner"])[0])


def test_the_way_from_an_entity_up_and_from_a_passage_back(index):
    graph, layer = index.schema_graph, index.tree
    place = layer.place_of(graph.row["Town 0"], graph)
    assert [graph.attributes[row].text for row in place.attributes] == ["area: 3 km", "founded: 1994"]
    assert {graph.labels[row] for row in place.triples} == {"borders", "home of"}
    assert place.community == layer.community_of[place.entity]
    community = layer.communities[place.community]
    assert place.keyword == (place.entity in community.keywords) and place.centre == (place.entity == community.centre)
    assert layer.place_of(community.centre, graph).centre and layer.place_of(community.centre, graph).keyword
    stated = layer.of_passage(index.passages.row["Person 5"], graph)
    assert {graph.names[one.entity] for one in stated} >= {"Person 5"}
    assert stated == [layer.place_of(one.entity, graph) for one in stated]


# -- names -----------------------------------------------------------------------------------------------------------


def test_communities_of_two_or_more_are_named_in_batches(tmp_path):
    index = built(tmp_path, engine := Namer(), naming_batch=2, members_shown=3, keywords=2)
    layer, graph = index.tree, index.schema_graph
    wanted = [community for community in layer.communities if len(community.members) > 1]
    assert [community.id for community in engine.shown] == [community.id for community in wanted] and len(wanted) > 2
    assert {len(request) for request in engine.requests[:-1]} == {2} and len(engine.requests[-1]) <= 2
    for shown, community in zip(engine.shown, wanted):
        assert shown.centre == graph.names[community.centre] == shown.members[0]
        assert shown.size == len(community.members) and len(shown.members) == min(3, shown.size)
        assert shown.members[: len(community.keywords)] == tuple(graph.names[at] for at in community.keywords)
        assert all({source, target} & names(index, community) for source, _, target in shown.facts)
    assert layer.community_ids == [community.id for community in wanted] == list(layer.named)
    assert layer.named[0].name == f"About {engine.shown[0].centre}"
    assert np.allclose(layer.community_vectors, TinyEncoder().encode(layer.community_texts))
    assert layer.metadata["made_by"] == ["openai:namer (name_communities v1)"]
    assert layer.metadata["repaired"] == layer.metadata["asked"] == len(wanted)
    single = next(community.id for community in layer.communities if len(community.members) == 1)
    assert layer.label(single) == f"Community {single}" and layer.label(0) == layer.named[0].name


def test_what_is_missing_from_a_reply_fails_alone_is_counted_and_retried(tmp_path):
    everyone = centres(tmp_path / "whole")
    index = built(tmp_path / "index", Namer(skips=everyone[:1]))
    assert list(index.tree.failures) == [0] and "no entry" in index.tree.failures[0]
    assert index.tree.metadata["failures"] == 1 and 0 not in index.tree.named
    assert len(index.tree.community_vectors) == len(index.tree.named) == len(everyone) - 1
    before = files(index.tree.folder)
    again = built(tmp_path / "index", retry := Namer())
    assert [one.centre for one in retry.shown] == everyone[:1] and not again.tree.failures
    assert again.tree.hash == Index.open(tmp_path / "whole").tree.hash
    assert files(index.tree.folder) != before or not index.tree.folder.exists(), "another folder took its place"
    built(tmp_path / "index", idle := Namer())
    assert idle.shown == []


def test_the_rules_write_what_is_missing_and_write_it_anew_each_time(tmp_path):
    index = built(tmp_path)
    assert index.tree.metadata["made_by"] == ["rules (name_communities v1)"] and not index.tree.failures
    assert all(named.name for named in index.tree.named.values())
    town = next(c for c in index.tree.communities if "Town 1" in names(index, c))
    assert " - town" in index.tree.named[town.id].name and "borders" in index.tree.named[town.id].summary


# -- changes ---------------------------------------------------------------------------------------------------------


def test_the_released_representation_is_the_outgoing_triples_as_one_text(tmp_path):
    parallel = (
        RelationProfile("Town 0", "Town 1", passages=("Town 0",), label="trades with"),
        RelationProfile("Person 3", "Town 4", passages=("Person 3",), label="born in"),
    )
    index = built(tmp_path, Namer(), data=dataset(parallel), profile="released")
    text = dict(zip(index.schema_graph.names, index.tree.entity_texts))
    assert text["Town 0"] == (
        "Town 0 borders Town 1 Town 0 has_attribute area: 3 km Town 0 has_attribute founded: 1994 "
        "Town 0 home of Person 0"
    ), "of parallel triples the first, sorted"
    assert text["Town 5"] == "Town 5" and text["Loner"] == "Loner", "nothing leads out of them"
    assert index.tree.entity_matrix == pytest.approx(TinyEncoder().encode(index.tree.entity_texts))
    assert index.manifest["layers"]["tree"]["settings"]["max_communities"] == 100
