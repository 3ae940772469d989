"""Names are found faster than by spaCy's own decoder, and are the same."""

import pytest

import workbench as wb
from workbench.language.pipeline import decodable, name_entities, nlp


@pytest.fixture(scope="module")
def ner():
    return nlp().get_pipe("ner")


def both(texts, ner):
    expected = list(nlp().pipe(texts))
    found = list(nlp().pipe(texts, disable=["ner"]))
    name_entities(ner, found)
    return [[[(e.start, e.end, e.label_) for e in doc.ents] for doc in docs] for docs in (expected, found)]


def test_the_names_of_the_bundled_corpus_are_spacys(ner):
    expected, found = both([passage.text for passage in wb.load("meridian").passages[:30]], ner)
    assert decodable(ner) and sum(map(len, expected)) > 150
    assert found == expected
    name_entities(ner, [])


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "Oslo",
        "Oslo Oslo",
        "In\n\nOslo \t on 3 May 1994",
        "The International Association of the Very Long Names of Institutions and Universities of Norway met in Oslo.",
        "He died in Oslo. Bergen was next.",
        "東京は日本の首都である。",
        "x" * 3000,
    ],
)
def test_odd_texts_too(text, ner):
    expected, found = both([text], ner)
    assert found == expected
