"""Three hundred queries in thirty shapes, half of them damaged as models damage them: each is read as it is written, or
refused by name; nothing is dropped. All names are invented for these tests."""

import random
import re

import pytest

from workbench.sparql import parse
from workbench.sparql.query import MOST

NAMES = ("Dune Fever", "Ilse Varn", "Tessel", "Grey Oar", "Ada Marr", "Port Olm", "Red Heron", "Mirn", "Vale")
RELATIONS = ("directed by", "born in", "founded", "spouse of", "flows through", "named after")

# Shape → its patterns, or None where it is to be refused. A and B are names, p, q and r relations.
SHAPES: list[tuple[str, list[tuple[str, str, str]] | None]] = [
    ('SELECT ?x WHERE {\n  "A" "p" ?y .\n  ?y "q" ?x .\n}', [("A", "p", "?y"), ("?y", "q", "?x")]),
    ('SELECT ?x WHERE { "A" p ?x }', [("A", "p", "?x")]),
    ("SELECT ?x WHERE {\n  A p ?y .\n  ?y q ?x .\n}", [("A", "p", "?y"), ("?y", "q", "?x")]),
    ('SELECT ?x WHERE {\n  ?x "p" "A" ;\n     "q" "B" .\n}', [("?x", "p", "A"), ("?x", "q", "B")]),
    ('SELECT ?x WHERE {\n  ?x "p" "A" , "B" .\n}', [("?x", "p", "A"), ("?x", "p", "B")]),
    ('SELECT DISTINCT ?x WHERE {\n  ?y p "A" .\n  ?y q ?x .\n}', [("?y", "p", "A"), ("?y", "q", "?x")]),
    ('SELECT ?x ?y WHERE {\n  ?x p ?y .\n  ?y q "A" .\n}', [("?x", "p", "?y"), ("?y", "q", "A")]),
    (
        'SELECT ?x WHERE {\n  "A" p ?y .\n  ?y q ?z .\n  ?z r ?x .\n}',
        [("A", "p", "?y"), ("?y", "q", "?z"), ("?z", "r", "?x")],
    ),
    ('SELECT ?x WHERE { ?x p ?d .\n  ?x q "A" .\n} ORDER BY DESC(?d) LIMIT 1', [("?x", "p", "?d"), ("?x", "q", "A")]),
    ('SELECT ?x WHERE {\n  ?x p "A" .\n  ?x a Person .\n}', [("?x", "p", "A")]),
    ('SELECT ?x WHERE {\n  ?s rdfs:label "A"@en .\n  ?s p ?x .\n}', [("A", "p", "?x")]),
    ('SELECT ?x WHERE {\n  { "A" p ?x }\n}', [("A", "p", "?x")]),
    ('SELECT ?x WHERE {\n  # who is it?\n  "A" p ?x . # "B" { } ?z\n}', [("A", "p", "?x")]),
    ('SELECT ?x WHERE {\n  "A (1931, B)" p ?x .\n}', [("A (1931, B)", "p", "?x")]),
    ('SELECT ?x WHERE {\n  "A" p ?x .\n} LIMIT 5', [("A", "p", "?x")]),
    ('SELECT ?x WHERE {\n  ?x p "A" .\n  OPTIONAL { ?x q ?y }\n}', None),
    ('SELECT ?x WHERE {\n  { ?x p "A" } UNION { ?x q "B" }\n}', None),
    ('SELECT ?x WHERE {\n  ?x p "A" .\n  MINUS { ?x q "B" }\n}', None),
    ('SELECT ?x WHERE {\n  ?x p ?y .\n  FILTER(?y != "B")\n}', None),
    ('SELECT ?x WHERE {\n  ?x p ?y .\n  FILTER regex(?y, "B")\n}', None),
    ("SELECT ?x WHERE {\n  ?x p ?y .\n  BIND(?y AS ?z)\n}", None),
    ('SELECT (COUNT(DISTINCT ?x) AS ?n) WHERE {\n  ?x p "A" .\n}', None),
    ("SELECT ?x WHERE {\n  ?x p ?y .\n} GROUP BY ?x ORDER BY DESC(COUNT(?y)) LIMIT 1", None),
    ("SELECT ?x WHERE {\n  ?x p ?y .\n} HAVING (COUNT(?y) > 3)", None),
    ("SELECT ?x WHERE {\n  ?x p ?y .\n} ORDER BY ?y LIMIT 1 OFFSET 1", None),
    ('SELECT ?x WHERE {\n  ?x p ?y .\n} VALUES ?y { "A" "B" }', None),
    ('SELECT ?x WHERE {\n  "A" spouse|partner ?x .\n}', None),
    ('SELECT ?x WHERE {\n  "A" !spouse ?x .\n  "B" knows? ?x .\n}', None),
    ('SELECT ?x WHERE {\n  [ p "A" ] q ?x .\n}', None),
    ("SELECT ?x WHERE {\n  ?x p ?y .\n  ?y > 1931 .\n}", None),
]
KEYWORDS = re.compile(
    r"\b(SELECT|DISTINCT|WHERE|OPTIONAL|UNION|MINUS|FILTER|BIND|COUNT|GROUP BY|ORDER BY|DESC|HAVING|VALUES|LIMIT"
    r"|OFFSET)\b"
)


