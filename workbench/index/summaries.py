"""Layer `summaries`: a tree over the passages (RAPTOR, arXiv 2401.18059). Close passages are clustered, each cluster
gets a summary by the Step `summarise`, the summaries are clustered in turn, and so on, `levels` times at most.

A passage may belong to several clusters, so the tree is rather a stack of layers in which a node can have several
parents. A cluster whose summary failed has no node: it is counted, and its children are left without this parent.

Summaries cost money: those that stand are reused by the texts of their cluster (`journal.py`). Without an engine the
rules write what is missing; `made_by` names everyone who wrote.

Clusters follow the authors' code (parthsarthi03/raptor, commit 2e3e83e): dimensions are reduced over all vectors, a
Gaussian mixture with the number of components that the BIC likes best parts them, and each part of more than
`dimension` + 1 is reduced and parted once more. Different from the code: everything is seeded; members are row numbers
instead of equal vectors; who belongs to no component by more than `threshold` belongs to the likeliest; two clusters of
the same members are one; the mixture that was found best is not fitted a second time with another seed.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache, cached_property, partial
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from pydantic import Field
from threadpoolctl import threadpool_limits

from workbench import tokens
from workbench.display import tqdm
from workbench.errors import IndexFault, require_extra
from workbench.index.journal import Journal, counts, defect, maker, read, write_lines
from workbench.index.layer import Build, Layer
from workbench.index.passages import PassagesLayer
from workbench.index.store import map_vectors
from workbench.index.vectors import encode_to
from workbench.settings import Positive, Probability, validated
from workbench.spread import spread
from workbench.steps import summarising
from workbench.text import text_hash

NEIGHBOURS = 10  # of UMAP within a part
COARSE_FROM = 2000  # vectors; for more, only some numbers of components are tried
_WITHOUT_UMAP = (
    "without UMAP, unlike RAPTOR: workbench index … --layers summaries --set summaries.reduction=pca, "
    "in Python settings={'summaries': {'reduction': 'pca'}}"
)


@validated
class Clustering:
    """`reduction` to `dimension` dimensions, by UMAP or, as a quick stand-in, by principal components; at most
    `components` of a mixture are tried; a vector belongs to those with more than `threshold` of its probability."""

    reduction: Literal["umap", "pca"] = "umap"
    dimension: Positive = 10
    threshold: Probability = 0.1
    components: Positive = 49
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 224

    def enough(self, n: int) -> bool:
        """Whether n vectors are enough to be clustered."""
        return n > self.dimension + 1


def soft_clusters(vectors: np.ndarray, how: Clustering, *, label: str = "", progress: bool = False) -> list[np.ndarray]:
    """Rows of each cluster, ascending; the clusters sorted by their rows. Every row is in one at least.

    `vectors`: float32, shape (n, d), unit rows, as many as are `enough`.
    """
    parts = _parted(vectors, int((len(vectors) - 1) ** 0.5), how)
    pieces = spread(parts, partial(_within, vectors=vectors, how=how))
    clusters_found: set[tuple[int, ...]] = set()
    for clusters in tqdm(pieces, f"cluster {label}", len(parts), unit="part", disable=not progress):
        clusters_found.update(tuple(rows.tolist()) for rows in clusters)
    return [np.array(cluster) for cluster in sorted(clusters_found)]


def _within(part: np.ndarray, vectors: np.ndarray, how: Clustering) -> list[np.ndarray]:
    """Rows of the clusters within one part."""
    return [part[rows] for rows in _parted(vectors[part], NEIGHBOURS, how)] if how.enough(len(part)) else [part]


@threadpool_limits.wrap(limits=1)  # sums of several threads come in any order, and the last bits decide clusters
def _parted(vectors: np.ndarray, neighbours: int, how: Clustering) -> list[np.ndarray]:
    """Rows of each component of a mixture over the reduced vectors."""
    return _memberships(_reduced(np.asarray(vectors), neighbours, how), how)


def sizes(n: int, most: int) -> list[int]:
    """The numbers of components to try for n vectors: all, or for many vectors, each half larger than the one before.

    >>> sizes(5, 49), sizes(3000, 20)
    ([1, 2, 3, 4], [1, 2, 3, 5, 8, 12, 18, 20])
    """
    most = max(1, min(n - 1, most))
    if n <= COARSE_FROM:
        return list(range(1, most + 1))
    tried = [1]
    while tried[-1] < most:
        tried.append(min(most, int(tried[-1] * 1.5 + 0.5)))
    return tried


def _reduced(vectors: np.ndarray, neighbours: int, how: Clustering) -> np.ndarray:
    """float64, shape (n, at most `how.dimension`)."""
    if how.reduction == "umap":
        UMAP = _umap()
        neighbours = min(max(2, neighbours), len(vectors) - 1)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="umap")  # that a seed means one thread, which is asked for
            reduce = UMAP(neighbours, how.dimension, metric="cosine", random_state=how.seed, n_jobs=1)
            return reduce.fit_transform(vectors).astype(np.float64)
    from sklearn.decomposition import PCA

    with np.errstate(invalid="ignore"):  # of equal vectors, whose variance has no shares
        dimension = min(how.dimension, vectors.shape[1])
        return PCA(dimension, svd_solver="full").fit_transform(vectors.astype(np.float64))


@cache
def _umap() -> type:
    """UMAP, whose functions numba compiles once for a machine, and not in every process for ten seconds."""
    require_extra("raptor", IndexFault, _WITHOUT_UMAP)
    from numba.core.dispatcher import Dispatcher
    from umap import UMAP  # takes seconds to import

    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] in ("umap", "pynndescent")]
    for function in (value for module in modules for value in vars(module).values()):
        if isinstance(function, Dispatcher) and not function.signatures:
            with suppress(RuntimeError):  # there is no folder where numba may write
                function.enable_caching()
    return UMAP


def _memberships(points: np.ndarray, how: Clustering) -> list[np.ndarray]:
    """Rows of each component of the mixture with the least BIC."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    best, least = None, np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of more components than there are different points
        for size in sizes(len(points), how.components):
            mixture = GaussianMixture(size, random_state=how.seed).fit(points)
            if (bic := mixture.bic(points)) < least:
                best, least = mixture, bic
    shares = best.predict_proba(points)
    belongs = shares > how.threshold
    belongs[np.arange(len(points)), shares.argmax(axis=1)] = True
    return [np.flatnonzero(column) for column in belongs.T if column.any()]


