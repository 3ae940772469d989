"""Think-on-Graph: a model walks over the graph by beam search, choosing relations, then entities, until it has enough.

Follows "Think-on-Graph: Deep and Responsible Reasoning of Large Language Model on Knowledge Graph" (arXiv 2307.07697)
and its code (GasolSun36/ToG): width 3, depth 3, temperature 0.4 for exploration and 0 for judgement, 256 tokens. It
walks over the index's own graph; `tog`, which queries a retriever for its targets, is the variant for any method.

Differences due to a corpus's graph instead of Freebase:

- topic entities are the names that the rules find in the question, each linked to a phrase by the phrase vectors;
- there are no bookkeeping relations to exclude; of a hub, the `relations` most similar to the question are listed;
- the documents are the passages that state a fact of a path, by the best score among such paths.

Our changes: a path's score is the product over all of its steps (in the code, of the last step alone), so that scores
of different depths are comparable; a path never returns to a phrase; the question whether the facts are enough shows
all facts found so far (in the code, those of the last depth); question and relation seed the sample."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from workbench.encoding.similarity import top
from workbench.errors import SettingError
from workbench.index import Index
from workbench.language.questions import start_names
from workbench.methods.base import Method
from workbench.operators.linking import Link, linked, standing
from workbench.operators.walk_distribution import with_dense_fill
from workbench.records import Entity, Evidence, Passage, Path, Scored, ranked
from workbench.settings import NonNegative, Number, Positive, validated
from workbench.steps import exploring
from workbench.text import text_hash, unspaced
from workbench.trace import Trace


class Direction(NamedTuple):
    """A relation of a phrase, `forward` if the phrase is the subject; `facts` are rows, one per other end."""

    relation: str
    forward: bool
    facts: tuple[int, ...]


def directions(index: Index, phrase: int) -> list[Direction]:
    """The relations of a phrase, by name, each direction by itself. A fact about the phrase and itself leads nowhere
    and is left out."""
    facts = index.facts
    rows_by_direction: dict[tuple[str, bool], list[int]] = defaultdict(list)
    for row in facts.about(phrase):
        if facts.subjects[row] != facts.objects[row]:
            rows_by_direction[facts.facts[row][1], bool(facts.subjects[row] == phrase)].append(row)
    return [
        Direction(relation, forward, tuple(rows)) for (relation, forward), rows in sorted(rows_by_direction.items())
    ]


def other_end(index: Index, fact: int, phrase: int) -> int:
    """The phrase at the other end of a fact."""
    subject, obj = index.facts.subjects[fact], index.facts.objects[fact]
    return int(obj if subject == phrase else subject)


ENOUGH, ENDED, DEPTH = "the facts are enough", "no candidate is left", "the depth is reached"


class BeamPath(NamedTuple):
    """A path: phrases (rows), the facts (rows) between them, the product of their scores."""

    nodes: tuple[int, ...]
    facts: tuple[int, ...] = ()
    score: float = 1.0


class Chosen(NamedTuple):
    """A relation that a path may follow next, its score, and its facts under consideration."""

    path: BeamPath
    direction: Direction
    score: float
    facts: tuple[int, ...]


class ThinkOnGraph(Method):
    """Beam search over phrases and facts; the model chooses relations and entities, and decides when it has enough."""

    name = "think_on_graph"
    paper = "Think-on-Graph (arXiv 2307.07697)"
    layers = ("passages", "facts")
    steps = ("choose_relations", "choose_entities", "enough")
    scale = "path"

    @validated
    class Settings:
        """Defaults of the released code, where it has them.

        width, depth       relations chosen per entity and paths kept per depth; depths
        temperature        of the two Steps that explore; 0 makes real models repeatable
        many, sample       of a relation to `many` entities or more, only a random `sample` is considered
        topics, link       maximum number of topic entities; least cosine between a name and its phrase
        relations          how many relations of a phrase the model sees
        unfinished         if the facts never suffice within `depth`: `dense` ranks without the graph, as in the code;
                           `keep` ranks by the paths found
        dense_fill         whether the dense ranking follows the passages of the paths"""

        width: Positive = 3
        depth: Positive = 3
        temperature: NonNegative = 0.4
        many: Positive = 20
        sample: Positive = 5
        topics: Positive = 5
        link: Number = 0.5
        relations: Positive = 60
        unfinished: Literal["dense", "keep"] = "dense"
        dense_fill: bool = True

        def __post_init__(self):
            if self.sample > self.many:
                raise SettingError(f"sample={self.sample} is more than many={self.many}; choose at most many")

    def prepare(self) -> None:
        self._facts, self._passages = self.index.facts, self.index.passages
        self._fact_vectors = np.asarray(self._facts.fact_vectors)
        self._passage_vectors = np.asarray(self._passages.vectors)
        self._relations = replace(exploring.RELATIONS, temperature=self.settings.temperature)
        self._entities = replace(exploring.ENTITIES, temperature=self.settings.temperature)

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        topics = self.link(question, trace)
        paths, end = self.explore(question, topics, trace)
        return self.rank(question, k, topics, paths, end, trace)

    def link(self, question: str, trace: Trace) -> list[Link]:
        """The topic entities."""
        with trace.span("RETRIEVER", "link names") as span:
            written = standing(self.index, question) if unspaced(question) else ()
            names = tuple(written or start_names(question))[: self.settings.topics]
            topics = linked(self.index, names, self.settings.link)
            span.set(names=names, phrases={self._facts.phrases[link.phrase]: link.name for link in topics})
            span.score((self._facts.phrases[link.phrase], link.cosine) for link in topics)
        return topics

    def explore(self, question: str, topics: Sequence[Link], trace: Trace) -> tuple[list[BeamPath], str]:
        """All paths kept at any depth, in order, and why the walk ended."""
        beam = [BeamPath((link.phrase,)) for link in topics]
        paths_found: list[BeamPath] = []
        for depth in range(1, self.settings.depth + 1):
            with trace.span("CHAIN", f"depth {depth}", depth=depth) as span:
                longer = self.follow(question, self.choose_relations(question, beam, trace), trace)
                beam = sorted((path for path in longer if path.score > 0), key=_order)[: self.settings.width]
                span.set(candidates=len(longer), kept=len(beam))
                span.score((self._text(path), path.score) for path in beam) if trace else None
                if not beam:
                    return paths_found, ENDED
                paths_found += beam
                facts = exploring.FactsInput(question, self._triples(paths_found))
                (result,) = self.engine.run(exploring.ENOUGH, [facts], trace=trace)
                if result.value and result.value.enough:
                    return paths_found, ENOUGH
        return paths_found, DEPTH

    def choose_relations(self, question: str, beam: Sequence[BeamPath], trace: Trace) -> list[Chosen]:
        """The relations chosen from the end of each path, with scores. An unreadable reply chooses none."""
        query = self.index.encode_query(question, "facts")
        offered = []
        for path in beam:
            near = [((self._fact_vectors[list(d.facts)] @ query).max(), d) for d in self._new(path)]
            near.sort(key=lambda pair: (-pair[0], pair[1]))
            if near:
                offered.append((path, near[: self.settings.relations]))
        inputs = [
            exploring.RelationsInput(
                question,
                self._triples_of(path),
                self._facts.phrases[path.nodes[-1]],
                tuple((d.relation, d.forward) for _, d in near),
                tuple(float(cosine) for cosine, _ in near),
                self.settings.width,
            )
            for path, near in offered
        ]
        results = self.engine.run(self._relations, inputs, trace=trace) if inputs else []
        return [
            Chosen(path, near[at][1], score, self._sampled(question, path, near[at][1]))
            for (path, near), result in zip(offered, results, strict=True)
            for at, score in _chosen(result.value, len(near), self.settings.width)
        ]

    def follow(self, question: str, steps: Sequence[Chosen], trace: Trace) -> list[BeamPath]:
        """The paths extended by one fact. The model scores entities if there is a choice; they get equal scores if its
        scores are unreadable or not one per entity."""
        inputs = [
            exploring.EntitiesInput(question, self._triples_of(step.path), self._pattern(step), self._ends(step))
            for step in steps
            if len(step.facts) > 1
        ]
        results = iter(self.engine.run(self._entities, inputs, trace=trace) if inputs else ())
        paths = []
        for step in steps:
            value = next(results).value if len(step.facts) > 1 else None
            shares = _shares(value.scores if value else (), len(step.facts))
            for fact, part in zip(step.facts, shares):
                end = other_end(self.index, fact, step.path.nodes[-1])
                score = step.path.score * step.score * part
                paths.append(BeamPath((*step.path.nodes, end), (*step.path.facts, fact), score))
        return paths

    def rank(
        self, question: str, k: int, topics: Sequence[Link], paths: Sequence[BeamPath], end: str, trace: Trace
    ) -> Evidence:
        """Passages by the best score of a path whose last fact they state; dense if there is no such path, or if the
        model never had enough."""
        fallback = self._fallback(topics, paths, end)
        with trace.span("RERANKER", "rank passages", end=end) as span:
            passages = self._ranked(question, k, paths, dense=bool(fallback))
            span.set(by_paths=0 if fallback else sum(score > 0 for _, score in passages), of=len(passages))
            span.score((passage.id, score) for passage, score in passages)
        best_first = sorted(paths, key=_order)
        ends = [(path.nodes[-1], path.score) for path in best_first]
        entities = _first_scores([*((link.phrase, 1.0) for link in topics), *ends])
        facts = _first_scores((path.facts[-1], path.score) for path in best_first)
        extended = {(path.nodes[:-1], path.facts[:-1]) for path in paths}
        whole = [path for path in best_first if (path.nodes, path.facts) not in extended]
        return Evidence(
            question,
            self.label,
            "cosine" if fallback else self.scale,
            passages,
            entities=tuple(Scored(Entity(self._facts.phrases[row]), score) for row, score in entities.items()),
            facts=tuple(Scored(self._facts.triple(row, self._stated_in([row])), score) for row, score in facts.items()),
            paths=tuple(Scored(self._path(path), path.score) for path in whole),
            fallback=fallback,
        )

    def _fallback(self, topics: Sequence[Link], paths: Sequence[BeamPath], end: str) -> str | None:
        """Why the dense ranking is used, if it is."""
        if not topics and not paths:
            return "dense ranking, because no name of the question is a phrase of the graph"
        if not paths:
            return "dense ranking, because no relation was followed"
        if end == DEPTH and self.settings.unfinished == "dense":
            return "dense ranking, answered without the graph, because the facts found were never enough"
        return None

    def _ranked(self, question: str, k: int, paths: Sequence[BeamPath], dense: bool) -> tuple[Scored[Passage], ...]:
        """The best passages, by the paths or by their cosines alone (`dense`)."""
        all_passages = self._passages.passages
        cosines = self._passage_vectors @ self.index.encode_query(question, "passages")
        if dense:
            best = top(cosines, k)
            return ranked([all_passages[row] for row in best], cosines[best])
        scores: dict[int, float] = {}
        for path in paths:
            for row in self._facts.stating(path.facts[-1]).tolist():
                scores[row] = max(scores.get(row, 0.0), path.score)
        return with_dense_fill(all_passages, scores, cosines, k, self.settings.dense_fill)

    def _new(self, path: BeamPath) -> list[Direction]:
        """The relations from the end of a path to phrases that it has not visited."""
        end = path.nodes[-1]
        onward = []
        for direction in directions(self.index, end):
            facts = tuple(row for row in direction.facts if other_end(self.index, row, end) not in path.nodes)
            if facts:
                onward.append(direction._replace(facts=facts))
        return onward

    def _sampled(self, question: str, path: BeamPath, direction: Direction) -> tuple[int, ...]:
        if len(direction.facts) < self.settings.many:
            return direction.facts
        seed = text_hash(f"{question}\n{self._facts.phrases[path.nodes[-1]]}\n{direction.relation}")
        return tuple(sorted(random.Random(seed).sample(direction.facts, self.settings.sample)))

    def _pattern(self, step: Chosen) -> tuple[str, str, str]:
        here = self._facts.phrases[step.path.nodes[-1]]
        relation = step.direction.relation
        return (here, relation, "?") if step.direction.forward else ("?", relation, here)

    def _ends(self, step: Chosen) -> tuple[str, ...]:
        here = step.path.nodes[-1]
        return tuple(self._facts.phrases[other_end(self.index, fact, here)] for fact in step.facts)

    def _triples_of(self, path: BeamPath) -> tuple[tuple[str, str, str], ...]:
        return tuple(self._facts.facts[row] for row in path.facts)

    def _triples(self, paths: Sequence[BeamPath]) -> tuple[tuple[str, str, str], ...]:
        return tuple(dict.fromkeys(self._facts.facts[path.facts[-1]] for path in paths))

    def _path(self, path: BeamPath) -> Path:
        """The path as a record; ⁻¹ marks a relation followed in reverse."""
        relations = tuple(
            self._facts.facts[fact][1] + ("" if self._facts.subjects[fact] == node else "⁻¹")
            for node, fact in zip(path.nodes, path.facts)
        )
        return Path(tuple(self._facts.phrases[node] for node in path.nodes), relations, self._stated_in(path.facts))

    def _text(self, path: BeamPath) -> str:
        record = self._path(path)
        return record.nodes[0] + "".join(f" —{rel}→ {node}" for rel, node in zip(record.relations, record.nodes[1:]))

    def _stated_in(self, facts: Iterable[int]) -> tuple[str, ...]:
        rows = dict.fromkeys(int(row) for fact in facts for row in self._facts.stating(fact))
        return tuple(self._passages.passages[row].id for row in rows)


def _first_scores(pairs: Iterable[tuple[int, float]]) -> dict[int, float]:
    """Row → the first score that it comes with."""
    scores: dict[int, float] = {}
    for row, score in pairs:
        scores.setdefault(row, score)
    return scores


def _order(path: BeamPath) -> tuple:
    return (-path.score, path.facts, path.nodes)


def _chosen(value: exploring.RelationsOutput | None, offered: int, width: int) -> list[tuple[int, float]]:
    """(position, score) of at most `width` relations that a reply names, each once, best first. Unknown numbers and
    scores of 0 or less are dropped; scores that sum to more than 1 are scaled to sum to 1."""
    scores: dict[int, float] = {}
    for choice in value.choices if value else ():
        if 1 <= choice.number <= offered and choice.score > 0:
            scores.setdefault(choice.number - 1, choice.score)
    best = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:width]
    return list(zip((at for at, _ in best), _at_most_one([score for _, score in best])))


def _shares(scores: Sequence[float], entities: int) -> list[float]:
    """A score for each entity; equal scores unless there is exactly one for each."""
    if len(scores) != entities:
        return [1 / entities] * entities
    return _at_most_one([max(0.0, score) for score in scores])


def _at_most_one(scores: Sequence[float]) -> list[float]:
    return [score / max(1.0, sum(scores)) for score in scores]
