"""Indexes of a few triples, for what needs another shape than the tiny corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import strategies as st
from tiny import TinyEncoder, tiny_dataset

from workbench.data import Dataset, Extraction
from workbench.index import Index
from workbench.records import Passage


@pytest.fixture(scope="session")
def tiny_index(tmp_path_factory) -> Index:
    """The tiny index, built once for folders (their `conftest.py`) none of whose tests changes it."""
    folder = tmp_path_factory.mktemp("indexes") / "tiny"
    return Index.build(tiny_dataset(), None, folder, encoder=TinyEncoder(), progress=False)


def index_of(folder: Path, stated: Mapping[str, Sequence[tuple[str, str, str]]], **synonyms) -> Index:
    """An index of passages by id, which are their own titles and state these triples; settings of its synonyms."""
    passages = tuple(Passage(name, name, f"Text of {name}.") for name in stated)
    extractions = tuple(Extraction(name, (), tuple(triples), "by hand") for name, triples in stated.items())
    data = Dataset("small", passages, (), extractions)
    return Index.build(
        data, None, folder, encoder=TinyEncoder(), settings={"synonyms": synonyms} if synonyms else None, progress=False
    )


_names = st.integers(0, 11).map("name{}".format)
# Passages that state triples of few names; some of the names' vectors are equal, so that there are synonyms as well.
stated = st.lists(st.lists(st.tuples(_names, st.sampled_from(["likes", "knows"]), _names), max_size=6), min_size=1,
                  max_size=6).map(lambda all: {f"passage {at}": triples for at, triples in enumerate(all)})  # fmt: skip
