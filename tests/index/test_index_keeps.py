"""What stands stays: a layer that nobody asks for is not made anew because another engine happens to be at hand, and
what succeeded is not asked for again with what failed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from planted import Summariser, planted
from tiny import TinyEncoder, TinyEngine, files, tiny_dataset

from workbench.index import Index
from workbench.llm.engine import RulesEngine
from workbench.llm.step import Result
from workbench.steps import reporting

QUICK = {"summaries": {"reduction": "pca", "dimension": 3, "components": 6}}
DATA = replace(planted(5), passages=(*planted(5).passages, *tiny_dataset().passages))


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
        if step is not reporting.REPORT:
            return (self.summarises if step.name == "summarise" else self.extracts).run(step, inputs)
        said = {"title": "A", "rating": 1.0, "rating_explanation": "", "findings": []}
        return [Result(step.output(summary=str(len(value.context)), **said)) for value in inputs]


def build(folder, engine=None, layers=("summaries", "communities"), data=None) -> Index:
    given = {"encoder": TinyEncoder(), "layers": layers, "settings": QUICK, "progress": False}
    return Index.build(data or DATA, engine, folder, keep_going=True, **given)


def layers(index: Index, *kinds: str) -> dict[str, bytes]:
    return {name: raw for name, raw in files(index.folder).items() if name.startswith(kinds)}


PAID = ("extractions", "summaries", "communities")


def test_a_model_that_keeps_what_stands_pays_for_what_is_missing_alone(tmp_path):
    """A notebook with a model over an index of the rules extracted it anew."""
    by_rules = build(tmp_path / "index", RulesEngine(), layers=["facts"])
    before, model = layers(by_rules, "extractions", "facts"), Model()
    options = {"encoder": TinyEncoder(), "settings": QUICK, "keep": True, "progress": False}
    index = Index.build(DATA, model, by_rules.folder, layers=["facts", "summaries"], **options)
    assert layers(index, "extractions", "facts") == before and index.summaries
    assert set(model.asked) == {"summarise"} and by_rules.facts_by == index.facts_by
    Index.build(DATA, model, by_rules.folder, layers=["facts"], **options | {"keep": False})
    assert "triples" in model.asked


@pytest.mark.parametrize("engine", [None, Model("tiny")], ids=["rules", "model"])
def test_a_deletion_says_who_wrote_what_it_changed(tmp_path, engine):
    index = build(tmp_path, Model("tiny"), ["summaries"]).delete(["sea 3"], engine, progress=False)
    by = index.manifest["layers"]["summaries"]["made_by"]
    assert by == (["tiny (summarise v1)"] if engine else ["rules (summarise v1)", "tiny (summarise v1)"])


# -- what failed -----------------------------------------------------------------------------------------------------

STEPS = {"extractions": "triples", "summaries": "summarise", "communities": "community_report"}


def failures(index: Index) -> dict[str, int]:
    return {kind: index.manifest["layers"][kind]["failures"] for kind in PAID}


@pytest.mark.parametrize("kind", PAID)
def test_the_same_build_asks_for_what_failed_and_for_nothing_else(tmp_path, kind):
    whole = build(tmp_path / "whole", Model())
    failing = build(tmp_path / "index", Model(fails=(STEPS[kind],)))
    assert failures(failing)[kind] > 0
    index = build(tmp_path / "index", again := Model())
    assert set(failures(index).values()) == {0} and STEPS[kind] in again.asked
    if kind != "extractions":  # of which all that is made of them is new
        assert set(again.asked) == {STEPS[kind]}
    assert [index.extractions.records, index.summaries.clusters, index.communities.reports] == [
        whole.extractions.records, whole.summaries.clusters, whole.communities.reports
    ]  # fmt: skip
    before = files(index.folder)
    build(tmp_path / "index", idle := Model())
    assert idle.asked == [] and files(index.folder) == before


def test_what_fails_again_changes_nothing(tmp_path):
    fails = ("summarise", "community_report")
    index = build(tmp_path, Model(fails=fails))
    before = files(index.folder)
    build(tmp_path, again := Model(fails=fails))
    assert set(fails) <= set(again.asked) and files(tmp_path) == before


def test_the_rules_are_not_asked_for_what_they_failed_at(tmp_path):
    build(tmp_path, Model("rules", fails=("summarise",)), ["summaries"])
    for engine in (again := Model("rules"), None):
        build(tmp_path, engine, ["summaries"])
    assert again.asked == []


def test_a_retry_is_stopped_before_the_manifest_names_it(tmp_path, monkeypatch):
    build(tmp_path, Model(fails=("summarise",)), ["summaries"])
    with monkeypatch.context() as patch, pytest.raises(OSError, match="full"):
        patch.setattr("workbench.index.store.Store.write_manifest", _full_disk)
        build(tmp_path, Model(), ["summaries"])
    assert Index.open(tmp_path, TinyEncoder()).manifest["layers"]["summaries"]["failures"] > 0
    index = build(tmp_path, idle := Model(), ["summaries"])
    assert idle.asked == [] and index.summaries.nodes
    (tmp_path / "manifest.json").unlink()  # as is advised for a damaged one
    assert build(tmp_path, idle, ["summaries"]).summaries.nodes == index.summaries.nodes and idle.asked == []


def _full_disk(*_):
    raise OSError("full")
