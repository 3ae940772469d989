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


VOYAGES = (
    (("ship", "A vessel.", 90), ("captain", "A person in charge of a ship.", 40), ("port", "A harbour town.", 20)),
    (
        ("commanded_by", ("ship",), ("captain",), "The captain of the ship."),
        ("bound_for", ("ship",), ("port",), "The town that the ship sailed to."),
        ("native_of", ("captain",), ("port",), "The town where the captain was born."),
        ("served_on", ("captain",), ("ship",), "The captain was once a sailor on the ship."),
    ),
)
BARE = (  # "skipper", "hue" and "flick" are in no name, no definition and no group of words
    (("vessel", "", 30), ("captain", "", 10), ("colour", "", 5)),
    (("commanded_by", ("vessel",), ("captain",), ""), ("painted", ("vessel",), ("colour",), "")),
)
READINGS = {
    (FILMS, FEVER, "film"): {
        "what genre of film is Dune Fever": "has_genre>",
        "when did the movie Dune Fever come out?": "release_year>",
        "which films have the same director as Dune Fever": "directed_by> directed_by<",
        "the writer of Dune Fever also wrote which films": "written_by> written_by<",
        "what languages have films whose director also made Dune Fever": "directed_by> directed_by< in_language>",
        "when were the films released that share actors with Dune Fever": "cast> cast< release_year>",
    },
    (FILMS, ADA, "person"): {
        "which actors did Ada Lind direct": "directed_by< cast>",
        "Ada Lind acted in pictures of which genres": "cast< has_genre>",
        "who wrote the films that Ada Lind directed": "directed_by< written_by>",
        "who co-wrote films with Ada Lind": "written_by< written_by>",
    },
    (FILMS, "1994", "year"): {"List all movies from 1994": "release_year<"},
    (COMPANIES, ORVANE, "company"): {
        "Who founded Orvane Systems?": "founded_by>",
        "which country is Orvane Systems based in": "headquartered_in> located_in>",
        "where was the founder of Orvane Systems born": "founded_by> born_in>",
        "which firms were started in the same city as Orvane Systems": "headquartered_in> headquartered_in<",
        # A relation between things of one type is followed in its direction.
        "which companies did Orvane Systems acquire": "acquired>",
        "companies acquired by Orvane Systems": "acquired>",
        "which company bought Orvane Systems": "acquired<",
    },
    (COMPANIES, "Omar Pell", "person"): {"when was the company led by Omar Pell founded": "led_by< founded_in>"},
    (COMPANIES, "Brightpeg", "company"): {"who works for the company that acquired Brightpeg?": "acquired< employs>"},
    (MUSEUMS, GATE, "work"): {
        "In which museum does The Amber Gate hang?": "exhibited_at>",
        "what is The Amber Gate made of": "made_of>",
        "what movement did the painter of The Amber Gate belong to": "creator> part_of_movement>",
        # What closes an inverted question tells the last hop, however near to the name it stands.
        "Which city is the artist who created The Amber Gate a native of?": "creator> born_in>",
    },
    (MUSEUMS, ILSE, "artist"): {"which museums show works by Ilse Varn": "creator< exhibited_at>"},
    (COMPANIES, "Velo", "product"): {
        "Where was the chief of the firm that makes Velo born?": "makes< led_by> born_in>",
    },
    (VOYAGES, "Teal", "ship"): {
        "Which port does the captain who commanded the Teal come from?": "commanded_by> native_of>",
        # A preposition before the question word belongs to the verb.
        "To which port was the Teal commanded?": "bound_for>",
        "By whom was the Teal commanded?": "commanded_by>",
    },
    (BARE, "Old Contrary", "vessel"): {
        "who is the skipper of Old Contrary": "commanded_by>",
        "what hue has Old Contrary": "painted>",
    },
}


@pytest.mark.parametrize(
    ("start", "question", "expected"),
    [(start, question, expected) for start, read in READINGS.items() for question, expected in read.items()],
    ids=lambda value: value if isinstance(value, str) else value[1],
)
def test_the_best_reading_of_a_question(start, question, expected):
    schema, name, type_ = start
    assert best(schema, question, name, type_) == expected


def test_other_names_types_and_starts_bound_a_walk():
    # The graph knows "Tom Vale" as a film; "written by Tom Vale" speaks of a person.
    (walk, *_) = walks("who directed the films written by Tom Vale", "Tom Vale", ("film",), WalkedGraph(*FILMS, 3))
    assert str(walk) == "person <-[written by]- film -[directed by]-> person"
    # Of two conditions each name has the words beside it.
    question = "which films were directed by Ada Lind and have Tom Vale as an actor"
    (walk, *_) = walks(question, "Tom Vale", ("person",), WalkedGraph(*FILMS, 3), (ADA,))
    assert walk.hops == (("cast", False),)
    found = scores("films by Ada Lind", ADA, ("person",), WalkedGraph(*FILMS, 2, begins=(("cast", False),)))
    assert {walk.hops[0] for _, walk in found} == {("cast", False)} and {len(walk.hops) for _, walk in found} == {1, 2}
    # Nothing says whether she wrote or directed; and the more words are strange, the more readings are given.
    found = walks("what has Ada Lind to do with film", ADA, ("person",), WalkedGraph(*FILMS, 1))
    assert {hop for walk in found for hop in walk.hops} == {
        (label, False) for label in ("directed_by", "written_by", "cast")
    }
    known, strange = ("who directed Dune Fever", "who was at the helm of Dune Fever")
    many = [len(walks(one, FEVER, ("film",), WalkedGraph(*FILMS, 2))) for one in (known, strange)]
    assert many[0] == 1 < many[1] <= schema_walks.MOST


def test_the_rules_of_a_question():
    question = "which films have the same director as Dune Fever"
    assert rules(question, FEVER, [(FEVER, "film", "A film.")], *FILMS, 3).model_dump() == {
        "query_constraints": "film directed by person (directed by) of Dune Fever; not Dune Fever itself",
        "intermediate_rules": ["film -[directed by]-> person"],
        "terminal_rules": ["film -[directed by]-> person <-[directed by]- film"],
        "allowed_types": ["film", "person"],
        "initial_query": "person (directed by) of Dune Fever",
    }


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


def test_relations_without_types_lead_everywhere_and_the_anchor_of_that_very_name_counts_first():
    relations = (("directed_by", (), (), ""), ("opened_in", (), (), ""))
    found = rules("who directed Dune Fever", FEVER, [(FEVER, "unknown", "")], (), relations, 3)
    assert found.terminal_rules == ["thing -[directed by]-> thing"]
    anchors = [("Ada Lindqvist", "film", ""), ("ada lind", "person", "")]
    assert rules("films by Ada Lind", ADA, anchors, *FILMS, 3).initial_query == "film directed by ada lind"
    assert hop_in_words(FEVER, ("release_year", True), "year") == "year (release year) of Dune Fever"


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
