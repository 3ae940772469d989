"""What every layer must do. The list comes from the registry, so a new layer gets these tests for free.

A layer is built, reopened, killed where it is about to replace a file or to call an engine or encoder, resumed, changed
by insert and delete, and requested of another engine. It is built over the layers below it, on the tiny corpus, by an
engine that answers every Step from its input alone.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from planted import planted
from tiers import FULL
from tiny import TinyEncoder, TinyEngine, files, tiny_dataset

from workbench.index import Index, journal, vectors
from workbench.index.building import LAYERS, closure
from workbench.llm.step import Result
from workbench.records import Passage
from workbench.steps import entity_relations, graph_records, schema_extraction

KINDS = list(LAYERS)
DATA = replace(tiny_dataset(), passages=(*tiny_dataset().passages, *planted(3).passages), extractions=None)
NEW = (Passage("p9", "Skarne", "Skarne is a port on Lake Mira."), Passage("sea 9", "", "harbour tide anchor."))
SETTINGS = {
    "summaries": {"reduction": "pca", "dimension": 3, "components": 4, "cluster_tokens": 60},
    "communities": {"min_members": 2},
    "profiles": {"fragments": 2},
    "resolved": {"most": 3},
    "relabelled": {"batch": 3},
    "schema_graph": {"batch": 5, "support": 2},
    "tree": {"beta": 4, "naming_batch": 2, "members_shown": 3},
    "pieces": {"piece_tokens": 12},
    "skeleton": {"merge_tokens": 24, "unit_tokens": 12},
}
KILLS = 12 if FULL else 3  # places at which a layer is killed, spread over all that there are


class Model(TinyEngine):
    """Answers every Step that a layer asks, from the input alone."""

    def __init__(self, name: str = "openai:one", on_call: Callable[[], None] = lambda: None):
        super().__init__()
        self.name, self.on_call, self.requests = name, on_call, []

    def run(self, step, inputs, *, trace=None) -> list[Result]:
        self.on_call()
        self.requests += [(step.name, repr(value)) for value in inputs]
        answer = getattr(self, f"_{step.name}", self._answer)
        return [answer(step, value) for value in inputs]

    def _entity_relations(self, step, value) -> Result:
        found = [
            {"name": name, "type": "place", "description": value.text} for name in (value.title, "Meridian") if name
        ]
        joined = [{"source": value.title, "target": "Meridian", "keywords": ["place"], "description": value.text}]
        return Result(entity_relations.Output(entities=found, relations=joined if value.title else []), parse="cut")

    def _graph_records(self, step, value) -> Result:
        names = [word for word in value.text.split() if word.istitle()][:3]
        found = [{"name": name, "type": "geo", "description": f"{name} of {len(value.text)}"} for name in names]
        joined = [{"source": a, "target": b, "description": a + b, "strength": 2} for a, b in itertools.pairwise(names)]
        return Result(graph_records.Output(entities=found, relationships=joined))

    def _schema_extraction(self, step, value) -> Result:
        """Depends on the schema, as a model's answers do: what was admitted is asked for no more, and used."""
        names = [word for word in dict.fromkeys(value.text.split()) if word.istitle()][:3]
        known = {name.casefold() for name, _ in value.entity_types}
        kind = "town" if "town" in known else "location"
        reply = {
            "attributes": {name: [f"size: {len(value.text)}"] for name in names[:1]},
            "triples": [[a, "lies_on", b] for a, b in itertools.pairwise(names)] + [[value.title, "short"]],
            "entity_types": dict.fromkeys(names, kind),
            "new_schema_types": {"nodes": [] if "town" in known else [{"name": "Town", "score": 0.95}]},
        }
        return Result(schema_extraction.read(json.dumps(reply)), parse="cut")

    def _name_communities(self, step, value) -> Result:
        """Of each community alone, whichever others are in the request."""
        named = [
            {"id": c.id, "name": f"About {c.centre}", "summary": f"{c.size} with {c.members}"}
            for c in value.communities
        ]
        return Result(step.output(communities=named), parse="strict")

    def _curate_cluster(self, step, value) -> Result:
        """The first two of a cluster are one."""
        first, second, *others = value.members
        groups = [{"canonical_label": second.label, "member_ids": [first.id, second.id]}]
        groups += [{"canonical_label": one.label, "member_ids": [one.id]} for one in others]
        return Result(step.output(groups=groups), parse="strict")

    def _relabel_entities(self, step, value) -> Result:
        """By the length of the name."""
        kinds = [name for name, _ in value.types]
        typed = [{"id": one.id, "type": kinds[len(one.label) % len(kinds)]} for one in value.entities]
        return Result(step.output(entities=typed), parse="strict")

    def _fuse_descriptions(self, step, value) -> Result:
        return Result(step.output(description=f"{len(value.fragments)} of {value.name}"))

    def _summarise(self, step, value) -> Result:
        return Result(step.output(summary=f"{' '.join(value.texts)[:60]} and so {len(value.texts)}"))

    def _summarise_entity(self, step, value) -> Result:
        return Result(step.output(summary=f"{len(value.facts)} facts of {value.entity}"))

    def _community_report(self, step, value) -> Result:
        rest = {"rating": 5.0, "rating_explanation": "", "findings": []}
        return Result(step.output(title=f"Of {len(value.entities)}", summary=value.context[:80], **rest))


