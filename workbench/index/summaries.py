"""Layer `summaries`: a tree over the passages (RAPTOR, spec 1). Close passages are clustered, each cluster gets a
summary by the Step `summarise`, the summaries are clustered in turn, and so on, `levels` times at most.

A passage may belong to several clusters, so the tree is rather a stack of layers in which a node can have several
parents. A cluster whose summary failed has no node: it is counted, and its children are left without this parent.

Summaries cost the money. Every finished group of them is on disk before the next is asked for, and one of the same
texts is taken over from the layer that stood before, if the engine at hand wrote it; without an engine, or with the
engine `rules`, whoever wrote it. Without an engine the rules write what is missing; `made_by` names all who wrote.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from tqdm.auto import tqdm

from workbench import tokens
from workbench.index.clustering import COARSE_FROM, Clustering, soft_clusters
from workbench.index.layer import Build, Layer
from workbench.index.passages import PassagesLayer
from workbench.index.store import cut_torn_line, key_of, map_vectors
from workbench.index.vectors import Known, encode_to
from workbench.llm.engine import Engine, RulesEngine
from workbench.llm.step import Result
from workbench.records import Passage
from workbench.settings import Positive, validated
from workbench.steps import summarise
from workbench.text import text_hash

GROUP = 64  # summaries asked for together


@validated
class Settings(Clustering):
    """Defaults of the released code (spec 1.6). Texts of a cluster with more than `cluster_tokens` are clustered again,
    at most `recursions` times, or, if there are few of them, dealt out as they fit (trap 2). Lengths are in cl100k
    tokens. Each level is made of the one below, as long as that has more than `dimension` + 1 nodes."""

    levels: Positive = 5
    cluster_tokens: Positive = 3500
    summary_tokens: Positive = 100
    recursions: Positive = 20


class Summary(NamedTuple):
    """What came of asking: a `text`, or why there is none. `input` is the hash of what it was written from, `flaw` is
    `cut` where it reached the limit of tokens."""

    input: str
    text: str
    made_by: str
    failure: str | None
    flaw: str | None


class Cluster(NamedTuple):
    """`children` are passages by row or, from the number of passages on, summaries by the order of their nodes."""

    level: int
    children: tuple[int, ...]
    summary: Summary


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
    needs = ("passages",)
    old_must_share = ()

    @classmethod
    def identity(cls, build: Build, settings: Settings) -> dict:
        return {"maker": _by(build.engine) if build.engine else None}

    @classmethod
    def build(cls, folder: Path, build: Build, settings: Settings, old: SummariesLayer | None) -> dict:
        passages: PassagesLayer = build.layers["passages"]
        # Summaries that stood are good whatever the settings; their vectors only if the same encoder made them.
        known = _known(old.clusters, build) if old else {}
        same = old is not None and old.said["encoder"] == build.encoder.name
        encoded = Known([node.text for node in old.nodes], old.vectors) if same else Known()
        asked = _Asked(folder, build, settings, known)

        texts, vectors = [_on_one_line(passage) for passage in passages.passages], np.asarray(passages.vectors)
        numbers, clusters, matrices, coarse = np.arange(len(texts)), [], [], []
        for level in range(1, settings.levels + 1):
            if len(texts) <= settings.dimension + 1:
                break
            coarse += [level] if len(texts) > COARSE_FROM else []
            members = _clusters(vectors, texts, settings, f"level {level}", build.progress)
            summaries = asked.summaries([tuple(texts[row] for row in rows) for rows in members], f"level {level}")
            clusters += [Cluster(level, tuple(numbers[rows].tolist()), s) for rows, s in zip(members, summaries)]
            texts = [summary.text for summary in summaries if not summary.failure]
            numbers = numbers[-1] + 1 + np.arange(len(texts))
            # Named by what is in it: a build that was stopped may go on with other summaries.
            path = folder / f"vectors-{key_of(texts=texts)}.npy"
            encode_to(path, texts, build.encoder, encoded, label=f"level {level}", progress=build.progress)
            vectors = np.load(path)
            matrices.append(vectors)

        lines = "".join(map(_line, clusters))
        (folder / "clusters.jsonl").write_text(lines, encoding="ascii")
        np.save(folder / "vectors.npy", np.concatenate([np.zeros((0, build.encoder.dimension), "f4"), *matrices]))
        for path in [folder / "summaries.jsonl.part", *folder.glob("vectors-*")]:
            path.unlink(missing_ok=True)
        summaries = [cluster.summary for cluster in clusters]
        return {
            "content": text_hash(lines),
            "encoder": build.encoder.name,
            "passages": len(passages.passages),
            "asked": len({summary.input for summary in summaries} - known.keys()),
            "made_by": sorted({summary.made_by for summary in summaries}),
            "failures": sum(summary.failure is not None for summary in summaries),
            "cut": sum(summary.flaw == "cut" for summary in summaries),
            "levels": np.bincount([c.level for c in clusters if not c.summary.failure], minlength=1).tolist()[1:],
            "coarse": coarse,  # levels for which not every number of components was tried
        }

    def __init__(self, folder: Path):
        super().__init__(folder)
        lines = (folder / "clusters.jsonl").read_text(encoding="ascii")
        if text_hash(lines) != self.said["content"]:
            raise ValueError("clusters.jsonl does not hold what was written")  # each line that is left would look right
        self.clusters = list(map(_cluster, lines.splitlines()))
        self.nodes = list(_nodes(self.clusters))
        self.vectors = map_vectors(folder / "vectors.npy")
        if len(self.vectors) != len(self.nodes):
            raise ValueError(f"{len(self.vectors)} vectors for {len(self.nodes)} summaries")

    @cached_property
    def leaves(self) -> sp.csr_array:
        """Which passages (columns) stand below which node (rows): bool, shape (len(nodes), passages)."""
        passages, below = self.said["passages"], []
        for node in self.nodes:  # children stand before their parents
            parts = [[child] if child < passages else below[child - passages] for child in node.children]
            below.append(np.unique(np.concatenate(parts)))
        columns = np.concatenate([np.zeros(0, np.int64), *below])
        ends = np.cumsum([0, *map(len, below)])
        return sp.csr_array((np.ones(len(columns), bool), columns, ends), shape=(len(below), passages))

    def __repr__(self) -> str:
        return f"SummariesLayer({len(self.nodes):,} summaries on {len(self.said['levels'])} levels)"


# -- clusters ---------------------------------------------------------------------------------------------------------


def _clusters(
    vectors: np.ndarray, texts: Sequence[str], settings: Settings, label: str, progress: bool
) -> list[np.ndarray]:
    """Rows of each cluster, ascending, no two the same, none of several texts that are too long together."""
    lengths = np.array([tokens.count(text) for text in texts])
    clusters = soft_clusters(vectors, settings, label=label, progress=progress)
    fitting = {tuple(part.tolist()) for rows in clusters for part in _fitting(rows, vectors, lengths, settings)}
    return [np.array(rows) for rows in sorted(fitting)]


def _fitting(
    rows: np.ndarray, vectors: np.ndarray, lengths: np.ndarray, settings: Settings, depth: int = 0
) -> Iterator[np.ndarray]:
    """The cluster, or parts of it whose texts are short enough together; one text is a part, however long it is."""
    if len(rows) == 1 or lengths[rows].sum() <= settings.cluster_tokens:
        yield rows
        return
    if len(rows) > settings.dimension + 1 and depth < settings.recursions:
        parts = [rows[part] for part in soft_clusters(vectors[rows], settings)]
        if all(len(part) < len(rows) for part in parts):
            for part in parts:
                yield from _fitting(part, vectors, lengths, settings, depth + 1)
            return
    start, total = 0, 0
    for end, length in enumerate(lengths[rows].tolist()):
        if end > start and total + length > settings.cluster_tokens:
            yield rows[start:end]
            start, total = end, 0
        total += length
    yield rows[start:]


# -- summaries --------------------------------------------------------------------------------------------------------


class _Asked:
    """Gives the summaries of texts, from what is known or from the engine, and keeps them in the folder at once."""

    def __init__(self, folder: Path, build: Build, settings: Settings, known: dict[str, Summary]):
        self.path = folder / "summaries.jsonl.part"
        if self.path.exists():  # of a build that was stopped
            cut_torn_line(self.path)
            rows = [Summary(**json.loads(line)) for line in self.path.read_text(encoding="ascii").splitlines()]
            known = known | {row.input: row for row in rows if not row.failure}
        self.known = dict(known)
        self.engine, self.progress = build.engine or RulesEngine(), build.progress
        self.made_by = _by(self.engine)
        self.limit = settings.summary_tokens
        self.step = replace(summarise.STEP, max_tokens=self.limit)

    def summaries(self, clusters: Sequence[tuple[str, ...]], label: str) -> list[Summary]:
        inputs = [summarise.Input(texts, self.limit) for texts in clusters]
        hashes = [text_hash(json.dumps(asdict(value))) for value in inputs]
        missing = {key: value for key, value in zip(hashes, inputs) if key not in self.known}
        hidden = not self.progress or not missing
        with (
            self.path.open("a", encoding="ascii") as out,
            tqdm(total=len(missing), desc=f"summarise {label}", unit="cluster", disable=hidden) as bar,
        ):
            for start in range(0, len(missing), GROUP):
                group = list(missing)[start : start + GROUP]
                results = self.engine.run(self.step, [missing[key] for key in group])
                for key, result in zip(group, results):
                    self.known[key] = self._summary(key, result)
                    out.write(json.dumps(self.known[key]._asdict()) + "\n")
                out.flush()
                bar.update(len(group))
        return [self.known[key] for key in hashes]

    def _summary(self, key: str, result: Result) -> Summary:
        text = result.value.summary if result.value else ""
        failure = result.failure or (None if text.strip() else "the summary is empty")
        return Summary(key, text, self.made_by, failure, "cut" if result.parse == "cut" else None)


def _by(engine: Engine) -> str:
    return f"{engine.name} ({summarise.STEP.identity})"


def _known(clusters: Sequence[Cluster], build: Build) -> dict[str, Summary]:
    """Summaries to be taken over. Those of a model are never replaced by what the rules would say."""
    wanted = _by(build.engine) if build.engine and build.engine.name != RulesEngine.name else None
    return {
        summary.input: summary
        for _, _, summary in clusters
        if summary.failure is None and wanted in (None, summary.made_by)
    }


def _on_one_line(passage: Passage) -> str:
    return " ".join(f"{passage.title}: {passage.text}".split()) if passage.title else " ".join(passage.text.split())


# -- files ------------------------------------------------------------------------------------------------------------


def _line(cluster: Cluster) -> str:
    row = {"level": cluster.level, "children": cluster.children, **cluster.summary._asdict()}
    return json.dumps(row) + "\n"


def _cluster(line: str) -> Cluster:
    row = json.loads(line)
    return Cluster(row.pop("level"), tuple(row.pop("children")), Summary(**row))


def _nodes(clusters: Sequence[Cluster]) -> Iterator[Node]:
    """Their ids count the nodes of each level."""
    counts: dict[int, int] = {}
    for level, children, summary in clusters:
        if not summary.failure:
            counts[level] = counts.get(level, 0) + 1
            yield Node(f"summary-{level}-{counts[level]}", level, summary.text, children)
