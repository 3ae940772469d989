"""The view of a structured context, alone or next to its compressed form, and of the sentence of a longer text in which
an answer stands.

A number and a colour show the hop: 0 for names in the question, 1 for their neighbours, and so on. Dropped parts are
pale and struck through."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import NamedTuple

from workbench.display import html
from workbench.layouts.paths import in_words
from workbench.records import Compressed, ContextEntity, ContextGraph, ContextRelation, Path, Unit
from workbench.text import CLIP, bounded, clean, counted, sentences, short
from workbench.views.base import NAME, details, esc, fold, page, quiet

SHOWN = 8  # rows of a table, or texts, that stand unfolded
MOST = 200  # rows of a table; the record has all
LONG = 60_000  # characters of a whole context that a view shows
MARKED = 300  # names that are marked in texts, the nearest first
_DESCRIPTION = 300  # characters
HOPS = 6  # that have a colour; the last is that of all further hops


class Marks:
    """Names as they are marked in a text: those that were reached by their hop, answers as gold."""

    def __init__(self, hops: Iterable[tuple[str, int]] = (), gold: Sequence[str] = ()):
        self.hops = dict(hops)
        looks = {_bare(name): f"named {_hop_class(hop)}" for name, hop in list(self.hops.items())[:MARKED]}
        looks |= {_bare(answer): "gold" for answer in gold}
        self._looks = {name: look for name, look in looks.items() if 1 < len(name) <= NAME}
        names = sorted(self._looks, key=len, reverse=True)
        self._pattern = re.compile(f"({'|'.join(map(bounded, names))})", re.I) if names else None

    def __call__(self, words: str, limit: int = CLIP) -> str:
        """The words as HTML, at most `limit` characters of them."""
        parts = self._pattern.split(clean(words, limit)) if self._pattern else [clean(words, limit)]
        return "".join(self._part(part) if at % 2 else esc(part, len(part)) for at, part in enumerate(parts))

    def chip(self, name: str) -> str:
        """The hop of a name; empty if it was not reached."""
        return hop_chip(self.hops.get(name))

    def _part(self, name: str) -> str:
        look = self._looks.get(_bare(name))
        return f"<span class='{look}'>{esc(name)}</span>" if look else esc(name)


def hop_chip(hop: int | None) -> str:
    return "" if hop is None else f"<span class='hop {_hop_class(hop)}'>{hop:d}</span> "


# -- a context ---------------------------------------------------------------------------------------------------------


@html.register
def _(graph: ContextGraph) -> str:
    counts = ", ".join(f"{len(rows):,} {name}" for name, rows in graph_rows(graph).items() if rows or name != "paths")
    return page(f"<p>{esc(counts)}</p>", graph_part(graph))


html.register(Unit, lambda unit: page(unit_line(unit, Marks())))
html.register(ContextEntity, lambda entity: page(f"<b>{esc(entity.name, NAME)}</b> {esc(entity.description)}"))
html.register(ContextRelation, lambda relation: page(f"<b>{_ends(relation)}</b> {esc(relation.description)}"))
html.register(Compressed, lambda one: page(compressed_part(one)))


def graph_rows(graph: ContextGraph) -> dict[str, tuple]:
    """The tables of a context by their displayed names."""
    return {
        "entities": graph.entities,
        "relationships": graph.relations,
        "paths": graph.paths,
        "chunks": graph.chunks,
        "sources": graph.sources,
    }


def graph_part(graph: ContextGraph, kept: ContextGraph | None = None, marks: Marks | None = None) -> str:
    """The tables, each collapsible; rows that are not in `kept` are struck through."""
    marks, parts = marks or Marks(), []
    stays = _stays(graph, graph if kept is None else kept)
    for name, rows in graph_rows(graph).items():
        heading = f"{len(rows):,} {name}" + ("" if kept is None else f", {sum(stays[name]):,} kept")
        shown = [_struck(_row(row, marks), not stay) for row, stay in islice(zip(rows, stays[name]), MOST)]
        if len(rows) > MOST:
            shown.append(f"<span class='q'>… {len(rows) - MOST:,} more</span>")
        parts.append(fold(f"<b>{heading}</b>", _folding(shown), open=True))
    return "".join(parts)


def _stays(before: ContextGraph, after: ContextGraph) -> dict[str, list[bool]]:
    """Which rows of each table are kept. A name without a description is kept if one of its relationships is."""
    kept = {name: set(rows) for name, rows in graph_rows(after).items()}
    ends = {end for relation in after.relations for end in (relation.source, relation.target)}
    kept["entities"] |= {row for row in before.entities if not row.description and row.name in ends}
    return {name: [row in kept[name] for row in rows] for name, rows in graph_rows(before).items()}


def unit_line(unit: Unit, marks: Marks, limit: int = CLIP, whole: str | None = None) -> str:
    """A unit; where the `whole` text that is read has it in part, the sentences that it leaves out struck through."""
    part, body = whole is not None and " ".join(unit.text.split()) not in whole, marks(unit.text, limit)
    if whole is not None and part:
        body = " ".join(_kept_in(whole, one, marks, limit) for one in islice(sentences(unit.text), MOST))
    title = f"{marks(unit.title or short(unit.text, 80), 200)} <span class='q'>{esc(unit.id, 80)}</span>"
    return details(title + " <span class='tag'>in part</span>" * part, f"<p>{body}</p>")


# -- full beside compressed --------------------------------------------------------------------------------------------


def compressed_part(
    one: Compressed, gold: Sequence[str] = (), *, limit: int = CLIP, uncompressed: int | None = None
) -> str:
    """The whole context on the left, the kept part on the right; `gold` answers are marked in both. `limit` is the
    number of displayed characters of one text. `uncompressed`: tokens of the text that is read without compression,
    which has another layout than the tables that are compressed."""
    marks = Marks(one.hops, gold)
    left = graph_part(one.before, one.graph, marks)
    right = "".join(_kept(one, marks, limit)) or graph_part(one.graph, marks=marks)
    return "".join(
        (
            f"<p>{marks(one.question)} <span class='tag'>{esc(one.compressor, NAME)}</span></p>",
            f"<p class='note'>fall-back: {esc(one.fallback, 400)}</p>" if one.fallback else "",
            f"<p><b>{_full(one, uncompressed)} → {counted(one.tokens, 'token')}, budget {one.budget:,}</b> ",
            f"<span class='q'>kept {esc('; '.join(_shares(one)))}</span></p>",
            _legend(one, gold),
            f"<div class='beside'><div class='side'><p><b>full</b>, {_full(one, uncompressed)} tokens</p>{left}</div>",
            f"<div class='side'><p><b>compressed</b>, {counted(one.tokens, 'token')}</p>{right}</div></div>",
            details("the text that the reader is shown", f"<pre>{marks(one.text, limit)}</pre>"),
        )
    )


def texts_part(before: str | None, after: str, marks: Marks, limit: int = LONG) -> str:
    """A text that was read; where another was retrieved, that one on the left, with sentences that were not read struck
    through."""
    if before is None or before == after:
        return f"<p><b>read</b></p><pre>{marks(after, limit)}</pre>"
    whole = " ".join(after.split())
    lines = (map(str.strip, sentences(line)) for line in before[:limit].split("\n"))
    left = "\n".join(" ".join(_kept_in(whole, part, marks, limit) for part in line) for line in lines)
    cut = quiet(f"… {counted(len(before) - limit, 'more character')}" if len(before) > limit else "")
    return "".join(
        (
            f"<div class='beside'><div class='side'><p><b>retrieved</b></p><pre>{left}</pre>{cut}</div>",
            f"<div class='side'><p><b>read</b></p><pre>{marks(after, limit)}</pre></div></div>",
        )
    )


def _kept(one: Compressed, marks: Marks, limit: int) -> Iterator[str]:
    """The parts under each heading of the compressed text: names with their relationships, and units. What is both is a
    name first, if a line of the table is kept for it."""
    units = {unit.id: unit for unit in (*one.graph.chunks, *one.graph.sources)}
    entities = {row.name: row for row in one.graph.entities}
    described = entities.keys() | {row.source for row in one.graph.relations}
    whole = " ".join(one.text.split())
    for (heading, hop), parts in groupby(one.kept, key=lambda part: part[:2]):
        rows: list[str] = []
        named: set[str] = set()
        for name in islice((name for *_, ids in parts for name in ids), MOST):
            if name in units and (name not in described or name in named):
                rows.append(unit_line(units[name], marks, limit, whole))
                continue
            named.add(name)
            ways = (relation for relation in one.graph.relations if relation.source == name)
            rows += [_row(row, marks) for row in (entities.get(name, ContextEntity(name)), *ways)]
        title = f"<b>{esc(heading.strip('= ') or 'texts', NAME)}</b> <span class='q'>{len(rows):,}</span>"
        yield details(hop_chip(hop) + title, _folding(rows), open=True)


def _legend(one: Compressed, gold: Sequence[str]) -> str:
    reached, what = Counter(hop for _, hop in one.hops), {0: "named in the question"}
    entries = [f"{hop_chip(hop)}{what.get(hop, f'hop {hop:d}')} ({count:,})" for hop, count in sorted(reached.items())]
    entries += ["<span class='gone'>dropped</span>", *(["<span class='gold'>gold answer</span>"] if gold else [])]
    return f"<p class='q'>{' &nbsp; '.join(entries)}</p>"


def _row(row: ContextEntity | ContextRelation | Path | Unit, marks: Marks) -> str:
    if isinstance(row, Unit):
        return unit_line(row, marks)
    if isinstance(row, Path):
        return marks(in_words(row))
    described = esc(row.description, _DESCRIPTION)
    if isinstance(row, ContextEntity):
        return f"{marks.chip(row.name)}<b>{esc(row.name, NAME)}</b> {described}"
    return f"{marks.chip(row.source)}{_ends(row)} {marks.chip(row.target)}{described}"


def _kept_in(whole: str, sentence: str, marks: Marks, limit: int) -> str:
    """A sentence, struck through where a text does not have it; spaces do not count."""
    return _struck(marks(sentence, limit), " ".join(sentence.split()) not in whole, "span")


def _struck(row: str, gone: bool, tag: str = "div") -> str:
    return f"<{tag} class='gone'>{row}</{tag}>" if gone else row


def _folding(rows: Sequence[str]) -> str:
    """The first rows, and the others behind a fold."""
    lines = [f"<div class='line'>{row}</div>" for row in rows]
    return "".join(lines[:SHOWN]) + fold(f"<span class='q'>{len(rows) - SHOWN:,} more</span>", *lines[SHOWN:])


def _ends(relation: ContextRelation) -> str:
    return f"{esc(relation.source, NAME)} — {esc(relation.target, NAME)}"


def _full(one: Compressed, uncompressed: int | None) -> str:
    """The length of the full context; as text and as tables, where these differ."""
    if uncompressed in (None, one.tokens_before):
        return f"{one.tokens_before:,}"
    return f"{uncompressed:,} (as tables {one.tokens_before:,})"


def _shares(one: Compressed) -> list[str]:
    stays = _stays(one.before, one.graph)
    return [f"{sum(rows):,} of {len(rows):,} {name}" for name, rows in stays.items() if rows]


def _hop_class(hop: int) -> str:
    return f"h{min(max(hop, 0), HOPS - 1):d}"


def _bare(name: str) -> str:
    return name.strip().strip('"').lower()


# -- excerpts ---------------------------------------------------------------------------------------------------------

_HEAD = re.compile(r"[a-z ]{1,20}: ")  # what introduces a text, such as `read in: `
_JOIN = " → "  # between the sentences that rules read


class Excerpt(NamedTuple):
    """Printable texts `before` and `after` the `answer`; without the answer, `before` has the text's beginning."""

    before: str
    answer: str = ""
    after: str = ""

    def __str__(self) -> str:
        return f"{self.before}«{self.answer}»{self.after}" if self.answer else self.before


def excerpt(text: str, answer: str, longest: int) -> Excerpt:
    """The text where it is short enough, else the last sentence that holds the answer, or as much around it.

    >>> str(excerpt("read in: It is old. → It opened in 1938, they say.", "1938", 40))
    'read in: … It opened in «1938», they say.'
    """
    sought = answer.strip() if len(answer) <= longest else ""
    found = list(re.finditer(bounded(sought), text, re.IGNORECASE)) if sought else []
    if not found:
        return Excerpt(clean(text, longest))
    at = found[-1]
    begin, end = 0, len(text)
    if len(text) > longest:
        held = [one for part in text.split(_JOIN) for one in sentences(part) if re.search(bounded(sought), one, re.I)]
        begin = text.rindex(held[-1]) if held and held[-1] in text else at.start()
        end = begin + len(held[-1] if held else at[0])
    begin = max(begin, at.start() - longest // 2)
    end = max(at.end(), min(end, begin + longest))
    head = _HEAD.match(text)
    before = (f"{head[0] if head else ''}… " if begin else "") + text[begin : at.start()]
    after = text[at.end() : end] + (" …" if end < len(text) else "")
    return Excerpt(clean(before), clean(at[0]), clean(after))
