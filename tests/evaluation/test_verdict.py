import json

import numpy as np

import workbench as wb


def test_a_verdict_is_shown_asserted_and_saved(tmp_path):
    verdict = wb.Verdict("first")
    assert verdict.check("recall", np.float64(0.7), "> 0.5", lambda value: value > 0.5)
    verdict.state(passages=np.int64(3), undefined=np.float64("nan"))
    assert verdict.holds
    assert not verdict.check("<b>failures", 2, "0", lambda value: value == 0)
    assert not verdict.holds
    saved = json.loads(verdict.save(tmp_path / "new" / "v.json").read_text())
    assert saved["checks"][0] == {"name": "recall", "value": 0.7, "expected": "> 0.5", "holds": True}
    assert saved["facts"] == {"passages": 3, "undefined": None}
    assert "SOME CHECKS FAIL" in repr(verdict)
    assert "&lt;b&gt;failures" in verdict._repr_html_()


def test_a_claim_shows_its_place(tmp_path):
    verdict = wb.Verdict("claims")
    verdict.check("routing is best", "3 of 4", "all 4", lambda _: False, where="Table <5.5>")
    verdict.check("of no source", 1, "1", lambda value: value == 1)
    assert "routing is best [Table <5.5>]: 3 of 4 (expected all 4)" in repr(verdict)
    assert "<th>place</th>" in verdict._repr_html_() and "Table &lt;5.5&gt;" in verdict._repr_html_()
    first, second = json.loads(verdict.save(tmp_path / "v.json").read_text())["checks"]
    assert first["where"] == "Table <5.5>" and "where" not in second