@validated
class Settings(Clustering):
    """Defaults of the released code. Texts of a cluster with more than `cluster_tokens` are clustered again, at most
    `recursions` times, or, if there are few of them, dealt out as they fit, where the released code would recurse for
    ever. Lengths are in cl100k tokens. Each level is made of the one below, as long as that has more than `dimension` +
    1 nodes."""

    levels: Positive = 5
    cluster_tokens: Positive = 3500
    summary_tokens: Positive = 100
    recursions: Positive = 20


class Summary(NamedTuple):
    """A `text`, or why there is none. `input` is the hash of what it was written from, `flaw` is `cut` where it reached
    the limit of tokens."""

    input: str
    text: str
    made_by: str
    failure: str | None
    flaw: str | None

    key = property(attrgetter("input"))
    defects = property(lambda self: (self.flaw,) if self.flaw else ())

    def row(self) -> dict[str, Any]:
        return self._asdict()

    @classmethod
    def of_row(cls, row: dict[str, Any]) -> Summary:
        return cls(*(row[name] for name in cls._fields))


class Cluster(NamedTuple):
    """`children` are passages by row or, from the number of passages on, summaries by the order of their nodes."""

    level: int
    children: tuple[int, ...]
    summary: Summary

    def row(self) -> dict[str, Any]:
        return {"level": self.level, "children": self.children, **self.summary.row()}

    @classmethod
    def of_row(cls, row: dict[str, Any]) -> Cluster:
        return cls(row["level"], tuple(row["children"]), Summary.of_row(row))


