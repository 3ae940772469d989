"""Reader `essay`: paths and passages of the evidence in one context, an answer in full.

What `structured` lays out, asked for paragraphs in place of the shortest answer: the answers that a judge compares in
pairs (DotRAG, Tables 1 and 3). EM and F1 of them mean nothing, unless they are made short (`rewrite=true`)."""

from __future__ import annotations

from workbench.reading import base
from workbench.reading.structured import Structured
from workbench.settings import validated


class Essay(Structured):
    """`structured` with the prompt `essay`."""

    name = "essay"
    paper = "DotRAG; LightRAG (arXiv 2410.05779)"

    @validated
    class Settings(Structured.Settings):
        prompt: base.Prompt = "essay"
