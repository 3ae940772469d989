import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.encoding.similarity import minmax, top

scores = st.lists(st.integers(-5, 5).map(float), max_size=30).map(np.array)


@given(scores, st.integers(1, 40))
def test_top_is_a_stable_sort_cut_off(values, k):
    assert top(values, k).tolist() == sorted(range(len(values)), key=lambda row: (-values[row], row))[:k]


def test_minmax_spans_zero_to_one():
    assert minmax(np.array([2.0, 4.0, 3.0])) == pytest.approx([0, 1, 0.5])


@pytest.mark.parametrize("values", [[], [7.0], [3.0, 3.0]])
def test_minmax_of_equal_values_is_one(values):
    assert minmax(np.array(values)).tolist() == [1.0] * len(values)
