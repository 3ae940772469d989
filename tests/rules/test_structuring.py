"""Facts as triples and attributes within a schema; every example was worked out by hand."""

from __future__ import annotations

import pytest

from workbench.data.schemas import seed
from workbench.index.schema_extracting import schema_lists
from workbench.rules.structuring import _compiled, schema_extraction
from workbench.steps.schema_extraction import Input, Output

FILMS = schema_lists(seed("2wikimultihopqa"))
GENERAL = schema_lists(seed("general"))


def read(title: str, text: str, lists=GENERAL, propose: bool = True) -> Output:
    return schema_extraction([Input(title, text, *lists, propose)])[0]


def attributes(output: Output) -> set[tuple[str, str, str]]:
    return {(one.entity, one.type, one.value) for one in output.attributes}


FILM = "Red Harbour is a 1953 Danish film directed by Ada Lind and starring Bo Marr. It was written by Jens Holt."


def test_a_film_within_a_schema_of_films():
    output = read("Red Harbour", FILM, FILMS)
    assert set(output.triples) >= {
        ("Red Harbour", "directed_by", "Ada Lind"),
        ("Bo Marr", "starred_in", "Red Harbour"),
        ("Red Harbour", "written_by", "Jens Holt"),
    }
    assert attributes(output) >= {("Red Harbour", "release_date", "1953"), ("Red Harbour", "type", "Danish film")}
    assert output.entity_types["Red Harbour"] == "film" and output.entity_types["Ada Lind"] == "person"


def test_the_same_film_within_a_general_schema():
    """What the schema has no name for keeps the words of the text."""
    output = read("Red Harbour", FILM)
    assert ("Red Harbour", "directed by", "Ada Lind") in output.triples
    assert ("Red Harbour", "created_by", "Jens Holt") not in output.triples
    assert output.entity_types["Red Harbour"] == "creative_work" and not output.proposed


def test_birth_and_death_are_those_of_the_title():
    output = read("Nora Whitlock", "Nora Whitlock (3 May 1889 – 1967) was an engineer from Denmark.", FILMS)
    assert attributes(output) >= {
        ("Nora Whitlock", "birth_date", "3 May 1889"),
        ("Nora Whitlock", "death_date", "1967"),
        ("Nora Whitlock", "occupation", "engineer"),
    }
    general = attributes(read("Nora Whitlock", "Nora Whitlock (3 May 1889 – 1967) was an engineer from Denmark."))
    assert ("Nora Whitlock", "date", "born 3 May 1889") in general
    further = "Ada Lind entered the programme of the academy (1986–1989) and left for Denmark."
    assert not {kind for _, kind, _ in attributes(read("Ada Lind", further, FILMS))} & {"birth_date", "death_date"}
    other = read("Red Harbour", "Red Harbour is a film. Ada Lind was born in Tarn.").triples
    assert ("Red Harbour", "born in", "Tarn") not in other and ("Ada Lind", "born in", "Tarn") in other
    assert read("", "") == read("?", "!") == Output()


def test_a_noun_that_no_type_fits_is_the_type_and_is_proposed():
    text = "Brenta is a lichen. Brenta was described by Ada Lind."
    output = read("Brenta", text)
    assert output.entity_types["Brenta"] == "lichen"
    assert [(one.kind, one.name, one.score) for one in output.proposed] == [("entity_types", "lichen", None)]
    assert read("Brenta", text, propose=False).proposed == []
    (types, *lists) = GENERAL
    known = read("Brenta", text, ((*types, ("lichen", "")), *lists))
    assert known.entity_types["Brenta"] == "lichen" and known.proposed == []


@pytest.mark.parametrize(
    ("relation", "said", "expected"),
    [
        ("created_by", "founded by", ("created_by", False)),
        ("created_by", "founded", ("created_by", True)),
        ("directed", "directed by", ("directed", True)),
        ("director", "directed by", ("director", False)),
        ("founder_of", "founded", ("founder_of", False)),
        ("founder_of", "founded by", ("founder_of", True)),
        ("child_of", "daughter of", ("child_of", False)),
        ("parent_of", "father of", ("parent_of", False)),
        ("father", "son of", ("son of", False)),
        ("married_to", "married", ("married_to", False)),
        ("starred_in", "starring", ("starred_in", True)),
        ("based_on", "based in", ("based in", False)),
        ("located_in", "lies on", ("located_in", False)),
        ("born_in", "born near", ("born near", False)),
        ("part_of", "part of", ("part_of", False)),
        ("created_by", "third book written by", ("third book written by", False)),
        ("flows into", "Flows_Into", ("flows into", False)),
    ],
)
def test_a_relation_of_the_schema_says_what_the_words_say_and_no_more(relation, said, expected):
    assert _compiled((), (relation,), ()).relation(said) == expected


@pytest.mark.parametrize(
    ("attribute", "said", "kind", "expected"),
    [
        ("birth_date", "birth", "date", ("birth_date", True)),
        ("birthday", "birth", "date", ("birthday", True)),
        ("founded", "founded in", "date", ("founded", True)),
        ("date", "founded in", "date", ("date", False)),
        ("number of arches", "has 23 arches", "number", ("number of arches", True)),
        ("height", "is tall 46 metres", "number", ("height", True)),
        ("quantity", "has 23 arches", "number", ("quantity", False)),
        ("birthplace", "birth", "date", ("date", False)),
        ("founded", "founded 12 schools", "number", ("quantity", False)),
        ("genre", "genre", "date", ("date", False)),
    ],
)
def test_an_attribute_for_a_date_or_a_number(attribute, said, kind, expected):
    assert _compiled((), (), (attribute,)).attribute(said, kind) == expected