class Encoder(TinyEncoder):
    def __init__(self, on_call: Callable[[], None] = lambda: None):
        self.on_call = on_call

    def encode(self, texts):
        self.on_call()
        return super().encode(texts)


class Clock:
    """Counts calls of the engine, of the encoder, and files about to be replaced; kills at one of them."""

    def __init__(self, kill_at: int | None = None):
        self.kill_at, self.time = kill_at, 0

    def tick(self, *_) -> None:
        if self.time == self.kill_at:
            raise KeyboardInterrupt("killed")
        self.time += 1


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Several groups and blocks even in a tiny corpus."""
    monkeypatch.setattr(journal, "GROUP", 4)
    monkeypatch.setattr(vectors, "BLOCK_CHARACTERS", 300)


@contextmanager
def replacing(clock: Clock):
    """Counts every file and folder that is about to take its name."""
    with pytest.MonkeyPatch.context() as patch:
        replace_file = os.replace
        patch.setattr(os, "replace", lambda *paths: (clock.tick(), replace_file(*paths)))
        yield


def build(folder: Path, kinds, engine=None, clock: Clock | None = None, data=DATA) -> Index:
    clock = clock or Clock()
    engine = engine or Model(on_call=clock.tick)
    with replacing(clock):
        return Index.build(
            data, engine, folder, encoder=Encoder(clock.tick), layers=kinds, settings=SETTINGS, progress=False
        )


@pytest.fixture(scope="module")
def stands(tmp_path_factory) -> Path:
    """A folder with an index of all layers, `all`, and for each kind one of the layers below it, `<kind>`."""
    folder = tmp_path_factory.mktemp("stands")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journal, "GROUP", 4)
        patch.setattr(vectors, "BLOCK_CHARACTERS", 300)
        for kind in KINDS:
            below = [one for one in closure({kind}, KINDS) if one != kind]
            if below:
                build(folder / kind, below)
        build(folder / "all", KINDS)
    return folder


def below(kind: str, stands: Path, to: Path) -> Path:
    """A copy of the layers below a kind; nothing where there are none."""
    if (stands / kind).exists():
        shutil.copytree(stands / kind, to)
    return to


def hashes(index: Index) -> dict[str, str]:
    return {kind: index.layer(kind).hash for kind in index.manifest["layers"]}


def requests_of(kind: str, stands: Path, to: Path) -> Counter:
    """What the building of one layer asks the engine."""
    build(below(kind, stands, to), [kind], engine := Model())
    return Counter(engine.requests)


# -- built and reopened -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_layer_is_a_function_of_what_is_below_it(stands, tmp_path, kind):
    """The same bytes elsewhere, the same hash when reopened, and building again changes nothing and asks nothing."""
    whole, index = Index.open(stands / "all"), build(below(kind, stands, tmp_path / kind), [kind])
    (name,) = (path.name for path in (stands / "all").glob(f"{kind}-*"))
    assert files(index.folder / name) == files(stands / "all" / name)
    assert Index.open(index.folder).layer(kind).hash == index.layer(kind).hash == whole.layer(kind).hash
    assert whole.layer(kind).kind == kind and repr(whole.layer(kind))
    before, clock = files(index.folder), Clock(kill_at=0)
    assert hashes(build(index.folder, [kind], clock=clock)) == hashes(index)
    assert files(index.folder) == before and clock.time == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_layer_asks_the_steps_that_it_names(stands, tmp_path, kind):
    requests = requests_of(kind, stands, tmp_path / kind)
    named = {step.name for step in Index.open(tmp_path / kind).layer(kind).steps}
    assert {step for step, _ in requests} in (named, set())  # no two entities of the tiny corpus are alike


@pytest.mark.parametrize("kind", KINDS)
def test_requesting_a_layer_of_another_engine_leaves_the_others(stands, tmp_path, kind):
    shutil.copytree(stands / "all", tmp_path / "all")
    before, requested = files(tmp_path / "all"), set(closure({kind}))
    others = [one for one in KINDS if not (requested & set(closure({one}, KINDS))) - {"passages"}]
    build(tmp_path / "all", [kind], Model("openai:two"))
    after = files(tmp_path / "all")
    for name in before:
        assert name.partition("-")[0] not in others or after[name] == before[name]


# -- killed -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.full
def test_a_killed_build_resumes_to_the_same_bytes_and_repeats_one_layer_at_most(stands, tmp_path, kind):
    """Of an engine without a store; what a store holds is never asked again (`test_index_resume.py`)."""
    whole, model = Clock(), Model()
    model.on_call = whole.tick
    build(below(kind, stands, tmp_path / "whole"), [kind], model, whole)
    assert whole.time >= 2
    once = Counter(model.requests)
    for time in sorted({round(n * (whole.time - 1) / (KILLS - 1)) for n in range(KILLS)}):
        folder, clock = below(kind, stands, tmp_path / str(time)), Clock(kill_at=time)
        first, second = Model(on_call=clock.tick), Model()
        with pytest.raises(KeyboardInterrupt, match="killed"):
            build(folder, [kind], first, clock)
        if (folder / "manifest.json").exists():
            assert kind not in Index.open(folder).manifest["layers"]
        build(folder, [kind], second)
        assert files(folder) == files(tmp_path / "whole")
        assert Counter(second.requests) in (once, Counter()), "all of the layer, or nothing where it was whole"


# -- insert and delete ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def changed(stands, tmp_path_factory) -> dict[str, tuple[Index, Index]]:
    """All layers after an insert, and after a deletion from its middle: (changed, built afresh)."""
    folder, model = tmp_path_factory.mktemp("changed"), Model()
    shutil.copytree(stands / "all", folder / "index")
    index = Index.open(folder / "index", Encoder()).insert(NEW, model, progress=False)
    shutil.copytree(index.folder, folder / "inserted")
    gone = ["p2", "p6", "sea 9"]
    index.delete(gone, model, progress=False)
    more = (*DATA.passages, *NEW)
    less = tuple(passage for passage in more if passage.id not in gone)
    return {
        change: (Index.open(folder / at), build(folder / f"fresh {change}", KINDS, data=replace(DATA, passages=rows)))
        for change, at, rows in (("insert", "inserted", more), ("delete", "index", less))
    }


@pytest.mark.parametrize("change", ["insert", "delete"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_index_holds_what_a_fresh_build_holds(changed, kind, change):
    index, fresh = changed[change]
    assert index.layer(kind).hash == fresh.layer(kind).hash


# -- other makers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_another_model_writes_a_layer_anew_and_signs_it(stands, tmp_path, kind):
    once = requests_of(kind, stands, tmp_path / "once")
    shutil.copytree(stands / "all", tmp_path / "all")
    index = build(tmp_path / "all", [kind], other := Model("openai:two"))
    made_by = index.manifest["layers"][kind].get("made_by", [])
    asked = Counter(request for request in other.requests if request in once)
    assert asked == once and all(maker.startswith("openai:two (") for maker in made_by) and bool(made_by) == bool(once)
    build(tmp_path / "all", [kind], idle := Model("openai:two"))
    assert idle.requests == []


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "extractions"])
def test_the_rules_replace_nothing_that_a_model_wrote(stands, tmp_path, kind):
    """Extractions requested of the rules are theirs, whatever stands; and what is made of them is new."""
    shutil.copytree(stands / "all", tmp_path / "all")
    whole = Index.open(stands / "all")
    data = replace(DATA, extractions=tuple(whole.extractions.records))
    index = build(tmp_path / "all", [kind], rules := Model("rules"), data=data)
    assert rules.requests == [] and index.layer(kind).hash == whole.layer(kind).hash
