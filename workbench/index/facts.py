"""Layer `facts`: normalised triples and their phrases, each with a vector, and which passage states which fact.

As in HippoRAG 2, phrases come from triples only, never from the entity lists. A passage that states the same normalised
fact several times counts once. The released code drops repeated triples before it normalises them, so there two
spellings of a fact count twice (`respelled`, `Index.graph_of_spellings`). Phrases and facts are sorted: in the released
code, their rows depend on the order of the passages and on hashing.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa

from workbench.data import Extraction
from workbench.index.extractions import ExtractionsLayer
from workbench.index.layer import Build, Layer
from workbench.index.passages import PassagesLayer
from workbench.index.store import array_of, made_rows, map_vectors, read_columns, read_table, table_rows, write_table
from workbench.index.vectors import encode_to
from workbench.records import Triple
from workbench.settings import validated
from workbench.text import PHRASE_RULES

_COLUMNS = ("subject", "relation", "object")


@validated
class Settings:
    """`normalise`: `unicode` keeps letters and digits of every script, and drops triples whose subject or object has
    none; `ascii` is the released code's rule, which keeps such triples under the empty string."""

    normalise: Literal[*PHRASE_RULES] = "unicode"


class FactsLayer(Layer):
    """Rows of `phrases` and `facts` are sorted.

    phrases          list[str], n_e, `phrase_column` in Arrow; `phrase_vectors` float32 (n_e, d)
    facts            list[(subject, relation, object)], n_f; `fact_vectors` float32 (n_f, d)
    subjects, objects   int (n_f,): phrase rows
    stated           two int arrays (passage row, fact row), sorted
    """

    kind = "facts"
    inputs = ("passages", "extractions")

    @classmethod
    def build(cls, folder: Path, build: Build, settings: Settings, old: FactsLayer | None) -> dict:
        passages: PassagesLayer = build.layers["passages"]
        extractions: ExtractionsLayer = build.layers["extractions"]
        stated = _stated(extractions.records, passages.row, settings)
        ends = np.flatnonzero(np.bincount(stated.facts[:, [0, 2]].ravel(), minlength=len(stated.forms)))
        phrases = [stated.forms[form] for form in ends.tolist()]
        texts = made_rows(len(stated.facts), lambda row: fact_text(stated.named(row)))
        encode_to(folder / "phrases.npy", phrases, build, "phrases")
        encode_to(folder / "facts.npy", texts, build, "facts")
        forms = pa.array(stated.forms, pa.string())
        write_table(folder / "phrases.parquet", phrase=forms.take(pa.array(ends)))
        write_table(
            folder / "facts.parquet",
            **{name: forms.take(pa.array(column)) for name, column in zip(_COLUMNS, stated.facts.T)},
        )
        write_table(folder / "stated.parquet", passage=stated.passages, fact=stated.rows)
        return {"phrases": len(phrases), "facts": len(texts), "dropped": stated.dropped}

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.phrase_column = read_columns(folder / "phrases.parquet")["phrase"]
        self.phrases: list[str] = self.phrase_column.to_pylist()
        self._table = read_columns(folder / "facts.parquet", _COLUMNS)
        self.facts = table_rows(self._table, lambda *fact: fact)
        stated = read_table(folder / "stated.parquet")
        self.stated = (stated["passage"], stated["fact"])
        self.phrase_vectors = map_vectors(folder / "phrases.npy")
        self.fact_vectors = map_vectors(folder / "facts.npy")

    def encoded(self) -> Iterator[tuple[Iterable[str], np.ndarray]]:
        yield self.phrases, self.phrase_vectors
        yield map(fact_text, self.facts), self.fact_vectors

    @cached_property
    def phrase_row(self) -> dict[str, int]:
        return {phrase: row for row, phrase in enumerate(self.phrases)}

    @cached_property
    def subjects(self) -> np.ndarray:
        return self._ends("subject")

    @cached_property
    def objects(self) -> np.ndarray:
        return self._ends("object")

    def _ends(self, column: str) -> np.ndarray:
        import pyarrow.compute as pc

        return array_of(pc.index_in(self._table[column], self.phrase_column)).astype(np.int64)

    @cached_property
    def _relations(self) -> tuple[list[str], np.ndarray]:
        """The names of relations, and which of them each fact has, int64 (n_f,)."""
        import pyarrow.compute as pc

        names = pc.unique(self._table["relation"])
        return names.to_pylist(), array_of(pc.index_in(self._table["relation"], names)).astype(np.int64)

    def in_words(self, rows: Sequence[int]) -> list[tuple[str, str, str]]:
        """Facts by their rows; quicker for many than reading each of `facts`."""
        names, relations = self._relations
        ends = (column[rows].tolist() for column in (self.subjects, relations, self.objects))
        return [(self.phrases[s], names[r], self.phrases[o]) for s, r, o in zip(*ends)]

    def stating(self, fact: int) -> np.ndarray:
        """Rows of the passages that state a fact, in corpus order."""
        by_fact, begins = self._by_fact
        return self.stated[0][by_fact[begins[fact] : begins[fact + 1]]]

    @cached_property
    def _by_fact(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows of `stated` sorted by fact; those of fact f are begins[f] to begins[f + 1]."""
        facts = self.stated[1]
        order = np.argsort(facts, kind="stable")
        return order, np.searchsorted(facts[order], np.arange(len(self.facts) + 1))

    def respelled(self, records: Iterable[Extraction]) -> list[int]:
        """Rows of facts that a passage states in several spellings, once for each further spelling."""
        settings, row = Settings(**self.metadata["settings"]), {fact: at for at, fact in enumerate(self.facts)}
        forms_of = []
        for record in records:
            spelled = [row[fact] for fact in normalised(dict.fromkeys(map(tuple, record.triples)), settings)]
            for fact in set(spelled):
                forms_of += [fact] * (spelled.count(fact) - 1)
        return sorted(forms_of)

    def between(self, first: int, other: int) -> Sequence[int]:
        """Rows of the facts that join two phrases, in either direction."""
        return self._by_pair.get((min(first, other), max(first, other)), ())

    def about(self, phrase: int) -> list[int]:
        """Rows of the facts that a phrase is an end of, ascending; none for a row that is no phrase."""
        begins, rows = self._by_phrase
        return rows[slice(*begins[phrase : phrase + 2])].tolist() if 0 <= phrase < len(self.phrases) else []

    @property
    def degrees(self) -> np.ndarray:
        """How many facts each phrase is an end of, int (n_e,)."""
        return np.diff(self._by_phrase[0])

    @cached_property
    def _by_phrase(self) -> tuple[np.ndarray, np.ndarray]:
        """The facts sorted by phrase; those of phrase e are begins[e] to begins[e + 1]."""
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


class _Stated(NamedTuple):
    """What passages state: `forms`, the phrases and names of relations, sorted; `facts` (n_f, 3), their rows in it,
    sorted; `passages` and `rows` (of `facts`), int32, sorted pairs; how many triples were `dropped`."""

    forms: list[str]
    facts: np.ndarray
    passages: np.ndarray
    rows: np.ndarray
    dropped: int

    def named(self, fact: int) -> tuple[str, str, str]:
        """A fact (row) in words."""
        return tuple(self.forms[form] for form in self.facts[fact].tolist())


def _stated(records: Iterable[Extraction], row: Mapping[str, int], settings: Settings) -> _Stated:
    """Each name is normalised once, however often it occurs, and triples are sorted as rows of numbers."""
    codes: dict[str, int] = {}
    passages, members = array("q"), array("q")
    for record in records:
        passages.extend([row[record.passage_id]] * len(record.triples))
        members.extend(codes.setdefault(name, len(codes)) for triple in record.triples for name in triple)
    normal = list(map(PHRASE_RULES[settings.normalise], codes))
    forms = sorted(set(normal))
    place = {form: number for number, form in enumerate(forms)}
    triples = _numbers([place[name] for name in normal])[_numbers(members)].reshape(-1, 3)
    used = np.ones(len(triples), dtype=bool)
    if settings.normalise != "ascii":
        named = np.array([bool(name) for name in forms], dtype=bool)
        used = named[triples[:, 0]] & named[triples[:, 2]]
    dropped = len(used) - int(used.sum())
    triples, stating = triples[used], _numbers(passages)[used]
    order = np.lexsort(triples.T[::-1])
    ordered = triples[order]
    first = _firsts(ordered)
    facts = ordered[first]
    rows = np.empty(len(order), dtype=np.int64)
    rows[order] = np.cumsum(first) - 1
    many = max(1, len(facts))
    pairs = np.sort(stating * many + rows)
    pairs = np.divmod(pairs[_firsts(pairs)], many)
    return _Stated(forms, facts, *(part.astype(np.int32) for part in pairs), dropped)


def _firsts(ordered: np.ndarray) -> np.ndarray:
    """Which of sorted numbers, or rows of numbers, is the first of its equals; bool (n,). `np.unique` would look for an
    order first."""
    other = ordered[1:] != ordered[:-1]
    return np.r_[True, other if ordered.ndim == 1 else other.any(axis=1)][: len(ordered)]


def _numbers(values: Sequence[int] | array) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def normalised(triples: Iterable[Sequence[str]], settings: Settings) -> list[tuple[str, str, str]]:
    """Triples as facts, without the triples that the settings drop."""
    facts = [tuple(map(PHRASE_RULES[settings.normalise], triple)) for triple in triples]
    return facts if settings.normalise == "ascii" else [fact for fact in facts if fact[0] and fact[2]]


def fact_line(fact: Sequence[str]) -> str:
    """A fact as traces and tables show it."""
    return " — ".join(fact)


def fact_text(fact: tuple[str, str, str]) -> str:
    """What is encoded for a fact: the printed tuple, as in the released code."""
    return str(tuple(fact))
