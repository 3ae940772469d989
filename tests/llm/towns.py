"""A data folder of a few passages about bridges, and three questions."""

from __future__ import annotations

import json
from pathlib import Path


def write_town(folder: Path, passages: int) -> Path:
    folder.mkdir()
    rows = [{"id": f"p{i}", "title": f"Bridge {i}", "text": f"Built by Karl Weiss in 190{i}."} for i in range(passages)]
    asked = [
        {"id": f"q{i}", "question": f"Who built Bridge {i}?", "answers": ["Karl Weiss"], "support": [f"p{i}"]}
        for i in range(passages)
    ]
    for name, lines in (("corpus", rows), ("questions", asked)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder
