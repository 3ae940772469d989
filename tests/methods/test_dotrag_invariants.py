"""What holds of every search of DotRAG (the invariants I1 to I14 of docs/dotrag.md), on random graphs with a judge that
says anything. `make attack` tries ten thousand graphs."""

import gc
import random
import weakref
from collections import Counter, defaultdict
from itertools import pairwise
from zlib import crc32

import numpy as np
import pytest
from scripted import Scripted
from tiers import FULL
from typed_graphs import GraphIndex, TypedGraph, verdict

import workbench as wb
from workbench.methods.dotrag import neighbourhood
from workbench.methods.dotrag.neighbourhood import Store
from workbench.methods.dotrag.search import normal
from workbench.operators.region import ALWAYS

TYPES = ("film", "person", "year", "unknown")
WORDS = ("red", "owl", "moor", "who", "directed", "of", "year", "?!", "Who", "OWL!")


class Noise:
    """Any text to any direction, always the same."""

    dimension = 6

    def __init__(self):
        self._known = {}

    def encode(self, texts):
        for text in texts:
            if text not in self._known:
                vector = np.random.default_rng(crc32(text.encode())).standard_normal(self.dimension)
                self._known[text] = (vector / np.linalg.norm(vector)).astype(np.float32)
        return np.array([self._known[text] for text in texts], dtype=np.float32).reshape(-1, self.dimension)


NOISE = Noise()


