"""Readers of passages. `direct` reads the first passages and gives a short answer in one call (HippoRAG 2, arXiv
2502.14802); `sparql` and `cot` read as much as fits, and reason before the answer ("The Reasoning Bottleneck in
Graph-RAG", arXiv 2603.14045, section 3).

A method that chooses how many passages are read (`Evidence.selected`, as BDTR does), or lays out a context of its own
(`Evidence.context`, as LightRAG does), overrides the reader's settings."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from workbench.layouts import of_evidence
from workbench.reading import base
from workbench.reading.render import Context, laid_out, render
from workbench.records import Evidence
from workbench.settings import Budget, validated

_TABLES = {"graph": "ket_rag", "youtu": "youtu"}


class Direct(base.ContextReader):
    """Reads the best `k` passages (none: all), or those that the method selected, of at most `budget` cl100k tokens
    together.

    `layout`: `auto` is the method's own, whole, where it has one, else `passages`, the text of these alone; `graph` has
    the entities and facts of the evidence as well, as tables of at most `budget` tokens; `youtu` has the same as
    triples, communities and chunks (`workbench.layouts.youtu`)."""

    name = "direct"
    paper = "From RAG to Memory (arXiv 2502.14802)"

    @validated
    class Settings(base.Settings):
        k: base.Passages | None = 5
        budget: Budget | None = None
        layout: Literal["auto", "passages", "graph", "youtu"] = "auto"

    def uncompressed(self, evidence: Evidence) -> Context:
        own, (k, budget, layout) = evidence.context, (getattr(self.settings, n) for n in ("k", "budget", "layout"))
        if layout == "auto" and own is not None:
            return laid_out(evidence, own)
        if layout in _TABLES:
            read = replace(evidence, selected=k if evidence.selected is None else evidence.selected)
            return laid_out(evidence, replace(of_evidence(read, budget), layout=_TABLES[layout]))
        return render(evidence, k if evidence.selected is None else evidence.selected, budget)


class Sparql(Direct):
    """`direct` with the prompt `sparql` and as many passages as fit into `budget`."""

    name = "sparql"
    paper = "The Reasoning Bottleneck in Graph-RAG (arXiv 2603.14045)"

    @validated
    class Settings(Direct.Settings):
        prompt: base.Prompt = "sparql"
        k: base.Passages | None = None
        budget: Budget | None = 12_000


class Cot(Direct):
    """`direct` with the prompt `cot` and as many passages as fit into `budget`."""

    name = "cot"
    paper = "The Reasoning Bottleneck in Graph-RAG (arXiv 2603.14045)"

    @validated
    class Settings(Sparql.Settings):
        prompt: base.Prompt = "cot"
