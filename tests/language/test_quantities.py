import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.language.quantities import dates, life, numbers


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("on 6 June 1931", (1931, 6, 6)),
        ("on June 6, 1931", (1931, 6, 6)),
        ("on the 6th of June 1931", (1931, 6, 6)),
        ("in June 1931", (1931, 6, 0)),
        ("in 1931", (1931, 0, 0)),
        ("every 14 July", (0, 7, 14)),
    ],
)
def test_dates_as_they_are_written(text, when):
    (date,) = dates(text)
    assert date.when == when
    assert text[date.start : date.end] == date.text and date.when < dates("2 July 1931")[0].when


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("a tower of 44 metres", 44, "metres"),
        ("1,046,000 people", 1_046_000, "people"),
        ("twenty-three arches", 23, "arches"),
        ("3.2 million crowns", 3_200_000, "crowns"),
        ("it seats 900.", 900, ""),
        ("The hall holds 1500 visitors.", 1500, "visitors"),
    ],
)
def test_numbers_with_what_they_count(text, value, unit):
    (number,) = numbers(f"In 1931: {text}")  # a year is no number
    assert (number.value, number.unit) == (value, unit)


@pytest.mark.parametrize(
    ("text", "born", "died"),
    [
        ("Ada Lind (3 May 1889 – 11 January 1967) was an engineer.", 1889, 1967),
        ("Ada Lind (1889–1967) was an engineer.", 1889, 1967),
        ("Ada Lind (born 1889 in Oslo) is an engineer.", 1889, None),
        ("Ada Lind (died 1967) was an engineer.", None, 1967),
        ("Ada Lind (Norwegian) wrote in 1930.", None, None),
        ("The album (2004) sold well.", None, None),
    ],
)
def test_birth_and_death_in_the_brackets_behind_a_name(text, born, died):
    told = life(text)
    assert (told.born and told.born.when[0], told.died and told.died.when[0]) == (born, died)


@given(st.text(alphabet="0123456789,.-( )JuneMayb", max_size=60))
def test_any_text_is_read_and_places_are_right(text):
    for found in (*dates(text), *numbers(text)):
        assert text[found.start : found.end] == found.text
    life(text)
