"""The views of a training: a line per stage, and loss and MRR over the steps."""

from __future__ import annotations

from workbench.display import html, text
from workbench.methods.gfm_rag.hub import Checked, Trained
from workbench.text import counted
from workbench.views import charts
from workbench.views.base import esc, page, table
from workbench.views.figures import Picture
from workbench.views.palette import BLUE, GREY, ORANGE


@text.register
def _(trained: Trained) -> str:
    stages = [
        f"  {stage}: {counted(checks[-1].step, 'step')}, MRR {checks[0].mrr:.3f} → {_best(checks):.3f}"
        for stage, checks in trained.stages.items()
    ]
    return "\n".join([f"Trained: {counted(trained.parameters, 'parameter')} in {trained.folder}", *stages])


@html.register
def _(trained: Trained) -> str:
    rows = [
        (stage, checks[-1].step, checks[-1].loss, checks[0].mrr, _best(checks))
        for stage, checks in trained.stages.items()
    ]
    said = f"{counted(trained.parameters, 'parameter')} in {trained.folder}"
    if trained.skipped:
        said += f"; {counted(trained.skipped, 'question')} without linked entities or gold phrases skipped"
    heads = ["stage", "steps", "loss at the end", "MRR before", "best MRR"]
    return page(f"<p><b>{esc(said)}</b></p>", table(heads, rows))


def training(trained: Trained) -> Picture:
    """Two panels over the steps of all stages: mean loss, and MRR of held-out samples; a line divides the stages."""
    figure, panels = charts.panels(6.4, 4.2, 1, 2, sharex=True)
    begin = 0
    for number, (stage, checks) in enumerate(trained.stages.items()):
        steps = [begin + one.step for one in checks]
        panels[0].plot(steps[1:], [one.loss for one in checks[1:]], color=BLUE, marker="o", markersize=3)
        panels[1].plot(steps, [one.mrr for one in checks], color=ORANGE, marker="s", markersize=3)
        # On two lines by turns, because a short stage is narrower than its name.
        above = (0, 2 + 11 * (number % 2))
        places = {"xycoords": ("data", "axes fraction"), "xytext": above, "textcoords": "offset points"}
        panels[0].annotate(stage, (begin, 1), **places, color=GREY, fontsize=8, va="bottom")
        begin = steps[-1]
        for axes in panels:
            axes.axvline(begin, color=GREY, linewidth=0.6, linestyle=":")
    for axes, label in zip(panels, ("loss", "MRR, held out")):
        axes.set(ylabel=label, ylim=(0, None))
    panels[1].set(xlabel="step")
    return charts.picture(figure, f"loss and MRR of {trained.folder.name} over {counted(begin, 'step')}")


def _best(checks: tuple[Checked, ...]) -> float:
    return max(one.mrr for one in checks)
