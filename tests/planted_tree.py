"""Knowledge trees with communities that are planted: of any size in memory, and a small index with all its layers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from tiny import TinyEncoder

from workbench.data import Dataset
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.index import Index
from workbench.operators.knowledge_tree import KnowledgeTree
from workbench.records import Passage, Question

TYPES = ("person", "film", "city", "country", "award", "company", "song", "river")
LABELS = ("directed_by", "born_in", "part_of", "located_in", "won", "spouse_of")


THEMES = {"film": "directed_by", "river": "flows_into", "song": "sung_by"}  # type of eight entities: their relation
QUESTIONS = (
    Question("t1", "What flows into river hub?", ("river 1",), "bridge", 1, ("river",)),
    Question("t2", "Who directed film 3?", ("film hub",), "bridge", 1, ("film",)),
)


def theme_index(folder: Path, put=lambda text: text, encoder=None) -> Index:
    """Three themes, each with a hub in whose relation eight entities stand, which have a size each; a passage per
    theme. `put` changes every text before it is built."""
    entities, relations = [], []
    for theme, label in THEMES.items():
        names = [f"{theme} {at}" for at in range(8)]
        entities.append(EntityProfile(put(f"{theme} hub"), put("hub"), "", (theme,)))
        entities += [EntityProfile(put(n), put(theme), put(f"size: {at}"), (theme,)) for at, n in enumerate(names)]
        relations += [
            RelationProfile(put(name), put(f"{theme} hub"), "", (), 1.0, (theme,), put(label)) for name in names
        ]
    relations.append(RelationProfile(put("film hub"), put("song hub"), "", (), 1.0, ("film", "song"), put("knows")))
    passages = tuple(Passage(theme, put(f"Of {theme}s"), put(f"Text of {theme}s.")) for theme in THEMES)
    data = Dataset("themes", passages, profiles=Profiles(tuple(entities), tuple(relations)))
    layers = ["schema_graph", "tree"]
    return Index.build(data, None, folder, encoder=encoder or TinyEncoder(), layers=layers, progress=False)


class Attribute(NamedTuple):
    entity: int
    type: str
    value: str


class Community(NamedTuple):
    id: int
    members: tuple[int, ...]
    centre: int
    keywords: tuple[int, ...]
    cohesion: float


class Named(NamedTuple):
    name: str
    summary: str


def ones(rows: Sequence[int], columns: Sequence[int], shape: tuple[int, int]) -> sp.csr_array:
    found = sp.coo_array((np.ones(len(rows), np.float32), (rows, columns)), shape=shape).tocsr()
    found.data[:] = 1.0
    found.sort_indices()
    return found


def planted_tree(entities: int = 60, communities: int = 4, dimension: int = 16, name: str = "entity {}", seed: int = 0):
    """A `KnowledgeTree` of planted communities: vectors lie around one direction for each, relations mostly within.
    Every tenth entity has an attribute, every four share a passage; the last entity is in no community."""
    draw = np.random.default_rng(seed)
    weights = 1.0 / np.arange(1, communities + 1) ** 0.5
    groups = np.sort(draw.choice(communities, entities, p=weights / weights.sum()))[draw.permutation(entities)]
    groups[:communities] = np.arange(communities)  # none is empty
    order = np.argsort(-np.bincount(groups), kind="stable")
    groups = np.argsort(order)[groups]
    groups[-1] = -1
    vectors = draw.normal(size=(communities, dimension))[groups] + 0.8 * draw.normal(size=(entities, dimension))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    graph = _graph(entities, groups, draw, name)
    tree = _tree(groups, vectors, graph)
    titles = [f"passage {at}" for at in range(entities // 4 + 1)]
    passages = [Passage(f"p{at}", title, f"Text of {title}.") for at, title in enumerate(titles)]
    index = Planted(
        name="planted", manifest={"layers": {"schema_graph": {}}}, schema_graph=graph, tree=tree, encoder=TinyEncoder(),
        passages=SimpleNamespace(passages=passages, row={one.id: at for at, one in enumerate(passages)}),
    )  # fmt: skip
    return KnowledgeTree(index)


class Planted(SimpleNamespace):
    """What a tree asks of an index; as an index, it is equal to itself alone."""

    __hash__, __eq__ = object.__hash__, object.__eq__


def _graph(n: int, groups: np.ndarray, draw: np.random.Generator, name: str) -> SimpleNamespace:
    names = [name.format(at) for at in range(n)]
    types = [TYPES[(group + (at % 5 == 0)) % len(TYPES)] for at, group in enumerate(groups.tolist())]
    by_group = {group: np.flatnonzero(groups == group) for group in set(groups.tolist())}
    sources = np.repeat(np.arange(n), 2)
    near = np.array([draw.choice(by_group[groups[source]]) for source in sources])
    targets = np.where(draw.random(len(sources)) < 0.8, near, draw.integers(0, n, len(sources)))
    kept = sources != targets
    sources, targets = sources[kept].astype(np.int32), targets[kept].astype(np.int32)
    m, passage = len(sources), np.arange(n) // 4
    labels = [LABELS[(groups[source] + at % 2) % len(LABELS)] for at, source in enumerate(sources.tolist())]
    attributes = [Attribute(at, "size", str(at)) for at in range(0, n, 10)]
    incidence = ones(np.r_[sources, targets], np.r_[np.arange(m), np.arange(m)], (n, m))
    p = n // 4 + 1
    return SimpleNamespace(
        names=names, types=types, row={one: at for at, one in enumerate(names)}, sources=sources, targets=targets,
        labels=labels, incidence=incidence, attributes=attributes, schema=None, seed=None, evolution=[],
        type_counts=dict(Counter(types).most_common()),
        stated=ones(np.arange(n), passage, (n, p)), relation_stated=ones(np.arange(m), passage[sources], (m, p)),
        attribute_stated=ones(np.arange(len(attributes)), passage[::10][: len(attributes)], (len(attributes), p)),
        incident=lambda row: incidence.indices[incidence.indptr[row] : incidence.indptr[row + 1]],
        attributes_of=lambda row: range(-(-row // 10), row // 10 + 1),
    )  # fmt: skip


def _tree(groups: np.ndarray, vectors: np.ndarray, graph: SimpleNamespace) -> SimpleNamespace:
    made = []
    for at in range(groups.max() + 1):
        members = tuple(np.flatnonzero(groups == at).tolist())
        made.append(Community(at, members, members[0], members[:3], 0.5))
    named = {
        at: Named(f"group {at} of {graph.types[one.centre]}", f"Summary {at}.") for at, one in enumerate(made) if at
    }
    return SimpleNamespace(
        communities=made, community_of=groups.astype(np.int32), named=named, failures={0: "no reply"}, merges=[],
        entity_matrix=vectors,
    )  # fmt: skip
