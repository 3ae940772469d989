"""The views of data sets: their origin, the list of named ones, and profiles of entities and relations."""

from __future__ import annotations

from workbench.data.origin import Origin, SourceFile
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.data.registry import Catalogue, Known
from workbench.data.sources.entry import Entry
from workbench.display import html, text
from workbench.index.profiles import ProfilesLayer
from workbench.text import clean, counted
from workbench.views.base import NAME, details, esc, number, page, table

_LINE = 300  # characters of a reason or a note on one line


@text.register
def _(origin: Origin) -> str:
    lines = [f"Origin: {clean(origin.source, NAME)}"]
    if origin.settings:
        lines.append(f"  settings: {clean(_settings(origin), NAME)}")
    if origin.files:
        checks = sorted({file.checked for file in origin.files if file.checked})
        lines.append(f"  {counted(len(origin.files), 'file')}{''.join(f'; {clean(check, NAME)}' for check in checks)}")
    lines += [f"  {clean(note, _LINE)}" for note in origin.notes]
    return "\n".join([*lines, *skipped_lines(origin)])


@html.register
def _(origin: Origin) -> str:
    files = [(clean(file.name, NAME), file.sha256[:16], clean(file.checked, NAME)) for file in origin.files]
    return page(
        f"<p>{esc(origin.source)}</p>",
        f"<p class='q'>{esc(_settings(origin))}</p>" if origin.settings else "",
        "".join(f"<p class='q'>{esc(note)}</p>" for note in origin.notes),
        details(counted(len(files), "file"), table(["file", "SHA-256", "compared with"], files)) if files else "",
        skipped_table(origin),
    )


def skipped_lines(origin: Origin) -> list[str]:
    """Every skipped document with the reason, because a missing one may contain the answer."""
    if not origin.skipped:
        return []
    return [
        f"  {_skipped(origin)}",
        *(f"    {clean(name, NAME)}: {clean(why, _LINE)}" for name, why in origin.skipped),
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


@text.register
def _(catalogue: Catalogue) -> str:
    return "\n".join(map(text, catalogue.datasets))


@html.register
def _(catalogue: Catalogue) -> str:
    rows = [
        (
            clean(known.id, NAME), ", ".join(known.aliases), clean(known.of, NAME), known.passages, known.questions,
            known.triples, clean(known.licence, NAME), clean(known.source, NAME), clean(known.here, NAME),
        )
        for known in catalogue.datasets
    ]  # fmt: skip
    headers = ["id", "short", "what it is", "passages", "questions", "triples", "licence", "source", "on this machine"]
    return page(table(headers, rows))


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
    return page(
        f"<p><b>{esc(profile.name, NAME)}</b> <span class='tag'>{esc(profile.type, NAME)}</span></p>",
        f"<p>{esc(profile.description)}</p>",
        _passages(profile),
    )


@text.register
def _(profile: RelationProfile) -> str:
    ends = f"{clean(profile.source, NAME)} — {clean(profile.target, NAME)}"
    return f"RelationProfile {ends}{_more(profile)}: {clean(profile.description, _DESCRIPTION)}"


@html.register
def _(profile: RelationProfile) -> str:
    ends = f"{esc(profile.source, NAME)} — {esc(profile.target, NAME)}"
    return page(
        f"<p><b>{ends}</b> <span class='q'>{esc(_more(profile))}</span></p>",
        f"<p>{esc(profile.description)}</p>",
        _passages(profile),
    )


@text.register
def _(profiles: Profiles) -> str:
    return f"Profiles: {len(profiles.entities):,} of entities, {len(profiles.relations):,} of relations"


@html.register
def _(profiles: Profiles) -> str:
    return page(_tables(profiles))


@html.register
def _(layer: ProfilesLayer) -> str:
    return page(_tables(layer))


def _tables(profiles: Profiles | ProfilesLayer) -> str:
    entities = [
        (clean(p.name, NAME), clean(p.type, 40), clean(p.description, _DESCRIPTION), len(p.passages))
        for p in profiles.entities[:PROFILES]
    ]
    relations = [
        (clean(p.source, NAME), clean(p.target, NAME), clean(p.description, _DESCRIPTION), _keywords(p), p.weight)
        for p in profiles.relations[:PROFILES]
    ]
    return (
        f"<p>{counted(len(profiles.entities), 'entity', 'entities')}, "
        f"{counted(len(profiles.relations), 'relation')}</p>"
        + table(["entity", "type", "description", "passages"], entities)
        + table(["source", "target", "description", "keywords", "weight"], relations)
    )


def _more(profile: RelationProfile) -> str:
    parts = [_keywords(profile), "" if profile.weight is None else f"weight {number(profile.weight)}"]
    listed = "; ".join(part for part in parts if part)
    return f" [{listed}]" if listed else ""


def _keywords(profile: RelationProfile) -> str:
    return clean(", ".join(profile.keywords), NAME)


def _passages(profile: EntityProfile | RelationProfile) -> str:
    return f"<p class='q'>from {esc(', '.join(profile.passages), NAME)}</p>" if profile.passages else ""
