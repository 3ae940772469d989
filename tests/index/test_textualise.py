"""A graph of triples as a corpus: what is written, checked, asked again, mended and kept; types, ids, profiles."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny import TinyEncoder, tiny_dataset

import workbench as wb
from workbench.data import Dataset, registry
from workbench.data.origin import Origin
from workbench.data.profiles import EntityProfile, RelationProfile
from workbench.errors import DataError, IndexFault, SettingError
from workbench.index import Index
from workbench.index.journal import signed_by
from workbench.index.textualise import induced, textualise
from workbench.index.textualise.writers import mentions, plain, safe, topics
from workbench.llm.meter import Meter
from workbench.llm.step import Result
from workbench.records import Question, Triple
from workbench.rules import rule_for

RULES = wb.engine("rules")
FILMS = (
    Triple("Red Sea", "directed_by", "Mira"),
    Triple("Red Sea", "written_by", "Mira"),
    Triple("Red Sea", "has_genre", "Comedy"),
    Triple("Red Sea", "has_tags", "comedy"),
    Triple("Zulu", "in_language", "Zulu"),
    Triple("Zulu", "release_year", "1999"),
    Triple("1999", "has_imdb_rating", "good"),
)


def graph(*triples: Triple, **more) -> Dataset:
    return Dataset("films", (), triples=triples or FILMS, **more)


def rules(data, folder, **settings) -> Dataset:
    return textualise(data, RULES, folder, progress=False, **settings)


def rows(folder, name: str = "marked") -> list[dict]:
    return [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]


class Scripted:
    """A model whose replies to a Step are given by a function of (input, how often it was asked before); None fails.
    A Step without a function is done by its rule body. Every input is remembered."""

    name = "openai:scripted"

    def __init__(self, fail_at: int | None = None, **replies):
        self.replies, self.asked, self.meter, self.calls, self.fail_at = replies, [], Meter(), 0, fail_at

    def run(self, step, inputs, *, trace=None):
        if self.calls == self.fail_at:
            raise KeyboardInterrupt
        self.calls += 1
        return [self._reply(step, value) for value in inputs]

    def _reply(self, step, value) -> Result:
        key = (step.name, getattr(value, "topic", None) or value.name)
        before = sum(name == key for name, _ in self.asked)
        self.asked.append((key, value))
        if step.name not in self.replies:
            return Result(rule_for(step)([value])[0])
        said = self.replies[step.name](value, before)
        return Result(None, failure="refused") if said is None else Result(step.output.model_validate(said))

    def times(self, step: str, name: str) -> int:
        return sum(key == (step, name) for key, _ in self.asked)


# -- what the template writes ---------------------------------------------------------------------------------------


def test_a_small_graph_by_the_rules(tmp_path):
    questions = (Question("q1", "who?", ("Mira",), start=("Red Sea",), answer_set=True),)
    data = rules(graph(questions=questions), tmp_path)
    assert data.questions == questions and data.triples == FILMS
    assert {p.id: p.text for p in data.passages} == {
        "1999#1": "1999 is rated good on IMDb. Zulu was released in the year 1999.",
        "Comedy#1": "Red Sea is of the genre Comedy.",
        "Mira#1": "Red Sea was directed by Mira. Red Sea was written by Mira.",
        "Red Sea#1": "Red Sea was directed by Mira; is of the genre Comedy; has the tag comedy; was written by Mira.",
        "Zulu#1": "Zulu is in the language Zulu; was released in the year 1999.",
        "comedy#1": "Red Sea has the tag comedy.",
        "good#1": "1999 is rated good on IMDb.",
    }
    assert [p.title for p in data.passages] == ["1999", "Comedy", "Mira", "Red Sea", "Zulu", "comedy", "good"]
    assert data.profiles.entities[:2] == (
        # A film as well as a year: the first type of the schema counts.
        EntityProfile("1999", "movie", "The movie is rated good on IMDb. Zulu was released in the year.", ("1999#1",)),
        EntityProfile("Comedy", "genre", "Red Sea is of the genre.", ("Comedy#1",)),
    )
    assert {p.name: p.type for p in data.profiles.entities} == {
        "1999": "movie", "Comedy": "genre", "Mira": "person", "Red Sea": "movie", "Zulu": "movie", "comedy": "tag",
        "good": "tag",
    }  # fmt: skip
    assert data.profiles.relations[1] == RelationProfile(
        "Red Sea", "Mira", "Red Sea was written by Mira.", ("written by",), 1.0, ("Red Sea#1", "Mira#1"), "written_by"
    )
    assert data.profiles.relations[4].passages == ("Zulu#1",)  # it leads back
    assert rows(tmp_path)[2] == {
        "id": "Mira#1", "central": "Mira", "text_marked": "[Red Sea] was directed by <Mira>. [Red Sea] was written by "
        "<Mira>.", "writer": "template", "repaired": False, "hallucinated": 0,
    }  # fmt: skip


def test_without_a_schema_types_are_the_sides_of_relations(tmp_path):
    data = rules(graph(Triple("Orsby", "lies_on", "Aldra")), tmp_path)
    assert [(p.name, p.type, p.description) for p in data.profiles.entities] == [
        ("Aldra", "→ lies_on", "Orsby lies on it."), ("Orsby", "lies_on →", "It lies on Aldra."),
    ]  # fmt: skip
    assert data.schema.relations[0].name == "lies_on" and data.profiles.relations[0].keywords == ("lies on",)


HOSTILE = ["<script>a()</script>", "[x] > <y>", "It", "It's It", "a#1", "a", "A", "&amp;", "\x00\u202e", "\u2028x",
           " a ", "名前", "'\"\\", "{0} %s", "</topic>", "x\ty\n"]  # fmt: skip
_names = st.sampled_from(HOSTILE) | st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="⟦⟧⟨⟩"), min_size=1, max_size=5
).filter(str.strip)
_triples = st.lists(
    st.builds(Triple, _names, st.sampled_from(["directed_by", "has_tags", "<b>on</b>_", "?"]), _names),
    min_size=1, max_size=40,
)  # fmt: skip


@given(_triples, st.integers(1, 4))
def test_any_graph_keeps_the_contract(tmp_path_factory, triples, shard):
    folder = tmp_path_factory.mktemp("any")
    data = rules(graph(*triples), folder, shard=shard)
    ids = [passage.id for passage in data.passages]
    assert len(set(ids)) == len(ids) and all(map(str.isprintable, ids))
    marked = {row["id"]: row for row in rows(folder)}
    assert list(marked) == ids and not any(row["repaired"] or row["hallucinated"] for row in marked.values())
    texts = {passage.id: passage for passage in data.passages}
    assert all(plain(marked[id]["text_marked"]) == texts[id].text for id in ids)
    names = {name for t in triples for name in (t.subject, t.object)}
    assert {p.name for p in data.profiles.entities} == names == {p.title for p in data.passages}
    found = {(p.source, p.label, p.target) for p in data.profiles.relations}
    assert found == {t.members for t in triples} and len(data.profiles.relations) == len(found)
    for profile in data.profiles.relations:
        ends = (profile.source, profile.target)
        assert [texts[id].title for id in profile.passages] == list(dict.fromkeys(ends))
        for end in ends:
            assert end in profile.description
            assert all(safe(end) in mentions(marked[id]["text_marked"]) for id in profile.passages)
    assert all(safe(row["central"]) in topics(row["text_marked"]) for row in marked.values())
    assert all(id in ids for p in data.profiles.entities for id in p.passages)


# -- what a model writes --------------------------------------------------------------------------------------------


def test_an_article_is_asked_for_again_with_what_it_lacks(tmp_path):
    def reply(value, before):
        if value.topic != "Red Sea":
            return {"text": f"<{value.topic}> and [Red Sea], [Zulu], [1999], [good]."}
        said = ["<Red Sea> was made by [Mira], says [Ann].", "<Red Sea>: [Mira], [Comedy], [comedy], [Ann]."]
        return {"text": said[before]}

    model = Scripted(write_article=reply)
    data = textualise(graph(), model, tmp_path, progress=False)
    first, second = (value for (step, name), value in model.asked if (step, name) == ("write_article", "Red Sea"))
    assert first.missing == () and first.earlier == "" and first.type == "movie"
    assert second.missing == ("Comedy", "comedy") and second.earlier.startswith("<Red Sea> was made by")
    row = {row["id"]: row for row in rows(tmp_path)}["Red Sea#1"]
    assert row["text_marked"] == "<Red Sea>: [Mira], [Comedy], [comedy], Ann."
    assert (row["writer"], row["repaired"], row["hallucinated"]) == ("openai:scripted", False, 1)
    assert data.passage("Red Sea#1").text == "Red Sea: Mira, Comedy, comedy, Ann."


def test_an_index_says_how_its_data_were_loaded_and_their_articles_written(tmp_path, monkeypatch):
    """So that a run over it does, and also after the index is changed, when its data are its own."""
    options = {"brackets": True, "filtered": False}
    data = replace(graph(), name="metaqa/kb/100-per-hop@1", origin=Origin("here", {**options, "n": 9}))
    monkeypatch.setattr(registry, "find", lambda name: registry.ENTRIES["metaqa/vanilla/test"])
    given = {"encoder": TinyEncoder(), "settings": {"articles": {"profile": "paper"}}, "progress": False}
    index = Index.build(data, RULES, tmp_path / "index", **given)
    articles = {"shard": 25, "template_above": 500, "attempts": 4, "profile": "paper"}
    said = {"options": options, "articles": articles}
    assert said.items() <= index.manifest["data"].items()
    smaller = index.delete([index.passages.passages[0].id], progress=False)
    assert said.items() <= smaller.manifest["data"].items()
    plain = Index.build(
        tiny_dataset(), None, tmp_path / "plain", encoder=TinyEncoder(), layers=["passages"], progress=False
    )
    assert not {"options", "articles"} & plain.manifest["data"].keys()


def test_a_build_writes_articles_as_its_settings_say_and_its_profiles_name_the_step(tmp_path):
    model = Scripted(write_article_paper=lambda value, before: {"text": "[Mira] and [Comedy] and <Red Sea>."})
    paper = {"settings": {"articles": {"profile": "paper"}}, "encoder": TinyEncoder(), "progress": False}
    built = Index.build(graph(), model, tmp_path / "paper", layers=["profiles"], **paper)
    (maker,) = built.manifest["layers"]["profiles"]["made_by"]
    assert "write_article_paper" in signed_by(maker)[1]
    with pytest.raises(SettingError, match="writing of articles has no setting 'shards'; it has shard, template_above"):
        Index.build(graph(), model, tmp_path / "x", **paper | {"settings": {"articles": {"shards": 3}}})
    with pytest.raises(SettingError, match="not triples alone"):
        Index.build(tiny_dataset(), model, tmp_path / "x", **paper)


def test_what_an_article_still_lacks_is_added(tmp_path):
    model = Scripted(write_article=lambda value, before: {"text": "[Mira] and Comedy." if before else "No mark."})
    data = textualise(graph(), model, tmp_path, progress=False, attempts=3)
    assert model.times("write_article", "Red Sea") == 3
    assert data.passage("Red Sea#1").text == (
        "Mira and Comedy. Red Sea is of the genre Comedy. Red Sea has the tag comedy."
    )
    found = {row["id"]: row for row in rows(tmp_path)}
    assert found["Red Sea#1"]["repaired"] and found["Red Sea#1"]["writer"] == "openai:scripted"
    # Where the topic alone is lacking, one sentence names it.
    model = Scripted(write_article=lambda value, before: {"text": "[Red Sea]."})
    assert textualise(graph(), model, tmp_path / "b", progress=False).passage("Mira#1").text == (
        "Red Sea. Red Sea was directed by Mira."
    )


def test_what_failed_is_written_by_the_template_and_asked_again_by_the_next_run(tmp_path):
    silent = Scripted(**dict.fromkeys(("write_article", "describe_entity", "describe_relations"), lambda *_: None))
    written, template = textualise(graph(), silent, tmp_path, progress=False), rules(graph(), tmp_path / "rules")
    (by_model,), (by_rules,) = written.profiles.made_by, template.profiles.made_by
    assert signed_by(by_model) == (silent.name, by_rules.removeprefix("rules (").removesuffix(")"))
    assert written == replace(template, profiles=replace(template.profiles, made_by=(by_model,)))
    assert all((row["writer"], row["failure"]) == ("template", "refused") for row in rows(tmp_path))
    model = Scripted(describe_entity=lambda value, _: {"type": "theme", "description": f"{value.name}, [briefly]."})
    data = textualise(graph(), model, tmp_path, progress=False)
    assert data.profiles.entities[1].description == "Comedy, briefly."
    again = Scripted()
    assert textualise(graph(), again, tmp_path, progress=False) == data and not again.asked


@pytest.mark.parametrize(("profile", "of_comedy"), [("workbench", "genre"), ("paper", "person")])
def test_the_relations_settle_the_type_but_for_types_that_they_never_give(tmp_path, profile, of_comedy):
    """In the paper the model settles it, too, among the types of the schema."""
    said = {"comedy": "theme", "Comedy": "person", "Mira": "robot"}
    model = Scripted(describe_entity=lambda v, _: {"type": said.get(v.name, v.type), "description": "x"})
    data = textualise(graph(), model, tmp_path, profile=profile, progress=False)
    types = {p.name: p.type for p in data.profiles.entities}
    assert (types["comedy"], types["Comedy"], types["Mira"]) == ("theme", of_comedy, "person")


def test_each_triple_has_its_own_sentence_or_the_template_s(tmp_path):
    def reply(value, before):
        one = "[Red Sea] was shot by [Mira]."
        first = [(1, one), (2, "[Red Sea] is a comedy."), (3, one), (3, one), (9, one), (4, "[Red Sea], [comedy]")]
        return {"descriptions": [{"id": id, "description": text} for id, text in ([] if before else first)]}

    model = Scripted(describe_relations=reply)
    data = textualise(graph(*FILMS[:4]), model, tmp_path, progress=False, attempts=2)
    assert [p.description for p in data.profiles.relations] == [
        "Red Sea was shot by Mira.",
        "Red Sea was written by Mira.",
        "Red Sea is of the genre Comedy.",
        "Red Sea has the tag comedy.",
    ]
    first, second = (value for (step, _), value in model.asked if step == "describe_relations")
    # By relation, then by name: the second had no end in brackets, the third two sentences, the fourth another's ends.
    assert [t[1] for t in first.triples] == ["directed_by", "has_genre", "has_tags", "written_by"]
    assert [t[1] for t in second.triples] == ["has_genre", "has_tags", "written_by"]
    assert not first.again and second.again
    assert rows(tmp_path, "relations")[0]["repaired"] == 3


# -- stopped, damaged, refused --------------------------------------------------------------------------------------


MANY = tuple(Triple(f"f{n:03}", "directed_by", f"p{n % 40:02}") for n in range(150))


@pytest.mark.parametrize("fail_at", [0, 2, 5, 7])
def test_a_run_that_was_stopped_goes_on(tmp_path, fail_at):
    stopped = Scripted(fail_at=fail_at)
    with pytest.raises(KeyboardInterrupt):
        textualise(graph(*MANY), stopped, tmp_path, progress=False)
    data = textualise(graph(*MANY), Scripted(), tmp_path, progress=False)
    assert data == textualise(graph(*MANY), Scripted(), tmp_path / "whole", progress=False)
    textualise(graph(*MANY), idle := Scripted(), tmp_path, progress=False)
    assert idle.asked == []


@pytest.mark.parametrize(
    "change",
    [
        {"data": graph(*FILMS[1:])},
        {"engine": Scripted()},
        {"shard": 3},
        {"profile": "paper"},
        {"data": graph(schema=wb.load("meridian").schema)},
    ],
)
def test_texts_of_something_else_are_not_gone_on_with(tmp_path, change):
    rules(graph(), tmp_path)
    asked = {"data": graph(), "engine": RULES, **change}
    with pytest.raises(IndexFault, match=r"holds texts with another .*choose another folder, or delete"):
        textualise(asked.pop("data"), asked.pop("engine"), tmp_path, progress=False, **asked)


@pytest.mark.parametrize(
    ("data", "settings", "error", "said"),
    [
        (Dataset("x", ()), {}, DataError, "has no triples"),
        (wb.load("meridian"), {}, DataError, "has no triples"),
        (replace(wb.load("meridian"), triples=FILMS), {}, DataError, "passages of its own"),
        (graph(Triple("a", "on", "⟦x")), {}, DataError, "holds ⟦"),
        (graph(Triple("a", "on", " ")), {}, DataError, "cannot be the name of an entity"),
        (graph(), {"profile": "papers"}, SettingError, "profile='papers' is not known; use workbench or paper"),
        (graph(), {"shard": 0}, SettingError, "shard=0"),
        (graph(), {"attempts": True}, SettingError, "attempts=True"),
        (graph(), {"template_above": 2.5}, SettingError, "template_above=2.5"),
    ],
)
def test_what_cannot_be_textualised_is_refused(tmp_path, data, settings, error, said):
    with pytest.raises(error, match=said):
        rules(data, tmp_path, **settings)


# -- a part, an index -----------------------------------------------------------------------------------------------


def test_a_part_of_a_graph():
    questions = (
        Question("near", "?", ("Mira",), start=("Red Sea",)),
        Question("far", "?", ("1999",), start=("Zulu",)),
    )
    data = graph(questions=questions)
    assert {t.members for t in induced(data, ["Mira"], 1).triples} == {FILMS[0].members, FILMS[1].members}
    part = induced(data, ["Mira"], 2)
    assert part.triples == FILMS[:4] and [q.id for q in part.questions] == ["near"] and part.name == "films-part"
    assert induced(data, ["Mira"], 2, cap=3).triples == FILMS[:3]  # Comedy before comedy
    assert induced(data, ["Mira"], 0).triples == () and induced(data, ["Zulu"], 0).triples == FILMS[4:5]
    assert induced(data, ["Mira", "good"], 9).triples == FILMS
    with pytest.raises(DataError, match="'mira'"):
        induced(data, ["mira"])
    with pytest.raises(SettingError, match="cap=1"):
        induced(data, ["Mira", "Zulu"], cap=1)
