"""Training a checkpoint: knowledge-graph completion, made questions, then questions with support.

The first and the last stage are the paper's (arXiv 2502.01113, section 3.2.3); the middle one is ours, because a small
corpus has few questions with support and any amount of made ones (`samples.py`). The same sources, settings and seed
give the same weights: every step draws from a generator of its own number, on one thread unless told otherwise. A
stopped training goes on where its last check was saved."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from workbench import threads
from workbench.display import tqdm
from workbench.errors import DataError, SettingError
from workbench.index import Index
from workbench.index.store import key_of, write_atomically
from workbench.llm.engine import Engine, RulesEngine
from workbench.methods.gfm_rag import checkpoint
from workbench.methods.gfm_rag.hub import HISTORY, Checked, Trained
from workbench.methods.gfm_rag.network import COMPLETION, Edges, Network, Shape, balanced_bce, edges_of, retrieval_loss
from workbench.methods.gfm_rag.samples import KINDS, Sample, supported, synthetic
from workbench.records import Question
from workbench.settings import Natural, NonNegative, Positive, Share, validated

LAYERS = ("passages", "facts", "synonyms", "relations")
STAGES = ("completion", "made", "supported")
STATE = "training.pt"
HELD_OUT = 10  # one of so many samples is for validation
VALIDATED = 192  # at most so many of them in a check


@validated
class Settings:
    """`width`, `layers`: of the network. `completion`, `made`, `supported`: steps of the stages, of `batch` questions
    each. `kinds`: of made questions; `samples` of each kind and index. `mixed`: share of the steps of the last stage
    that train on made questions, so that it forgets nothing. `rate` falls to its tenth over the second half of a stage.
    `noise`: length of the random vector that each step adds to the unit vectors of relations and questions, and
    `dropped` the share of edges that it leaves out, so that a few graphs are not learnt by heart.
    `check`: steps between two validations; a stage ends where `patience` of them brought nothing better. `clip`: of the
    gradient's norm."""

    width: Positive = 48
    layers: Positive = 4
    completion: Natural = 100
    made: Natural = 800
    supported: Natural = 2000
    batch: Positive = 16
    kinds: tuple[str, ...] = KINDS
    samples: Positive = 1500
    mixed: Share = 0.3
    noise: NonNegative = 0.3
    dropped: Share = 0.2
    rate: NonNegative = 3e-3
    clip: NonNegative = 1.0
    check: Positive = 100
    patience: Positive = 12
    seed: Natural = 1024

    def __post_init__(self):
        if unknown := [kind for kind in self.kinds if kind not in KINDS]:
            raise SettingError(f"kinds={unknown[0]!r} is unknown; choose from {', '.join(KINDS)}")


class Source(NamedTuple):
    """An index and questions with support about it; without questions, only made samples are used for training."""

    index: Index
    questions: tuple[Question, ...] = ()

    @classmethod
    def of(cls, index: Index, questions: Iterable[Question]) -> Source:
        """An index with those of the questions whose gold passages are all in it."""
        rows = index.passages.row
        with_support = (question for question in questions if question.support)
        return cls(index, tuple(question for question in with_support if all(map(rows.__contains__, question.support))))


def train(
    sources: Sequence[Source | Index],
    out: str | Path,
    settings: Settings | None = None,
    *,
    engine: Engine | None = None,
    device: str = "auto",
    progress: bool = True,
    **given: Any,
) -> Trained:
    """Train on one or more indexes of one encoder and write a checkpoint to `out`.

    `given` are fields of `Settings`; `engine` names the entities of the questions (`rules` if none is given); `device`:
    `auto` takes a GPU where there is one. Raises SettingError for indexes that do not fit together or `out` of another
    training, DataError where nothing can be trained on."""
    settings = settings or Settings(**given)
    sources = [source if isinstance(source, Source) else Source(source) for source in sources]
    encoder = _one_encoder(sources)
    engine = engine or RulesEngine()
    sources = [Source(source.index.ensure(LAYERS, engine), source.questions) for source in sources]
    out = Path(out).expanduser()
    out.mkdir(parents=True, exist_ok=True)
    with _reproducible(device) as where:
        key = key_of(
            settings=asdict(settings), device=where.type, engine=engine.name, encoder=encoder,
            layers=[[source.index.layer(kind).hash for kind in LAYERS] for source in sources],
            questions=[[[q.question, q.support] for q in source.questions] for source in sources],
        )  # fmt: skip
        if _is_trained(out, key):
            return Trained.open(out)
        course = _Course.open(out / STATE, key)
        text = sources[0].index.relations.vectors.shape[1]
        network = checkpoint.untrained(Shape(text, settings.width, settings.layers), settings.seed).network.to(where)
        graphs = [_Graph.of(source, settings, engine, where, progress) for source in sources]
        for number, stage in enumerate(STAGES):
            course = _stage(number, stage, graphs, network, settings, course, out / STATE, progress)
    if course.best is None:
        raise DataError("nothing to train on: no stage has a step and a sample; give more steps, or larger indexes")
    network.load_state_dict(course.best)
    trained = {"settings": asdict(settings), "sources": [_described(source) for source in sources], "key": key}
    checkpoint.write(out, network, encoder, training=trained)
    skipped = sum(graph.skipped for graph in graphs)
    done = Trained(out, network.parameters_in_all, skipped, tuple(course.history))
    write_atomically(out / HISTORY, done.content())
    (out / STATE).unlink(missing_ok=True)
    return done


