"""Read indexes of other GraphRAG systems, and BEIR folders; write GraphML and CSV. Read and write rankings and gold as
TREC files; write traces as OpenInference spans. `docs/exchange.md` lists what is imported.

data = exchange.read("output")                       # the format is recognised
index = wb.Index.build(data)                         # no engine: reuses the paid extraction
exchange.write(index, "graph.graphml")
"""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

from workbench.data.folder import Dataset
from workbench.errors import DataError, SettingError
from workbench.exchange import beir, gfmrag, hipporag, lightrag, msgraphrag, youtu
from workbench.exchange.export import to_csv, to_graphml, write
from workbench.exchange.openinference import to_openinference
from workbench.exchange.trec import Ranked, read_qrels, read_run, to_qrels, to_trec

__all__ = [
    "FORMATS", "Ranked", "read", "read_qrels", "read_run", "recognise", "to_csv", "to_graphml",
    "to_openinference", "to_qrels", "to_trec", "write",
]  # fmt: skip


# Folder names that the systems assign, so that every project has one.
_FOLDERS = {"output", "artifacts", "graphs", "processed", "rag_storage", "stage1"}

# In the order in which they are tried. `find(path)` of a module returns the files or folders of its format at a path,
# `read(path, name, **options)` a data set, and LOOKED_FOR says what it looks for.
FORMATS: dict[str, ModuleType] = {
    "hipporag": hipporag, "msgraphrag": msgraphrag, "lightrag": lightrag, "gfmrag": gfmrag, "youtu": youtu,
    "beir": beir,
}  # fmt: skip


def recognise(path: str | Path) -> str | None:
    """The format at a path, one of `FORMATS`, or None."""
    path = Path(path).expanduser()
    return next((kind for kind, module in FORMATS.items() if path.exists() and module.find(path)), None)


def read(path: str | Path, kind: str | None = None, *, name: str | None = None, **options: Any) -> Dataset:
    """The data set at a path: passages, extractions, profiles of entities and relations, and questions if it has any.

    `kind` is one of `FORMATS`, recognised by default; `name` is that of the folder by default. Options: `strict=False`
    drops ids of missing passages instead of refusing them; `documents` (gfmrag) and `chunks` (youtu) name the file of
    texts; `split` names the questions to read (`"train"` for gfmrag, any but `"test"` for beir). Raises
    :class:`DataError` if a file is missing or damaged.
    """
    path = Path(path).expanduser()
    if kind is not None and kind not in FORMATS:
        raise SettingError(f"kind={kind!r} is unknown; choose one of {', '.join(FORMATS)}")
    if not path.exists():
        raise DataError(f"{path} does not exist; give the folder or the file that another system wrote")
    kind = kind or recognise(path)
    if kind is None:
        looked_for = "; ".join(module.LOOKED_FOR for module in FORMATS.values())
        raise DataError(f"{path} is in no format that can be read; give the folder of one of these: {looked_for}")
    reader = FORMATS[kind].read
    accepted = list(inspect.signature(reader).parameters)[2:]
    if unknown := sorted(options.keys() - set(accepted)):
        raise SettingError(f"{kind} has no option {unknown[0]!r}; it has {', '.join(accepted)}")
    return reader(path, name or _name(path, kind), **options)


def _name(path: Path, kind: str) -> str:
    """The name of a data set: that of a file named by a user, otherwise of the nearest folder named by a user."""
    if path.is_file() and kind == "youtu":
        return path.stem.removesuffix("_new")
    folder = path.resolve() if path.is_dir() else path.resolve().parent
    return next((part for part in reversed(folder.parts[1:]) if part not in _FOLDERS), "data")
