"""Dense retrieval: passages ranked by the cosine of their vector and the question's. The baseline of every paper
here."""

from __future__ import annotations

from typing import Literal

import numpy as np

from workbench.encoding.similarity import top
from workbench.errors import SettingError
from workbench.methods.base import Method
from workbench.records import Evidence, ranked
from workbench.settings import neutral, validated
from workbench.trace import Trace


class Dense(Method):
    """Cosine over all passages: exact, or as Chroma finds them."""

    name = "dense"
    paper = "none: the encoder alone"
    scale = "cosine"

    @validated
    class Settings:
        """`store`: `exact` compares with every passage; `chroma` asks Chroma, whose neighbours are approximate and may
        differ from one filling to the next, in the index's folder or on a `server` (`host:port`). `title` and
        `contains` let only passages of this title, or with these words in title or text, be found."""

        store: Literal["exact", "chroma"] = neutral("exact")
        server: str = neutral("")
        title: str = neutral("")
        contains: str = neutral("")

    def prepare(self) -> None:
        self._passages = self.index.passages
        self._vectors = np.asarray(self._passages.vectors)
        settings, self._store, self._allowed = self.settings, None, None
        if settings.server and settings.store != "chroma":
            raise SettingError(
                f"dense[server={settings.server}] needs store=chroma; exact search has no server: leave server out"
            )
        if settings.store == "chroma":
            from workbench.index.chroma import PassageStore  # chromadb takes seconds to import

            self._store = PassageStore(self.index, settings.server)
        elif settings.title or settings.contains:
            rows = enumerate(self._passages.passages)
            self._allowed = np.array([row for row, passage in rows if self._passes(passage)], dtype=np.int64)

    def search(self, question: str, k: int, trace: Trace) -> Evidence:
        with trace.span("EMBEDDING", "encode question", text=question):
            vector = self.index.encode_query(question, "passages")
        best, cosines = self._nearest(vector, k)
        best_passages = ranked([self._passages.passages[row] for row in best], cosines)
        return Evidence(question, self.label, self.scale, best_passages)

    def _nearest(self, vector: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """(rows, cosines), best first."""
        if self._store:
            return self._store.nearest(vector, k, title=self.settings.title, contains=self.settings.contains)
        vectors = self._vectors if self._allowed is None else self._vectors[self._allowed]
        cosines = vectors @ vector
        best = top(cosines, k)
        return (best if self._allowed is None else self._allowed[best]), cosines[best]

    def _passes(self, passage) -> bool:
        title, contains = self.settings.title, self.settings.contains
        return (not title or passage.title == title) and contains in passage.content
