"""The bill of an index: what its construction took, over all builds, and that it is no part of the index."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tiny import PaidEngine, TinyEncoder, files, tiny_dataset

from workbench.errors import DataError, Deferred
from workbench.index import Index, journal
from workbench.index.usage import IndexUsage, Spent, metered, usage_of
from workbench.llm.meter import Meter
from workbench.llm.step import Usage
from workbench.records import Passage

DATA = replace(tiny_dataset(), extractions=None)


def build(folder, engine=None, data=DATA, layers=("facts",)) -> Index:
    return Index.build(data, engine or PaidEngine(), folder, encoder=TinyEncoder(), layers=layers, progress=False)


def spent(index: Index) -> dict[tuple[str, str, str], tuple[int, int, int]]:
    return {
        (one.layer, one.step, one.engine): (one.usage.calls, one.usage.prompt_tokens, one.usage.completion_tokens)
        for one in index.usage.spent
        if one.step
    }


def test_each_layer_and_step_has_its_calls_and_tokens(tmp_path):
    """Eight passages, two Steps."""
    index = build(tmp_path / "index")
    assert spent(index) == {
        ("extractions", "named_entities", "openai:one"): (8, 800, 80),
        ("extractions", "triples", "openai:one"): (8, 800, 80),
    }
    assert index.usage.of() == index.usage.of(["extractions"]) == Usage(16, 1600, 160, money=pytest.approx(0.16))
    assert index.usage.of().seconds == 8 and index.usage.of(["facts"]) == Usage()
    wholes = [one.layer for one in index.usage.spent if not one.step]
    assert wholes == ["passages", "extractions", "facts"] and index.usage.seconds() > 0
    assert index.usage.seconds(["facts"]) < index.usage.seconds() and index.usage.seconds(["typed"]) is None


def test_builds_add_up(tmp_path):
    """An insert asks for what is new; another model writes, and is billed, anew."""
    index = build(tmp_path / "index").insert(
        [Passage("new", "Quay", "The Quay is in Orsby.")], PaidEngine(), progress=False
    )
    assert index.usage.of().calls == 2 * (8 + 1)
    index = build(index.folder, PaidEngine("openai:two"), replace(DATA, passages=tuple(index.passages.passages)))
    assert index.usage.of(engines=["openai:two"]).calls == 18 and index.usage.of().calls == 36
    assert [one.layer for one in index.usage.spent if not one.step].count("extractions") == 2, "one of each engine"


def test_what_a_stopped_build_asked_is_billed_with_the_layer_that_is_made_of_it(tmp_path, monkeypatch):
    """The next one finds it in the store of its engine."""
    monkeypatch.setattr(journal, "GROUP", 2)
    with pytest.raises(KeyboardInterrupt):
        build(tmp_path / "index", PaidEngine(fail_at=3, error=KeyboardInterrupt))
    assert usage_of(tmp_path / "index").of().calls == 0
    assert build(tmp_path / "index").usage.of().calls == 16


def test_the_bill_is_no_part_of_the_index(tmp_path):
    first, second = build(tmp_path / "first"), build(tmp_path / "second")
    (tmp_path / "second" / "usage.jsonl").unlink()
    again = build(tmp_path / "second")
    assert first.manifest == again.manifest and files(first.folder) == files(again.folder)
    assert [first.layer(kind).hash for kind in first.manifest["layers"]] == [
        second.layer(kind).hash for kind in second.manifest["layers"]
    ]
    assert not again.usage.known and again.usage.spent == () and again.usage.seconds(["facts"]) is None
    assert "kept no bill" in repr(again.usage)


def test_what_is_asked_outside_is_not_billed_and_what_is_inside_is_counted_outside_too(tmp_path):
    from workbench.llm.meter import collect

    engine = Meter()
    engine.add("before", Usage(calls=1))
    with collect() as outer, metered(tmp_path, "facts", None):
        engine.add("step", Usage(calls=2, prompt_tokens=5))
    assert usage_of(tmp_path).of() == Usage(2, 5) == outer.total and engine.total.calls == 3


def test_an_error_is_told_and_what_failed_before_it_is_billed(tmp_path):
    """It is asked for again, and other calls are found in the store."""
    meter = Meter()
    with pytest.raises(ValueError, match="mine"), metered(tmp_path, "facts", None):
        meter.add("step", Usage(calls=1))
        meter.add("step", Usage(calls=1, failed=1))
        raise ValueError("mine")
    assert usage_of(tmp_path).of() == Usage(calls=1, failed=1)
    with pytest.raises(Deferred), metered(tmp_path, "facts", None):
        meter.add("step", Usage(calls=1, failed=1))
        raise Deferred(1)
    assert usage_of(tmp_path).of().calls == 1, "what is deferred is asked again with the replies"
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="mine"), metered(tmp_path / "file", "facts", None):
        raise ValueError("mine")


def test_a_damaged_line_is_named(tmp_path):
    (tmp_path / "usage.jsonl").write_text('{"layer": "facts"}\n')
    with pytest.raises(DataError, match=r"line 1 .*; delete this line, or the file: it is a bill"):
        usage_of(tmp_path)


# -- how it looks -----------------------------------------------------------------------------------------------------


def test_it_is_shown_and_rules_have_no_tokens_there(tmp_path):
    usage = build(tmp_path / "index").usage
    assert "16 calls, 1,600 prompt and 160 completion tokens, $0.1600" in repr(usage)
    assert "named_entities" in usage._repr_html_() and "1,600 prompt" in build(tmp_path / "index")._repr_html_()
    rules = IndexUsage("x", (Spent("facts", "triples", "rules", Usage(8)), Spent("facts", "", "", Usage(seconds=2.0))))
    assert repr(rules).splitlines()[2].split() == ["facts", "triples", "rules", "8", "0.0000"]
    assert usage.frame()["prompt_tokens"].sum() == 1_600 and list(usage.frame()["layer"].unique()) == [
        "passages", "extractions", "facts",
    ]  # fmt: skip