class Anything(Scripted):
    """Says what a hash of what it is asked says: anything, but always the same. Verdicts go by the nodes of a path, so
    they do not depend on when and where it is judged."""

    def __init__(self, seed, workers=1, **steps):
        names = ("select_regions", "dot_rules", "judge_paths", "fallback_query")
        super().__init__(workers, **{name: getattr(self, name) for name in names} | steps)
        self._seed = seed

    def _draw(self, *asked):
        return random.Random(crc32(repr((self._seed, *asked)).encode()))

    def _text(self, draw):
        return " ".join(draw.choices(WORDS, k=draw.randrange(4)))

    def select_regions(self, value):
        draw = self._draw(value.question)
        spans = [span for span, _ in value.named] + ["made up", value.question.split()[0]]
        anchors = [{"span": span, "description": self._text(draw), "type": draw.choice((None, *TYPES))}
                   for span in draw.sample(spans, draw.randint(len(spans) // 2, len(spans)))]  # fmt: skip
        return {"anchors": anchors, "topics": [self._text(draw) for _ in range(draw.randrange(4))],
                "routing": draw.randrange(2)}  # fmt: skip

    def dot_rules(self, value):
        draw = self._draw(value.concept)
        if draw.random() < 0.1:
            return ValueError("no rules")
        types = draw.sample([*TYPES, "star"], draw.randrange(5))
        return {"query_constraints": "", "intermediate_rules": [], "terminal_rules": [], "allowed_types": types,
                "initial_query": self._text(draw)}  # fmt: skip

    def judge_paths(self, value):
        verdicts = []
        for path in value.paths:
            draw = self._draw(path.nodes)
            label = draw.choice(("complete", "partial", "partial", "irrelevant"))
            said = verdict(path, label, self._text(draw), draw.choice((-1, 0.2, 0.5, 0.5, 2)))
            kinds = {"missing": 1, "strange": 1, "twice": 1, "said": 7}
            kind = draw.choices(list(kinds), list(kinds.values()))[0]
            verdicts += {"missing": [], "strange": [{**said, "id": "x.y"}], "twice": [said, said]}.get(kind, [said])
        return ValueError("no JSON") if self._draw(len(value.paths)).random() < 0.05 else {"verdicts": verdicts}

    def fallback_query(self, value):
        draw = self._draw(value.history)
        return ValueError("no idea") if draw.random() < 0.2 else {"query": self._text(draw) or "x"}


def random_graph(draw):
    names = [f"{draw.choice(('Owl', 'Moor', 'owl', 'n'))} {at}" for at in range(draw.randint(1, 14))]
    types = {name: draw.choice(TYPES) for name in names}
    ends = [(draw.choice(names), draw.choice(names)) for _ in range(int(len(names) * draw.uniform(0.5, 2.5)))]
    return TypedGraph(types, [(a, draw.choice(("r", "s", "")), b) for a, b in ends], NOISE)


def random_settings(draw):
    maybe = lambda value: draw.choice((None, value))  # noqa: E731
    return {
        "h_max": draw.randint(1, 4), "t_max": draw.randint(1, 4), "max_concepts": draw.randint(1, 3),
        "tau": draw.choice((0.2, 0.6, 0.9)), "k_high": draw.randint(1, 3), "max_sources": maybe(2),
        "candidates": draw.randint(1, 5), "paths_per_pair": draw.randint(1, 4), "cap": draw.randint(1, 9),
        "queries_max": maybe(2), "judge_batch": draw.randint(1, 4), "path_len_max": maybe(draw.randint(1, 5)),
        "chunks": draw.randint(1, 5), "chunk_tokens": draw.choice((12, 4000)), "max_region": maybe(8),
        "exact_alone": draw.random() < 0.5, "relation_boost": draw.random() < 0.5,
        "broad": draw.choice(("both", "high")),
        "stop_on_complete": draw.random() < 0.2, "same_query": draw.choice((None, None, 0.9)),
        "filter_anchors": draw.random() < 0.3, "parallel": draw.choice(("all", "best")),
        "merge_anchors": draw.random() < 0.7, "merge_reversed": draw.random() < 0.7,
        "prefixes_across": draw.random() < 0.7,
    }  # fmt: skip


def neighbours(typed):
    found = defaultdict(set)
    for a, b in zip(typed.sources.tolist(), typed.targets.tolist()):
        if a != b:
            found[typed.names[a]].add(typed.names[b])
            found[typed.names[b]].add(typed.names[a])
    return found


def ball(near, anchors, hops, admitted):
    """Name → its hop, through admitted names only."""
    hop, frontier = dict.fromkeys(anchors, 0), set(anchors)
    for distance in range(1, hops + 1):
        frontier = {v for u in frontier for v in near[u] if v not in hop and v in admitted}
        hop |= dict.fromkeys(frontier, distance)
    return hop


def prefixes(paths):
    """Pairs of a path and one that goes on from it, each as (nodes, label), that may not stand beside each other."""
    return [
        (a, b) for a, label in paths for b, other in paths
        if len(a) < len(b) and b[: len(a)] == a and label != "complete"
    ]  # fmt: skip


def check(typed, evidence, settings):
    """I1 to I11, read off the trace and compared with the graph itself."""
    trace, near = evidence.trace, neighbours(typed)
    type_of = dict(zip(typed.names, typed.types))
    longest = settings["path_len_max"] or settings["h_max"]
    anchored = set()
    for dot in trace.find("dot"):
        parts = defaultdict(list)
        for event in trace.children(dot.id):
            parts[event.step].append(event)
        (anchors,), (rules,), (region,) = parts["anchors"], parts["rules"], parts["region"]
        starts = {name for name, _ in anchors.scores}
        anchored |= starts
        allowed = set(rules.outputs["allowed_types"]) | ALWAYS
        if settings["filter_anchors"]:
            starts = {name for name in starts if type_of[name] in allowed} or starts
        relaxed = region.outputs["filter_relaxed"]
        admitted = {name for name in typed.names if relaxed or type_of[name] in allowed}
        inside = ball(near, starts, settings["h_max"], admitted)
        hops = Counter(inside.values())
        if region.outputs["truncated"]:
            hops = {hop: n for hop, n in hops.items() if hop < len(region.outputs["hops"])}
            inside = {name: hop for name, hop in inside.items() if hop in hops}
        assert region.outputs["hops"] == [hops[hop] for hop in sorted(hops)]  # I3, I4
        iterations = parts["iteration"]
        assert len(iterations) <= settings["t_max"]  # I10
        asked = [normal(query) for event in iterations for _, query in event.inputs["queries"]]
        assert len(asked) == len(set(asked)) and all(asked)  # I9
        judged, drawn, kept = set(), {}, []
        for iteration in iterations:
            said = {event.step: event for event in trace.children(iteration.id)}
            found = [name for name, _ in said["candidates"].scores]
            assert inside.keys() >= set(found) and not starts & set(found)  # I7
            if "paths" not in said:
                continue
            paths = said["paths"].outputs["paths"]
            drawn |= paths
            shown = paths.keys() - set(said["paths"].outputs["cut"])
            assert len(shown) <= settings["cap"]  # I10
            for path in paths.values():
                nodes = path["nodes"]
                assert nodes[0] in starts  # I1
                assert all(b in near[a] for a, b in pairwise(nodes))  # I2
                assert inside.keys() >= set(nodes)  # I3
                assert 1 <= len(nodes) - 1 <= longest and len(set(nodes)) == len(nodes)  # I5
            assert shown == said["judge"].outputs["verdicts"].keys() | set(said["judge"].outputs["unjudged"])
            ends = {paths[id]["nodes"][-1] for id in said["judge"].outputs["verdicts"]}
            assert not ends & judged  # I8
            judged |= ends
            kept = said["keep"].outputs["kept"]
        labels = {id: said["label"] for event in trace.find("judge") for id, said in event.outputs["verdicts"].items()}
        assert not prefixes([(tuple(drawn[id]["nodes"]), labels[id]) for id in kept])  # I6
    final = trace.find("aggregate")[0].outputs
    by_dot = defaultdict(list)
    for path in final["paths"]:
        number = "" if settings["prefixes_across"] else path["id"].partition(".")[0]
        by_dot[number].append((tuple(path["nodes"]), path["label"]))
    assert not any(map(prefixes, by_dot.values()))  # I6
    assert [list(path.nodes) for path, _ in evidence.paths] == [path["nodes"] for path in final["paths"]]
    assert all(path.nodes[0] in anchored for path, _ in evidence.paths)  # I1
    ways = {path.nodes for path, _ in evidence.paths}
    assert len(ways) == len(evidence.paths)
    assert not (settings["merge_reversed"] and ways & {path[::-1] for path in ways})
    on_paths = {node for path, _ in evidence.paths for node in path.nodes}
    assert set(evidence.nodes) == (on_paths or anchored)
    allowed = {f"p:{name}" for name in on_paths or anchored}
    assert {id for id, _ in evidence.ranking} <= allowed  # I11
    assert final["no_paths"] == (not evidence.paths)


def try_one(seed):
    draw = random.Random(seed)
    typed, settings = random_graph(draw), random_settings(draw)
    index = GraphIndex(typed, NOISE)
    question = f"{draw.choice(typed.names)} {draw.choice(WORDS)} {draw.choice(typed.names).lower()}?"
    method = wb.method("dotrag", index, Anything(seed), **settings)
    evidence = method.retrieve(question)
    check(typed, evidence, settings)
    dots = evidence.trace.find("dot")
    if len(dots) > 1 and seed % 5 == 0:  # I12
        side_by_side = wb.method("dotrag", index, Anything(seed, workers=3), **settings).retrieve(question)
        assert side_by_side == evidence and side_by_side.trace == evidence.trace
    return evidence


@pytest.mark.full
def test_on_random_graphs():
    """A hundredth of a second for each: a hundred, and ten thousand in the full profile."""
    found = [try_one(seed) for seed in range(10_000 if FULL else 100)]
    # The graphs are such that something happens in them.
    assert sum(bool(evidence.paths) for evidence in found) > 30
    assert sum(len(evidence.trace.find("dot")) > 1 for evidence in found) > 30
    assert sum(any(event.outputs["dropped"] for event in e.trace.find("keep")) for e in found) > 30


# -- what needs a graph of its own ------------------------------------------------------------------------------------


@pytest.fixture
def index():
    draw = random.Random(7)
    names = [f"Owl {at}" for at in range(30)]
    ends = [(draw.choice(names), draw.choice(names)) for _ in range(70)]
    return GraphIndex(TypedGraph(dict.fromkeys(names, "film"), [(a, "r", b) for a, b in ends], NOISE), NOISE)


class Watched:
    """Vectors that count how often they are asked for all, and for some rows."""

    def __init__(self, vectors):
        self._vectors, self.shape, self.products, self.slices = vectors, vectors.shape, 0, 0

    def __matmul__(self, other):
        self.products += 1
        return self._vectors @ other

    def __getitem__(self, rows):
        self.slices += 1
        return self._vectors[rows]


def test_the_search_asks_its_store_and_not_the_index(index):
    """I7. All entities are compared once, for the anchors of all DOTs; each DOT takes its slice once."""
    index.typed.entity_vectors = watched = Watched(index.typed.entity_vectors)
    evidence = wb.method("dotrag[tau=0.6]", index, Anything(3)).retrieve("Owl 1 and Owl 2 and Owl 3")
    assert len(evidence.trace.find("candidates")) > 3
    assert (watched.products, watched.slices) == (1, len(evidence.trace.find("dot")))


def test_dots_in_any_order_find_the_same(index):
    """I12. Explored last first, and side by side."""
    question = "Owl 1 and Owl 2 and Owl 3"
    chosen = {
        "anchors": [{"span": f"Owl {at}", "description": "", "type": None} for at in (1, 2, 3)], "topics": [],
        "routing": 1,
    }  # fmt: skip

    def method(workers=1):
        return wb.method("dotrag", index, Anything(5, workers, select_regions=lambda value: chosen))

    forward = method().retrieve(question)
    assert len(forward.trace.find("dot")) == 3 and forward.paths
    backward = method()
    explore = backward.connect
    backward.connect = lambda question, dots, trace: explore(question, dots[::-1], trace)[::-1]
    assert backward.retrieve(question) == forward
    together = method(workers=3).retrieve(question)
    assert together == forward and together.trace == forward.trace


@pytest.mark.full
def test_nothing_of_a_dot_is_left_after_the_question(index, monkeypatch):
    """I13. No store stays, and the graph holds no more than after the first question."""
    stores = weakref.WeakSet()

    class Noted(Store):
        def __init__(self, *args):
            super().__init__(*args)
            stores.add(self)

    monkeypatch.setattr(neighbourhood, "Store", Noted)
    made = wb.method("dotrag", index, Scripted(**Anything(1).said), t_max=1)
    made.retrieve("Owl 0", trace="off")
    held = {name: len(value) for name, value in vars(index.typed).items() if isinstance(value, dict | list)}
    for at in range(1_000 if FULL else 30):
        made.engine.asked.clear()
        made.retrieve(f"Owl {at % 30} {at}", trace="off")
    gc.collect()
    assert not stores
    assert {name: len(v) for name, v in vars(index.typed).items() if isinstance(v, dict | list)} == held


def test_a_judge_that_rejects_everything(index):
    """I14."""
    said = iter(f"direction {at}" for at in range(99))
    told = Anything(
        2,
        judge_paths=lambda value: {"verdicts": [verdict(path, "irrelevant", "and now?") for path in value.paths]},
        fallback_query=lambda value: {"query": next(said)},
    )
    evidence = wb.method("dotrag", index, told, t_max=4, candidates=2).retrieve("Owl 1 and Owl 2")
    assert evidence.paths == () and "no path was kept" in evidence.fallback
    assert evidence.trace.find("aggregate")[0].outputs["no_paths"]
    assert len(told.inputs("fallback_query")) == 3 * len(evidence.trace.find("dot"))
    assert {event.outputs["reason"] for event in evidence.trace.find("dot")} == {"t_max"}
