"""SPARQL written by a model or a rule, executed on the retrieved facts."""

from workbench.sparql.facts import facts_of
from workbench.sparql.matching import execute
from workbench.sparql.parsing import parse
from workbench.sparql.proof import check, supporting, verify
from workbench.sparql.query import Comparison, Query
from workbench.sparql.similarity import NameSimilarity

__all__ = ["Comparison", "NameSimilarity", "Query", "check", "execute", "facts_of", "parse", "supporting", "verify"]
