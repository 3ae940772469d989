"""Triple patterns read off what a model, a person or a rule wrote as SPARQL.

Read: SELECT, with any prose and code fences around it, with or without WHERE, PREFIX and final dots; `;` and `,`;
IRIs and prefixed names (by their last part, underscores and camel case undone), quoted texts, bare words. The last
SELECT that has patterns counts, as a model may repeat what it was asked first. `?x rdfs:label "A"` says what ?x is and
is put in; `?x a film` is left out where another pattern describes ?x, because an open graph seldom holds such facts.

Refused, by a flaw that names it: whatever narrows or widens what the patterns say (FILTER, OPTIONAL, UNION, a second
SELECT inside, GROUP BY, property paths …), because leaving it out would answer another question. ORDER BY with LIMIT 1
is a comparison. Nothing of the text is ever carried out: the patterns alone are."""

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
_REFUSED = re.compile(
    r"\b(FILTER|OPTIONAL|UNION|MINUS|SERVICE|GRAPH|BIND|VALUES|EXISTS|GROUP\s+BY|HAVING|CONSTRUCT|DESCRIBE|INSERT"
    r"|DELETE|COUNT|SUM|AVG|MIN|MAX|SAMPLE)\b(?=\s*[({\[<?$]|\s+\w)"
)
_SELECT = re.compile(
    r"\bSELECT\s+(?:DISTINCT\s+|REDUCED\s+)?"
    r"((?:[?$]\w+[\s,]*|\*\s*|\((?:[^()]|\([^()]{0,80}\)){0,80}\)\s*)+)",
    re.I,
)
_COMPARE = re.compile(r"#\s*compare:\s*(\w+)((?:\s+[?$]\w+){1,2})(?:\s+pick\s+([^\n]+))?", re.I)
_ORDER = re.compile(r"\bORDER\s+BY\s+(ASC|DESC)?\s*\(?\s*([?$]\w+)\s*\)?\s*LIMIT\s+1\b", re.I)
_TAIL = re.compile(r"\b(?:ORDER\s+BY|LIMIT|OFFSET)\b|```|^[ \t]*(?:\*\*|#+[ \t]*)?step[ \t]*\d", re.I | re.M)
_TOKEN = re.compile(
    r"""(?P<iri><[^<>\s]{0,400}>)
    |(?P<text>"(?:[^"\\\n]|\\.){0,400}"|“[^”\n]{0,400}”|'(?:[^'\\\n]|\\.){0,400}'(?![\w]))(?:@[\w-]+|\^\^\S{1,80}?(?=[\s.;,}]|$))?
    |(?P<variable>[?$]\w+)
    |(?P<mark>[;,](?=\s|$)|(?<![\s{][A-Z])\.(?=\s|$|\})|[{}\n])
    |(?P<word>(?:(?<=[\s{][A-Z])\.|\.(?!\s|$|\})|[;,](?!\s|$)|[^\s.;,{}"“<>?$])+)""",
    re.X,
)
_LABELS = ("label", "name", "title")
_TYPES = ("a", "type", "rdf type", "instance of", "is a")


class _Token(NamedTuple):
    kind: str  # iri, text, variable, word; a mark is its own
    text: str


def parse(text: str) -> Query:
    """The patterns, the first selected variable and the comparison of a text, or a flaw.

    >>> query = parse('SELECT ?x WHERE { "Dune Fever" directed by ?d . ?d dbo:birthPlace ?x }')
    >>> [pattern.members for pattern in query.patterns], query.wanted
    ([('Dune Fever', 'directed by', '?d'), ('?d', 'birth place', '?x')], '?x')
    >>> parse("I don't know.").flaw
    'no SELECT with a variable is in the text'
    """
    text = text[:LONGEST].replace("\r\n", "\n")
    found = [_read(match, text[match.end() : after]) for match, after in _selects(text)]
    if not found:
        return Query(flaw="no SELECT with a variable is in the text")
    return next((query for query in reversed(found) if query.patterns), found[-1])


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
    found = list(_SELECT.finditer(text))
    outer = found[:1] + [
        match
        for before, match in pairwise(found)
        if text.count("{", before.end(), match.start()) <= text.count("}", before.end(), match.start())
    ]
    return list(zip(outer, [*(match.start() for match in outer[1:]), len(text)]))


