"""Who made a number is said of each part, wherever numbers stand; what asks nobody is nobody's."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.evaluation.makers import NOBODY, made_by, without_model
from workbench.llm.call import Reply
from workbench.llm.chat import ChatEngine


def engine(name):
    return ChatEngine(name, lambda request: Reply('{"facts": []}' if request.step == "fact_filter" else "Answer: x"))


def config(method, reading=None, **layers):
    layers = {kind: {"made_by": makers} for kind, makers in layers.items()}
    return {"methods": {"m": {"engine": method, "layers": layers}}, "reading": reading and {"engine": reading}}


@pytest.mark.parametrize(("of", "says", "parts"), [
    (config(None), NOBODY, ()),
    (config("rules"), "method by rules", ("rules",)),
    (config("openai:8b", "openai:70b"), "method openai:8b; reader openai:70b", ()),
    (config("openai:8b", "rules"), "method openai:8b; reader by rules", ("rules",)),
    (config("openai:8b", "openai:8b", extractions=["rules (named_entities v2, triples v2)"]),
     "method openai:8b; extractions by rules; reader openai:8b", ("rules",)),
    (config(None, None, summaries=["openai:8b (summarise v1)", "rules (summarise v1)"]),
     "summaries openai:8b, rules", ("rules",)),
    (config("openai:8b, rules", None, extractions=["openie.jsonl (gpt-4o)"]),
     "method openai:8b, rules; extractions openie.jsonl (gpt-4o)", ("rules",)),
    (config("worked:meridian#ab12", None, extractions=["curated, by hand"]),
     "method replies written by hand; extractions curated, by hand", ("curated facts", "replies written by hand")),
])  # fmt: skip
def test_makers_by_hand(of, says, parts):
    assert (made_by(of, "m"), without_model(of, "m")) == (says, parts)


@pytest.mark.parametrize(("spec", "asked"), [
    ("dense", ()), ("hipporag2", ("fact_filter",)), ("hipporag2[filter=identity]", ()),
    ("ircot[backbone=dense]", ("next_thought",)), ("ircot[backbone=dense,iterations=0]", ()),
    ("bdtr[backbone=dense,bgec=false]", ("dual_thoughts",)),
    ("bdtr[backbone=dense,bgec=false,thoughts=apart]", ("fast_thought", "slow_thought")),
    ("bdtr[backbone=dense,iterations=0]", ("reasoning_chain", "verify")),
    ("bdtr[backbone=dense,iterations=1,chain=joint]", ("concluding_thoughts", "verify")),
    ("bdtr[backbone=hipporag2[filter=identity],bgec=false,iterations=0]", ()),
])  # fmt: skip
def test_a_method_declares_the_steps_that_its_settings_ask(tiny_index, spec, asked):
    assert wb.method(spec, tiny_index).steps == asked


def test_tables_and_comparisons_name_both_engines_each_in_its_place(tiny, tiny_index, tmp_path):
    small, large = engine("openai:8b"), engine("openai:70b")
    methods = [wb.method("dense", tiny_index, small), wb.method("hipporag2", tiny_index, small)]
    run = wb.evaluate(tiny.questions[:2], methods, wb.reader("direct", large), tmp_path / "run", progress=False)
    made = "extractions by hand; reader openai:70b"
    assert run.table()["by"].tolist() == ["reader openai:70b", f"method openai:8b; {made}"]
    assert f"method openai:8b; {made}" in (run.folder / "table.csv").read_text(encoding="utf-8")
    assert set(run.compare(measures=["em"])["by"]) == {f"method openai:8b; {made}"}
    grid = wb.grid(tiny.questions[:2], methods[1:], {"model": wb.reader("direct", large), "rules": wb.reader("direct")},
                   tmp_path / "grid", progress=False)  # fmt: skip
    by = grid.table()["by"].to_dict()
    assert by["rules", "hipporag2"] == "method openai:8b; extractions by hand; reader by rules"
    assert set(grid.compare(measures=["em"])["by"]) == {by["rules", "hipporag2"]}
