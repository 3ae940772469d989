"""The claims of the papers: what is no claim is not called one."""

from workbench.papers.tables import tables


def test_what_the_papers_do_not_claim_is_no_claim():
    """Three were listed that nobody makes; what stands behind them is stated as a fact."""
    bdtr, thesis = tables("bdtr").claims, tables("reasoning").claims
    names = [check.name for verdict in (bdtr, thesis) for check in verdict.checks]
    assert not [one for one in names if "gains most over static" in one or "is faster than IRCoT" in one]
    assert not [one for one in names if "beyond the noise" in one]
    assert bdtr.facts["hours of BDTR as a multiple of IRCoT's, neither in parallel (Table 4)"] == 1.55, "1.7 / 1.1"
    said = "HippoRAG2 11.01 %, RAPTOR 23.72 %, GFM-RAG 15.93 %, GraphRAG 25.70 %"
    assert bdtr.facts["BDTR's average gain over static (em)"] == said
    key = "8B with routing and graph walk above the 70B baseline, with half a 95 % interval (Table 5.6)"
    assert thesis.facts[key].startswith("hotpotqa +0.018 ± 0.051, musique +0.004 ± 0.059")
    assert "sparql-thesis" in thesis.facts["the prompt of SPARQL"]
