"""Rule bodies of the agent: sub-questions with the types of a schema, and reflection."""

from __future__ import annotations

from workbench.rules.reasoning import reflect, sub_questions
from workbench.steps import reflect as reflection
from workbench.steps import sub_questions as decomposition

STATION = ("Kestrel FM", "Kestrel FM is a radio station. It was founded by Nora Whitlock in 1994.")
FOUNDER = ("Nora Whitlock", "Nora Whitlock is a broadcaster. She was born in Alderby.")
QUESTION = "Where was the founder of Kestrel FM born?"


def asked(question: str, **given) -> decomposition.Output:
    return sub_questions(decomposition.Input(question, **given))


def reflected(*passages, thoughts=(), searched=(), question=QUESTION) -> reflection.Reflection:
    value = reflection.Input(question, question, "", passages, thoughts, searched)
    return reflection.reading(reflect(value).reply)


def test_the_hops_that_name_something_and_the_question():
    assert asked(QUESTION).sub_questions == ["Kestrel FM founder", QUESTION]
    assert asked("Who founded Kestrel FM?").sub_questions == ["Who founded Kestrel FM?"]
    both = asked("Which was released earlier, Dune Fever or Fog Harbour?").sub_questions
    assert both[-1].startswith("Which") and {"Dune Fever", "Fog Harbour"} <= {" ".join(one.split()[:2]) for one in both}
    assert len(asked("Which was released earlier, Dune Fever or Fog Harbour?", most=2).sub_questions) == 2


def test_types_that_the_words_evoke_and_those_of_names():
    found = asked(
        QUESTION, entity_types=("person", "place", "radio_station", "award"),
        relations=("founded_by", "born_in", "sings"),
        attributes=("founding date", "colour"), named=(("Kestrel FM", "radio_station"), ("Kestrel FM", "dragon")),
    ).involved_types  # fmt: skip
    assert found.entity_types == ["person", "place", "radio_station"]
    assert set(found.relations) == {"founded_by", "born_in"}
    assert asked("").sub_questions == ["?"]


def test_reflection_asks_for_what_is_missing_by_the_names_found():
    found = reflected(STATION)
    assert not found.done and found.marked and "Nora Whitlock" in found.query and "born" in found.query


def test_reflection_ends_with_the_answer():
    found = reflected(STATION, FOUNDER)
    assert found.done and found.answer == "Alderby"


def test_no_query_is_asked_again():
    first = reflected(STATION).query
    again = reflected(STATION, searched=(first,))
    assert again.done or again.query.casefold() != first.casefold()
    queries, thoughts = [], []
    for _ in range(9):
        found = reflected(STATION, thoughts=tuple(thoughts))
        if found.done:
            break
        queries.append(found.query)
        thoughts.append(f"{reflection.QUERY} {found.query}")
    assert queries and len(queries) == len(set(queries)) and found.done and found.answer == "I don't know"
