"""Settings of layers that make no sense are refused with name, value and what is expected."""

from __future__ import annotations

import pytest

from workbench.errors import DataError, SettingError
from workbench.index.index import LAYERS
from workbench.settings import settle

SENSELESS = {
    "facts": {"normalise": ["latin"]},
    "synonyms": {"cap": [-1]},
    "summaries": {
        "reduction": ["tsne"], "dimension": [0, 2.5], "components": [0], "threshold": [1, -0.1], "seed": [-1],
        "levels": [0], "cluster_tokens": [0], "summary_tokens": ["9"], "recursions": [True],
    },
    "communities": {
        "descriptions": ["poems"], "max_size": [0], "min_members": [1.5], "resolution": [0], "randomness": [-1],
    },
    "schema_graph": {"evolution": ["fast"], "mu": [1.2], "support": [0], "batch": [0], "strict": [1]},
    "tree": {"epsilon": [-1], "naming_batch": [0]},
    "pieces": {"chunk_overlap": [1200, -1], "piece_tokens": [0], "chunk_tokens": [1.5]},
    "skeleton": {
        "beta": [1.2, float("nan")], "selection": ["random"], "knn": [0], "damping": [1.0], "gleanings": [-1],
        "unit_tokens": ["many"],
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", SENSELESS)
def test_a_senseless_setting_is_refused(kind):
    for name, values in SENSELESS[kind].items():
        for value in values:
            with pytest.raises(SettingError, match=name):
                settle(kind, LAYERS[kind][1], {name: value})
    with pytest.raises(SettingError, match=f"{kind} has no setting 'colour'; it has "):
        settle(kind, LAYERS[kind][1], {"colour": 1})


def test_a_schema_that_is_not_there_is_refused(tiny, tiny_encoder, tmp_path):
    from workbench.index import Index

    given = {"layers": ["schema_graph"], "settings": {"schema_graph": {"schema": "nothing"}}, "progress": False}
    with pytest.raises(DataError, match="no schema is called 'nothing'"):
        Index.build(tiny, None, tmp_path, encoder=tiny_encoder, **given)
