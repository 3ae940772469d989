"""How things look: a record goes in, HTML or text comes out. No view computes what it shows.

`html(thing)` and `text(thing)` are single-dispatch functions; a new record registers its look in one of the files
here."""

from workbench.views import (  # noqa: F401 (each registers the looks of its records)
    analyses,
    contexts,
    data,
    diagnosis,
    doctor,
    dots,
    drawing,
    estimate,
    graph,
    index,
    node_details,
    profiles,
    proofs,
    records,
    replay,
    run,
    tables,
    trace,
)
from workbench.views.base import html, text

__all__ = ["html", "text"]
