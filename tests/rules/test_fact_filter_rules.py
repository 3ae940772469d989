"""Which candidate facts the filter by rules keeps."""

from workbench.rules.choosing import relevant

ABOUT = ("halden theatre", "designed by", "karl weiss")
LOOSE = ("opera of rome", "is theatre in", "rome")


def test_a_fact_about_what_the_question_names_is_kept_and_a_mere_resemblance_is_not():
    assert relevant("Who designed the Halden Theatre?", [LOOSE, ABOUT]) == [ABOUT]
    assert relevant("Who designed the Halden?", [("rome", "halden is near", "ostia")]) == [], "a name in the relation"
    assert relevant("What opened in 1931?", [ABOUT, ("bridge", "opened in", "1931")]) == [
        ("bridge", "opened in", "1931")
    ]
    assert relevant("Who founded Oslo?", [ABOUT]) == relevant("", []) == []


def test_facts_with_a_relation_that_the_question_speaks_of_come_first():
    opened, seats = ("halden theatre", "opened in", "1931"), ("halden theatre", "seats", "900")
    assert relevant("Who was the designer of the Halden Theatre?", [seats, opened, ABOUT]) == [ABOUT, seats, opened]
    assert relevant("Who established the Halden Theatre?", [seats, ("halden theatre", "founded by", "x")])[0][1] == (
        "founded by"
    )


def test_without_names_any_content_word_counts():
    assert relevant("which theatre is it?", [("theatre", "seats", "900"), LOOSE]) == [("theatre", "seats", "900")]
