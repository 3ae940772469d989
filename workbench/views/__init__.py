"""Views: functions from a record to HTML or text. No view computes what it shows.

`html(thing)` and `text(thing)` are single-dispatch functions; a new record registers its view in one of the files
here."""

from workbench.views import (  # noqa: F401 (each registers the looks of its records)
    agreement,
    analyses,
    answer_pairs,
    contexts,
    data,
    diagnosis,
    differences,
    doctor,
    dots,
    drawing,
    estimate,
    graph,
    groupings,
    index,
    map_page,
    node_details,
    passing,
    profiles,
    proofs,
    records,
    regression,
    replay,
    routes,
    run,
    steering,
    tables,
    trace,
    training,
    tree,
    trial,
    verdicts,
    worked,
)
from workbench.views.base import html, text

__all__ = ["html", "text"]
