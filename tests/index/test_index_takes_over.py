"""Inserts and deletes take over by row what they keep: the index is the one that is built at once."""

from __future__ import annotations

import json
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny import TinyEncoder

from workbench.data import Dataset, Extraction
from workbench.index import Index, entity_summaries
from workbench.index.extractions import ExtractionsLayer
from workbench.llm.meter import Meter
from workbench.llm.step import Result
from workbench.records import Passage

names = st.sampled_from(["Orsby", "orsby", "River Aldra", "the river Aldra", "…", "Mira", "É mile"])
triples = st.tuples(names, st.sampled_from(["flows to", "Flows to", "in", "…"]), names)
spoken = st.tuples(st.lists(triples, max_size=4), st.sampled_from(["by hand", "by another"]))
changes = st.lists(
    st.one_of(st.lists(spoken, min_size=1, max_size=3), st.sets(st.integers(0, 6), min_size=1, max_size=2)),
    min_size=1,
    max_size=4,
)


def passage(number: int) -> Passage:
    return Passage(f"p{number}", f"Title {number % 3}", f"Text {number}.")


def record(number: int, said: tuple[list, str]) -> Extraction:
    return Extraction(f"p{number}", ("Orsby",) * (number % 2), tuple(said[0]), said[1])


@given(st.lists(spoken, min_size=2, max_size=4), changes, st.sampled_from(["unicode", "ascii"]))
def test_any_changes_end_in_the_index_that_is_built_at_once(tmp_path, first, course, normalise):
    chosen = {"facts": {"normalise": normalise}, "entity_summaries": {"tau": 1}}
    layers = ["synonyms", "entity_summaries"]

    def build(folder, held: dict[int, tuple]) -> Index:
        data = Dataset("d", tuple(map(passage, held)), (), tuple(record(n, said) for n, said in held.items()))
        return Index.build(data, None, folder, encoder=TinyEncoder(), layers=layers, settings=chosen, progress=False)

    held = dict(enumerate(first))
    for folder in (tmp_path / "changed", tmp_path / "whole"):
        shutil.rmtree(folder, ignore_errors=True)
    index, following = build(tmp_path / "changed", held), len(held)
    for change in course:
        if isinstance(change, list):
            new = dict(enumerate(change, following))
            following += len(new)
            records = [record(number, said) for number, said in new.items()]
            index = index.insert(list(map(passage, new)), extractions=records, progress=False)
            held |= new
        else:
            gone = [number for place, number in enumerate(held) if place in change]
            if not gone or len(gone) == len(held):
                continue
            index = index.delete([f"p{number}" for number in gone], progress=False)
            held = {number: said for number, said in held.items() if number not in gone}
    whole = build(tmp_path / "whole", held)
    for kind in ("passages", "extractions", "facts", "synonyms", "entity_summaries"):
        assert index.layer(kind).hash == whole.layer(kind).hash, kind
        said, expected = dict(index.layer(kind).metadata), dict(whole.layer(kind).metadata)
        for course_only in ("encoded", "extracted", "compared", "asked"):
            said.pop(course_only, None), expected.pop(course_only, None)
        assert said == expected


@pytest.fixture
def large(tmp_path) -> Index:
    said = {number: ([("Orsby", "in", f"Land {number}")], "by hand") for number in range(50)}
    data = Dataset("d", tuple(map(passage, said)), (), tuple(record(n, one) for n, one in said.items()))
    return Index.build(data, None, tmp_path, encoder=TinyEncoder(), progress=False)


def test_what_is_kept_is_neither_parsed_nor_encoded(large, monkeypatch):
    monkeypatch.setattr(ExtractionsLayer, "extracted", property(lambda self: pytest.fail("all records are read")))
    parsed = []
    read = json.loads
    monkeypatch.setattr("workbench.index.rows.json.loads", lambda raw: parsed.append(raw) or read(raw))
    grown = large.insert(
        [passage(50)], extractions=[record(50, ([("Mira", "in", "Orsby")], "by hand"))], progress=False
    )
    metadata = grown.manifest["layers"]
    assert [metadata[kind]["encoded"] for kind in ("passages", "facts")] == [1, 2]  # a phrase and a fact
    assert metadata["extractions"]["triples"] == 51


def test_given_records_replace_those_that_stand(large):
    """What the insert brings for a passage that is there counts."""
    other = Extraction("p3", (), (("Mira", "in", "Orsby"),), "by another")
    grown = large.insert([passage(50)], extractions=[other, record(50, ([], "by hand"))], progress=False)
    assert grown.extractions.records[3] == other and ("mira", "in", "orsby") in grown.facts.facts
    assert grown.manifest["layers"]["extractions"]["made_by"] == ["by another", "by hand"]


def summarised(folder, engine, said: dict[int, tuple], tau: int = 0) -> Index:
    """An index with a summary of each phrase."""
    data = Dataset("d", tuple(map(passage, said)), (), tuple(record(n, one) for n, one in said.items()))
    chosen = {"entity_summaries": {"tau": tau}}
    asked = ["entity_summaries"]
    return Index.build(data, engine, folder, encoder=TinyEncoder(), layers=asked, settings=chosen, progress=False)


class Author:
    """Writes summaries, but of no entity that it `fails` at."""

    def __init__(self, name: str = "openai:one", fails: str = ""):
        self.name, self.fails, self.meter, self.asked = name, fails, Meter(), []

    def run(self, step, inputs, *, trace=None):
        self.asked += [value.entity for value in inputs]
        return [
            Result(None, failure="told to fail")
            if value.entity == self.fails
            else Result(step.output(summary=f"{value.entity} by {self.name}"), parse="repaired")
            for value in inputs
        ]


SAID = {number: ([("Orsby", "in", f"Land {number}")], "by hand") for number in range(4)}
MORE = record(4, ([("Land 1", "near", "Mira")], "by hand"))


def test_only_phrases_whose_facts_changed_are_put_together_again(tmp_path, monkeypatch):
    index, put = summarised(tmp_path, Author(), SAID), []
    key = entity_summaries.request_key
    monkeypatch.setattr(entity_summaries, "request_key", lambda *asked: put.append(asked[0]) or key(*asked))
    model = Author()
    index = index.insert([passage(4)], model, extractions=[MORE], progress=False)
    assert put == model.asked == ["land 1", "mira"]
    index = index.delete(["p2"], model, progress=False)
    assert put == model.asked == ["land 1", "mira", "orsby"]
    said = index.entity_summaries.metadata
    assert (said["asked"], said["repaired"], said["summaries"]) == (1, 5, 5)
    assert said["made_by"] == ["openai:one (summarise_entity v1)"]
