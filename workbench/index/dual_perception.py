"""Communities by dual perception: by relations and by embeddings (Youtu-GraphRAG, arXiv 2508.19855, Section 4.2).

K-means parts the entities into clusters and each cluster into parts; parts of one cluster are merged where they agree.
Profile `paper` follows Eqs. 4–7 as they are printed, `workbench` reads Eq. 6 as the Jaccard similarity that the text
calls it, and `released` follows the authors' code (TencentCloudADP/youtu-graphrag, commit d982b5a). Where the paper is
silent, the values are choices of this project (`docs/youtu.md`). Everything here is a function of arrays, and
comparisons of all with all stay inside one cluster.

The result depends on what the entities are, not on their order: they are put in an order of their content first
(`content_order.py`). Nor does it hang on the last bits of vectors: what differs by no more than `SAME` counts as equal.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from pydantic import Field
from threadpoolctl import threadpool_limits

from workbench.errors import SettingError
from workbench.index.content_order import SAME, content_order, levels, settled
from workbench.settings import Cosine, Natural, NonNegative, Number, Positive, settle, validated
from workbench.threads import cores

SMALL = 3  # members up to which a cluster is not parted
FEW = 5  # members up to which the released code ranks none
INITIALISATIONS = 5  # of k-means, of which the best counts
REFUSED = 10  # refused pairs of parts that are listed per cluster and round

BEGINS = ("profile", "perception", "beta", "max_clusters", "starts", "seed")  # settings on which k-means depends

Reason = Literal["merged", "difference", "dissimilar", "size", "taken"]


@validated
class Perception:
    """`perception`: both perceptions, or one alone; `struct_weight`: the weight w of relations; embeddings have 1 - w.

    K-means makes one cluster of each `beta` vectors, `max_clusters` at most. Two parts merge when their mean scores
    differ by less than `epsilon` (Eq. 7; not in `released`), their centres are similar by `merge_threshold` or more,
    and they have `size_cap` members or fewer together; `max_iter` rounds at most. Of more than `max_communities`, the
    members of the smallest are dealt to the nearest of the others, and in `released` left out. A community has
    `keywords` keywords, its centre first; with 1 it is the centre alone, as in the paper.

    Not in `released`: `norm` p of Eq. 6, which compares counts of relations by the p-norm of their minima over that of
    their maxima, 2 as it is printed or 1 as in a Jaccard similarity; `pooled`, the relations of a community, the `sum`
    of its members' or their `mean`. `starts` of k-means, of which there are five: `drawn`, each with a seed of its own
    and side by side, or `sklearn`, those of one call with `n_init=5, random_state=seed`, as it is printed."""

    profile: Literal["workbench", "paper", "released"] = "workbench"
    perception: Literal["dual", "relations", "embeddings"] = "dual"
    struct_weight: Annotated[Number, Field(gt=0, le=1, title="share")] = 0.3
    beta: Positive = 10
    max_clusters: Positive = 200
    epsilon: NonNegative = 0.05
    merge_threshold: Cosine = 0.5
    max_iter: Natural = 10
    size_cap: Positive = 100
    max_communities: Positive = 200
    keywords: Positive = 5
    pooled: Literal["sum", "mean"] = "sum"
    norm: Literal[1, 2] = 1
    starts: Literal["drawn", "sklearn"] = "drawn"
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 42

    profiles: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "workbench": {},
        "paper": {"norm": 2, "starts": "sklearn"},
        "released": {"max_iter": 1, "max_communities": 100, "starts": "sklearn"},
    }

    @classmethod
    def of(cls, **given: Any) -> Perception:
        """Settings on top of those of their profile."""
        return settle("the perception", cls, given, cls.profiles)

    @property
    def weights(self) -> tuple[float, float]:
        """(w, 1 - w) of relations and embeddings; of one perception alone, 1 and 0."""
        alone = {"relations": (1.0, 0.0), "embeddings": (0.0, 1.0)}
        return alone.get(self.perception, (float(self.struct_weight), 1.0 - self.struct_weight))

    @property
    def phi_weights(self) -> tuple[float, float]:
        """Weights of S_r and S_s in a member's score: 1 and λ = (1 - w) / w (Eq. 5), in `released` w and 1 - w."""
        if self.profile == "released":
            return self.weights
        relations, embeddings = self.weights
        return float(relations > 0), (1.0 - self.struct_weight) / self.struct_weight * (embeddings > 0)


