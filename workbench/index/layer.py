"""The base class of layers. Each kind of layer is a class in a file of this folder, listed in `building.py`.

A layer is a function of its inputs (the layers below), its settings, what the data bring, the encoder and its maker,
and of nothing else: the class names them, and `building.py` makes its key of them. `build` writes files into a folder,
taking from `old`, the layer of the same kind that stood before, whatever work is still good; the constructor opens
those files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from workbench.data import Dataset
from workbench.encoding import Encoder
from workbench.errors import IndexFault
from workbench.index.journal import maker as signature
from workbench.index.vectors import Vectors
from workbench.integrity import files_of, flaws, note, seal, unseal
from workbench.llm.engine import RulesEngine
from workbench.records import Record
from workbench.settings import validated

if TYPE_CHECKING:
    from workbench.llm.engine import Engine
    from workbench.llm.step import Step


DESCRIPTION, FILES = "layer.json", "files"  # the description of a layer, and in it the entry of its files


@validated
class NoSettings:
    """Of a layer that has none."""


@dataclass
class Build:
    """Everything a layer may use while it is built."""

    data: Dataset
    encoder: Encoder | None
    engine: Engine | None = None
    progress: bool = True
    opened: Mapping[str, Layer] = field(default_factory=dict)  # kind -> layer of the index that is changed
    layers: dict[str, Layer] = field(default_factory=dict)  # kind -> layer below, opened
    named: dict[str, dict] = field(default_factory=dict)  # kind -> what the manifest will say of the layer below
    standing: Callable[[], Iterable[Layer]] = field(
        default=tuple, repr=False
    )  # the layers of the index that is changed
    keep_going: bool = False  # whether a layer is made although most of the requests for it failed
    computed: dict[str, Any] = field(default_factory=dict)  # what a layer's key and its files share

    @property
    def writer(self) -> Engine:
        """Who writes what is missing: the engine, or the rules if there is none."""
        return self.engine or RulesEngine()

    @cached_property
    def vectors(self) -> Vectors:
        """What is encoded already."""
        return Vectors(self.encoder, self.standing)

    @cached_property
    def fingerprint(self) -> str:
        """That of the corpus, computed once."""
        return self.data.fingerprint


class Layer(Record):
    """One kind of layer, opened from its folder."""

    kind: ClassVar[str]
    inputs: ClassVar[tuple[str, ...]] = ()  # the layers that it is made of
    optional: ClassVar[tuple[str, ...]] = ()  # further layers that it is made from if the index has them
    with_given: ClassVar[tuple[str, ...]] = ()  # as `optional`, where the data brought the profiles
    steps: ClassVar[tuple[Step, ...]] = ()  # that it asks an engine

    @classmethod
    def of_data(cls, build: Build, settings: Any) -> dict[str, Any]:
        """What of the data determines the content, besides the layers below."""
        return {}

    @classmethod
    def maker(cls, build: Build) -> str | None:
        """The signature of the engine that would write the layer, None if no engine is asked."""
        return signature(build.writer, *cls.steps) if cls.steps else None

    @classmethod
    def build(cls, folder: Path, build: Build, settings: Any, old: Layer | None) -> dict:
        """Write the layer's files into `folder` and return its metadata (counts, made_by). A `content` among it
        stands for the layer in the keys of those above, instead of its own key. The vectors of `old` are those of
        another encoder only where a layer asks Steps; its metadata then say so."""
        raise NotImplementedError

    def __init__(self, folder: Path):
        self.folder = folder
        description = unseal(json.loads((folder / DESCRIPTION).read_text(encoding="utf-8")))
        if "settings" not in description:
            raise ValueError(f"{folder / DESCRIPTION} says no settings")
        self.files: dict = description.pop(FILES, {})  # name → size and checksum
        for name, flaw in flaws(folder, self.files).items():
            raise ValueError(f"{folder / name} {flaw}")
        self.metadata: dict = description  # the settings, and what `build` returned

    def encoded(self) -> Iterable[tuple[Iterable[str], np.ndarray]]:
        """Texts with their vectors, (n, d), each pair a matrix of its files: a later build takes them from here."""
        return ()

    def __repr__(self) -> str:
        counts = (f"{count:,} {name}" for name, count in self.metadata.items() if type(count) is int and count)
        return f"{type(self).__name__}({', '.join(counts)})"

    @cached_property
    def hash(self) -> str:
        """12 hex digits for the content of its files, however it came about."""
        if not self.folder.is_dir():
            raise IndexFault(
                f"{self.folder} is gone, because its index was changed after this one was opened; open it again with "
                f"Index.open({str(self.folder.parent)!r})"
            )
        digest = hashlib.sha256()
        for path in sorted(self.folder.iterdir()):
            if path.name != DESCRIPTION:
                with path.open("rb") as file:
                    digest.update(f"{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
        return digest.hexdigest()[:12]


def describe(folder: Path, settings: Any, metadata: Mapping) -> dict:
    """Write the description of a layer, which completes it: its settings, what `build` returned, and its files, which
    are returned."""
    files = note(folder, set(files_of(folder)) - {DESCRIPTION})
    description = json.loads(json.dumps({"settings": asdict(settings), **metadata, FILES: files}))
    (folder / DESCRIPTION).write_text(
        json.dumps(seal(description), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    return files


# Kind of layer → the counts in its manifest entry that are all 0 where it holds nothing of use. Others hold something
# wherever these do, or may well be empty, as synonyms.
HOLDS = {
    "facts": ("facts",),
    "typed": ("entities",),
    "profiles": ("entities", "relations"),
    "schema_graph": ("entities", "relations", "attributes"),
    "tree": ("communities",),
    "communities": ("reports",),
    "mentions": ("entities", "nouns"),
    "keywords": ("keywords",),
    "skeleton": ("entities", "relations"),
}
OF_PASSAGES = ("extractions", "schema_graph")  # layers whose failures are counted by passage


def warnings_of(layers: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """One sentence for each layer with failed requests, and one for all that hold nothing. `layers` are those of a
    manifest, or of a method in the configuration of a run, which has no counts: there only failures are known."""
    return (*_failures(layers), *_empty(layers))


def _failures(layers: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    passages = layers.get("passages", {}).get("passages")
    for kind, layer in layers.items():
        if failed := layer.get("failures"):
            of = f" of {passages:,} passages" if passages and kind in OF_PASSAGES else ""
            again = f"a build with --layers {kind} and a model asks for these again"
            yield f"{kind}: {failed:,}{of} failed; {again}"


def _empty(layers: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    counts = {kind: [layers[kind].get(name) for name in names] for kind, names in HOLDS.items() if kind in layers}
    if empty := [kind for kind, held in counts.items() if not any(count is None or count for count in held)]:
        yield f"nothing in {', '.join(empty)}: methods over them find nothing, or fall back to dense retrieval"
