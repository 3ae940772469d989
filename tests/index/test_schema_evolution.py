"""Policies by which a schema takes over new types; every confidence was worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.data.graph import Attribute, EntityType, Relation, Schema
from workbench.index.schema_extracting import Evolution
from workbench.steps.schema_extraction import ProposalRecord

SEED = Schema(
    (EntityType("person", ""), EntityType("time_period", "")), (Relation("born_in", "", (), ()),),
    (Attribute("date", "", (), "text"),),
)  # fmt: skip
AXES = {"person": 0, "time period": 1, "town": 2}


def encode(names):
    """`human` has the cosine 0.8 to `person`; every other name is alone."""
    rows = np.zeros((len(names), 8), np.float32)
    for row, name in zip(rows, names):
        if name == "human":
            row[[0, 3]] = 0.8, 0.6
        else:
            row[AXES.get(name, 4)] = 1
    return rows


def evolution(policy="gated", mu=0.9, support=3) -> Evolution:
    return Evolution(SEED, policy, mu, support, encode)


def ask(found: Evolution, passage: str, *names, kind="entity_types", score=None) -> None:
    found.ask(passage, [ProposalRecord(kind=kind, name=name, score=score) for name in names])


def types(found: Evolution) -> list[str]:
    return [one.name for one in found.schema.entity_types]


def test_support_alone_decides_where_the_engine_gives_no_score():
    found = evolution()
    for passage in ("p1", "p2"):
        ask(found, passage, "town")
    found.admit()
    assert types(found) == ["person", "time_period"]
    assert found.proposals() == [("entity_types", "town", ("p1", "p2"), round(2 / 3, 6), False)]
    ask(found, "p3", "Town")
    found.admit()
    assert types(found) == ["person", "time_period", "town"] and found.proposals()[0][3:] == (1.0, True)
    assert not found.scored


def test_a_score_and_the_nearest_type_vouch_for_a_name():
    """Mean score 0.5, cosine 0.8 to `person`: max(0.8, 0.5) · min(1, 2/2)."""
    found = evolution(mu=0.8, support=2)
    ask(found, "p1", "human", score=0.4)
    ask(found, "p2", "human", score=0.6)
    ask(found, "p1", "town", score=0.7)
    ask(found, "p2", "town", score=0.9)
    found.admit()
    assert [(one.name, one.confidence, one.admitted) for one in found.proposals()] == [
        ("human", 0.8, True),
        ("town", pytest.approx(0.8), True),
    ]
    assert found.scored


@pytest.mark.parametrize("policy", ["llm", "gated"])
def test_what_the_seed_has_in_some_spelling_is_never_admitted(policy):
    found = evolution(policy, mu=0, support=1)
    ask(found, "p1", "Time-Period", "PERSON", " person ")
    ask(found, "p1", "Born in", kind="relations")
    ask(found, "p1", "Date", "birth-date", "birth_date", kind="attributes")
    found.admit()
    assert types(found) == ["person", "time_period"] and len(found.schema.relations) == 1
    assert [one.name for one in found.schema.attributes] == ["date", "birth-date"]
    assert {kind: tuple(counted.values()) for kind, counted in found.counts().items()} == {
        "entity_types": (0, 0, 3), "relations": (0, 0, 1), "attributes": (1, 0, 1),
    }  # fmt: skip


def test_a_batch_is_compared_with_the_schema_before_it():
    """`human` must not be admitted for its likeness to what the same boundary admits."""
    found = Evolution(Schema((), ()), "gated", 0.8, 1, encode)
    ask(found, "p1", "person")
    ask(found, "p1", "human", score=0.1)
    found.admit()
    assert types(found) == ["person"]
    found.admit()
    assert types(found) == ["person", "human"]
