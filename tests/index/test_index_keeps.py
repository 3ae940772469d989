"""What stands stays: a layer that nobody asks for is not made anew because another engine happens to be at hand."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version

import pytest
from planted import Summariser, planted
from tiny import TinyEncoder, TinyEngine, files, tiny_dataset

import workbench as wb
from workbench.data.profiles import EntityProfile, Profiles
from workbench.index import Index
from workbench.index.index import versions
from workbench.llm.engine import RulesEngine
from workbench.llm.step import Result
from workbench.records import Passage
from workbench.steps import community_report

QUICK = {"summaries": {"reduction": "pca", "dimension": 3, "components": 6}}
DATA = replace(planted(5), passages=(*planted(5).passages, *tiny_dataset().passages))
CHANGE = Passage("sea 99", "", "harbour tide harbour tide anchor.")


class Model:
    """Extracts as a `TinyEngine`, summarises as a `Summariser`, reports the context's length; any Step may fail."""

    def __init__(self, name: str = "openai:one", fails: tuple[str, ...] = ()):
        self.name, self.fails = name, fails
        self.extracts, self.summarises = TinyEngine(), Summariser()
        self.meter = self.extracts.meter
        self.asked: list[str] = []

    def run(self, step, inputs, *, trace=None):
        self.asked += [step.name] * len(inputs)
        if step.name in self.fails:
            return [Result(None, failure="told to fail") for _ in inputs]
        if step is not community_report.STEP:
            return (self.summarises if step.name == "summarise" else self.extracts).run(step, inputs)
        said = {"title": "A", "rating": 1.0, "rating_explanation": "", "findings": []}
        return [Result(step.output(summary=str(len(value.context)), **said)) for value in inputs]


def build(folder, engine=None, layers=("summaries", "communities"), data=None) -> Index:
    encoder = TinyEncoder()
    return Index.build(data or DATA, engine, folder, encoder=encoder, layers=layers, settings=QUICK, progress=False)


def layers(index: Index, *kinds: str) -> dict[str, bytes]:
    return {name: raw for name, raw in files(index.folder).items() if name.startswith(kinds)}


PAID = ("extractions", "summaries", "communities")


@pytest.fixture
def paid(tmp_path) -> Index:
    """All layers but synonyms, by `openai:one`."""
    index = build(tmp_path / "index", Model())
    assert index.communities.reports and index.manifest["layers"]["extractions"]["made_by"][0].startswith("openai:one")
    return index


@pytest.mark.parametrize("engine", [None, RulesEngine(), Model("openai:two")], ids=["none", "rules", "another"])
def test_a_layer_that_is_added_leaves_the_others_as_they_are(paid, engine):
    before = layers(paid, *PAID)
    index = paid.ensure(["synonyms"], engine, progress=False)
    assert index.synonyms and layers(index, *PAID) == before
    assert engine is None or not getattr(engine, "asked", [])
    named = paid.manifest["layers"]
    assert {kind: index.manifest["layers"][kind] for kind in PAID} == {kind: named[kind] for kind in PAID}


def test_a_method_with_the_rules_leaves_what_a_model_wrote(paid):
    before = layers(paid, *PAID)
    method = wb.method("graphrag", paid, RulesEngine())
    assert method.retrieve("Where does the River Aldra flow?", 2).passages
    wb.method("hipporag2", paid, RulesEngine())  # lacks synonyms
    assert layers(Index.open(paid.folder), *PAID) == before


def test_ensure_keeps_failures_and_the_rules_do_not_fill_them_in(tmp_path):
    index = build(tmp_path, Model(fails=("summarise",)), ["summaries"])
    assert index.manifest["layers"]["summaries"]["failures"] > 0
    before = layers(index, "summaries")
    assert layers(index.ensure(["facts"], RulesEngine(), progress=False), "summaries") == before


def test_a_build_asks_anew_for_what_is_asked_for_alone(paid):
    before, other = layers(paid, *PAID), Model("openai:two")
    index = build(paid.folder, other, ["summaries"])
    assert set(other.asked) == {"summarise"}
    assert index.manifest["layers"]["summaries"]["made_by"] == ["openai:two (summarise v1)"]
    assert layers(index, "extractions", "communities") == {
        name: raw for name, raw in before.items() if not name.startswith("summaries")
    }
    other.asked.clear()
    build(paid.folder, other, ["facts"])
    assert {"named_entities", "triples"} <= set(other.asked) and "summarise" not in other.asked


def test_what_is_below_changes_what_stands(paid):
    index = paid.insert([CHANGE], other := Model("openai:two"), progress=False)
    assert "summarise" in other.asked and index.summaries.leaves.shape[1] == len(index.passages.passages)
    shorter = build(paid.folder, other, ["passages"], replace(DATA, passages=DATA.passages[:9]))
    assert shorter.summaries.leaves.shape[1] == 9


def test_other_settings_change_what_stands(paid):
    index = Index.build(
        DATA, Model(), paid.folder, encoder=TinyEncoder(), layers=["passages"],
        settings={"summaries": {**QUICK["summaries"], "levels": 1}}, progress=False,
    )  # fmt: skip
    assert len(index.manifest["layers"]["summaries"]["levels"]) == 1


def test_new_records_of_the_data_are_taken_over_whatever_is_asked_for(paid):
    given = tuple(replace(record, made_by="by hand", triples=()) for record in paid.extractions.records)
    index = build(paid.folder, Model(), ["passages"], replace(DATA, extractions=given))
    assert index.facts.facts == [] and index.communities.reports == {}


def test_profiles_stand_while_another_layer_is_added(tmp_path):
    entity = EntityProfile("Orsby", "town", "A town on the Aldra.", ("p1", "p5"))
    profiles = Profiles((replace(entity, name="Quell"), entity))  # in another order than the layer's
    data = replace(tiny_dataset(), profiles=profiles)
    index = Index.build(data, None, tmp_path, encoder=TinyEncoder(), layers=["communities"], progress=False)
    before = layers(index, "profiles", "communities")
    assert layers(index.ensure(["summaries"], Model(), progress=False), "profiles", "communities") == before


@pytest.mark.parametrize("engine", [None, Model("tiny")], ids=["rules", "model"])
def test_a_deletion_says_who_wrote_what_it_changed(tmp_path, engine):
    index = build(tmp_path, Model("tiny"), ["summaries"]).delete(["sea 3"], engine, progress=False)
    by = index.manifest["layers"]["summaries"]["made_by"]
    assert by == (["tiny (summarise v1)"] if engine else ["rules (summarise v1)", "tiny (summarise v1)"])


def test_versions_name_what_decides_clusters(paid, tiny_index):
    clustering = {name: version(name) for name in ("scikit-learn", "umap-learn", "igraph")}
    assert clustering.items() <= paid.manifest["versions"].items()
    assert not clustering.keys() & tiny_index.manifest["versions"].keys()
    assert "igraph" not in versions(layers=("summaries",)) and "umap-learn" not in versions(layers=("communities",))
