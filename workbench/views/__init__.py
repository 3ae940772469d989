"""Views: functions from a record to HTML or text. No view computes what it shows.

`html(thing)` and `text(thing)` are single-dispatch functions; a new record registers its view in one of the files
here."""

from workbench.views import analyses as _analyses
from workbench.views import contexts as _contexts
from workbench.views import data as _data
from workbench.views import diagnosis as _diagnosis
from workbench.views import doctor as _doctor
from workbench.views import dots as _dots
from workbench.views import drawing as _drawing
from workbench.views import estimate as _estimate
from workbench.views import graph as _graph
from workbench.views import index as _index
from workbench.views import node_details as _node_details
from workbench.views import profiles as _profiles
from workbench.views import proofs as _proofs
from workbench.views import records as _records
from workbench.views import replay as _replay
from workbench.views import run as _run
from workbench.views import tables as _tables
from workbench.views import trace as _trace
from workbench.views.base import html, text

__all__ = ["html", "text"]
del (
    _analyses,
    _node_details,
    _contexts,
    _data,
    _diagnosis,
    _doctor,
    _dots,
    _drawing,
    _estimate,
    _graph,
    _index,
    _profiles,
    _proofs,
    _records,
    _replay,
    _run,
    _tables,
    _trace,
)
