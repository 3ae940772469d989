"""The views of data sets, their origin and the list of named ones, of an index and its graph, and of profiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.data import Dataset
from workbench.data.origin import Origin, SourceFile
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.data.registry import Catalogue, Known
from workbench.data.sources.entry import Entry
from workbench.display import html, text
from workbench.index import Graph, Index
from workbench.index.chroma import StoreAgreement
from workbench.index.journal import signed_by
from workbench.index.profiles import ProfilesLayer
from workbench.index.usage import IndexUsage, Spent
from workbench.llm.record import in_a_line
from workbench.text import clean, counted
from workbench.views.base import NAME, aligned, details, esc, number, page, table, warned, warned_part
from workbench.views.terminal import cell_text

SHOWN = 5  # passages and questions of a data set that a notebook lists
_LINE = 120  # characters of a text in a table


@text.register
def _(data: Dataset) -> str:
    counts = ", ".join(f"{number(count)} {what}" for what, count in _counts(data).items())
    where = f"; from {clean(data.folder, NAME)}" if data.folder else ""
    where += f"; offers the extraction {', '.join(data.offers)}" if data.offers else ""
    origin = f"\n{text(data.origin)}" if data.origin else ""
    return f"Dataset {clean(data.name, NAME)!r}: {counts}{where}{_left_out(data.left_out)}{origin}"


@html.register
def _(data: Dataset) -> str:
    passages = [(clean(p.id, 80), clean(p.title, 80), clean(p.text, _LINE)) for p in data.passages[:SHOWN]]
    questions = [
        (clean(q.id, 80), clean(q.question, _LINE), clean(" · ".join(q.answers), _LINE)) for q in data.questions[:SHOWN]
    ]
    return page(
        f"<p><b>{esc(data.name, NAME)}</b> <span class='tag'>{data.fingerprint}</span></p>",
        f"<p class='q'>{esc(data.folder, NAME)}</p>" if data.folder else "",
        table(["", ""], _counts(data).items()),
        f"<p class='q'>offers the extraction {esc(', '.join(data.offers))}</p>" if data.offers else "",
        _left_out_table(data.left_out),
        skipped_table(data.origin) if data.origin else "",
        details("where it comes from", html(data.origin)) if data.origin else "",
        details("first passages", table(["id", "title", "text"], passages)) if passages else "",
        details("first questions", table(["id", "question", "answers"], questions)) if questions else "",
    )


@text.register
def _(index: Index) -> str:
    listed = ("passages", "facts", "phrases")
    counts = ", ".join(f"{number(value)} {name}" for name, value in index.counts().items() if name in listed)
    where = f"{clean(index.name, NAME)!r} in {clean(index.folder, NAME)}"
    layers = ", ".join(index.manifest["layers"])
    by = f"; {said}" if (said := facts_by(index.facts_by)) else ""
    said = f"Index {where}: {counts}{by}; layers {layers}{_left_out(index.left_out)}"
    return "\n".join([*warned(index.warnings), said])


@html.register
def _(index: Index) -> str:
    layers = [
        (kind, layer["key"], _named(layer["settings"]), ", ".join(layer.get("made_by", ())))
        for kind, layer in index.manifest["layers"].items()
    ]
    return page(
        warned_part(index.warnings),
        f"<p><b>{esc(index.name, NAME)}</b> <span class='q'>{esc(index.folder, NAME)}</span></p>",
        table(["", ""], index.counts().items()),
        _left_out_table(index.left_out),
        f"<p class='q'>encoded by {esc(index.manifest['encoder']['name'], NAME)}</p>",
        f"<p class='q'>{esc(said)}</p>" if (said := facts_by(index.facts_by)) else "",
        details("layers", table(["layer", "key", "settings", "made by"], layers)),
        details("what its construction took", html(index.usage)),
        details("versions", table(["", ""], index.manifest["versions"].items())),
    )


@text.register
def _(found: StoreAgreement) -> str:
    asked = counted(len(found.shares), "question")
    return (
        f"{clean(found.store, NAME)} finds {found.mean:.1%} of the {found.k} passages of {clean(found.index, NAME)!r} "
        f"that exact search finds nearest ({asked}; the worst {min(found.shares):.0%})"
    )


@text.register
def _(usage: IndexUsage) -> str:
    rows = [[cell_text(cell) for cell in row] for row in _bill(usage)]
    lines = aligned([[*_BILLED], *rows]) if rows else []
    return "\n".join([f"Construction of {clean(usage.folder, NAME)}: {_asked(usage)}", *lines])


@html.register
def _(usage: IndexUsage) -> str:
    rows = _bill(usage)
    return page(f"<p class='q'>{esc(_asked(usage), NAME)}</p>", table(_BILLED, rows) if rows else "")


html.register(Graph, lambda graph: page(table(["", ""], graph.counts().items())))


def _counts(data: Dataset) -> dict[str, int]:
    counts = {"passages": len(data.passages), "questions": len(data.questions)}
    if data.extractions is not None:
        counts["extractions"] = len(data.extractions)
    if data.triples:
        counts["triples"] = len(data.triples)
    if data.profiles is not None:
        counts["profiles"] = len(data.profiles.entities) + len(data.profiles.relations)
    return counts


def facts_by(makers: Sequence[str], what: str = "facts") -> str:
    """Who extracted the facts of an index, or made another part of it, without the Steps.

    >>> facts_by(["curated, by hand"]), facts_by(["rules (named_entities v2, triples v2)"]), facts_by([])
    ('facts: curated, by hand', 'facts: rules', '')
    """
    by = dict.fromkeys(signed[0] if (signed := signed_by(maker)) else maker for maker in makers)
    return f"{what}: {'; '.join(clean(name, NAME) for name in by)}" if by else ""


def _left_out(notes: tuple[str, ...]) -> str:
    return "".join(f"\n  left out: {clean(note, NAME)}" for note in notes)


def _left_out_table(notes: tuple[str, ...]) -> str:
    return table(["left out"], [(clean(note, NAME),) for note in notes]) if notes else ""


def _named(settings: dict) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())


_BILLED = ("layer", "step", "engine", "calls", "prompt tokens", "completion tokens", "US dollars", "seconds")


def _asked(usage: IndexUsage) -> str:
    """What models took, in words."""
    if not usage.known:
        return "not known, because the version that built it kept no bill"
    whole = usage.of()
    if not whole.calls:
        return "no model was asked"
    paid = "price unknown" if whole.money is None else f"${whole.money:.4f}"
    recorded = f"; {counted(whole.recorded, 'call')} answered from a recording" if whole.recorded else ""
    tokens = f"{whole.prompt_tokens:,} prompt and {whole.completion_tokens:,} completion tokens"
    kept = f"; {said}" if (said := in_a_line(usage.recordings)) else ""
    return f"{counted(whole.calls, 'call')}, {tokens}, {paid}{recorded}{kept}"


def _bill(usage: IndexUsage) -> list[list[Any]]:
    """A row per layer, Step and engine. Rules have no tokens; the seconds of a whole layer include those of Steps."""
    return [_billed(one) for one in usage.spent]


def _billed(one: Spent) -> list[Any]:
    place = [clean(text, NAME) for text in (one.layer, one.step or "all of it", one.engine if one.step else "")]
    spent, seconds = one.usage, round(one.usage.seconds, 1)
    if not one.step or one.by_rules:
        return [*place, spent.calls if one.step else None, None, None, None, seconds]
    return [*place, spent.calls, spent.prompt_tokens, spent.completion_tokens, spent.money, seconds]


# -- where data come from ---------------------------------------------------------------------------------------------

_REASON = 300  # characters of a reason or a note on one line


text.register(Catalogue, lambda catalogue: "\n".join(map(text, catalogue.datasets)))
text.register(Profiles, lambda made: f"Profiles: {_sizes(made)}")
html.register(Profiles, lambda made: page(_profile_tables(made)))
html.register(ProfilesLayer, lambda layer: page(_profile_tables(layer)))


@text.register
def _(origin: Origin) -> str:
    lines = [f"Origin: {clean(origin.source, NAME)}"]
    if origin.settings:
        lines.append(f"  settings: {clean(_settings(origin), NAME)}")
    if origin.files:
        checks = sorted({file.checked for file in origin.files if file.checked})
        lines.append(f"  {counted(len(origin.files), 'file')}{''.join(f'; {clean(check, NAME)}' for check in checks)}")
    lines += [f"  {clean(note, _REASON)}" for note in origin.notes]
    return "\n".join([*lines, *skipped_lines(origin)])


@html.register
def _(origin: Origin) -> str:
    files = [(file.name, file.sha256[:16], file.checked) for file in origin.files]
    listed = details(counted(len(files), "file"), table(["file", "SHA-256", "compared with"], files, NAME))
    return page(
        f"<p>{esc(origin.source)}</p>",
        f"<p class='q'>{esc(_settings(origin))}</p>" if origin.settings else "",
        "".join(f"<p class='q'>{esc(note)}</p>" for note in origin.notes),
        listed if files else "",
        skipped_table(origin),
    )


def skipped_lines(origin: Origin) -> list[str]:
    """Every skipped document with the reason, because a missing one may contain the answer."""
    if not origin.skipped:
        return []
    return [
        f"  {_skipped(origin)}",
        *(f"    {clean(name, NAME)}: {clean(why, _REASON)}" for name, why in origin.skipped),
    ]


def skipped_table(origin: Origin) -> str:
    """The same as HTML, unfolded."""
    rows = [(clean(name, NAME), clean(why)) for name, why in origin.skipped]
    return details(f"<b>{_skipped(origin)}</b>", table(["file", "why"], rows), open=True) if rows else ""


def _skipped(origin: Origin) -> str:
    return f"{counted(len(origin.skipped), 'file')} skipped, {len(origin.files):,} read:"


@text.register
def _(file: SourceFile) -> str:
    return f"{clean(file.name, NAME)}: SHA-256 {file.sha256}" + (
        f", {clean(file.checked, NAME)}" if file.checked else ""
    )


@html.register
def _(catalogue: Catalogue) -> str:
    rows = [
        (one.id, ", ".join(one.aliases), one.of, one.passages, one.questions, one.triples, one.licence, one.source,
         one.here)
        for one in catalogue.datasets
    ]  # fmt: skip
    headers = ["id", "short", "what it is", "passages", "questions", "triples", "licence", "source", "on this machine"]
    return page(table(headers, rows, NAME))


@text.register
def _(known: Known) -> str:
    counts = ", ".join(
        f"{number(count)} {what}"
        for what, count in (("passages", known.passages), ("questions", known.questions), ("triples", known.triples))
        if count
    )
    short = f" ({', '.join(known.aliases)})" if known.aliases else ""
    return f"{clean(known.id, NAME)}{short}: {counts or 'counts not published'}; {clean(known.licence, NAME)}; " + (
        f"in {clean(known.here, NAME)}" if known.here else "not on this machine"
    )


@text.register
def _(entry: Entry) -> str:
    return f"{clean(entry.id, NAME)}: {clean(entry.of, NAME)}; {clean(entry.licence, NAME)}; {clean(entry.page, NAME)}"


def _settings(origin: Origin) -> str:
    return ", ".join(f"{name}={value}" for name, value in origin.settings.items())


# -- profiles of entities and relations -------------------------------------------------------------------------------


PROFILES = 10  # rows that a notebook lists
_DESCRIPTION = 200  # characters of a description on one line


@text.register
def _(profile: EntityProfile) -> str:
    kind = f" ({clean(profile.type, 40)})" if profile.type else ""
    return f"EntityProfile {clean(profile.name, NAME)}{kind}: {clean(profile.description, _DESCRIPTION)}"


@html.register
def _(profile: EntityProfile) -> str:
    title = f"<b>{esc(profile.name, NAME)}</b> <span class='tag'>{esc(profile.type, NAME)}</span>"
    return _described(profile, title)


@text.register
def _(profile: RelationProfile) -> str:
    ends = f"{clean(profile.source, NAME)} — {clean(profile.target, NAME)}"
    return f"RelationProfile {ends}{_more(profile)}: {clean(profile.description, _DESCRIPTION)}"


@html.register
def _(profile: RelationProfile) -> str:
    ends = f"{esc(profile.source, NAME)} — {esc(profile.target, NAME)}"
    return _described(profile, f"<b>{ends}</b> <span class='q'>{esc(_more(profile))}</span>")


def _described(profile: EntityProfile | RelationProfile, title: str) -> str:
    stated = f"<p class='q'>from {esc(', '.join(profile.passages), NAME)}</p>" if profile.passages else ""
    return page(f"<p>{title}</p><p>{esc(profile.description)}</p>{stated}")


def _sizes(profiles: Profiles | ProfilesLayer) -> str:
    return f"{counted(len(profiles.entities), 'entity', 'entities')}, {counted(len(profiles.relations), 'relation')}"


def _profile_tables(profiles: Profiles | ProfilesLayer) -> str:
    entities = [(p.name, p.type, p.description, len(p.passages)) for p in profiles.entities[:PROFILES]]
    relations = [
        (p.source, p.target, p.description, ", ".join(p.keywords), p.weight) for p in profiles.relations[:PROFILES]
    ]
    return (
        f"<p>{_sizes(profiles)}</p>"
        + table(["entity", "type", "description", "passages"], entities, _DESCRIPTION)
        + table(["source", "target", "description", "keywords", "weight"], relations, _DESCRIPTION)
    )


def _more(profile: RelationProfile) -> str:
    weight = "" if profile.weight is None else f"weight {number(profile.weight)}"
    listed = "; ".join(filter(None, (clean(", ".join(profile.keywords), NAME), weight)))
    return f" [{listed}]" if listed else ""
