"""Profiles written by an engine: merged from what it says of passages, kept as it says it, gone with the passages."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from extracting import Extractor
from tiny import TinyEncoder, files, tiny_dataset

from workbench import tokens
from workbench.data import Dataset
from workbench.data.graph import EntityType, Schema
from workbench.data.profiles import EntityProfile, RelationProfile
from workbench.errors import IndexFault
from workbench.index import Index, journal, profiles
from workbench.records import Passage
from workbench.steps import entity_relations, summarising

DATA = replace(tiny_dataset(), extractions=None)
END = entity_relations.END


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    monkeypatch.setattr(journal, "GROUP", 2)


def _reply(value) -> str:
    """Its title is a Location told by its text, and lies in Meridian."""
    entity = f"entity<|#|>{value.title}<|#|>Location<|#|>{value.text}"
    return f"{entity}\nrelation<|#|>{value.title}<|#|>Meridian<|#|>place<|#|>{value.title} is there.\n{END}"


Model = partial(Extractor, _reply)  # what it says of a passage, unless it is told to say something else


def build(folder, engine=None, data=DATA, layers=("profiles",), **chosen) -> Index:
    chosen = {"profiles": chosen} if chosen else {}
    return Index.build(
        data, engine, folder, encoder=TinyEncoder(), layers=layers, settings=chosen, progress=False
    )  # fmt: skip


def corpus(*texts: str) -> Dataset:
    return Dataset("made", tuple(Passage(f"p{n}", f"T{n}", text) for n, text in enumerate(texts, 1)))


def said(*lines: str) -> str:
    return "\n".join([*lines, END])


# -- what a model says becomes profiles -------------------------------------------------------------------------------


def test_two_passages_worked_out_by_hand(tmp_path):
    says = {
        "T1": said("entity<|#|>Orsby<|#|>location<|#|>A town.", "entity<|#|>Nora<|#|>Person<|#|>Its founder.",
                   "relation<|#|>Orsby<|#|>Nora<|#|>town, founding<|#|>She founded it."),
        "T2": said("entity<|#|>Orsby<|#|>Event<|#|>A fair.", "entity<|#|>Nora<|#|>Seafarer<|#|>Its founder.",
                   "relation<|#|>Nora<|#|>Orsby<|#|>birth<|#|>She was born there.",
                   "relation<|#|>Nora<|#|>Quell<|#|>travel<|#|>She went there."),
    }  # fmt: skip
    index = build(tmp_path, Model(says=says), corpus("a", "b"))
    assert index.profiles.entities == [
        EntityProfile("Nora", "Person", "Its founder.", ("p1", "p2")),  # one vote each: the first stands
        EntityProfile("Orsby", "Location", "A town.\nA fair.", ("p1", "p2")),
        EntityProfile("Quell", "unknown", "She went there.", ("p2",)),
    ]
    assert index.profiles.relations == [
        RelationProfile("Nora", "Quell", "She went there.", ("travel",), 1.0, ("p2",)),
        RelationProfile("Orsby", "Nora", "She founded it.\nShe was born there.", ("birth", "founding", "town"), 2.0,
                        ("p1", "p2")),
    ]  # fmt: skip
    layer = index.manifest["layers"]["profiles"]
    assert layer["made_by"] == ["openai:one (entity_relations v1)"]
    assert {"failures": 0, "cut": 0, "repaired": 0, "skipped": 0, "extracted": 2, "fused": 0}.items() <= layer.items()
    assert [t.name for t in index.profiles.schema.entity_types] == [name for name, _ in entity_relations.TYPES]
    assert not index.profiles.given and Index.open(tmp_path).profiles.profiles == index.profiles.profiles


def test_types_come_from_the_settings_or_the_data_or_are_lightrag_s(tmp_path):
    schema = Schema((EntityType("musical work", "An opera."),), (), (), "Of music.")
    data = replace(corpus("a"), schema=schema)
    says = {
        "T1": said("entity<|#|>A<|#|>Musical Work<|#|>d", "entity<|#|>B<|#|>Person<|#|>d", "entity<|#|>C<|#|>x<|#|>d")
    }
    for name, chosen, wanted in (
        ("data", {}, (("musical work", "An opera."),)),
        ("settings", {"types": ("musical work", "Person", "boat")},
         (("musical work", "An opera."), ("Person", dict(entity_relations.TYPES)["Person"]), ("boat", ""))),
    ):  # fmt: skip
        model = Model(says=says)
        index = build(tmp_path / name, model, data, **chosen)
        assert model.calls[0][0].types == wanted
        defined = [(t.name, t.definition) for t in index.profiles.schema.entity_types]
        assert defined[: len(wanted)] == list(wanted) and defined[-1][0] == "x"
        assert index.profiles.schema.description == "Of music."
        assert [e.type for e in index.profiles.entities] == ["musical work", "Person" if chosen else "person", "x"]
    model = Model()
    build(tmp_path / "none", model, corpus("a"))
    assert model.calls[0][0].types == entity_relations.TYPES


# -- hostile replies --------------------------------------------------------------------------------------------------

HOSTILE = {
    "empty": "",
    "binary": "\x00\x01\x89PNG\r\n\x1a\n\ufffd\udcff" * 50,
    "huge": "x" * 300_000,
}


@pytest.mark.parametrize("reply", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_cannot_be_read_is_a_failure_of_its_passage(tmp_path, reply):
    index = build(tmp_path, Model(says={"T1": reply}), corpus("a", "b"))
    assert [e.passages for e in index.profiles.entities] == [("p2",), ("p2",)]
    assert index.manifest["layers"]["profiles"]["failures"] == 1
    assert index.ensure(["typed"], progress=False).typed.names == ["Meridian", "T2"]


# -- descriptions -----------------------------------------------------------------------------------------------------


def told(index: Index, name: str) -> str:
    return next(entity.description for entity in index.profiles.entities if entity.name == name)


def about(count: int, each: str = "Fragment {}.") -> tuple[Dataset, dict[str, str]]:
    """Passages that each tell something of Orsby, and nothing else."""
    data = corpus(*(str(n) for n in range(count)))
    return data, {f"T{n}": said(f"entity<|#|>Orsby<|#|>Location<|#|>{each.format(n)}") for n in range(1, count + 1)}


def test_descriptions_are_fused_from_as_many_fragments_as_the_settings_say(tmp_path):
    data, says = about(3)
    few, many = Model(says=says), Model(says=says)
    assert told(build(tmp_path / "few", few, data, fragments=4), "Orsby") == "Fragment 1.\nFragment 2.\nFragment 3."
    index = build(tmp_path / "many", many, data, fragments=3)
    assert few.fused == [] and told(index, "Orsby") == "3 of Orsby"
    assert many.fused == [summarising.Fragments("Orsby", "entity", ("Fragment 1.", "Fragment 2.", "Fragment 3."))]
    layer = index.manifest["layers"]["profiles"]
    assert layer["fused"] == 1 and "openai:one (fuse_descriptions v1)" in layer["made_by"]


def test_more_fragments_than_fit_into_a_request_are_fused_in_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(profiles, "WINDOW", 3 * tokens.count("Fragment 1."))
    data, says = about(7)
    model = Model(says=says)
    index = build(tmp_path, model, data, fragments=2)
    assert [value.fragments for value in model.fused] == [
        ("Fragment 1.", "Fragment 2.", "Fragment 3."), ("Fragment 4.", "Fragment 5.", "Fragment 6."),
        ("3 of Orsby", "3 of Orsby"),  # the two are longer; the seventh waits for what comes of them
        ("2 of Orsby", "Fragment 7."),
    ]  # fmt: skip
    assert told(index, "Orsby") == "2 of Orsby"


@pytest.mark.parametrize(
    ("lengths", "groups"),
    [([5, 5, 5], [2, 1]), ([20, 20, 20], [2, 1]), ([4, 3, 3, 9], [3, 1]), ([1] * 25, [10, 10, 5]), ([30], [1]),
     ([30, 30], [2]), ([1, 30, 1, 1], [2, 2])],
)  # fmt: skip
def test_groups_of_fragments(lengths, groups, monkeypatch):
    monkeypatch.setattr(profiles, "WINDOW", 10)
    fragments = tuple(" a" * length for length in lengths)
    parts = profiles._groups(fragments)
    assert [len(part) for part in parts] == groups and sum(parts, ()) == fragments


def test_a_description_that_cannot_be_fused_keeps_its_fragments_and_is_asked_for_again(tmp_path):
    data, says = about(2)
    index = build(tmp_path, Model(says=says, fails_on=["Orsby"]), data, fragments=2)
    assert told(index, "Orsby") == "Fragment 1.\nFragment 2."
    assert index.manifest["layers"]["profiles"]["failures"] == 1
    model = Model(says=says)
    again = build(tmp_path, model, data)
    assert told(again, "Orsby") == "2 of Orsby" and model.asked == [] and len(model.fused) == 1


# -- insert and delete ------------------------------------------------------------------------------------------------

NEW = Passage("p9", "Skarne", "Skarne is a port on Lake Mira.")


def test_an_insert_asks_for_the_new_passages_and_a_delete_for_nothing(tmp_path):
    index = build(tmp_path, Model())
    before, schema = index.profiles.profiles, index.profiles.schema
    model = Model()
    more = index.insert([NEW], model, progress=False)
    assert [one.title for one in model.asked] == ["Skarne"] and told(more, "Skarne") == NEW.text
    model = Model()
    less = more.delete(["p9"], model, progress=False)
    assert model.asked == [] and less.profiles.profiles == before and less.profiles.schema == schema
    assert not any(b"Skarne" in raw for raw in files(tmp_path).values())


def test_without_an_engine_new_passages_are_refused_and_what_stands_stays(tmp_path):
    index = build(tmp_path, Model())
    with pytest.raises(IndexFault, match=r"1 passages have no profiles \(the first is 'p9'\) and no engine"):
        index.insert([NEW], progress=False)
    assert told(Index.open(tmp_path), "Quell") == told(index, "Quell")