def cased(change):
    return lambda text, draw: KEYWORDS.sub(lambda found: change(found[0]), text)


def one_fewer(mark):
    """Without one of the marks, drawn."""

    def damage(text, draw):
        places = [found.start() for found in re.finditer(mark, text)]
        at = draw.choice(places) if places else len(text)
        return text[:at] + text[at + 1 :]

    return damage


DAMAGES = [
    cased(str.lower),
    cased(str.title),
    cased(lambda word: word[0].lower() + word[1:].upper()),
    one_fewer('"'),
    one_fewer(r"\."),
    one_fewer(r"\}"),
    one_fewer(r"\{"),
    lambda text, draw: text.replace("}", "} }", 1),
    lambda text, draw: text + "\n}",
    lambda text, draw: " ".join(text.split()),
    lambda text, draw: text.replace(" .\n", "\n"),
    lambda text, draw: " ".join(text.replace(" .\n", "\n").split()),
    lambda text, draw: text.replace('"', "'"),
    lambda text, draw: f"Step 1: the query.\n```sparql\n{text}\n```\nStep 2: ?y is B, so ?x is (A).\nFINAL ANSWER: B",
    lambda text, draw: f'{{"query": "{text}"}}',
    lambda text, draw: text.replace("WHERE", "WHRE"),
    lambda text, draw: text.replace("WHERE ", ""),
    lambda text, draw: text.replace("?", "$"),
    lambda text, draw: text.replace(" .", " ;"),
    lambda text, draw: text.replace(" .", ".").replace("  ", "\t"),
]  # fmt: skip


