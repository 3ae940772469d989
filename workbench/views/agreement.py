"""The view of a comparison of two extractions."""

from __future__ import annotations

from workbench.display import html, text
from workbench.evaluation.agreement import Agreement
from workbench.text import clean
from workbench.views.base import NAME, details, esc, number, page, table
from workbench.views.index import facts_by

_LISTS = (("missed", "facts of the reference whose ends are not joined here"),
          ("added", "facts whose ends the reference does not join"))  # fmt: skip


@text.register
def _(found: Agreement) -> str:
    lines = [f"Extraction of {clean(found.name, NAME)!r}: {_between(found)}"]
    lines += [
        f"  {one.what}: {one.ours:,} and {one.reference:,}, common {one.common:,}; precision {_share(one.precision)}, "
        f"recall {_share(one.recall)}"
        for one in found.overlaps
    ]
    for part, title in _LISTS:
        if facts := getattr(found, part):
            lines.append(f"  {title}: {'; '.join(clean(' – '.join(fact), 100) for fact in facts)}")
    for row in found.retrieval:
        means = ", ".join(f"{name} {number(mean)}" for name, mean in row.items() if name != "method")
        lines.append(f"  {clean(row['method'], NAME)}: {means}")
    return "\n".join(lines)


@html.register
def _(found: Agreement) -> str:
    rows = [(o.what, o.ours, o.reference, o.common, _share(o.precision), _share(o.recall)) for o in found.overlaps]
    listed = (
        details(title, table(["", "", ""], [[clean(member, NAME) for member in fact] for fact in facts]))
        for part, title in _LISTS
        if (facts := getattr(found, part))
    )
    means = [[clean(name, NAME) if isinstance(name, str) else name for name in row.values()] for row in found.retrieval]
    return page(
        f"<p><b>{esc(found.name, NAME)}</b>: {esc(_between(found), 400)}</p>",
        table(["by passage", "here", "reference", "common", "precision", "recall"], rows),
        table(list(found.retrieval[0]), means) if means else "",
        *listed,
    )


def _between(found: Agreement) -> str:
    return f"{facts_by(found.by)}, against {facts_by(found.reference)}"


def _share(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"
