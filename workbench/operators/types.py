"""The types of an index's entities, for pictures that give each type a colour."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from workbench.data.graph import UNKNOWN
from workbench.text import PHRASE_RULES

if TYPE_CHECKING:
    from workbench.index import Index

LAYERS = ("typed", "schema_graph")  # that know types; where both know one of an entity, the first counts
_types_of_index: WeakKeyDictionary[Index, Types] = WeakKeyDictionary()


class Types(NamedTuple):
    """`order`: types, the most frequent first, ties by name; `by_phrase`: the phrase of an entity → its type; `rule`:
    how a name becomes a phrase, one of `PHRASE_RULES`."""

    order: tuple[str, ...] = ()
    by_phrase: Mapping[str, str] = {}
    rule: str = "unicode"

    @classmethod
    def of(cls, named: Iterable[tuple[str, str]], rule: str = "unicode") -> Types:
        """Those of (name, type) pairs.

        >>> Types.of([("Oslo", "place"), ("Ada", "person"), ("Rome", "place"), ("Nix", "")]).order
        ('place', 'person')
        """
        pairs = [(name, kind) for name, kind in named if kind and kind != UNKNOWN]
        counted = Counter(kind for _, kind in pairs)
        by_phrase: dict[str, str] = {}
        for name, kind in pairs:
            by_phrase.setdefault(PHRASE_RULES[rule](name), kind)
        return cls(tuple(sorted(counted, key=lambda kind: (-counted[kind], kind))), by_phrase, rule)

    def type_of(self, name: str) -> str:
        """The type of an entity, however its name is spelled; "" for none."""
        return self.by_phrase.get(PHRASE_RULES[self.rule](name), "")


def types_of(index: Index | None) -> Types:
    """The types that the layers of an index know; none without an index."""
    if index is None:
        return Types()
    if index not in _types_of_index:
        layers = index.manifest["layers"]
        rule = layers["facts"]["settings"]["normalise"] if "facts" in layers else "unicode"
        graphs = [getattr(index, kind) for kind in LAYERS if kind in layers]
        _types_of_index[index] = Types.of((pair for graph in graphs for pair in zip(graph.names, graph.types)), rule)
    return _types_of_index[index]
