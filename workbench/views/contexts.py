"""The views of a structured context, alone or next to its compressed form, and excerpts of texts around an answer.

A number and a colour show the hop: 0 for names in the question, 1 for their neighbours, and so on. Dropped parts are
pale and struck through."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import NamedTuple

from workbench.layouts.paths import in_words
from workbench.records import Compressed, ContextEntity, ContextGraph, ContextRelation, Path, Unit
from workbench.text import CLIP, bounded, clean, counted, sentences, short
from workbench.views.parts import (
    NAME,
    Part,
    beside,
    code,
    details,
    faint,
    fold,
    group,
    line,
    marked,
    quiet,
    strong,
    tag,
    view,
    words,
)

SHOWN = 8  # rows of a table, or texts, that are unfolded
MOST = 200  # rows of a table; the record has all
LONG = 60_000  # characters of a whole context that a view shows
MARKED = 300  # names that are marked in texts, the nearest first
_DESCRIPTION = 300  # characters
HOPS = 6  # hops with a colour; all further hops have that of the last


class Marks:
    """Marks names in texts: those that were reached with the colour of their hop, answers as gold."""

    def __init__(self, hops: Iterable[tuple[str, int]] = (), gold: Sequence[str] = ()):
        self.hops = dict(hops)
        looks = {_bare(name): f"named {_hop_class(hop)}" for name, hop in list(self.hops.items())[:MARKED]}
        looks |= {_bare(answer): "gold" for answer in gold}
        self._looks = {name: look for name, look in looks.items() if 1 < len(name) <= NAME}
        names = sorted(self._looks, key=len, reverse=True)
        self._pattern = re.compile(f"({'|'.join(map(bounded, names))})", re.I) if names else None

    def __call__(self, text: str, limit: int = CLIP) -> Part:
        """A text with marked names, cut to `limit` characters."""
        pieces = self._pattern.split(clean(text, limit)) if self._pattern else [clean(text, limit)]
        inside = tuple(self._marked(piece) if at % 2 else piece for at, piece in enumerate(pieces) if piece)
        return Part("words", inside)

    def chip(self, name: str) -> Part | None:
        """The hop of a name; nothing if it was not reached."""
        return hop_chip(self.hops.get(name))

    def _marked(self, name: str) -> Part | str:
        look = self._looks.get(_bare(name))
        return Part("span", (name,), look) if look else name


def hop_chip(hop: int | None) -> Part | None:
    return marked(f"hop {_hop_class(hop or 0)}", hop)


# -- a context ---------------------------------------------------------------------------------------------------------


@view.register
def _(graph: ContextGraph) -> Part | None:
    counts = ", ".join(f"{len(rows):,} {name}" for name, rows in graph_rows(graph).items() if rows or name != "paths")
    return group(line(counts), graph_part(graph))


view.register(Unit, lambda unit: unit_line(unit, Marks()))
view.register(ContextEntity, lambda entity: words(strong(entity.name, limit=NAME), entity.description))
view.register(ContextRelation, lambda relation: words(strong(_ends(relation)), relation.description))
view.register(Compressed, lambda compressed: compressed_part(compressed))


def graph_rows(graph: ContextGraph) -> dict[str, tuple]:
    """The tables of a context by their displayed names."""
    return {
        "entities": graph.entities,
        "relationships": graph.relations,
        "paths": graph.paths,
        "chunks": graph.chunks,
        "sources": graph.sources,
    }


def graph_part(graph: ContextGraph, compressed: ContextGraph | None = None, marks: Marks | None = None) -> Part | None:
    """The tables, each collapsible; rows that are not in `compressed` are struck through."""
    marks, parts = marks or Marks(), []
    stays = _stays(graph, graph if compressed is None else compressed)
    for name, rows in graph_rows(graph).items():
        title = f"{len(rows):,} {name}" + ("" if compressed is None else f", {sum(stays[name]):,} kept")
        lines = [
            _row(row, marks) if stay else group(_row(row, marks), look="gone")
            for row, stay in islice(zip(rows, stays[name]), MOST)
        ]
        more = faint(f"… {len(rows) - MOST:,} more") if len(rows) > MOST else None
        parts.append(fold(strong(title), _folding([*lines, *([more] if more else [])]), open=True))
    return group(*parts)


def _stays(before: ContextGraph, after: ContextGraph) -> dict[str, list[bool]]:
    """Which rows of each table are kept. A name without a description is kept if one of its relationships is."""
    remaining = {name: set(rows) for name, rows in graph_rows(after).items()}
    ends = {end for relation in after.relations for end in (relation.source, relation.target)}
    remaining["entities"] |= {row for row in before.entities if not row.description and row.name in ends}
    return {name: [row in remaining[name] for row in rows] for name, rows in graph_rows(before).items()}


def unit_line(unit: Unit, marks: Marks, limit: int = CLIP, whole: str | None = None) -> Part:
    """A unit. If the `whole` text that is read contains only a part of it, the omitted sentences are struck through."""
    title = [marks(unit.title or short(unit.text, 80), 200), faint(unit.id, limit=80)]
    if whole is None or " ".join(unit.text.split()) in whole:
        return details(title, line(marks(unit.text, limit)))
    body = [_sentence_part(whole, sentence, marks, limit) for sentence in islice(sentences(unit.text), MOST)]
    return details([*title, tag("in part")], line(body))


# -- full beside compressed --------------------------------------------------------------------------------------------


def compressed_part(
    compressed: Compressed, gold: Sequence[str] = (), *, limit: int = CLIP, uncompressed: int | None = None
) -> Part | None:
    """The whole context on the left, the kept part on the right; `gold` answers are marked in both. `limit` is the
    number of displayed characters of one text. `uncompressed`: tokens of the text that is read without compression,
    which has another layout than the tables that are compressed."""
    marks, full = Marks(compressed.hops, gold), _full(compressed, uncompressed)
    short = counted(compressed.tokens, "token")
    return group(
        line(marks(compressed.question), tag(compressed.compressor, limit=NAME)),
        line(f"fall-back: {compressed.fallback}" if compressed.fallback else None, look="note", limit=400),
        line(strong(f"{full} → {short}, budget {compressed.budget:,}"), faint("kept", "; ".join(_shares(compressed)))),
        _legend(compressed, gold),
        beside(
            group(
                line(strong("full"), f", {full} tokens", sep=""), graph_part(compressed.before, compressed.graph, marks)
            ),
            group(
                line(strong("compressed"), f", {short}", sep=""),
                group(*_headed_groups(compressed, marks, limit)) or graph_part(compressed.graph, marks=marks),
            ),
        ),
        details("the text that the reader is shown", code(marks(compressed.text, limit))),
    )


def texts_part(before: str | None, after: str, marks: Marks, limit: int = LONG) -> Part | None:
    """The text that was read. If the retrieved text differs, it is on the left, and omitted sentences are struck
    through."""
    read = group(line(strong("read")), code(marks(after, limit)))
    if before is None or before == after:
        return read
    whole = " ".join(after.split())
    lines = [
        part
        for line in before[:limit].split("\n")
        for part in ("\n", words([_sentence_part(whole, sentence, marks, limit) for sentence in sentences(line)]))
    ]
    cut = quiet(f"… {counted(len(before) - limit, 'more character')}" if len(before) > limit else "")
    return beside(group(line(strong("retrieved")), code(*lines[1:]), cut), read)


def _headed_groups(compressed: Compressed, marks: Marks, limit: int) -> Iterator[Part]:
    """The parts under each heading of the compressed text: names with their relationships, and units. What is both is
    first listed as a name, if its table has a row for it."""
    units = {unit.id: unit for unit in (*compressed.graph.chunks, *compressed.graph.sources)}
    entities = {row.name: row for row in compressed.graph.entities}
    described = entities.keys() | {row.source for row in compressed.graph.relations}
    whole = " ".join(compressed.text.split())
    for (heading, hop), parts in groupby(compressed.kept, key=lambda part: part[:2]):
        rows: list[Part] = []
        named: set[str] = set()
        for name in islice((name for *_, ids in parts for name in ids), MOST):
            if name in units and (name not in described or name in named):
                rows.append(unit_line(units[name], marks, limit, whole))
                continue
            named.add(name)
            rows.append(_row(entities.get(name, ContextEntity(name)), marks))
            rows += [_row(relation, marks) for relation in compressed.graph.relations if relation.source == name]
        title = strong(heading.strip("= ") or "texts", limit=NAME)
        yield details([hop_chip(hop), title, faint(len(rows))], _folding(rows), open=True)


def _legend(compressed: Compressed, gold: Sequence[str]) -> Part | None:
    reached, what = Counter(hop for _, hop in compressed.hops), {0: "named in the question"}
    entries = [
        words(hop_chip(hop), what.get(hop, f"hop {hop:d}"), f"({count:,})") for hop, count in sorted(reached.items())
    ]
    dropped, answers = marked("gone", "dropped"), marked("gold", "gold answer") if gold else None
    return line(*entries, dropped, answers, look="q", sep=" \u00a0 ")


def _row(row: ContextEntity | ContextRelation | Path | Unit, marks: Marks) -> Part:
    if isinstance(row, Unit):
        return unit_line(row, marks)
    if isinstance(row, Path):
        return marks(in_words(row))
    described = clean(row.description, _DESCRIPTION)
    if isinstance(row, ContextEntity):
        return words(marks.chip(row.name), strong(row.name, limit=NAME), described)
    return words(marks.chip(row.source), _ends(row), marks.chip(row.target), described)


def _sentence_part(whole: str, sentence: str, marks: Marks, limit: int) -> Part | None:
    """A sentence, struck through if the `whole` text does not contain it; white space does not count."""
    present = " ".join(sentence.split()) in whole
    return marks(sentence, limit) if present else marked("gone", marks(sentence, limit))


def _folding(rows: Sequence[Part | None]) -> Part | None:
    """The first rows, and the others behind a fold."""
    lines = [group(row, look="line") for row in rows]
    return group(*lines[:SHOWN], fold(faint(f"{len(rows) - SHOWN:,} more"), *lines[SHOWN:]))


def _ends(relation: ContextRelation) -> Part:
    return words(relation.source, "—", relation.target, limit=NAME)


def _full(compressed: Compressed, uncompressed: int | None) -> str:
    """The length of the full context; as text and as tables, where these differ."""
    if uncompressed in (None, compressed.tokens_before):
        return f"{compressed.tokens_before:,}"
    return f"{uncompressed:,} (as tables {compressed.tokens_before:,})"


def _shares(compressed: Compressed) -> list[str]:
    stays = _stays(compressed.before, compressed.graph)
    return [f"{sum(rows):,} of {len(rows):,} {name}" for name, rows in stays.items() if rows]


def _hop_class(hop: int) -> str:
    return f"h{min(max(hop, 0), HOPS - 1):d}"


def _bare(name: str) -> str:
    return name.strip().strip('"').lower()


# -- excerpts ---------------------------------------------------------------------------------------------------------

_HEAD = re.compile(r"[a-z ]{1,20}: ")  # the introduction of a text, such as `read in: `
_JOIN = " → "  # between the sentences that rules read


class Excerpt(NamedTuple):
    """Printable texts `before` and `after` the `answer`; without the answer, `before` has the text's beginning."""

    before: str
    answer: str = ""
    after: str = ""

    def __str__(self) -> str:
        return f"{self.before}«{self.answer}»{self.after}" if self.answer else self.before


def excerpt(text: str, answer: str, longest: int) -> Excerpt:
    """The text if it is short enough, otherwise the last sentence with the answer, or as much as fits around it.

    >>> str(excerpt("read in: It is old. → It opened in 1938, they say.", "1938", 40))
    'read in: … It opened in «1938», they say.'
    """
    sought = answer.strip() if len(answer) <= longest else ""
    matches = list(re.finditer(bounded(sought), text, re.IGNORECASE)) if sought else []
    if not matches:
        return Excerpt(clean(text, longest))
    at = matches[-1]
    begin, end = 0, len(text)
    if len(text) > longest:
        held = [s for part in text.split(_JOIN) for s in sentences(part) if re.search(bounded(sought), s, re.I)]
        begin = text.rindex(held[-1]) if held and held[-1] in text else at.start()
        end = begin + len(held[-1] if held else at[0])
    begin = max(begin, at.start() - longest // 2)
    end = max(at.end(), min(end, begin + longest))
    head = _HEAD.match(text)
    before = (f"{head[0] if head else ''}… " if begin else "") + text[begin : at.start()]
    after = text[at.end() : end] + (" …" if end < len(text) else "")
    return Excerpt(clean(before), clean(at[0]), clean(after))
