"""The views of data sets, their origin and the list of named ones, of an index and its graph, and of profiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.data import Dataset
from workbench.data.origin import Origin, SourceFile
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.data.registry import Catalogue, Known
from workbench.data.sources.entry import Entry
from workbench.display import text
from workbench.index import Graph, Index
from workbench.index.chroma import StoreAgreement
from workbench.index.journal import signed_by
from workbench.index.profiles import ProfilesLayer
from workbench.index.usage import IndexUsage, Spent
from workbench.llm.record import in_a_line
from workbench.text import clean, counted
from workbench.views.parts import (
    NAME,
    Part,
    details,
    faint,
    fold,
    group,
    line,
    number,
    quiet,
    strong,
    table,
    tag,
    view,
    warned,
)

SHOWN = 5  # passages and questions of a data set that a notebook lists
_LINE = 120  # characters of a text in a table


@view.register
def _(data: Dataset) -> Part | None:
    passages = [(p.id, p.title, p.text) for p in data.passages[:SHOWN]]
    questions = [(q.id, q.question, " · ".join(q.answers)) for q in data.questions[:SHOWN]]
    offers = f"offers the extraction {', '.join(data.offers)}" if data.offers else ""
    return group(
        line("Dataset", strong(data.name, limit=NAME), tag(data.fingerprint)),
        quiet(data.folder, limit=NAME),
        table(["", ""], _counts(data).items()),
        quiet(offers, limit=NAME),
        table(["left out"], zip(data.left_out), NAME),
        skipped_table(data.origin) if data.origin else None,
        details("where it comes from", view(data.origin)) if data.origin else None,
        fold("first passages", table(["id", "title", "text"], passages, _LINE)),
        fold("first questions", table(["id", "question", "answers"], questions, _LINE)),
    )


@view.register
def _(index: Index) -> Part | None:
    layers = [
        (kind, layer["key"], settings_text(layer["settings"]), ", ".join(layer.get("made_by", ())))
        for kind, layer in index.manifest["layers"].items()
    ]
    headers = ["layer", "key", "settings", "made by"]
    return group(
        warned(index.warnings),
        line("Index", strong(index.name, limit=NAME), faint(index.folder, limit=NAME)),
        table(["", ""], index.counts().items()),
        table(["left out"], zip(index.left_out), NAME),
        quiet(f"encoded by {index.manifest['encoder']['name']}", facts_by(index.facts_by), limit=NAME),
        details(f"layers {', '.join(index.manifest['layers'])}", table(headers, layers)),
        details("what its construction took", view(index.usage)),
        details("versions", table(["", ""], index.manifest["versions"].items())),
    )


@view.register
def _(agreement: StoreAgreement) -> Part | None:
    questions = counted(len(agreement.shares), "question")
    return line(
        f"{clean(agreement.store, NAME)} finds {agreement.mean:.1%} of the {agreement.k} passages of "
        f"{clean(agreement.index, NAME)!r} that exact search finds nearest ({questions}; "
        f"the worst {min(agreement.shares):.0%})"
    )


@view.register
def _(usage: IndexUsage) -> Part | None:
    headers = ["layer", "step", "engine", "calls", "prompt tokens", "completion tokens", "US dollars", "seconds"]
    return group(
        line(f"Construction of {clean(usage.folder, NAME)}: {clean(_bill(usage), NAME)}"),
        table(headers, map(_billed, usage.spent), NAME),
    )


view.register(Graph, lambda graph: table(["", ""], graph.counts().items()))


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


def settings_text(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def _bill(usage: IndexUsage) -> str:
    """The calls, tokens and price of a construction, in words."""
    if not usage.known:
        return "not known, because the version that built it kept no bill"
    whole = usage.of()
    if not whole.calls:
        return "no model was asked"
    paid = "price unknown" if whole.money is None else f"${whole.money:.4f}"
    recorded = f"; {counted(whole.recorded, 'call')} answered from a recording" if whole.recorded else ""
    tokens = f"{whole.prompt_tokens:,} prompt and {whole.completion_tokens:,} completion tokens"
    from_stores = f"; {stores}" if (stores := in_a_line(usage.recordings)) else ""
    return f"{counted(whole.calls, 'call')}, {tokens}, {paid}{recorded}{from_stores}"


def _billed(spent: Spent) -> list[Any]:
    """A row per layer, Step and engine. Rules have no tokens; the seconds of a whole layer include those of Steps."""
    place = [spent.layer, spent.step or "all of it", spent.engine if spent.step else ""]
    usage, seconds = spent.usage, round(spent.usage.seconds, 1)
    if not spent.step or spent.by_rules:
        return [*place, usage.calls if spent.step else None, None, None, None, seconds]
    return [*place, usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.money, seconds]


# -- where data come from ---------------------------------------------------------------------------------------------

text.register(Catalogue, lambda catalogue: "\n".join(map(text, catalogue.datasets)))


@view.register
def _(origin: Origin) -> Part | None:
    files = [(file.name, file.sha256[:16], file.checked) for file in origin.files]
    checks = sorted({file.checked for file in origin.files if file.checked})
    return group(
        line(f"Origin: {clean(origin.source)}"),
        quiet(settings_text(origin.settings), *origin.notes),
        fold(
            clean("; ".join([counted(len(files), "file"), *checks]), NAME),
            table(["file", "SHA-256", "compared with"], files, NAME),
        ),
        skipped_table(origin),
    )


def skipped_table(origin: Origin) -> Part | None:
    """Every skipped document with the reason, unfolded, because a missing one may contain the answer."""
    summary = strong(f"{counted(len(origin.skipped), 'file')} skipped, {len(origin.files):,} read:")
    return fold(summary, table(["file", "why"], origin.skipped), open=True)


@text.register
def _(file: SourceFile) -> str:
    checked = f", {clean(file.checked, NAME)}" if file.checked else ""
    return f"{clean(file.name, NAME)}: SHA-256 {file.sha256}{checked}"


@view.register
def _(catalogue: Catalogue) -> Part | None:
    rows = [
        (dataset.id, ", ".join(dataset.aliases), dataset.of, dataset.passages, dataset.questions, dataset.triples,
         dataset.licence, dataset.source, dataset.here)
        for dataset in catalogue.datasets
    ]  # fmt: skip
    headers = ["id", "short", "what it is", "passages", "questions", "triples", "licence", "source", "on this machine"]
    return table(headers, rows, NAME)


@text.register
def _(data: Known) -> str:
    counts = ", ".join(
        f"{number(count)} {what}"
        for what, count in (("passages", data.passages), ("questions", data.questions), ("triples", data.triples))
        if count
    )
    short = f" ({', '.join(data.aliases)})" if data.aliases else ""
    return f"{clean(data.id, NAME)}{short}: {counts or 'counts not published'}; {clean(data.licence, NAME)}; " + (
        f"in {clean(data.here, NAME)}" if data.here else "not on this machine"
    )


@text.register
def _(entry: Entry) -> str:
    return f"{clean(entry.id, NAME)}: {clean(entry.of, NAME)}; {clean(entry.licence, NAME)}; {clean(entry.page, NAME)}"


# -- profiles of entities and relations -------------------------------------------------------------------------------


PROFILES = 10  # rows that a notebook lists
_DESCRIPTION = 200  # characters of a description in a table


@view.register
def _(profile: EntityProfile) -> Part | None:
    return _described(profile, strong(profile.name, limit=NAME), tag(profile.type, limit=NAME))


@view.register
def _(profile: RelationProfile) -> Part | None:
    weight = "" if profile.weight is None else f"weight {number(profile.weight)}"
    note = "; ".join(filter(None, (", ".join(profile.keywords), weight)))
    ends = f"{clean(profile.source, NAME)} — {clean(profile.target, NAME)}"
    return _described(profile, strong(ends), faint(note, limit=NAME))


def _described(profile: EntityProfile | RelationProfile, *title: Part | None) -> Part | None:
    stated = f"from {', '.join(profile.passages)}" if profile.passages else ""
    return group(line(*title), line(profile.description), quiet(stated, limit=NAME))


@view.register
def _(profiles: Profiles | ProfilesLayer) -> Part | None:
    sizes = f"{counted(len(profiles.entities), 'entity', 'entities')}, {counted(len(profiles.relations), 'relation')}"
    entities = [(p.name, p.type, p.description, len(p.passages)) for p in profiles.entities[:PROFILES]]
    relations = [
        (p.source, p.target, p.description, ", ".join(p.keywords), p.weight) for p in profiles.relations[:PROFILES]
    ]
    return group(
        line(f"Profiles: {sizes}"),
        table(["entity", "type", "description", "passages"], entities, _DESCRIPTION),
        table(["source", "target", "description", "keywords", "weight"], relations, _DESCRIPTION),
    )