@dataclass
class _Course:
    """How far a training is: the number of its stage, the steps in it; `state` and `optimizer` at the last check, None
    between stages; `best`: the best state so far; `waited`: checks of the stage since then."""

    key: str
    stage: int = 0
    step: int = 0
    state: dict[str, Tensor] | None = None
    optimizer: dict[str, Any] | None = None
    best: dict[str, Tensor] | None = None
    best_mrr: float = -1.0
    waited: int = 0
    history: list[Checked] = field(default_factory=list)

    @classmethod
    def open(cls, file: Path, key: str) -> _Course:
        """The course that was saved for this key, or a new one. Raises SettingError where the folder holds another
        training, DataError where its state is damaged."""
        if not file.exists():
            return cls(key)
        try:
            stored = torch.load(file, map_location="cpu", weights_only=True)
            course = cls(**{**stored, "history": [Checked(*row) for row in stored["history"]]})
        except (RuntimeError, EOFError, OSError, KeyError, TypeError, ValueError, pickle.UnpicklingError) as error:
            reason = type(error).__name__
            raise DataError(
                f"{file} is damaged ({reason}), so the training cannot go on; delete it to begin anew"
            ) from None
        if course.key != key:
            raise SettingError(
                f"{file.parent} holds a stopped training on other data or with other settings; train into another "
                f"folder, or delete {file.name} to begin anew"
            )
        return course

    def save(self, file: Path) -> None:
        checkpoint.save(file, {**self.__dict__, "history": [tuple(row) for row in self.history]})


def _is_trained(out: Path, key: str) -> bool:
    """Whether the training of this key is done: its state goes last. Raises SettingError for another checkpoint."""
    if (out / STATE).exists() or not (out / checkpoint.WEIGHTS).exists():
        return False
    if checkpoint.read_config(out / checkpoint.CONFIG).get("training", {}).get("key") != key:
        raise SettingError(f"{out} holds another checkpoint; train into another folder")
    return True


def _stage(
    number: int, stage: str, graphs: list[_Graph], network: Network, settings: Settings, course: _Course, file: Path,
    progress: bool,
) -> _Course:  # fmt: skip
    steps, batches = getattr(settings, stage), _Batches(graphs, stage, settings)
    if course.stage > number or not steps or not batches:
        return course
    optimizer = torch.optim.AdamW(network.parameters(), lr=settings.rate)
    if course.stage == number and course.state is not None:
        network.load_state_dict(course.state)
        optimizer.load_state_dict(course.optimizer)
    else:
        if course.best is not None:
            network.load_state_dict(course.best)
        course.stage, course.step, course.waited, course.best_mrr = number, 0, 0, -1.0
        course.history.append(Checked(stage, 0, None, batches.mrr(network)))
    losses: list[float] = []
    with tqdm(total=steps, desc=stage, unit="step", initial=course.step, disable=not progress) as bar:
        while course.step < steps and course.waited < settings.patience:
            for group in optimizer.param_groups:
                group["lr"] = settings.rate * _share_of_rate(course.step / steps)
            loss = batches.loss(network, np.random.default_rng([settings.seed, number, course.step]))
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), settings.clip)
            optimizer.step()
            losses.append(loss.item())
            course.step += 1
            bar.update()
            if course.step % settings.check == 0 or course.step == steps:
                mrr = batches.mrr(network)
                course.history.append(Checked(stage, course.step, float(np.mean(losses)), mrr))
                bar.set_postfix(loss=f"{np.mean(losses):.3f}", mrr=f"{mrr:.3f}")
                losses = []
                course.waited += 1
                if mrr > course.best_mrr:
                    course.best, course.best_mrr, course.waited = _copy(network), mrr, 0
                course.state, course.optimizer = _copy(network), optimizer.state_dict()
                course.save(file)
    course.stage, course.state, course.optimizer = number + 1, None, None
    course.save(file)
    return course


