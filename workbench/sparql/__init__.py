"""SPARQL that a model or a rule wrote in plain English, carried out on the facts that were retrieved."""

from workbench.sparql.facts import facts_of
from workbench.sparql.matching import execute
from workbench.sparql.parsing import parse
from workbench.sparql.proof import check, verify
from workbench.sparql.query import Comparison, Query
from workbench.sparql.similarity import NameSimilarity

__all__ = ["Comparison", "NameSimilarity", "Query", "check", "execute", "facts_of", "parse", "verify"]
