"""Communities of the knowledge tree: purity on a gold graph, agreement with other groupings, seconds and memory.

    python benchmarks/communities.py gold [--data meridian] [--encoder minilm] [--seeds 5]
    python benchmarks/communities.py agree INDEX          # an index with tree, communities and summaries
    python benchmarks/communities.py time INDEX [--profile released]
    python benchmarks/communities.py time --entities 45000

`gold` builds the tree over hand-written entities, relations and attributes, and compares its communities with the types
of the entities; beside it stand k-means and Leiden alone with as many groups, because purity grows with their number.
`time` states processor seconds of detection and the peak memory of the process; without an index, on random data.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import workbench as wb
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.index import leiden, tree
from workbench.index.dual_perception import GraphArrays, Perception, detect, start
from workbench.index.facts import FactsLayer
from workbench.index.schema_graph import SchemaGraphLayer
from workbench.index.tree import entity_means
from workbench.operators import groupings
from workbench.operators.groupings import adjusted_rand, normalised_information, purity

VARIANTS: dict[str, dict] = {
    "workbench": {},
    "workbench, relations alone": {"perception": "relations"},
    "workbench, embeddings alone": {"perception": "embeddings"},
    "workbench, epsilon 0.5": {"epsilon": 0.5},
    "workbench, mean of relations": {"pooled": "mean"},
    "workbench, mean, epsilon 0.5": {"pooled": "mean", "epsilon": 0.5},
    "paper": {"profile": "paper"},
    "released": {"profile": "released"},
    "released, starts drawn": {"profile": "released", "starts": "drawn"},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["gold", "agree", "time"])
    parser.add_argument("index", type=Path, nargs="?")
    parser.add_argument("--data", default="meridian")
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--profile", default="workbench")
    parser.add_argument("--entities", type=int, default=45_000)
    given = parser.parse_args()
    {"gold": gold, "agree": agree, "time": timed}[given.what](given)


# -- purity on a gold graph ------------------------------------------------------------------------------------------


def gold(given: argparse.Namespace) -> None:
    data = wb.load(given.data)
    with tempfile.TemporaryDirectory() as folder:
        data = replace(data, profiles=profiles_of(data.graph), extractions=None)
        index = wb.Index.build(
            data, None, Path(folder) / data.name, encoder=given.encoder, layers=["schema_graph"], progress=False
        )
        graph = index.schema_graph
        types = np.array(graph.types)
        print(f"{data.name}: {len(types)} entities of {len(set(types))} types, {len(graph.sources)} relations, "
              f"{len(graph.attributes)} attributes")  # fmt: skip
        print(f"means over {given.seeds} seeds, of purity also the range")
        print(f"{'grouping':<28}{'groups':>7}{'purity':>8}{'range':>14}{'Rand':>7}{'NMI':>7}")
        matrices = {profile: matrix_of(index, profile) for profile in Perception.profiles}
        seeds = range(42, 42 + given.seeds)
        for name, settings in VARIANTS.items():
            perceptions = [Perception.of(**settings, seed=seed) for seed in seeds]
            seen = tree.arrays(graph, matrices[perceptions[0].profile])
            found = [detect(seen, perception) for perception in perceptions]
            report(name, [one.of_entities(len(types)) for one in found], types)
            print(f"  candidates of the first: {found[0].considered}")
            most = [len(one.communities) for one in found]
            report("  k-means alone", [k_means(seen.vectors, *one) for one in zip(most, seeds)], types)
            report("  Leiden alone", [nearest_leiden(graph, *one) for one in zip(most, seeds)], types)


def profiles_of(graph: wb.data.GoldGraph) -> Profiles:
    """A gold graph as profiles, its attributes as descriptions that the schema graph takes apart."""
    told: dict[str, list[str]] = {entity.name: [] for entity in graph.entities}
    passages: dict[str, dict[str, None]] = {entity.name: {} for entity in graph.entities}
    relations = []
    for triple in graph.triples:
        passages[triple.head] |= dict.fromkeys(triple.passages)
        if triple.kind == "attribute":
            told[triple.head].append(f"{triple.relation.replace('_', ' ')}: {triple.tail}")
        else:
            relations.append(RelationProfile(triple.head, triple.tail, passages=triple.passages, label=triple.relation))
    entities = (
        EntityProfile(entity.name, entity.type, "; ".join(told[entity.name]), tuple(passages[entity.name]))
        for entity in graph.entities
    )
    return Profiles(tuple(entities), tuple(relations))


def matrix_of(index: wb.Index, profile: str) -> np.ndarray:
    """The representations of a profile, by building the layer."""
    built = wb.Index.build(
        replace(index.data, profiles=index.profiles.profiles), None, index.folder, layers=["tree"],
        settings={"tree": {"profile": profile}}, progress=False,
    )  # fmt: skip
    return np.array(built.tree.entity_matrix)


def k_means(matrix: np.ndarray, groups: int, seed: int) -> np.ndarray:
    from sklearn.cluster import KMeans

    return KMeans(groups, n_init=5, random_state=seed).fit(matrix).labels_


def nearest_leiden(graph: SchemaGraphLayer, groups: int, seed: int) -> np.ndarray:
    """Leiden by modularity, at the resolution that gives as near as many groups as asked for."""
    pairs = np.array(sp.triu(graph.adjacency, 1).nonzero()).T
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    tried = (_leiden(len(graph.names), pairs, resolution, seed) for resolution in np.geomspace(0.01, 100, 60))
    return min(tried, key=lambda found: abs(found.max() + 1 - groups))


def _leiden(n: int, pairs: np.ndarray, resolution: float, seed: int) -> np.ndarray:
    found = np.empty(n, dtype=np.int64)
    clusters = leiden.hierarchy(n, pairs, np.ones(len(pairs)), max_size=n, resolution=float(resolution), seed=seed)
    for cluster in clusters:
        found[cluster.members] = cluster.id
    return found


def report(name: str, found: Sequence[np.ndarray], types: np.ndarray) -> None:
    """What is in no group counts as a group of its own: nobody is left out to look better."""
    purities, rands, informations, counts = zip(*(_measured(groups.copy(), types) for groups in found))
    span = f"{min(purities):.3f}–{max(purities):.3f}"
    print(f"{name:<28}{np.mean(counts):>7.1f}{np.mean(purities):>8.3f}{span:>14}{np.mean(rands):>7.3f}"
          f"{np.mean(informations):>7.3f}")  # fmt: skip


def _measured(groups: np.ndarray, types: np.ndarray) -> tuple[float, float, float, int]:
    none = groups < 0
    groups[none] = groups.max() + 1 + np.arange(none.sum())
    return (
        purity(groups.tolist(), types.tolist()),
        adjusted_rand(groups, types),
        normalised_information(groups, types),
        len(np.unique(groups)),
    )


# -- agreement -------------------------------------------------------------------------------------------------------


def agree(given: argparse.Namespace) -> None:
    index = wb.Index.open(given.index)
    graph = index.schema_graph
    found = [
        groupings.by_tree(index.tree, graph),
        groupings.by_leiden(index.communities, index.facts, graph),
        groupings.by_leiden(index.communities, index.facts, graph, level=0),
        groupings.by_raptor(index.summaries, graph),
        groupings.by_type(graph),
    ]
    for other in found[1:]:
        agreement = groupings.compare(found[0], other)
        print(agreement, f"purity {agreement.purity[0]:.3f}, {agreement.purity[1]:.3f}")
        for split in agreement.splits[:5]:
            print(f"   {split.grouping} {split.title[:50]!r}: {split.size}, {split.apart} apart: {split.parts[:3]}")


# -- seconds and memory ----------------------------------------------------------------------------------------------


def timed(given: argparse.Namespace) -> None:
    settings = Perception.of(profile=given.profile)
    clock = time.process_time()
    graph = _arrays(given.index, settings) if given.index else random_arrays(given.entities)
    represented = time.process_time() - clock
    n, labels = graph.relations.shape
    print(f"{n:,} entities, {graph.relations.sum():,} ends of triples of {labels:,} relations")
    clock, wall = time.process_time(), time.perf_counter()
    begun = start(graph, settings)
    started = time.process_time() - clock
    found = detect(graph, settings, begun)
    spent, wall = time.process_time() - clock, time.perf_counter() - wall
    parts = sum(map(len, begun.clusters))
    print(f"representations {represented:.1f} s, k-means {started:.1f} s, merging {spent - started:.1f} s of the "
          f"processor; k-means and merging {wall:.1f} s by the clock")  # fmt: skip
    print(f"{len(begun.clusters)} clusters, {parts:,} parts, {len(found.communities)} communities, {found.overflow:,} "
          f"entities beyond these, candidates {found.considered}")  # fmt: skip
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2:.2f} GiB")


def _arrays(folder: Path, settings: Perception) -> GraphArrays:
    """What is perceived of an index: of its schema graph or, where it has none, of its facts as triples."""
    index = wb.Index.open(folder)
    if "schema_graph" not in index.manifest["layers"]:
        return arrays_of_facts(index.facts)
    released = settings.profile == "released"
    matrix = index.tree.entity_matrix if released else tree.triple_means(index.schema_graph)
    return tree.arrays(index.schema_graph, matrix)


def arrays_of_facts(facts: FactsLayer) -> GraphArrays:
    n, m = len(facts.phrases), len(facts.facts)
    _, kinds = np.unique([relation for _, relation, _ in facts.facts], return_inverse=True)
    ends, twice = np.r_[facts.subjects, facts.objects], np.r_[np.arange(m), np.arange(m)]
    incidence = sp.coo_array((np.ones(2 * m, np.float32), (ends, twice)), (n, m)).tocsr()
    incidence.data[:] = 1
    counts = sp.coo_array((np.ones(2 * m, int), (ends, kinds[twice])), (n, kinds.max() + 1)).tocsr()
    joined = sp.coo_array((np.ones(m, np.float32), (facts.subjects, facts.objects)), (n, n)).tocsr()
    joined.data[:] = 1
    vectors = entity_means(facts.phrase_vectors, (incidence, facts.fact_vectors))
    return GraphArrays(vectors, counts, joined, np.bincount(ends, minlength=n))


def random_arrays(n: int, dimension: int = 384, topics: int = 300, labels: int = 400, seed: int = 0) -> GraphArrays:
    """Unit vectors around topics, five triple ends for each entity."""
    numbers = np.random.default_rng(seed)
    centres = numbers.normal(size=(topics, dimension))
    vectors = (0.6 * centres[numbers.integers(topics, size=n)] + numbers.normal(size=(n, dimension))).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    kinds = (labels * numbers.random(5 * n) ** 3).astype(int)
    counts = sp.coo_array((np.ones(5 * n, int), (numbers.integers(n, size=5 * n), kinds)), (n, labels)).tocsr()
    ends = numbers.integers(n, size=(2, 3 * n))
    joined = sp.coo_array((np.ones(3 * n, np.float32), (ends[0], ends[1])), (n, n)).tocsr()
    joined.data[:] = 1
    return GraphArrays(vectors, counts, joined, np.asarray(counts.sum(axis=1)).ravel())


if __name__ == "__main__":
    main()