@dataclass
class _Graph:
    """A source, ready for steps: its edges, the vectors of its relations, and its samples with their vectors."""

    edges: Edges
    relations: Tensor
    share: Tensor  # 1 / documents of each phrase
    samples: dict[str, list[Sample]]
    vectors: dict[str, Tensor]
    skipped: int

    @classmethod
    def of(cls, source: Source, settings: Settings, engine: Engine, where: torch.device, progress: bool) -> _Graph:
        index = source.index
        made = [sample for kind in settings.kinds for sample in synthetic(index, kind, settings.samples, settings.seed)]
        supported_samples, skipped = supported(index, source.questions, engine, progress=progress)
        samples = {"made": made if settings.made else [], "supported": supported_samples}
        vectors = {
            stage: torch.from_numpy(index.encoder.encode([sample.text for sample in some])).to(where)
            for stage, some in samples.items()
            if some
        }
        documents = torch.from_numpy(index.graph.passages_of).float().clamp(min=1)
        relations = torch.from_numpy(index.relations.features).to(where)
        return cls(edges_of(index).to(where), relations, (1 / documents).to(where), samples, vectors, skipped)

    @cached_property
    def triples(self) -> Tensor:
        """(edges, 3): head, relation, tail, inverses included."""
        return torch.stack([self.edges.source, self.edges.relation, self.edges.target], dim=1)

    def held_out(self, stage: str) -> list[int]:
        return list(range(0, len(self.samples[stage]), HELD_OUT))

    def trained_on(self, stage: str) -> list[int]:
        return [at for at in range(len(self.samples[stage])) if at % HELD_OUT]

    def batch(self, stage: str, rows: Sequence[int]) -> tuple[Tensor, Tensor, Tensor]:
        """Vectors (batch, text), start weights and positives (nodes, batch) of samples."""
        start = torch.zeros(self.edges.nodes, len(rows), device=self.share.device)
        positive = torch.zeros_like(start)
        for column, row in enumerate(rows):
            sample = self.samples[stage][row]
            start[list(sample.starts), column] = self.share[list(sample.starts)]
            positive[list(sample.positives), column] = 1.0
        return self.vectors[stage][list(rows)], start, positive