class GraphArrays(NamedTuple):
    """What of a graph of n entities is perceived.

    vectors     float32 (n, d): the entities' representations (Eq. 4: `tree.entity_means`)
    relations   csr int (n, labels): incident triples of each relation type
    neighbours  csr (n, n): 1 where a triple leads from the row to the column
    degrees     int (n,): edges in and out (`released`)
    """

    vectors: np.ndarray
    relations: sp.csr_array
    neighbours: sp.csr_array
    degrees: np.ndarray


class TreeCommunity(NamedTuple):
    """`members` are entity rows, ascending; `centre` and `keywords` are among them; `cohesion` is the mean score of the
    members."""

    id: int
    members: tuple[int, ...]
    centre: int
    keywords: tuple[int, ...]
    cohesion: float


class Merge(NamedTuple):
    """Two parts of a cluster that were candidates for a merger, and the outcome.

    `overlap` and `cosine` compare their centres; `difference` is that of their mean scores; `size` is their joint size.
    `reason`: `merged`; or what was against it: the `difference`, centres that are `dissimilar`, the `size`, or that one
    of them had been `taken` by a closer one in the same round."""

    cluster: int
    round: int
    left: tuple[int, ...]
    right: tuple[int, ...]
    overlap: float
    cosine: float
    difference: float
    size: int
    merged: bool
    reason: Reason


class Communities(NamedTuple):
    """`communities` are at their ids, largest first. `merges` holds every merger, and of each cluster and round the
    `REFUSED` closest that were refused; `considered` counts all candidates by reason. `overflow`: entities of
    communities beyond the most that are kept."""

    communities: list[TreeCommunity]
    merges: list[Merge]
    considered: dict[str, int]
    overflow: int

    def of_entities(self, n: int) -> np.ndarray:
        """The community of each entity, int32 (n,), -1 for none."""
        community_of = np.full(n, -1, dtype=np.int32)
        for community in self.communities:
            community_of[list(community.members)] = community.id
        return community_of


class Start(NamedTuple):
    """What k-means gives, which no weight of the scores changes. `order`: entity rows by content; `clusters`: the parts
    of each cluster, as positions in that order, largest cluster first."""

    order: np.ndarray
    clusters: list[list[np.ndarray]]


def detect(graph: GraphArrays, settings: Perception, begun: Start | None = None) -> Communities:
    """The communities of a graph. `begun`: what `start` gave for the same graph, and settings that are the same in
    `BEGINS`."""
    _check(graph)
    with threadpool_limits(limits=1):  # sums of several threads come in any order
        order, clusters = begun or start(graph, settings)
        view = _View(graph, settings, order)
        detected = _released if settings.profile == "released" else _paper
        return detected(view, clusters)


def start(graph: GraphArrays, settings: Perception) -> Start:
    """K-means over all entities, and again over each cluster of more than `SMALL`."""
    from sklearn.exceptions import ConvergenceWarning

    _check(graph)
    order = content_order(graph)
    points = _points(graph, settings)[order]
    with warnings.catch_warnings(), _one_thread_each() as pool:
        warnings.simplefilter("ignore", ConvergenceWarning)  # of fewer different points than clusters
        clusters = _k_means(points, np.arange(len(order)), settings, pool.map)
        clusters.sort(key=lambda rows: (-len(rows), rows[0]))
        parted = pool.map(lambda rows: _k_means(points, rows, settings, map) if len(rows) > SMALL else [rows], clusters)
        return Start(order, list(parted))


@contextmanager
def _one_thread_each() -> Iterator[ThreadPoolExecutor]:
    """A pool with a worker for each core. A k-means runs on one thread, because sums of several come in any order."""
    import sklearn.cluster  # noqa: F401  (its threads must be there to be limited)

    with threadpool_limits(limits=1), ThreadPoolExecutor(cores(), initializer=threadpool_limits, initargs=(1,)) as pool:
        yield pool


