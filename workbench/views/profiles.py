"""The view of the profiles of entities and relations."""

from __future__ import annotations

from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.display import html, text
from workbench.index.profiles import ProfilesLayer
from workbench.text import clean, counted
from workbench.views.base import NAME, esc, number, page, table

SHOWN = 10  # rows that a notebook lists
_LINE = 200  # characters of a description on one line


@text.register
def _(profile: EntityProfile) -> str:
    kind = f" ({clean(profile.type, 40)})" if profile.type else ""
    return f"EntityProfile {clean(profile.name, NAME)}{kind}: {clean(profile.description, _LINE)}"


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
    return f"RelationProfile {ends}{_more(profile)}: {clean(profile.description, _LINE)}"


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
        (clean(p.name, NAME), clean(p.type, 40), clean(p.description, _LINE), len(p.passages))
        for p in profiles.entities[:SHOWN]
    ]
    relations = [
        (clean(p.source, NAME), clean(p.target, NAME), clean(p.description, _LINE), _keywords(p), p.weight)
        for p in profiles.relations[:SHOWN]
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
