"""Generated worlds: the same bytes, true to their gold graph, as hard as the dials say, and never half written."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import tracemalloc
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from scripts import loaded

import workbench as wb
from workbench.data.curated import GENERATED
from workbench.data.lines import rows
from workbench.data.worlds import Dials
from workbench.data.worlds.draws import Draws, Row, Shuffle, Strand
from workbench.data.worlds.facts import Entity, World
from workbench.data.worlds.questions import SHAPES
from workbench.data.worlds.schema import WORDINGS
from workbench.errors import DataError, SettingError
from workbench.testing import HashEncoder

SCRIPT = loaded(Path(__file__).parents[2] / "benchmarks/decompositions.py", "decompositions_script")
KINDS = {kind for kind, _ in SHAPES}


def read(folder, name):
    return [row for _, row in rows(folder / name)]


def files(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return wb.world(tmp_path_factory.mktemp("worlds") / "one", passages=800, seed=7, progress=False)


@pytest.fixture(scope="module")
def data(folder):
    return wb.load(folder)


def make(tmp_path, **dials):
    return wb.world(tmp_path / "made", progress=False, **{"passages": 300, "questions": 0, "seed": 5} | dials)


# Bytes


def test_the_same_dials_give_the_same_bytes_in_any_process_and_another_seed_others(tmp_path):
    one, other = (wb.world(tmp_path / str(seed), passages=200, seed=seed, progress=False) for seed in (7, 8))
    code = f"import workbench as wb; wb.world({str(tmp_path / 'w')!r}, passages=200, seed=7, progress=False)"
    subprocess.run([sys.executable, "-c", code], check=True, env={**_environment(), "PYTHONHASHSEED": "1234"})
    assert files(tmp_path / "w") == files(one)
    same = {path for path, content in files(other).items() if content == files(one)[path]}
    assert {str(path) for path in same} == {"graph/schema.json"}


def test_a_folder_that_holds_the_world_is_left_and_any_other_is_an_error(folder, tmp_path):
    before = (folder / "corpus.jsonl").stat().st_mtime_ns
    assert wb.world(folder, passages=800, seed=7) == folder
    assert (folder / "corpus.jsonl").stat().st_mtime_ns == before
    with pytest.raises(DataError, match="exists already"):
        wb.world(folder, passages=800, seed=9)
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(DataError, match="exists already"):
        wb.world(tmp_path, passages=100)
    assert (tmp_path / "mine.txt").read_text() == "mine"


# What the folder holds


def test_it_loads_with_a_gold_graph_that_is_said_to_be_generated(data):
    assert len(data.passages) == 800 and len(data.questions) == 300
    assert data.offers == ("curated",) and data.graph.made_by == "generated"
    assert {entity.type for entity in data.graph.entities} == {kind.name for kind in data.graph.schema.entity_types}
    used = {(triple.kind, triple.relation) for triple in data.graph.triples}
    schema = data.graph.schema
    assert used == {("relation", one.name) for one in schema.relations} | {
        ("attribute", one.name) for one in schema.attributes
    }
    periods = [triple for triple in data.graph.triples if triple.until is not None]
    assert periods and all(triple.since <= triple.until for triple in periods)


def test_names_and_aliases_belong_to_one_entity_each(data):
    names = [name for entity in data.graph.entities for name in (entity.name, *entity.aliases)]
    assert len({name.casefold() for name in names}) == len(names)


def test_every_passage_states_what_the_graph_says_of_it(data):
    """Both ends of each fact stand in its passage, entities by their name or alias."""
    named = {entity.name: (entity.name, *entity.aliases) for entity in data.graph.entities}
    texts = {passage.id: passage for passage in data.passages}
    for triple in data.graph.triples:
        (passage,) = triple.passages
        assert texts[passage].title == triple.head
        forms = named[triple.tail] if triple.kind == "relation" else (triple.tail,)
        assert any(stands(form, texts[passage].text) for form in forms), triple
        for year in filter(None, (triple.since, triple.until)):
            assert str(year) in texts[passage].text, triple


def stands(form, text):
    return re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text) is not None


def test_the_lives_of_people_are_possible(data):
    years = defaultdict(dict)
    for triple in data.graph.triples:
        if triple.relation in ("date of birth", "date of death"):
            years[triple.head][triple.relation] = int(triple.tail[-4:])
    births = {name: found["date of birth"] for name, found in years.items() if "date of birth" in found}
    deaths = {name: found["date of death"] for name, found in years.items() if "date of death" in found}
    checked = Counter()
    for triple in data.graph.triples:
        if triple.relation in ("mother", "father") and {triple.head, triple.tail} <= births.keys():
            assert 17 <= births[triple.head] - births[triple.tail] <= 47, triple
            checked["parents"] += 1
        for person in (triple.head, triple.tail):
            if triple.since is not None and person in births:
                assert triple.since - births[person] >= 16, triple
                checked["young"] += 1
            if triple.since is not None and person in deaths:
                assert (triple.until or triple.since) <= deaths[person], triple
    spouses = {(triple.head, triple.tail) for triple in data.graph.triples if triple.relation == "married to"}
    assert spouses == {pair[::-1] for pair in spouses} and len(spouses) > 20
    assert checked["parents"] > 20 and checked["young"] > 100


# Questions


def test_there_are_questions_of_every_type_and_number_of_hops(data):
    assert {question.type for question in data.questions} == KINDS
    assert {question.hops for question in data.questions} == {2, 3, 4, 5, None}
    assert len({question.question for question in data.questions}) == len(data.questions)
    for question in data.questions:
        assert (question.type == "unanswerable") == (not question.answers) == (question.hops is None)
        assert len(question.support) == len(set(question.support)) == (question.hops or 0)
        assert question.answer_set == (question.type == "set")
        assert question.question[-1] == "?" and "{" not in question.question
        assert question.start


def test_no_answer_stands_in_its_question(data):
    for question in data.questions:
        if question.type not in ("comparison", "bridge-comparison", "count"):
            assert not [answer for answer in question.answers if stands(answer, question.question)], question


def test_executing_every_decomposition_gives_answers_and_support(folder, data):
    found = SCRIPT.check(folder)
    assert (found.answerable + found.unanswerable, found.without, found.faults) == (300, 0, {})
    assert found.unanswerable == sum(not question.answers for question in data.questions) > 20
    asked = [row for row in read(folder, "questions.jsonl") if row["answers"]]
    facts = SCRIPT.read_facts(folder)
    for row in asked:
        executed = SCRIPT.execute(row["decomposition"], facts)
        assert set(row["support"]) <= set(executed.passages)
        assert set(executed.answers) <= set(row["answers"])


@pytest.mark.parametrize(
    ("kind", "field", "value", "reason"),
    [
        ("compositional", "support", ["w001", "w002"], "rests on|states"),
        ("set", "answers", ["Nobody"], "executing it gives"),
        ("unanswerable", "unanswerable_because", {"pattern": []}, "has the match|cannot be executed|no pattern"),
    ],
)
def test_a_wrong_question_is_found(folder, tmp_path, kind, field, value, reason):
    asked = read(folder, "questions.jsonl")
    row = next(row for row in asked if row["type"] == kind)
    if kind == "unanswerable":  # a fact that the graph has
        known = next(other for other in asked if other["type"] == "compositional")
        value = {"pattern": [step["pattern"] for step in known["decomposition"]]}
    row[field] = value
    (tmp_path / "graph").symlink_to(folder / "graph")
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked), "utf-8")
    faults = SCRIPT.check(tmp_path).faults
    assert list(faults) == [row["id"]] and re.search(reason, faults[row["id"]])


# Hearsay


def test_hearsay_is_marked_and_never_in_the_gold_graph(tmp_path):
    told = make(tmp_path / "told", hearsay=1.0)
    silent = make(tmp_path / "silent", hearsay=0.0)
    marks = [re.escape(part) for frame in WORDINGS["hearsay"] for part in (frame.split("{claim}")[1].strip(" ,;"),)]
    marked = re.compile("|".join(marks))
    assert not [row for row in read(silent, "corpus.jsonl") if marked.search(row["text"])]
    share = sum(bool(marked.search(row["text"])) for row in read(told, "corpus.jsonl")) / 270
    assert share > 0.8
    assert (told / "graph/triples.jsonl").read_bytes() == (silent / "graph/triples.jsonl").read_bytes()
    by_title = {row["title"]: row["text"] for row in read(silent, "corpus.jsonl")}
    for row in read(told, "corpus.jsonl"):  # the rest of the text is the same: nothing else moves
        kept = [one for one in re.split(r"(?<=\.) ", row["text"]) if not marked.search(one)]
        assert " ".join(kept) == by_title[row["title"]]


# Dials


def test_aliases(tmp_path):
    none, all_of_them = make(tmp_path / "none", aliases=0), make(tmp_path / "all", aliases=1)
    assert not any(row["aliases"] for row in read(none, "graph/entities.jsonl"))
    assert all(row["aliases"] for row in read(all_of_them, "graph/entities.jsonl"))
    texts = {row["title"]: row["text"] for row in read(all_of_them, "corpus.jsonl")}
    for row in read(all_of_them, "graph/entities.jsonl"):
        assert stands(row["aliases"][0], texts[row["name"]]), row


def test_hubs(tmp_path):
    def largest(hubs):
        made = make(tmp_path / str(hubs), hubs=hubs, passages=1_000)
        tails = Counter(row["tail"] for row in read(made, "graph/triples.jsonl") if row["relation"] == "born in")
        return tails.most_common(1)[0][1]

    assert largest(0) * 3 < largest(0.3) < largest(0.9)


def test_paraphrase(tmp_path):
    """Without it each fact has one wording, or stands in an opening; with it others are as frequent."""

    def others(paraphrase, wordings=r"cradle stood in|a native of|birthplace was|came into the world in"):
        made = make(tmp_path / str(paraphrase), paraphrase=paraphrase, hearsay=0, passages=600)
        text = " ".join(row["text"] for row in read(made, "corpus.jsonl"))
        return len(re.findall(wordings, text))

    assert others(0) == 0 < others(0.4)
    assert others(0.4, "cradle stood in") == 0 < others(1, "cradle stood in")  # the more distant, the later


def test_distractors(tmp_path):
    made = make(tmp_path, distractors=0.5)
    stating = {row["passages"][0] for row in read(made, "graph/triples.jsonl")}
    assert len(stating) == 150
    named = {row["name"] for row in read(made, "graph/entities.jsonl")}
    aliases = {alias for row in read(made, "graph/entities.jsonl") for alias in row["aliases"]}
    for row in read(made, "corpus.jsonl"):
        if row["id"] not in stating:
            assert any(stands(name, row["text"]) for name in named | aliases)


@pytest.mark.parametrize(
    ("locale", "date"),
    [
        ("en-GB", r"\d{1,2} (May|June) \d{4}"),
        ("de", r"\d{1,2}\. (Mai|Juni) \d{4}"),
        ("iso", r"\d{4}-0[56]-\d{2}"),
    ],
)
def test_locale(tmp_path, locale, date):
    made = make(tmp_path, locale=locale)
    corpus = (made / "corpus.jsonl").read_text("utf-8")
    assert re.search(date, corpus)
    graph = (made / "graph/triples.jsonl").read_text("utf-8")
    assert re.search(r'"\d{1,2} (May|June) \d{4}"', graph)  # the graph has one form
    if locale != "en-GB":
        assert not re.search(r"\b\d{1,2} (May|June) \d{4}", corpus)


def test_mixed_locales_are_answered_in_every_form(tmp_path):
    made = make(tmp_path, locale="mixed", questions=200)
    corpus = (made / "corpus.jsonl").read_text("utf-8")
    assert all(re.search(form, corpus) for form in (r"\d\. Mai \d{4}", r"\d{4}-\d\d-\d\d", r"May \d{1,2}, \d{4}"))
    iso = re.compile(r"\d{4}-\d\d-\d\d")
    dated = [row for row in read(made, "questions.jsonl") if any(map(iso.fullmatch, row["answers"]))]
    texts = {row["id"]: row["text"] for row in read(made, "corpus.jsonl")}
    assert dated and all(
        any(answer in texts[row["decomposition"][-1]["support"]] for answer in row["answers"]) for row in dated
    )


@pytest.mark.parametrize(
    ("dials", "said"),
    [
        ({"passages": 99}, "from 100 to"),
        ({"passages": "many"}, "number of passages"),
        ({"seed": -1}, "of at least 0"),
        ({"aliases": 1.1}, "from 0 to 1"),
        ({"distractors": 0.6}, "distractors"),
        ({"locale": "tlh"}, "en-GB, en-US, de"),
        ({"size": 3}, "passages, seed"),
    ],
)
def test_a_dial_out_of_its_bounds_is_an_error_that_writes_nothing(tmp_path, dials, said):
    with pytest.raises(SettingError, match=said):
        wb.world(tmp_path / "w", **dials)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("dials", [{"density": 0}, {"density": 1, "aliases": 1, "hubs": 0.9, "distractors": 0.5}])
def test_the_smallest_worlds_are_whole(tmp_path, dials):
    made = wb.world(tmp_path / "w", passages=100, seed=1, questions=60, progress=False, **dials)
    assert len(wb.load(made).passages) == 100
    found = SCRIPT.check(made)
    assert not found.faults
    asked = found.answerable + found.unanswerable
    assert asked == 60 or "were asked for" in wb.load(made).origin.notes[-1]


# Size


@pytest.mark.slow
def test_memory_does_not_grow_with_the_size(tmp_path):
    """Counting allocations makes a world take ten times as long."""

    def peak(passages):
        tracemalloc.start()
        wb.world(tmp_path / str(passages), passages=passages, seed=3, questions=30, progress=False)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(100)  # what is imported and compiled at the first use
    assert peak(1_000) < peak(250) + 200_000


def test_a_stopped_generation_leaves_nothing_that_loads(tmp_path):
    target = tmp_path / "w"
    code = f"import workbench as wb; wb.world({str(target)!r}, passages=1_000_000, seed=7, questions=0, progress=False)"
    process = subprocess.Popen([sys.executable, "-c", code], env=_environment(), stderr=subprocess.DEVNULL)
    part = tmp_path / "w.part" / "corpus.part"
    while not (part.exists() and part.stat().st_size):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not target.exists()
    for left in tmp_path.iterdir():
        with pytest.raises(DataError):
            wb.load(left)
    made = wb.world(target, passages=300, seed=7, progress=False)
    assert len(wb.load(made).passages) == 300 and list(tmp_path.iterdir()) == [target]


def _environment():
    return {**os.environ, "PYTHONPATH": str(Path(wb.__file__).parents[1])}


# By name, and in use


def test_by_name(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_CACHE", str(tmp_path))
    data = wb.load("world[seed=3,passages=100]")
    assert (data.name, len(data.passages)) == ("world[passages=100,seed=3]", 100)
    assert wb.load("world[passages=100,seed=3,hubs=0.2]").folder == data.folder  # a default changes nothing
    assert len(wb.load("world[seed=3,passages=100]/5@1").questions) == 5
    with pytest.raises(SettingError, match="no setting 'size'"):
        wb.load("world[size=3]")


def test_an_index_from_the_gold_graph_answers(tmp_path):
    made = make(tmp_path, passages=100, questions=20)
    curated = wb.Index.build(
        made, None, tmp_path / "curated", extraction="curated", encoder=HashEncoder(), progress=False
    )
    assert curated.facts_by == (GENERATED,)
    question = wb.load(made).questions[0]
    found = wb.method("hipporag2", curated, wb.engine("rules")).retrieve(question.question, k=5)
    assert len(found.passages) == 5
    assert len(curated.facts.facts) > len(read(made, "graph/triples.jsonl")) * 0.9


# The arithmetic


def test_draws_depend_on_key_and_number_alone():
    assert [Draws(1, 2).bits(), Draws(1, 3).bits()] == [Draws(1, 2).bits(), Draws(1, 3).bits()]
    drawn = [Draws(5, number).below(10) for number in range(5_000)]
    assert set(drawn) == set(range(10)) and max(Counter(drawn).values()) < 600
    assert sorted(Draws(1).sample("abc", 5)) == ["a", "b", "c"]


@pytest.mark.parametrize("n", [1, 2, 97])
def test_a_shuffle_is_undone(n):
    mixed = Shuffle(42, n)
    assert sorted(map(mixed, range(n))) == list(range(n))
    assert all(mixed.undo(mixed(number)) == number for number in range(n))


@pytest.mark.parametrize("hubs", [0, 0.9])
def test_a_strand_leads_back(hubs):
    strand = Strand(Row(3, 2, 500), Row(1, 3, 40), 9, hubs)
    back = {tail: list(strand.heads_of(tail)) for tail in range(130)}
    for head in range(1_200):
        tail = strand.tail(head)
        assert tail is None or head in back[tail]
    assert sum(map(len, back.values())) == 500


def test_entities_and_passages_lead_to_each_other():
    made = World(Dials(passages=300, seed=4))
    subjects = [made.entity(number) for number in range(300)]
    assert Counter(one.kind for one in subjects if one) == made.counts
    assert all(made.article(one) == number for number, one in enumerate(subjects) if one)
    assert not list(made.heads(Entity("town", 10**9), "born in"))
