"""Names become placeholders, the same everywhere, and come back."""

from __future__ import annotations

import json
import shutil

import pytest
from tiny import files

import workbench as wb
from workbench import anonymity
from workbench.anonymity.names import PLACEHOLDER, Named, kind_of, read_aliases, read_names, table_of, write_names
from workbench.anonymity.rewritten import anonymised, restored, sharing_words
from workbench.data import Dataset, load
from workbench.errors import DataError
from workbench.llm.engine import RulesEngine
from workbench.records import Passage, Question, Triple

STORY = Dataset(
    "kestrel",
    (
        Passage("nora-whitlock", "Nora Whitlock", "Nora Whitlock was born in Alderby. Whitlock's brother is Tom."),
        Passage("tom-whitlock", "Tom Whitlock", "Tom Whitlock left ALDERBY. The Whitlocks are Alderbians."),
        Passage("kestrel-fm", "Kestrel FM", "Kestrel FM plays in old Álderby; Whitlock and a kestrel founded it."),
    ),
    (
        Question(
            "kf-1", "Where was the founder of Kestrel FM born?", ("Alderby", "ALDERBY", "in Alderby"), "bridge", 2,
            ("kestrel-fm", "nora-whitlock"),
            ({"question": "Who founded Kestrel FM?", "answer": "Nora Whitlock", "support": "kestrel-fm",
              "pattern": ["Kestrel FM", "founded by", "?"]},
             {"question": "Where was #1 born?", "answer": "Alderby", "support": "nora-whitlock"},
             {"question": "Are they the same?", "answer": "no", "support": None}),
        ),
    ),
    triples=(Triple("Tom Whitlock", "left", "Alderby", ("tom-whitlock",)),),
)  # fmt: skip
NAMES = (
    Named("Nora Whitlock", "person", ("Whitlock, Nora",), ("nora-whitlock",)),
    Named("Tom Whitlock", "person", (), ("tom-whitlock",)),
    Named("Alderby", "town"),
    Named("Kestrel FM", "station"),
)


@pytest.fixture(scope="module")
def made():
    return anonymised(STORY, NAMES)


def at(made, name: str) -> str:
    return next(one.placeholder for one in made.names.names if one.name == name)


def test_every_form_has_the_id_of_its_name(made):
    nora, tom, town = (at(made, name) for name in ("Nora Whitlock", "Tom Whitlock", "Alderby"))
    first, second, third = made.data.passages
    assert (first.title, first.text) == (nora, f"{nora} was born in {town}. {nora}'s brother is {tom}.")
    assert second.text.startswith(f"{tom} left {town}. The ") and second.text.endswith(f" are {town}ians.")
    assert f"plays in old {town};" in third.text  # without its accent
    assert [kind_of(one.type) for one in NAMES] == ["PERSON", "PERSON", "LOCATION", "STATION"]


def test_a_shared_surname_goes_to_who_is_named_there_and_else_is_a_name_of_its_own(made):
    nora, tom = at(made, "Nora Whitlock"), at(made, "Tom Whitlock")
    texts = [passage.text for passage in made.data.passages]
    family = PLACEHOLDER.findall(texts[2])[1]
    shared = f"[{family[0]}#{family[1]}]"
    assert shared not in (nora, tom) and shared in texts[2]
    assert f"The {tom}s" in texts[1] and nora not in texts[1]


def test_ids_questions_answers_and_steps_follow(made):
    (question,) = made.data.questions
    town, station = at(made, "Alderby"), at(made, "Kestrel FM")
    assert question.id == "q0001" and question.support == ("p0003", "p0001")
    assert question.answers == (town, f"in {town}")  # two that became equal are one
    assert question.question == f"Where was the founder of {station} born?"
    first, second, third = question.decomposition
    assert first["pattern"] == [station, "founded by", "?"] and first["support"] == "p0003"
    assert (second["question"], second["answer"]) == ("Where was #1 born?", town) and third["support"] is None
    assert made.data.triples == (Triple(at(made, "Tom Whitlock"), "left", town, ("p0002",)),)


def test_the_passages_come_back_as_they_were_and_the_questions_in_usual_forms(made, tmp_path):
    names = read_names(write_names(made.names, tmp_path / "names.jsonl"))
    assert names == made.names
    passages, (question,) = restored(made.data, names)
    assert passages == STORY.passages
    (asked,) = STORY.questions
    assert (question.id, question.question, question.support) == (asked.id, asked.question, asked.support)
    assert question.answers == ("Alderby", "in Alderby") and question.decomposition == asked.decomposition
    assert names.restore("[PERSON#9999] left.") == "[PERSON#9999] left."  # of another table


def test_twice_is_the_same_and_numbers_do_not_follow_the_alphabet(made):
    assert anonymised(STORY, NAMES) == made == anonymised(STORY, NAMES[::-1])
    crowd = " ".join(f"Z{letter}xo" for letter in "abcdefgh")
    ranked = anonymised(Dataset("crowd", (Passage("a", "", crowd),)), [Named(name) for name in crowd.split()])
    numbers = [int(number) for _, number in PLACEHOLDER.findall(ranked.data.passages[0].text)]
    assert sorted(numbers) == list(range(1, 9)) and numbers not in (sorted(numbers), sorted(numbers)[::-1])


def test_calendar_and_common_words_within_names_stay():
    text = "Bridge Monday is a feast. Every Monday a bridge is lit. The feast of Bridge Monday."
    data = Dataset("feast", (Passage("a", "", text),))
    (passage,) = anonymised(data, [Named("Bridge Monday", "feast")]).data.passages
    assert passage.text == "[FEAST#1] is a feast. Every Monday a bridge is lit. The feast of [FEAST#1]."


