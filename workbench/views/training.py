"""The views of a training: a row per stage, and loss and MRR over the steps."""

from __future__ import annotations

import pandas as pd

from workbench.methods.gfm_rag.hub import Checked, Trained
from workbench.text import counted
from workbench.views import charts
from workbench.views.charts import Picture
from workbench.views.palette import BLUE, GREY, ORANGE
from workbench.views.parts import Part, group, line, strong, table, view


@view.register
def _(trained: Trained) -> Part | None:
    rows = [
        (stage, checks[-1].step, checks[-1].loss, checks[0].mrr, _best(checks))
        for stage, checks in trained.stages.items()
    ]
    summary = f"{counted(trained.parameters, 'parameter')} in {trained.folder}"
    if trained.skipped:
        summary += f"; {counted(trained.skipped, 'question')} without linked entities or gold phrases skipped"
    heads = ["stage", "steps", "loss at the end", "MRR before", "best MRR"]
    return group(line(strong(summary)), table(heads, rows))


def training(trained: Trained) -> Picture:
    """Two panels over the steps of all stages: mean loss, and MRR of held-out samples; a line divides the stages."""
    figure, panels = charts.panels(6.4, 4.2, 1, 2, sharex=True)
    begin, labels = 0, []
    for stage, checks in trained.stages.items():
        steps = [begin + check.step for check in checks]
        panels[0].plot(steps[1:], [check.loss for check in checks[1:]], color=BLUE, marker="o", markersize=3)
        panels[1].plot(steps, [check.mrr for check in checks], color=ORANGE, marker="s", markersize=3)
        # A short stage is narrower than its name.
        spots = [(begin, 0, (side, 4), *where) for side, *where in ((2, "left", "bottom"), (-2, "right", "bottom"))]
        labels.append(charts.Label(panels[1], stage, spots, GREY, needed=True))
        begin = steps[-1]
        for axes in panels:
            axes.axvline(begin, color=GREY, linewidth=0.6, linestyle=":")
    for axes, label in zip(panels, ("loss", "MRR, held out")):
        axes.set(ylabel=label, ylim=(0, None))
    panels[1].set(xlabel="step")
    description = f"loss and MRR of {trained.folder.name} over {counted(begin, 'step')}"
    return charts.picture(figure, description, pd.DataFrame(trained.history), labels)


def _best(checks: tuple[Checked, ...]) -> float:
    return max(check.mrr for check in checks)
