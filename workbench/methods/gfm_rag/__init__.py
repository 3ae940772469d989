"""GFM-RAG: a graph neural network, trained on many graphs, scores the entities of any graph for a question.

Follows "GFM-RAG: Graph Foundation Model for Retrieval Augmented Generation" (arXiv 2502.01113) and release 1.0 of the
authors' code (RManLuo/gfm-rag):

    starts   = the phrases closest to the entities of the question
    logits   = messages, layer by layer, from the starts over facts, synonyms and their inverses
    ranking  = documents by their best entities, rare ones first

The index provides phrases, facts, synonyms and vectors of relation names. The weights are a checkpoint: `mini`, a small
one of this project's own, comes with it; the published one is loaded from a folder or the hub (docs/gfm_rag.md).

From entities to documents (GFM-RAG, section 3.2.2; the rankers of the released code).

Every ranker gives each entity a weight, and a document the sum of the weights of its entities. The one by default
takes the logits only to choose the best entities: each then counts 1 / its number of documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from workbench.encoding.similarity import minmax, top
from workbench.errors import SettingError
from workbench.index.relations import relation_name
from workbench.methods.base import Method
from workbench.methods.gfm_rag.passing import LinkedEntities, PassedLayer, RankedDocuments, RankedEntities
from workbench.operators.linking import Link, late, near
from workbench.records import Entity, Evidence, Path, Scored, ranked
from workbench.settings import Natural, Positive, validated
from workbench.steps import named_entities
from workbench.text import storable
from workbench.trace import Trace

Ranker = Literal["idf_topk", "idf_sigmoid", "simple", "idf", "topk"]


class Ranked(NamedTuple):
    """`rows`: documents with an entity that counts, best first; `scores`: min-max over all documents, of these rows;
    `ties`: how many of the rows share their score with another; `weights`: what each entity gives, (n_e,)."""

    rows: np.ndarray
    scores: np.ndarray
    ties: int
    weights: np.ndarray


def entity_weights(logits: np.ndarray, documents: np.ndarray, ranker: Ranker, best: int) -> np.ndarray:
    """What each entity gives to a document, float64 (n_e,).

        simple        p               idf           p / f              of all entities
        topk          1               idf_topk      1 / f              of the `best` entities, 0 of others
                                      idf_sigmoid   σ(p) / f           likewise (not in the released code)

    with the logit p and f, the number of `documents` of an entity; one in no document gives nothing."""
    share = np.divide(1.0, documents, out=np.zeros(len(logits)), where=documents > 0)
    logits = logits.astype(np.float64)
    if ranker == "simple":
        return logits
    if ranker == "idf":
        return logits * share
    weights = np.zeros(len(logits))
    chosen = top(logits, best)
    weights[chosen] = {"topk": 1.0, "idf_topk": share[chosen], "idf_sigmoid": expit(logits[chosen]) * share[chosen]}[
        ranker
    ]
    return weights


def rank(logits: np.ndarray, context: sp.csr_array, documents: np.ndarray, ranker: Ranker, best: int) -> Ranked:
    """Documents by the weights of their entities. `context`: (n_p, n_e), 1 where a document has an entity.

    Many scores are equal, because few entities count: then the sum of σ(p) / f over all entities of the document
    decides, then its place in the corpus."""
    weights = entity_weights(logits, documents, ranker, best)
    raw = context @ weights
    rows = np.flatnonzero(context @ (weights != 0).astype(float))
    finer = context @ entity_weights(logits, documents, "idf_sigmoid", len(logits))
    rows = rows[np.lexsort((rows, -finer[rows], -raw[rows]))]
    scores = minmax(raw)[rows]
    _, counts = np.unique(scores, return_counts=True)
    return Ranked(rows, scores, int(counts[counts > 1].sum()), weights)


TRACED, LIT = 20, 30  # entities and documents that the trace lists; entities of each layer
TIE_RULE = "sum of σ(logit) / documents over all entities of the document, then its place in the corpus"
UNTRAINED = "untrained"


class GFMRAG(Method):
    """Query-dependent message passing over the graph of facts; entities are ranked, and documents by them."""

    name = "gfm_rag"
    paper = "GFM-RAG (arXiv 2502.01113)"
    layers = ("passages", "facts", "synonyms", "relations")
    steps = ("named_entities",)
    scale = "gfm"

    @validated
    class Settings:
        """Defaults of release 1.0.

        checkpoint    `mini` (bundled, for the encoder `minilm`), a folder, a hub id with its commit, or `untrained`:
                      random weights by `seed`, 3 layers of 32, to compare with
        ranker        how entities become documents; `idf_sigmoid` is not in the released code
        top_entities  entities that count in the rankers `idf_topk`, `idf_sigmoid` (20 in the code) and `topk` (10)
        pairs         `last`: one relation for an ordered pair of phrases, as in the code; `all`: every one
        linking       of a named entity: `vector`, the phrase with the closest vector, or `late`, the one whose words
                      match best, as ColBERT does in release 1.0 (both with the index's encoder)
        start_weight  w_e: `idf`, 1 / number of documents of the entity, or `one`
        fill          whether the dense ranking follows, below, the documents that no ranked entity is in"""

        checkpoint: str = "mini"
        ranker: Ranker = "idf_topk"
        top_entities: Positive = 20
        pairs: Literal["last", "all"] = "last"
        linking: Literal["vector", "late"] = "vector"
        start_weight: Literal["idf", "one"] = "idf"
        fill: bool = True
        seed: Natural = 0

    def prepare(self) -> None:
        from workbench.methods.gfm_rag import checkpoint

        index = self.index
        self._facts, self._passages, graph = index.facts, index.passages, index.graph
        self._passage_vectors = np.asarray(self._passages.vectors)
        self._context, self._documents = graph.context, graph.passages_of
        self.checkpoint: checkpoint.Checkpoint = self._loaded()

    @property
    def weights_hash(self) -> str:
        return self.checkpoint.sha256

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        starts, failed = self.link(question, trace)
        if not starts:
            return self._dense(question, k, failed or "no entity of the graph is linked to the question")
        logits = self.pass_messages(question, starts, trace)
        ranking = self.rank_documents(logits, trace)
        return self._evidence(question, k, logits, ranking, failed)

    def link(self, question: str, trace: Trace | None = None) -> tuple[list[tuple[int, float]], str]:
        """(phrase row, w_e) of the entities of the question, and what failed, in words. Each entity that the Step names
        is linked to the closest phrase; where it names none, the whole question is."""
        trace = trace or Trace("off")
        with LinkedEntities.open(trace) as write:
            value = named_entities.Input("", storable(question))
            (result,) = self.engine.run(named_entities.STEP, [value], trace=trace)
            named = tuple(result.value.named_entities) if result.value else ()
            linked = self._closest(named) or self._closest([storable(question)])
            starts = self._weighed(list(linked))
            phrases = self._facts.phrases
            write(
                named=named,
                linked=tuple((link.name, phrases[link.phrase], link.cosine) for link in linked.values()),
                starts=tuple((phrases[row], weight) for row, weight in starts),
            )
        return starts, f"naming the entities of the question failed: {result.failure}" if result.failure else ""

    def pass_messages(
        self, question: str, starts: Sequence[tuple[int, float]], trace: Trace | None = None
    ) -> np.ndarray:
        """The logit of each phrase, float32 (n_e,)."""
        trace = trace or Trace("off")
        with RankedEntities.open(trace) as write:
            logits = self._passed(question, starts, trace) if trace else self.logits([question], [starts])[0]
            best = top(logits, TRACED)
            write(
                checkpoint=self.checkpoint.name,
                of=len(logits),
                entities=tuple((self._facts.phrases[row], float(logits[row])) for row in best),
            )
        return logits

    def _passed(self, question: str, starts: Sequence[tuple[int, float]], trace: Trace) -> np.ndarray:
        """The logits, with an event for each layer."""
        layers, logits = self.reach.traced(*self._inputs([question], [starts])[0])
        phrases, names = self._facts.phrases, self.index.relations.names
        for number, (rows, changes) in enumerate(layers):
            with PassedLayer.open(trace, layer=number) as write:
                norms = changes.norm(dim=1).numpy()
                best = [int(at) for at in top(norms, LIT)]
                ends = [int(rows[at]) for at in best]
                messages = self.reach.strongest(layers[number - 1], number - 1, ends) if number else ()
                write(
                    reached=len(rows),
                    messages=tuple(
                        (phrases[message.source], relation_name(names, message.relation), phrases[end], message.norm)
                        for message, end in zip(messages, ends)
                        if message
                    ),
                    entities=tuple((phrases[end], float(norms[at])) for at, end in zip(best, ends)),
                )
        return logits.numpy()

    def logits(self, questions: Sequence[str], starts: Sequence[Sequence[tuple[int, float]]]) -> np.ndarray:
        """Of several questions at once, each with its start phrases and their weights: float32 (questions, n_e)."""
        import torch

        vectors, starts = zip(*self._inputs(questions, starts))
        return self.reach.logits(torch.stack(vectors), starts).numpy()

    def _inputs(self, questions: Sequence[str], starts: Sequence[Sequence[tuple[int, float]]]):
        """(vector, start) of each question, as `Reach` takes them."""
        import torch

        from workbench.methods.gfm_rag.reach import Start

        return [
            (torch.tensor(self.index.encode_query(question)), Start(*zip(*start)) if start else Start((), ()))
            for question, start in zip(questions, starts)
        ]

    def rank_documents(self, logits: np.ndarray, trace: Trace | None = None) -> Ranked:
        with RankedDocuments.open(trace or Trace("off")) as write:
            settings = self.settings
            ranking = rank(logits, self._context, self._documents, settings.ranker, settings.top_entities)
            if trace:
                rows = ranking.rows[:TRACED]
                write(
                    ranker=settings.ranker,
                    ties=ranking.ties,
                    tie_rule=TIE_RULE,
                    given=tuple(self._given(rows, ranking.weights)),
                    documents=tuple((self._id(row), float(score)) for row, score in zip(rows, ranking.scores)),
                )
        return ranking

    def explain(self, question: str, entity: str | None = None, k: int = 5) -> tuple[Scored[Path], ...]:
        """The k paths that carried most of the logit of an entity of the graph, by default the best one that is no
        start: from a start entity, with the passages that state its facts (`interpretation`). Raises SettingError for
        an entity that the graph does not have."""
        import torch

        from workbench.methods.gfm_rag.reach import best_paths, edge_gradients

        if entity is not None and entity not in self._facts.phrase_row:
            close = ", ".join(repr(self._facts.phrases[link.phrase]) for link in near(self.index, entity, 3))
            raise SettingError(f"the graph has no entity {entity!r}; close to it: {close or 'none'}")
        starts, _ = self.link(question)
        if not starts:
            return ()
        if entity is None:
            logits, first = self.pass_messages(question, starts), {row for row, _ in starts}
            target = next((int(row) for row in top(logits, len(starts) + 1) if row not in first), starts[0][0])
        else:
            target = self._facts.phrase_row[entity]
        ((vector, start),) = self._inputs([question], [starts])
        relations = torch.from_numpy(self.index.relations.features)
        network, edges = self.checkpoint.network, self.reach.edges
        gradients = edge_gradients(network, vector, start, relations, edges, target)
        best = best_paths(gradients, edges, start.rows, target, k)
        return tuple(Scored(self._path(steps), weight) for steps, weight in best)

    def _path(self, steps: Sequence[int]) -> Path:
        edges, phrases, names = self.reach.edges, self._facts.phrases, self.index.relations.names
        rows = [int(edges.source[steps[0]]), *(int(edges.target[step]) for step in steps)]
        stated: dict[str, None] = {}
        for first, other in pairwise(rows):
            for fact in self._facts.between(first, other):
                stated.update((self._id(row), None) for row in self._facts.stating(fact))
        relations = tuple(relation_name(names, int(edges.relation[step])) for step in steps)
        return Path(tuple(phrases[row] for row in rows), relations, tuple(stated))

    @cached_property
    def reach(self):
        """The network over this index, with the states that no question changes."""
        import torch

        from workbench.methods.gfm_rag.network import edges_of
        from workbench.methods.gfm_rag.reach import Reach

        relations = torch.from_numpy(self.index.relations.features)
        return Reach(self.checkpoint.network, relations, edges_of(self.index, self.settings.pairs))

    def _loaded(self):
        from workbench.methods.gfm_rag import checkpoint, hub, network

        encoder, size = self.index.manifest["encoder"]["name"], self._passage_vectors.shape[1]
        if self.settings.checkpoint == UNTRAINED:
            return checkpoint.untrained(network.Shape(size, 32, 3), self.settings.seed, encoder)
        loaded = checkpoint.read(hub.locate(self.settings.checkpoint), self.settings.checkpoint)
        if checkpoint.plain(loaded.encoder) != checkpoint.plain(encoder) or loaded.network.shape.text != size:
            raise SettingError(
                f"checkpoint={self.settings.checkpoint!r} was trained with the encoder {loaded.encoder!r} of "
                f"{loaded.network.shape.text} dimensions, and this index has {encoder!r} of {size}; build an index "
                f"with encoder={checkpoint.plain(loaded.encoder)!r}, or train a checkpoint for this one "
                "(workbench train gfm)"
            )
        return loaded

    def _closest(self, names: Sequence[str]) -> dict[int, Link]:
        """Phrase row → the first of the names that it is the closest phrase of. A name without a letter or digit has
        none."""
        linked: dict[int, Link] = {}
        link_of = late if self.settings.linking == "late" else near
        for name in names:
            for link in link_of(self.index, name) if any(map(str.isalnum, name)) else ():
                linked.setdefault(link.phrase, link)
        return linked

    def _weighed(self, rows: Sequence[int]) -> list[tuple[int, float]]:
        """w_e of each row; 1 where all would be 0, because the messages would then carry nothing."""
        if self.settings.start_weight == "one":
            return [(row, 1.0) for row in rows]
        weights = [1 / self._documents[row] if self._documents[row] else 0.0 for row in rows]
        return [(row, float(weight)) for row, weight in zip(rows, weights if any(weights) else [1.0] * len(rows))]

    def _given(self, rows: Sequence[int], weights: np.ndarray):
        """(document, entity, share of its sum) for the entities that gave a document anything."""
        for row in rows:
            entities = self._context.indices[self._context.indptr[row] : self._context.indptr[row + 1]]
            entities = entities[weights[entities] != 0]
            total = np.abs(weights[entities]).sum()
            for entity in entities[np.argsort(-np.abs(weights[entities]), kind="stable")][:TRACED]:
                yield self._id(row), self._facts.phrases[entity], float(weights[entity] / total)

    def _id(self, row: int) -> str:
        return self._passages.passages[row].id

    def _evidence(self, question: str, k: int, logits: np.ndarray, ranking: Ranked, failed: str) -> Evidence:
        passages, head = self._passages.passages, ranking.rows[:k]
        scored = list(ranked([passages[row] for row in head], ranking.scores[:k]))
        if self.settings.fill and len(head) < k:
            cosines, seen = self._cosines(question), set(head.tolist())
            rest = [row for row in top(cosines, k + len(head)) if row not in seen][: k - len(head)]
            scored += ranked([passages[row] for row in rest], np.minimum(0.0, cosines[rest] - 1.0))
        best = top(logits, self.settings.top_entities)
        entities = tuple(Scored(Entity(self._facts.phrases[row]), float(logits[row])) for row in best)
        return Evidence(question, self.label, self.scale, tuple(scored), entities=entities, fallback=failed or None)

    def _dense(self, question: str, k: int, why: str) -> Evidence:
        scores = minmax(self._cosines(question))
        best = top(scores, k)
        dense_ranking = ranked([self._passages.passages[row] for row in best], scores[best])
        return Evidence(question, self.label, "minmax-cosine", dense_ranking, fallback=f"dense ranking, because {why}")

    def _cosines(self, question: str) -> np.ndarray:
        return self._passage_vectors @ self.index.encode_query(question, "passages")
