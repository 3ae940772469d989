"""Layer `tree`: communities of entities and their keywords, the upper two levels of Youtu-GraphRAG's knowledge tree
(arXiv 2508.19855, Section 4.2, Eq. 8). The lower two, attributes and triples, are the layer `schema_graph`.

`dual_perception` finds the communities; the Step `name_communities` names and summarises those of two members or more.
Names cost money: they are reused by what a model reads of a community, so an insert or delete asks again for those
that it changed. Without an engine the rules write what is missing. A community whose name failed is counted and has no
vector; the next build of the layer retries it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from workbench.data.graph import UNKNOWN
from workbench.index.dual_perception import (
    Communities,
    GraphArrays,
    Merge,
    Perception,
    TreeCommunity,
    detect,
)
from workbench.index.journal import Answer, StepJournal, counts, request_key, reusable_of_models
from workbench.index.layer import Build, Layer
from workbench.index.schema_graph import HAS_ATTRIBUTE, SchemaGraphLayer
from workbench.index.store import map_vectors, read_columns, read_table, rows_of, write_rows, write_table
from workbench.index.typed import counted
from workbench.index.vectors import encode_to
from workbench.llm.engine import Engine
from workbench.llm.step import Result
from workbench.settings import Positive, validated
from workbench.steps import name_communities
from workbench.steps.name_communities import Community, Name

FACTS = 3  # facts that the rules write into a summary


@validated
class Settings(Perception):
    """`naming_batch` communities are named in one request, each shown with its first `members_shown` members."""

    naming_batch: Positive = 5
    members_shown: Positive = 10


class Place(NamedTuple):
    """Where an entity (row) is in the tree: its community (-1 for none), whether it is the centre or a keyword of it,
    and its attributes and triples, as rows of the layer `schema_graph`."""

    entity: int
    community: int
    centre: bool
    keyword: bool
    attributes: tuple[int, ...]
    triples: tuple[int, ...]


class TreeLayer(Layer):
    """Rows of entities (n) are those of the layer `schema_graph`.

    communities        list[TreeCommunity], each at its id, largest first
    community_of       int32 (n,), -1 for none
    named              dict, community id → Name(name, summary)
    failures           dict, community id → why it has no name
    community_ids      ids of the named communities, ascending; `community_vectors` float32 (len(community_ids), d), of
                       "name: summary"
    entity_matrix      float32 (n, d): the representations e_i (Eq. 4)
    merges             list[Merge]: the candidates of every cluster and round, and what became of them
    """

    kind = "tree"
    inputs = ("passages", "schema_graph")
    steps = (name_communities.STEP,)

    @classmethod
    def build(cls, folder: Path, build: Build, settings: Settings, old: TreeLayer | None) -> dict:
        graph: SchemaGraphLayer = build.layers["schema_graph"]
        matrix = _entity_matrix(folder, build, settings, graph)
        detected = detect(arrays(graph, matrix), settings)
        write_rows(folder / "communities.parquet", detected.communities, _COMMUNITIES)
        write_rows(folder / "merges.parquet", detected.merges, _MERGES)
        answers, asked_count = _names(folder, build, settings, graph, detected.communities, old)
        named, failures = _settled(answers, detected.communities, settings)
        _write_names(folder, named, failures)
        encode_to(folder / "names.npy", list(map(text_of, named.values())), build, "communities")
        return {
            "communities": len(detected.communities),
            "named": len(named),
            "singletons": sum(len(community.members) == 1 for community in detected.communities),
            "largest": max((len(community.members) for community in detected.communities), default=0),
            "overflow": detected.overflow,
            "candidates": dict(sorted(detected.considered.items())),
            "asked": asked_count,
            **counts(answers.values()),
            "encoder": build.encoder.name,
            "entities": len(graph.names),
        }

    def __init__(self, folder: Path):
        super().__init__(folder)
        # Read at once, because a later build takes the files away; made into lists when they are looked at.
        self.communities = [TreeCommunity(*row) for row in rows_of(read_columns(folder / "communities.parquet"))]
        self._merges = read_columns(folder / "merges.parquet")
        rows = rows_of(read_columns(folder / "names.parquet"))
        self.named = {
            id: Name.model_construct(name=name, summary=text) for id, name, text, _ in rows if name is not None
        }
        self.failures: dict[int, str] = {id: failure for id, _, _, failure in rows if failure is not None}
        self.community_ids = list(self.named)
        self.community_vectors = map_vectors(folder / "names.npy")
        self.entity_matrix = map_vectors(folder / "entities.npy")
        self.entity_texts: list[str] = read_table(folder / "entities.parquet", strings=("text",))["text"]
        if len(self.community_vectors) != len(self.named) or len(self.entity_matrix) != self.metadata["entities"]:
            raise ValueError("there are not as many vectors as names and entities")

    def encoded(self) -> Iterator[tuple[list[str], np.ndarray]]:
        yield self.community_texts, self.community_vectors
        yield self.entity_texts, self.entity_matrix

    @cached_property
    def community_of(self) -> np.ndarray:
        return Communities(self.communities, [], {}, 0).of_entities(self.metadata["entities"])

    @cached_property
    def merges(self) -> list[Merge]:
        return [Merge(*row) for row in rows_of(self._merges)]

    @property
    def community_texts(self) -> list[str]:
        return [text_of(named) for named in self.named.values()]

    def label(self, community: int) -> str:
        """The name of a community, or else its number."""
        return self.named[community].name if community in self.named else f"Community {community}"

    def place_of(self, entity: int, graph: SchemaGraphLayer) -> Place:
        """Where an entity is in the tree."""
        community = int(self.community_of[entity])
        own = self.communities[community] if community >= 0 else None
        return Place(
            entity,
            community,
            own is not None and own.centre == entity,
            own is not None and entity in own.keywords,
            tuple(graph.attributes_of(entity)),
            tuple(graph.incident(entity).tolist()),
        )

    def of_passage(self, passage: int, graph: SchemaGraphLayer) -> list[Place]:
        """Where the entities are that a passage (row) states, by row: the way back from a text to the tree."""
        entities = graph.stated[:, [passage]].tocoo().coords[0]
        return [self.place_of(entity, graph) for entity in sorted(entities.tolist())]

    def __repr__(self) -> str:
        return f"TreeLayer({len(self.communities):,} communities, {len(self.named):,} named)"


def text_of(named: Name) -> str:
    """What is encoded for a community."""
    return f"{named.name}: {named.summary}"


# -- what is perceived of the graph ----------------------------------------------------------------------------------


def arrays(graph: SchemaGraphLayer, matrix: np.ndarray) -> GraphArrays:
    """What `dual_perception.detect` takes. `matrix` represents the entities (`TreeLayer.entity_matrix`)."""
    n, owners = len(graph.names), _owners(graph)
    apart = graph.sources != graph.targets
    joined = counted(graph.sources[apart], graph.targets[apart], (n, n), np.int64)
    joined.data[:] = 1
    ends = np.r_[graph.sources, graph.targets, owners]
    return GraphArrays(matrix, relation_counts(graph)[0], joined, np.bincount(ends, minlength=n))


def relation_counts(graph: SchemaGraphLayer) -> tuple[sp.csr_array, list[str]]:
    """Incident triples of each entity by relation, csr int (n, labels), and the labels, sorted. A triple counts once
    for each of its ends; an attribute is a triple of the relation `has_attribute`."""
    owners = _owners(graph)
    labels = sorted({*graph.labels, *([HAS_ATTRIBUTE] if len(owners) else [])})
    column = {label: at for at, label in enumerate(labels)}
    of_triple = np.array([column[label] for label in graph.labels], dtype=np.int64)
    apart = graph.sources != graph.targets
    rows = np.r_[graph.sources, graph.targets[apart], owners]
    columns = np.r_[of_triple, of_triple[apart], np.full(len(owners), column.get(HAS_ATTRIBUTE, 0))]
    return counted(rows, columns, (len(graph.names), len(labels)), np.int64), labels


def _owners(graph: SchemaGraphLayer) -> np.ndarray:
    """The entity of each attribute."""
    return np.fromiter((attribute.entity for attribute in graph.attributes), dtype=np.int64)


def _entity_matrix(folder: Path, build: Build, settings: Settings, graph: SchemaGraphLayer) -> np.ndarray:
    """e_i of all entities, also on disk: means of the vectors of triples, in `released` vectors of joined triples."""
    texts = _joined_triples(graph) if settings.profile == "released" else []
    write_table(folder / "entities.parquet", text=pa.array(texts, pa.string()))
    path = folder / "entities.npy"
    if settings.profile == "released":
        encode_to(path, texts, build, "entities")
        return np.load(path, mmap_mode="r")
    matrix = triple_means(graph)
    np.save(path, matrix)
    return matrix


def entity_means(alone: np.ndarray, *triples: tuple[sp.csr_array, np.ndarray]) -> np.ndarray:
    """e_i (Eq. 4): the mean of the vectors of an entity's triples, float32 (n, d).

    `alone` (n, d) are the vectors of entities without triples. `triples`: (incidence (n, m), vectors (m, d)) of each
    kind of triple."""
    total = np.zeros(alone.shape, dtype=np.float32)
    counts = np.zeros(len(alone), dtype=np.float32)
    for incidence, vectors in triples:
        total += incidence @ np.asarray(vectors)
        counts += np.diff(incidence.indptr)
    bare = counts == 0
    total[~bare] /= counts[~bare, None]
    total[bare] = alone[bare]
    return total


def triple_means(graph: SchemaGraphLayer) -> np.ndarray:
    """e_i (Eq. 4) over relations and attributes, float32 (n, d)."""
    owners = _owners(graph)
    held = counted(owners, np.arange(len(owners)), (len(graph.names), len(owners)))
    attributes, relations = (held, graph.attribute_vectors), (graph.incidence, graph.relation_vectors)
    return entity_means(graph.entity_vectors, relations, attributes)


def _joined_triples(graph: SchemaGraphLayer) -> list[str]:
    """The released representation of each entity: its outgoing triples as one text, the first of those that join one
    pair, sorted; its name where there are none."""
    sentences: list[dict[object, str]] = [{} for _ in graph.names]
    for source, target, label in zip(graph.sources.tolist(), graph.targets.tolist(), graph.labels):
        sentences[source].setdefault(target, f"{graph.names[source]} {label} {graph.names[target]}")
    for attribute in graph.attributes:
        name = graph.names[attribute.entity]
        sentences[attribute.entity].setdefault(attribute.text, f"{name} {HAS_ATTRIBUTE} {attribute.text}")
    return [" ".join(sorted(set(texts.values()))) or name for name, texts in zip(graph.names, sentences)]


# -- names ------------------------------------------------------------------------------------------------------------


def _names(
    folder: Path,
    build: Build,
    settings: Settings,
    graph: SchemaGraphLayer,
    communities: Sequence[TreeCommunity],
    old: TreeLayer | None,
) -> tuple[dict[int, Answer], int]:
    """The answer for each community of two members or more, by its id, and how many were requested."""
    engine = build.writer
    inputs = {value.id: value for value in _inputs(graph, communities, settings)}
    keys = {id: request_key(value.centre, value.members, value.size) for id, value in inputs.items()}
    step, progress = name_communities.STEP, build.progress
    journal = StepJournal(folder, "names.jsonl", engine, step, old, progress, reusable=reusable_of_models)
    request = _requested(engine, settings.naming_batch)
    answers = journal.run({keys[id]: value for id, value in inputs.items()}, request, "name communities")
    journal.settle()
    return {id: answers[key] for id, key in keys.items()}, journal.requested


def _requested(engine: Engine, batch: int) -> Callable[[list[Community]], list[Result]]:
    """A Result per community, of requests with `batch` of them."""

    def request(communities: list[Community]) -> list[Result]:
        batches = (communities[at : at + batch] for at in range(0, len(communities), batch))
        inputs = [name_communities.Input(tuple(some)) for some in batches]
        results = engine.run(name_communities.STEP, inputs)
        return [part for value, result in zip(inputs, results) for part in _parts(value, result)]

    return request


def _parts(value: name_communities.Input, result: Result) -> Iterator[Result]:
    """What a reply states about each community of its request."""
    if result.value is None:
        yield from (Result(None, result.failure) for _ in value.communities)
        return
    for named in name_communities.matched(value, result.value):
        missing = "the reply has no entry for this community, or none with a name and a summary"
        name = named and Name(name=named.name, summary=named.summary)
        yield Result(name, None if name else missing, result.parse if name else None)


def _inputs(graph: SchemaGraphLayer, communities: Sequence[TreeCommunity], settings: Settings) -> Iterator[Community]:
    """What is shown of the communities of two members or more. The released code shows the first members, the profile
    `paper` the most representative ones first."""
    held, labels = relation_counts(graph)
    facts = _facts(graph, communities)
    for community in communities:
        if len(community.members) < 2:
            continue
        first = () if settings.profile == "released" else community.keywords
        members = tuple(dict.fromkeys((*first, *community.members)))[: settings.members_shown]
        yield Community(
            community.id,
            graph.names[community.centre],
            tuple(graph.names[member] for member in members),
            len(community.members),
            _shared_type(graph, community),
            _shared_relation(held, labels, community),
            tuple((graph.names[graph.sources[row]], graph.labels[row], graph.names[graph.targets[row]])
                  for row in facts[community.id]),
        )  # fmt: skip


def _facts(graph: SchemaGraphLayer, communities: Sequence[TreeCommunity]) -> dict[int, list[int]]:
    """A few triples inside each community, those of its centre first; where there are none, some of the centre's."""
    community_of = Communities(list(communities), [], {}, 0).of_entities(len(graph.names))
    ends = community_of[graph.sources], community_of[graph.targets]
    inside: dict[int, list[int]] = {community.id: [] for community in communities}
    for row in np.flatnonzero((ends[0] == ends[1]) & (ends[0] >= 0)).tolist():
        inside[int(ends[0][row])].append(row)
    rows_of = {}
    for community in communities:
        own = set(graph.incident(community.centre).tolist())
        rows = sorted(inside[community.id], key=lambda row: (row not in own, row)) or sorted(own)
        rows_of[community.id] = rows[:FACTS]
    return rows_of


