"""The public face stands: names, SPECs with their defaults, verbs with their options, fields and columns (face.py)."""

from __future__ import annotations

import face
import pytest


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return face.face(tmp_path_factory.mktemp("face"))


@pytest.mark.parametrize("what", face.recorded())
def test_it_is_what_it_was(what, found):
    assert found[what] == face.recorded()[what]