def queries():
    """(text, patterns or None, whether it is damaged): ten of each shape."""
    for number, (shape, patterns) in enumerate(SHAPES):
        for many in range(10):
            draw = random.Random(100 * number + many)
            names, relations = draw.sample(NAMES, 2), draw.sample(RELATIONS, 3)
            words = dict(zip("ABpqr", [*names, *relations]))

            def put_in(text, words=words):
                return re.sub(r"\b[ABpqr]\b", lambda found: words[found[0]], text)

            text = put_in(shape)
            if many % 2:
                text = DAMAGES[(5 * number + many // 2 * 7) % len(DAMAGES)](text, draw)
            yield text, patterns and [tuple(map(put_in, members)) for members in patterns], bool(many % 2)


def test_none_is_read_otherwise_than_written():
    assert sum(damaged for *_, damaged in queries()) == 150 == len(list(queries())) / 2
    wrong, understood = [], 0
    for text, patterns, damaged in queries():
        query = parse(text)
        read = [pattern.members for pattern in query.patterns]
        if (read and read != patterns) or (patterns and not damaged and not read) or (not read and not query.flaw):
            wrong.append((text, read, query.flaw))
        understood += bool(patterns and damaged and read)
    assert wrong == []
    assert understood >= 35  # of 75 damaged queries that mean patterns


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('SELECT ?x WHERE {\n ?x born in "Oslo" .\n optional { ?x spouse ?y } }', "OPTIONAL in line 3"),
        ('SELECT ?x WHERE { { ?x born in "Olm" } union { ?x died in "Olm" } }', "UNION in line 1"),
        ("SELECT ?x WHERE { ?x p ?y }\nGROUP BY ?x\nORDER BY DESC(COUNT(?y))\nLIMIT 1", "GROUP BY in line 2"),
        ("SELECT ?x WHERE { ?x p ?y } Having (count(?y) > 3)", "HAVING in line 1"),
        ("SELECT ?x WHERE { ?x p ?y } filter(?y > 3)", "FILTER in line 1"),
        ("SELECT ?x WHERE { ?x p ?y } order by ?y limit 1 offset 1", "OFFSET in line 1"),
        ("SELECT ?x WHERE { ?x p ?y } ORDER BY DESC(COUNT(?y)) LIMIT 1", "ORDER BY of an expression"),
        ("SELECT ?x WHERE { ?x p ?y . ?x q ?z } ORDER BY ?y ?z LIMIT 1", "ORDER BY of several values"),
        ("SELECT ?x WHERE { ?x p ?y } ORDER BY ?z LIMIT 1", "?z gives the order"),
        ("SELECT (Count(?x) as ?n) WHERE { ?x p ?y }", "COUNT in line 1"),
        ("SELECT ?x FROM <http://e.org/g> WHERE { ?x p ?y }", "FROM in line 1"),
        ("SELECT ?x WHERE { ?x spouse|partner ?y }", "a property path in line 1"),
        ("SELECT ?x WHERE { ?x spouse? ?y }", "a property path with ? in line 1"),
        ("SELECT ?x WHERE { ?x (^spouse) ?y }", "a property path in line 1"),
        ("SELECT ?x WHERE { ?x <http://e.org/a>/<http://e.org/b> ?y }", "no part of a triple"),
        ('SELECT ?x WHERE { [ directorOf "Dune" ] bornIn ?x }', "a blank node in line 1"),
        ("SELECT ?x WHERE { _:b bornIn ?x }", "a blank node in line 1"),
        ("SELECT ?z WHERE { ?x p ?y }\n?y q ?z }", "a closing brace too many in line 2"),
        ("SELECT ?z WHERE { ?x p ?y } ?y q ?z", "what stands behind the closing brace"),
        ("SELECT ?x WHERE { ?x p ?y ?y q ?z }", "which is no triple"),
        ("SELECT ?x WHERE { Ada Marr founded Tessel Ada Marr born in ?x }", "which is no triple"),
        ('SELECT ?x WHERE { "Dune Fever directed by ?x }', "no part of a triple"),
        ("SELECT ?x WHERE { ?x p ?y . ?y = 3 }", "'=', which is no part of a triple"),
        ("SELECT ?x WHERE { ?x p ?y . { SELECT ?y WHERE { ?y q ?z } } }", "a second SELECT inside"),
        ("SELECT ?x WHERE { SERVICE wikibase:label { ?x p ?y } }", "SERVICE"),
        ("SELECT ?x WHERE { ?x p ?y } ORDER BY ?y", "ORDER BY without LIMIT 1"),
        ("SELECT ?x WHERE { ?x p/q ?y }", "a property path"), ("SELECT ?x WHERE { }", "no triple pattern"),
        ("SELECT ?x WHERE { " + " ".join(f"?x p{n} ?y ." for n in range(MOST + 1)) + " }", f"at most {MOST}"),
        ("SELECT ?x WHERE { Tessel p Marr }", "no pattern has a variable"), ("", "no SELECT"),
        # It is not replaced by the one before.
        ('SELECT ?x WHERE { "A" p ?x }\nMine: SELECT ?x WHERE { "B" q ?x . filter(?x > 3) }', "FILTER in line 2"),
    ],
)  # fmt: skip
def test_what_is_refused_is_named_with_its_line(text, what):
    query = parse(text)
    assert not query.patterns and what in query.flaw


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("SELECT ?x WHERE { Union Pacific founded by ?x }", "Union Pacific"),
        ("SELECT ?x WHERE { Marr & Ost founded by ?x }", "Marr & Ost"),
        ('SELECT ?x WHERE { "Symphony #5 {draft}" written by ?x }', "Symphony #5 {draft}"),
        ("SELECT ?x WHERE [ Tessel founded by ?x ]", "Tessel"),
        ("SELECT ?x WHERE {\n- Tessel founded by ?x\n}", "Tessel"),
    ],
)
def test_names_that_look_like_more(text, subject):
    assert [pattern.subject for pattern in parse(text).patterns] == [subject]
