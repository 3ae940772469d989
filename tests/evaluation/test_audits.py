"""The audits of the papers' printed numbers: what they find stands in workbench/published/findings.json, which a table
of a paper shows beside its claims.

    python tests/evaluation/test_audits.py    write the file
"""

from __future__ import annotations

import json
from importlib import import_module

import pytest

from workbench.published import FINDINGS, paper, papers


def audited(name: str) -> dict:
    source = paper(name)
    verdict = import_module(f"audit_{name}").audit(source.values, source.printed)
    return {"checks": [check.plain() for check in verdict.checks], "facts": verdict.facts}


@pytest.mark.parametrize("name", papers())
def test_the_findings_are_those_of_the_audit(name):
    found = json.loads(FINDINGS.read_text("utf-8"))[name]
    assert found == audited(name), "stale: python tests/evaluation/test_audits.py"
    assert found["checks"] and not [check["name"] for check in found["checks"] if not check["where"].strip()]


if __name__ == "__main__":
    written = {name: audited(name) for name in papers()}
    FINDINGS.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", "utf-8")
