"""Layer `facts`: normalised triples and their phrases, each with a vector, and which passage states which fact.

As in HippoRAG 2, phrases come from triples only, never from the entity lists. A passage that states the same normalised
fact several times counts once. The released code drops repeated triples before it normalises them, so there two
spellings of a fact count twice (`respelled`, `Index.graph_of_spellings`). Phrases and facts are sorted: in the released
code, their rows depend on the order of the passages and on hashing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from workbench.data import Extraction
from workbench.index.extractions import ExtractionsLayer
from workbench.index.layer import Build, Layer
from workbench.index.passages import PassagesLayer
from workbench.index.store import map_vectors, read_table, write_table
from workbench.index.vectors import Known, encode_to
from workbench.records import Triple
from workbench.settings import validated
from workbench.text import PHRASE_RULES


@validated
class Settings:
    """`normalise`: `unicode` keeps letters and digits of every script, and drops triples whose subject or object has
    none; `ascii` is the released code's rule, which keeps such triples under the empty string."""

    normalise: Literal[*PHRASE_RULES] = "unicode"


class FactsLayer(Layer):
    """Rows of `phrases` and `facts` are sorted.

    phrases          list[str], n_e; `phrase_vectors` float32 (n_e, d)
    facts            list[(subject, relation, object)], n_f; `fact_vectors` float32 (n_f, d)
    subjects, objects   int (n_f,): phrase rows
    stated           two int arrays (passage row, fact row), sorted
    """

    kind = "facts"
    needs = ("passages", "extractions")

    @classmethod
    def identity(cls, build: Build, settings: Settings) -> dict:
        return {"encoder": build.encoder.name}

    @classmethod
    def build(cls, folder: Path, build: Build, settings: Settings, old: FactsLayer | None) -> dict:
        passages: PassagesLayer = build.layers["passages"]
        extractions: ExtractionsLayer = build.layers["extractions"]
        stated: set[tuple[int, tuple[str, str, str]]] = set()
        dropped = 0
        for record in extractions.records:
            found = normalised(record.triples, settings)
            stated.update((passages.row[record.passage_id], fact) for fact in found)
            dropped += len(record.triples) - len(found)
        facts = sorted({fact for _, fact in stated})
        phrases = sorted({phrase for fact in facts for phrase in (fact[0], fact[2])})
        fact_row = {fact: row for row, fact in enumerate(facts)}
        rows = sorted((passage, fact_row[fact]) for passage, fact in stated)
        passage_rows, fact_rows = zip(*rows) if rows else ((), ())

        known_phrases = Known(old.phrases, old.phrase_vectors) if old else Known()
        known_facts = Known(list(map(fact_text, old.facts)), old.fact_vectors) if old else Known()
        texts = list(map(fact_text, facts))
        encoded = [
            encode_to(folder / f"{label}.npy", texts_, build.encoder, known, label=label, progress=build.progress)
            for label, texts_, known in (("phrases", phrases, known_phrases), ("facts", texts, known_facts))
        ]
        write_table(folder / "phrases.parquet", phrase=phrases)
        write_table(
            folder / "facts.parquet",
            subject=[fact[0] for fact in facts],
            relation=[fact[1] for fact in facts],
            object=[fact[2] for fact in facts],
        )
        write_table(
            folder / "stated.parquet",
            passage=np.array(passage_rows, dtype=np.int32),
            fact=np.array(fact_rows, dtype=np.int32),
        )
        return {"phrases": len(phrases), "facts": len(facts), "dropped": dropped, "encoded": sum(encoded)}

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.phrases: list[str] = read_table(folder / "phrases.parquet", strings=("phrase",))["phrase"]
        table = read_table(folder / "facts.parquet", strings=("subject", "relation", "object"))
        self.facts = list(zip(table["subject"], table["relation"], table["object"]))
        self.phrase_row = {phrase: row for row, phrase in enumerate(self.phrases)}
        self.subjects = np.array([self.phrase_row[fact[0]] for fact in self.facts], dtype=np.int64)
        self.objects = np.array([self.phrase_row[fact[2]] for fact in self.facts], dtype=np.int64)
        stated = read_table(folder / "stated.parquet")
        self.stated = (stated["passage"], stated["fact"])
        self._by_fact = np.argsort(stated["fact"], kind="stable")
        self._begins = np.searchsorted(stated["fact"][self._by_fact], np.arange(len(self.facts) + 1))
        self.phrase_vectors = map_vectors(folder / "phrases.npy")
        self.fact_vectors = map_vectors(folder / "facts.npy")

    def stating(self, fact: int) -> np.ndarray:
        """Rows of the passages that state a fact, in corpus order."""
        return self.stated[0][self._by_fact[self._begins[fact] : self._begins[fact + 1]]]

    def respelled(self, records: Iterable[Extraction]) -> list[int]:
        """Rows of the facts that a passage states in another spelling as well, once for each further one."""
        settings, row = Settings(**self.metadata["settings"]), {fact: at for at, fact in enumerate(self.facts)}
        found = []
        for record in records:
            spelled = [row[fact] for fact in normalised(dict.fromkeys(map(tuple, record.triples)), settings)]
            for fact in set(spelled):
                found += [fact] * (spelled.count(fact) - 1)
        return sorted(found)

    def between(self, one: int, other: int) -> Sequence[int]:
        """Rows of the facts that join two phrases, in either direction."""
        return self._by_pair.get((min(one, other), max(one, other)), ())

    def about(self, phrase: int) -> list[int]:
        """Rows of the facts that a phrase is an end of, ascending; none for a row that is no phrase."""
        begins, rows = self._by_phrase
        return rows[slice(*begins[phrase : phrase + 2])].tolist() if 0 <= phrase < len(self.phrases) else []

    @cached_property
    def _by_phrase(self) -> tuple[np.ndarray, np.ndarray]:
        """The facts of all phrases, those of phrase e from begins[e] to begins[e + 1]."""
        loops = self.subjects == self.objects
        phrases = np.r_[self.subjects, self.objects[~loops]]
        rows = np.r_[np.arange(len(self.facts)), np.flatnonzero(~loops)]
        order = np.lexsort((rows, phrases))
        return np.searchsorted(phrases[order], np.arange(len(self.phrases) + 1)), rows[order]

    @cached_property
    def _by_pair(self) -> dict[tuple[int, int], list[int]]:
        pairs = defaultdict(list)
        ends = zip(np.minimum(self.subjects, self.objects).tolist(), np.maximum(self.subjects, self.objects).tolist())
        for fact, pair in enumerate(ends):
            pairs[pair].append(fact)
        return dict(pairs)

    @cached_property
    def line_row(self) -> dict[str, int]:
        """Line of a fact, as in traces → its row."""
        return {fact_line(fact): row for row, fact in enumerate(self.facts)}

    def triple(self, row: int, passages: tuple[str, ...] = ()) -> Triple:
        return Triple(*self.facts[row], passages)

    def __repr__(self) -> str:
        return f"FactsLayer({len(self.facts):,} facts, {len(self.phrases):,} phrases)"


def normalised(triples: Iterable[Sequence[str]], settings: Settings) -> list[tuple[str, str, str]]:
    """Triples as facts, without those that the settings drop."""
    facts = [tuple(map(PHRASE_RULES[settings.normalise], triple)) for triple in triples]
    return facts if settings.normalise == "ascii" else [fact for fact in facts if fact[0] and fact[2]]


def fact_line(fact: Sequence[str]) -> str:
    """A fact as traces and tables show it."""
    return " — ".join(fact)


def fact_text(fact: tuple[str, str, str]) -> str:
    """What is encoded for a fact: the printed tuple, as in the released code."""
    return str(tuple(fact))
