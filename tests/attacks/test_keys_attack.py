"""The key comes out nowhere, whatever a server does with it: see `keys`."""

from __future__ import annotations

import keys
import pytest

from workbench.cli.app import app


@pytest.mark.slow
def test_no_echo_comes_out_however_it_is_printed(tmp_path):
    tally = keys.attack(60, 7, tmp_path)
    assert tally.holds and tally.tried == 60, tally.failures


def test_what_is_sought_is_found(tmp_path):
    """A search that finds nothing proves nothing."""
    for number, write in enumerate(keys.WRITTEN.values()):
        seen = keys.Seen()
        seen.shown["somewhere"] = f"<{write(keys.KEY)}>"
        (tmp_path / str(number)).write_text(f"x{write(keys.PASSWORD)}")
        places = " ".join(what for what in seen.found(tmp_path))
        assert "somewhere" in places and f"{number}: " in places


def test_no_traceback_shows_the_variables_of_a_frame():
    assert app.pretty_exceptions_show_locals is False
