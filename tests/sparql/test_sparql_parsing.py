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


def test_subjects_and_predicates_are_shared():
    text = 'SELECT ?r WHERE { ?r "flows through" "Tessel", "Marr" ; length ?l }'
    assert members(text) == [("?r", "flows through", "Tessel"), ("?r", "flows through", "Marr"), ("?r", "length", "?l")]


def test_names_keep_their_dots_brackets_and_small_words():
    assert members("SELECT ?x WHERE { J. R. Marr wrote ?x . }") == [("J. R. Marr", "wrote", "?x")]
    assert members("SELECT ?x WHERE { ?x founder of University of Tessel }") == [
        ("?x", "founder of", "University of Tessel")
    ]
    assert members('SELECT ?x WHERE { "Tessel (1931 film)" starring ?x }') == [("Tessel (1931 film)", "starring", "?x")]


def test_the_last_query_with_patterns_counts():
    text = "As asked: SELECT ?y WHERE { Tessel p ?y }\nNow mine: SELECT ?x WHERE { Marr q ?x }\nI SELECT ?z for show."
    assert members(text) == [("Marr", "q", "?x")]


def test_the_variable_asked_for():
    assert parse("SELECT ?a ?b WHERE { ?b p ?a }").wanted == "?a"
    assert parse("SELECT * WHERE { Tessel p ?b . ?b q ?c }").wanted == "?c"
    assert parse("SELECT * WHERE { ?answer p ?b }").wanted == "?answer"
    assert parse("SELECT ?gone WHERE { Tessel p ?answer }").wanted == "?answer"
    assert "?gone is asked for" in parse("SELECT ?gone WHERE { Tessel p ?b }").flaw


def test_a_type_alone_is_kept():
    assert members("SELECT ?x WHERE { ?x a film }") == [("?x", "a", "film")]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("SELECT ?x WHERE { ?x p ?y FILTER(?y > 3) }", "FILTER"),
        ("SELECT ?x WHERE { ?x p ?y OPTIONAL { ?x q ?z } }", "OPTIONAL"),
        ("SELECT ?x WHERE { { ?x p A } UNION { ?x p B } }", "UNION"),
        ("SELECT (COUNT(?x) AS ?n) WHERE { ?x p ?y }", "COUNT"),
        ("SELECT ?x WHERE { ?x p ?y . { SELECT ?y WHERE { ?y q ?z } } }", "a second SELECT inside"),
        ("SELECT ?x WHERE { ?x p/q ?y }", "a property path"),
        ("SELECT ?x WHERE { ?x ^p ?y }", "a property path"),
        ("SELECT ?x WHERE { ?x p ?y } ORDER BY ?y", "ORDER BY"),
        ("SELECT ?x WHERE { SERVICE wikibase:label { ?x p ?y } }", "SERVICE"),
        ("SELECT ?x WHERE { " + " ".join(f"?x p{n} ?y ." for n in range(MOST + 1)) + " }", f"at most {MOST}"),
        ("SELECT ?x WHERE { Tessel p Marr }", "no pattern has a variable"),
        ("SELECT ?x WHERE { }", "no triple pattern"),
        ("ASK { ?x p ?y }", "no SELECT"),
        ("I don't know.", "no SELECT"),
        ("", "no SELECT"),
    ],
)
def test_what_is_not_carried_out_is_named(text, what):
    query = parse(text)
    assert what in query.flaw and not query.patterns


def test_words_of_sparql_inside_a_name_are_words():
    assert members('SELECT ?x WHERE { "Optional { Union" written by ?x }') == [("Optional { Union", "written by", "?x")]
    assert members("SELECT ?x WHERE { Western Union founded by ?x }") == [("Western Union", "founded by", "?x")]


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
