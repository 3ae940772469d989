"""What is missing of an index, in words: the one source of the warnings that all displays of it begin with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

# Kind of layer → the counts in its manifest entry that are all 0 where it holds nothing of use. Others hold something
# wherever these do, or may well be empty, as synonyms.
HOLDS = {
    "facts": ("facts",),
    "typed": ("entities",),
    "profiles": ("entities", "relations"),
    "schema_graph": ("entities", "relations", "attributes"),
    "tree": ("communities",),
    "communities": ("reports",),
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