def test_a_description_is_its_thing_where_that_is_at_home_and_else_a_term():
    data = Dataset("town", (Passage("a", "Halm", "It has a theatre."), Passage("b", "Orl", "It has a theatre.")))
    made = anonymised(data, [Named("Halm"), Named("Orl"), Named("Halm playhouse", "house", ("a theatre",), ("a",))])
    here, elsewhere = (passage.text for passage in made.data.passages)
    assert here.startswith("It has [HOUSE#") and elsewhere.startswith("It has [TERM#")


def test_scripts_without_spaces_have_names_too():
    data = Dataset("liangshan", (Passage("a", "第三回", "史进在延安府遇见鲁智深。智深大喜，Shi Jin笑。"),))
    names = [Named("鲁智深", "person", ("智深",)), Named("史进", "person", ("Shi Jin",)), Named("延安府", "place")]
    made = anonymised(data, names)
    lu, shi, town = (at(made, one.name) for one in names)
    assert made.data.passages[0].text == f"{shi}在{town}遇见{lu}。{lu}大喜，{shi}笑。"
    assert restored(made.data, made.names)[0] == data.passages


@pytest.mark.parametrize(
    ("data", "names", "said"),
    [
        (Dataset("x", (Passage("a", "", "[PERSON#1] came."),)), NAMES, r"contains the placeholder '\[PERSON#1\]'"),
        (STORY, (), "no names were found in 'kestrel'; pass a table"),
    ],
)
def test_what_could_not_be_undone_is_refused(data, names, said):
    with pytest.raises(DataError, match=said):
        anonymised(data, names)


def test_types_restrict_what_is_replaced(tmp_path):
    rows = [{"name": one.name, "type": one.type, "aliases": one.aliases, "passages": one.passages} for one in NAMES]
    (tmp_path / "names.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert read_aliases(tmp_path / "names.jsonl") == NAMES
    made = wb.anonymise(STORY, tmp_path / "names.jsonl", types=["town"])
    assert made.data.passages[2].text == "Kestrel FM plays in old [LOCATION#1]; Whitlock and a kestrel founded it."


def test_the_rules_find_and_link_names():
    made = wb.anonymise(STORY)
    (nora,) = [one for one in made.names.names if one.name == "Nora Whitlock"]
    assert nora.type == "person" and "Nora Whitlock" not in "".join(one.content for one in made.data.passages)
    assert restored(made.data, made.names)[0] == STORY.passages
    assert sharing_words(["Ann Lee", "Bo Lee", "Bo", "Orl"]) == [("Ann Lee", "Bo", "Bo Lee")]


def test_what_one_request_links_is_bounded():
    """Two hundred rivers are not asked about together because they are rivers."""
    names = [f"River {letter}{number}" for letter in "abc" for number in range(70)]
    people = ["Ann River", "Ann", "Bo River"]
    blocks = sharing_words([*names, *people])
    assert blocks == [("Ann", "Ann River")]
    assert sharing_words(names[:100]) == [tuple(sorted(names[:100]))]


def test_a_passage_whose_names_are_not_found_is_an_error():
    class Failing(RulesEngine):
        def run(self, step, inputs, **more):
            from workbench.llm.step import Result

            return [Result(None, "no reply") for _ in inputs]

    with pytest.raises(DataError, match=r"find_names failed for .*no reply"):
        wb.anonymise(STORY, engine=Failing())


def test_the_table_lies_beside_the_folder_and_is_found_there(made, tmp_path):
    folder = anonymity.write(made, tmp_path / "story")
    assert table_of(folder) == tmp_path / "story.names.jsonl" and not list(folder.glob("*names*"))
    data = load(folder)
    assert data.passages == made.data.passages and anonymity.names_of(data) == made.names
    table_of(folder).unlink()
    with pytest.raises(DataError, match=r"has no table of names \(.*story\.names\.jsonl\)"):
        anonymity.names_of(data)


def test_a_stopped_writing_goes_on_and_nothing_else_is_overwritten(made, tmp_path):
    folder = anonymity.write(made, tmp_path / "story")
    before = files(tmp_path)
    shutil.rmtree(folder)  # as after a kill between the table and the folder
    for _ in range(2):
        assert files(anonymity.write(made, folder).parent) == before
    for changed in (folder / "corpus.jsonl", table_of(folder)):
        content = changed.read_bytes()
        changed.write_bytes(content + b"\n")
        with pytest.raises(DataError, match="exists already"):
            anonymity.write(made, folder)
        changed.write_bytes(content)
    table_of(folder).unlink()
    (folder / "corpus.jsonl").write_bytes(b"")
    with pytest.raises(DataError, match="exists already"):
        anonymity.write(made, folder)
    assert not table_of(folder).exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"placeholder": "PERSON", "name": "x", "type": "y"}', "line 1: 'PERSON' is not a placeholder"),
        ('{"passage": "p1", "original": "a", "surfaces": []}', r"line 1: 'surfaces' is \[\]"),
        ('{"placeholder": "[PERSON#1]", "type": "y"}', "line 1: 'name' is missing"),
    ],
)
def test_a_damaged_table_is_named(tmp_path, line, said):
    (tmp_path / "t.jsonl").write_text(line + "\n")
    with pytest.raises(DataError, match=said):
        read_names(tmp_path / "t.jsonl")
