"""SPARQL that a model or a rule wrote in plain English, carried out on the facts that were retrieved."""

from workbench.operators.sparql.parsing import parse
from workbench.rules.patterns import Comparison, Query

__all__ = ["Comparison", "Query", "parse"]
