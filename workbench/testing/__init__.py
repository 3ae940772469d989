"""The contract of a method, as tests for a package that adds one. Needs pytest and hypothesis; no model is loaded.

    from workbench.testing import MethodContract

    class TestMine(MethodContract):
        method = "mine"          # a SPEC; of a registered method, or one that an entry point brings

`check_method("mine")` does the same in a notebook."""

import contextlib

with contextlib.suppress(ImportError):  # of pytest, which then shows both sides of a failed comparison
    import pytest

    pytest.register_assert_rewrite(f"{__name__}.contract")

from workbench.testing.contract import CHECKS, MethodContract, Subject, check_method
from workbench.testing.data import HashEncoder, small_data, small_index, tiny_index

__all__ = [
    "CHECKS", "HashEncoder", "MethodContract", "Subject", "check_method", "small_data", "small_index", "tiny_index",
]  # fmt: skip
