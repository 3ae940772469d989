"""The claims of the papers: each is made where it says, and nothing else is called a claim."""

import pytest

from workbench import published
from workbench.papers.tables import tables
from workbench.published import bdtr, paper


@pytest.mark.parametrize("name", sorted(published.CLAIMS))
def test_every_claim_states_its_place(name):
    source = paper(name)
    for printed in (source.printed, None):  # of the paper's own numbers, and as of ours
        checks = published.CLAIMS[name](source.values, printed).checks
        assert checks and not [check.name for check in checks if not check.where.strip()]


def test_what_the_papers_do_not_claim_is_no_claim():
    """Three were listed that nobody makes; what stands behind them is stated as a fact."""
    bdtr_, thesis = tables("bdtr").claims, tables("reasoning").claims
    names = [check.name for verdict in (bdtr_, thesis) for check in verdict.checks]
    assert not [one for one in names if "gains most over static" in one or "is faster than IRCoT" in one]
    assert not [one for one in names if "beyond the noise" in one]
    assert bdtr_.facts["hours of BDTR as a multiple of IRCoT's, neither in parallel (Table 4)"] == 1.55, "1.7 / 1.1"
    said = "HippoRAG2 11.01 %, RAPTOR 23.72 %, GFM-RAG 15.93 %, GraphRAG 25.70 %"
    assert bdtr_.facts["BDTR's average gain over static (em)"] == said
    key = "8B with routing and graph walk above the 70B baseline, with half a 95 % interval (Table 5.6)"
    assert thesis.facts[key].startswith("hotpotqa +0.018 ± 0.051, musique +0.004 ± 0.059")
    assert "sparql-thesis" in thesis.facts["the prompt of SPARQL"]


def test_our_average_improvement_is_next_to_the_printed_one():
    scores = {"BDTR": 0.5, "IRCOT": 0.4, "GCOT": 0.35, "TOG": 0.3, "IRGS": 0.25}
    ours = {("RAPTOR", name, "musique", "em"): value for name, value in scores.items()}
    facts = bdtr.claims(ours).facts
    assert facts == {"average improvement over the best baseline (musique, em)":
                     "printed 8.41 %, by these numbers 25.00 % (RAPTOR)"}  # fmt: skip
    del ours["RAPTOR", "TOG", "musique", "em"]
    assert not bdtr.claims(ours).facts, "the best baseline is not known"
