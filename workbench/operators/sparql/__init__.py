"""SPARQL that a model or a rule wrote in plain English, carried out on the facts that were retrieved."""

from workbench.operators.sparql.facts import facts_of
from workbench.operators.sparql.likeness import Likeness
from workbench.operators.sparql.matching import execute
from workbench.operators.sparql.parsing import parse
from workbench.operators.sparql.proof import check, verify
from workbench.rules.patterns import Comparison, Query

__all__ = ["Comparison", "Likeness", "Query", "check", "execute", "facts_of", "parse", "verify"]
