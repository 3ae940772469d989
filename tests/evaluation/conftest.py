"""A file of the package that is edited, and intervals by resampling: they take most of the time of a table, and the
same scores stand in hundreds of tests, so each is drawn once."""

from __future__ import annotations

import pytest

from workbench import source
from workbench.papers import tables


@pytest.fixture(scope="session", autouse=True)
def _intervals():
    drawn, interval = {}, tables.bootstrap_interval

    def bootstrap_interval(*values, **settings):
        key = repr((values, settings))
        if key not in drawn:
            drawn[key] = interval(*values, **settings)
        return drawn[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "bootstrap_interval", bootstrap_interval)
        yield


@pytest.fixture
def edit(monkeypatch):
    """Edits a file of the package, as the next process would find it."""
    read = source._text

    def edited(module: str) -> None:
        path = source._file(module)
        monkeypatch.setattr(source, "_text", lambda one: read(one) + "\nEDITED = 1\n" * (one == path))
        others = {name: read_before for name, read_before in source._modules.items() if name != module}
        monkeypatch.setattr(source, "_modules", others)

    return edited
