"""Settings of Sphinx, for the folder that `docs/site/build.py` lays out."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]

from docstrings import marked_up  # noqa: E402

import workbench  # noqa: E402
from workbench.views.stepped import LIVE  # noqa: E402

project = "hopscope"
author = "the authors of hopscope"
release = workbench.__version__
html_title = f"hopscope {release}"

extensions = ["myst_nb", "sphinx.ext.autodoc"]
myst_heading_anchors = 4  # of the same form as on a forge
myst_enable_extensions = ["colon_fence"]
nb_execution_mode = "off"  # notebooks were executed by `workbench run`
nb_merge_streams = True
nb_ipywidgets_js = {}  # widgets stand as the pages that they display without a kernel
# Pages that others link to stand beside the navigation; the outputs of a notebook have more forms than one is shown of.
suppress_warnings = ["mystnb.unknown_mime_type", "mystnb.mime_priority", "toc.not_included"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
add_module_names = False
default_role = "code"
smartquotes = False  # two dashes begin an option
python_use_unqualified_type_names = True

html_theme = "furo"
pygments_dark_style = "github-dark"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = html_show_copyright = False
html_copy_source = False  # a notebook's source is megabytes of outputs
html_theme_options = {"navigation_with_keys": True}


def with_sliders(app, page, template, context, doctree):
    """On the page of a notebook, what a slider went through gets one again."""
    if page.startswith("notebooks/"):
        context["metatags"] += LIVE


def setup(app):
    app.connect("autodoc-process-docstring", marked_up)
    app.connect("html-page-context", with_sliders)
