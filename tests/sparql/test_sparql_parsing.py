"""SPARQL as models write it, read as patterns. All names are invented for these tests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stopwatch import spent

from workbench.sparql import Comparison, parse
from workbench.sparql.query import MOST

CHAIN = [("Dune Fever", "directed by", "?d"), ("?d", "born in", "?x")]


def members(text):
    return [pattern.members for pattern in parse(text).patterns]


@pytest.mark.parametrize(
    "text",
    [
        'SELECT ?x WHERE { "Dune Fever" "directed by" ?d . ?d "born in" ?x . }',
        "select ?x { Dune Fever directed by ?d. ?d born in ?x }",
        "SELECT ?x WHERE {\n  Dune Fever directed by ?d\n  ?d born in ?x\n}",
        "SELECT ?x\nDune Fever directed by ?d .\n?d born in ?x .\n\nStep 2: ?d is Ada, ?x was Oslo.",
        "SELECT $x WHERE { 'Dune Fever' directed_by $d ; . $d bornIn $x }",
        "PREFIX e: <http://e.org/>\nSELECT DISTINCT ?x WHERE { e:Dune_Fever e:directedBy ?d . ?d e:bornIn ?x } LIMIT 9",
        "SELECT ?x WHERE { <http://e.org/Dune_Fever> <http://e.org/p#directedBy> ?d . ?d <http://e.org/bornIn> ?x }",
        'Step 1:\n```sparql\nSELECT ?x WHERE {\n?f rdfs:label "Dune Fever"@en .\n?f directed by ?d . # who\n'
        "?d born in ?x\n}\n```\nStep 2: …\nFINAL ANSWER: Oslo",
        'SELECT ?x WHERE { "Dune Fever" directed by ?d . ?d a dbo:Person ; born in ?x }',
        "SELECT ?n WHERE { Dune Fever directed by ?d . ?d born in ?x . ?x rdfs:label ?n }",
    ],
)  # fmt: skip
def test_one_query_in_many_hands(text):
    query = parse(text)
    assert ([pattern.members for pattern in query.patterns], query.wanted, query.flaw) == (CHAIN, "?x", None)


def test_the_variable_asked_for():
    assert parse("SELECT ?a ?b WHERE { ?b p ?a }").wanted == "?a"
    assert parse("SELECT * WHERE { Tessel p ?b . ?b q ?c }").wanted == "?c"
    assert parse("SELECT * WHERE { ?answer p ?b }").wanted == "?answer"
    assert parse("SELECT ?gone WHERE { Tessel p ?answer }").wanted == "?answer"
    assert "?gone is asked for" in parse("SELECT ?gone WHERE { Tessel p ?b }").flaw


@pytest.mark.parametrize(
    ("text", "patterns"),
    [
        ("J. R. Marr wrote ?x .", [("J. R. Marr", "wrote", "?x")]),
        ("?x founder of University of Tessel", [("?x", "founder of", "University of Tessel")]),
        ('"Tessel (1931 film)" starring ?x', [("Tessel (1931 film)", "starring", "?x")]),
        ('"Optional { Union" written by ?x', [("Optional { Union", "written by", "?x")]),
        ("Western Union founded by ?x", [("Western Union", "founded by", "?x")]),
        ("?x a film", [("?x", "a", "film")]),  # a type alone
        ('?x "flows through" "Tessel", "Marr" ; length ?l',
         [("?x", "flows through", "Tessel"), ("?x", "flows through", "Marr"), ("?x", "length", "?l")]),
    ],
)  # fmt: skip
def test_names_and_shared_subjects_are_read_and_the_last_query_counts(text, patterns):
    assert members(f"As asked: SELECT ?y WHERE {{ Tessel p ?y }}\nNow mine: SELECT ?x WHERE {{ {text} }}") == patterns


def test_a_comparison_in_a_comment():
    text = 'SELECT ?a ?b WHERE { Tessel founded ?a . Marr founded ?b }\n# compare: earlier ?a ?b pick "Tessel" "Marr"'
    assert parse(text).compare == Comparison("earlier", ("?a", "?b"), ("Tessel", "Marr"))
    for broken in (
        "sooner ?a ?b pick yes no",
        "earlier ?a ?gone pick yes no",
        "earlier ?a ?b",
        "difference ?a ?b pick ?a ?b",
    ):
        assert parse(text.split("#")[0] + f"# compare: {broken}").compare is None


def test_an_order_with_limit_1_is_a_comparison():
    text = "SELECT ?f WHERE { ?f directed by Ada Marr . ?f released ?d } ORDER BY DESC(?d) LIMIT 1"
    assert parse(text).compare == Comparison("more", ("?d",), ("?f",))
    assert parse(text.replace("DESC(?d)", "?d")).compare == Comparison("less", ("?d",), ("?f",))


def test_terms_are_bounded_and_printable():
    (pattern,) = parse('SELECT ?x WHERE { "a\x07b\u202ec ' + "d" * 390 + '" p ?x }').patterns
    assert pattern.subject.startswith("a b c ddd") and len(pattern.subject) == 200


@pytest.mark.parametrize(
    "unit",
    ["?x ", "{", '"', "'", "<", "\\", "SELECT ?x ", "SELECT (", "?a b ?c . ", "A of ", '"a"^^', "\n", "#", ".", "("],
)  # fmt: skip
def test_hostile_texts_cost_little(unit):
    for start in ("", "SELECT ?x WHERE { ", "SELECT ?x\n", "SELECT ("):
        with spent() as taken:
            parse(start + unit * 100_000)
        assert taken.seconds < 2


@given(st.text(st.characters(exclude_categories=()), max_size=300))
def test_any_text_has_patterns_or_a_flaw(text):
    for whole in (text, f"SELECT ?x WHERE {{ {text} }}", f"SELECT ?x WHERE {{ ?x p {text} . }} {text}"):
        query = parse(whole)
        assert bool(query.patterns) != bool(query.flaw)
        assert len(query.patterns) <= MOST and all(all(pattern.members) for pattern in query.patterns)