class Node(NamedTuple):
    """A summary in the tree; `level` counts the layers between it and the passages, from 1 on."""

    id: str
    level: int
    text: str
    children: tuple[int, ...]


class SummariesLayer(Layer):
    """clusters  list[Cluster], level by level, with those whose summary failed
    nodes     list[Node], level by level
    vectors   float32 (len(nodes), d), unit rows, of their texts
    """

    kind = "summaries"
    inputs = ("passages",)
    steps = (summarising.TEXTS,)

    @classmethod
    def build(cls, folder: Path, build: Build, settings: Settings, old: SummariesLayer | None) -> dict:
        passages: PassagesLayer = build.layers["passages"]
        # Summaries of the previous layer are valid under any settings.
        writer = _Writer(build, settings, [cluster.summary for cluster in old.clusters] if old else [])

        titled = (
            f"{passage.title}: {passage.text}" if passage.title else passage.text for passage in passages.passages
        )
        texts, vectors = [" ".join(text.split()) for text in titled], passages.vectors
        numbers, clusters, matrices, coarse = np.arange(len(texts)), [], [], []
        for level in range(1, settings.levels + 1):
            if not settings.enough(len(texts)):
                break
            coarse += [level] if len(texts) > COARSE_FROM else []
            members = _clusters(vectors, texts, settings, f"level {level}", build.progress)
            summaries = writer.summaries([tuple(texts[row] for row in rows) for rows in members], f"level {level}")
            clusters += [Cluster(level, tuple(numbers[rows].tolist()), s) for rows, s in zip(members, summaries)]
            texts = [summary.text for summary in summaries if not summary.failure]
            numbers = numbers[-1] + 1 + np.arange(len(texts))
            path = folder / f"vectors-{level}.npy"
            encode_to(path, texts, build, f"level {level}")
            vectors = map_vectors(path)
            matrices.append(vectors)

        text = write_lines(folder / "clusters.jsonl", (cluster.row() for cluster in clusters))
        np.save(folder / "vectors.npy", np.concatenate([np.zeros((0, build.encoder.dimension), "f4"), *matrices]))
        for path in folder.glob("vectors-*"):
            path.unlink()
        made = counts(cluster.summary for cluster in clusters)
        return {
            "content": text_hash(text),
            "encoder": build.encoder.name,
            "passages": len(passages.passages),
            "asked": writer.journal.requested,
            **{name: made[name] for name in ("made_by", "failures", "cut")},
            "levels": np.bincount([c.level for c in clusters if not c.summary.failure], minlength=1).tolist()[1:],
            "coarse": coarse,  # levels for which not every number of components was tried
        }

    def __init__(self, folder: Path):
        super().__init__(folder)
        if text_hash((folder / "clusters.jsonl").read_text(encoding="ascii")) != self.metadata["content"]:
            raise ValueError("clusters.jsonl does not hold what was written")  # each line that is left would look right
        self.clusters = read(folder / "clusters.jsonl", Cluster.of_row)
        self.nodes = list(_nodes(self.clusters))
        self.vectors = map_vectors(folder / "vectors.npy")
        if len(self.vectors) != len(self.nodes):
            raise ValueError(f"{len(self.vectors)} vectors for {len(self.nodes)} summaries")

    def encoded(self) -> Iterator[tuple[list[str], np.ndarray]]:
        yield [node.text for node in self.nodes], self.vectors

    @cached_property
    def leaves(self) -> sp.csr_array:
        """Which passages (columns) are below which node (rows): bool, shape (len(nodes), passages)."""
        passages, below = self.metadata["passages"], []
        for node in self.nodes:  # children come before their parents
            parts = [[child] if child < passages else below[child - passages] for child in node.children]
            below.append(np.unique(np.concatenate(parts)))
        columns = np.concatenate([np.zeros(0, np.int64), *below])
        ends = np.cumsum([0, *map(len, below)])
        return sp.csr_array((np.ones(len(columns), bool), columns, ends), shape=(len(below), passages))

    def __repr__(self) -> str:
        return f"SummariesLayer({len(self.nodes):,} summaries on {len(self.metadata['levels'])} levels)"


