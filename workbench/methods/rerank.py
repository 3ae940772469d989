"""Reranking: the first passages of any method in a new order, by a model that reads question and passage together.

* With `model` a cross-encoder scores each pair: a folder, or a name of the hub, through sentence-transformers.
* Without one the engine orders them in lists, by the Step `rank_passages`: windows that overlap slide from the end of
  the ranking to its beginning, so that a good passage can rise all the way (RankGPT, arXiv 2304.09542, section 4)."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from workbench import threads
from workbench.encoding.models import check_device, device_here, local_first
from workbench.errors import SettingError
from workbench.methods.composite import Composite
from workbench.records import Evidence, Passage, by_place, ranked
from workbench.settings import Positive, neutral, validated
from workbench.steps import rank_passages
from workbench.trace import Trace


class Rerank(Composite):
    """`rerank[over=dense]` asks the engine, `rerank[over=rrf,model=cross-encoder/ms-marco-MiniLM-L6-v2]` a
    cross-encoder."""

    name = "rerank"
    paper = "none: a cross-encoder; lists as in Sun et al., RankGPT (arXiv 2304.09542)"
    steps = ("rank_passages",)
    scale = "1/rank"

    @validated
    class Settings:
        """The first `depth` passages of `over` are ordered anew, and no others returned. A cross-encoder reads up to
        `max_tokens` of a pair, `batch` pairs at a time, on `device`. A list has `window` passages, and the next begins
        `stride` before it."""

        over: Any = "dense"
        model: str | None = None
        depth: Positive = 50
        window: Positive = 20
        stride: Positive = 10
        max_tokens: Positive = 512
        batch: Positive = neutral(32)
        device: str | None = neutral(None)

        def __post_init__(self):
            if self.stride > self.window:
                raise SettingError(
                    f"stride={self.stride}; it should be at most window={self.window}, or passages fall between lists"
                )

    def asked(self) -> tuple[str, ...]:
        return () if self.settings.model else type(self).steps

    def prepare(self) -> None:
        if self.settings.model:
            self.scale = "cross-encoder"
            self._lock = threading.Lock()

    @property
    def weights_hash(self) -> str:
        own = fingerprint(self._model, self.settings.model) if self.settings.model else ""
        return " ".join(filter(None, (own, super().weights_hash)))

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        (over,) = self.parts
        evidence = over.retrieve(question, self.settings.depth, trace=trace)
        passages = [passage for passage, _ in evidence.passages]
        notes = [evidence.fallback] if evidence.fallback else []
        with trace.span("RERANKER", "order anew", passages=len(passages)) as span:
            if self.settings.model:
                scores = self._scores(question, passages)
                best = sorted(range(len(passages)), key=lambda row: -scores[row])[:k]
                order = ranked([passages[row] for row in best], [scores[row] for row in best])
            else:
                passages, failures = self._in_lists(question, passages, trace)
                notes += [f"{failures} lists could not be ordered, and stay as they were"] if failures else []
                order = by_place(passages[:k])
            span.score((scored.item.id, scored.score) for scored in order)
        return Evidence(question, self.label, self.scale, order, fallback="; ".join(notes) or None)

    def _in_lists(self, question: str, passages: list[Passage], trace: Trace) -> tuple[list[Passage], int]:
        """(the passages in the model's order, how many lists failed). A list whose Step failed stays as it is."""
        failures, window, stride = 0, self.settings.window, self.settings.stride
        for start in starts(len(passages), window, stride):
            part = passages[start : start + window]
            value = rank_passages.Input(question, tuple((passage.title, passage.text) for passage in part))
            (result,) = self.engine.run(rank_passages.STEP, [value], trace=trace)
            failures += result.failure is not None
            if result.value:
                passages[start : start + window] = ordered(part, result.value.documents)
        return passages, failures

    def _scores(self, question: str, passages: Sequence[Passage]) -> list[float]:
        pairs = [(question, passage.content) for passage in passages]
        with self._lock:  # one model, one thread pool
            return (
                self._model.predict(pairs, batch_size=self.settings.batch, show_progress_bar=False).tolist()
                if pairs
                else []
            )

    @cached_property
    def _model(self) -> Any:
        """The cross-encoder. Raises SettingError if there is none of this name."""
        from sentence_transformers import CrossEncoder

        name, device = self.settings.model, device_here(check_device(self.settings.device))
        threads.settle_torch()

        def make(local: bool) -> Any:
            return CrossEncoder(name, device=device, max_length=self.settings.max_tokens, local_files_only=local)

        try:
            return local_first(make, name, name, None)
        except (OSError, ValueError, ImportError) as error:
            raise SettingError(
                f"the cross-encoder {name!r} could not be loaded: {str(error).rstrip('.')}. Give its folder, or a name "
                "of the hub with the network on"
            ) from error


def starts(n: int, window: int, stride: int) -> list[int]:
    """Where the lists of `n` passages begin, the last list first.

    >>> starts(50, 20, 10), starts(7, 20, 10), starts(25, 20, 10)
    ([30, 20, 10, 0], [0], [5, 0])
    """
    last = max(0, n - window)
    return [*range(last, 0, -stride), 0] if n else []


def ordered(part: Sequence[Passage], numbers: Sequence[int]) -> list[Passage]:
    """The passages in the order of their numbers, from 1, each once; those that are not named stay behind, in their
    order. Models invent numbers."""
    first = [number - 1 for number in dict.fromkeys(numbers) if 1 <= number <= len(part)]
    return [part[row] for row in (*first, *(row for row in range(len(part)) if row not in first))]


def fingerprint(model: Any, name: str) -> str:
    """An identity of the weights behind a model's name: the commit of the hub, or the files of a folder."""
    if commit := getattr(model.model.config, "_commit_hash", None):
        return commit
    digest = hashlib.sha256()
    for path in sorted(path for path in Path(name).rglob("*") if path.is_file()):
        with path.open("rb") as file:
            digest.update(f"{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()