def _read(select: re.Match, text: str) -> Query:
    body, after = _body(text)
    order, compare = _ORDER.search(after), comparison(after)
    refused = _REFUSED.search(re.sub(r'"[^"\n]*"', "", body)) or _REFUSED.search(select[1])
    refused = refused[1] if refused else "a second SELECT inside" if _SELECT.search(body) else ""
    refused = refused or ("ORDER BY without LIMIT 1" if re.match(r"\W*ORDER\s+BY", after, re.I) and not order else "")
    if refused:
        return Query(flaw=f"{' '.join(refused.split())} is not carried out; write triple patterns alone")
    patterns = _patterns(body)
    if not patterns:
        return Query(flaw="the SELECT has no triple pattern that can be read")
    patterns, same = _settled(patterns)
    if any("/" in p.predicate or p.predicate[:1] == "^" or p.predicate[-1:] in "*+" for p in patterns):
        return Query(flaw="property paths are not carried out; write a pattern for each step")
    if len(patterns) > MOST:
        return Query(flaw=f"the query has {len(patterns)} patterns; at most {MOST} are carried out")
    chosen = [same.get(name, name) for name in map(_variable, re.findall(r"[?$]\w+", select[1]))]
    return _asking(patterns, chosen, order, compare)


def _body(text: str) -> tuple[str, str]:
    """What stands inside the braces, or, where there are none, up to an empty line; and what follows."""
    opened = re.match(r"\s*(?:FROM\s+\S+\s*)*(?:WHERE\s*)?\{", text, re.I)
    if not opened:
        text = re.sub(r"^\s*WHERE\b", "", text, flags=re.I).lstrip()
        end = min((found.start() for found in (re.search(r"\n\s*\n", text), _TAIL.search(text)) if found),
                  default=len(text))  # fmt: skip
        return text[:end], text[end:]
    depth, start = 1, opened.end()
    for match in re.finditer(r'"[^"\n]*"|[{}]', text[start:]):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if not depth:
            return text[start : start + match.start()], text[start + match.end() :]
    end = _TAIL.search(text, start)  # never closed
    return text[start : end.start() if end else len(text)], text[end.start() :] if end else ""


def _asking(
    patterns: tuple[Pattern, ...], chosen: list[str], order: re.Match | None, compare: Comparison | None
) -> Query:
    variables = list(dict.fromkeys(term for p in patterns for term in p.members if term.startswith("?")))
    if not variables:
        return Query(flaw="no pattern has a variable, so nothing is asked")
    wanted = next((name for name in (*chosen[:1], ANSWER) if name in variables), "" if chosen else variables[-1])
    if compare and _sound(compare, variables):
        return Query(patterns, compare.of[0], compare)
    if not wanted:
        return Query(flaw=f"{chosen[0]} is asked for, but stands in no pattern")
    if order and _variable(order[2]) in variables:
        by = "more" if (order[1] or "").upper() == "DESC" else "less"
        return Query(patterns, wanted, Comparison(by, (_variable(order[2]),), (wanted,)))
    return Query(patterns, wanted)


def comparison(written: str) -> Comparison | None:
    """A comparison as `Comparison` spells it, behind "compare:" in a comment or alone, as in `Proof.compare`."""
    found = _COMPARE.search(written) or _COMPARE.search(f"# compare: {written}")
    if found is None:
        return None
    of = tuple(map(_variable, found[2].split()))
    pick = tuple(_clean(token) for token in _tokens(found[3] or "") if token.kind in ("text", "variable"))[:2]
    return Comparison(found[1].lower(), of, pick)


def _sound(compare: Comparison, variables: Sequence[str]) -> bool:
    known = all(term in variables for term in (*compare.of, *(p for p in compare.pick if p.startswith("?"))))
    several = len(compare.of) == 2 or (len(compare.of) == 1 and compare.by in ("less", "more", "earlier", "later"))
    return compare.by in BY and several and known and len(compare.pick) == (
        0 if compare.by == "difference" else len(compare.of)
    )  # fmt: skip


