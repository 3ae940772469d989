"""A build of which most requests fail ends with an error, and what a store holds of it is not asked again."""

from dataclasses import replace

import pytest
from tiny import PASSAGES, TinyEncoder, TinyEngine, files, tiny_dataset

from workbench.errors import MostFailed
from workbench.index import Index
from workbench.records import Passage

DATA = replace(tiny_dataset(), extractions=None)
TITLES = [passage.title for passage in PASSAGES]


def build(folder, engine, data=DATA, **given) -> Index:
    return Index.build(data, engine, folder, encoder=TinyEncoder(), layers=["facts"], progress=False, **given)


def failures(index: Index) -> int:
    return index.manifest["layers"]["extractions"]["failures"]


@pytest.mark.parametrize(("count", "of"), [(4, 8), (2, 2)])
def test_half_of_the_requests_or_very_few_may_fail(tmp_path, count, of):
    index = build(tmp_path, TinyEngine(fails_on=TITLES[:count]), replace(DATA, passages=PASSAGES[:of]))
    assert failures(index) == count and index.warnings[0].startswith(f"extractions: {count} of {of} passages failed")


@pytest.mark.parametrize(("count", "of"), [(5, 8), (3, 3)])
def test_more_are_an_error_and_the_same_build_goes_on(tmp_path, count, of):
    data = replace(DATA, passages=PASSAGES[:of])
    for _ in range(2):
        with pytest.raises(MostFailed, match=rf"{count} of \d requests to tiny .*: told to fail\. .*keep_going=True"):
            build(tmp_path / "index", engine := TinyEngine(fails_on=TITLES[:count]), data)
    assert engine.asked == TITLES[:of], "an engine without a store"
    index = build(tmp_path / "index", TinyEngine(), data)
    assert index.warnings == ()
    assert files(index.folder) == files(build(tmp_path / "whole", TinyEngine(), data).folder)


def test_a_build_that_keeps_going_makes_the_layer_and_the_next_one_asks_again(tmp_path):
    index = build(tmp_path, TinyEngine(fails_on=TITLES), keep_going=True)
    assert failures(index) == 8 and index.facts.facts == []
    assert index.warnings[1] == "nothing in facts: methods over them find nothing, or fall back to dense retrieval"
    with pytest.raises(MostFailed):
        build(tmp_path, TinyEngine(fails_on=TITLES))
    assert failures(Index.open(tmp_path, TinyEncoder())) == 8, "the layer that stands is left alone"
    assert build(tmp_path, TinyEngine()).warnings == ()


def test_inputs_that_always_fail_stop_neither_a_retry_nor_an_insert(tmp_path):
    index = build(tmp_path, engine := TinyEngine(fails_on=TITLES[:3]))
    assert failures(build(tmp_path, engine)) == 3
    grown = index.insert([Passage("p9", "Pier", "A pier at Orsby.")], engine, progress=False)
    assert failures(grown) == 3
    bad = [Passage(f"n{at}", f"New {at}", f"Something new {at}.") for at in range(3)]
    with pytest.raises(MostFailed):
        grown.insert(bad, TinyEngine(fails_on=[*TITLES[:3], *(one.title for one in bad)]), progress=False)
    fails = TinyEngine(fails_on=[*TITLES[:3], *(one.title for one in bad)])
    assert failures(grown.insert(bad, fails, keep_going=True, progress=False)) == 6
