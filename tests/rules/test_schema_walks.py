"""Questions read as walks over invented schemas; every reading was worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from invented_schemas import COMPANIES, FILMS, MUSEUMS

from workbench.rules import schema_walks
from workbench.rules.path_judging import Walk, hop_in_words, parse_walk, spelled
from workbench.rules.schema_walks import WalkedGraph, scores, walks
from workbench.steps import dot_rules

ADA, FEVER, ORVANE, ILSE, GATE = "Ada Lind", "Dune Fever", "Orvane Systems", "Ilse Varn", "The Amber Gate"


def rules(question, concept, anchors, types, relations, hops):
    """What is written, before what is left out is replaced."""
    return schema_walks.rules(dot_rules.Input(question, concept, tuple(anchors), "", types, relations, hops))


def best(schema, question, name, type_, hops=3):
    """The labels of the best reading, `>` from head to tail and `<` the other way."""
    (walk, *_) = walks(question, name, (type_,), WalkedGraph(*schema, hops))
    return " ".join(label + (">" if forward else "<") for label, forward in walk.hops)


@pytest.mark.parametrize(
    ("question", "name", "type_", "expected"),
    [
        ("who directed Dune Fever", FEVER, "film", "directed_by>"),
        ("what genre of film is Dune Fever", FEVER, "film", "has_genre>"),
        ("when did the movie Dune Fever come out?", FEVER, "film", "release_year>"),
        ("List all movies from 1994", "1994", "year", "release_year<"),
        ("films by Ada Lind", ADA, "person", "directed_by<"),
        ("which actors did Ada Lind direct", ADA, "person", "directed_by< cast>"),
        ("Ada Lind acted in pictures of which genres", ADA, "person", "cast< has_genre>"),
        ("who wrote the films that Ada Lind directed", ADA, "person", "directed_by< written_by>"),
        ("who co-wrote films with Ada Lind", ADA, "person", "written_by< written_by>"),
        ("which films have the same director as Dune Fever", FEVER, "film", "directed_by> directed_by<"),
        ("the writer of Dune Fever also wrote which films", FEVER, "film", "written_by> written_by<"),
        ("what languages are spoken in films whose director also made Dune Fever", FEVER, "film",
         "directed_by> directed_by< in_language>"),
        ("when were the films released that share actors with Dune Fever", FEVER, "film",
         "cast> cast< release_year>"),
    ],
)  # fmt: skip
def test_films(question, name, type_, expected):
    assert best(FILMS, question, name, type_) == expected


@pytest.mark.parametrize(
    ("question", "name", "type_", "expected"),
    [
        ("Who founded Orvane Systems?", ORVANE, "company", "founded_by>"),
        ("when was the company led by Omar Pell founded", "Omar Pell", "person", "led_by< founded_in>"),
        ("which country is Orvane Systems based in", ORVANE, "company", "headquartered_in> located_in>"),
        ("which products are made by companies that Lena Harrow leads", "Lena Harrow", "person", "led_by< makes>"),
        ("where was the founder of Orvane Systems born", ORVANE, "company", "founded_by> born_in>"),
        ("which firms were started in the same city as Orvane Systems", ORVANE, "company",
         "headquartered_in> headquartered_in<"),
        ("who works for the company that acquired Brightpeg?", "Brightpeg", "company", "acquired< employs>"),
    ],
)  # fmt: skip
def test_companies(question, name, type_, expected):
    assert best(COMPANIES, question, name, type_) == expected


@pytest.mark.parametrize(
    ("question", "name", "type_", "expected"),
    [
        ("In which museum does The Amber Gate hang?", GATE, "work", "exhibited_at>"),
        ("what is The Amber Gate made of", GATE, "work", "made_of>"),
        ("in which century was The Amber Gate made", GATE, "work", "made_in>"),
        ("which museums show works by Ilse Varn", ILSE, "artist", "creator< exhibited_at>"),
        ("what movement did the painter of The Amber Gate belong to", GATE, "work", "creator> part_of_movement>"),
        ("which artists have works in the museums of Torrin", "Torrin", "city", "located_in< exhibited_at< creator>"),
    ],
)
def test_museums(question, name, type_, expected):
    assert best(MUSEUMS, question, name, type_) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("which companies did Orvane Systems acquire", "acquired>"),
        ("companies acquired by Orvane Systems", "acquired>"),
        ("which company bought Orvane Systems", "acquired<"),
        ("who acquired Orvane Systems", "acquired<"),
    ],
)
def test_a_relation_between_things_of_one_type_is_followed_in_its_direction(question, expected):
    assert best(COMPANIES, question, ORVANE, "company") == expected


VOYAGES = (
    (("ship", "A vessel.", 90), ("captain", "A person in charge of a ship.", 40), ("port", "A harbour town.", 20)),
    (
        ("commanded_by", ("ship",), ("captain",), "The captain of the ship."),
        ("bound_for", ("ship",), ("port",), "The town that the ship sailed to."),
        ("native_of", ("captain",), ("port",), "The town where the captain was born."),
        ("served_on", ("captain",), ("ship",), "The captain was once a sailor on the ship."),
    ),
)


@pytest.mark.parametrize(
    ("question", "name", "type_", "expected"),
    [
        ("Where was the chief of the firm that makes Velo born?", "Velo", "product", "makes< led_by> born_in>"),
        ("Which city is the artist who created The Amber Gate a native of?", GATE, "work", "creator> born_in>"),
        ("In which city was the leader of the company that Ilse Varn founded born?", ILSE, "person",
         "founded_by< led_by> born_in>"),
        ("Which port does the captain who commanded the Teal come from?", "Teal", "ship", "commanded_by> native_of>"),
    ],
)  # fmt: skip
def test_what_closes_an_inverted_question_tells_the_last_hop(question, name, type_, expected):
    """However near to the name it stands: it is said of what is asked for."""
    schema = {"product": COMPANIES, "person": COMPANIES, "work": MUSEUMS, "ship": VOYAGES}[type_]
    assert best(schema, question, name, type_) == expected


def test_a_preposition_before_the_question_word_belongs_to_the_verb():
    assert best(VOYAGES, "To which port was the Teal commanded?", "Teal", "ship") == "bound_for>"
    assert best(VOYAGES, "By whom was the Teal commanded?", "Teal", "ship") == "commanded_by>"


def test_a_name_of_two_things_is_what_the_question_says_of_it():
    """The graph knows "Tom Vale" as a film; "written by Tom Vale" speaks of a person."""
    (walk, *_) = walks("who directed the films written by Tom Vale", "Tom Vale", ("film",), WalkedGraph(*FILMS, 3))
    assert str(walk) == "person <-[written by]- film -[directed by]-> person"


def test_no_walk_is_longer_than_a_path_may_be():
    found = scores("who directed the films of the writer of Dune Fever", FEVER, ("film",), WalkedGraph(*FILMS, 2))
    assert {len(walk.hops) for _, walk in found} == {1, 2}


def test_readings_that_are_nearly_as_good_are_given_too():
    """Nothing says whether she wrote or directed."""
    found = walks("what has Ada Lind to do with film", ADA, ("person",), WalkedGraph(*FILMS, 1))
    assert {hop for walk in found for hop in walk.hops} == {
        ("directed_by", False), ("written_by", False), ("cast", False)}  # fmt: skip


def test_the_rules_of_a_question():
    question = "which films have the same director as Dune Fever"
    assert rules(question, FEVER, [(FEVER, "film", "A film.")], *FILMS, 3).model_dump() == {
        "query_constraints": "film directed by person (directed by) of Dune Fever; not Dune Fever itself",
        "intermediate_rules": ["film -[directed by]-> person"],
        "terminal_rules": ["film -[directed by]-> person <-[directed by]- film"],
        "allowed_types": ["film", "person"],
        "initial_query": "person (directed by) of Dune Fever",
    }


def test_the_anchor_of_exactly_that_name_counts_before_those_that_are_similar():
    anchors = [("Ada Lindqvist", "film", ""), ("ada lind", "person", "")]
    assert rules("films by Ada Lind", ADA, anchors, *FILMS, 3).initial_query == "film directed by ada lind"


def test_without_relations_there_is_nothing_to_walk_on():
    assert rules("who directed it", "it", [("it", "film", "")], FILMS[0], (), 3).terminal_rules == []


def test_relations_without_types_lead_everywhere():
    relations = (("directed_by", (), (), ""), ("opened_in", (), (), ""))
    found = rules("who directed Dune Fever", FEVER, [(FEVER, "unknown", "")], (), relations, 3)
    assert found.terminal_rules == ["thing -[directed by]-> thing"]


@given(st.text(st.characters(exclude_categories=()), max_size=60), st.text(max_size=20))
def test_any_text_is_read_as_some_walk(question, name):
    for walk in walks(question, name, ("film",), WalkedGraph(*FILMS, 3)):
        assert 1 <= len(walk.hops) <= 3 and len(walk.types) == len(walk.hops) + 1


def test_a_broad_schema_and_a_long_question_take_bounded_time():
    relations = tuple((f"rel_{number}", ("thing",), ("thing",), "") for number in range(150))
    graph = WalkedGraph((("thing", "", 1),), relations, 3)
    found = walks("who rel x of X " + "word foo " * 300, "X", ("thing",), graph)
    assert 1 <= len(found) <= schema_walks.MOST


# -- lines ------------------------------------------------------------------------------------------------------------

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12).filter(spelled)


@given(st.lists(st.tuples(NAMES, st.booleans(), NAMES), min_size=1, max_size=4), NAMES)
def test_a_line_is_read_back_whatever_the_names_are(hops, start):
    walk = Walk((start, *(type_ for _, _, type_ in hops)), tuple((label, on) for label, on, _ in hops))
    plain = Walk(tuple(map(spelled, walk.types)), tuple((spelled(label), on) for label, on in walk.hops))
    assert parse_walk(str(walk)) == plain


@pytest.mark.parametrize("line", ["", "names a writer", "a -[b]- c", "a <-[b]-> c", "film -> person", "x" * 9999])
def test_prose_is_no_walk(line):
    assert parse_walk(line) is None


def test_hops_are_told_in_both_directions():
    assert hop_in_words(ADA, ("directed_by", False), "film") == "film directed by Ada Lind"
    assert hop_in_words(FEVER, ("release_year", True), "year") == "year (release year) of Dune Fever"


# -- what the graph says, and what no walk expresses -------------------------------------------------------------------


def test_a_walk_takes_only_joins_that_occur():
    """Nobody in this graph directs and acts, so no walk goes on from a director to what he plays in."""
    question = "what else did the director of Dune Fever play in"
    every = {(label, way) for label, *_ in FILMS[1] for way in (True, False)}
    apart = {(one, other) for one in every for other in every} - {(("directed_by", True), ("cast", False))}
    free = scores(question, FEVER, ("film",), WalkedGraph(*FILMS, 2))
    bound = scores(question, FEVER, ("film",), WalkedGraph(*FILMS, 2, joins=frozenset(apart)))
    acts = (("directed_by", True), ("cast", False))
    assert acts in {walk.hops for _, walk in free} and acts not in {walk.hops for _, walk in bound}


def test_a_walk_begins_with_a_hop_that_leaves_the_anchor():
    found = scores("films by Ada Lind", ADA, ("person",), WalkedGraph(*FILMS, 2, begins=(("cast", False),)))
    assert {walk.hops[0] for _, walk in found} == {("cast", False)}


def test_words_that_the_schema_does_not_have_are_read_by_the_encoder():
    """ "skipper", "hue" and "flick" are in no name, no definition and no group of words."""
    ships = (
        (("vessel", "", 30), ("captain", "", 10), ("colour", "", 5)),
        (
            ("commanded_by", ("vessel",), ("captain",), ""),
            ("painted", ("vessel",), ("colour",), ""),
        ),
    )
    assert best(ships, "who is the skipper of Old Contrary", "Old Contrary", "vessel") == "commanded_by>"
    assert best(ships, "what hue has Old Contrary", "Old Contrary", "vessel") == "painted>"


def test_the_more_words_are_strange_the_more_readings_are_given():
    known = walks("who directed Dune Fever", FEVER, ("film",), WalkedGraph(*FILMS, 2))
    strange = walks("who was at the helm of Dune Fever", FEVER, ("film",), WalkedGraph(*FILMS, 2))
    assert len(known) == 1 < len(strange)
    assert len({walk.hops for walk in strange}) <= schema_walks.MOST


@pytest.mark.parametrize(
    ("question", "because"),
    [
        ("How many films did Ada Lind direct?", "it counts"),
        ("Which films other than Dune Fever did Ada Lind direct?", "it leaves something out"),
        ("Which films did Ada Lind not direct?", "it leaves something out"),
        ("Is Dune Fever longer than Owl Night?", "it compares"),
        ("What is the oldest film by Ada Lind?", "it compares"),
        ("What is the latest film by Ada Lind?", "it compares"),
        ("Which film by Ada Lind is the most recent?", "it compares"),
    ],
)
def test_what_no_walk_expresses_is_searched_by_words_and_says_so(question, because):
    found = rules(question, ADA, [(ADA, "person", "")], *FILMS, 3)
    assert because in found.beyond and not found.terminal_rules


@pytest.mark.parametrize(
    "question",
    [
        "Who directed Dune Fever?",
        "Which films are by Ada Lind and others?",
        "Who wrote the earliest films that Ada Lind directed?",
        "Which actors were in the most recent films by Ada Lind?",
    ],
)
def test_other_questions_are_walks(question):
    found = rules(question, ADA, [(ADA, "person", "")], *FILMS, 3)
    assert not found.beyond and found.terminal_rules


def test_of_two_names_each_has_its_walk_and_the_rules_say_that_their_ends_meet():
    value = dot_rules.Input("films by Ada Lind from 1994", ADA, ((ADA, "person", ""),), "", *FILMS, 3, others=("1994",))
    found = schema_walks.rules(value)
    assert found.terminal_rules and found.meets and not found.beyond
    assert not schema_walks.rules(replace(value, question="films by Ada Lind or from 1994")).meets
    assert not {"beyond", "meets"} & found.model_dump().keys()  # no model is asked for them


@pytest.mark.parametrize(
    ("name", "type_", "expected"), [(ADA, "person", "directed_by<"), ("Tom Vale", "person", "cast<")]
)
def test_of_two_conditions_each_name_has_the_words_beside_it(name, type_, expected):
    question = "which films were directed by Ada Lind and have Tom Vale as an actor"
    (other,) = {ADA, "Tom Vale"} - {name}
    (walk, *_) = walks(question, name, (type_,), WalkedGraph(*FILMS, 3), (other,))
    assert " ".join(label + (">" if forward else "<") for label, forward in walk.hops) == expected
