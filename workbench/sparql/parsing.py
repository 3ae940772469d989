"""Triple patterns, parsed from SPARQL written by a model, a person or a rule.

Read: SELECT, with any prose and code fences around it, with or without WHERE, PREFIX and final dots; `;` and `,`;
IRIs and prefixed names (by their last part, underscores and camel case undone), quoted texts, bare words. The last
SELECT that has patterns counts, as a model may repeat what it was asked first. `?x rdfs:label "A"` says what ?x is and
is put in; `?x a film` is left out where another pattern describes ?x, because an open graph seldom holds such facts.
ORDER BY with LIMIT 1 is a comparison.

Everything else is refused, by a flaw that names it and its line: whatever narrows or widens what the patterns say
(FILTER, OPTIONAL, UNION, a second SELECT inside, GROUP BY, OFFSET, property paths, blank nodes …, in any case of
letters and wherever it stands), and what is no triple. Nothing is left out, because that would answer another
question. Nothing of the text is ever carried out: the patterns alone are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import unquote

from workbench.records import Pattern
from workbench.sparql.query import ANSWER, BY, MOST, Comparison, Query

LONGEST = 20_000  # characters of a text that are read
_LONG = 200  # characters of a term
_EMPTY = "the SELECT has no triple pattern that can be read"
_SELECT = re.compile(
    r"\bSELECT\s+(?:DISTINCT\s+|REDUCED\s+)?"
    r"((?:[?$]\w+[\s,]*|\*\s*|\w{0,20}\s?\((?:[^()]|\([^()]{0,80}\)){0,80}\)\s*)+)",
    re.I,
)
_COMPARE = re.compile(r"#\s*compare:\s*(\w+)((?:\s+[?$]\w+){1,2})(?:\s+pick\s+([^\n]+))?", re.I)
_TAIL = re.compile(r"\b(?:(?:ORDER|GROUP)\s+BY|LIMIT|OFFSET)\b|```|^[ \t]*(?:\*\*|#+[ \t]*)?step[ \t]*\d", re.I | re.M)
# What may stand behind the closing brace: the order and its limit are read, the rest is refused.
_CLAUSE = re.compile(
    r"""[\s.;]*(?:(?P<order>ORDER\s+BY)\b\s*|(?P<count>LIMIT|OFFSET)\s+(?P<number>\d+)
    |(?P<refused>GROUP\s+BY|(?:HAVING|BIND)(?=\s*\()|VALUES(?=\s*[?$(])
    |FILTER(?=\s*[(?$!]|\s+(?:NOT|EXISTS)\b|\s+\w+\()|(?:OPTIONAL|UNION|MINUS)(?=\s*\{)
    |(?:GRAPH|SERVICE)(?=\s+\S+\s*\{)))""",
    re.I | re.X,
)
_OPENING = re.compile(r"\s*(FROM\b)?(?:WHERE\s*)?([{[])?", re.I)
_NESTING = re.compile(r'"(?:[^"\\\n]|\\.)*"|(?<!\S)#[^\n]*|[{}]')
_EMPTY_LINE, _SPACE, _BRACE, _VARIABLE = map(re.compile, (r"\n\s*\n", r"[\s,]*", r"[{}]", r"[?$]\w"))
_ORDER_KEY = re.compile(r"(?:(ASC|DESC)\b\s*)?(?:\(\s*([?$]\w+)\s*\)|([?$]\w+))", re.I)
_TOKEN = re.compile(
    r"""(?P<comment>(?<!\S)\#[^\n]*)
    |(?P<iri><[^<>\s]{0,400}>)
    |(?P<text>"(?:[^"\\\n]|\\.){0,400}"|“[^”\n]{0,400}”|'(?:[^'\\\n]|\\.){0,400}'(?![\w]))
    (?:@[\w-]+|\^\^\S{1,80}?(?=[\s.;,}]|$))?
    |(?P<variable>[?$]\w+)
    |(?P<mark>[;,](?=\s|$)|(?<![\s{][A-Z])\.(?=\s|$|\})|[{}\n])
    |(?P<word>(?:(?<=[\s{][A-Z])\.|\.(?!\s|$|\})|[;,](?!\s|$)|[^\s.;,{}"“<>?$])+)
    |(?P<stray>\S)""",
    re.X,
)
# Words of SPARQL that are refused where a statement begins, in any case of letters, or in capitals anywhere. Those that
# a name may well begin with are words of it where they are written as one: Union Pacific, Graph Theory.
_NEVER_NAMES = ("FILTER", "OPTIONAL", "BIND", "HAVING", "EXISTS", "CONSTRUCT", "DESCRIBE", "INSERT", "DELETE")
_PERHAPS_NAMES = ("UNION", "MINUS", "SERVICE", "GRAPH", "VALUES", "LIMIT", "OFFSET", "FROM")
_INSIDE_NAMES = ("&", "-", "–", "—")  # words without a letter that a name or a relation may have
_BULLETS = ("-", "–", "*", "•")
_LABELS = ("label", "name", "title")
_TYPES = ("a", "type", "rdf type", "instance of", "is a")


class _Token(NamedTuple):
    kind: str  # iri, text, variable, word, stray; a mark is its own
    text: str
    at: int


class _Refused(Exception):
    """Something that is not read, and where it stands in the text."""

    def __init__(self, what: str, at: int):
        super().__init__(what)
        self.at = at


def parse(text: str) -> Query:
    """The patterns, the first selected variable and the comparison of a text, or a flaw.

    >>> query = parse('SELECT ?x WHERE { "Dune Fever" directed by ?d . ?d dbo:birthPlace ?x }')
    >>> [pattern.members for pattern in query.patterns], query.wanted
    ([('Dune Fever', 'directed by', '?d'), ('?d', 'birth place', '?x')], '?x')
    >>> parse("SELECT ?x WHERE { ?x directed by ?d . optional { ?d born in ?y } }").flaw
    'OPTIONAL in line 1 is not carried out; write triple patterns alone'
    >>> parse("I don't know.").flaw
    'no SELECT with a variable is in the text'
    """
    text = text[:LONGEST].replace("\r\n", "\n")
    queries = [_read(match, text, after) for match, after in _selects(text)]
    if not queries:
        return Query(flaw="no SELECT with a variable is in the text")
    return next((query for query in reversed(queries) if query.flaw != _EMPTY), queries[-1])


def query_of(output) -> Query:
    """The query of an output of the Step `write_patterns`, within the same bounds as a text."""
    members = [tuple(map(_term, (p.subject, p.predicate, p.object))) for p in output.patterns[: 4 * MOST]]
    patterns = tuple(dict.fromkeys(Pattern(*terms) for terms in members if all(terms)))
    if not patterns:
        return Query(flaw="no pattern was written")
    if len(patterns) > MOST:
        return Query(flaw=f"the query has {len(patterns)} patterns; at most {MOST} are carried out")
    variables = list(dict.fromkeys(term for p in patterns for term in p.members if term.startswith("?")))
    wanted = next((name for name in (_term(output.wanted), ANSWER) if name in variables), "")
    compare = output.compare and Comparison(
        output.compare.by, tuple(map(_term, output.compare.of)), tuple(map(_term, output.compare.pick))
    )
    if compare:
        compare = compare if _sound(compare, variables) else None
        wanted = compare.of[0] if compare else wanted
    return Query(patterns, wanted, compare) if wanted else Query(flaw="what is asked for stands in no pattern")


def _term(text: str) -> str:
    text = _bounded(text).strip('"<>')
    return _variable(text) if text.startswith("$") else text


def _selects(text: str) -> list[tuple[re.Match, int]]:
    """Each SELECT that is not inside the braces of the one before, and where the text ends that is its own."""
    matches = list(_SELECT.finditer(text))
    outer = matches[:1] + [
        match
        for before, match in pairwise(matches)
        if text.count("{", before.end(), match.start()) <= text.count("}", before.end(), match.start())
    ]
    return list(zip(outer, [*(match.start() for match in outer[1:]), len(text)]))


def _read(select: re.Match, text: str, end: int) -> Query:
    try:
        if bracket := select[1].find("(") + 1:
            name = re.search(r"(\w+)\s*\(", select[1])
            raise _Refused(name[1].upper() if name else "an expression in SELECT", select.start(1) + bracket)
        start, stop, after = _body(text, select.end(), end)
        if inner := _SELECT.search(text, start, stop):
            raise _Refused("a second SELECT inside", inner.start())
        tokens = _tokens(text, start, stop)
        braced = text[stop : stop + 1] == "}"
        if not braced and not any(token.kind == "variable" for token in tokens):
            return Query(flaw=_EMPTY)  # prose that happens to say "select ?x"
        patterns = _patterns(tokens)
        order = _order(text, after, end, braced)
    except _Refused as refused:
        line = text.count("\n", 0, refused.at) + 1
        return Query(flaw=f"{refused} in line {line} is not carried out; write triple patterns alone")
    if not patterns:
        return Query(flaw=_EMPTY)
    patterns, same = _settled(patterns)
    if len(patterns) > MOST:
        return Query(flaw=f"the query has {len(patterns)} patterns; at most {MOST} are carried out")
    chosen = [same.get(name, name) for name in map(_variable, re.findall(r"[?$]\w+", select[1]))]
    return _asking(patterns, chosen, order, comparison(text[after:end]))


def _body(text: str, at: int, end: int) -> tuple[int, int, int]:
    """Start and end of what stands inside the braces, or, where there are none, up to an empty line; and the start of
    what follows. Square brackets around all of it are taken for braces."""
    opened = _OPENING.match(text, at, end)
    if opened[1]:
        raise _Refused("FROM", opened.start(1))
    start = opened.end()
    if opened[2] == "{":
        depth = 1
        for match in _NESTING.finditer(text, start, end):
            depth += {"{": 1, "}": -1}.get(match[0], 0)
            if not depth:
                return start, match.start(), match.end()
        tail = _TAIL.search(text, start, end)  # never closed
        stop = tail.start() if tail else end
        return start, stop, stop
    ends = (_EMPTY_LINE.search(text, start, end), _TAIL.search(text, start, end))
    stop = min((end.start() for end in ends if end), default=end)
    if opened[2] == "[" and (closed := text.rfind("]", start, stop)) >= 0:
        return start, closed, closed + 1
    return start, stop, stop


class _Order(NamedTuple):
    """The comparison that ORDER BY with LIMIT 1 makes: `more` or `less` of a variable; where it stands."""

    by: str
    variable: str
    at: int


def _order(text: str, at: int, end: int, braced: bool) -> _Order | None:
    """The order of what follows the patterns. Anything else that belongs to the query is refused; prose may follow."""
    order: _Order | None = None
    counts = {"LIMIT": (None, at), "OFFSET": (None, at)}  # name → number, place
    while clause := _CLAUSE.match(text, at, end):
        at = clause.end()
        if clause["refused"]:
            raise _Refused(" ".join(clause["refused"].upper().split()), clause.start("refused"))
        if clause["count"]:
            counts[clause["count"].upper()] = int(clause["number"]), clause.start("count")
            continue
        key, place = _ORDER_KEY.match(text, at, end), clause.start("order")
        if key is None or order:
            raise _Refused("ORDER BY of an expression", place)
        order = _Order("more" if (key[1] or "").upper() == "DESC" else "less", _variable(key[2] or key[3]), place)
        at = key.end()
        if _ORDER_KEY.match(text, _SPACE.match(text, at, end).end(), end):
            raise _Refused("ORDER BY of several values", place)
    (limit, limited_at), (offset, offset_at) = counts["LIMIT"], counts["OFFSET"]
    if offset:
        raise _Refused("OFFSET", offset_at)
    if limit == 0:
        raise _Refused("LIMIT 0", limited_at)
    if order and limit != 1:
        raise _Refused("ORDER BY without LIMIT 1", order.at)
    if braced:
        _nothing_behind(text, at, end)
    return order


def _nothing_behind(text: str, at: int, end: int) -> None:
    """Refuse a pattern behind the closing brace: in its line, or before another closing brace."""
    line = text.find("\n", at, end)
    behind = text[at : line if line >= 0 else end].partition("#")[0]
    if match := _VARIABLE.search(behind):
        raise _Refused("what stands behind the closing brace", at + match.start())
    brace = _BRACE.search(text, at, end)
    if brace and brace[0] == "}" and _VARIABLE.search(text, at, brace.start()):
        raise _Refused("a closing brace too many", brace.start())


def _asking(
    patterns: tuple[Pattern, ...], chosen: list[str], order: _Order | None, compare: Comparison | None
) -> Query:
    variables = list(dict.fromkeys(term for p in patterns for term in p.members if term.startswith("?")))
    if not variables:
        return Query(flaw="no pattern has a variable, so nothing is asked")
    wanted = next((name for name in (*chosen[:1], ANSWER) if name in variables), "" if chosen else variables[-1])
    if compare and _sound(compare, variables):
        return Query(patterns, compare.of[0], compare)
    if not wanted:
        return Query(flaw=f"{chosen[0]} is asked for, but stands in no pattern")
    if order and order.variable not in variables:
        return Query(flaw=f"{order.variable} gives the order, but stands in no pattern")
    return Query(patterns, wanted, order and Comparison(order.by, (order.variable,), (wanted,)))


def comparison(written: str) -> Comparison | None:
    """A comparison as `Comparison` spells it, behind "compare:" in a comment or alone, as in `Proof.compare`."""
    match = _COMPARE.search(written) or _COMPARE.search(f"# compare: {written}")
    if match is None:
        return None
    of = tuple(map(_variable, match[2].split()))
    pick = tuple(_clean(token) for token in _tokens(match[3] or "", 0) if token.kind in ("text", "variable"))[:2]
    return Comparison(match[1].lower(), of, pick)


def _sound(compare: Comparison, variables: Sequence[str]) -> bool:
    are_bound = all(term in variables for term in (*compare.of, *(p for p in compare.pick if p.startswith("?"))))
    several = len(compare.of) == 2 or (len(compare.of) == 1 and compare.by in ("less", "more", "earlier", "later"))
    return compare.by in BY and several and are_bound and len(compare.pick) == (
        0 if compare.by == "difference" else len(compare.of)
    )  # fmt: skip


# Patterns


def _tokens(text: str, start: int, end: int | None = None) -> list[_Token]:
    tokens = []
    for match in _TOKEN.finditer(text, start, len(text) if end is None else end):
        kind, written = match.lastgroup, match[match.lastgroup]
        if kind == "mark" or (kind == "word" and not written.strip(".;,")):
            kind = written[0]
        if kind != "comment":
            tokens.append(_Token(kind, written, match.start()))
    return tokens


def _patterns(tokens: Sequence[_Token]) -> list[Pattern]:
    """Statement by statement. A line ends one that is whole; `;` keeps its subject, `,` the predicate as well. Raises
    :class:`_Refused` for a statement that is no triple."""
    patterns: list[Pattern] = []
    carried: list[_Token] = []  # what the next statement takes over
    statement: list[_Token] = []

    def close(mark: str) -> None:
        nonlocal carried, statement
        terms = _terms([*carried, *statement]) if statement else None
        if terms:
            patterns.append(Pattern(*map(_bounded, (_clean(terms[0]), _relation(terms[1]), _clean(terms[2])))))
            if not all(patterns[-1].members):
                raise _Refused(_no_triple(statement), statement[0].at)
        elif statement:
            raise _Refused(_no_triple(statement), statement[0].at)
        if mark == ";":
            carried = terms[0] if terms else carried
        elif mark == ",":
            carried = [*terms[0], *terms[1]] if terms else carried
        else:
            carried = []
        statement = []

    for token, following in zip(tokens, [*tokens[1:], None]):
        if token.kind == "\n":
            if statement and _whole(statement[-1], len(carried) + len(statement)):
                close(".")
        elif token.kind in (".", ";", ",", "{", "}"):
            close(token.kind)
        elif statement or token.text not in _BULLETS:
            _check(token, following, begins=not statement)
            statement.append(token)
        if len(patterns) > 4 * MOST:  # it is refused anyway
            return patterns
    close(".")
    return patterns


def _check(token: _Token, following: _Token | None, begins: bool) -> None:
    """Refuse what is no part of a triple: words of SPARQL, calls, brackets, operators, blank nodes."""
    if token.kind == "stray":
        path = token.text == "?" and not begins
        raise _Refused("a property path with ?" if path else f"{token.text!r}, which is no part of a triple,", token.at)
    if token.kind != "word":
        return
    name = token.text.upper()
    plain = following is not None and following.kind == "word" and following.text[0] != "("
    if name in _NEVER_NAMES + _PERHAPS_NAMES:
        as_a_name = plain and token.text.istitle() and name in _PERHAPS_NAMES
        if token.text.isupper() or (begins and not as_a_name) or (following is not None and following.kind == "{"):
            raise _Refused(name, token.at)
    if name in ("GROUP", "ORDER") and plain and following.text.upper() == "BY":
        raise _Refused(f"{name} BY", token.at)
    if called := re.match(r"(\w+)\(", token.text):
        raise _Refused(called[1].upper(), token.at)
    if token.text.startswith(("[", "_:")) or token.text.endswith("]"):
        raise _Refused("a blank node", token.at)
    opens = token.text.endswith("(") and following is not None and following.kind in ("variable", "text", "iri")
    if opens or not (token.text in _INSIDE_NAMES or any(map(str.isalnum, token.text))):
        raise _Refused(f"{token.text!r}, which is no part of a triple,", token.at)


def _no_triple(statement: Sequence[_Token]) -> str:
    """What is said of a statement that is none: what is known to be refused by its name, else its words."""
    words = [token.text for token in statement]
    if any(_is_path(token) for token in statement):
        return "a property path"
    return f"{' '.join(words)[:80]!r}, which is no triple,"


def _is_path(token: _Token) -> bool:
    """Whether a word of a predicate is more than a name: a/b, a|b, ^a, !a, a*, a+, (a)."""
    return token.kind == "word" and bool(re.search(r"[/|]|^\(?[\^!]|[*+]\)?$|^\(.*\)$", token.text))


def _whole(last: _Token, many: int) -> bool:
    """Whether a line may end here: a bare word may go on in the next line, and a statement of two terms must."""
    return many >= 3 and (last.kind != "word" or last.text[:1].isupper() or last.text[:1].isdigit() or ":" in last.text)


def _terms(tokens: list[_Token]) -> tuple[list[_Token], list[_Token], list[_Token]] | None:
    """Subject, predicate, object; of bare words, the capitalised ones at either end are names. None if they are no
    triple, or if it is not plain where a name ends and the predicate begins."""
    if len(tokens) < 3:
        return None
    first, last = 1, len(tokens) - 1
    if _named(tokens[0]):
        while first < last - 1 and _goes_on(tokens[first], tokens[first + 1]):
            first += 1
    if _named(tokens[-1]):
        while last - 1 > first and _goes_on(tokens[last - 1], tokens[last - 2]):
            last -= 1
    predicate = tokens[first:last]
    if any(map(_is_path, predicate)) or predicate[0].text in _INSIDE_NAMES or predicate[-1].text in _INSIDE_NAMES:
        return None
    if len(predicate) > 1:
        delimited = tokens[0].kind != "word" and tokens[-1].kind != "word"
        if any(token.kind != "word" or (_named(token) and not delimited) for token in predicate):
            return None
    return tokens[:first], predicate, tokens[last:]


def _goes_on(token: _Token, beyond: _Token) -> bool:
    return _named(token) or (token.text in _SMALL and _named(beyond))


_SMALL = ("of", "the", "and", "de", "la", "du", "von", "van", "der", "&")  # inside names


def _named(token: _Token) -> bool:
    return token.kind == "word" and not token.text[0].islower() and ":" not in token.text


def _settled(patterns: list[Pattern]) -> tuple[tuple[Pattern, ...], dict[str, str]]:
    """Labels put in for what they label, types left out; each pattern once. Also: variable → what stands for it."""
    same: dict[str, str] = {}

    def resolved(term: str) -> str:
        while term in same:
            term = same[term]
        return term

    rest = []
    for pattern in patterns:
        subject, other = resolved(pattern.subject), resolved(pattern.object)
        if pattern.predicate.lower() in _LABELS and subject.startswith("?") and len(patterns) > 1:
            if subject != other:
                same |= {other: subject} if other.startswith("?") else {subject: other}
        else:
            rest.append(pattern)
    rest = [Pattern(resolved(p.subject), p.predicate, resolved(p.object)) for p in rest]
    informative = [p for p in rest if p.predicate.lower() not in _TYPES or p.object.startswith("?")]
    terms = {term for pattern in informative for term in pattern.members}
    final = [p for p in rest if p in informative or p.subject not in terms]
    return tuple(dict.fromkeys(final)), {term: resolved(term) for term in same}


# Terms


def _variable(name: str) -> str:
    return "?" + name.strip()[1:]


def _clean(tokens: _Token | Sequence[_Token]) -> str:
    """A term as it is in plain English."""
    return " ".join(_plain(token) for token in ([tokens] if isinstance(tokens, _Token) else tokens)).strip()


def _plain(token: _Token) -> str:
    text = token.text
    if token.kind == "variable":
        return _variable(text)
    if token.kind == "text":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    if token.kind == "iri":
        return _spaced(unquote(re.split(r"[/#:]", text[1:-1].rstrip("/#"))[-1]))
    prefix = re.match(r"[\w-]*:(?=\S)", text)
    return _spaced(unquote(text[prefix.end() :])) if prefix else text.replace("_", " ")


def _relation(tokens: Sequence[_Token]) -> str:
    return " ".join(_spaced(_plain(token)) if token.kind == "word" else _plain(token) for token in tokens)


def _spaced(name: str) -> str:
    """Underscores and camel case undone: birthPlace, birth_place → birth place."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.replace("_", " "))
    return apart.lower() if name[:1].islower() else apart


def _bounded(term: str) -> str:
    """On one line, of printable characters, no longer than a name."""
    return " ".join("".join(c if c.isprintable() else " " for c in term).split())[:_LONG]
