"""The sentences and questions of all worlds, which `wordings.toml` and `phrasings.toml` hold."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / name).read_text("utf-8"))


WORDINGS, PHRASINGS = _read("wordings.toml"), _read("phrasings.toml")