def _shared_type(graph: SchemaGraphLayer, community: TreeCommunity) -> str:
    """The type of at least half of the members, if there is one."""
    types = Counter(graph.types[member] for member in community.members)
    kind, number = min(types.items(), key=lambda item: (-item[1], item[0]))
    return kind if 2 * number >= len(community.members) and kind != UNKNOWN else ""


def _shared_relation(held: sp.csr_array, labels: Sequence[str], community: TreeCommunity) -> str:
    """The relation that at least half of the members have, but for that of attributes; in doubt the first by name."""
    members = held[list(community.members)]
    having = np.bincount(members.indices, minlength=len(labels))
    having[[at for at, label in enumerate(labels) if label == HAS_ATTRIBUTE]] = 0
    return labels[int(having.argmax())] if having.any() and 2 * having.max() >= len(community.members) else ""


def _settled(
    answers: Mapping[int, Answer], communities: Sequence[TreeCommunity], settings: Settings
) -> tuple[dict[int, Name], dict[int, str]]:
    """Names and failures by community. The released code calls a community whose name failed by its number."""
    failures = {id: answer.failure for id, answer in answers.items() if answer.output is None}
    named = {id: Name(**answer.output) for id, answer in answers.items() if answer.output}
    if settings.profile == "released":
        for id in failures:
            size = len(communities[id].members)
            named[id] = Name.model_construct(name=f"Community_{id}", summary=f"Community of {size} members")
    return dict(sorted(named.items())), failures


# -- files ------------------------------------------------------------------------------------------------------------


_NUMBER, _NUMBERS, _REAL = pa.int32(), pa.list_(pa.int32()), pa.float64()
_COMMUNITIES = pa.schema({
    "id": _NUMBER, "members": _NUMBERS, "centre": _NUMBER, "keywords": _NUMBERS, "cohesion": _REAL,
})  # fmt: skip
_MERGES = pa.schema({
    "cluster": _NUMBER, "round": _NUMBER, "left": _NUMBERS, "right": _NUMBERS, "overlap": _REAL, "cosine": _REAL,
    "difference": _REAL, "size": _NUMBER, "merged": pa.bool_(), "reason": pa.string(),
})  # fmt: skip
_NAMES = pa.schema({"id": _NUMBER} | dict.fromkeys(("name", "summary", "failure"), pa.string()))


def _write_names(folder: Path, named: Mapping[int, Name], failures: Mapping[int, str]) -> None:
    texts = {id: (name.name, name.summary) for id, name in named.items()}
    rows = ((id, *texts.get(id, (None, None)), failures.get(id)) for id in sorted({*named, *failures}))
    write_rows(folder / "names.parquet", rows, _NAMES)