# Patterns


def _tokens(text: str) -> list[_Token]:
    found = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        found.append(_Token(match[kind] if kind == "mark" else kind, match[kind]))
    return [token for token in found if token.kind != "word" or any(map(str.isalnum, token.text))]


def _patterns(body: str) -> list[Pattern]:
    """Statement by statement. A line ends one that is whole; `;` keeps its subject, `,` the predicate as well."""
    body = "\n".join(line for line in (re.sub(r"(?:^|\s)#.*", "", line) for line in body.split("\n")))
    patterns: list[Pattern] = []
    carried: list[_Token] = []  # what the next statement takes over
    statement: list[_Token] = []

    def close(mark: str) -> None:
        nonlocal carried, statement
        terms = _terms([*carried, *statement]) if statement else None
        if terms:
            patterns.append(Pattern(*map(_bounded, (_clean(terms[0]), _relation(terms[1]), _clean(terms[2])))))
        if mark == ";":
            carried = terms[0] if terms else carried
        elif mark == ",":
            carried = [*terms[0], *terms[1]] if terms else carried
        else:
            carried = []
        statement = []

    for token in _tokens(body):
        if token.kind == "\n":
            if statement and _whole(statement[-1], len(carried) + len(statement)):
                close(".")
        elif token.kind in (".", ";", ",", "{", "}"):
            close(token.kind)
        else:
            statement.append(token)
        if len(patterns) > 4 * MOST:  # it is refused anyway
            break
    close(".")
    return [pattern for pattern in patterns if all(pattern.members)]


def _whole(last: _Token, many: int) -> bool:
    """Whether a line may end here: a bare word may go on in the next line, and a statement of two terms must."""
    return many >= 3 and (last.kind != "word" or last.text[:1].isupper() or last.text[:1].isdigit() or ":" in last.text)


def _terms(tokens: list[_Token]) -> tuple[list[_Token], list[_Token], list[_Token]] | None:
    """Subject, predicate, object; of bare words, the capitalised ones at either end are names."""
    if len(tokens) < 3:
        return None
    first, last = 1, len(tokens) - 1
    if _named(tokens[0]):
        while first < last - 1 and _goes_on(tokens[first], tokens[first + 1]):
            first += 1
    if _named(tokens[-1]):
        while last - 1 > first and _goes_on(tokens[last - 1], tokens[last - 2]):
            last -= 1
    return tokens[:first], tokens[first:last], tokens[last:]


def _goes_on(token: _Token, beyond: _Token) -> bool:
    return _named(token) or (token.text in _SMALL and _named(beyond))


_SMALL = ("of", "the", "and", "de", "la", "du", "von", "van", "der", "&")  # inside names


def _named(token: _Token) -> bool:
    return token.kind == "word" and not token.text[0].islower() and ":" not in token.text


def _settled(patterns: list[Pattern]) -> tuple[tuple[Pattern, ...], dict[str, str]]:
    """Labels put in for what they label, types left out; each pattern once. Also: variable → what stands for it."""
    same: dict[str, str] = {}

    def stands(term: str) -> str:
        while term in same:
            term = same[term]
        return term

    rest = []
    for pattern in patterns:
        one, other = stands(pattern.subject), stands(pattern.object)
        if pattern.predicate.lower() in _LABELS and one.startswith("?") and len(patterns) > 1:
            if one != other:
                same |= {other: one} if other.startswith("?") else {one: other}
        else:
            rest.append(pattern)
    rest = [Pattern(stands(p.subject), p.predicate, stands(p.object)) for p in rest]
    informative = [p for p in rest if p.predicate.lower() not in _TYPES or p.object.startswith("?")]
    terms = {term for pattern in informative for term in pattern.members}
    final = [p for p in rest if p in informative or p.subject not in terms]
    return tuple(dict.fromkeys(final)), {term: stands(term) for term in same}


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
