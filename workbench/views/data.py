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


text.register(Catalogue, lambda catalogue: "\n".join(map(text, catalogue.datasets)))
text.register(Profiles, lambda made: f"Profiles: {_sizes(made)}")
html.register(Profiles, lambda made: page(_tables(made)))
html.register(ProfilesLayer, lambda layer: page(_tables(layer)))


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


def _tables(profiles: Profiles | ProfilesLayer) -> str:
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
