"""Entity resolution and types of one list: what is merged, what must not be lost, and what a reply that does not fit
costs."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny import TinyEncoder, TinyEngine, tiny_dataset

from workbench.data.graph import EntityType, Schema
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.index import Index
from workbench.index.resolved import Merge, clusters, resolved
from workbench.llm.engine import RulesEngine
from workbench.llm.step import Result
from workbench.steps import curating

ENTITIES = (
    EntityProfile("Kestrel FM", "station", "A radio station.", ("p1",)),
    EntityProfile("Kestrel Radio", "company", "The station of Alderby.", ("p2",)),
    EntityProfile("Nora", "person", "Its announcer.", ("p1", "p3")),
    EntityProfile("Alderby", "town", "A town.", ("p3",)),
)
RELATIONS = (
    RelationProfile("Kestrel FM", "Nora", "Nora speaks on it.", ("voice",), 2.0, ("p1",)),
    RelationProfile("Nora", "Kestrel Radio", "Nora began it.", ("origin", "voice"), 1.0, ("p2",)),
    RelationProfile("Kestrel FM", "Kestrel Radio", "One is the other.", (), 1.0, ("p2",)),
    RelationProfile("Alderby", "Alderby", "It lies in itself.", (), 1.0, ("p3",)),
    RelationProfile("Nora", "Alderby", "born", (), 1.0, ("p3",), "born_in"),
    RelationProfile("Nora", "Alderby", "lives", (), 1.0, ("p3",), "lives_in"),
)
PROFILES = Profiles(ENTITIES, RELATIONS)
MERGES = [Merge("Kestrel FM", ("Kestrel FM", "Kestrel Radio"))]


# -- merging ----------------------------------------------------------------------------------------------------------


def test_entities_that_are_one_have_everything_that_was_said_of_either():
    found = resolved(PROFILES, MERGES)
    names = {one.name: one for one in found.entities}
    assert names.keys() == {"Kestrel FM", "Nora", "Alderby"}
    assert names["Kestrel FM"] == EntityProfile(
        "Kestrel FM", "station", "A radio station.\nThe station of Alderby.\nAlso called: Kestrel Radio.", ("p1", "p2")
    )
    assert names["Nora"] == ENTITIES[2]
    joined = [one for one in found.relations if {one.source, one.target} == {"Kestrel FM", "Nora"}]
    assert joined == [
        RelationProfile(
            "Kestrel FM", "Nora", "Nora speaks on it.\nNora began it.", ("voice", "origin"), 3.0, ("p1", "p2")
        )
    ]
    assert not [one for one in found.relations if one.source == one.target == "Kestrel FM"], "it would lead nowhere"
    assert set(RELATIONS[3:]) <= set(found.relations), "what no merge touches stays, also a loop and parallel labels"


NAMES = [f"n{at}" for at in range(8)]


@given(
    ends=st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.sampled_from(["", "of"])), max_size=20),
    parts=st.permutations(NAMES),
    cuts=st.sets(st.integers(1, 7)),
)
def test_no_passage_and_no_relation_is_lost_and_nothing_is_merged_twice(ends, parts, cuts):
    entities = tuple(EntityProfile(name, "t", f"about {name}", (f"p{name}",)) for name in NAMES)
    relations = tuple(
        RelationProfile(a, b, f"<{at}>", passages=(f"r{at}",), label=label) for at, (a, b, label) in enumerate(ends)
    )
    bounds = [0, *sorted(cuts), 8]
    groups = [tuple(sorted(parts[a:b])) for a, b in pairwise(bounds)]
    merges = [Merge(group[0], group) for group in groups if len(group) > 1]
    found = resolved(Profiles(entities, relations), merges)
    assert {p for one in found.entities for p in one.passages} == {f"p{name}" for name in NAMES}
    into = {name: merge.canonical for merge in merges for name in merge.names}
    loops = {at for at, (a, b, _) in enumerate(ends) if a != b and into.get(a, a) == into.get(b, b)}
    loops |= {at for at, (a, b, _) in enumerate(ends) if a == b and a in into and into[a] != a}
    told = "\n".join(one.description for one in found.relations)
    assert all((f"<{at}>" in told) == (at not in loops) for at in range(len(ends)))
    assert resolved(found, []) == found == resolved(found, merges)
    assert {one.source for one in found.relations} | {one.target for one in found.relations} <= {
        one.name for one in found.entities
    }


# -- clusters ---------------------------------------------------------------------------------------------------------


def unit(*degrees: float) -> np.ndarray:
    turned = np.radians(degrees)
    return np.stack([np.cos(turned), np.sin(turned)], axis=1).astype(np.float32)


def test_a_cluster_is_a_star_around_its_seed_and_no_chain():
    """Neighbours are 40° apart (cosine .77), the next ones 80° (.17): a chain would join all five."""
    found = clusters(unit(0, 40, 80, 120, 160), [0, 0, 9, 0, 0], 0.6, 20)
    assert found == [[2, 1, 3]], "the entity of most neighbours comes first; 0 and 160 are near nobody who is free"
    assert clusters(unit(0, 40, 80, 120, 160), [9, 0, 0, 0, 8], 0.6, 20) == [[0, 1], [4, 3]]


def test_a_cluster_has_so_many_members_the_nearest():
    assert clusters(unit(0, 30, 10, 20), [1, 0, 0, 0], 0.6, 3) == [[0, 2, 3]]
    assert clusters(unit(0, 90), [0, 0], 0.6, 20) == [] == clusters(unit(), [], 0.6, 20)


# -- the layers -------------------------------------------------------------------------------------------------------

SCHEMA = Schema((EntityType("person", "a human being"), EntityType("place", "a town or a lake")), ())


class Alike(TinyEncoder):
    """All entities are similar."""

    def encode(self, texts):
        return np.tile(np.eye(1, self.dimension, dtype=np.float32), (len(texts), 1))


class Curator(TinyEngine):
    """Merges the stations; `wrong` replies do not fit, at first."""

    name = "openai:curator"

    def __init__(self, wrong: int = 0):
        super().__init__()
        self.name, self.wrong, self.seen = "openai:curator", wrong, []

    def run(self, step, inputs, *, trace=None):
        self.seen += [(step.name, value) for value in inputs]
        return [self._said(step, value) for value in inputs]

    def _said(self, step, value):
        if self.wrong:
            self.wrong -= 1
            empty = {"groups": []} if step is curating.CLUSTER else {"entities": []}
            return Result(step.output(**empty), parse="strict")
        if step is curating.CLUSTER:
            same = [one.id for one in value.members if "Kestrel" in one.label]
            groups = [("Kestrel FM", same)] * bool(same)
            groups += [(one.label, [one.id]) for one in value.members if one.id not in same]
            return Result(step.output(groups=[{"canonical_label": a, "member_ids": b} for a, b in groups]))
        kinds = {"Nora": "person"}
        return Result(
            step.output(entities=[{"id": e.id, "type": kinds.get(e.label, "unsure")} for e in value.entities])
        )


def data():
    passages = tiny_dataset().passages[:3]
    ids = dict(zip(("p1", "p2", "p3"), (one.id for one in passages)))

    def told(one):
        return replace(one, passages=tuple(ids[p] for p in one.passages))

    profiles = Profiles(tuple(map(told, ENTITIES)), tuple(map(told, RELATIONS)))
    return replace(tiny_dataset(), passages=passages, profiles=profiles, extractions=None, schema=SCHEMA, questions=())


def build(folder, engine, layers=("resolved", "relabelled", "typed"), encoder=None):
    return Index.build(data(), engine, folder, encoder=encoder or Alike(), layers=list(layers), progress=False,
                       keep_going=True)  # fmt: skip


def test_the_typed_graph_is_made_of_what_was_resolved_and_relabelled(tmp_path):
    index = build(tmp_path / "index", engine := Curator())
    assert index.typed.names == ["Alderby", "Kestrel FM", "Nora"]
    assert index.typed.types == ["unsure", "unsure", "person"]
    assert index.layer("resolved").aliases == {"Kestrel FM": ("Kestrel Radio",)}
    assert [name for name, _ in engine.seen] == ["curate_cluster", "relabel_entities"]
    assert {one.name for one in index.typed.schema.entity_types} == {"person", "place", "unsure"}
    assert len(index.profiles.entities) == 4, "the profiles themselves stay"
    made = index.manifest["layers"]
    assert made["resolved"]["merged"] == 1 and made["relabelled"]["changed"] == 2
    assert made["resolved"]["made_by"] == ["openai:curator (curate_cluster v1)"]


def test_a_reply_that_does_not_fit_is_asked_for_again_with_the_reason(tmp_path):
    index = build(tmp_path / "index", engine := Curator(wrong=2), ["resolved"])
    assert [value.objection for _, value in engine.seen] == [
        "",
        *["the reply does not fit what was asked: the id '1' is in no group; the id '2' is in no group; the id '3' is "
          "in no group"] * 2,
    ]  # fmt: skip
    assert index.layer("resolved").metadata["merged"] == 1


def test_an_entity_for_which_no_reply_fits_is_unsure(tmp_path):
    index = build(tmp_path / "index", Curator(wrong=4), ["relabelled", "typed"])
    assert set(index.typed.types) == {"unsure"} and index.manifest["layers"]["relabelled"]["failures"] == 4


def test_rules_merge_spellings_and_sign_it(tmp_path):
    index = build(tmp_path / "index", RulesEngine())
    assert index.manifest["layers"]["resolved"]["made_by"] == ["rules (curate_cluster v1)"]
    assert index.manifest["layers"]["resolved"]["merged"] == 0 and "person" in index.typed.types


# -- replies that do not fit ------------------------------------------------------------------------------------------

CLUSTER = curating.ClusterInput(tuple(curating.Member(id, f"l{id}", "", "") for id in "12"))


@pytest.mark.parametrize(("groups", "wrong"), [
    ([("l1", ["1", "2"])], ""),
    ([("l1", ["1"]), ("l2", ["2"])], ""),
    ([("l1", ["1"])], "the id '2' is in no group"),
    ([("l1", ["1", "2"]), ("l2", ["2"])], "the id '2' is in 2 groups"),
    ([("l1", ["1", "2", "3"])], "there is no id '3'"),
    ([("Made up", ["1", "2"])], "'Made up' is the label of none of the members 1, 2"),
    ([("l1", ["1", "2"]), ("l1", [])], "'l1' is the label of none of the members "),
])  # fmt: skip
def test_flaws_of_a_cluster(groups, wrong):
    output = curating.ClusterOutput(groups=[{"canonical_label": label, "member_ids": ids} for label, ids in groups])
    assert curating.cluster_flaw(CLUSTER, output) == wrong


@pytest.mark.parametrize(("typed", "wrong"), [
    ([("1", "a"), ("2", "unsure")], ""),
    ([("1", "a")], "the id '2' has no type"),
    ([("1", "a"), ("1", "a"), ("2", "a")], "the id '1' has 2 types"),
    ([("1", "a"), ("2", "b")], "'b' is no type of the list"),
    ([("1", "a"), ("2", "a"), ("9", "a")], "there is no id '9'"),
])  # fmt: skip
def test_flaws_of_types(typed, wrong):
    value = curating.TypesInput(tuple(curating.Entity(id, id, "") for id in "12"), (("a", ""),))
    output = curating.TypesOutput(entities=[{"id": id, "type": kind} for id, kind in typed])
    assert curating.types_flaw(value, output) == wrong