def k_of(n: int, settings: Perception) -> int:
    """Clusters of n vectors: k = min(max(2, ⌊n / β⌋), η), and in `released` at most ⌊n / 2⌋.

    >>> [k_of(n, Perception()) for n in (7, 45, 5000)], k_of(3, Perception.of(profile="released"))
    ([2, 4, 200], 1)
    """
    most = n // 2 if settings.profile == "released" else n
    return max(1, min(max(2, n // settings.beta), most, settings.max_clusters))


def _check(graph: GraphArrays) -> None:
    n = len(graph.vectors)
    shapes = {name: getattr(graph, name).shape[0] for name in ("relations", "neighbours", "degrees")}
    if wrong := [f"{name} has {rows}" for name, rows in shapes.items() if rows != n]:
        raise SettingError(f"vectors has {n} rows and {wrong[0]}; each should have a row for each entity")
    if not np.isfinite(graph.vectors).all():
        raise SettingError("vectors contains NaN or infinite numbers; encode the entities again")


def _points(graph: GraphArrays, settings: Perception) -> np.ndarray | sp.csr_array:
    """What k-means runs on: the vectors as they are; of relations alone, unit rows of their counts."""
    if settings.perception != "relations":
        return settled(graph.vectors)
    points = _unit_rows(graph.relations.astype(np.float64))
    points.indices, points.indptr = points.indices.astype(np.int32), points.indptr.astype(np.int32)  # k-means wants it
    return points


def _unit_rows(counts: sp.csr_array) -> sp.csr_array:
    norms = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    return (sp.diags_array(1 / np.maximum(norms, 1e-12)) @ counts).tocsr()


def _k_means(
    points: np.ndarray | sp.csr_array, rows: np.ndarray, settings: Perception, each: Callable
) -> list[np.ndarray]:
    """Clusters of some rows, each ascending, in the order of their first rows; of several initialisations, which `each`
    maps where they are `drawn`, the one with the least inertia."""
    from sklearn.cluster import KMeans

    if len(rows) <= 2 or not points.shape[1] or (k := k_of(len(rows), settings)) == 1:
        return [rows] if len(rows) else []
    chosen = points[rows]
    if settings.starts == "sklearn":
        labels = KMeans(k, n_init=INITIALISATIONS, random_state=settings.seed).fit(chosen).labels_
    else:
        seeds = np.random.RandomState(settings.seed).randint(2**31 - 1, size=INITIALISATIONS).tolist()
        fits = each(lambda seed: KMeans(k, n_init=1, random_state=seed).fit(chosen), seeds)
        labels = min(fits, key=lambda fit: fit.inertia_).labels_
    clusters = (rows[labels == label] for label in range(k))
    return sorted((cluster for cluster in clusters if len(cluster)), key=lambda cluster: cluster[0])


def _unary(counts: sp.csr_array, norm: int = 1) -> sp.csr_array:
    """Counts spread out: a column for the first, the second, … of each type, so that the product of two rows is the sum
    of their minima, with norm 2 of these squared, of which the jth adds j² - (j - 1)² = 2j - 1."""
    counts = counts.tocsr()
    times = np.asarray(counts.data, dtype=np.int64)
    if not len(times):
        return sp.csr_array((counts.shape[0], 1), dtype=np.float32)
    most = np.zeros(counts.shape[1], dtype=np.int64)
    np.maximum.at(most, counts.indices, times)
    first = np.r_[0, np.cumsum(most)]
    number = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
    rows = np.repeat(np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr)), times)
    columns = np.repeat(first[counts.indices], times) + number
    values = np.ones(len(rows), np.float32) if norm == 1 else np.sqrt(2.0 * number + 1)
    return sp.coo_array((values, (rows, columns)), (counts.shape[0], first[-1])).tocsr()


def _overlap(unary: sp.csr_array, norm: int = 1) -> np.ndarray:
    """The p-norm of the minima over that of the maxima (Eq. 6), which is the Jaccard index for p = 1, of all pairs of
    rows."""
    shared = np.asarray((unary @ unary.T).todense(), dtype=np.float64)
    own = np.asarray(unary.multiply(unary).sum(axis=1), dtype=np.float64).ravel()
    either = own[:, None] + own[None, :] - shared  # minimum and maximum are the two counts again
    return np.divide(shared, either, out=np.zeros_like(shared), where=either > 0) ** (1 / norm)


# -- scores ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Part:
    """A group of entities with its centre and the mean score of its members. `rows` are positions in content order."""

    rows: np.ndarray
    centre: int
    mean: float


class _View:
    """A graph in the order of its content, and how its entities are scored."""

    def __init__(self, graph: GraphArrays, settings: Perception, order: np.ndarray):
        self.graph, self.settings, self.order = graph, settings, order
        vectors = settled(graph.vectors)[order]
        self.vectors = vectors
        self.units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        self.released = settings.profile == "released"
        self.degrees = np.asarray(graph.degrees, dtype=np.float64)[order]

    @cached_property
    def relations(self) -> sp.csr_array:
        return self.graph.relations[self.order].astype(np.float64).tocsr()

    @cached_property
    def unary_relations(self) -> sp.csr_array:
        return _unary(self.relations, self.settings.norm)

    @cached_property
    def neighbours(self) -> sp.csr_array:
        return self.graph.neighbours[self.order][:, self.order].tocsr()

    def scores(self, rows: np.ndarray) -> np.ndarray:
        """φ of each member of a community to it (Eqs. 5–6), float64."""
        relations, embeddings = self.settings.phi_weights
        structure = self._structure(rows) if relations else np.zeros(len(rows))
        centroid = self.vectors[rows].sum(axis=0)
        cosine = self.units[rows] @ (centroid / max(float(np.linalg.norm(centroid)), 1e-12))
        return relations * structure + embeddings * cosine

    def _structure(self, rows: np.ndarray) -> np.ndarray:
        """S_r of each member (Eq. 6). The released code divides its degree by the highest."""
        if self.released:
            degrees = self.degrees[rows]
            return degrees / max(degrees.max(), 1)
        counts = self.relations[rows]
        if self.settings.pooled == "mean":
            counts = counts[:, np.unique(counts.indices)].toarray()
            mean = counts.mean(axis=0)
            shared, either = self._norms(np.minimum(counts, mean)), self._norms(np.maximum(counts, mean))
        else:  # its relations are among those of its community: the minima are its own, the maxima the community's
            shared, either = self._norms(counts), self._norms(counts.sum(axis=0)[None, :])
        return np.divide(shared, either, out=np.zeros(len(rows)), where=either > 0)

    def _norms(self, counts: np.ndarray | sp.csr_array) -> np.ndarray:
        """Of each row, float64."""
        return np.asarray((counts**self.settings.norm).sum(axis=1)).ravel() ** (1 / self.settings.norm)

    def part(self, rows: np.ndarray) -> _Part:
        scores = self.scores(rows)
        return _Part(rows, int(rows[self.ranking(rows, scores)[0]]), float(scores.mean()))

    def ranking(self, rows: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Members from the most to the least representative. The released code ranks no community of `FEW` or less."""
        if self.released and len(rows) <= FEW:
            return np.arange(len(rows))
        return np.lexsort((rows, levels(scores)))

    def compared(self, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(overlap, cosine) of centres, each float (c, c): of their relations, in `released` of their neighbours among
        these centres."""
        if self.released:
            overlap = _overlap(self.neighbours[centres][:, centres].tocsr())
        else:
            overlap = _overlap(self.unary_relations[centres], norm=self.settings.norm)
        return overlap, self.units[centres] @ self.units[centres].T

    def community(self, id: int, rows: np.ndarray) -> TreeCommunity:
        scores = self.scores(rows)
        ranked = self.order[rows[self.ranking(rows, scores)]].tolist()
        keywords = tuple(ranked[: self.settings.keywords])
        return TreeCommunity(id, self.named(rows), ranked[0], keywords, float(scores.mean()))

    def named(self, rows: np.ndarray) -> tuple[int, ...]:
        """The entity rows of positions, ascending."""
        return tuple(np.sort(self.order[rows]).tolist())


# -- merging ---------------------------------------------------------------------------------------------------------


def _paper(view: _View, clusters: Sequence[Sequence[np.ndarray]]) -> Communities:
    groups, record = [], _Record()
    for number, parts in enumerate(clusters):
        groups += _merged(view, parts, number, record)
    groups.sort(key=_largest_first)
    most = view.settings.max_communities
    groups, rest = groups[:most], groups[most:]
    overflow = np.sort(np.concatenate(rest)) if rest else np.zeros(0, dtype=np.int64)
    return _communities(view, _attached(view, groups, overflow), record, len(overflow))


def _released(view: _View, clusters: Sequence[Sequence[np.ndarray]]) -> Communities:
    """Clusters, largest first, until there are enough communities; who is left then is in none."""
    groups, record, most = [], _Record(), view.settings.max_communities
    for number, parts in enumerate(clusters):
        if len(groups) >= most:
            break
        groups += _merged(view, parts, number, record)
    left_out = len(view.order) - sum(map(len, groups[:most]))
    return _communities(view, groups[:most], record, left_out)


def _communities(view: _View, groups: list[np.ndarray], record: _Record, overflow: int) -> Communities:
    groups = sorted(groups, key=_largest_first)
    return Communities(
        [view.community(*pair) for pair in enumerate(groups)], record.merges, dict(record.counts), overflow
    )


def _attached(view: _View, groups: list[np.ndarray], rest: np.ndarray) -> list[np.ndarray]:
    """The communities, where each entity of `rest` joins the one with the nearest centroid."""
    if not len(rest):
        return groups
    points = _points(view.graph, view.settings)[view.order]
    units = _unit_rows(points) if sp.issparse(points) else view.units
    member = sp.csr_array(
        (np.ones(sum(map(len, groups)), np.float32), np.concatenate(groups), np.r_[0, np.cumsum([*map(len, groups)])]),
        shape=(len(groups), len(view.order)),
    )
    centroids = member @ points
    dense = centroids.toarray() if sp.issparse(centroids) else centroids
    dense = dense / np.maximum(np.linalg.norm(dense, axis=1, keepdims=True), 1e-12)
    nearest = np.asarray(units[rest] @ dense.T).argmax(axis=1)
    return [np.sort(np.r_[rows, rest[nearest == at]]) for at, rows in enumerate(groups)]


class _Record:
    """The candidates of all clusters, kept for inspection."""

    def __init__(self):
        self.merges: list[Merge] = []
        self.counts: Counter[str] = Counter()

    def add(self, candidates: Iterable[Merge]) -> None:
        refused = 0
        for candidate in candidates:
            self.counts[candidate.reason] += 1
            refused += not candidate.merged
            if candidate.merged or refused <= REFUSED:
                self.merges.append(candidate)


def _merged(view: _View, parts: Sequence[np.ndarray], cluster: int, record: _Record) -> list[np.ndarray]:
    """The parts of a cluster after all rounds."""
    standing = [view.part(rows) for rows in parts]
    for round in range(1, view.settings.max_iter + 1):
        if len(standing) < 2:
            break
        joined = _round(view, standing, cluster, round, record)
        if len(joined) == len(standing):
            break
        standing = joined
    return [part.rows for part in standing]


def _round(view: _View, parts: list[_Part], cluster: int, round: int, record: _Record) -> list[_Part]:
    """The parts, with the closest pairs merged; each part merges once."""
    taken: dict[int, int] = {}
    candidates = []
    for left, right, candidate in _candidates(view, parts, cluster, round):
        if candidate.reason == "merged" and (left in taken or right in taken):
            candidate = candidate._replace(merged=False, reason="taken")
        if candidate.merged:
            taken |= {left: right, right: left}
        candidates.append(candidate)
    record.add(candidates)
    whole = [part for at, part in enumerate(parts) if at not in taken]
    pairs = [(at, other) for at, other in sorted(taken.items()) if at < other]
    return whole + [view.part(np.sort(np.r_[parts[left].rows, parts[other].rows])) for left, other in pairs]


def _candidates(view: _View, parts: list[_Part], cluster: int, round: int) -> Iterator[tuple[int, int, Merge]]:
    """Pairs of parts that at least one of the conditions brings together, closest first: by the difference of their
    mean scores, in `released` by the similarity of their centres."""
    settings = view.settings
    left, right = np.triu_indices(len(parts), 1)
    overlap, cosine = (matrix[left, right] for matrix in view.compared(np.array([part.centre for part in parts])))
    means, sizes = np.array([part.mean for part in parts]), np.array([len(part.rows) for part in parts])
    difference, size = np.abs(means[left] - means[right]), sizes[left] + sizes[right]
    relations, embeddings = settings.weights
    similarity = relations * overlap + embeddings * cosine
    similar = similarity >= settings.merge_threshold - SAME
    level = np.full(len(left), True) if view.released else difference < settings.epsilon
    reasons = np.select(
        [~similar, ~level, size > settings.size_cap], ["dissimilar", "difference", "size"], default="merged"
    )
    considered = np.flatnonzero(similar if view.released else similar | level)
    keys = (similarity,) if view.released else (similarity, -difference)
    for at in considered[np.lexsort((considered, *(levels(key[considered]) for key in keys)))].tolist():
        first, other = parts[left[at]], parts[right[at]]
        reason = str(reasons[at])
        yield int(left[at]), int(right[at]), Merge(
            cluster, round, view.named(first.rows), view.named(other.rows), float(overlap[at]), float(cosine[at]),
            float(difference[at]), int(size[at]), reason == "merged", reason,
        )  # fmt: skip


def _largest_first(rows: np.ndarray) -> tuple[int, int]:
    return -len(rows), int(rows[0])
