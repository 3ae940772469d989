"""Views: functions from a record to HTML or text. No view computes what it shows.

`html(thing)` and `text(thing)` are single-dispatch functions. Each file here registers the views of some records, and
is loaded when one of these is first shown: a new one has a line in `_VIEWS_OF` of :mod:`workbench.views.base`."""

from workbench.views.base import html, text

__all__ = ["html", "text"]
