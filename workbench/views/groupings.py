"""The views of groupings of entities and of their agreement."""

from __future__ import annotations

from collections import Counter

from workbench.display import html, text
from workbench.operators.groupings import Agreement, Grouping, Split
from workbench.text import clean, counted
from workbench.views.base import NAME, esc, number, page, table

SHOWN = 10  # groups that a notebook lists


@text.register
def _(grouping: Grouping) -> str:
    entities = counted(len(grouping.group_of), "entity", "entities")
    return f"Grouping {clean(grouping.name, NAME)!r}: {entities} in {counted(grouping.groups, 'group')}"


@html.register
def _(grouping: Grouping) -> str:
    sizes = Counter(grouping.group_of.values())
    largest = sorted(sizes.items(), key=lambda item: (-item[1], item[0]))[:SHOWN]
    rows = [(clean(grouping.titles.get(group, str(group)), NAME), size) for group, size in largest]
    return page(f"<p>{esc(text(grouping))}</p>", table(["largest groups", "entities"], rows))


@text.register
def _(agreement: Agreement) -> str:
    left, right = agreement.groups
    return (
        f"Agreement of {clean(agreement.left, NAME)} ({counted(left, 'group')}) and {clean(agreement.right, NAME)} "
        f"({right:,}) on {counted(agreement.entities, 'entity', 'entities')}: adjusted Rand "
        f"{number(agreement.rand, 3)}, NMI {number(agreement.nmi, 3)}"
    )


@html.register
def _(agreement: Agreement) -> str:
    left, right = agreement.left, agreement.right
    rows = [
        ("adjusted Rand", agreement.rand),
        ("normalised mutual information", agreement.nmi),
        (f"purity of {left} against {right}", agreement.purity[0]),
        (f"purity of {right} against {left}", agreement.purity[1]),
    ]
    splits = [(split.grouping, clean(split.title, NAME), split.size, split.apart, _parts(split))
              for split in agreement.splits]  # fmt: skip
    return page(
        f"<p>{esc(text(agreement))}</p>",
        table(["measure", "value"], rows),
        "<p>Where they differ most</p>" if splits else "",
        table(["of", "group", "entities", "apart", "its parts in the other"], splits) if splits else "",
    )


def _parts(split: Split) -> str:
    return "; ".join(f"{clean(title, 60)} ({count:,})" for title, count in split.parts)