# -- clusters ---------------------------------------------------------------------------------------------------------


def _clusters(
    vectors: np.ndarray, texts: Sequence[str], settings: Settings, label: str, progress: bool
) -> list[np.ndarray]:
    """Rows of each cluster, ascending, no two the same, none of several texts that are too long together."""
    lengths = np.array([tokens.count(text) for text in texts])
    fitting, long = [], []
    for rows in soft_clusters(vectors, settings, label=label, progress=progress):
        (fitting if _fits(lengths[rows], settings) else long).append(rows)
    measured = ((rows, lengths[rows]) for rows in long)
    pieces = spread(measured, partial(_fitting, vectors=vectors, settings=settings))
    for parts in tqdm(pieces, f"fit {label}", len(long), unit="cluster", disable=not (progress and long)):
        fitting += parts
    return [np.array(rows) for rows in sorted({tuple(rows.tolist()) for rows in fitting})]


def _fits(lengths: np.ndarray, settings: Settings) -> bool:
    """Whether the texts of a cluster are short enough together; a single text always is."""
    return len(lengths) == 1 or lengths.sum() <= settings.cluster_tokens


def _fitting(
    cluster: tuple[np.ndarray, np.ndarray], vectors: np.ndarray, settings: Settings, depth: int = 0
) -> list[np.ndarray]:
    """The rows of a cluster, given with the lengths of their texts, or parts of them that fit."""
    rows, lengths = cluster
    if _fits(lengths, settings):
        return [rows]
    if settings.enough(len(rows)) and depth < settings.recursions:
        parts = soft_clusters(vectors[rows], settings)
        if all(len(part) < len(rows) for part in parts):
            given = ((rows[part], lengths[part]) for part in parts)
            return [fits for part in given for fits in _fitting(part, vectors, settings, depth + 1)]
    dealt, start, total = [], 0, 0
    for end, length in enumerate(lengths.tolist()):
        if end > start and total + length > settings.cluster_tokens:
            dealt.append(rows[start:end])
            start, total = end, 0
        total += length
    return [*dealt, rows[start:]]


# -- summaries --------------------------------------------------------------------------------------------------------


class _Writer:
    """The summaries of clusters: the present ones, and those that the engine writes."""

    def __init__(self, build: Build, settings: Settings, old: Sequence[Summary]):
        self.engine, self.limit = build.writer, settings.summary_tokens
        self.step = replace(summarising.TEXTS, max_tokens=self.limit)
        self.journal = Journal(maker(self.engine, self.step), old, progress=build.progress)

    def summaries(self, clusters: Sequence[tuple[str, ...]], label: str) -> list[Summary]:
        inputs = [summarising.Texts(texts, self.limit) for texts in clusters]
        keys = [text_hash(json.dumps(asdict(value))) for value in inputs]
        answers = self.journal.ask(dict(zip(keys, inputs)), self._write, f"summarise {label}", unit="cluster")
        return [answers[key] for key in keys]

    def _write(self, group: dict[str, summarising.Texts]) -> Iterator[Summary]:
        for key, result in zip(group, self.engine.run(self.step, list(group.values()))):
            text = result.value.summary if result.value else ""
            failure = result.failure or (None if text.strip() else "the summary is empty")
            yield Summary(key, text, self.journal.made_by, failure, "cut" if defect(result) == "cut" else None)


def _nodes(clusters: Sequence[Cluster]) -> Iterator[Node]:
    """Their ids count the nodes of each level."""
    counts: dict[int, int] = {}
    for level, children, summary in clusters:
        if not summary.failure:
            counts[level] = counts.get(level, 0) + 1
            yield Node(f"summary-{level}-{counts[level]}", level, summary.text, children)