class _Batches:
    """The steps of a stage over all graphs: each step takes one graph, the more often the more samples it has."""

    def __init__(self, graphs: Sequence[_Graph], stage: str, settings: Settings):
        self.graphs, self.stage, self.settings = graphs, stage, settings

    def __bool__(self) -> bool:
        return bool(self._sizes(self.stage).sum())

    def loss(self, network: Network, rng: np.random.Generator) -> Tensor:
        stage = self.stage
        if stage == "supported" and rng.random() < self.settings.mixed and self._sizes("made").sum():
            stage = "made"
        sizes = self._sizes(stage)
        graph = self.graphs[rng.choice(len(sizes), p=sizes / sizes.sum())]
        if stage == "completion":
            return _completion(network, graph, rng.integers(len(graph.edges), size=self.settings.batch))
        questions, start, positive = graph.batch(stage, rng.choice(graph.trained_on(stage), self.settings.batch))
        random = np.random.default_rng(rng.integers(1 << 62))
        questions, relations = (self._noisy(tensor, random) for tensor in (questions, graph.relations))
        dropped = torch.from_numpy(random.random(len(graph.edges)) < self.settings.dropped).to(start.device)
        return retrieval_loss(network(questions, start, relations, graph.edges.without(dropped)), positive)

    def _noisy(self, vectors: Tensor, rng: np.random.Generator) -> Tensor:
        noise = rng.standard_normal(vectors.shape, dtype=np.float32) * (self.settings.noise / vectors.shape[1] ** 0.5)
        return vectors + torch.from_numpy(noise).to(vectors.device)

    @torch.no_grad()
    def mrr(self, network: Network) -> float:
        """Over held-out samples; of completion, over those of the next stage that has some: its own task is a means."""
        stage = self.stage if self.stage != "completion" else "made"
        total, count, share = 0.0, 0, max(1, VALIDATED // len(self.graphs))
        for graph in self.graphs:
            held = graph.held_out(stage)
            held = [held[at] for at in np.linspace(0, len(held) - 1, min(share, len(held))).astype(int)]
            for first in range(0, len(held), self.settings.batch):
                rows = held[first : first + self.settings.batch]
                questions, start, positive = graph.batch(stage, rows)
                logits = network(questions, start, graph.relations, graph.edges)
                for column, row in enumerate(rows):
                    sought = sorted(set(graph.samples[stage][row].positives) - set(graph.samples[stage][row].starts))
                    others = logits[:, column][positive[:, column] == 0]
                    ranks = [1 + int((others >= logits[row, column]).sum()) for row in sought]
                    total, count = total + sum(1 / rank for rank in ranks), count + len(ranks)
        return total / count if count else 0.0

    def _sizes(self, stage: str) -> np.ndarray:
        if stage == "completion":
            return np.array([float(len(graph.edges)) for graph in self.graphs])
        return np.array([float(len(graph.trained_on(stage))) for graph in self.graphs])


def _completion(network: Network, graph: _Graph, rows: np.ndarray) -> Tensor:
    """(head, relation) → tail: messages start at the head with the vector of the relation; neither the triple nor its
    inverse is in the graph. Other tails of the same head and relation are no negatives."""
    triples = graph.triples[torch.from_numpy(rows).to(graph.share.device)]
    heads, kinds, tails = triples.T
    columns = torch.arange(len(rows), device=heads.device)
    nodes, total = graph.edges.nodes, len(graph.relations)
    inverse = (kinds + total // 2) % total
    answer_keys = torch.cat([_keys(heads, kinds, tails, total, nodes), _keys(tails, inverse, heads, total, nodes)])
    edges = graph.edges
    remaining = edges.without(torch.isin(_keys(edges.source, edges.relation, edges.target, total, nodes), answer_keys))
    relations = network.rel_mlp(graph.relations)
    start = torch.zeros(nodes, len(rows), device=heads.device)
    start[heads, columns] = 1.0
    positive = torch.zeros_like(start)
    positive[tails, columns] = 1.0
    counted_in = torch.ones_like(start)
    for column in range(len(rows)):
        also = edges.target[(edges.source == heads[column]) & (edges.relation == kinds[column])]
        counted_in[also, column] = 0.0
    counted_in[tails, columns] = 1.0
    logits = network.passed(relations.index_select(0, kinds), start, relations, remaining)
    return balanced_bce(logits, positive, COMPLETION, counted_in)


def _keys(heads: Tensor, relations: Tensor, tails: Tensor, kinds: int, nodes: int) -> Tensor:
    return (heads * kinds + relations) * nodes + tails


def _share_of_rate(done: float) -> float:
    """1 over the first half of a stage, then falling to 0.1."""
    return 1.0 if done < 0.5 else 1.0 - 0.9 * (2 * done - 1)


def _copy(network: Network) -> dict[str, Tensor]:
    return {name: value.detach().cpu().clone() for name, value in network.state_dict().items()}


def _one_encoder(sources: Sequence[Source]) -> str:
    if not sources:
        raise SettingError("no index was given to train on; pass at least one")
    names = {source.index.manifest["encoder"]["name"]: source.index.folder for source in sources}
    if len(names) > 1:
        encoders = ", ".join(f"{folder} ({name})" for name, folder in names.items())
        raise SettingError(f"the indexes have several encoders: {encoders}; build them with one")
    return checkpoint.plain(next(iter(names)))


def _described(source: Source) -> dict[str, Any]:
    index = source.index
    return {
        "name": index.name, "facts": len(index.facts.facts), "passages": len(index.passages.passages),
        "layers": index.facts.hash, "questions": len(source.questions),
    }  # fmt: skip


@contextmanager
def _reproducible(device: str) -> Iterator[torch.device]:
    """The device; on a CPU, one thread: for so small products more of them wait for each other, and the sums would
    depend on their number."""
    if device not in ("auto", "cpu", "cuda"):
        raise SettingError(f"device={device!r} is unknown; choose auto, cpu or cuda")
    there = torch.cuda.is_available()
    if device == "cuda" and not there:
        raise SettingError("device='cuda', but torch finds no GPU here; choose auto or cpu")
    if there and device != "cpu":
        yield torch.device("cuda")
        return
    with threads.lent(1):
        yield torch.device("cpu")
